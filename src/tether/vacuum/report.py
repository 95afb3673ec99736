"""A sweep as people read it: a page, a line, or a document. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tether import clock, text
from tether.hints import NamedTuple
from tether.vacuum import model, parking, sweeps, tracks

_RULE = "═"
_TITLE_CHARS = 200
_MIN_TITLE = 16
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
_IN_WORDS = {
    model.DEAD_CLAIM: "dead claim",
    model.CONFLICT_ABANDONED: "conflict",
    model.CONTEXT_LOST: "lost context",
    model.STALE_IN_PROGRESS: "stale",
    model.PARTIALLY_COMPLETED: "partial",
}


class Filter(NamedTuple):
    """Which findings are wanted."""

    tracks: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    min_age_ms: int = 0
    everything: bool = False
    """Also what is less probable, and what is parked."""


class Chosen(NamedTuple):
    """The findings of a sweep that are wanted, by what is to be done about them."""

    swept: sweeps.Swept
    orphans: tuple[model.Judged, ...]
    """To be taken up again."""
    unmarked: tuple[model.Judged, ...]
    """Done, and to be marked."""
    others: tuple[model.Judged, ...]
    """Worth a look."""
    parked: tuple[parking.Track, ...]
    left_out: int
    """Less probable ones, and those of what is parked."""
    wanted: Filter

    @property
    def all(self) -> tuple[model.Judged, ...]:
        return (*self.orphans, *self.unmarked, *self.others)


def choose(swept: sweeps.Swept, wanted: Filter) -> Chosen:
    """What of a sweep somebody wants to see."""
    limits = swept.order.limits
    orphans, unmarked, others = [], [], []
    left_out = 0
    found = list(swept.judged)
    if wanted.everything:
        seen = {each.subject.key for each in swept.folded}
        found = [e for e in swept.judged if e.subject.key not in seen] + list(swept.folded)
    for each in found:
        if not _is_wanted(each, swept, wanted):
            continue
        if wanted.types:
            chosen = tuple(f for f in each.findings if f.type in wanted.types)
            each = each._replace(findings=chosen)  # noqa: PLW2901 (the rest was not asked for)
        first = each.findings[0]
        is_alert = first.percent >= limits.alert_percent or wanted.everything
        if first.type in model.ORPHANED and is_alert:
            orphans.append(each)
        elif first.type == model.DONE_UNMARKED and is_alert:
            unmarked.append(each)
        elif is_alert or first.type == model.LONG_CLAIM or wanted.types:
            others.append(each)
        else:
            left_out += 1
    parked = tuple(each for each in swept.parked if _is_wanted_track(each, swept, wanted))
    if not wanted.everything:
        left_out += len(swept.folded)
    found_all = (tuple(orphans), tuple(unmarked), tuple(others), parked)
    return Chosen(swept, *found_all, left_out, wanted)


def _is_wanted(each: model.Judged, swept: sweeps.Swept, wanted: Filter) -> bool:
    subject = each.subject
    names = {name.lower() for name in wanted.tracks}
    if names and subject.track.lower() not in names:
        return False
    if wanted.projects and swept.order.project not in wanted.projects:
        return False
    if wanted.types and not any(f.type in wanted.types for f in each.findings):
        return False
    if wanted.priorities and subject.priority not in wanted.priorities:
        return False
    return _age_ms(each, swept) >= wanted.min_age_ms


def _is_wanted_track(track: parking.Track, swept: sweeps.Swept, wanted: Filter) -> bool:
    names = {name.lower() for name in wanted.tracks}
    is_named = not names or track.name.lower() in names
    is_here = not wanted.projects or swept.order.project in wanted.projects
    is_type = not wanted.types or model.PARKED_PROJECT in wanted.types
    return is_named and is_here and is_type and not wanted.priorities and not wanted.min_age_ms


def age_days(each: model.Judged, swept: sweeps.Swept) -> int:
    """For how many days nobody has done anything about it."""
    return _age_ms(each, swept) // model.DAY_MS


def _age_ms(each: model.Judged, swept: sweeps.Swept) -> int:
    at = each.evidence.last_at or each.evidence.claimed_at
    return max(0, clock.parse(swept.order.now) - clock.parse(at)) if at else 0


def compact(chosen: Chosen) -> str:
    """One line: `Orphaned Tasks: 3 (2 dead claims, 1 stale)`."""
    counts: dict[str, int] = {}
    for each in chosen.orphans:
        kind = each.findings[0].type
        counts[kind] = counts.get(kind, 0) + 1
    parts = [
        f"{count} {_plural(_IN_WORDS[kind], count)}"
        for kind, count in sorted(counts.items(), key=lambda item: model.TYPES.index(item[0]))
    ]
    told = f" ({', '.join(parts)})" if parts else ""
    return f"Orphaned Tasks: {len(chosen.orphans)}{told}"


def _plural(word: str, count: int) -> str:
    return word if count == 1 or word in ("stale", "partial", "lost context") else f"{word}s"


def tag(each: model.Judged) -> str:
    """`DEAD CLAIM`, or `STALE 14d`."""
    kind = each.findings[0].type
    if kind == model.STALE_IN_PROGRESS and each.evidence.quiet is not None:
        return f"{TAGS[kind]} {int(each.evidence.quiet.alone_hours // 24)}d"
    return TAGS.get(kind, kind.upper())


def last(each: model.Judged) -> str:
    """`2026-02-11 (claude-55631, dead)`: when anything was last done, by whom, and how they are."""
    known = each.evidence
    at = known.last_at or known.claimed_at
    who, how = "", ""
    if known.hold is not None and known.hold.is_open:
        who, how = known.hold.agent or known.hold.session, known.hold.verdict
    elif known.visits:
        who, how = known.visits[-1].session, known.visits[-1].verdict
    by = ", ".join(part for part in (short(who), how) if part)
    return f"{at[:10] or 'never'}" + (f" ({by})" if by else "")


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
    lines += _parked(chosen, limit, width)
    lines += _active(chosen, width)
    if len(lines) == 2:
        said = "Nothing was dropped." if swept.total else "There are no tasks here, in no list."
        lines += ["", said]
    return [*lines, "", *_summary(chosen)]


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
        lines.append(f"  {'':<{wide}}  {_why(each, max(40, width - wide - 4))}")
    if len(found) > limit:
        lines.append(f"  {len(found) - limit} more; --limit shows them.")
    return lines


def _why(each: model.Judged, width: int) -> str:
    first, *others = each.findings
    grade = "certain" if first.grade == model.CERTAIN else f"{first.percent} %"
    also = f"; also {', '.join(_also(f) for f in others)}" if others else ""
    reason = _UUID.sub(lambda found: found[0][:8], first.reasons[0])
    return text.one_line(f"{grade}: {reason}{also}", width)


def _also(finding: model.Finding) -> str:
    return _IN_WORDS.get(finding.type, finding.type.replace("_", " "))


def _parked(chosen: Chosen, limit: int, width: int) -> list[str]:
    if not chosen.parked:
        return []
    limits = chosen.swept.order.limits
    is_whole = chosen.parked[0].source == "project"
    days = (limits.stale_ms if is_whole else limits.parked_ms) // model.DAY_MS
    lines = ["", f"PARKED PROJECTS (no activity >{days} days):"]
    some = chosen.parked[: min(limit, _MAX_PARKED)]
    lines += [_cut(f"  {_track(track)}", width) for track in some]
    rest = len(chosen.parked) - len(some)
    if rest > 0:
        tasks = sum(track.open for track in chosen.parked[-rest:])
        lines.append(f"  {rest} more with {text.counted(tasks, 'open task')}; --json has all.")
    return lines


def _track(track: parking.Track) -> str:
    title = f" ({text.one_line(track.title, 34)})" if track.title not in ("", track.name) else ""
    what = "Project" if track.source == "project" else "Track"
    at = track.last_at[:10] or "never"
    name = text.one_line(track.name, 40)
    tasks = text.counted(track.open, "open task")
    return f"{what} {name}{title}  {tasks}, {track.percent}% done, last activity: {at}"


def _active(chosen: Chosen, width: int) -> list[str]:
    names_wanted = {name.lower() for name in chosen.wanted.tracks}
    active = [
        each
        for each in chosen.swept.active
        if not names_wanted or each.track.lower() in names_wanted
    ]
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


def _summary(chosen: Chosen) -> Iterator[str]:
    swept = chosen.swept
    parts = [
        text.counted(len(chosen.orphans), "orphan"),
        text.counted(len(chosen.parked), "parked track"),
        f"{swept.unchecked} total unchecked",
        f"{swept.counts.get(model.NEVER_STARTED, 0)} never started",
    ]
    if swept.counts.get("deferred"):
        parts.append(f"{swept.counts['deferred']} deferred")
    is_part = chosen.wanted._replace(everything=False) != Filter()
    yield f"Summary{' of what was asked for' if is_part else ''}: {', '.join(parts)}"
    if swept.deferred:
        yield f"Deferred: {', '.join(swept.deferred)}; `tether vacuum defer NAME --end` ends that."
    if swept.recorded is not None and swept.before is not None:
        since = text.minute(swept.before.started_at)
        told = f"{swept.recorded.new} new, {swept.recorded.settled} settled since {since}"
        yield told + ("." if swept.before.finished_at else ", when a sweep was interrupted.")
    if chosen.left_out:
        yield f"{chosen.left_out} less probable or of what is parked; --all shows them."
    if swept.older and swept.order.sweep_type == model.STANDARD:
        days = swept.order.limits.window_ms // model.DAY_MS
        told = text.counted(len(swept.older), "task")
        yield f"{told} last touched more than {days} days ago; --deep looks at them too."
    if chosen.orphans:
        yield "`tether vacuum adopt ID` takes one up, `defer ID` says that it has time."


def document(chosen: Chosen) -> str:
    """The report as a Markdown document, with all reasons and pointers."""
    swept = chosen.swept
    lines = [
        f"# Context Vacuum Report — {swept.order.now[:10]}",
        "",
        f"- Sweep: {swept.order.sweep_type}, {swept.order.now}, by {cell(swept.order.by)}",
        f"- Project: {cell(swept.order.project)}",
        f"- {' '.join(_summary(chosen)).partition(': ')[2].partition(' `')[0]}",
    ]
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
    reasons = _joined(f"{_also(f)}: {'; '.join(f.reasons)}" for f in each.findings)
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
