"""How the reading of a database of others goes on where it stopped.

Rows that are only ever added are read once. Those that come and go are read each time, and count
once: what they said has happened, also after they are gone.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable

from tether.evidence import model, places, readers, records
from tether.hints import Any, NamedTuple

# A project that goes by a number does not say which one it is.
_NUMBER = re.compile(r"[0-9a-fA-F-]{1,64}")


class State(NamedTuple):
    """What is remembered of the last reading."""

    since: dict[str, int]
    seen: frozenset[int]
    """What stood in rows that come and go."""
    is_first: bool
    text: str


class News(NamedTuple):
    """What a reading has found."""

    activities: list[model.Activity]
    standing: list[model.Activity]
    upto: dict[str, int]
    is_anew: bool
    problems: list[model.Problem]
    more: dict[str, Any] | None = None
    """What else is to be remembered."""
    was_read: bool = True


def state_of(known: readers.Known) -> State:
    kept = json.loads(known.state) if known.reader else {}
    return State(kept.get("since", {}), frozenset(kept.get("seen", ())), not kept, known.state)


def more_of(state: str) -> dict[str, Any]:
    more: dict[str, Any] = json.loads(state).get("more", {})
    return more


def update(found: places.Found, state: State, news: News, sink: readers.Sink) -> readers.Update:
    """Hand on what is new, and say what to remember."""
    if not news.was_read:
        text = "{}" if state.is_first else state.text
        return readers.Update(state=text, problems=tuple(news.problems))
    seen = state.seen
    if state.is_first or news.is_anew:
        sink.forget()
        seen = frozenset()
    names = {zlib.crc32(f"{each.record} {each.what}".encode()): each for each in news.standing}
    new = [each for name, each in names.items() if name not in seen]
    sink.add([*news.activities, *new])
    # What is not there any more does not come back.
    kept = {"since": news.upto, "seen": sorted(names), "more": news.more or {}}
    text = json.dumps(kept, sort_keys=True)
    offset = sum(number for name, number in news.upto.items() if ":" not in name)
    size = found.stamp.st_size
    return readers.Update(
        True, offset, records.digest(text), text, None, tuple(news.problems), size
    )


def ours(roots: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a directory, or a project by its name, is one of the checkouts."""
    names = {os.path.basename(root).lower() for root in roots}

    def is_ours(place: str) -> bool:
        if os.path.isabs(place):
            return places.is_inside(place, roots)
        return place.lower() in names or _NUMBER.fullmatch(place) is not None

    return is_ours
