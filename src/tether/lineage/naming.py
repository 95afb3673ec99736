"""What people call nodes, and which node a word of theirs means."""

from __future__ import annotations

import difflib
import json
import os
import re
import sqlite3
from collections.abc import Iterable

from tether import errors, ids, text
from tether.evidence.history import commits as history
from tether.git import Oid
from tether.hints import NamedTuple
from tether.lineage import kept, targets
from tether.lineage.biography import model as story
from tether.lineage.biography import records
from tether.lineage.edges import model, view
from tether.store import sql

_SQL = sql.Queries("naming", os.path.dirname(__file__))
_KEYS = "SELECT key FROM lineage_nodes WHERE key >= ? AND key < ?"
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_NOWHERE = Oid("0" * 40)
_MAX_NAMED, _MAX_NEAR, _NEAR = 10, 3, 0.8


class Name(NamedTuple):
    """A node as people call it."""

    key: model.Key
    kind: model.Kind
    label: str
    """`T1`, `0021`, `src/a.py#run`, `src/a.py`; the key of code of which nothing is known."""
    title: str = ""
    """Of a task or a decision that somebody wrote down."""
    status: str = ""
    place: str = ""
    """`src/a.py:10-40`, `work/done/T1.yaml`: where it stands, or last stood."""
    is_gone: bool = False
    subject: str = ""
    """Of the first commit that is work on it, if it is a task that nobody wrote down."""


def names(seen: view.View, keys: Iterable[model.Key]) -> dict[model.Key, Name]:
    """What nodes are called."""
    wanted = list(dict.fromkeys(keys))
    written = records.read(seen.connection, seen.scopes, wanted)
    code = [key for key in wanted if key.startswith("node:")]
    found = {row[0]: _of_code(*row) for row in seen.rows(_SQL.code, keys=json.dumps(code)) if code}
    for key in wanted:
        record = written.get(key)
        if record is not None:
            place = record.pointer.removeprefix("file:").replace("#line=", ":")
            kind = _kind(key)
            found[key] = Name(key, kind, model.label(key), record.title, record.status, place)
    unwritten = [key for key in wanted if key.startswith("task:") and key not in found]
    subjects = _subjects(seen, unwritten) if unwritten else {}
    return {
        key: found.get(key)
        or Name(key, _kind(key), model.label(key), subject=subjects.get(key, ""))
        for key in wanted
    }


def _subjects(seen: view.View, tasks: list[model.Key]) -> dict[model.Key, str]:
    bound = {"tasks": json.dumps(tasks), "commits": history.COMMITS, "least": model.SURE}
    return dict(seen.connection.execute(_SQL.subjects.text, bound).fetchall())


def _of_code(key: model.Key, kind: model.Kind, kinds: str, raw: bytes) -> Name:
    change, _ = kept.change_in(_NOWHERE, kinds, raw)
    place = change.after or change.before
    assert place is not None  # noqa: S101 - no change is of nothing
    is_gone = change.after is None
    if place.kind == "file":
        return Name(key, kind, place.path, place=place.path, is_gone=is_gone)
    lines = str(place.line) if place.line == place.end_line else f"{place.line}-{place.end_line}"
    where = f"{place.path}:{lines}"
    return Name(key, kind, f"{place.path}#{place.qualified}", place=where, is_gone=is_gone)


def _kind(key: model.Key) -> model.Kind:
    """The kind of a node that is known by its key alone."""
    front = key.partition(":")[0]
    return front if front in ("task", "decision", "path") else "symbol"  # type: ignore[return-value]


# What words mean


def task(connection: sqlite3.Connection, words: str) -> model.Key | None:
    """The task that is called so; None if there is none. Several are an error."""
    source, colon, task_id = words.removeprefix("task:").rpartition(":")
    if not ids.TaskId.is_valid(task_id):
        return None
    found = [
        key
        for key in _known(connection, "task")
        if model.label(key) == task_id and (not colon or key == f"task:{source}:{task_id}")
    ]
    return _one(words, "tasks", found)


def require_task(connection: sqlite3.Connection, words: str) -> model.Key:
    """The task that is called so."""
    found = task(connection, words)
    if found is None:
        near = _near(words, map(model.label, _known(connection, "task")))
        raise errors.NotFound(
            f"Nothing that is indexed knows a task {text.one_line(words, 80)}.",
            hint=near or "See what there is with `tether lineage edges`.",
        )
    return found


def decision(seen: view.View, words: str, *, by_number: bool = True) -> model.Key | None:
    """The decision that is called so: by its name, its id, or its number; None if there is none."""
    bare = words.removeprefix("decision:").strip()
    known = _known(seen.connection, "decision")
    exact = model.decision_key(bare)
    if exact in known:
        return exact
    written = records.read(seen.connection, seen.scopes, known)
    cited = {key: each.id.casefold() for key, each in written.items()}
    wanted, number = bare.casefold(), _digits(bare) if by_number else ""
    ways = (
        [key for key in known if model.label(key).casefold() == wanted],
        [key for key in known if cited.get(key) == wanted],
        [key for key in known if _is_short(model.label(key).casefold(), wanted)],
        [key for key in known if number and _digits(model.label(key)) == number],
    )
    return next((_one(words, "decisions", found) for found in ways if found), None)


def require_decision(seen: view.View, words: str) -> model.Key:
    """The decision that is called so."""
    found = decision(seen, words)
    if found is None:
        known = _known(seen.connection, "decision")
        near = _near(words.removeprefix("decision:"), map(model.label, known))
        there_are = "See them with `tether lineage decision`."
        none_are = "Decision files are found in directories called adr or decisions."
        raise errors.NotFound(
            f"No decision that is indexed is called {text.one_line(words, 80)}.",
            hint=near or (there_are if known else none_are),
        )
    return found


def decisions(seen: view.View, tip: kept.Line) -> list[model.Key]:
    """All decisions that the checkout has files of, by name, and that were there by then.

    What has no date is as old as its file.
    """
    known = _known(seen.connection, "decision")
    written = records.read(seen.connection, seen.scopes, known)
    return sorted(key for key, each in written.items() if _is_there(seen, tip, each))


def _is_there(seen: view.View, tip: kept.Line, record: story.Record) -> bool:
    if record.created_at:
        return record.created_at <= seen.until
    path = record.pointer.removeprefix("file:").partition("#")[0]
    placed = tip.placed(seen.connection, path)
    if placed is None:
        return True
    node = kept.nodes_of(seen.connection, [placed.file])[placed.file]
    counts = seen.counted(kept.past(seen.connection, tip.number))
    return kept.born(seen.connection, node, counts.__contains__) is not None


def _is_short(name: str, words: str) -> bool:
    """Whether words are the end of a name: `ADR-012` of `log#ADR-012`."""
    return name.endswith((f"/{words}", f"#{words}"))


def _digits(words: str) -> str:
    found = _NUMBER.search(words)
    return found[0].lstrip("0") or "0" if found else ""


def node(seen: view.View, aim: targets.Aim, words: str) -> model.Key:
    """The one node that words mean: a task, a decision or code."""
    if words.startswith("decision:"):
        return require_decision(seen, words)
    if words.startswith("task:"):
        return require_task(seen.connection, words)
    found = task(seen.connection, words) or decision(seen, words, by_number=False)
    return found or _code(seen.connection, aim, words)


def _code(connection: sqlite3.Connection, aim: targets.Aim, words: str) -> model.Key:
    target = code(connection, aim, words)
    if not target.key:
        raise errors.UsageError(
            f"{text.one_line(words, 200)} is a directory: edges are of the files in it.",
            hint="`tether lineage feature` tells of all of them at once.",
        )
    return target.key


def code(connection: sqlite3.Connection, aim: targets.Aim, words: str) -> targets.Target:
    """The code that words mean; if there is none, and they may mean a task, that is said."""
    try:
        return aim.find(words)
    except errors.NotFound as problem:
        if other := _other(connection, words):
            raise other from problem
        is_name = isinstance(problem, targets.NobodyCalledSo)
        if not is_name or not ids.TaskId.is_valid(words.rpartition(":")[2]):
            raise
        near = _near(words, map(model.label, _known(connection, "task")))
        raise errors.NotFound(
            f"No task, no decision and no code is called {text.one_line(words, 80)} here.",
            hint=near or problem.hint,
        ) from problem


def _other(connection: sqlite3.Connection, words: str) -> errors.NotFound | None:
    """What to say of words that mean a task or a decision where code is asked for."""
    called = text.one_line(words, 80)
    if task(connection, words) is not None:
        return errors.NotFound(
            f"{called} is a task, and this question is about code.",
            hint=f"`tether lineage edges {called}` has the code that it changed.",
        )
    name = words.removeprefix("decision:")
    if model.decision_key(name) in _known(connection, "decision"):
        return errors.NotFound(
            f"{called} is a decision, and this question is about code.",
            hint=f"`tether lineage decision {text.one_line(name, 80)}` has the code it governs.",
        )
    return None


def _known(connection: sqlite3.Connection, kind: str) -> list[model.Key]:
    """The keys of all nodes of a kind that has its name in front."""
    return [key for (key,) in connection.execute(_KEYS, (f"{kind}:", f"{kind};"))]


def _one(words: str, nouns: str, found: list[model.Key]) -> model.Key | None:
    if len(found) < 2:
        return found[0] if found else None
    shown = [text.one_line(each.partition(":")[2], 80) for each in sorted(found)[:_MAX_NAMED]]
    more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    raise errors.UsageError(
        f"Several {nouns} are called {text.one_line(words, 80)}: {', '.join(shown)}{more}.",
        hint=f"Say which one, as in {min(found) if nouns == 'decisions' else shown[0]}.",
        details={"candidates": sorted(found)[:100]},
    )


def _near(words: str, known: Iterable[str]) -> str:
    """What to ask whoever named something that is not there; nothing if nothing is near."""
    names_ = list(dict.fromkeys(known))
    same = [each for each in names_ if each.casefold() == words.casefold()]
    near = same or difflib.get_close_matches(words[:80], names_, _MAX_NEAR, _NEAR)
    return f"Did you mean {' or '.join(text.one_line(each, 80) for each in near)}?" if near else ""
