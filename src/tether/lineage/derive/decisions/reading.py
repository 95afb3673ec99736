"""What a decision file says: one decision, or the many of a log. Pure; the text is data."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tether import text as texts
from tether.hints import Any
from tether.lineage.derive.decisions import (
    contents,
    layout,
    model,
    places,
    prose,
    saying,
    sources,
    statuses,
    titles,
)
from tether.tasks import document
from tether.tasks.sources import markdown

# What is longer is not written by people, and only its beginning is read.
MAX_CHARS = 512 * 1024
_MAX_ENTRIES = 2000
_MAX_ALIASES = 50
_MAX_ID_CHARS = 40


def read(path: str, text: str, find: Any) -> list[model.Decision]:
    """The decisions in a file; none if it turns out to hold none.

    `find` finds the ids of tasks in a text, as `patterns.Finder.find` does.
    """
    text = text[:MAX_CHARS]
    if places.is_record(path):
        return _record(path, text, find)
    front, skip = markdown.front(text)
    parts = layout.headed(text, skip)
    entries = _entries(path, parts)
    if entries:
        source = sources.Source(path, find, {})
        return _numbered(_decision(source, entry, in_log=True) for entry in entries)
    one = _decision(sources.Source(path, find, sources.fields(front)), parts, in_log=False)
    return [one] if _is_one(path, one) else []


def _is_one(path: str, decision: model.Decision) -> bool:
    """A file with a number is a decision; another one has to look like one inside."""
    is_told = decision.section == "decision"
    if places.is_log(path):
        return is_told
    if decision.number >= 0:
        return bool(decision.title or decision.sentence)
    return is_told or bool(decision.status and decision.date)


# Logs


_Asks = Callable[[list[layout.Part], int], bool]


def _entries(path: str, parts: list[layout.Part]) -> list[list[layout.Part]]:
    """The parts of each decision of a log; nothing if the file is one decision."""
    is_log = places.is_log(path)
    if places.file_id(path).number >= 0 and not is_log:
        return []
    found = _sections(parts, _has_id)
    if len(found) >= (1 if is_log else 2):
        return found
    return _sections(parts, _has_decision) if is_log else []


def _sections(parts: list[layout.Part], is_wanted: _Asks) -> list[list[layout.Part]]:
    """The sections that are wanted, of the level that has most of them."""
    wanted = [at for at, part in enumerate(parts) if part.level > 1 and is_wanted(parts, at)]
    levels: dict[int, int] = {}
    for at in wanted:
        levels[parts[at].level] = levels.get(parts[at].level, 0) + 1
    level = max(levels, key=lambda each: (levels[each], -each), default=0)
    chosen = [at for at in wanted if parts[at].level == level]
    return [_section(parts, at) for at in chosen[:_MAX_ENTRIES]]


def _section(parts: list[layout.Part], at: int) -> list[layout.Part]:
    """A heading and all below it."""
    end = at + 1
    while end < len(parts) and parts[end].level > parts[at].level:
        end += 1
    return parts[at:end]


def _has_id(parts: list[layout.Part], at: int) -> bool:
    return titles.has_id(parts[at].title)


def _has_decision(parts: list[layout.Part], at: int) -> bool:
    """Whether a section says what was decided, or when."""
    if parts[at].key:
        return False
    keys = {part.key for part in layout.labelled(_section(parts, at)[:30])}
    return not keys.isdisjoint(("decision", "status", "date"))


def _numbered(decisions: Iterable[model.Decision]) -> list[model.Decision]:
    """The decisions of a log, those of one name told apart by their order."""
    counts: dict[str, int] = {}
    found = []
    for each in decisions:
        counts[each.name] = count = counts.get(each.name, 0) + 1
        found.append(each if count == 1 else each._replace(name=f"{each.name}~{count}"))
    return found


# One decision


def _decision(source: sources.Source, headed: list[layout.Part], *, in_log: bool) -> model.Decision:
    heading = headed[0] if in_log else _heading(headed)
    # A title may read like the name of a section: `5. Validation`.
    plain = [each._replace(key="") if each is heading else each for each in headed]
    parts = layout.labelled(plain)
    who = titles.of(source, heading, parts, in_log=in_log)
    said = contents.said(source, parts, who.prefix)
    told = contents.sentence(parts)
    return who._replace(
        status=_status(source, parts, said, in_log=in_log),
        date=contents.date(source, parts, heading),
        sentence=told.text if told else "",
        section=told.section if told else "",
        supersedes=contents.names(said, saying.SUPERSEDES),
        superseded_by=contents.names(said, saying.SUPERSEDED),
        amends=contents.names(said, saying.EXTENDS),
        amended_by=contents.names(said, saying.EXTENDED),
        mentions=contents.names(said, saying.RELATED, saying.MOTIVATED),
        tasks=contents.tasks(said.tasks),
        governs=contents.governs(source, parts),
        passages=contents.passages(parts),
    )


def _heading(parts: list[layout.Part]) -> layout.Part | None:
    """The heading that is the title; none if the first one is that of a section."""
    first = next((part for part in parts if part.level > 0), None)
    if first is None:
        return None
    is_alone = first.level == 1 and sum(part.level == 1 for part in parts) == 1
    is_title = not first.key or is_alone or titles.is_numbered(first.title)
    return first if is_title else None


def _status(
    source: sources.Source, parts: list[layout.Part], said: saying.Sayings, *, in_log: bool
) -> str:
    """How it stands: superseded if it says by what, whatever else it says."""
    is_over = any(v == saying.SUPERSEDED and not name.is_partial for v, name in said.named)
    is_over |= any(each.verb == "supersedes" and not each.is_partial for each in said.tasks)
    if is_over:
        return "superseded"
    return statuses.of(source.words("status") or _written(parts, in_log=in_log))


def _written(parts: list[layout.Part], *, in_log: bool) -> list[str]:
    """What stands as the status, or at the very beginning as a remark about it."""
    for part in parts:
        first = next(layout.chunks(part.lines), None) if part.key == "status" else None
        if first is not None:
            return [first.text]
    for part in parts[:1] if in_log else parts[:2]:
        for chunk in layout.chunks(part.lines):
            if statuses.begins_with_end(prose.linked(chunk.text[:400])):
                return [chunk.text]
    return []


# A record of fields, whose text stands beside it


def _record(path: str, text: str, find: Any) -> list[model.Decision]:
    fields = document.read(text.encode("utf-8", "replace")[: document.MAX_BYTES]).fields
    if fields.keys().isdisjoint(("title", "status", "id")):
        return []
    source = sources.Source(path, find, fields)
    made = _decision(source, [layout.Part("", "", 0, 1, [])], in_log=False)
    aliases = sources.words(fields.get("legacy_ids", fields.get("aliases")))
    own = sources.words(fields.get("id"))
    is_short = len(own) == 1 and len(own[0]) <= _MAX_ID_CHARS
    return [
        made._replace(
            aliases=tuple(aliases[:_MAX_ALIASES]),
            id=texts.one_line(own[0]) if is_short else made.id,
        )
    ]
