"""The command line: thin, no decisions of its own."""
