"""Edges, nodes and evidence as people read them."""

from __future__ import annotations

from tether import text
from tether.cli.lineage import asking
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tether.lineage import feedback
    from tether.lineage.biography import model as story
    from tether.lineage.closures import reversals
    from tether.lineage.edges import reading

    Said = Callable[[int], str]
    """What a last column says in that many cells; in more only if an id would be cut else."""
    Row = tuple[tuple[str, ...], Said]

_SHORT = 10
_MAX_SAID = 300
_MIN_ROOM = 20
# Of a table of edges: what says least goes first.
_LEAST = (3, 2, 1)
# That its subject or a trailer names the task goes without saying.
_HOWS = {
    "named": "",
    "body": "named in its text",
    "listed": "in a list of ids",
    "merge": "brought by its merge",
    "claim": "made under its claim",
}
_OWN_WORDS = ("text", "added", "removed", "how", "of", "event")


def label(names: asking.Names, key: str) -> str:
    """`T1`, `src/a.py#run`."""
    found = names.get(key)
    return text.one_line(found.label if found else key, 200)


def described(names: asking.Names, key: str) -> str:
    """The same with what it is about: `T1 “Add the cart” (done)`."""
    found = names.get(key)
    if found is None:
        return text.one_line(key, 200)
    title = f" “{text.one_line(found.title, 100)}”" if found.title else ""
    if found.subject and not title:
        title = f" commit “{text.one_line(found.subject, 100)}”"
    status = "gone" if found.is_gone else text.one_line(found.status, 20)
    return f"{label(names, key)}{title}{f' ({status})' if status else ''}"


def code(name: str, place: str) -> str:
    """`Function run, src/a.py:10-40`."""
    called, where = text.one_line(name, 200), text.one_line(place, 200)
    said = called if called.endswith(where) else f"{called}, {where}"
    return f"{said[:1].upper()}{said[1:]}"


def sentence(names: asking.Names, edge: reading.Edge) -> Said:
    """`T2 supersedes T1`."""
    return lambda room: _sentence(names, edge, room)


def _sentence(names: asking.Names, edge: reading.Edge, room: int) -> str:
    left = room - len(edge.type) - 2
    # The longer one has what the other one does not need.
    target = shortened(names, edge.object, left // 2)
    front = shortened(names, edge.subject, left - text.cells(target))
    return f"{front} {edge.type} {shortened(names, edge.object, left - text.cells(front))}"


def fitted(front: str, names: asking.Names, key: str, room: int) -> str:
    """Words and a node; of the way to a file the end says most."""
    left = room - text.cells(front) - 1
    whole = described(names, key)
    if text.cells(whole) <= left:
        return f"{front} {whole}".lstrip()
    name = shortened(names, key, left)
    if key.startswith(("task:", "decision:")) and name == label(names, key):
        name = text.one_line(whole, max(left, text.cells(name)))
    return f"{front} {name}".lstrip()


def shortened(names: asking.Names, key: str, room: int) -> str:
    """What a node is called, in so many cells; an id of a task is never cut."""
    called = label(names, key)
    return called if key.startswith("task:") else short(called, max(_MIN_ROOM, room))


def short(place: str, room: int) -> str:
    """`…/v2_host/task.py#run`: a place with as much of its end as fits."""
    if text.cells(place) <= room:
        return place
    path, sign, name = place.partition("#")
    parts = path.split("/")
    for number in range(1, len(parts)):
        found = f"…/{'/'.join(parts[number:])}{sign}{name}"
        if text.cells(found) <= room:
            return found
    return text.one_line(f"…{sign}{name}" if sign else parts[-1], max(1, room))


def row(edge: reading.Edge, said: Said) -> Row:
    """A row of a table of edges."""
    return (edge.ref, f"{edge.confidence:.2f}", day(edge.at), edge.source), said


def table(rows: Iterable[Row], says: str, width: int) -> list[str]:
    """A table of edges, with a heading."""
    return edges([(("EDGE", "SURE", "WHEN", "SOURCE"), lambda _: says), *rows], width)


def edges(rows: Iterable[Row], width: int) -> list[str]:
    """The same without a heading."""
    return columns(rows, width, _LEAST)


def columns(rows: Iterable[Row], width: int, least: tuple[int, ...] = ()) -> list[str]:
    """Columns as wide as they must be; the last one has what is left, and knows how much.

    Where that is too little, the `least` columns go, one after the other. What still does not fit
    goes on in the next line.
    """
    found = [(tuple(text.one_line(cell) for cell in cells), said) for cells, said in rows]
    widths = [max(map(text.cells, column)) for column in zip(*(c for c, _ in found), strict=True)]
    for count in range(len(least) + 1):
        left = [n for n in range(len(widths)) if n not in least[:count]]
        indent = sum(widths[n] + 2 for n in left)
        room = max(_MIN_ROOM, width - indent)
        told = [text.one_line(said(room)) for _, said in found]
        if max(map(text.cells, told), default=0) <= room:
            break
    lines = []
    for (cells, _), words in zip(found, told, strict=True):
        front = "".join(f"{cells[n]:<{widths[n]}}  " for n in left)
        first, *rest = shown.wrapped(words, room, "")
        lines += [f"{front}{first}".rstrip(), *(f"{' ' * indent}{each}" for each in rest)]
    return lines


def undone(some: Iterable[reversals.Undone], commits: asking.Commits, width: int) -> list[str]:
    """A table of commits that took back others."""
    return columns(
        [((f"{each.confidence:.2f}", day(each.at)), _undone(each, commits)) for each in some],
        width,
        (1, 0),
    )


def _undone(each: reversals.Undone, commits: asking.Commits) -> Said:
    by = pointer(f"commit:{each.by}")
    return lambda _: f"{by} undid {pointer(f'commit:{each.of}', commits)}"


def day(at: str) -> str:
    return at[:10] or "-"


def pointer(value: str, commits: Mapping[str, story.Commit] | None = None) -> str:
    """`commit 1f2e3d4a5b “Begin”`, `src/a.py:7`: what opens the evidence, in short."""
    kind, colon, rest = value.partition(":")
    if kind == "commit":
        oid, _, _ = rest.partition("#")
        commit = (commits or {}).get(oid)
        subject = f" “{text.one_line(commit.subject, 72)}”" if commit and commit.subject else ""
        return text.one_line(f"commit {oid[:_SHORT]}{subject}", 200)
    if kind == "file":
        path, _, place = rest.partition("#")
        name, _, where = place.partition("=")
        return text.one_line(f"{path}:{where}" if name == "line" else f"{path} {where}", 200)
    return text.one_line(f"{kind} {rest}" if colon and kind == "event" else value, 200)


def detail(values: dict[str, Any]) -> str:
    """What else a deriver saw, on one line; the numbers of the index are nobody's business."""
    said = []
    if quoted := values.get("text"):
        said.append(f"“{text.one_line(str(quoted), _MAX_SAID)}”")
    if "added" in values or "removed" in values:
        said.append(f"+{values.get('added', 0)} −{values.get('removed', 0)} lines")
    if of := values.get("of"):
        said.append(f"of commit {str(of)[:_SHORT]}")
    said += [_HOWS.get(str(values["how"]), str(values["how"]))] if "how" in values else []
    for name, value in values.items():
        if name not in _OWN_WORDS and value not in ("", None, [], {}):
            said.append(f"{name} {text.one_line(str(value), 100)}")
    return ", ".join(filter(None, said))


def verdict(said: feedback.Verdict) -> str:
    """`Judged wrong by anna on 2026-03-05: “It only mentions it.”`"""
    why = f": “{text.one_line(said.why, 200)}”" if said.why else ""
    counts = "; no answer counts it." if said.word == "wrong" else "."
    return f"Judged {said.word} by {text.one_line(said.by, 64)} on {said.at[:10]}{why}{counts}"
