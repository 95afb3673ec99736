"""What somebody should know right now: what to do next, and where things stand.

Puts together what other rooms know, and decides nothing that they decide.
"""
