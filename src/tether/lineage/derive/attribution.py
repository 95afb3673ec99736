"""Commits to edges: which tasks a commit is work on, and what it did to files and symbols.

The ids in its message are found by `evidence`; what was made while a claim was held, and what a
merge brought in, count too. What a commit did is known from following it (`identities`): to files
(`commit-grep`) and to symbols (`kg-attribution`), in its own tree and under both paths of a move.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from tether import clock, ids
from tether.agents import claims
from tether.evidence import claimed
from tether.evidence import model as evidence
from tether.evidence.history import commits as history
from tether.evidence.history import commits_claimed, naming
from tether.hints import Any, NamedTuple
from tether.lineage.derive import brought, crediting, unnamed
from tether.lineage.edges import ledger, model, nodes
from tether.store import port

FILES, SYMBOLS = "commit-grep", "kg-attribution"
_SAID = """
SELECT a.record, a.task_source || ':' || a.task || '=' || a.kind || '/' || a.what
FROM activities AS a CROSS JOIN identity_commits AS c ON c.oid = a.record
WHERE a.file = (SELECT id FROM evidence_files WHERE path = ?) AND a.task <> ''
"""
_SUBJECT = (
    "SELECT text FROM activities"
    " WHERE file = (SELECT id FROM evidence_files WHERE path = ?) AND start = ? AND record = ?"
)
_CALLED = "SELECT oid, number, at, files FROM identity_commits WHERE oid = ?"
_NUMBERED = "SELECT oid, number, at, files FROM identity_commits WHERE number = ?"
_PARENTS = "SELECT child, parent FROM identity_parents ORDER BY child, place"
_MERGES = (
    "SELECT DISTINCT oid FROM identity_parents JOIN identity_commits ON number = child"
    " WHERE place = 1"
)
_READER = "SELECT reader FROM evidence_files WHERE path = ?"
_EVENTS = (
    "SELECT e.number, n.key, n.kind, e.kinds, e.added, e.removed FROM identity_events AS e"
    " JOIN lineage_nodes AS n ON n.id = e.node WHERE e.commit_no = ? AND e.kinds <> ''"
)
_INPUTS = (
    "SELECT name, id FROM lineage_inputs WHERE deriver = ? AND scope = ''"
    " AND name IN (SELECT value FROM json_each(?))"
)
_TAKE_BACK = "DELETE FROM commit_tasks WHERE input = ?"
_GIVE = "INSERT OR REPLACE INTO commit_tasks VALUES (?, ?, ?, ?, ?)"
_MAX_CLAIMS = 100_000
# So many inputs are written down together.
_AT_ONCE = 500
_MERGE, _CLAIM, _CALLED_SO = "merge:", "claim:", "called:"
# What changes the content of a file. Its lines are counted where it was read anyway, for its
# symbols or to see what a merge did: to read all others would make the first index slower. If none
# came and none went, they were not counted, or there is nothing to say.
_OF_CONTENT = frozenset(("introduced", "body", "deleted"))

Parents = dict[int, list[int]]


class _Commit(NamedTuple):
    oid: str
    number: int
    at_ms: int
    files: int

    @property
    def at(self) -> str:
        return clock.text(self.at_ms)


class _Input(NamedTuple):
    """What says of some commits that they are work on some tasks."""

    name: str
    stamp: str
    credits: tuple[tuple[_Commit, crediting.Credit], ...]


class Overtaken(Exception):
    """The commits of a plan have other numbers by now: somebody follows them anew."""


class Claims(NamedTuple):
    """Where claims are kept, and what else it takes to know what was done under them."""

    store: port.Store
    around: claimed.Around


class Plan(NamedTuple):
    """What is to be written down, and what is to be taken back."""

    inputs: list[_Input]
    gone: list[str]

    @property
    def size(self) -> int:
        return len(self.inputs) + len(self.gone)


def look(
    connection: sqlite3.Connection, held: Claims | None, words: Mapping[str, ids.TaskKey]
) -> Plan:
    """What commits and claims say that is not written down yet.

    `words` are ids of tasks that nobody can tell from other words: they are looked for in subjects.
    """
    known = ledger.known(connection, FILES, "")
    said = _said(connection)
    fresh = [oid for oid, stamp in said.items() if known.get(oid) != stamp]
    commits = _Commits(connection)
    inputs = list(_own(commits, said, fresh))
    of_merges = _stamps_of_merges(connection, said)
    inputs += _merges(connection, commits, said, _new(of_merges, known))
    names = {*said, *of_merges}
    if held is not None:
        of_claims = dict(_stamps(connection, held.store))
        names |= of_claims.keys()
        inputs += _under_claims(connection, held, commits, _new(of_claims, known))
    of_words = naming.of_all(connection, words)
    inputs += _called_so(commits, of_words, known)
    names |= {_called(key) for key in of_words}
    # What other checkouts know of is theirs to take back.
    here = set(map(_called, words.values()))
    gone = [
        name
        for name in known
        if name not in names
        and (held or not name.startswith(_CLAIM))
        and (name in here or not name.startswith(_CALLED_SO))
    ]
    return Plan(inputs, gone)


def write(connection: sqlite3.Connection, plan: Plan, derived_at: str) -> None:
    """Write a plan down; a part of one is as good, because what is left is seen again."""
    _take_back(connection, plan.gone)
    for deriver in (FILES, SYMBOLS):
        ledger.forget(connection, deriver, "", plan.gone)
    if plan.inputs:
        _write(connection, plan.inputs, derived_at)


def pieces(plan: Plan) -> Iterator[Plan]:
    """A plan in parts that take little time each."""
    yield Plan([], plan.gone)
    for first in range(0, len(plan.inputs), _AT_ONCE):
        yield Plan(plan.inputs[first : first + _AT_ONCE], [])


class _Commits:
    """Those that were followed, looked up when the first one is asked for."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[str, _Commit] = {}

    def get(self, oid: str) -> _Commit | None:
        if oid not in self._known:
            row = self._connection.execute(_CALLED, (oid,)).fetchone()
            if row is None:
                return None
            self._known[oid] = _Commit(*row)
        return self._known[oid]

    def numbered(self, number: int) -> _Commit:
        row = self._connection.execute(_NUMBERED, (number,)).fetchone()
        return _Commit(*row)


def _said(connection: sqlite3.Connection) -> dict[str, str]:
    """What each commit that was followed says, as a stamp."""
    found: dict[str, set[str]] = defaultdict(set)
    for oid, each in connection.execute(_SAID, (history.COMMITS,)):
        found[oid].add(each)
    return {oid: " ".join(sorted(some)) for oid, some in found.items()}


def _of(said: str) -> list[crediting.Credit]:
    """The credits that a stamp stands for: it has all that a commit says."""
    found = []
    for word in said.split(" "):
        task, _, how = word.rpartition("=")
        source, _, task_id = task.partition(":")
        key = model.task_key(ids.TaskKey(source, task_id))
        kind, _, what = how.partition("/")
        found.append(crediting.said(key, kind, what))
    return crediting.of_commit(found)


def _own(commits: _Commits, said: Mapping[str, str], fresh: Iterable[str]) -> Iterator[_Input]:
    for oid in fresh:
        commit = commits.get(oid)
        if commit is not None:
            yield _Input(oid, said[oid], tuple((commit, each) for each in _of(said[oid])))


def _new(stamps: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Those that say something else than before."""
    return {name: stamp for name, stamp in stamps.items() if known.get(name) != stamp}


def _stamps_of_merges(connection: sqlite3.Connection, said: Mapping[str, str]) -> dict[str, str]:
    """Merges that name tasks: what they say of others depends on what those say themselves."""
    [(reader,)] = connection.execute(_READER, (history.COMMITS,)).fetchall() or [("",)]
    version = hashlib.blake2b(str(reader).encode(), digest_size=6).hexdigest()
    merges = (oid for (oid,) in connection.execute(_MERGES) if oid in said)
    return {f"{_MERGE}{oid}": f"{said[oid]} {version}" for oid in merges}


def _merges(
    connection: sqlite3.Connection,
    commits: _Commits,
    said: Mapping[str, str],
    new: Mapping[str, str],
) -> Iterator[_Input]:
    """What merges say of the commits that they brought in and that name no task themselves."""
    parents: Parents | None = None
    for name, stamp in new.items():
        oid = name.removeprefix(_MERGE)
        commit = commits.get(oid)
        if commit is None:
            continue
        row = connection.execute(_SUBJECT, (history.COMMITS, commit.at_ms, commit.oid)).fetchone()
        subject = str(row[0]) if row else ""
        branches = crediting.branches_of_merge(subject)
        if branches and parents is None:
            parents = _parents(connection)
        lines = brought.lines(parents.__getitem__, commit.number) if branches and parents else []
        if len(branches) != len(lines):
            # Nobody says which is which.
            branches, lines = branches[:1], [[each for line in lines for each in line]]
        found = [
            credit
            for branch, line in zip(branches, lines, strict=False)
            for credit in _of_line(branch, subject, [commits.numbered(n) for n in line], said, oid)
        ]
        yield _Input(name, stamp, tuple(found))


def _of_line(
    branch: str, subject: str, line: list[_Commit], said: Mapping[str, str], merge: str
) -> Iterator[tuple[_Commit, crediting.Credit]]:
    """What a merge says of the commits of one branch."""
    every = (credit for each in line if each.oid in said for credit in _of(said[each.oid]))
    others = {credit.task for credit in every if credit.how == "named"}
    meant = crediting.of_merge(branch, subject, _of(said[merge]))
    for credit in crediting.of_branch(branch, meant, others, len(line)):
        yield from ((each, credit) for each in line if each.oid not in said)


def _parents(connection: sqlite3.Connection) -> Parents:
    found: Parents = defaultdict(list)
    for child, parent in connection.execute(_PARENTS):
        found[child].append(parent)
    return found


def _stamps(connection: sqlite3.Connection, store: port.Store) -> Iterator[tuple[str, str]]:
    """Every task that was ever claimed, and what changes if there may be others under its claims.

    What is rebased later is made again, and what is followed later is known only then.
    """
    every = claims.all_ones(store.rows, _MAX_CLAIMS)
    made = unnamed.Unnamed(connection)
    spans: dict[ids.TaskKey, list[str]] = defaultdict(list)
    for each in every:
        closed = clock.parse(each.closed_at) if each.closed_at else unnamed.ALWAYS
        between = made.between(clock.parse(each.claimed_at), closed)
        spans[each.key].append(f"{each.epoch} {each.closed_at or ''} {between:x}")
    for key, said in spans.items():
        digest = hashlib.blake2b(" ".join(said).encode(), digest_size=12).hexdigest()
        yield f"{_CLAIM}{key.source}:{key.id}", digest


def _under_claims(
    connection: sqlite3.Connection, held: Claims, commits: _Commits, new: Mapping[str, str]
) -> Iterator[_Input]:
    for name, stamp in new.items():
        source, _, task_id = name.removeprefix(_CLAIM).partition(":")
        key = ids.TaskKey(source, task_id)
        credit = crediting.Credit(model.task_key(key), crediting.CLAIMED, "claim")
        found = commits_claimed.under_claims(connection, held.store, key, held.around)
        made = (commits.get(each.record) for each in found)
        yield _Input(name, stamp, tuple((commit, credit) for commit in made if commit is not None))


def _called(key: ids.TaskKey) -> str:
    return f"{_CALLED_SO}{key.source}:{key.id}"


def _called_so(
    commits: _Commits,
    found: Mapping[ids.TaskKey, Iterable[evidence.Activity]],
    known: Mapping[str, str],
) -> Iterator[_Input]:
    """The commits whose subjects have the id of a task that may be any word."""
    for key, activities in found.items():
        credit = crediting.Credit(model.task_key(key), crediting.NAMED, "named")
        every = sorted({each.record for each in activities})
        made = [commit for oid in every if (commit := commits.get(oid)) is not None]
        said = " ".join(each.oid for each in made)
        stamp = hashlib.blake2b(said.encode(), digest_size=12).hexdigest()
        if known.get(_called(key)) != stamp:
            yield _Input(_called(key), stamp, tuple((commit, credit) for commit in made))


def _take_back(connection: sqlite3.Connection, names: Iterable[str]) -> dict[str, int]:
    """Withdraw what some inputs gave; their numbers."""
    found = connection.execute(_INPUTS, (FILES, json.dumps(list(names)))).fetchall()
    connection.executemany(_TAKE_BACK, [(number,) for _, number in found])
    return dict(found)


def _write(connection: sqlite3.Connection, inputs: list[_Input], derived_at: str) -> None:
    """What some inputs say, as credits of commits and as edges."""
    touched = {commit.number: commit for each in inputs for commit, _ in each.credits}
    for number, commit in touched.items():
        if connection.execute(_NUMBERED, (number,)).fetchone() != tuple(commit):
            raise Overtaken
    events = {number: connection.execute(_EVENTS, (number,)).fetchall() for number in touched}
    kinds: dict[model.Key, model.Kind] = {
        key: kind for rows in events.values() for _, key, kind, *_ in rows
    }
    for deriver in (FILES, SYMBOLS):
        said = [
            ledger.Said(
                each.name,
                each.stamp,
                tuple(
                    edge
                    for commit, credit in each.credits
                    for edge in _edges(commit, credit, events[commit.number], deriver)
                ),
            )
            for each in inputs
        ]
        ledger.replace_all(connection, deriver, "", said, derived_at, kinds)
    tasks: dict[model.Key, model.Kind] = {
        c.task: "task" for each in inputs for _, c in each.credits
    }
    numbers = nodes.numbers(connection, tasks)
    by_name = _take_back(connection, [each.name for each in inputs])
    connection.executemany(
        _GIVE,
        [
            (
                *(commit.number, numbers[credit.task], credit.confidence, credit.how),
                by_name[each.name],
            )
            for each in inputs
            for commit, credit in each.credits
        ],
    )


def _edges(
    commit: _Commit,
    credit: crediting.Credit,
    events: list[tuple[int, str, str, str, int, int]],
    deriver: str,
) -> Iterator[model.Edge]:
    """What a commit did, as deeds of a task."""
    for number, node, kind, words, added, removed in events:
        if (kind == "file") != (deriver == FILES):
            continue
        kinds = words.split()
        sure = crediting.sureness(credit, kinds, commit.files, is_symbol=kind != "file")
        detail: dict[str, Any] = {"event": number, "how": credit.how}
        if added or removed or kind != "file" or not _OF_CONTENT & set(kinds):
            detail |= {"added": added, "removed": removed}
        pointer = f"commit:{commit.oid}"
        yield model.Edge(
            credit.task, crediting.edge_type(kinds), node, sure, commit.at, pointer, detail
        )
