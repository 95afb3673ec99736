"""The resume packet of a task: everything that its next owner should know, and no more than fits.

What was said and what Git shows are put side by side; where they disagree, that is said first. The
packet is words of others, so the surfaces hand it on as data. Which text is whose is in every line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tether import clock, ids, redaction, text
from tether.agents import leftovers
from tether.agents import model as agents
from tether.evidence import model, recall, timeline, unfinished
from tether.hints import NamedTuple
from tether.tasks import states

# What a token of a language model holds, about: the budget is one of reading, not of bytes.
CHARS_PER_TOKEN = 4
MIN_BUDGET = 200
# What a surface puts around a line, above a section, and below everything that did not fit.
LINE_CHARS = 9
HEADING_CHARS = 44
REST_CHARS = 64
_SAYS_DONE = re.compile(
    r"\b(?:done|finished|completed?|committed|pushed|merged|all tests pass)\b", re.IGNORECASE
)
_CLOSES = re.compile(r"\b(?:completes?|finish(?:es|ed)?|closes|done)\b", re.IGNORECASE)


class Subject(NamedTuple):
    """The task as its file or list has it."""

    key: ids.TaskKey
    title: str
    state: str
    where: str
    """The file and the line."""
    paragraphs: tuple[tuple[str, str], ...] = ()
    """Longer texts by name: description, plan, what failed."""
    unmet: tuple[str, ...] = ()
    """Criteria that nobody has ticked."""


class Note(NamedTuple):
    """What somebody left for the next owner."""

    at: str
    by: str
    text: str
    pointer: str


class Evidence(NamedTuple):
    """All that is known of the task, gathered by the surface."""

    subject: Subject
    line: timeline.Timeline
    last: agents.Claim | None = None
    verdict: str = ""
    """Whether its holder is alive, in words."""
    session: model.Session | None = None
    recalled: recall.Recalled = recall.Recalled([], [])
    left: leftovers.Leftovers = leftovers.Leftovers()
    branches: tuple[unfinished.Branch, ...] = ()
    notes: tuple[Note, ...] = ()


class Line(NamedTuple):
    """One line of the packet and where it is from."""

    text: str
    source: str = ""

    @property
    def short_source(self) -> str:
        """Its source without the directories, which would fill the packet."""
        scheme, _, rest = self.source.partition(":")
        return rest.rpartition("/")[2] if scheme == "file" else self.source


class Section(NamedTuple):
    """Some lines under a heading, the most important first."""

    name: str
    lines: tuple[Line, ...]


class Packet(NamedTuple):
    """What fits, and how many lines did not."""

    sections: tuple[Section, ...]
    left_out: int


def packet(found: Evidence, budget: int) -> Packet:
    """The resume packet within a budget of tokens."""
    # As they will be read: what stands for a secret may be longer than it.
    cleaned = [
        Section(
            each.name,
            tuple(
                Line(text.one_line(redaction.redact(line.text)), text.one_line(line.source))
                for line in each.lines
            ),
        )
        for each in sections(found)
    ]
    return fit(cleaned, budget * CHARS_PER_TOKEN)


def sections(found: Evidence) -> list[Section]:
    """Everything there is to say, the most important first."""
    made = [
        ("task", _task(found.subject)),
        ("stopped", _stopped(found)),
        ("contradictions", [Line(each) for each in contradictions(found)]),
        ("notes", [Line(f"{_time(n.at)} {n.by}: {n.text}", n.pointer) for n in found.notes]),
        ("unmet", [Line(each, found.subject.where) for each in found.subject.unmet]),
        ("left", _left(found)),
        ("said", _said(found)),
        ("failed", _failed(found.recalled)),
        ("files", _files(found.line.activities)),
        ("done", _done(found.line.activities)),
    ]
    return [Section(name, tuple(lines)) for name, lines in made if lines]


def contradictions(found: Evidence) -> list[str]:
    """Where what was said and what Git shows do not agree."""
    subject, activities = found.subject, found.line.activities
    commits = [each for each in activities if each.source == "git:commit"]
    worked = [each for each in commits if each.kind == model.WORKED]
    is_done = subject.state == states.DONE
    dirty = [path for paths in found.left[1:5] for path in paths]
    said = []
    if is_done and not any(each.kind == model.WORKED for each in activities):
        said.append("It is marked done, but nothing shows that anybody worked on it.")
    if is_done and dirty:
        said.append(f"It is marked done, but not committed: {_some(dirty)}.")
    if is_done and found.branches:
        names = ", ".join(branch.name for branch in found.branches)
        said.append(f"It is marked done, but {names} is not merged.")
    if not is_done and any(_is_closing(each.text) for each in worked):
        said.append("A commit says that it is finished, but it is not marked done.")
    last_said = found.recalled.said[-1].text if found.recalled.said else ""
    if dirty and _claims_done(last_said):
        said.append(f"The last words sound finished, but not committed is: {_some(dirty)}.")
    return said


def _some(paths: list[str]) -> str:
    """The first few of many paths."""
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more


def fit(found: list[Section], max_chars: int) -> Packet:
    """The lines that fit: from each section its first, then from each its second, and so on."""
    room = max_chars - REST_CHARS
    taken: dict[str, int] = {}
    is_full: set[str] = set()
    for number in range(max((len(each.lines) for each in found), default=0)):
        for section in found:
            if number >= len(section.lines) or section.name in is_full:
                continue
            cost = _cost(section.lines[number]) + (HEADING_CHARS if not number else 0)
            if cost > room:
                is_full.add(section.name)  # no later line of it either: a gap would mislead
                continue
            room -= cost
            taken[section.name] = number + 1
    kept = [
        Section(each.name, each.lines[: taken[each.name]]) for each in found if each.name in taken
    ]
    total = sum(len(each.lines) for each in found)
    return Packet(tuple(kept), total - sum(taken.values()))


def _cost(line: Line) -> int:
    return len(line.text) + len(line.short_source) + LINE_CHARS


def _task(subject: Subject) -> list[Line]:
    lines = [Line(f"{subject.key.label}: {subject.title} ({subject.state})", subject.where)]
    for name, value in subject.paragraphs:
        pieces = [piece.strip() for piece in text.clean(value).split("\n") if piece.strip()]
        lines += [Line(f"{name}: {text.one_line(piece, 300)}") for piece in pieces[:40]]
    return lines


def _stopped(found: Evidence) -> list[Line]:
    lines = []
    claim, session = found.last, found.session
    if claim is not None:
        state = f"closed as {claim.outcome} at {_time(claim.closed_at or '')}"
        if claim.closed_at is None:
            state = f"still open ({found.verdict})" if found.verdict else "still open"
        where = f", in {claim.worktree}" if claim.worktree else ""
        branch = f" on {claim.branch}" if claim.branch else ""
        lines.append(
            Line(
                f"{claim.agent_name} claimed it at {_time(claim.claimed_at)}{where}{branch};"
                f" {state}.",
                f"claim {claim.epoch}",
            )
        )
        if claim.checkpoint:
            said = text.one_line(claim.checkpoint, 400)
            lines.append(
                Line(f"Last checkpoint, {_time(claim.checkpoint_at or '')}: {said}", "checkpoint")
            )
    last = found.line.last_worked_at
    if last:
        lines.append(Line(f"Last worked on {_time(last)}."))
    if session is not None:
        lines += _session(session)
    return lines


def _session(session: model.Session) -> list[Line]:
    told = []
    if session.compactions:
        times = "once" if session.compactions == 1 else f"{session.compactions} times"
        told.append(
            f"Its session was compacted {times}, last at {_time(session.compacted_at)}: what was"
            " said before is only a summary there."
        )
    if session.ending == "limited":
        until = f" until {_time(session.resets_at)}" if session.resets_at else ""
        told.append(f"Its session stopped at a usage limit{until}.")
    if session.ending == "mid_turn":
        told.append("Its transcript ends in the middle of a turn: it was killed, or is at work.")
    return [Line(each, session.pointer) for each in told]


def _left(found: Evidence) -> list[Line]:
    left, claim = found.left, found.last
    where = claim.worktree if claim is not None and claim.worktree else "its checkout"
    lines = []
    if left.why_not and claim is not None:
        lines.append(Line(f"Its files were not looked at: {left.why_not}."))
    for name in ("staged", "changed", "deleted", "untracked"):
        paths = getattr(left, name)
        if paths:
            some = ", ".join(paths[:12])
            more = f" and {len(paths) - 12} more" if len(paths) > 12 else ""
            lines.append(Line(f"{name} in {where}: {some}{more}", "git status"))
    for branch in found.branches:
        subjects = "; ".join(text.one_line(each, 80) for each in branch.subjects[:5])
        count = _count(branch.ahead, "commit")
        lines.append(Line(f"branch {branch.name}, not merged, {count}: {subjects}", branch.head))
    for stash in left.stashes:
        said = text.one_line(stash.text, 100)
        lines.append(Line(f"stashed at {_time(clock.text(stash.at_ms))}: {said}", stash.oid))
    if claim is not None and not lines:
        lines.append(Line(f"Nothing is uncommitted, unmerged or stashed in {where}."))
    return lines


def _said(found: Evidence) -> list[Line]:
    said = [Line(f"{_time(s.at)} {s.text}", s.pointer) for s in reversed(found.recalled.said)]
    if not said:
        # The transcript is gone: what was written down of it has to do.
        told = (e for e in found.line.activities if e.kind != model.LISTED)
        kept = [e for e in told if e.what in ("said", "logged") and e.text]
        said = [Line(f"{_time(e.at)} {e.text}", e.pointer) for e in reversed(kept)]
        if not said and found.session is not None and found.session.last_said:
            said = [Line(found.session.last_said, found.session.pointer)]
    return said[:12]


def _failed(recalled: recall.Recalled) -> list[Line]:
    return [
        Line(f"{_time(f.at)} {f.command or 'a tool'}: {f.error}", f.pointer)
        for f in reversed(recalled.failed[-8:])
    ]


def _files(activities: Iterable[model.Activity]) -> list[Line]:
    return [
        Line(f"{path}, {_count(count, 'edit')}, last {_time(last)}")
        for path, count, last in recall.files_of(activities)[:30]
    ]


def _done(activities: Iterable[model.Activity]) -> list[Line]:
    moving = [e for e in activities if e.kind in model.MOVING and e.what != "edited"]
    return [
        Line(f"{_time(e.at)} {e.what} {e.text}".rstrip(), e.pointer) for e in reversed(moving[-30:])
    ]


def _is_closing(subject: str) -> bool:
    return _CLOSES.search(subject) is not None


def _claims_done(said: str) -> bool:
    return _SAYS_DONE.search(said) is not None and "not " not in said.lower()


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _time(at: str) -> str:
    return f"{at[:16].replace('T', ' ')}Z" if at else "(no time)"
