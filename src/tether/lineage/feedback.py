"""What people say of edges: right or wrong. The last word counts, and it outlives every rebuild.

A verdict is kept by what the edge says and who says so, because numbers are of one index. A wrong
edge is a mistake of its deriver; so verdicts are counted for that, too.
"""

from __future__ import annotations

from tether import text
from tether.hints import Literal, NamedTuple
from tether.lineage.edges import view
from tether.store import port, sql

Word = Literal["right", "wrong"]

_SQL = sql.Queries("lineage")
_MAX_WHY = 2000


class Verdict(NamedTuple):
    """What somebody said of an edge."""

    content: view.Content
    word: Word
    at: str
    by: str
    why: str


def read(store: port.Store) -> list[Verdict]:
    """Everything that was said, the last of it first."""
    if not store.exists():
        return []
    return [
        Verdict(
            view.Content(row["subject"], row["edge_type"], row["object"], row["deriver"]),
            row["verdict"],
            row["judged_at"],
            row["judged_by"],
            row["why"],
        )
        for row in store.rows(_SQL.judged)
    ]


def judge(store: port.Store, content: view.Content, word: Word, by: str, why: str) -> None:
    """Say of an edge whether it is right, in the place of what was said before."""
    kept = {
        "subject": text.storable(content.subject),
        "edge_type": content.type,
        "object": text.storable(content.object),
        "deriver": content.source,
        "verdict": word,
        "judged_by": by,
        "why": text.storable(text.clean(why))[:_MAX_WHY],
    }
    store.write("judge an edge", lambda transaction: transaction.rows(_SQL.judge, **kept))
