"""Transcripts for tests: pieces of them, how they are read, and how they can be damaged."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from tether.evidence import model
from tether.evidence.transcripts import adapter
from tether.tasks.sources import patterns

CORPORA = Path(os.environ.get("TETHER_CORPORA", Path(__file__).parents[2] / "shared/corpora"))
# `PROBE-RUN`, `T-1` and `T-9` are what the real records have.
FINDER = patterns.Finder(patterns.Kinds(("work", "track"), ("PROBE-@", "T-#")))
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
Record = dict[str, Any]


def corpus(name: str) -> bytes:
    """Real records, if they are there."""
    path = CORPORA / "agents" / name
    if not path.is_file():
        pytest.skip("needs the corpus beside the clone")
    return path.read_bytes()


def jsonl(*records: object, compact: bool = True) -> bytes:
    separators = (",", ":") if compact else (", ", ": ")
    return b"".join(json.dumps(each, separators=separators).encode() + b"\n" for each in records)


def lines(data: bytes) -> list[adapter.Line]:
    found, start = [], 0
    for raw in data.split(b"\n")[:-1]:
        found.append(adapter.Line(start, raw))
        start += len(raw) + 1
    return found


def arriving(chosen: adapter.Adapter, all_lines: list[adapter.Line]) -> list[adapter.Line]:
    """Those lines that a reader gives to its adapter."""
    needles = re.compile(
        b"|".join(re.escape(n) if isinstance(n, bytes) else n.pattern for n in chosen.needles)
    )
    return [each for each in all_lines if FINDER.may_hold(each.raw) or needles.search(each.raw)]


def read(
    chosen: adapter.Adapter,
    data: bytes,
    state: dict[str, Any] | None = None,
    path: str = "/t/a.jsonl",
) -> adapter.Read:
    """What a transcript says; and the lines that do not arrive would not have changed it."""
    file = adapter.File(path, "s-1")
    state = {} if state is None else state
    everything = chosen.read(file, lines(data), FINDER, copy.deepcopy(state))
    result = chosen.read(file, arriving(chosen, lines(data)), FINDER, state)
    assert (result.activities, result.marks) == (everything.activities, everything.marks)
    keys = [(each.record, each.task_source, each.task, each.what) for each in result.activities]
    assert len(keys) == len(set(keys))
    return result


def rows(result: adapter.Read) -> list[tuple[str, str, str]]:
    return [(each.kind, each.what, each.task) for each in result.activities]


def in_two_readings(
    chosen: adapter.Adapter, data: bytes, at: int
) -> tuple[adapter.Read, dict[str, Any]]:
    """The same lines, read in two goes with the state kept as JSON in between."""
    file = adapter.File("/t/a.jsonl", "s-1")
    state: dict[str, Any] = {}
    first = chosen.read(file, lines(data)[:at], FINDER, state)
    state = json.loads(json.dumps(state))
    second = chosen.read(file, lines(data)[at:], FINDER, state)
    both = adapter.Read(
        first.activities + second.activities,
        first.marks + second.marks,
        first.problems + second.problems,
    )
    return both, json.loads(json.dumps(state))


# Damage

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        [
            10**400,
            -(10**400),
            "H.1.2",
            "user",
            "assistant",
            "message",
            "\ud83d",
            "2026-11-15T06:32:07.059Z",
        ]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "content", "id"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where something stands in a value, each place by the way to it."""
    if at:
        yield at
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for name, inner in pairs:
        yield from places(inner, (*at, name))


def replaced(value: object, way: tuple[str | int, ...], new: object) -> Any:
    result: Any = copy.deepcopy(value)
    holder = result
    for name in way[:-1]:
        holder = holder[name]
    old = holder[way[-1]]
    holder[way[-1]] = new(old) if callable(new) else new
    return result


def with_secret(records: list[Record]) -> Iterator[bytes]:
    """The records with a secret in every text in turn, alone and among other words."""
    for way in places(records):
        there: Any = records
        for name in way:
            there = there[name]
        if isinstance(there, str):
            for new in (SECRET, f"{there} {SECRET}", f"{SECRET} {there}"):
                yield jsonl(*replaced(records, way, new))


def stored(chosen: adapter.Adapter, data: bytes) -> str:
    """Everything that is kept of a transcript, but for paths."""
    state: dict[str, Any] = {}
    result = chosen.read(adapter.File("/t/a.jsonl", "s-1"), lines(data), FINDER, state)
    facts: list[model.Session] = [chosen.head("/t/a.jsonl", data), chosen.tail(data)]
    kept = [
        *(each._replace(files=(), pointer="") for each in result.activities),
        *(each._replace(pointer="") for each in facts),
    ]
    return repr((kept, result.marks, result.problems, state))
