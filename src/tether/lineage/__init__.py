"""Why this code is the way it is: symbols, which of them are the same, and what became of them."""
