"""How a text is taken apart: its author's own words, its statements, and what their verbs bind."""
