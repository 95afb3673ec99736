"""Who does what when: claims put into sessions, as acts. Pure, given a source of chance."""

from __future__ import annotations

import bisect
import math
import random
from collections.abc import Iterable

from tether.bench.workload import laws, model
from tether.hints import NamedTuple

_TRANSCRIBED = (model.CLAUDE, model.CODEX)
_TRIES = 60
_MANY_BURSTS = 9


class Spell(NamedTuple):
    """A claim with the work on it."""

    task: model.Task
    first: model.Session
    last: model.Session
    start: int
    end: int

    def then(self, what: str, after: int = model.SECOND) -> None:
        """What its last session does next with the task."""
        self.last.acts.append(model.Act(self.end + after, what, self.task.id))


class Cast:
    """The sessions of a project, with what each has been given to do."""

    def __init__(self, rng: random.Random, sessions: Iterable[model.Session]) -> None:
        self._rng = rng
        self.sessions = sorted(sessions, key=lambda each: (each.start, each.number))
        self._starts = [each.start for each in self.sessions]
        self.claims: list[model.Claim] = []

    def pick(self, first: int, last: int, tag: str = "", *, is_told: bool = False) -> model.Session:
        """A session within this time that may end in this way; with a transcript if `is_told`."""
        low = bisect.bisect_left(self._starts, first)
        high = max(low + 1, bisect.bisect_left(self._starts, last))
        best = None
        for _ in range(_TRIES):
            session = self.sessions[min(len(self.sessions) - 1, self._rng.randrange(low, high))]
            if not self._is_fit(session, last, tag, is_told=is_told):
                continue
            best = session
            if len(session.acts) <= 2 + session.messages // 14:
                break
        if best is None:
            fit = (s for s in self.sessions if self._is_fit(s, last, tag, is_told=is_told))
            best = min(fit, key=lambda each: abs(each.start - first))
        if tag:
            best.tag = tag
        return best

    def claim(
        self, task: model.Task, session: model.Session, latest: int, *, opening: str = model.CLAIMED
    ) -> Spell:
        """Claim a task and work on it for as long as claims last, in later sessions too."""
        rng = self._rng
        start = session.start + int((0.03 + 0.6 * rng.random()) * (session.end - session.start))
        end = min(start + laws.claim_ms(rng), max(latest, start + model.MINUTE))
        return self._bursts(task, session, start, end, opening)

    def confined(
        self, task: model.Task, session: model.Session, upto: int, *, opening: str = model.CLAIMED
    ) -> Spell:
        """Claim a task and work on it within one session, until a moment of it."""
        length = upto - session.start
        lasting = min(laws.claim_ms(self._rng), int(length * 0.7))
        start = upto - max(lasting, min(5 * model.MINUTE, length // 2))
        return self._bursts(task, session, start, upto, opening)

    def close(self, spell: Spell, outcome: str) -> None:
        """Note how a claim ended."""
        task = spell.task
        self.claims.append(
            model.Claim(task.id, task.project, spell.first.number, spell.start, spell.end, outcome)
        )

    def during(self, at: int, other_than: model.Session | None = None) -> model.Session:
        """A session that is running then, or the next one to begin."""
        before = bisect.bisect_right(self._starts, at)
        for number in range(before - 1, max(-1, before - 40), -1):
            session = self.sessions[number]
            is_fit = session.tag != model.KILLED and session is not other_than
            if is_fit and session.end > at + model.MINUTE:
                return session
        return self.sessions[min(before, len(self.sessions) - 1)]

    def _bursts(
        self, task: model.Task, session: model.Session, start: int, end: int, opening: str
    ) -> Spell:
        session.acts.append(model.Act(start, opening, task.id))
        lasting = max(model.MINUTE, end - start)
        count = 1 + min(_MANY_BURSTS, int(math.log2(1 + lasting / (10 * model.MINUTE))))
        times = sorted(start + int(lasting * self._rng.random() ** 1.5) for _ in range(count))
        where, at = session, start
        for wanted in [*times[:-1], end]:
            where = session if wanted <= session.end else self.during(wanted)
            at = max(wanted, where.start + model.MINUTE)
            where.acts.append(model.Act(at, model.WORKED, task.id))
        return Spell(task, session, where, start, at)

    @staticmethod
    def _is_fit(session: model.Session, last: int, tag: str, *, is_told: bool) -> bool:
        if session.is_reserved or session.end > last or session.ending == model.LIVE:
            return False
        if is_told and session.vendor not in _TRANSCRIBED:
            return False
        return session.tag in ("", tag) if tag else session.tag != model.KILLED
