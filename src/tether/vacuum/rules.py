"""Is a task orphaned? Pure: all that is known of it goes in, everything that is wrong comes out.

| finding | what must be so |
|---|---|
| `dead_claim` | its last claim is held by, or was taken from, somebody who is gone; nothing since |
| `conflict_abandoned` | two sessions were in each other's way, and neither finished it |
| `context_lost` | its session forgot it (compaction) or died, did nothing since, left no handoff |
| `stale_in_progress` | somebody began it, and it has been silent for too long |
| `partially_completed` | parts of it or commits are there, the rest is not, nobody has it |
| `done_unmarked` | somebody said or showed that it is done, and its list does not say so |
| `long_claim` | somebody has had it for more than a day |
| `done_unproven` | its list says that it is done, and nothing shows that anybody worked on it |

Only a process that is seen to be gone makes a finding certain. Silence alone has a probability,
from how silences of real tasks ended (`silence`).
"""

from __future__ import annotations

from collections.abc import Callable

from tether import clock, text
from tether.agents import liveness
from tether.hints import NamedTuple
from tether.tasks import states
from tether.vacuum import model, silence

_BEGUN = (states.ASSIGNED, states.IN_PROGRESS)
# Its file ends in the middle of something: measured on what was written of killed sessions.
_TORN_PERCENT = 90
_COMPACTED_PERCENT = 88
_CLASH_PERCENT = 88
_SAID_PERCENT = 90
# All parts done is less than somebody's word: on real histories most of such tasks were not done.
_PARTS_PERCENT = 84
_UNPROVEN_PERCENT = 50
# Who says that it is done often goes on with it for a moment: a commit, a box, a last look.
_SLACK_MS = 10 * 60_000


class Case(NamedTuple):
    """A task before its judges."""

    known: model.Evidence
    limits: model.Limits

    @property
    def now_ms(self) -> int:
        return clock.parse(self.known.now)

    def age_ms(self, at: str) -> int:
        return max(0, self.now_ms - clock.parse(at)) if at else 0

    @property
    def is_open(self) -> bool:
        return self.known.subject.state in model.OPEN

    @property
    def has_begun(self) -> bool:
        """Did anybody ever take it up?"""
        known = self.known
        return known.begun or known.hold is not None or known.subject.state in _BEGUN

    @property
    def is_told_by_git_alone(self) -> bool:
        """Do nothing but commits tell of it: no claim, no session?"""
        known = self.known
        return not known.visits and known.hold is None and not known.claimed_at

    @property
    def last_visit(self) -> model.Visit | None:
        """The last session that did something with it; who stepped aside did nothing."""
        aside = {each.session for each in self.known.clashes}
        found = [v for v in self.known.visits if v.session not in aside or v.worked_at > v.first_at]
        return found[-1] if found else None


Rule = Callable[[Case], model.Finding | None]


def judge(known: model.Evidence, limits: model.Limits) -> tuple[model.Finding, ...]:
    """Everything that is wrong with a task, the most urgent first."""
    case = Case(known, limits)
    found = [finding for rule in RULES if (finding := rule(case)) is not None]
    if any(each.type == model.DONE_UNMARKED and _is_word(case, each) for each in found):
        # What is done needs its mark, and nobody who takes it up again; but the dead are told of.
        found = [e for e in found if e.type not in model.ORPHANED or e.grade == model.CERTAIN]
    return tuple(sorted(found, key=lambda each: each.rank))


def _is_word(case: Case, finding: model.Finding) -> bool:
    """Is it as good as said that the task is done? All parts are not, as real histories show."""
    is_plan = case.known.subject.state == states.NEW
    is_by_commit = case.known.committed is not None and case.is_told_by_git_alone and is_plan
    return finding.percent >= _SAID_PERCENT or is_by_commit


def dead_claim(case: Case) -> model.Finding | None:
    """Its last claim is held by, or was released from, a dead owner, and nothing since."""
    hold = case.known.hold
    if not case.is_open or hold is None:
        return _torn(case)
    if not (hold.is_open or hold.was_taken) or _is_touched_since(case, hold):
        return None
    if hold.verdict in liveness.OVER:
        since = f"{hold.agent or hold.session} has it since {text.minute(hold.at)}"
        if hold.was_taken:
            since = f"{hold.agent or hold.session} had it until {text.minute(hold.closed_at)}"
        reasons: tuple[str, ...] = (f"{since} and is {hold.verdict}: {hold.reason}",)
        if hold.verdict == "dead":
            return _finding(model.DEAD_CLAIM, 100, reasons, (hold.pointer,))
        torn = _torn(case)
        percent = silence.percent(case.known.quiet, case.limits)
        if torn is not None:
            percent, reasons = max(percent, torn.percent), (*reasons, *torn.reasons)
        return _finding(model.DEAD_CLAIM, percent, reasons, (hold.pointer,))
    return _torn(case) if not hold.verdict else None


def _torn(case: Case) -> model.Finding | None:
    """Nobody can look at its process, but its transcript ends in the middle of something."""
    visit = case.last_visit
    hold = case.known.hold
    if not case.is_open or visit is None or visit.ending != "mid_turn" or not case.known.claimed_at:
        return None
    if visit.verdict in ("alive", "suspect") or (hold is not None and hold.is_live):
        return None
    if case.age_ms(max(visit.over_at, visit.last_at)) < case.limits.silent_ms:
        return None
    if case.known.handed_off_at >= visit.last_at:
        return None
    who = visit.session
    reasons: tuple[str, ...] = (
        f"session {who} stopped in the middle at {text.minute(visit.over_at)}",
    )
    if visit.verdict == "dead":
        reasons = (*reasons, f"and is dead: {visit.reason}")
    percent = 100 if visit.verdict == "dead" else _TORN_PERCENT
    return _finding(model.DEAD_CLAIM, percent, reasons, (visit.pointer,))


def long_claim(case: Case) -> model.Finding | None:
    """Somebody has had it for more than a day."""
    hold = case.known.hold
    if not case.is_open or hold is None or not hold.is_open or hold.verdict in liveness.OVER:
        return None
    held_ms = case.age_ms(hold.at)
    if held_ms <= case.limits.long_claim_ms:
        return None
    percent = silence.percent(case.known.quiet, case.limits)
    how = f" ({hold.verdict}: {hold.reason})" if hold.verdict else ""
    reason = f"{hold.agent or hold.session} has had it for {liveness.shown(held_ms)}{how}"
    return _finding(model.LONG_CLAIM, percent, (reason,), (hold.pointer,))


def conflict_abandoned(case: Case) -> model.Finding | None:
    """Two sessions were in each other's way, and neither finished it."""
    hold = case.known.hold
    if not case.is_open or not case.known.clashes or (hold is not None and hold.is_live):
        return None
    clash = case.known.clashes[-1]
    # Two who are at work see it themselves, and of two of whom one let go it is settled.
    if clash.living == 2 or (clash.living and not clash.is_open):
        return None
    is_recent = case.age_ms(case.known.last_at or clash.at) < case.limits.silent_ms
    if is_recent and not clash.are_dead:
        return None
    # Somebody who took it up afterwards settled it, whatever became of that.
    if case.known.resumed_at > clash.at or _others_since(case, clash):
        return None
    first, second = clash.names
    reason = f"{first} and {second} both wanted it"
    ending = "; both are gone" if clash.are_dead else ""
    percent = 100 if clash.are_dead else _CLASH_PERCENT
    return _finding(
        model.CONFLICT_ABANDONED,
        percent,
        (f"{reason} at {text.minute(clash.at)}, and neither finished it{ending}",),
        (clash.pointer,),
    )


def context_lost(case: Case) -> model.Finding | None:
    """Its session compacted or died, did nothing on it since, and left no handoff."""
    visit, hold = case.last_visit, case.known.hold
    if not case.is_open or visit is None or not case.has_begun:
        return None
    # A living owner can be reminded; it is not up to others to take it up.
    is_held = hold is not None and hold.is_live
    last_at = max(case.known.last_at, visit.last_at)
    is_recent = case.age_ms(last_at) < case.limits.silent_ms
    if is_held or is_recent or case.known.handed_off_at >= visit.last_at:
        return None
    who = f"session {visit.session}"
    if visit.compacted_at and visit.compacted_at >= visit.last_at:
        reason = f"{who} compacted at {text.minute(visit.compacted_at)} and forgot it"
        return _finding(model.CONTEXT_LOST, _COMPACTED_PERCENT, (reason,), (visit.pointer,))
    is_dead = visit.verdict == "dead"
    is_cut_short = visit.ending in ("mid_turn", "limited") or is_dead
    if not is_cut_short or visit.verdict in ("alive", "suspect"):
        return None
    how = "reached a usage limit" if visit.ending == "limited" else "stopped in the middle"
    reason = f"{who} {how} at {text.minute(visit.over_at)} and left no handoff"
    percent = _COMPACTED_PERCENT if visit.ending == "limited" else _TORN_PERCENT
    return _finding(model.CONTEXT_LOST, percent, (reason,), (visit.pointer,))


def stale_in_progress(case: Case) -> model.Finding | None:
    """Somebody began it, and it has been silent for too long."""
    known, hold = case.known, case.known.hold
    if not case.is_open or not case.has_begun or (hold is not None and hold.is_live):
        return None
    percent = silence.percent(known.quiet, case.limits)
    if known.quiet is None or percent < case.limits.alert_percent:
        return None
    silent_ms = round(known.quiet.alone_hours * model.HOUR_MS)
    since = text.minute(clock.text(case.now_ms - silent_ms))
    reasons = [f"nothing of its own since {since}, for {liveness.shown(silent_ms)}"]
    reasons += silence.reasons(known.quiet)
    pointers = (known.last.pointer,) if known.last is not None else ()
    return _finding(model.STALE_IN_PROGRESS, percent, tuple(reasons), pointers)


def partially_completed(case: Case) -> model.Finding | None:
    """Some of it is there, in parts or in commits, the rest is not, and nobody has it."""
    known, subject, hold = case.known, case.known.subject, case.known.hold
    if not case.is_open or (hold is not None and hold.is_live):
        return None
    has_parts = 0 < subject.parts_done < subject.parts_total
    last_at = max(known.last_at, known.family_at if has_parts else "")
    has_commits = known.committed is not None and not case.is_told_by_git_alone
    if not (has_parts or has_commits) or not last_at:
        return None
    if case.age_ms(last_at) <= case.limits.long_claim_ms:
        return None
    what = "a commit names it"
    if has_parts:
        what = f"{subject.parts_done} of {subject.parts_total} parts are done"
    reason = f"{what}, and nothing since {text.minute(last_at)}"
    shown = known.last if has_parts else known.committed
    hours = case.age_ms(last_at) / model.HOUR_MS
    percent = silence.percent(model.Quiet(hours, hours), case.limits)
    if not has_parts and percent < case.limits.alert_percent:
        return None  # a commit is no part: before that it is work in progress
    pointers = (shown.pointer,) if shown is not None else ()
    return _finding(model.PARTIALLY_COMPLETED, percent, (reason,), pointers)


def done_unmarked(case: Case) -> model.Finding | None:
    """Somebody said or showed that it is done, and its list does not say so."""
    known, subject = case.known, case.known.subject
    hold = known.hold
    if not case.is_open or (hold is not None and hold.is_live):
        return None
    said = [each for each in known.finished if each.at >= known.resumed_at]
    if said and not _worked_after(case, said[-1]):
        found = tuple(map(_said, said[-3:]))
        pointers = tuple(each.pointer for each in said[-3:])
        return _finding(model.DONE_UNMARKED, _SAID_PERCENT, found, pointers)
    if subject.parts_total and subject.parts_done == subject.parts_total and case.has_begun:
        total = subject.parts_total
        reason = f"all of its {total} parts are done" if total > 1 else "its only part is done"
        return _finding(model.DONE_UNMARKED, _PARTS_PERCENT, (reason,), (subject.where,))
    # Where nothing but commits tells of it, one in its name with nothing after it is how it ends.
    commit = known.committed
    is_begun = known.begun and case.is_told_by_git_alone
    if commit is None or not is_begun or commit.at < known.resumed_at:
        return None
    has_open_parts = subject.parts_done < subject.parts_total
    if has_open_parts or case.age_ms(commit.at) <= case.limits.long_claim_ms:
        return None
    oid = commit.pointer.partition(":")[2][:12]
    reason = f"commit {oid} is in its name, and nothing came since"
    hours = case.age_ms(commit.at) / model.HOUR_MS
    percent = silence.percent(model.Quiet(hours, hours), case.limits)
    # A commit is never as good as somebody's word.
    percent = min(percent, _SAID_PERCENT - 1)
    return _finding(model.DONE_UNMARKED, percent, (reason,), (commit.pointer,))


def _said(sign: model.Sign) -> str:
    """What says that a task is done, and when."""
    scheme, _, name = sign.pointer.partition(":")
    if scheme == "commit":
        return f"commit {name[:12]} says that it is done, {text.minute(sign.at)}"
    return f"it is said to be done: {sign.what}, {text.minute(sign.at)}"


def done_unproven(case: Case) -> model.Finding | None:
    """Its list says that it is done, and nothing shows that anybody worked on it."""
    known = case.known
    # What was done before the history that can be seen needs no proof.
    if known.subject.state != states.DONE or known.ticked is None:
        return None
    if known.worked is not None or known.finished or known.visits or known.hold is not None:
        return None
    others = known.ticked_together - 1
    many = f", together with {text.counted(others, 'other')}" if others else ""
    reason = f"marked done at {text.minute(known.ticked.at)}{many}, and nothing shows work on it"
    return _finding(model.DONE_UNPROVEN, _UNPROVEN_PERCENT, (reason,), (known.ticked.pointer,))


RULES: tuple[Rule, ...] = (
    dead_claim,
    conflict_abandoned,
    context_lost,
    stale_in_progress,
    partially_completed,
    done_unmarked,
    long_claim,
    done_unproven,
)


def _finding(
    kind: str, percent: int, reasons: tuple[str, ...], pointers: tuple[str, ...]
) -> model.Finding:
    grade = model.CERTAIN if percent == 100 else model.SUSPECT
    return model.Finding(kind, grade, percent, reasons, tuple(each for each in pointers if each))


def _is_touched_since(case: Case, hold: model.Hold) -> bool:
    """Did anybody else do something about it after a claim was taken from its owner?"""
    end = max(hold.at, hold.closed_at)
    if case.known.resumed_at > end and case.known.resumed_by != hold.session:
        return True
    return any(
        each.session != hold.session and each.worked_at > end and each.first_at > hold.at
        for each in case.known.visits
    )


def _others_since(case: Case, clash: model.Clash) -> bool:
    """Did a session work on it that came after a clash?"""
    parties = (clash.session, clash.other)
    return any(
        each.session not in parties
        and (each.began_at or each.first_at) > clash.at
        and bool(each.worked_at)
        for each in case.known.visits
    )


def _worked_after(case: Case, sign: model.Sign) -> bool:
    """Did somebody work on it afterwards: another session, or for more than a moment the same?"""
    end = clock.text(clock.parse(sign.at) + _SLACK_MS)
    return any(
        each.worked_at > end or (each.first_at > sign.at and each.session != sign.session)
        for each in case.known.visits
        if each.worked_at
    )
