"""What happened: every task's course, from being planned to its end. Pure, given a seed.

A task is claimed, worked on in bursts, and done, or its owner dies, forgets it, leaves it or runs
into somebody else. Everything that is written anywhere follows from the acts that come of this.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tether.bench.workload import casting, laws, model, plan, sessions
from tether.hints import NamedTuple

CONFLICTS = 37
_BULK = 30
_PARKED_EACH = 3
_WEEK_AGO = model.NOW - 17 * model.DAY // 2
# When the last session on a task must be over, for it to be seen as what it is.
_LATEST = {
    model.DEAD_CLAIM: model.NOW - 20 * model.HOUR,
    model.STALE: _WEEK_AGO,
    model.CONFLICT_ABANDONED: model.NOW - 2 * model.DAY,
    model.CONTEXT_LOST: model.NOW - 2 * model.DAY,
    model.PARTIAL: _WEEK_AGO,
    model.DONE_UNMARKED: model.NOW - model.DAY,
    model.FATE_DEFERRED: model.NOW - 3 * model.DAY,
}
_DONE_BY = model.NOW - 20 * model.HOUR
_QUIET = "quiet"
_HOW = {model.DEAD_CLAIM: model.KILLED, model.CONTEXT_LOST: model.COMPACTED}
PARKED_TRACKS = ("AB", "AC")


class Story(NamedTuple):
    """Everything that happened."""

    seed: int
    size: model.Size
    has_liveness: bool
    plan: plan.Plan
    sessions: list[model.Session]
    claims: list[model.Claim]
    bulk: list[model.Task]
    """Tasks that one commit closed, without a trace of work."""
    conflicts: list[tuple[str, int, int]]
    """(task, the session that was too late, when): each is a pending message."""


def tell(seed: int, size: model.Size, *, has_liveness: bool) -> Story:
    """The story of a seed and a size."""
    rng = random.Random(f"story {seed} {size.scale}")  # noqa: S311 (chance that can be repeated)
    people = sessions.make(rng, size)
    ends = _ends(len(people), size)
    lists = plan.make(rng, size, ends[model.PARTIAL])
    main = [each for each in people if each.project == model.MAIN]
    writer = _Writer(rng, size, lists, casting.Cast(rng, main))
    writer.write(ends, laws.outcomes(len(people) * laws.CLAIMS_PER_SESSION))
    other = casting.Cast(rng, [s for s in people if s.project != model.MAIN])
    _pause(rng, lists, other, size)
    for session in people:
        session.acts.sort()
    claims = [*writer.cast.claims, *other.claims]
    return Story(seed, size, has_liveness, lists, people, claims, writer.bulk, writer.conflicts)


def _ends(count: int, size: model.Size) -> dict[str, int]:
    """How many tasks end in each open way."""
    courses = laws.outcomes(count * laws.CLAIMS_PER_SESSION)
    ends = laws.quotas(courses["open"] + courses["orphaned_again"], laws.OPEN_ENDS, 2)
    for fate, number in laws.quotas(courses["orphaned"], laws.ORPHANED_ENDS, 1).items():
        ends[fate] += number
    ends[model.ACTIVE] = max(ends[model.ACTIVE], size.of(sessions.LIVE_CLAIMS, 2) + 2)
    return ends


class _Writer:
    """Gives every task of the main project its course."""

    def __init__(
        self, rng: random.Random, size: model.Size, lists: plan.Plan, cast: casting.Cast
    ) -> None:
        self._rng = rng
        self._size = size
        self._plan = lists
        self.cast = cast
        self._orphaned: dict[str, int] = {}
        self.bulk: list[model.Task] = []
        self.conflicts: list[tuple[str, int, int]] = []
        tasks = [task for track in lists.pilot for task in track.tasks if not task.is_reserved]
        done = [task for task in tasks if task.is_done and task.id != "H.1.10"]
        rng.shuffle(done)
        self._open = [task for task in tasks if not task.is_done]
        rng.shuffle(self._open)
        near = lists.track("H").tasks
        self._done = [*done, *(task for task in near if task.id == "H.1.10")]

    def write(self, ends: dict[str, int], courses: dict[str, int]) -> None:
        self._orphaned = laws.quotas(courses["orphaned"], laws.ORPHANED_ENDS, 1)
        self._close_in_bulk()
        self._park()
        again = iter([True] * courses["orphaned_again"] + [False] * sum(ends.values()))
        for fate, count in ends.items():
            for number in range(count):
                self._open_end(fate, number, was_orphaned=fate in _LATEST and next(again))
        for fate in (model.DONE, model.ROLLBACK, model.RESURRECTED, model.FATE_ADOPTED):
            for _ in range(min(courses[fate], len(self._done))):
                self._done_end(self._done.pop(), fate)
        for _ in range(courses[model.FATE_CANCELLED]):
            self._cancel(self._open.pop())
        self._touch_deferred(self._open.pop())
        self._fill_conflicts()
        self._limit()
        self._resume()
        for track in self._plan.tracks:
            for task in track.tasks if track.project == model.MAIN else ():
                if not task.fate:
                    task.fate = model.DONE_BEFORE if task.is_done else model.NEVER_STARTED

    # Courses that end done

    def _done_end(self, task: model.Task, fate: str) -> None:
        task.fate, task.is_done, task.was_open = fate, True, True
        latest = _DONE_BY
        first = model.START + model.HOUR
        opening = model.CLAIMED
        if fate == model.ROLLBACK:
            first = self._roll_back(task)
        elif fate != model.DONE:
            latest_first = _DONE_BY - 6 * model.DAY
            gap = 2 * model.DAY if fate == model.RESURRECTED else model.HOUR
            first = self._orphan(task, latest_first) + gap
            opening = model.ADOPTED if fate == model.FATE_ADOPTED else model.CLAIMED
        session = self.cast.pick(first, latest)
        spell = self.cast.claim(task, session, latest, opening=opening)
        spell.then(model.FINISHED)
        self.cast.close(spell, model.DONE)
        task.at = spell.end

    def _roll_back(self, task: model.Task) -> int:
        session = self.cast.pick(model.START, _DONE_BY - 4 * model.DAY)
        spell = self.cast.claim(task, session, _DONE_BY - 3 * model.DAY)
        spell.then(model.FINISHED)
        self.cast.close(spell, model.ROLLBACK)
        after = spell.end + self._rng.randrange(1, 20) * model.HOUR
        where = self.cast.during(after)
        at = max(after, where.start + model.MINUTE)
        where.acts.append(model.Act(at, model.ROLLED_BACK, task.id))
        return at + model.MINUTE

    def _orphan(self, task: model.Task, latest: int) -> int:
        """A first claim that comes to nothing, in one of three ways; when it was over."""
        how = self._rng.choice((model.KILLED, model.KILLED, model.COMPACTED, _QUIET))
        session = self.cast.pick(model.START, latest, how, is_told=how == model.COMPACTED)
        spell = self._give_up(task, session, how)
        self.cast.close(spell, "orphaned")
        return session.end

    def _give_up(
        self, task: model.Task, session: model.Session, how: str, opening: str = model.CLAIMED
    ) -> casting.Spell:
        length = session.end - session.start
        if how == model.KILLED:
            session.ending = model.KILLED
            return self.cast.confined(task, session, session.end, opening=opening)
        upto = session.start + int(length * (0.35 + 0.3 * self._rng.random()))
        spell = self.cast.confined(task, session, upto, opening=opening)
        after = min(10 * model.MINUTE, length // 10)
        spell.then(model.COMPACTED if how == model.COMPACTED else model.LEFT, after)
        return spell

    # Courses that stay open

    def _open_end(self, fate: str, number: int, *, was_orphaned: bool) -> None:
        if fate == model.PARTIAL:
            if number < len(self._plan.partial):
                self._leave_half(self._plan.partial[number])
            return
        task = self._open.pop()
        task.fate = fate
        if fate == model.ACTIVE:
            self._act_now(task, number)
            return
        latest = _LATEST[fate]
        first = model.START + model.HOUR
        if was_orphaned:
            first = self._orphan(task, latest - 5 * model.DAY)
        how = _HOW.get(fate, _QUIET)
        session = self.cast.pick(first, latest, how, is_told=how != _QUIET)
        if fate in (model.DONE_UNMARKED, model.FATE_DEFERRED):
            upto = session.start + (session.end - session.start) // 2
            spell = self.cast.confined(task, session, upto)
            spell.then(model.FINISHED if fate == model.DONE_UNMARKED else model.DEFERRED)
        else:
            spell = self._give_up(task, session, how)
        if fate == model.CONFLICT_ABANDONED:
            self._conflict(task, spell)
        task.at = session.end if fate == model.DEAD_CLAIM else spell.end
        self.cast.close(spell, "orphaned" if number < self._orphaned.get(fate, 0) else "open")

    def _act_now(self, task: model.Task, number: int) -> None:
        """In a session that is still there, or that was a few hours ago."""
        live = [s for s in self.cast.sessions if s.ending == model.LIVE]
        lately = [
            s
            for s in self.cast.sessions
            if s.start > model.NOW - 19 * model.HOUR and s.ending != model.LIVE
        ]
        if number < len(live):
            session = live[number]
        else:
            session = lately[number % len(lately)]
            session.tag = _QUIET
        spell = self.cast.confined(task, session, session.end - model.MINUTE)
        task.at = spell.end
        self.cast.close(spell, "open")

    def _leave_half(self, family: list[model.Task]) -> None:
        parent, latest = family[0], _LATEST[model.PARTIAL]
        session = self.cast.pick(model.START + model.HOUR, latest, _QUIET)
        length = session.end - session.start
        spell = self.cast.confined(parent, session, session.start + int(length * 0.5))
        parts = [part for part in family if part.is_done]
        for number, part in enumerate(parts, 1):
            part.fate = model.DONE
            part.at = spell.end + number * length // (4 * len(parts) + 4)
            session.acts.append(model.Act(part.at - model.SECOND, model.WORKED, part.id))
            session.acts.append(model.Act(part.at, model.FINISHED, part.id))
        parent.fate, parent.at = model.PARTIAL, parts[-1].at
        self.cast.close(spell, "open")

    def _cancel(self, task: model.Task) -> None:
        task.fate = model.FATE_CANCELLED
        session = self.cast.pick(model.START, model.NOW - 2 * model.DAY, _QUIET)
        spell = self.cast.confined(task, session, (session.start + session.end) // 2)
        spell.then(model.CANCELLED)
        task.at = spell.end
        self.cast.close(spell, model.CANCELLED)

    def _touch_deferred(self, task: model.Task) -> None:
        """Deferred by somebody, then worked on all the same."""
        session = self.cast.pick(model.START, model.NOW - 12 * model.DAY, _QUIET)
        spell = self.cast.confined(task, session, (session.start + session.end) // 2)
        spell.then(model.DEFERRED)
        again = self.cast.pick(
            model.NOW - 5 * model.DAY, model.NOW - 20 * model.HOUR, _QUIET, is_told=True
        )
        touch = self.cast.confined(task, again, (again.start + again.end) // 2)
        touch.then(model.LEFT)
        task.fate, task.at, task.is_reserved = model.DEFERRED_TOUCHED, touch.end, True

    def _conflict(self, task: model.Task, spell: casting.Spell) -> None:
        """Another session wants it at the same time, and leaves it too."""
        at = spell.start + max(model.SECOND, (spell.end - spell.start) // 2)
        rival = self.cast.during(at, other_than=spell.first)
        rival.acts.append(model.Act(at, model.CONFLICTED, task.id))
        self.conflicts.append((task.id, rival.number, at))

    def _fill_conflicts(self) -> None:
        """Most warnings about conflicts stay pending although the task was done since."""
        wanted = self._size.of(CONFLICTS, 4) - len(self.conflicts)
        done = [claim for claim in self.cast.claims if claim.outcome == model.DONE]
        holders = {session.number: session for session in self.cast.sessions}
        for claim in self._rng.sample(done, max(0, min(wanted, len(done)))):
            at = claim.start + model.SECOND
            rival = self.cast.during(at, other_than=holders[claim.session])
            rival.acts.append(model.Act(at, model.CONFLICTED, claim.task))
            self.conflicts.append((claim.task, rival.number, at))

    # What is done to many at once

    def _close_in_bulk(self) -> None:
        in_j = [task for task in self._done if task.track == "J"]
        for task in in_j[: self._size.of(_BULK, 6)]:
            self._done.remove(task)
            task.fate, task.was_open = model.BULK_CLOSED, True
            task.at = model.START + 20 * model.DAY
            self.bulk.append(task)

    def _park(self) -> None:
        """Two tracks on which nobody has worked for a month; one in small letters is at work."""
        for code in PARKED_TRACKS:
            for task in self._plan.track(code).tasks[:_PARKED_EACH]:
                session = self.cast.pick(model.START, model.START + 9 * model.DAY, _QUIET)
                spell = self.cast.confined(task, session, (session.start + session.end) // 2)
                spell.then(model.LEFT)
                task.fate, task.at = model.PARKED, spell.end
        self._open.append(self._plan.track("AA").tasks[0])
        self._open_end(model.STALE, 0, was_orphaned=False)

    def _limit(self) -> None:
        """Some sessions that leave nothing open are ended by a usage limit."""
        free = [s for s in self.cast.sessions if not s.tag and s.ending == model.AT_REST]
        told = [s for s in free if s.vendor == model.CLAUDE and not s.is_reserved]
        for session in self._rng.sample(told, min(len(told) // 2, self._size.of(40, 1))):
            session.ending = model.LIMITED

    def _resume(self) -> None:
        """Some sessions begin with the records of another one."""
        told = [s for s in self.cast.sessions if s.vendor == model.CLAUDE and s.messages > 30]
        wanted = self._size.of(30, 1)
        for number in self._rng.sample(range(1, len(told)), len(told) - 1):
            near = [s for s in told[max(0, number - 40) : number] if not s.tag]
            before = [s for s in near if s.end < told[number].start]
            if before and wanted:
                told[number].resumes = before[-1].number
                wanted -= 1


def _pause(rng: random.Random, lists: plan.Plan, cast: casting.Cast, size: model.Size) -> None:
    """The other project: everybody left what they had at once, and nobody came back."""
    tasks: Iterator[model.Task] = iter(lists.track("H", model.SECOND_PROJECT).tasks)
    for number, task in enumerate(tasks):
        task.fate = model.NEVER_STARTED
        if number < size.of(50, 6):
            session = cast.sessions[number % len(cast.sessions)]
            upto = session.start + int((session.end - session.start) * (0.3 + 0.6 * rng.random()))
            spell = cast.confined(task, session, upto)
            spell.then(model.LEFT)
            task.fate, task.at = model.PARKED, spell.end
            cast.close(spell, "open")
