"""What happened: Git's history, agents' transcripts, session logs, one timeline of a task.

Everything here only reads what others keep. What a finding means for a task is not known here.
"""
