"""Writing tasks down, and changing what they say without moving them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tether import clock, errors, ids, text
from tether.agents import claims
from tether.hints import Any, NamedTuple
from tether.store import events, port
from tether.tasks import claiming, dependencies, desk, document, model, packs, states

# What may be set by hand; states, owners and times are for the verbs.
TEXTS = ("title", "priority", "description", "plan")
LISTS = ("artefacts", "context_files", "depends_on", "acceptance", "relations", "external_refs")
_ATTEMPTS = 20
_MAX_TEXT_BYTES = 64 * 1024


class Edit(NamedTuple):
    """What is to change: texts that are set, and items that lists gain and lose."""

    texts: Mapping[str, str] = {}
    added: Mapping[str, tuple[str, ...]] = {}
    dropped: Mapping[str, tuple[str, ...]] = {}


def new(
    at: desk.Desk,
    *,
    title: str,
    task_id: str | None = None,
    parent: str | None = None,
    edit: Edit = Edit(),  # noqa: B008 (immutable)
    seed: Mapping[str, Any] = {},
) -> desk.Moved:
    """Write a task down."""
    if not title.strip():
        raise errors.UsageError("A task needs a title. Nothing was changed.")
    wanted = ids.TaskId(task_id) if task_id is not None else None
    fields: dict[str, Any] = {
        "id": "",
        "title": _text(title.strip()),
        "agent": "",
        "status": states.NEW,
        "priority": "normal",
        "created_at": at.now,
        "created_by": at.caller.name,
    }
    if parent is not None:
        _require_known(at, [parent])
        fields["parent"] = str(ids.TaskId(parent))
    fields |= _changes(at, task_id or "", fields, edit)
    fields.setdefault("artefacts", [])
    if seed:
        fields["lineage_seed"] = dict(seed)
    at.store.ensure_writable()
    with desk.locked(at, wanted) if wanted is not None else desk.honest(at):
        if wanted is not None:
            _require_free(at, wanted)
        made = at.work.prepare()
        if wanted is not None:
            path, chosen = _create(at, wanted, fields), wanted
        else:
            path, chosen = _create_with_new_id(at, fields)
        key = ids.TaskKey(ids.OWN_SOURCE, chosen)
        desk.log_moved(at, key, "new", states.NONE, states.NEW)
    task = model.task(chosen, path, states.INBOX, "", fields)
    return desk.Moved("new", states.NONE, task, (*made, path))


def edit(at: desk.Desk, task_id: str, wanted: Edit) -> desk.Moved:
    """Change what a task says."""
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        changes = _changes(at, case.task.id, case.document.fields, wanted)
        return _edited(at, case, changes, "edit")


def note(at: desk.Desk, task_id: str, body: str) -> desk.Moved:
    """Add a remark to the task's own history."""
    if not body.strip():
        raise errors.UsageError("A note needs some text. Nothing was changed.")
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        entry = desk.entry(at, "noted", note=_text(body))
        return _edited(at, case, {"history": desk.with_entry(case, entry)}, "note")


def _edited(at: desk.Desk, case: desk.Case, changes: Mapping[str, Any], verb: str) -> desk.Moved:
    before = case
    case = desk.rewrite(at, case, changes)
    if case is before:
        return desk.Moved(verb, case.state, case.task, case.touched, case.claim, is_repeat=True)
    caller = at.caller

    def say(transaction: port.Transaction) -> None:
        transaction.event(
            events.TASK_EDITED,
            actor=caller.name,
            session=caller.session_id,
            source=case.key.source,
            task=case.key.id,
            data={"fields": sorted(changes), "branch": caller.place.columns["branch"]},
        )

    at.store.write(verb, say)
    return desk.Moved(verb, case.state, case.task, case.touched, case.claim)


def _changes(
    at: desk.Desk, task_id: str, fields: Mapping[str, Any], wanted: Edit
) -> dict[str, Any]:
    """The fields that an edit gives other values."""
    changes: dict[str, Any] = {}
    for name, value in wanted.texts.items():
        changes[name] = _priority(value) if name == "priority" else _text(value)
    if "title" in changes and not changes["title"].strip():
        raise errors.UsageError("A task needs a title. Nothing was changed.")
    for name in LISTS:
        added = [_text(item) for item in wanted.added.get(name, ())]
        dropped = set(wanted.dropped.get(name, ()))
        if not added and not dropped:
            continue
        old = fields.get(name)
        kept = list(old) if isinstance(old, list) else [old] if old else []
        items = [item for item in kept if item not in dropped]
        changes[name] = items + [each for each in dict.fromkeys(added) if each not in items]
    if "depends_on" in wanted.added:
        _require_sound(at, task_id, wanted.added["depends_on"], model.words(changes["depends_on"]))
    return changes


def _require_sound(
    at: desk.Desk, task_id: str, added: Iterable[str], depends_on: Iterable[str]
) -> None:
    """Dependencies exist, and none leads back."""
    _require_known(at, added)

    def dependencies_of(each: str) -> tuple[str, ...]:
        found = at.work.find(each) if ids.TaskId.is_valid(each) else []
        return at.work.read(found[0]).depends_on if found else ()

    trail = dependencies.cycle(task_id, depends_on, dependencies_of)
    if trail:
        shown = " → ".join(each for each in trail if ids.TaskId.is_valid(each))
        raise errors.NotAllowed(
            f"These tasks would wait for each other: {text.one_line(shown, 200)}."
            " Nothing was changed.",
            details={"rule": "dependencies have no cycles", "cycle": trail},
        )


def _require_known(at: desk.Desk, task_ids: Iterable[str]) -> None:
    for each in claiming.look_at(at.work, [ids.TaskId(task_id) for task_id in task_ids]):
        if each.state == states.NONE:
            raise desk.missing(at, each.id)


def _priority(value: str) -> str:
    known = model.known_priority(value)
    if known is None:
        raise errors.UsageError(
            "There is no such priority. Nothing was changed.",
            hint=f"Use one of {', '.join(model.PRIORITIES)}.",
        )
    return known


def _text(value: str) -> str:
    if len(value.encode("utf-8", "replace")) > _MAX_TEXT_BYTES:
        raise errors.UsageError(
            f"A text has at most {_MAX_TEXT_BYTES // 1024} KiB. Nothing was changed.",
            hint="Put it into a file and name that with --add context_files=PATH.",
        )
    return text.storable(value)


def _create(at: desk.Desk, task_id: ids.TaskId, fields: dict[str, Any]) -> str:
    fields["id"] = str(task_id)
    return at.work.create(task_id, document.compose(fields))


def _require_free(at: desk.Desk, task_id: ids.TaskId) -> None:
    if at.work.find(task_id) or packs.load(at.work, task_id) is not None:
        raise errors.AlreadyThere(
            f"There is already a task {task_id}. It was not replaced.", hint="Choose another --id."
        )
    key = ids.TaskKey(ids.OWN_SOURCE, task_id)
    known = events.latest(at.store, 1, events.Filter(task=key.id, source=key.source))
    if known or claims.last_of(at.store.rows, key) is not None:
        raise errors.AlreadyThere(
            f"The log knows a task {task_id} already, which is not in this checkout."
            " Nothing was changed.",
            hint="Choose another --id; `tether task restore` brings back a file that was lost.",
        )
    if twin := at.work.twin(task_id):
        raise errors.AlreadyThere(
            f"There is a task {twin}, which differs only in case. Nothing was changed."
        )


def _create_with_new_id(at: desk.Desk, fields: dict[str, Any]) -> tuple[str, ids.TaskId]:
    day = clock.text(clock.parse(at.now))[:10].replace("-", "")
    for _ in range(_ATTEMPTS):
        task_id = ids.TaskId(f"T{day}-{ids.random_base32(6)}")
        if at.work.find(task_id):
            continue
        try:
            return _create(at, task_id, fields), task_id
        except errors.AlreadyThere:
            continue
    raise errors.FileError("No free id was found. Nothing was changed.")
