"""Which commits took back what others did: by their messages, and by what they made of the code.

A symbol that is again as it was before some changes has had them undone; one that was brought back
has had its deletion undone, and one that is gone again its creation. How much of a commit was
undone says how sure it is that this was meant. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tether.hints import NamedTuple

STATED = 0.95
_WHOLE, _MUCH, _PART, _LITTLE = 0.9, 0.75, 0.55, 0.4
_REVERTED = re.compile(r"\bThis reverts commit ([0-9a-f]{7,64})\b")
_TITLE = re.compile(r'Revert "([^\n]{1,400})"(?: \(#\d{1,9}\))?')
# What does not change what the code does is taken back by every tool that formats it otherwise.
_SLIGHT = frozenset(
    ("formatting", "comment", "annotation", "documentation", "move", "rename", "container")
)
# A line or two that come and go are a setting, and nobody's work.
_FEW_LINES = 2


class Event(NamedTuple):
    """What one commit did to one symbol."""

    commit: int
    kinds: tuple[str, ...]
    digest: int | None
    """Of its text after that; None if it has none any more."""
    lines: int
    """Those that came and went."""


class Undone(NamedTuple):
    """What one commit took back of another."""

    commit: int
    of: int
    symbols: int
    lines: int
    removed: int
    """Of these symbols, those that are gone again: code goes for many reasons."""


def stated(message: str) -> list[str]:
    """The commits that a message says are reverted, as `git revert` writes it."""
    return list(dict.fromkeys(_REVERTED.findall(message)))


def reverted_title(subject: str) -> str:
    """The subject of the commit that one is called to revert; empty if it is not."""
    found = _TITLE.fullmatch(subject.strip())
    return found[1] if found else ""


def of_symbol(events: Sequence[Event]) -> Iterator[tuple[int, int]]:
    """The changes of a symbol that were undone: who did that, and what. Oldest first.

    Of changes that were undone before, nothing is undone again, unless they were made again: that
    undoes what had undone them.
    """
    standing: list[int] = []
    taken: list[_Taken] = []
    for number, event in enumerate(events):
        again = _again(events, standing, taken, event)
        if again is not None:
            yield number, again.by
            standing += again.changes
            continue
        back = _as_before(events, standing, event)
        if back is None:
            standing.append(number)
            continue
        gone = standing[back + 1 :]
        for undone in gone:
            is_slight = set(events[undone].kinds) <= _SLIGHT
            if events[undone].commit != event.commit and not is_slight:
                yield number, undone
        standing = standing[: back + 1] if back >= 0 else [*standing, number]
        if back >= 0:
            taken.append(_Taken(number, tuple(standing), gone))


class _Taken(NamedTuple):
    """Changes that were taken back."""

    by: int
    before: tuple[int, ...]
    """What stood after that."""
    changes: list[int]


def _again(
    events: Sequence[Event], standing: list[int], taken: Sequence[_Taken], event: Event
) -> _Taken | None:
    """What is made again by an event: changes that were taken back, with nothing done since."""
    for each in reversed(taken):
        last = events[each.changes[-1]]
        is_same = event.digest is not None and last.digest == event.digest
        if is_same and each.before == tuple(standing) and events[each.by].commit != event.commit:
            return each
    return None


def _as_before(events: Sequence[Event], standing: list[int], event: Event) -> int | None:
    """The change after which it was as it is now; -1 if it was not there, None if it is new."""
    if set(event.kinds) <= _SLIGHT:
        return None
    if "deleted" in event.kinds:
        return -1 if len(standing) == 1 and "introduced" in events[standing[0]].kinds else None
    for back in range(len(standing) - 2, -1, -1):
        before = events[standing[back]]
        if before.digest == event.digest and event.digest is not None:
            # All that lies between did something to its text.
            between = (events[each] for each in standing[back + 1 :])
            if any(not set(each.kinds) <= _SLIGHT for each in between):
                return back
    return None


def summed(found: Iterable[tuple[Event, Event]]) -> list[Undone]:
    """What each commit took back of each other one, over all symbols."""
    counts: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for by, of in found:
        count = counts[by.commit, of.commit]
        count[0] += 1
        count[1] += of.lines
        count[2] += "deleted" in by.kinds
    return [Undone(*pair, *count) for pair, count in counts.items()]


def is_much(change: Event) -> bool:
    """Whether a change is more than a line or two."""
    return change.lines > 2 * _FEW_LINES


def confidence(undone: Undone, symbols_of: int) -> float:
    """How sure it is that a commit was taken back, knowing how many symbols it had changed."""
    if undone.symbols == 1 and undone.lines <= 2 * _FEW_LINES:
        return _LITTLE
    share = undone.symbols / max(1, symbols_of)
    if undone.removed == undone.symbols:
        return _MUCH if share >= 0.8 else _LITTLE
    if share >= 0.8:
        return _WHOLE
    return _MUCH if share >= 0.4 else _PART
