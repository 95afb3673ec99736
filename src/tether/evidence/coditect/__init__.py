"""What CODITECT keeps: session logs, and the databases of its messages and sessions. Only read."""
