"""What other clones exported and somebody took up here, as edges.

Of evidence that is a commit which this clone has, nothing is taken: whoever has a commit derives
from it himself, and the same would be told twice. Nor is what texts here say in the same words.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator

from tether import errors
from tether.hints import NamedTuple
from tether.lineage import imports, portable
from tether.lineage.biography import model as story
from tether.lineage.biography import records
from tether.lineage.edges import ledger, model

DERIVER = "external"
_PREFIX = "import:"
_VERSION = "1"
_KNOWN = "SELECT oid FROM identity_commits WHERE oid IN (SELECT value FROM json_each(?))"
_SAID = """
SELECT s.key, e.edge_type, o.key, v.pointer FROM json_each(?) AS j
CROSS JOIN lineage_nodes AS s ON s.key = j.value
CROSS JOIN {edges} AS e ON e.from_id = s.id AND e.source <> 'external'
CROSS JOIN lineage_nodes AS o ON o.id = e.{to}
CROSS JOIN {evidence} AS v ON v.edge = e.id AND v.commit_no IS NULL
"""
_ALL_SAID = (
    _SAID.format(edges="task_edges", to="to_id", evidence="task_evidence"),
    _SAID.format(edges="task_code_edges", to="node_id", evidence="code_evidence"),
)
# Nobody else writes records of no checkout.
_FORGET_RECORDS = "DELETE FROM lineage_records WHERE scope = ''"


class Derived(NamedTuple):
    """What reading imports came to."""

    read: int
    """Imports that are new, or gone."""
    problems: tuple[str, ...] = ()


def derive(connection: sqlite3.Connection, store_dir: str, derived_at: str) -> Derived:
    """Bring forward what imports say."""
    here = {f"{_PREFIX}{digest}": digest for digest in imports.there(store_dir)}
    known = {
        name: stamp
        for name, stamp in ledger.known(connection, DERIVER, "").items()
        if name.startswith(_PREFIX)
    }
    gone = [name for name in known if name not in here]
    fresh = [name for name in here if known.get(name) != _VERSION]
    if not gone and not fresh:
        return Derived(0)
    ledger.forget(connection, DERIVER, "", gone)
    connection.execute(_FORGET_RECORDS)
    problems = []
    for name, digest in here.items():
        try:
            found = portable.decode(imports.load(store_dir, digest))
        except errors.TetherError as problem:
            problems.append(f"{imports.path_of(digest)}: {problem.message}")
            ledger.forget(connection, DERIVER, "", [name])
            continue
        records.keep(connection, "", _records(found.document, digest))
        if name in fresh:
            edges = tuple(_news(connection, found.edges))
            said = ledger.Said(name, _VERSION, edges)
            ledger.replace_all(connection, DERIVER, "", [said], derived_at, found.kinds)
    return Derived(len(fresh) + len(gone), tuple(problems))


def _news(connection: sqlite3.Connection, edges: Iterable[model.Edge]) -> Iterator[model.Edge]:
    """What this clone cannot say itself."""
    some = list(edges)
    commits = {_commit(each) for each in some} - {""}
    rows = connection.execute(_KNOWN, (json.dumps(sorted(commits)),))
    have = {oid for (oid,) in rows}
    # What was done under a claim, only the store of the other one knows.
    left = [e for e in some if _commit(e) not in have or e.detail.get("how") == "claim"]
    subjects = json.dumps(sorted({each.subject for each in left}))
    said = {row for query in _ALL_SAID for row in connection.execute(query, (subjects,))}
    for each in left:
        if (each.subject, each.type, each.object, each.pointer) not in said:
            yield each


def _commit(edge: model.Edge) -> str:
    """The commit that shows an edge; empty if it is a text that does."""
    if not edge.pointer.startswith("commit:"):
        return ""
    return edge.pointer.removeprefix("commit:").partition("#")[0]


def _records(document: portable.Document, digest: str) -> dict[model.Key, story.Record]:
    """What tasks and decisions are called there; what is written here counts more."""
    return {
        each.key: story.Record(
            key=each.key,
            id=model.label(each.key),
            title=portable.title(each),
            status=portable.word(each.status),
            agent=portable.word(each.agent),
            created_at=portable.created_at(each),
            pointer=f"{_PREFIX}{digest}",
        )
        for each in document.nodes
        if each.kind in ("task", "decision") and each.title
    }
