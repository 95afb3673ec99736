"""A part of the graph as a document that every clone understands: written, read and checked. Pure.

Keys of nodes are the same in every clone, so edges are named by them. What a document says is data
of others: whatever is not as it should be makes all of it unusable, and says where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import msgspec

from tether import clock, errors, ids, text
from tether.hints import NamedTuple
from tether.lineage.edges import model

VERSION = 1
_MAX_KEY_CHARS, _MAX_POINTER_CHARS, _MAX_DETAIL_CHARS = 4096, 8192, 8192
_MAX_TITLE, _MAX_WORD = 300, 64
_NODE = re.compile(r"node:[0-9a-f]{24}")
_OF_CODE = frozenset(("file", "symbol", "section"))
# Code is the subject of these only.
_FROM_CODE = frozenset(("describes", "same_as"))
# Numbers of one index mean nothing in another one.
_OWN = ("event",)
_HINT = "Make it again with `tether lineage export` in the other clone."

Sureness = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Node(msgspec.Struct, omit_defaults=True):
    """A node as people of the other clone see it."""

    key: str
    kind: str
    name: str = ""
    title: str = ""
    status: str = ""
    agent: str = ""
    created_at: str = ""
    place: str = ""


class Evidence(msgspec.Struct):
    """One thing that an edge stands on."""

    pointer: str
    confidence: Sureness
    at: str = ""
    detail: dict[str, Any] = {}
    deriver: str = ""


class Edge(msgspec.Struct):
    """An edge with what it stands on."""

    subject: str
    type: str
    object: str
    source: str
    confidence: Sureness
    at: str = ""
    evidence: list[Evidence] = []


class Document(msgspec.Struct):
    """A part of the graph."""

    lineage: int
    """The version of this form."""
    workspace_id: str | None
    commit: str
    nodes: list[Node]
    edges: list[Edge]
    truncated: bool = False


class _Envelope(msgspec.Struct):
    """The answer of a command around it."""

    export: Document | None = None


class Read(NamedTuple):
    """What a document comes to."""

    document: Document
    edges: tuple[model.Edge, ...]
    """One for each thing that an edge stands on."""
    kinds: Mapping[model.Key, model.Kind]


def encode(document: Document) -> bytes:
    """The text of a document, a line for each node and edge; the same for the same graph."""
    head = msgspec.to_builtins(document)
    nodes, edges = head.pop("nodes"), head.pop("edges")
    lists = [f'"{name}": {_listed(items)}' for name, items in (("nodes", nodes), ("edges", edges))]
    front = [f'"{name}": {json.dumps(value)}' for name, value in head.items()]
    return ("{" + ",\n".join([*front, *lists]) + "}\n").encode()


def _listed(items: list[Any]) -> str:
    lines = ",\n".join(map(json.dumps, items))
    return f"[\n{lines}\n]" if items else "[]"


def plain_detail(detail: Mapping[str, Any]) -> dict[str, Any]:
    """What a deriver saw, without what only its own index understands."""
    return {name: value for name, value in detail.items() if name not in _OWN}


def decode(raw: bytes) -> Read:
    """What a document says; ExportInvalid if any of it cannot be used."""
    document = _document(raw)
    if document.lineage != VERSION:
        raise _unusable(
            f"it has the form {document.lineage}, and this Tether knows {VERSION}",
            "Upgrade Tether on the machine that is behind.",
        )
    kinds = {each.key: _kind(number, each) for number, each in enumerate(document.nodes)}
    edges = [
        edge for number, each in enumerate(document.edges) for edge in _edges(number, each, kinds)
    ]
    return Read(document, tuple(edges), kinds)


def _document(raw: bytes) -> Document:
    try:
        # Names of odd files are halves of characters, which only this decoder reads.
        plain = json.loads(raw)
    except (ValueError, RecursionError) as problem:
        why = text.one_line(str(problem)[:500], 200)
        raise _unusable(f"it is no JSON, or not all of it: {why}") from problem
    try:
        return msgspec.convert(plain, type=_Envelope).export or msgspec.convert(plain, Document)
    except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
        raise _unusable(text.one_line(str(problem)[:500], 200)) from problem


def _unusable(why: str, hint: str = _HINT) -> errors.ExportInvalid:
    return errors.ExportInvalid(
        f"This is no export of lineage that can be used: {why}. Nothing was imported.", hint=hint
    )


def _kind(number: int, node: Node) -> model.Kind:
    """The kind of a node, if that and its key go together."""
    front, _, rest = node.key.partition(":")
    is_fit = {
        "task": _is_task(node.key),
        "decision": bool(rest.strip()) and rest.isprintable(),
        "path": bool(rest) and "\0" not in rest,
        "node": _NODE.fullmatch(node.key) is not None,
    }.get(front, False)
    kind = node.kind if front == "node" else front
    if not is_fit or len(node.key) > _MAX_KEY_CHARS or kind != node.kind:
        raise _unusable(f"node {number} has no key that goes with its kind")
    if front == "node" and kind not in _OF_CODE:
        raise _unusable(f"node {number} is of no kind that is known")
    return kind  # type: ignore[return-value]  # one of them, as was just seen


def _is_task(key: model.Key) -> bool:
    task = model.task_of(key)
    return (
        task is not None
        and ids.SourceName.is_valid(task.source)
        and ids.TaskId.is_valid(task.id)
        and key == model.task_key(task)
    )


def _edges(number: int, edge: Edge, kinds: Mapping[model.Key, model.Kind]) -> Iterable[model.Edge]:
    place = f"edge {number}"
    if edge.type not in model.TYPES or edge.type in model.SYMMETRIC:
        raise _unusable(f"{place} is of no type that can be kept")
    if edge.subject not in kinds or edge.object not in kinds:
        raise _unusable(f"{place} runs between nodes that are not in it")
    from_code, to_code = (key.startswith(("node:", "path:")) for key in (edge.subject, edge.object))
    is_fit = to_code == (edge.type in model.OF_CODE)
    if not is_fit or (from_code and edge.type not in _FROM_CODE) or edge.subject == edge.object:
        raise _unusable(f"{place} does not run between nodes that go with its type")
    if not edge.evidence:
        raise _unusable(f"{place} stands on nothing")
    return [_edge(place, edge, each) for each in edge.evidence]


def _edge(place: str, edge: Edge, each: Evidence) -> model.Edge:
    detail = {**plain_detail(each.detail), "deriver": text.one_line(each.deriver, _MAX_WORD)}
    size = len(json.dumps(detail))
    if len(each.pointer) > _MAX_POINTER_CHARS or size > _MAX_DETAIL_CHARS:
        raise _unusable(f"{place} has evidence that is too long")
    pointer = text.storable(each.pointer)
    return model.Edge(
        edge.subject, edge.type, edge.object, each.confidence, _at(place, each.at), pointer, detail
    )


def _at(place: str, at: str) -> str:
    try:
        return clock.text(clock.parse(at)) if at else ""
    except (ValueError, OverflowError):
        raise _unusable(f"{place} has a time that is none") from None


def title(node: Node) -> str:
    """The title of a task or decision, as it may be kept."""
    return text.one_line(node.title, _MAX_TITLE)


def word(value: str) -> str:
    """A state, or a name, as it may be kept."""
    return text.one_line(value, _MAX_WORD)


def created_at(node: Node) -> str:
    """When a task was written down; empty if what stands there is no time."""
    try:
        return clock.text(clock.parse(node.created_at)) if node.created_at else ""
    except (ValueError, OverflowError):
        return ""
