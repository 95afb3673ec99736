"""The ledger of edges: which input says what, and the sum of all that.

Evidence is the ground truth. Each row belongs to the one input that says so: a commit, a task, a
file. An edge is what its rows come to, and is gone with the last of them. So what an input says is
replaced as a whole, and nothing is left of what it says no longer.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from tether.hints import Any, NamedTuple
from tether.lineage.edges import model, nodes
from tether.store import sql

_SQL = sql.Queries("ledger", os.path.dirname(__file__))
# What some kinds of nodes are called; of code that was followed, somebody else has to say it.
_KINDS: dict[str, model.Kind] = {"task": "task", "decision": "decision", "path": "path"}


class Said(NamedTuple):
    """Everything that one input says."""

    name: str
    stamp: str
    """Another one if it says something else now."""
    edges: tuple[model.Edge, ...]
    hinges: frozenset[str] = frozenset()
    """Words: when one of them means something else, so does what is said."""


def replace(
    connection: sqlite3.Connection,
    deriver: str,
    scope: str,
    name: str,
    stamp: str,
    edges: Iterable[model.Edge],
    derived_at: str,
    kinds: Mapping[model.Key, model.Kind],
) -> None:
    """Put what an input says in the place of what it said before."""
    replace_all(connection, deriver, scope, [Said(name, stamp, tuple(edges))], derived_at, kinds)


def replace_all(
    connection: sqlite3.Connection,
    deriver: str,
    scope: str,
    said: Iterable[Said],
    derived_at: str,
    kinds: Mapping[model.Key, model.Kind],
) -> None:
    """The same for many inputs at once. `kinds` says what the nodes of code are.

    An edge that was there keeps the time at which it was derived first. An edge from a node to
    itself says nothing and is left out.
    """
    latest = {each.name: each for each in said}
    # Before anything is written: a deriver that is mistaken leaves everything as it was.
    edges = [
        (name, _drawn(edge))
        for name, each in latest.items()
        for edge in each.edges
        if edge.subject != edge.object
    ]
    wanted = {key: _kind(key, kinds) for _, edge in edges for key in (edge.subject, edge.object)}
    ours = {"deriver": deriver, "scope": scope}
    with _whole(connection):
        numbers = nodes.numbers(connection, wanted)
        stamps = ({**ours, "name": each.name, "stamp": each.stamp} for each in latest.values())
        connection.executemany(_SQL.read.text, stamps)
        inputs = _inputs(connection, ours, latest)
        with _room(connection):
            _withdraw(connection, inputs.values())
            rows = (_row(inputs[name], edge, numbers, wanted) for name, edge in edges)
            connection.executemany(_SQL.say.text, rows)
            for statement in (_SQL.draw_tasks, _SQL.draw_code):
                connection.execute(statement.text, {**ours, "derived_at": derived_at})
            for statement in (_SQL.prove_tasks, _SQL.prove_code):
                connection.execute(statement.text, ours)
            _touch(connection, inputs.values())
        numbered = {"inputs": json.dumps(list(inputs.values()))}
        connection.execute(_SQL.unhinge.text, numbered)
        words = (
            {"input": inputs[name], "word": nodes.kept(word)}
            for name, each in latest.items()
            for word in each.hinges
        )
        connection.executemany(_SQL.hang.text, words)


def hanging(
    connection: sqlite3.Connection, scope: str, words: Iterable[str]
) -> frozenset[tuple[str, str]]:
    """The inputs of a scope that hang on one of these words, each with who read it."""
    parameters = {"scope": scope, "words": json.dumps([nodes.kept(each) for each in words])}
    return frozenset(connection.execute(_SQL.hanging.text, parameters).fetchall())


def known(connection: sqlite3.Connection, deriver: str, scope: str) -> dict[str, str]:
    """What a deriver read in a scope, by name, each with its stamp of that time."""
    rows = connection.execute(_SQL.inputs.text, {"deriver": deriver, "scope": scope})
    return dict(rows.fetchall())


def forget(connection: sqlite3.Connection, deriver: str, scope: str, names: Iterable[str]) -> None:
    """Take back what some inputs said: they are gone."""
    with _whole(connection):
        found = _inputs(connection, {"deriver": deriver, "scope": scope}, names)
        _forget(connection, list(found.values()))


def forget_scope(connection: sqlite3.Connection, scopes_to_keep: Iterable[str]) -> None:
    """Take back what all checkouts said but these; what Git and the store say stays."""
    with _whole(connection):
        rows = connection.execute(_SQL.elsewhere.text, {"scopes": json.dumps(list(scopes_to_keep))})
        _forget(connection, [number for (number,) in rows])


def _forget(connection: sqlite3.Connection, inputs: list[int]) -> None:
    with _room(connection):
        _withdraw(connection, inputs)
    gone = {"inputs": json.dumps(inputs)}
    connection.execute(_SQL.unhinge.text, gone)
    connection.execute(_SQL.forget.text, gone)


def _inputs(
    connection: sqlite3.Connection, ours: dict[str, str], names: Iterable[str]
) -> dict[str, int]:
    parameters = {**ours, "names": json.dumps(list(names))}
    return dict(connection.execute(_SQL.numbers.text, parameters).fetchall())


@contextlib.contextmanager
def _whole(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing, also within somebody else's transaction."""
    connection.execute("SAVEPOINT lineage_ledger")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK TO lineage_ledger")
        raise
    finally:
        connection.execute("RELEASE lineage_ledger")


@contextlib.contextmanager
def _room(connection: sqlite3.Connection) -> Iterator[None]:
    """Change evidence; then the edges that it was or is of are added up anew."""
    connection.execute(_SQL.make_room.text)
    connection.execute(_SQL.make_list.text)
    yield
    for statement in (_SQL.sum_tasks, _SQL.sum_code, _SQL.drop_tasks, _SQL.drop_code):
        connection.execute(statement.text)
    connection.execute(_SQL.clear_room.text)
    connection.execute(_SQL.clear_list.text)


def _withdraw(connection: sqlite3.Connection, inputs: Iterable[int]) -> None:
    _touch(connection, inputs)
    for statement in (_SQL.withdraw_tasks, _SQL.withdraw_code):
        connection.execute(statement.text, {"inputs": json.dumps(list(inputs))})


def _touch(connection: sqlite3.Connection, inputs: Iterable[int]) -> None:
    for statement in (_SQL.touch_tasks, _SQL.touch_code):
        connection.execute(statement.text, {"inputs": json.dumps(list(inputs))})


def _drawn(edge: model.Edge) -> model.Edge:
    """An edge in the direction in which it is stored, if it may be: else a deriver is mistaken."""
    subject, name, target = model.stored(edge.subject, edge.type, edge.object)
    if name not in model.TYPES or name in model.SYMMETRIC:
        raise ValueError(f"No deriver may say {name!r}: it is unknown, or computed when asked.")
    if not 0 <= edge.confidence <= 1:
        raise ValueError(f"A confidence is between 0 and 1, not {edge.confidence}.")
    return edge._replace(subject=subject, type=name, object=target)


def _kind(key: model.Key, kinds: Mapping[model.Key, model.Kind]) -> model.Kind:
    kind = kinds.get(key) or _KINDS.get(key.partition(":")[0])
    if kind is None:
        raise ValueError("A deriver did not say what kind of node this is.")
    return kind


def _row(
    input_number: int,
    edge: model.Edge,
    numbers: Mapping[model.Key, int],
    kinds: Mapping[model.Key, model.Kind],
) -> dict[str, Any]:
    # Looked up as it is: whoever reads an edge "as of" asks by the number of the commit.
    commit = edge.pointer.removeprefix("commit:").partition("#")[0]
    return {
        "is_code": edge.type in model.OF_CODE,
        "input": input_number,
        "from_id": numbers[edge.subject],
        "to_id": numbers[edge.object],
        "node_kind": kinds[edge.object],
        "edge_type": edge.type,
        "confidence": edge.confidence,
        "at": edge.at,
        "pointer": nodes.kept(edge.pointer),
        "detail": json.dumps(edge.detail, sort_keys=True, separators=(",", ":")),
        "commit_oid": commit if edge.pointer.startswith("commit:") else "",
    }
