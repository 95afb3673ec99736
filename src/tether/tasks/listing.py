"""All tasks of a checkout at once, read through the index."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

from tether import __version__, errors, index, workspace
from tether.tasks import model, states, workdir

# Another version, or other fields, make every file be read again; change the number with what
# `model.task` makes of a file.
_PARSER = f"1-{zlib.crc32(' '.join([__version__, *model.Task._fields]).encode()):08x}"
OPEN_PLACES = (states.INBOX, states.ASSIGNED)
# What a name says of its file need not be kept.
_NAMED = 4
_LISTS = [model.Task._fields.index(name) - _NAMED for name in ("depends_on", "artefacts")]


def tasks(
    place: workspace.Workspace,
    work: workdir.Workdir,
    places: Iterable[str] = OPEN_PLACES,
) -> list[model.Task]:
    """The tasks in these places, in no order; unreadable ones too."""
    wanted = list(places)
    found = {each.path: each for each in work.scan(wanted)}
    stamps = {path: index.stamp(each.seen) for path, each in found.items() if each.seen}

    def fetch(path: str) -> bytes | None:
        try:
            return work.raw(found[path])
        except (errors.FileError, errors.NotFound):
            return None

    def parse(path: str, content: bytes | None) -> list[Any]:
        each = found[path]
        task = work.read(each) if content is None else workdir.parsed(each, content).task
        return list(task[_NAMED:])

    opened = index.Index(place.store_dir)
    try:
        reader = index.Reader(_PARSER, fetch, parse)
        below = [f"{work.root}/{name}" for name in wanted]
        records = index.refreshed(opened, work.top, below, stamps, reader)
    finally:
        opened.close()
    listed = [work.read(each) for each in found.values() if each.seen is None]
    for path, record in records.items():
        for number in _LISTS:
            record[number] = tuple(record[number])
        each = found[path]
        listed.append(model.Task(each.task_id, path, each.place, each.folder, *record))
    return listed
