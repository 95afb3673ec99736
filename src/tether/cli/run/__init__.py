"""`tether run`: a long run of many tasks, its coordinator, and the words around it."""
