"""What tasks, decisions and code have to do with each other, and what each edge stands on."""
