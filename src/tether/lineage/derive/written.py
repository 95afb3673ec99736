"""Tasks as somebody wrote them down: in files of ours, or on lists."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping

from tether import errors, ids, index, text
from tether.hints import Any, NamedTuple
from tether.lineage.biography import model as story
from tether.lineage.biography import picking
from tether.lineage.edges import model
from tether.tasks import model as tasks
from tether.tasks import states, workdir
from tether.tasks.sources import model as lists
from tether.tasks.sources import patterns

_REVIEWED = ("review", "audit")
_OVER = (states.DONE, "cancelled", states.ARCHIVED)


class Task(NamedTuple):
    """A task as somebody wrote it down, with a file or on a list."""

    key: model.Key
    name: str
    """Of the input."""
    stamp: str
    load: Callable[[], Written | None]


class Written(NamedTuple):
    """What is written of a task."""

    fields: dict[str, Any]
    path: str
    line: int
    status: str
    agent: str
    created_at: str
    closed_at: str
    """When its result was written; empty while it is open."""
    reviews: tuple[tuple[str, str], ...] = ()
    """What was said by those who looked at it, each with when."""


def tasks_of(work: workdir.Workdir, items: Mapping[ids.TaskKey, lists.Item]) -> Iterator[Task]:
    """All tasks of a checkout; of one that is there twice, the first."""
    regular, _ = work.look(states.PLACES)
    seen: set[model.Key] = set()
    for path, stat in sorted(regular.items()):
        found = workdir.located(path, work.root)
        if found is None or not ids.TaskId.is_valid(found.task_id):
            continue
        key = model.task_key(ids.TaskKey(ids.OWN_SOURCE, found.task_id))
        if key not in seen:
            seen.add(key)
            load = functools.partial(_of_file, work, found)
            yield Task(key, path, index.stamp(stat), load)
    for item_key, item in items.items():
        key = model.task_key(item_key)
        said = repr(item).encode("utf-8", "surrogatepass")
        stamp = hashlib.blake2b(said, digest_size=12).hexdigest()
        name = f"list:{item_key.source}:{item_key.id}"
        yield Task(key, name, stamp, functools.partial(_of_item, item))


def words(
    every: Iterable[Task], find: Callable[[str], list[patterns.Found]]
) -> dict[str, ids.TaskKey]:
    """The ids of tasks with files that nobody can tell from other words: no pattern finds them."""
    found = {}
    for each in every:
        key = model.task_of(each.key)
        is_own = key is not None and key.source == ids.OWN_SOURCE
        if key and is_own and all(one.id != key.id for one in find(key.id)):
            found[key.id] = key
    return found


def _of_file(work: workdir.Workdir, found: workdir.Found) -> Written | None:
    try:
        loaded = work.load(found)
    except (errors.FileError, errors.NotFound, errors.TetherError):
        return None
    task, fields = loaded.task, loaded.document.fields
    history = fields.get("history")
    entries = [e for e in history if isinstance(e, dict)] if isinstance(history, list) else []
    status = "cancelled" if task.is_cancelled else task.state
    return Written(
        fields,
        task.path,
        0,
        status,
        task.owner,
        task.created_at,
        _closed(task, fields),
        tuple(_reviews(entries)),
    )


def _closed(task: tasks.Task, fields: Mapping[str, Any]) -> str:
    """When a task came to its end: what is noted of it afterwards does not change that."""
    for name, when in (("cancelled", "at"), ("error", "timestamp")):
        value = fields.get(name)
        if isinstance(value, dict) and (at := tasks.stamp(value.get(when))):
            return at
    return task.completed_at


def _reviews(entries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        said = entry.get("note")
        what = str(entry.get("what", ""))
        is_review = what.startswith(_REVIEWED) or str(said).casefold().startswith(_REVIEWED)
        if isinstance(said, str) and is_review:
            yield said, tasks.stamp(entry.get("at"))


def _of_item(item: lists.Item) -> Written:
    fields: dict[str, Any] = {
        "title": item.text,
        "description": item.description,
        "depends_on": list(item.depends_on),
        "acceptance": [said for _, said in item.acceptance],
    }
    if item.parent:
        fields["parent"] = item.parent
    return Written(
        *(fields, item.path, item.line, item.state, item.owner, item.created_at),
        item.updated_at if item.state in _OVER else "",
    )


def record(key: model.Key, written: Written) -> story.Record:
    sentence, of_field = picking.sentence(written.fields)
    value = "\n".join(field(written.fields, name) for name in ("result", "error"))
    line = f"#line={written.line}" if written.line else ""
    return story.Record(
        key=key,
        id=model.label(key),
        title=text.one_line(str(written.fields.get("title") or ""), 300),
        status=written.status,
        agent=written.agent,
        created_at=written.created_at,
        closed_at=written.closed_at if written.status in _OVER else "",
        sentence=sentence,
        sentence_field=of_field,
        notes=picking.notes(value),
        pointer=f"file:{written.path}{line}",
    )


def field(fields: Mapping[str, Any], name: str) -> str:
    """A field as one text: of a result all that is said in words."""
    value = fields.get(name)
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(f"- {each}" for each in value if isinstance(each, str))
    if isinstance(value, dict):
        return "\n\n".join(each for each in value.values() if isinstance(each, str))
    return ""


def key_of_input(name: str) -> model.Key:
    """The task that an input is of."""
    if name.startswith("list:"):
        return f"task:{name.removeprefix('list:')}"
    task_id = name.rpartition("/")[2].rpartition(".")[0]
    return model.task_key(ids.TaskKey(ids.OWN_SOURCE, task_id))
