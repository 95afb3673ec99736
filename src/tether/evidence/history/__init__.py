"""What Git's history says: the commits of a task, what they did to the lists, where they were made.

What is in no commit is not looked for here.
"""
