"""A plan: the tasks of a run, what each needs, and when it counts as done."""
