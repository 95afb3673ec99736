"""The story of a piece of code, told from stored strings: every line says where it is from."""
