"""Who is here, are they alive, who has which task, and what do they tell each other.

A task is an opaque key here: a source and an id. What it says and which state it is in is not
known in this room.
"""
