"""Links between tasks that another tool exported, from a JSON file. Pure; it never raises.

    {"links": [
      {"subject": "PROJ-12", "type": "blocks", "object": "T20261118-abc123",
       "at": "2026-11-18T09:30:00Z", "url": "https://…", "confidence": 0.9}
    ]}

Subject and object are ids of tasks or decisions (`decision:0021`); a list alone counts as the list
of links. `at`, `url` and `confidence` may be left out. What cannot be used is a problem that says
which link it is, counted from 0, and everything else counts.
"""

from __future__ import annotations

import math

from tether import clock, text
from tether.hints import Any, NamedTuple
from tether.lineage.derive import fields, references
from tether.lineage.derive.references import Resolve, Word
from tether.lineage.edges import model as graph
from tether.lineage.edges.model import Edge, Key

MAX_BYTES = 32 * 1024 * 1024
MAX_LINKS = 100_000
CONFIDENCE = 0.9
_MAX_URL_CHARS = 2000
_KNOWN = frozenset(("subject", "type", "object", "at", "url", "confidence"))


class Linked(NamedTuple):
    """What another tool says, and what of it could not be used."""

    edges: tuple[Edge, ...]
    problems: tuple[str, ...]
    unused: int
    """How many links made no edge."""


class _Unusable(Exception):
    """A link that makes no edge, and why."""


def read(content: bytes, path: str, resolve: Resolve) -> Linked:
    """The links in a file."""
    links, problem = _links(content)
    if problem:
        return Linked((), (f"{path}: {problem}",), 0)
    problems = fields.Problems()
    edges: dict[tuple[Key, str, Key, str], Edge] = {}
    unused = max(0, len(links) - MAX_LINKS)
    if unused:
        problems.add(path, f"only the first {MAX_LINKS} of {len(links)} links were read")
    for number, link in enumerate(links[:MAX_LINKS]):
        said: list[str] = []
        try:
            edge = _edge(link, f"file:{path}#link={number}", resolve, said)
            edges.setdefault((edge.subject, edge.type, edge.object, edge.pointer), edge)
        except _Unusable as why:
            unused += 1
            said.append(str(why))
        for each in said:
            problems.add(f"{path}: link {number}", each)
    return Linked(tuple(edges.values()), problems.all(), unused)


def _links(content: bytes) -> tuple[list[Any], str]:
    """The list in a file, or why there is none."""
    import msgspec

    if len(content) > MAX_BYTES:
        return [], f"it is larger than {MAX_BYTES // 1024 // 1024} MiB and was not read"
    try:
        value = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as wrong:
        return [], f"it is not JSON: {text.one_line(str(wrong)[:500], 120)}"
    links = value.get("links") if isinstance(value, dict) else value
    return (links, "") if isinstance(links, list) else ([], "it has no list of links")


def _edge(link: object, place: str, resolve: Resolve, said: list[str]) -> Edge:
    """The edge of one link; what is wrong and does not matter to it is said."""
    if not isinstance(link, dict):
        raise _Unusable("it is not a mapping")
    name = link.get("type")
    kind = references.type_of(name) if isinstance(name, str) else None
    if kind is None:
        raise _Unusable(f"{fields.shown(name)} is no type of relation")
    if kind in graph.OF_CODE:
        raise _Unusable(f"'{kind}' is about code")
    ends = [_key(link.get(end), end, resolve) for end in ("subject", "object")]
    if ends[0] == ends[1]:
        raise _Unusable("nothing has a relation to itself")
    unknown = sorted(str(each) for each in link.keys() - _KNOWN)[:5]
    said += [f"the field {fields.shown(each)} is not known here" for each in unknown]
    subject, kind, target = graph.stored(ends[0], kind, ends[1])
    url = _url(link.get("url"), said)
    detail = {"url": url} if url else {}
    return Edge(
        subject,
        kind,
        target,
        _confidence(link.get("confidence"), said),
        _at(link.get("at"), said),
        url or place,
        detail | {"place": place} if url else {},
    )


def _key(words: object, end: str, resolve: Resolve) -> Key:
    found = references.reference(words) if isinstance(words, str) else None
    key = references.key_of(found, resolve) if isinstance(found, Word) else None
    # Ids of other tools may look like paths.
    key = key or (resolve(words) if isinstance(words, str) and found is not None else None)
    if key is None:
        raise _Unusable(
            f"its {end} {fields.shown(words)} is no task or decision that is known here"
        )
    return key


def _confidence(value: object, said: list[str]) -> float:
    if value is None:
        return CONFIDENCE
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if isinstance(value, (int, float)) and is_number and math.isfinite(value) and 0 <= value <= 1:
        return float(value)
    said.append(f"its confidence is no number from 0 to 1; {CONFIDENCE} counts")
    return CONFIDENCE


def _at(value: object, said: list[str]) -> str:
    if value is None or value == "":
        return ""
    try:
        if isinstance(value, (str, int, float)):
            return clock.text(clock.parse(value))
    except (ValueError, OverflowError):
        pass
    said.append(f"its time {fields.shown(value)} is none, and is left out")
    return ""


def _url(value: object, said: list[str]) -> str:
    """An address that a person may open; anything else points to the file instead."""
    if value is None or value == "":
        return ""
    if isinstance(value, str) and value.lower().startswith(("http://", "https://")):
        is_plain = value.isprintable() and not any(char.isspace() for char in value)
        if is_plain and len(value) <= _MAX_URL_CHARS:
            return value
    said.append("its url does not begin with http, and is left out")
    return ""
