"""Reversals to edges: a task whose commits took back those of another one (`diff-reversal`)."""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tether import clock
from tether.evidence.history import commits as history
from tether.git import Git, Oid
from tether.lineage import kept
from tether.lineage.derive import undoing
from tether.lineage.edges import ledger, model

DERIVER = "diff-reversal"
_CURSOR = "SELECT cursor FROM derivation_cursors WHERE deriver = ?"
_KEEP = "INSERT OR REPLACE INTO derivation_cursors VALUES (?, ?)"
_LAST = "SELECT coalesce(max(number), 0) FROM identity_commits"
_NEW = "SELECT number, oid FROM identity_commits WHERE number > ? ORDER BY number"
_NUMBER = "SELECT number FROM identity_commits WHERE oid >= ? AND oid < ? || 'g' LIMIT 2"
_CALLED = """
SELECT c.number FROM activities AS a JOIN identity_commits AS c ON c.oid = a.record
WHERE a.file = (SELECT id FROM evidence_files WHERE path = ?) AND a.text = ? AND c.number < ?
ORDER BY c.number DESC LIMIT 20
"""
# A message that names more commits than this says nothing of any.
_MOST_NAMED = 50
# What is as it was at some time before, or is gone.
_SUSPECTED = """
SELECT e.number, e.commit_no FROM identity_events AS e
JOIN lineage_nodes AS n ON n.id = e.node AND n.kind <> 'file'
WHERE e.commit_no > ? AND e.kinds <> '' AND (
    e.kinds = 'deleted' OR (
        e.digest IS NOT NULL AND EXISTS (
            SELECT 1 FROM identity_events AS b
            WHERE b.node = e.node AND b.digest = e.digest AND b.number < e.number
        )
    )
)
"""
_WAY = """
WITH RECURSIVE way (number, steps) AS (
    SELECT ?, 0 UNION ALL
    SELECT e.previous, steps + 1 FROM way JOIN identity_events AS e USING (number)
    WHERE e.previous IS NOT NULL AND steps < 200
)
SELECT e.commit_no, e.kinds, e.digest, e.added + e.removed FROM way
JOIN identity_events AS e USING (number) WHERE e.kinds <> '' ORDER BY e.number
"""
_SYMBOLS_OF = """
SELECT count(*) FROM identity_events AS e
JOIN lineage_nodes AS n ON n.id = e.node AND n.kind <> 'file'
WHERE e.commit_no = ? AND e.kinds <> ''
"""
_ADD = """
INSERT INTO commit_undone VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    confidence = max(confidence, excluded.confidence), symbols = max(symbols, excluded.symbols)
"""
_PAIRS = """
SELECT u.commit_no, c.oid, c.at, o.oid, u.confidence, u.symbols,
       n.key, max(s.confidence), m.key, max(t.confidence)
FROM commit_undone AS u
CROSS JOIN commit_tasks AS s ON s.commit_no = u.commit_no
CROSS JOIN commit_tasks AS t ON t.commit_no = u.of_no
JOIN lineage_nodes AS n ON n.id = s.task
JOIN lineage_nodes AS m ON m.id = t.task
JOIN identity_commits AS c ON c.number = u.commit_no
JOIN identity_commits AS o ON o.number = u.of_no
WHERE s.task <> t.task
GROUP BY u.commit_no, u.of_no, s.task, t.task
HAVING max(s.confidence) >= 0.6 AND max(t.confidence) >= 0.6
ORDER BY u.commit_no, n.key, m.key, u.of_no
"""


def find(connection: sqlite3.Connection, git: Git) -> int:
    """Look at the commits that are new for what they take back; how many there were."""
    row = connection.execute(_CURSOR, (DERIVER,)).fetchone()
    since = int(row[0]) if row else 0
    new = connection.execute(_NEW, (since,)).fetchall()
    if new:
        rows = [*_stated(connection, git, new), *_seen(connection, since)]
        connection.executemany(_ADD, rows)
        connection.execute(_KEEP, (DERIVER, str(new[-1][0])))
    return len(new)


def derive(connection: sqlite3.Connection, derived_at: str) -> int:
    """Bring the edges between tasks forward; how many commits say something new."""
    known = ledger.known(connection, DERIVER, "")
    found: dict[str, list[model.Edge]] = defaultdict(list)
    for _, oid, at_ms, of, sure, symbols, subject, one, target, other in connection.execute(_PAIRS):
        detail = {"of": of, "symbols": symbols}
        confidence = round(min(sure, one, other), 3)
        at = clock.text(at_ms)
        edge = model.Edge(subject, "reverts", target, confidence, at, f"commit:{oid}", detail)
        found[oid].append(edge)
    said = [ledger.Said(oid, _stamp(edges), tuple(edges)) for oid, edges in found.items()]
    fresh = [each for each in said if known.get(each.name) != each.stamp]
    ledger.forget(connection, DERIVER, "", [name for name in known if name not in found])
    if fresh:
        ledger.replace_all(connection, DERIVER, "", fresh, derived_at, {})
    return len(fresh)


def _stamp(edges: list[model.Edge]) -> str:
    said = repr([(e.subject, e.object, e.confidence, e.detail["of"]) for e in edges])
    return hashlib.blake2b(said.encode(), digest_size=12).hexdigest()


def _stated(
    connection: sqlite3.Connection, git: Git, new: list[tuple[int, str]]
) -> Iterator[tuple[int, int, float, int]]:
    """What messages say, as `git revert` and the sites of forges write it."""
    numbers = {Oid(oid): number for number, oid in new}
    for commit in git.commits(set(numbers) - git.missing(numbers)):
        number = numbers[commit.oid]
        named = undoing.stated(commit.body)
        for word in named[:_MOST_NAMED]:
            of = connection.execute(_NUMBER, (word, word)).fetchall()
            if len(of) == 1 and _is_before(connection, of[0][0], number):
                yield number, of[0][0], undoing.STATED, 0
        title = undoing.reverted_title(commit.subject) if not named else ""
        bound = (history.COMMITS, title, number)
        rows = connection.execute(_CALLED, bound).fetchall() if title else []
        own = (of for (of,) in dict.fromkeys(rows) if _is_before(connection, of, number))
        for of_no in itertools.islice(own, 1):
            yield number, of_no, undoing.STATED, 0


def _is_before(connection: sqlite3.Connection, earlier: int, later: int) -> bool:
    return earlier != later and kept.is_before(connection, earlier, later)


def _seen(connection: sqlite3.Connection, since: int) -> Iterator[tuple[int, int, float, int]]:
    """What is as it was before."""
    pairs: list[tuple[undoing.Event, undoing.Event]] = []
    for number, _ in connection.execute(_SUSPECTED, (since,)).fetchall():
        way = [
            undoing.Event(commit_no, tuple(kinds.split()), digest, lines)
            for commit_no, kinds, digest, lines in connection.execute(_WAY, (number,))
        ]
        last = len(way) - 1
        pairs += [(way[by], way[of]) for by, of in undoing.of_symbol(way) if by == last]
    for each in undoing.summed(pairs):
        [(symbols,)] = connection.execute(_SYMBOLS_OF, (each.of,)).fetchall()
        yield each.commit, each.of, undoing.confidence(each, symbols), each.symbols


def undone_by(connection: sqlite3.Connection, commits: Iterable[int]) -> dict[int, list[int]]:
    """What each of some commits took back, by numbers."""
    found: dict[int, list[int]] = {}
    for commit in commits:
        rows = connection.execute(
            "SELECT of_no FROM commit_undone WHERE commit_no = ? AND confidence >= ?",
            (commit, model.SURE),
        )
        found[commit] = [of for (of,) in rows]
    return found
