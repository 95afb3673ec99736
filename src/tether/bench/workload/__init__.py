"""A workload with a known truth: the traces of many agents at work on one project, made up.

Everything follows from a seed and from the path that it is written to, which occurs in the records.
What the traces mean is written beside them, in a file that no detector may read.
"""
