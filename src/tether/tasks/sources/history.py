"""Task lists as versions of files: told by path alone, and read for the states of their tasks only.

Thousands of versions are compared, so what a version says besides is not looked at.
"""

from __future__ import annotations

from tether.tasks.sources import backlog, beads, dialects, steps


def source_of(path: str) -> str:
    """The list that a file is part of, by its path from the top; empty if it is none."""
    return dialects.dialect_of(path) or ""


def states_in(
    path: str, content: str, known: dict[str, beads.Said] | None = None
) -> dict[str, str]:
    """The state of every task in a version of a file. Pass the same `known` for all versions."""
    source = dialects.dialect_of(path)
    if source == dialects.BEADS:
        return beads.states_in(content, known)
    if source == dialects.BACKLOG:
        return backlog.states_in(content, path)
    return steps.states_in(content, dialects.CHECKBOXES[source], path) if source else {}
