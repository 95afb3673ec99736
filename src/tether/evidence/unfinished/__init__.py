"""What a task has left unfinished: in checkouts, on branches, in stashes; or lost, in none of them.

Git is asked now, and nothing of it is kept. What is another task's is not told.
"""
