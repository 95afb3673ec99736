"""What was dropped: which tasks somebody began and nobody carries on, why, and what to do about it.

Rules are pure functions over what is known of a task. Sweeps gather that, judge it and write down
what was found. Nothing here changes a task: what becomes of an orphan is somebody's decision.
"""
