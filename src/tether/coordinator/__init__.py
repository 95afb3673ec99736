"""A run: many tasks, many workers, and one coordinator that may die at any moment.

What happened is in the store's log, and the state is what follows from it (`applying`); a snapshot
only saves reading it all again. Work is done by processes that outlive their coordinator.
"""
