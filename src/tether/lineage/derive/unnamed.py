"""The commits that name no task, by time: whether others may count for a claim than before.

What was rebased or amended counts for when it was written first, too.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import sqlite3

from tether.evidence.history import commits as history

ALWAYS = 2**53
# As `commits_claimed` has it: an editor may be open for long before a commit is made.
_BEFORE_MS = 3_600_000
_PLAIN = """
SELECT a.start, a.record FROM activities AS a JOIN identity_commits AS c ON c.oid = a.record
WHERE a.file = (SELECT id FROM evidence_files WHERE path = :commits) AND a.task = ''
UNION ALL
SELECT w.authored_ms, w.oid FROM authored AS w
JOIN identity_commits AS c ON c.oid = w.oid
JOIN activities AS a ON a.start = w.committed_ms AND a.record = w.oid AND a.task = ''
WHERE a.file = (SELECT id FROM evidence_files WHERE path = :commits)
ORDER BY 1, 2
"""


class Unnamed:
    """They are looked up when the first claim asks."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def between(self, begin_ms: int, end_ms: int) -> int:
        """A number that is another one if others were made or written in a time."""
        times, sums = self._sums
        first = bisect.bisect_left(times, begin_ms - _BEFORE_MS)
        last = bisect.bisect_right(times, end_ms)
        return (sums[last] - sums[first]) % 2**64

    @functools.cached_property
    def _sums(self) -> tuple[list[int], list[int]]:
        """Their times, and the sum of all that were before each."""
        rows = self._connection.execute(_PLAIN, {"commits": history.COMMITS}).fetchall()
        oids = (int(oid[:16], 16) for _, oid in rows)
        return [at for at, _ in rows], list(itertools.accumulate(oids, initial=0))
