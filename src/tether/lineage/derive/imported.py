"""What other clones exported and somebody took up here, as edges.

Of evidence that is a commit which this clone has, nothing is taken: whoever has a commit derives
from it himself, and the same would be told twice. Nor is what texts here say in the same words.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable

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
    """Bring forward what imports say; what this clone can say itself by now is taken back."""
    here = {f"{_PREFIX}{digest}": digest for digest in imports.there(store_dir)}
    known = {
        name: stamp
        for name, stamp in ledger.known(connection, DERIVER, "").items()
        if name.startswith(_PREFIX)
    }
    documents: dict[str, portable.Read] = {}
    problems = []
    for name, digest in here.items():
        try:
            documents[name] = portable.decode(imports.load(store_dir, digest))
        except errors.TetherError as problem:
            problems.append(f"{imports.path_of(digest)}: {problem.message}")
    said = {name: _said(connection, name, found.edges) for name, found in documents.items()}
    gone = [name for name in known if name not in documents]
    fresh = [each for name, each in said.items() if known.get(name) != each.stamp]
    if gone or fresh:
        ledger.forget(connection, DERIVER, "", gone)
        for each in fresh:
            kinds = documents[each.name].kinds
            ledger.replace_all(connection, DERIVER, "", [each], derived_at, kinds)
        connection.execute(_FORGET_RECORDS)
        for name, found in documents.items():
            records.keep(connection, "", _records(found.document, here[name]))
    return Derived(len(fresh) + len(gone), tuple(problems))


def _said(connection: sqlite3.Connection, name: str, edges: Iterable[model.Edge]) -> ledger.Said:
    """What this clone cannot say itself, with a stamp of that."""
    some = list(edges)
    commits = {_commit(each) for each in some} - {""}
    rows = connection.execute(_KNOWN, (json.dumps(sorted(commits)),))
    have = {oid for (oid,) in rows}
    # What was done under a claim, only the store of the other one knows.
    left = [e for e in some if _commit(e) not in have or e.detail.get("how") == "claim"]
    subjects = json.dumps(sorted({each.subject for each in left}))
    told = {row for query in _ALL_SAID for row in connection.execute(query, (subjects,))}
    news = [e for e in left if (e.subject, e.type, e.object, e.pointer) not in told]
    # When a commit comes, it is known whether it counts as of some time.
    whole = [[*each[:-1], sorted(each.detail.items()), _commit(each) in have] for each in news]
    digest = hashlib.blake2b(json.dumps(whole).encode(), digest_size=12).hexdigest()
    return ledger.Said(name, f"{_VERSION}:{digest}", tuple(news))


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
