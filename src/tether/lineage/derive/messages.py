"""Messages of commits to edges: what the work on one task says of others.

Of a merge the message is a review: what it cites is `cited-in-review`. A message counts only if it
is of one task; which of several means the others, nobody can tell.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

from tether import clock
from tether.git import Git, Oid
from tether.lineage.derive import sentences
from tether.lineage.edges import ledger, model
from tether.tasks.sources import patterns

TEXT, REVIEW = "task-text", "review-cite"
_OF_SEVERAL = """
SELECT c.oid, c.at, group_concat(n.key || '=' || t.how, ' ') AS said,
       (SELECT count(*) FROM identity_parents WHERE child = c.number) > 1 AS is_merge
FROM commit_tasks AS t
JOIN identity_commits AS c ON c.number = t.commit_no
JOIN lineage_nodes AS n ON n.id = t.task
WHERE t.how IN ('named', 'body', 'listed')
GROUP BY c.number HAVING count(DISTINCT t.task) > 1
"""


def derive(
    connection: sqlite3.Connection,
    git: Git,
    find: Callable[[str], list[patterns.Found]],
    kinds: str,
    derived_at: str,
) -> int:
    """Bring forward what messages say; how many of them say something new.

    `kinds` is another text if other ids are found.
    """
    wanted: dict[str, dict[str, tuple[str, str, str]]] = {TEXT: {}, REVIEW: {}}
    for oid, at_ms, said, is_merge in connection.execute(_OF_SEVERAL).fetchall():
        own = _own(said)
        if own:
            stamp = " ".join([*sorted(said.split(" ")), kinds])
            wanted[REVIEW if is_merge else TEXT][oid] = (own, clock.text(at_ms), stamp)
    count = 0
    for deriver, field in ((TEXT, "commit"), (REVIEW, "merge")):
        known = ledger.known(connection, deriver, "")
        found = wanted[deriver]
        fresh = {oid: each for oid, each in found.items() if known.get(oid) != each[2]}
        gone = [oid for oid in known if oid not in found]
        said_now = list(_said(git, find, fresh, field))
        ledger.forget(connection, deriver, "", gone)
        if said_now:
            ledger.replace_all(connection, deriver, "", said_now, derived_at, {})
        count += len(said_now) + len(gone)
    return count


def _own(said: str) -> model.Key:
    """The one task that a commit is work on; empty if there is none, or there are several."""
    named = [word.rpartition("=")[0] for word in said.split(" ") if word.endswith("=named")]
    return named[0] if len(named) == 1 else ""


def _said(
    git: Git,
    find: Callable[[str], list[patterns.Found]],
    fresh: dict[str, tuple[str, str, str]],
    field: str,
) -> Iterable[ledger.Said]:
    for commit in git.commits(map(Oid, fresh)):
        own, at, stamp = fresh[commit.oid]
        message = f"{commit.subject}\n\n{commit.body}"
        pointer = f"commit:{commit.oid}"
        edges = tuple(
            model.Edge(
                each.subject,
                each.type,
                each.object,
                each.confidence,
                at,
                pointer,
                {"verb": each.verb, "line": each.line, "text": each.text},
            )
            for each in sentences.read(message, find, own, field)
        )
        yield ledger.Said(commit.oid, stamp, edges)
