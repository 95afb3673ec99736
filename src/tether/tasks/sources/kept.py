"""What the index has kept of task lists, and single tasks of them.

Hot: who asks for one task reads no list and loads no parser, as long as the file in which it stands
is as it was. Otherwise the lists have to be read (`finding`).
"""

from __future__ import annotations

import json

from tether import __version__, ids, index
from tether.hints import Any
from tether.tasks.sources import model

# Other words for the same file make every one be read again: change it with what a parser finds.
_VERSION = "2"
_ITEM_FIELDS = len(model.Item._fields)
_LISTS = (model.Item._fields.index("depends_on"), model.Item._fields.index("acceptance"))
_END = "\n"


def version(source: str) -> str:
    """Of what read the files of a kind of list; another one makes every file be parsed again."""
    return f"{source}-{_VERSION}-{__version__}-{_ITEM_FIELDS}"


def record(listing: model.Listing) -> index.Record:
    """What a file says, to be kept; it is chosen by the ids in it."""
    return index.Record(_END.join(("", *(each.id for each in listing.items), "")), list(listing))


def restored(values: list[Any]) -> model.Listing | None:
    """What a file said when it was kept; None if that is damaged."""
    try:
        items, progress, aliases, problems = values
        return model.Listing(
            tuple(_item(each) for each in items),
            tuple(model.Progress._make(each) for each in progress),
            tuple((old, new) for old, new in aliases),
            tuple(model.Problem._make(each) for each in problems),
        )
    except (TypeError, ValueError, IndexError):
        return None


def look_up(top: str, known: index.Index, key: ids.TaskKey) -> model.Item | None:
    """A task of a list; None if its list has to be read to know."""
    found = index.choose(known, top, version(key.source), f"{_END}{key.id}{_END}")
    if len(found) != 1:
        return None  # on no list, on several, or on one that has changed
    return _cut_out(found[0], key)


def _cut_out(kept: str, key: ids.TaskKey) -> model.Item | None:
    """One item of what was kept of a file, which may have thousands: an item begins with its key.

    No text in a record looks so, because the quotes in a text are escaped.
    """
    begin = kept.find(f"[{json.dumps(key.source)},{json.dumps(key.id)},")
    if begin < 0:
        return None
    try:
        values, _ = json.JSONDecoder().raw_decode(kept, begin)
        return _item(values)
    except (TypeError, ValueError, IndexError):  # a damaged index
        return None


def _item(values: list[Any]) -> model.Item:
    depends_on, acceptance = _LISTS
    values = list(values)
    values[depends_on] = tuple(values[depends_on])
    values[acceptance] = tuple((bool(met), said) for met, said in values[acceptance])
    return model.Item._make(values)
