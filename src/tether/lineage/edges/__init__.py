"""Which tasks, decisions and code have to do with each other, and what each of those edges stands on."""
