"""Task lists that teams already have: found, read, and changed one line at a time.

A list stays what it is. Nothing here knows of claims or of what happened to a task.
"""
