"""Tasks of lists that this checkout does not have: what the claims and the index know of them.

The index is asked as it is. To bring it forward may take long, and who claims a task waits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from tether import ids, index
from tether.agents import claims
from tether.cli import context
from tether.hints import Any
from tether.tasks.sources import dialects, patterns

# What lists have said in commits; not what is only like an id in somebody's words.
_COMMITTED = (
    "SELECT DISTINCT task_source FROM activities AS a JOIN evidence_files AS f ON f.id = a.file"
    " WHERE task = ? AND task <> '' AND f.source = 'git:list'"
)
# What the lists of other worktrees say, as far as it was ever read there.
_READ = "SELECT record FROM parsed_files WHERE worktree <> ? AND instr(record, ?) > 0"


def keys(call: context.Context, task_id: str) -> list[ids.TaskKey]:
    """The tasks of lists that go by an id, here or wherever they are."""
    spellings = dict.fromkeys((task_id, patterns.canonical(dialects.BACKLOG, task_id)))
    found = {
        each.key
        for name in spellings
        for each in claims.called(call.store.rows, name)
        if each.source != ids.OWN_SOURCE
    }
    kept = index.Index(call.workspace.store_dir)
    try:
        for name in spellings:
            found |= set(_in_index(kept, name, call.workspace.root or ""))
    finally:
        kept.close()
    return sorted(key for key in found if key.id == patterns.canonical(key.source, task_id))


def _in_index(kept: index.Index, task_id: str, here: str) -> Iterator[ids.TaskKey]:
    for (source,) in kept.rows(_COMMITTED, (task_id,)):
        if source in dialects.NAMES:
            yield ids.TaskKey(source, task_id)
    for (record,) in kept.rows(_READ, (here, json.dumps(task_id))):
        for source, name in _items(record):
            if name == task_id and source in dialects.NAMES:
                yield ids.TaskKey(source, task_id)


def _items(record: str) -> Iterator[tuple[Any, Any]]:
    """The source and the id of each task in what was read of a file; nothing if it is no list."""
    try:
        items = json.loads(record)[0]
    except (ValueError, TypeError, IndexError, KeyError):
        return
    for item in items if isinstance(items, list) else []:
        if isinstance(item, list) and len(item) > 1:
            yield item[0], item[1]
