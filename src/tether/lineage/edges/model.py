"""The nouns of the graph: nodes by their keys, types of edges, and evidence. Plain values.

An edge reads as a sentence: subject, verb, object. `B supersedes A` runs from B to A and is stored
once; "A is superseded by B" is how it reads from the other end.
"""

from __future__ import annotations

from collections.abc import Mapping

from tether import ids
from tether.hints import Any, Literal, NamedTuple

Key = str
"""Names a node: `task:work:T20261118-abc123`, `decision:0021`, `node:…`, or `path:src/a.py` for a
place in the tree of which no node is known."""
Kind = Literal["task", "decision", "file", "symbol", "section", "path"]

DEFAULT_CONFIDENCE = 0.5
"""What questions ask for if nobody says otherwise."""
SURE = 0.7
"""What a biography tells without doubt: a mere mention never reaches it."""


class Type(NamedTuple):
    """One kind of edge."""

    name: str
    verb: str
    """From the subject: "T2 built on T1"."""
    inverse: str
    """The name that it has from the other end."""
    passive: str
    """From the other end: "T1 was built on by T2"."""


_TYPES = (
    Type("supersedes", "replaced", "superseded_by", "was replaced by"),
    Type("extends", "built on", "extended_by", "was built on by"),
    Type("reverts", "undid part of", "reverted_by", "was partly undone by"),
    Type("motivates", "led to", "motivated_by", "came from"),
    Type("blocks", "comes before", "blocked_by", "waits for"),
    Type("contradicts", "contradicts", "contradicted_by", "is contradicted by"),
    Type("references", "mentions", "referenced_by", "is mentioned by"),
    Type("co-touches", "changed the same files as", "co-touches", "changed the same files as"),
    Type(
        "co-touches-symbol",
        "changed the same code as",
        "co-touches-symbol",
        "changed the same code as",
    ),
    Type("runtime-parent", "started", "runtime-child", "was started by"),
    Type("follows-up", "follows up", "followed-up-by", "was followed up by"),
    Type("cited-in-review", "was cited in the review of", "cites-in-review", "cites in its review"),
    # Between tasks or decisions and code.
    Type("touched", "changed", "touched_by", "was changed by"),
    Type("declared", "names as its context", "declared_by", "is context of"),
    Type("created", "created", "created_by", "was created by"),
    Type("deleted", "removed", "deleted_by", "was removed by"),
    Type("governs", "governs", "governed_by", "is governed by"),
    Type("describes", "describes", "described_by", "is described in"),
    # Between code and what it was before, where people say so.
    Type("same_as", "is the same as", "same_as_now", "is the same as"),
)
TYPES: dict[str, Type] = {each.name: each for each in _TYPES}
INVERSES: dict[str, str] = {each.inverse: each.name for each in _TYPES}
"""What a type is stored as that is named from the other end."""
OF_CODE = frozenset(
    ("touched", "declared", "created", "deleted", "governs", "describes", "same_as")
)
"""Edges to code; all others run between tasks and decisions."""
SYMMETRIC = frozenset(("co-touches", "co-touches-symbol"))
"""Computed when asked, and never stored: pairs are too many."""

DERIVERS = (
    "commit-grep",
    "kg-attribution",
    "task-text",
    "declared",
    "adr-text",
    "diff-reversal",
    "runtime-link",
    "review-cite",
    "doc-mention",
    "external",
)


class Edge(NamedTuple):
    """One thing that a deriver found: an edge, and what it stands on."""

    subject: Key
    type: str
    object: Key
    confidence: float
    at: str
    """When it happened, RFC 3339 in UTC; empty if nobody knows."""
    pointer: str
    """What opens the evidence: `commit:OID`, `file:PATH#line=7`, `event:12`."""
    detail: Mapping[str, Any] = {}
    """What else the deriver saw: the verb, the line, how many lines were added."""


def task_key(key: ids.TaskKey) -> Key:
    return f"task:{key.source}:{key.id}"


def decision_key(name: str) -> Key:
    return f"decision:{name}"


def path_key(path: str) -> Key:
    return f"path:{path}"


def task_of(key: Key) -> ids.TaskKey | None:
    """The task that a key names; None if it names something else."""
    kind, _, rest = key.partition(":")
    source, _, task_id = rest.partition(":")
    return ids.TaskKey(source, task_id) if kind == "task" and task_id else None


def label(key: Key) -> str:
    """A node as people call it: the id of a task or decision, a path, or the key of a code node."""
    task = task_of(key)
    if task is not None:
        return task.id
    kind, _, rest = key.partition(":")
    return rest if kind in ("decision", "path") else key


def stored(subject: Key, type_name: str, target: Key) -> tuple[Key, str, Key]:
    """An edge in the direction in which it is stored."""
    known = INVERSES.get(type_name)
    if known is None or type_name in TYPES:
        return subject, type_name, target
    return target, known, subject
