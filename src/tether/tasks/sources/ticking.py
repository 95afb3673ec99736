"""A task of a list gets another state: one line is changed, every other byte stays.

The task is looked up again by its id, since its line may have moved, and the result is read again
before it is written: it must say what was meant and nothing else.
"""

from __future__ import annotations

import re

from tether import clock, errors, files
from tether.tasks import document, scalars, states
from tether.tasks.sources import backlog, dialects, issues, model, reading, statuses
from tether.tasks.sources.finding import MAX_BYTES

_ATTEMPTS = 3
_BOX = re.compile(rb"(?:[-*+]|[0-9]{1,9}[.)])[ \t]{1,20}\[([^\[\]\r\n]{0,12})\]")
_NO_SUCH_STATE = "This kind of list has no way to write that state. Nothing was changed."
_BACKLOG_WORDS = {
    states.NEW: "To Do",
    states.IN_PROGRESS: "In Progress",
    states.DONE: "Done",
}


def tick(top: str, item: model.Item, state: str, now: clock.Clock | None = None) -> str:
    """Give a task of a list another state; the path of the file, from the top of the checkout."""
    root = files.Root(top)
    moment = clock.now_text(now or clock.SystemClock())
    for _ in range(_ATTEMPTS):
        before = root.read_bytes(item.path, MAX_BYTES)
        listing = reading.parse(item.source, item.path, before)
        here = next((each for each in listing.items if each.id == item.id), None)
        if here is None:
            raise errors.NotFound(f"{item.id} is not in its list any more. Nothing was changed.")
        if here.state == state:
            return item.path
        after = _edited(root, before, here, state, moment)
        _check(listing, reading.parse(item.source, item.path, after), here, state)
        # Whoever writes between this look and the rename loses; nothing short of a lock that all
        # editors know could tell.
        if root.read_bytes(item.path, MAX_BYTES) == before:
            root.write_atomic(item.path, after)
            return item.path
    raise errors.Taken(
        "The list was changed by somebody else again and again. Nothing was changed here.",
        hint="Repeat the command.",
    )


def _edited(root: files.Root, before: bytes, item: model.Item, state: str, moment: str) -> bytes:
    lines = before.split(b"\n")
    line = lines[item.line - 1]
    if item.source == dialects.BEADS:
        line = _reported(line, state, moment)
    elif item.source == dialects.BACKLOG:
        line = _restated(line, _word(root, item.path, state))
    else:
        line = _marked(line, dialects.CHECKBOXES[item.source], state)
    lines[item.line - 1] = line
    return b"\n".join(lines)


def _check(before: model.Listing, after: model.Listing, item: model.Item, state: str) -> None:
    """Does the new text say what was meant, and nothing else?"""
    wanted = {each.id: each.state for each in before.items} | {item.id: state}
    if {each.id: each.state for each in after.items} != wanted:
        raise errors.TaskUneditable(hint="Change the task in the list itself.")


def _marked(line: bytes, dialect: dialects.Dialect, state: str) -> bytes:
    mark = dialect.writes.get(state)
    if mark is None:
        raise errors.TaskUneditable(_NO_SUCH_STATE, hint="Change the task in the list itself.")
    bare = line.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t")
    box = _BOX.match(line, len(line) - len(bare))
    if box is None:
        raise errors.TaskUneditable(hint="Write the box at the beginning of the line, `- [ ]`.")
    return line[: box.start(1)] + mark.encode() + line[box.end(1) :]


# Backlog.md


def _word(root: files.Root, path: str, state: str) -> str:
    """What the team of a backlog calls a state."""
    try:
        config = document.read(root.read_bytes(f"{path.partition('/')[0]}/config.yml"))
    except (errors.FileError, errors.NotFound):
        config = document.Document("", {})
    names = config.fields.get("statuses")
    known = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    words = [name for name in known or _BACKLOG_WORDS.values() if statuses.state_of(name) == state]
    if not words:
        raise errors.TaskUneditable(_NO_SUCH_STATE, hint="Change the task in the list itself.")
    usual = _BACKLOG_WORDS.get(state)
    return usual if usual in words else words[-1 if state == states.DONE else 0]


def _restated(line: bytes, word: str) -> bytes:
    """The line of a status with another one, in quotes if it was, its comment and end kept."""
    written = line.decode("utf-8", "surrogateescape")
    if not backlog.STATUS.match(written):
        raise errors.TaskUneditable
    start = len("status:")
    rest = written[start:]
    value = rest.strip(" \t\r")
    if value[:1] in ("'", '"') and (end := value.find(value[0], 1)) > 0:
        value = value[: end + 1]
    else:
        value = ("" if value.startswith("#") else value.partition(" #")[0]).rstrip()
    at = rest.find(value)
    gap = rest[:at] or " "
    changed = f"status:{gap}{scalars.like(value, word)}{rest[at + len(value) :]}"
    return changed.encode("utf-8", "surrogateescape")


# Beads


def _reported(line: bytes, state: str, moment: str) -> bytes:
    """An issue with another status and the times that go with it."""
    status = issues.STATUSES.get(state)
    if status is None:
        raise errors.TaskUneditable(_NO_SUCH_STATE, hint="Change the task in the list itself.")
    written = line.decode("utf-8", "surrogateescape")
    return issues.edited(written, status, moment).encode("utf-8", "surrogateescape")
