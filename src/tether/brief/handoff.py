"""The resume packet of a task: everything that its next owner should know, and no more than fits.

What was said and what Git shows are put side by side; where they disagree, that is said first. The
packet is words of others, so the surfaces hand it on as data. Which text is whose is in every line.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether import clock, ids, redaction, text
from tether.agents import model as agents
from tether.brief import contradictions as disagreeing
from tether.evidence import lost, model, recall, timeline, unfinished
from tether.hints import NamedTuple
from tether.tasks import states

# What a token of a language model holds, about: the budget is one of reading, not of bytes.
CHARS_PER_TOKEN = 4
MIN_BUDGET = 200
# What a surface puts around a line, above a section, and below everything that did not fit.
LINE_CHARS = 9
HEADING_CHARS = 44
REST_CHARS = 64


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
    left: unfinished.Unfinished = unfinished.Unfinished()
    why_not: str = ""
    """Why nobody could look where its last claim was; empty if somebody could."""
    lost: tuple[lost.Lost, ...] = ()
    notes: tuple[Note, ...] = ()
    beside: tuple[model.Activity, ...] = ()
    """Edits of its last session that may be for any task: nobody claimed one."""


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
        ("notes", [Line(f"{text.minute(n.at)} {n.by}: {n.text}", n.pointer) for n in found.notes]),
        ("unmet", [Line(each, found.subject.where) for each in found.subject.unmet]),
        ("left", _left(found)),
        ("said", _said(found)),
        ("failed", _failed(found)),
        ("files", _files(found)),
        ("done", _done(found.line.activities)),
    ]
    return [Section(name, tuple(lines)) for name, lines in made if lines]


def contradictions(found: Evidence) -> list[str]:
    """Where what was said and what Git shows do not agree."""
    said = found.recalled.said
    return disagreeing.find(
        disagreeing.Facts(
            found.subject.state == states.DONE,
            found.line.activities,
            said[-1].text if said else "",
            tuple(found.left.dirty),
            tuple(branch.name for branch in found.left.branches),
            found.lost,
        )
    )


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
        state = f"closed as {claim.outcome} at {text.minute(claim.closed_at or '')}"
        if claim.closed_at is None:
            state = f"still open ({found.verdict})" if found.verdict else "still open"
        where = f", in {claim.worktree}" if claim.worktree else ""
        branch = f" on {claim.branch}" if claim.branch else ""
        lines.append(
            Line(
                f"{claim.agent_name} claimed it at {text.minute(claim.claimed_at)}{where}{branch};"
                f" {state}.",
                f"claim {claim.epoch}",
            )
        )
        if claim.checkpoint:
            said = text.one_line(claim.checkpoint, 400)
            lines.append(
                Line(
                    f"Last checkpoint, {text.minute(claim.checkpoint_at or '')}: {said}",
                    "checkpoint",
                )
            )
    last = found.line.last_worked_at
    if last:
        lines.append(Line(f"Last worked on {text.minute(last)}."))
    if session is not None:
        lines += _session(session)
    return lines


def _session(session: model.Session) -> list[Line]:
    told = []
    if session.compactions:
        times = "once" if session.compactions == 1 else f"{session.compactions} times"
        told.append(
            f"Its session was compacted {times}, last at {text.minute(session.compacted_at)}: what"
            " was said before is only a summary there."
        )
    if session.ending == "limited":
        until = f" until {text.minute(session.resets_at)}" if session.resets_at else ""
        told.append(f"Its session stopped at a usage limit{until}.")
    if session.ending == "mid_turn":
        told.append("Its transcript ends in the middle of a turn: it was killed, or is at work.")
    return [Line(each, session.pointer) for each in told]


def _left(found: Evidence) -> list[Line]:
    left, claim = found.left, found.last
    lines = []
    if found.why_not and claim is not None:
        lines.append(Line(f"Its files were not looked at: {found.why_not}."))
    for checkout in left.checkouts:
        lines += _uncommitted(checkout)
    for branch in left.branches:
        subjects = "; ".join(text.one_line(each, 80) for each in branch.subjects[:5])
        count = text.counted(branch.ahead, "commit")
        lines.append(Line(f"branch {branch.name}, not merged, {count}: {subjects}", branch.head))
    for stash, is_own in left.stashes:
        made = f"stashed at {text.minute(clock.text(stash.at_ms))}"
        if not is_own:
            made += f", while its session worked on {stash.branch}"
        lines.append(Line(f"{made}: {text.one_line(stash.text, 100)}", stash.oid))
    lines += [Line(f"Not looked at: {problem}") for problem in left.problems]
    if claim is not None and not lines:
        where = claim.worktree or "its checkout"
        lines.append(Line(f"Nothing is uncommitted, unmerged or stashed in {where}."))
    return lines


def _uncommitted(checkout: unfinished.Checkout) -> list[Line]:
    """The task's own files first. Of the others only that they are there is known."""
    where = f"{checkout.path} on {checkout.branch}" if checkout.branch else checkout.path
    own, rest = (
        [(name, paths) for name, paths in each._asdict().items() if paths]
        for each in (checkout.own, checkout.rest)
    )
    if not checkout.is_own:
        where += ", of files that this task touched"
    lines = [Line(f"{name} in {where}: {_listed(paths)}", "git status") for name, paths in own]
    if rest:
        told = "; ".join(f"{name} {_listed(paths)}" for name, paths in rest)
        also = "also uncommitted" if own else "uncommitted"
        where = f"{checkout.path}, where it was worked on (not known for which task)"
        lines.append(Line(f"{also} in {where}: {told}", "git status"))
    return lines


def _listed(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - 12} more" if len(paths) > 12 else ""
    return ", ".join(paths[:12]) + more


def _said(found: Evidence) -> list[Line]:
    said = [Line(f"{text.minute(s.at)} {s.text}", s.pointer) for s in reversed(found.recalled.said)]
    if not said:
        # The transcript is gone: what was written down of it has to do.
        told = (e for e in found.line.activities if e.kind != model.LISTED)
        kept = [e for e in told if e.what in ("said", "logged") and e.text]
        said = [Line(f"{text.minute(e.at)} {e.text}", e.pointer) for e in reversed(kept)]
        if not said and found.session is not None and found.session.last_said:
            said = [Line(found.session.last_said, found.session.pointer)]
    return said[:12]


def _failed(found: Evidence) -> list[Line]:
    if found.recalled.failed:
        told = [
            (f.at, f"{f.command or 'a tool'}: {f.error}", f.pointer) for f in found.recalled.failed
        ]
    else:
        kept = [e for e in found.line.activities if e.what == "failed" and e.kind != model.LISTED]
        told = [(e.at, e.text or "a tool failed", e.pointer) for e in kept]
    return [Line(f"{text.minute(at)} {how}", pointer) for at, how, pointer in reversed(told[-8:])]


def _files(found: Evidence) -> list[Line]:
    touched = recall.files_of(found.line.activities)
    whose = "" if touched else ", in the same session, for whichever task"
    return [
        Line(f"{path}, {text.counted(count, 'edit')}, last {text.minute(last)}{whose}")
        for path, count, last in (touched or recall.files_of(found.beside))[:30]
    ]


def _done(activities: Iterable[model.Activity]) -> list[Line]:
    moving = [e for e in activities if e.kind in model.MOVING and e.what != "edited"]
    return [
        Line(f"{text.minute(e.at)} {e.what} {e.text}".rstrip(), e.pointer)
        for e in reversed(moving[-30:])
    ]
