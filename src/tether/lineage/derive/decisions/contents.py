"""What a decision says: its sentence, its day, whom it names, what it governs, what it changes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from tether.hints import NamedTuple
from tether.lineage.derive.decisions import (
    dates,
    governed,
    layout,
    model,
    prose,
    saying,
    sources,
    statuses,
)

_MAX_NAMED = 300
_MAX_PASSAGES = 60
_MAX_PASSAGE_CHARS = 400
_WINDOW = 4000
_TURN = re.compile(
    r"\b(?:instead of|rather than|no longer|replac(?:es?|ed|ing)|super[sc]ed(?:es?|ed|ing)"
    r"|obsoletes?|obsoleted|overrid(?:es?|den|ing)|revers(?:es|ed|ing)|abandon(?:s|ed)?"
    r"|drops?|dropped|removed|retires?|retired|moves? away from)\b",
    re.IGNORECASE,
)
_LABELS = {
    "supersedes": saying.SUPERSEDES,
    "superseded_by": saying.SUPERSEDED,
    "superseded_in_part": saying.SUPERSEDED,
    "extends": saying.EXTENDS,
    "extended_by": saying.EXTENDED,
    "motivated_by": saying.MOTIVATED,
}
_FIELDS = (*dict.fromkeys(_LABELS.values()), saying.RELATED)


class Told(NamedTuple):
    """One sentence, and of which section it is."""

    text: str
    section: str


def sentence(parts: list[layout.Part]) -> Told | None:
    """The sentence that tells the decision: of its decision, its context, or whatever is first."""
    for key in ("decision", "context"):
        for part in parts:
            is_inside = part.under == key and not part.key
            if (part.key == key or is_inside) and (found := prose.first(part.lines)):
                return Told(found, key)
    for part in parts:
        if part.key in ("", "consequences") and (found := prose.first(part.lines)):
            return Told(found, "text")
    return None


def date(source: sources.Source, parts: list[layout.Part], heading: layout.Part | None) -> str:
    """When it was decided: as a field says it, the status, the heading, the history, the file."""
    values = source.words("date")
    values += [each.text for part in parts if part.key == "date" for each in part.lines[:5]]
    standing = [each.text for part in parts if part.key == "status" for each in part.lines[:5]]
    values += [
        piece for each in standing for piece in statuses.pieces(each) if not statuses.ends(piece)
    ]
    values += [heading.title[:40]] if heading else []
    history = [each.text for part in parts if part.key == "history" for each in part.lines[:50]]
    days = [day for value in history if (day := dates.first(value[:60]))]
    values += [min(days)[:10]] if days else []
    stem = posixpath.basename(source.path)
    values += [stem[:10], f"{stem[:4]}-{stem[4:6]}-{stem[6:8]}" if stem[:8].isdigit() else ""]
    return next((day for value in values if (day := dates.first(value[:300]))), "")


# Whom it names


def said(source: sources.Source, parts: list[layout.Part], prefix: str) -> saying.Sayings:
    """All decisions and tasks that it names, with how; each paragraph is read once."""
    found = saying.Sayings([], [])
    place = saying.Place(source.path, 1, source.find)
    for verb in _FIELDS:
        for value in source.words(verb):
            _add(found, saying.read(value, place, verb))
    for value in source.words("status"):
        _add(found, saying.read(value, place))
    for number, part in enumerate(parts):
        for count, chunk in enumerate(layout.chunks(part.lines)):
            here = place._replace(line=chunk.line)
            if _is_structured(part, chunk, number, count):
                stated = saying.read(chunk.text, here, _LABELS.get(part.key, ""))
                _add(found, _partly(stated) if part.key == "superseded_in_part" else stated)
            else:
                _mention(found, chunk.text, here, prefix)
    return found


def _mention(found: saying.Sayings, value: str, place: saying.Place, prefix: str) -> None:
    found.named.extend((saying.RELATED, name) for name in saying.ids_in(value, place, prefix))
    found.tasks.extend(
        model.Mentioned(task.source, task.id, place.line) for task in place.find(value)
    )


def _is_structured(part: layout.Part, chunk: layout.Chunk, number: int, count: int) -> bool:
    """Whether a paragraph is a statement about the decision and no prose."""
    if part.key in _LABELS or (part.key == "status" and count == 0):
        return True
    is_head = number < 2 and part.key == ""
    if part.key in ("status", "related", "meta", "date") or is_head:
        return statuses.begins_with_verb(prose.linked(chunk.text[:200]))
    return False


def _add(found: saying.Sayings, more: saying.Sayings) -> None:
    found.named.extend(more.named)
    found.tasks.extend(more.tasks)


def _partly(stated: saying.Sayings) -> saying.Sayings:
    return saying.Sayings(
        [(verb, name._replace(is_partial=True)) for verb, name in stated.named],
        [each._replace(is_partial=True) for each in stated.tasks],
    )


def names(stated: saying.Sayings, *verbs: str) -> tuple[model.Named, ...]:
    """The decisions of which one of these is said, each once."""
    unique: dict[tuple[str, str, str], model.Named] = {}
    for verb, name in sorted(stated.named, key=lambda each: each[1].line):
        if verb in verbs:
            unique.setdefault((name.words, name.path, name.anchor), name)
    return tuple(unique.values())[:_MAX_NAMED]


def tasks(mentioned: Iterable[model.Mentioned]) -> tuple[model.Mentioned, ...]:
    """Each task with what is said of it; a mere mention counts only where nothing else is."""
    known: dict[tuple[str, str, str], model.Mentioned] = {}
    for each in sorted(mentioned, key=lambda one: one.line):
        known.setdefault((each.source, each.id, each.verb), each)
    strong = {(source, task) for source, task, verb in known if verb != "referenced_by"}
    return tuple(
        each
        for each in known.values()
        if each.verb != "referenced_by" or (each.source, each.id) not in strong
    )[:_MAX_NAMED]


# What it governs


def governs(source: sources.Source, parts: list[layout.Part]) -> tuple[model.Governed, ...]:
    """The places that it names, each once, where it counts most."""
    found: dict[tuple[str, str], model.Governed] = {}
    for each in sorted(_places(source, parts), key=lambda one: -one.confidence):
        found.setdefault((each.pattern, each.name), each)
    return tuple(found.values())[:_MAX_NAMED]


def _places(source: sources.Source, parts: list[layout.Part]) -> Iterator[model.Governed]:
    for value in source.words("governs"):
        for place in governed.read(value, source.path, is_header=True):
            yield model.Governed(place.pattern, place.name, "header", 1)
    for part in parts:
        is_header = part.key in ("governs", "scope")
        where: model.Where = "decision" if part.place == "decision" else "elsewhere"
        where = "header" if is_header else where
        for chunk in layout.chunks(part.lines):
            for place in governed.read(chunk.text, source.path, is_header=is_header):
                yield model.Governed(place.pattern, place.name, where, chunk.line)


# What it changes


def passages(parts: list[layout.Part]) -> tuple[model.Passage, ...]:
    """The sentences that say what is done otherwise now."""
    found: list[model.Passage] = []
    chunks = (
        chunk for part in parts if part.place != "options" for chunk in layout.chunks(part.lines)
    )
    for chunk in chunks:
        if _TURN.search(chunk.text) is None:
            continue
        found += [
            model.Passage(each[:_MAX_PASSAGE_CHARS], chunk.line)
            for each in prose.sentences(chunk.text[:_WINDOW])
            if _TURN.search(each)
        ]
        if len(found) >= _MAX_PASSAGES:
            break
    return tuple(found[:_MAX_PASSAGES])
