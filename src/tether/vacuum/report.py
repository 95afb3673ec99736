"""A sweep as people read it: a page, a line, or a document. Pure."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator

from tether import text
from tether.vacuum import deferring, filtering, model, parking, tracks
from tether.vacuum.filtering import Chosen

_RULE = "═"
_TITLE_CHARS = 200
_MIN_TITLE = 16
_MIN_WIDTH = 40
_MAX_ACTIVE = 10
_MAX_PARKED = 10
_SECTION_ID = re.compile(r"[A-Za-z0-9.-]{1,40}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# What a type is called in a report.
TAGS = {
    model.DEAD_CLAIM: "DEAD CLAIM",
    model.CONFLICT_ABANDONED: "CONFLICT",
    model.CONTEXT_LOST: "CONTEXT LOST",
    model.STALE_IN_PROGRESS: "STALE",
    model.PARTIALLY_COMPLETED: "PARTIAL",
    model.DONE_UNMARKED: "DONE",
    model.LONG_CLAIM: "LONG CLAIM",
    model.DONE_UNPROVEN: "UNPROVEN",
}


def compact(chosen: Chosen) -> str:
    """One line: `Orphaned Tasks: 3 (2 dead claims, 1 stale)`."""
    counts: dict[str, int] = {}
    for each in chosen.alerts:
        kind = each.findings[0].type
        counts[kind] = counts.get(kind, 0) + 1
    parts = [model.counted(kind, counts[kind]) for kind in model.ORPHANED if kind in counts]
    told = f" ({', '.join(parts)})" if parts else ""
    return f"Orphaned Tasks: {len(chosen.alerts)}{told}"


def tag(each: model.Judged) -> str:
    """`DEAD CLAIM`, or `STALE 14d`."""
    kind = each.findings[0].type
    if kind == model.STALE_IN_PROGRESS and each.evidence.quiet is not None:
        return f"{TAGS[kind]} {int(each.evidence.quiet.alone_hours // 24)}d"
    return TAGS.get(kind, kind.upper())


def last(each: model.Judged) -> str:
    """`2026-02-11 (claude-55631, dead)`: when anything was last done, by whom, and how they are."""
    known = each.evidence
    at = known.touched_at
    who, how = _last_by(known)
    by = ", ".join(part for part in (short(who), how) if part)
    return f"{at[:10] or 'never'}" + (f" ({by})" if by else "")


def _last_by(known: model.Evidence) -> tuple[str, str]:
    """Who has it, or had it until it was freed; if others came since, or nobody had it, those."""
    hold, visit = known.hold, known.visits[-1] if known.visits else None
    if hold is not None and known.last_owner:
        is_other = visit is not None and visit.session != hold.session
        if hold.is_open or visit is None or not is_other or visit.last_at <= hold.closed_at:
            return known.last_owner, hold.verdict
    return (visit.session, visit.verdict) if visit is not None else ("", "")


def short(session: str) -> str:
    """A session as it fits into a line."""
    is_uuid = len(session) == 36 and session.count("-") == 4
    return session[:8] if is_uuid else text.one_line(session, 24)


def page(chosen: Chosen, limit: int, width: int = 80) -> list[str]:
    """The report, for a terminal of a width."""
    swept = chosen.swept
    heading = f"Context Vacuum Report — {swept.order.now[:10]} ({swept.order.sweep_type})"
    lines = [heading, _RULE * min(width, len(heading))]
    lines += _section("ORPHANED TASKS (action required)", chosen.orphans, limit, width)
    lines += _section("DONE, NOT MARKED", chosen.unmarked, limit, width)
    lines += _section("WORTH A LOOK", chosen.others, limit, width)
    lines += _flags(chosen, limit, width)
    lines += _parked(chosen, limit, width)
    lines += _active(chosen, width)
    if len(lines) == 2:
        lines += ["", _nothing(chosen)]
    below = (_wrapped(line, width) for line in _below(chosen))
    return [*lines, "", *itertools.chain.from_iterable(below)]


def _wrapped(line: str, width: int) -> list[str]:
    """A line on as many lines of a terminal as it needs."""
    return textwrap.wrap(
        line,
        max(_MIN_WIDTH, width),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _nothing(chosen: Chosen) -> str:
    """What is said where there is nothing to show."""
    if not chosen.swept.total:
        return "There are no tasks here, in no list."
    if not chosen.wanted.is_part:
        return "Nothing was dropped."
    others = len(filtering.choose(chosen.swept, filtering.Filter()).orphans)
    return f"Nothing of what was asked for was found. Orphans without these filters: {others}."


def _section(title: str, found: tuple[model.Judged, ...], limit: int, width: int) -> list[str]:
    if not found:
        return []
    some = found[:limit]
    tags = [f"[{tag(each)}]" for each in some]
    wide = max(map(len, tags))
    wide_id = max(len(each.subject.key.id) for each in some)
    lines = ["", f"{title}:"]
    for each, mark in zip(some, tags, strict=True):
        when = f"Last: {last(each)}"
        head = f"  {mark:<{wide}}  {each.subject.key.id:<{wide_id}}  "
        room = width - len(head) - len(when) - 2
        # What is too long for one line goes on below.
        if room < _MIN_TITLE:
            lines.append(_cut(head.rstrip(), width))
            head, room = f"  {'':<{wide}}  ", max(_MIN_TITLE, width - wide - 6 - len(when))
        name = text.one_line(each.subject.title, min(_TITLE_CHARS, room))
        lines.append(f"{head}{name}{' ' * (room - text.cells(name))}  {when}")
        lines += [f"  {'':<{wide}}  {line}" for line in _why(each, max(40, width - wide - 4))]
    if len(found) > limit:
        lines.append(f"  {len(found) - limit} more; --limit shows them.")
    return lines


def _why(each: model.Judged, width: int) -> list[str]:
    first, *others = each.findings
    grade = "certain" if first.grade == model.CERTAIN else f"{first.percent} %"
    also = f"; also {', '.join(model.in_words(f.type) for f in others)}" if others else ""
    reason = _UUID.sub(lambda found: found[0][:8], first.reasons[0])
    return _on_two(f"{grade}: {reason}{also}", width)


def _on_two(said: str, width: int) -> list[str]:
    """A sentence on one line, or else on two between words; what is longer is cut."""
    words = text.one_line(said).split(" ")
    fitting = [n for n in range(1, len(words)) if text.cells(" ".join(words[:n])) <= width]
    if text.cells(" ".join(words)) <= width or not fitting:
        return [text.one_line(said, width)]
    first, rest = words[: fitting[-1]], words[fitting[-1] :]
    return [" ".join(first), f"  {text.one_line(' '.join(rest), width - 2)}"]


def _flags(chosen: Chosen, limit: int, width: int) -> list[str]:
    """Open tasks that others have overtaken."""
    found = chosen.flags
    if not found:
        return []
    lines = ["", "OVERTAKEN? (other tasks say so)"]
    for each in found[:limit]:
        title = text.one_line(each.subject.title, _TITLE_CHARS)
        said = (
            f"{each.subject.key.id} is {each.flag} by {each.other.id} ({each.percent} %): {title}"
        )
        lines.append(f"  {text.one_line(said, width - 2)}")
    if len(found) > limit:
        lines.append(f"  {len(found) - limit} more; --limit shows them.")
    return lines


def _parked(chosen: Chosen, limit: int, width: int) -> list[str]:
    if not chosen.parked:
        return []
    limits = chosen.swept.order.limits
    is_whole = _is_whole(chosen)
    days = (limits.stale_ms if is_whole else limits.parked_ms) // model.DAY_MS
    lines = ["", f"PARKED PROJECTS (no activity >{days} days):"]
    some = chosen.parked[: min(limit, _MAX_PARKED)]
    lines += [_cut(f"  {_track(track)}", width) for track in some]
    rest = len(chosen.parked) - len(some)
    if rest > 0:
        tasks = sum(track.open for track in chosen.parked[-rest:])
        lines.append(f"  {rest} more with {text.counted(tasks, 'open task')}; --json has all.")
    return lines


def _is_whole(chosen: Chosen) -> bool:
    """Is the whole project parked?"""
    return any(each.source == deferring.PROJECT for each in chosen.parked)


def _track(track: parking.Track) -> str:
    title = f" ({text.one_line(track.title, 34)})" if track.title not in ("", track.name) else ""
    what = "Project" if track.source == deferring.PROJECT else "Track"
    at = track.last_at[:10] or "never"
    name = text.one_line(track.name, 40)
    tasks = text.counted(track.open, "open task")
    return f"{what} {name}{title}  {tasks}, {track.percent}% done, last activity: {at}"


def _active(chosen: Chosen, width: int) -> list[str]:
    active = [each for each in chosen.swept.active if chosen.wanted.has_track(each.track)]
    if not active or chosen.wanted.types:
        return []
    names = [_heading(each) for each in active[:_MAX_ACTIVE]]
    wide = min(max(map(len, names)), max(20, width - 46))
    lines = ["", "RECENTLY ACTIVE (no action needed):"]
    for each, name in zip(active, names, strict=False):
        done = "completed" if each.done == each.total else f"{each.percent:>3}% done"
        by = f" ({short(each.session)})" if each.session else ""
        line = f"  {text.one_line(name, wide):<{wide}}  {done:<9}  Last: {each.last_at[:10]}{by}"
        lines.append(_cut(line, width))
    if len(active) > _MAX_ACTIVE:
        lines.append(f"  {len(active) - _MAX_ACTIVE} more")
    return lines


def _cut(line: str, width: int) -> str:
    """A line of clean parts, which keeps its columns."""
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def _heading(each: tracks.Active) -> str:
    """The id of a section if it has one: `D.2: Harden the settings page` is `D.2`."""
    begin = each.name.partition(":")[0].partition(" ")[0]
    is_id = _SECTION_ID.fullmatch(begin) and any(char.isdigit() for char in begin)
    return begin if is_id else text.one_line(each.name or each.source, 60)


def _below(chosen: Chosen) -> Iterator[str]:
    """What stands below the findings: the counts, and what to do next."""
    yield _summary(chosen)
    if named := ", ".join(chosen.swept.deferred):
        yield f"Deferred: {named}; `tether vacuum defer NAME --end` ends that."
    yield from _remarks(chosen)
    if chosen.orphans:
        yield "`tether vacuum adopt ID` takes one up, `defer ID` says that it has time."


def _summary(chosen: Chosen) -> str:
    parked = text.counted(len(chosen.parked), "parked track")
    parts = [
        text.counted(len(chosen.alerts), "orphan"),
        "the project is parked" if _is_whole(chosen) else parked,
    ]
    if chosen.unchecked is not None:
        parts.append(f"{chosen.unchecked} total unchecked")
    if chosen.never_started is not None:
        parts.append(f"{chosen.never_started} never started")
    is_part, deferred = chosen.wanted.is_part, chosen.swept.counts.get("deferred", 0)
    if deferred and not is_part:
        parts.append(f"{deferred} deferred")
    return f"Summary{' of what was asked for' if is_part else ''}: {', '.join(parts)}"


def _remarks(chosen: Chosen) -> Iterator[str]:
    """What changed, and what is not shown."""
    swept = chosen.swept
    if swept.recorded is not None and swept.before is not None:
        since = text.minute(swept.before.started_at)
        told = f"{swept.recorded.new} new, {swept.recorded.settled} settled since {since}"
        yield told + ("." if swept.before.finished_at else ", when a sweep was interrupted.")
    if chosen.left_out:
        yield f"{chosen.left_out} less probable or of what is parked; --all shows them."
    if chosen.older and swept.order.sweep_type == model.STANDARD:
        days = swept.order.limits.window_ms // model.DAY_MS
        told = text.counted(chosen.older, "task")
        yield f"{told} last touched more than {days} days ago; --deep looks at them too."


def document(chosen: Chosen) -> str:
    """The report as a Markdown document, with all reasons and pointers."""
    swept = chosen.swept
    lines = [
        f"# Context Vacuum Report — {swept.order.now[:10]}",
        "",
        f"- Sweep: {swept.order.sweep_type}, {swept.order.now}, by {cell(swept.order.by)}",
        f"- Project: {cell(swept.order.project)}",
        f"- {_summary(chosen)}",
    ]
    if swept.deferred:
        lines.append(f"- Deferred: {', '.join(map(cell, swept.deferred))}")
    lines += [f"- {each}" for each in _remarks(chosen)]
    for title, found in (
        ("Orphaned tasks (action required)", chosen.orphans),
        ("Done, not marked", chosen.unmarked),
        ("Worth a look", chosen.others),
    ):
        if found:
            lines += ["", f"## {title}", ""]
            lines += [
                "| type | task | title | last | why | evidence |",
                "|---|---|---|---|---|---|",
            ]
            lines += [_document_row(each) for each in found]
    if chosen.parked:
        lines += ["", "## Parked", ""]
        lines += [f"- {cell(_track(track))}" for track in chosen.parked]
    if swept.active:
        lines += ["", "## Recently active", ""]
        lines += [
            f"- {cell(_heading(each))}: {each.percent} % done, last {each.last_at[:10]}"
            for each in swept.active
        ]
    return "\n".join([*lines, ""])


def _document_row(each: model.Judged) -> str:
    reasons = _joined(f"{model.in_words(f.type)}: {'; '.join(f.reasons)}" for f in each.findings)
    pointers = _joined(dict.fromkeys(p for f in each.findings for p in f.pointers))
    values = (
        tag(each),
        each.subject.key.label,
        each.subject.title,
        last(each),
        reasons,
        pointers,
    )
    return f"| {' | '.join(map(cell, values))} |"


def _joined(parts: Iterable[str]) -> str:
    return "; ".join(parts)


def cell(value: str) -> str:
    """Somebody else's words in Markdown: as code, in which nothing is marked up or linked."""
    plain = text.one_line(value, 400).replace("`", "'").replace("|", "\\|")
    return f"`{plain}`" if plain else ""
