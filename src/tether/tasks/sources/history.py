"""Task lists as versions of files: told by path alone, and read for the states of their tasks only.

Thousands of versions are compared, so what a version says besides is not looked at.
"""

from __future__ import annotations

from tether.tasks.sources import backlog, beads, dialects, steps


def source_of(path: str) -> str:
    """The list that a file is part of, by its path from the top; empty if it is none."""
    return dialects.dialect_of(path) or ""


def states_in(path: str, content: str) -> dict[str, str]:
    """The state of every task in a version of a file."""
    return Reader().states_in(path, content)


class Reader:
    """Reads many versions of lists, of which each is much like the one before."""

    def __init__(self) -> None:
        self._export = beads.Export()

    def states_in(self, path: str, content: str) -> dict[str, str]:
        """The state of every task in a version of a file."""
        source = dialects.dialect_of(path)
        if source == dialects.BEADS:
            return self._export.states_in(content)
        if source == dialects.BACKLOG:
            return backlog.states_in(content, path)
        return steps.states_in(content, dialects.CHECKBOXES[source], path) if source else {}

    def changes_in(self, path: str, old: str, new: str) -> tuple[dict[str, str], dict[str, str]]:
        """The states before and after, of at least the tasks whose state is another one.

        A box that is ticked changes a line of a long list, so only what lies between the common
        beginning and the common end is read: where what a line means does not depend on others.
        """
        source = dialects.dialect_of(path)
        dialect = dialects.CHECKBOXES.get(source or "")
        if dialect is None or not dialect.has_own_ids or any(m in old + new for m in _AROUND):
            return self.states_in(path, old), self.states_in(path, new)
        begin, end = _between(old, new)
        before = steps.states_in(f"\n{old[begin : len(old) - end]}", dialect, path)
        after = steps.states_in(f"\n{new[begin : len(new) - end]}", dialect, path)
        # Of two boxes with one id the first one counts, and it may stand elsewhere.
        same = old[:begin] + old[len(old) - end :]
        if any(before.get(task) != after.get(task) and task in same for task in before | after):
            return self.states_in(path, old), self.states_in(path, new)
        return before, after

    def furthered(self, path: str, old: str, new: str, old_path: str = "") -> list[str]:
        """The tasks of which a part was ticked that has no id of its own.

        The criteria of a task with a file of its own are its parts, too. `old_path` is what the
        file was called before, if that was something else.
        """
        source = dialects.dialect_of(path)
        if source == dialects.BACKLOG:
            is_more = backlog.parts_done(new) > backlog.parts_done(old)
            return list(backlog.states_in(new, path)) if is_more else []
        dialect = dialects.CHECKBOXES.get(source or "")
        if dialect is None:
            return []
        begin, end = _between(old, new)
        if not steps.has_ticked_part(f"\n{new[begin : len(new) - end]}", dialect, path):
            return []
        has_log = dialect.log is not None and dialect.log.search(old) is not None
        if dialect.has_own_ids and not has_log and not any(m in old + new for m in _AROUND):
            old, new = _around(old, begin, end), _around(new, begin, end)
        before = steps.parts_in(old, dialect, old_path or path)
        after = steps.parts_in(new, dialect, path)
        return [
            task
            for task, parts in after.items()
            if task in before and steps.is_furthered(before[task], parts)
        ]


# What makes a line mean something else further down: code, comments, the frontmatter.
_AROUND = ("```", "~~~", "<!--")
# How items and headings begin.
_AT_MARGIN = "-*+#0123456789"


def _between(old: str, new: str) -> tuple[int, int]:
    """How much both begin with and how much both end with, each in whole lines."""
    begin = _common(old, new)
    begin = old.rfind("\n", 0, begin) + 1
    shorter = min(len(old), len(new)) - begin
    end = _common(old[::-1][:shorter], new[::-1][:shorter])
    # From the beginning of a line to the end of one.
    line = old.find("\n", len(old) - end)
    return begin, len(old) - line - 1 if end and line >= 0 else 0


def _around(content: str, begin: int, end: int) -> str:
    """What changed, from the item or heading above it that is not indented to the next one.

    What both versions have in common is cut off both of them alike.
    """
    start = content.rfind("\n", 0, max(0, begin - 1)) + 1
    while start > 0 and content[start] not in _AT_MARGIN:
        start = content.rfind("\n", 0, start - 1) + 1
    stop = len(content) - end
    while stop < len(content) and content[stop] not in _AT_MARGIN:
        stop = content.find("\n", stop) + 1 or len(content)
    return f"\n{content[start:stop]}"


def _common(one: str, other: str) -> int:
    """How many characters both begin with: found by halving, as comparing is quick."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
