"""The resume packet of a task: everything that its next owner should know, and no more than fits.

What was said and what Git shows are put side by side; where they disagree, that is said first. The
packet is words of others, so the surfaces hand it on as data. Which text is whose is in every line.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether import clock, ids, redaction, text
from tether.agents import claims
from tether.agents import model as agents
from tether.brief import contradictions as disagreeing
from tether.brief import fitting
from tether.evidence import model, recall, stretches, timeline
from tether.evidence.unfinished import lost
from tether.evidence.unfinished import reading as unfinished
from tether.hints import NamedTuple
from tether.tasks import states


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
    aliases: tuple[str, ...] = ()
    """Ids that it had before."""


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
    whose: str = ""
    """Whose session that is, in words, if not that of the last claim."""
    times: tuple[stretches.Stretch, ...] = (stretches.Stretch(""),)
    """When that session was at work on this task."""
    recalled: recall.Recalled = recall.Recalled([], [])
    left: unfinished.Unfinished = unfinished.Unfinished()
    why_not: str = ""
    """Why nobody could look where its last claim was; empty if somebody could."""
    lost: tuple[lost.Lost, ...] = ()
    notes: tuple[Note, ...] = ()
    beside: tuple[model.Activity, ...] = ()
    """Edits of its last session that may be for any task: nobody claimed one."""


def packet(found: Evidence, budget: int) -> fitting.Packet:
    """The resume packet within a budget of tokens."""
    # As they will be read: what stands for a secret may be longer than it.
    cleaned = [
        fitting.Section(
            each.name,
            tuple(
                fitting.Line(text.one_line(redaction.redact(line.text)), text.one_line(line.source))
                for line in each.lines
            ),
        )
        for each in sections(found)
    ]
    return fitting.fit(cleaned, budget * fitting.CHARS_PER_TOKEN)


def sections(found: Evidence) -> list[fitting.Section]:
    """Everything there is to say, the most important first."""
    made = [
        ("task", _task(found.subject)),
        ("stopped", _stopped(found)),
        ("contradictions", [fitting.Line(each) for each in contradictions(found)]),
        (
            "notes",
            [fitting.Line(f"{text.minute(n.at)} {n.by}: {n.text}", n.pointer) for n in found.notes],
        ),
        ("unmet", [fitting.Line(each, found.subject.where) for each in found.subject.unmet]),
        ("left", _left(found)),
        ("said", _said(found)),
        ("failed", _failed(found)),
        ("files", _files(found)),
        ("done", _done(found.line.activities)),
    ]
    return [fitting.Section(name, tuple(lines)) for name, lines in made if lines]


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
            (found.subject.key.id, *found.subject.aliases),
            found.left.is_branched,
        )
    )


def _task(subject: Subject) -> list[fitting.Line]:
    lines = [fitting.Line(f"{subject.key.label}: {subject.title} ({subject.state})", subject.where)]
    for name, value in subject.paragraphs:
        pieces = [piece.strip() for piece in text.clean(value).split("\n") if piece.strip()]
        lines += [fitting.Line(f"{name}: {text.one_line(piece, 300)}") for piece in pieces[:40]]
    return lines


def _stopped(found: Evidence) -> list[fitting.Line]:
    lines = []
    claim, session = found.last, found.session
    if claim is not None:
        outcome = claims.in_words(claim.outcome)
        state = f"{outcome} at {text.minute(claim.closed_at or '')}"
        if claim.closed_at is None:
            state = f"still open ({found.verdict})" if found.verdict else "still open"
        where = f", in {claim.worktree}" if claim.worktree else ""
        branch = f" on {claim.branch}" if claim.branch else ""
        lines.append(
            fitting.Line(
                f"{claim.agent_name} claimed it at {text.minute(claim.claimed_at)}{where}{branch};"
                f" {state}.",
                f"claim {claim.epoch}",
            )
        )
        if claim.checkpoint:
            said = text.one_line(claim.checkpoint, 400)
            lines.append(
                fitting.Line(
                    f"Last checkpoint, {text.minute(claim.checkpoint_at or '')}: {said}",
                    "checkpoint",
                )
            )
    last, is_branched = found.line.last_worked_at, found.left.is_branched
    if last:
        lines.append(fitting.Line(f"Last worked on {text.minute(last)}."))
    elif claim is not None and not is_branched:
        # The claim is that of who asks, and has only just been taken.
        lines.append(fitting.Line("Nobody has worked on it, as far as anything shows."))
    if session is not None:
        lines += _session(session, found.whose or "Its session", found.times)
    is_silent = all(each.kind == model.LISTED for each in found.line.activities)
    if not lines and is_silent and not is_branched:
        lines.append(fitting.Line("Nothing shows work on it: no commit, no session, no claim."))
    return lines


def _session(
    session: model.Session, whose: str, times: tuple[stretches.Stretch, ...]
) -> list[fitting.Line]:
    """How a session went and ended, as far as it was at work on the task then."""
    told = []
    if session.compactions and stretches.has(times, session.compacted_at):
        often = "once" if session.compactions == 1 else f"{session.compactions} times"
        told.append(
            f"{whose} was compacted {often}, last at {text.minute(session.compacted_at)}: what"
            " was said before is only a summary there."
        )
    is_at_end = stretches.has(times, session.last_at)
    if session.ending == "limited" and is_at_end:
        until = f" until {text.minute(session.resets_at)}" if session.resets_at else ""
        told.append(f"{whose} stopped at a usage limit{until}.")
    if session.ending == "mid_turn" and is_at_end:
        told.append(f"{whose} ends in the middle of a turn: it was killed, or is at work.")
    return [fitting.Line(each, session.pointer) for each in told]


def _left(found: Evidence) -> list[fitting.Line]:
    left, claim = found.left, found.last
    lines = []
    if found.why_not and claim is not None:
        lines.append(fitting.Line(f"Its files were not looked at: {found.why_not}."))
    for checkout in left.checkouts:
        lines += _uncommitted(checkout)
    for branch in left.branches:
        subjects = "; ".join(text.one_line(each, 80) for each in branch.subjects[:5])
        count = text.counted(branch.ahead, "commit")
        lines.append(
            fitting.Line(f"branch {branch.name}, not merged, {count}: {subjects}", branch.head)
        )
    for stash, is_own in left.stashes:
        made = f"stashed at {text.minute(clock.text(stash.at_ms))}"
        if not is_own:
            made += f" on {stash.branch}, not known for which task"
        lines.append(fitting.Line(f"{made}: {text.one_line(stash.text, 100)}", stash.oid))
    lines += [fitting.Line(each) for each in left.more]
    lines += [fitting.Line(f"Not looked at: {problem}") for problem in left.problems]
    if not left.knows_main:
        lines.append(
            fitting.Line(
                "It is not known which branch is the main one, so nothing can be said of what is"
                " unmerged."
            )
        )
    if claim is not None and not lines:
        where = claim.worktree or "its checkout"
        lines.append(fitting.Line(f"Nothing is uncommitted, unmerged or stashed in {where}."))
    return lines


def _uncommitted(checkout: unfinished.Checkout) -> list[fitting.Line]:
    """The task's own files first. Of the others only that they are there is known."""
    where = f"{checkout.path} on {checkout.branch}" if checkout.branch else checkout.path
    own, rest = (
        [(name, paths) for name, paths in each._asdict().items() if paths]
        for each in (checkout.own, checkout.rest)
    )
    if not checkout.is_own:
        reserved = " or reserved" if checkout.is_claimed else ""
        where += f", of files that this task touched{reserved}"
    lines = [
        fitting.Line(f"{name} in {where}: {_listed(paths)}", "git status") for name, paths in own
    ]
    if rest:
        told = "; ".join(f"{name} {_listed(paths)}" for name, paths in rest)
        also = "also uncommitted" if own else "uncommitted"
        where = f"{checkout.path}, not known for which task"
        lines.append(fitting.Line(f"{also} in {where}: {told}", "git status"))
    return lines


def _listed(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - 12} more" if len(paths) > 12 else ""
    return ", ".join(paths[:12]) + more


def _said(found: Evidence) -> list[fitting.Line]:
    session = found.session
    said = [
        fitting.Line(f"{text.minute(s.at)} {s.text}", s.pointer)
        for s in reversed(found.recalled.said)
    ]
    if not said:
        # The transcript is gone: what was written down of it has to do.
        told = (e for e in found.line.activities if e.kind != model.LISTED)
        kept = [e for e in told if e.what in ("said", "logged") and e.text]
        said = [fitting.Line(f"{text.minute(e.at)} {e.text}", e.pointer) for e in reversed(kept)]
        if not said and session is not None and stretches.has(found.times, session.last_at):
            said = [fitting.Line(session.last_said, session.pointer)] if session.last_said else []
    return said[:12]


def _failed(found: Evidence) -> list[fitting.Line]:
    if found.recalled.failed:
        told = [
            (f.at, f"{f.command or 'a tool'}: {f.error}", f.pointer) for f in found.recalled.failed
        ]
    else:
        kept = [e for e in found.line.activities if e.what == "failed" and e.kind != model.LISTED]
        told = [(e.at, e.text or "a tool failed", e.pointer) for e in kept]
    return [
        fitting.Line(f"{text.minute(at)} {how}", pointer)
        for at, how, pointer in reversed(told[-8:])
    ]


def _files(found: Evidence) -> list[fitting.Line]:
    touched = recall.files_of(found.line.activities)
    whose = "" if touched else ", in the same session, for whichever task"
    return [
        fitting.Line(f"{path}, {text.counted(count, 'edit')}, last {text.minute(last)}{whose}")
        for path, count, last in (touched or recall.files_of(found.beside))[:30]
    ]


def _done(activities: Iterable[model.Activity]) -> list[fitting.Line]:
    moving = [e for e in activities if e.kind in model.MOVING and e.what != "edited"]
    return [
        fitting.Line(f"{text.minute(e.at)} {e.what} {e.text}".rstrip(), e.pointer)
        for e in reversed(moving[-30:])
    ]
