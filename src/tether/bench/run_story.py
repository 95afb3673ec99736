"""The log of a run that went on for weeks, made up event by event.

The run's own state decides what may happen next, so every event counts when it is replayed. The
same numbers give the same story.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator, Sequence

from tether import clock
from tether.coordinator import applying, documents, judging
from tether.coordinator.limits import Limits
from tether.coordinator.plans import model, reading
from tether.coordinator.state import AUDITOR, DEVELOPER, ActiveAgent, Outlook, State
from tether.hints import Any, NamedTuple
from tether.store import events, run_events
from tether.store.events import EventType

SLOTS = 10
DONE_SHARE = 0.9
"""How many of the tasks are completed at the end, if there are enough events for that."""
_GAP_MS = 20_000
_OPEN_QUESTIONS = 5
_LIMITS = Limits()
_SAID = (
    "The reader is done and tested; left: the times across midnight, and a line in the log.",
    "Found why readings come twice: the line answers late. Wrote a test that shows it, it fails.",
    "Everything passes but for two old stations, whose clocks are an hour off. Looking at these.",
)
Happening = tuple[EventType, dict[str, Any]]


class Cast(NamedTuple):
    """What a story is about."""

    run: str
    plans: tuple[model.Plan, model.Plan]
    """The plan as it was, and as it is since the middle of the story."""
    commits: Sequence[str]
    """What the tasks were completed with, one after the other."""


class Story:
    """One run, while its log is made up."""

    def __init__(self, cast: Cast, count: int, first_id: int, end_ms: int) -> None:
        self.rows: list[dict[str, object]] = []
        """Events of the run, and of the sessions and claims of its agents."""
        self.snapshots: dict[int, bytes] = {}
        """The state as it was saved, by the number of events before it."""
        self._cast = cast
        self._count = count
        self._next_id = first_id
        self._end_ms = end_ms
        self._rng = random.Random(f"run {cast.run}")  # noqa: S311 (chance that can be repeated)
        self._outlooks = {reading.digest(each): Outlook(each) for each in cast.plans}
        self._fold = applying.Fold(State(cast.run), self._outlooks.__getitem__)
        self._told = 0
        self._asked: dict[int, str] = {}

    @property
    def state(self) -> State:
        return self._fold.state

    def tell(self, saved_behind: Sequence[int]) -> None:
        """Make it all up; the state is saved so many events before the end."""
        saved = {self._count - each for each in saved_behind}
        for kind, data in itertools.islice(self._happenings(), self._count):
            self._write(kind, data)
            if self._told in saved:
                self.snapshots[self._told] = documents.encode(
                    self.state, session_id=self._session, saved_at=self._now, reason="progress"
                )

    @property
    def _session(self) -> str:
        return f"run-{self._cast.run}.coordinator"

    @property
    def _now(self) -> str:
        return clock.text(self._end_ms - (self._count - self._told) * _GAP_MS)

    # Writing

    def _write(self, kind: EventType, data: dict[str, Any]) -> None:
        self._told += 1
        event = self._row(kind, data, self._session, self._cast.run)
        self._fold.apply(event)
        if kind is run_events.AGENT_SEEKS_GUIDANCE:
            self._asked[event.id] = str(data["task_id"])
        if kind in (run_events.DEVELOPER_DISPATCHED, run_events.AUDITOR_DISPATCHED):
            taken = {"epoch": 1, "paths": [], "head": self._cast.commits[0]}
            self._row(events.AGENT_REGISTERED, _REGISTERED, data["agent_id"], None, data["task_id"])
            self._row(events.CLAIM_TAKEN, taken, data["agent_id"], None, data["task_id"])
        elif kind in _ENDS and data["agent_id"]:
            closed = {"epoch": 1, "outcome": "released", "by": data["agent_id"]}
            self._row(events.CLAIM_CLOSED, closed, data["agent_id"], None, data["task_id"])
            self._row(events.AGENT_ENDED, {"released": []}, data["agent_id"], None, data["task_id"])

    def _row(
        self,
        kind: EventType,
        data: dict[str, Any],
        session: str,
        run: str | None,
        task: str | None = None,
    ) -> events.Event:
        if set(data) != set(kind.fields):
            raise ValueError(f"{kind.name} has the fields {kind.fields}, not {sorted(data)}")
        task = task or data.get("task_id")
        event = events.Event(
            self._next_id,
            self._now,
            kind.name,
            f"coordinator-{self._cast.run}",
            session,
            self._cast.run if task else None,
            task,
            run,
            data,
        )
        self._next_id += 1
        self.rows.append({**event._asdict(), "data": json.dumps(data, sort_keys=True)})
        return event

    # What happens

    def _happenings(self) -> Iterator[Happening]:
        old, new = (reading.digest(each) for each in self._cast.plans)
        plan = self._cast.plans[0]
        began = {"plan_file": plan.file, "total_tasks": len(plan.tasks), "base": None}
        yield run_events.SESSION_START, {**began, "plan_digest": old}
        while self._told < self._count // 2:
            yield from self._step()
        changed = {"added": [], "removed": [], "changed": [plan.tasks[-1].id]}
        yield run_events.PLAN_CHANGED, {"plan_digest": new, "criteria_changed": [], **changed}
        while True:
            yield from self._step()

    def _step(self) -> Iterator[Happening]:
        """Everybody has something to do; they settle it at the pace that leads to the goal."""
        state = self.state
        goal = DONE_SHARE * len(self._fold.outlook.tasks)
        if len(self._asked) > _OPEN_QUESTIONS:
            yield self._answer()
        elif len(state.active_agents) < SLOTS and (offer := self._offer()):
            yield offer
        elif len(state.completed) * self._count >= goal * self._told:
            yield from self._meanwhile()
        elif state.active_agents:
            yield from self._settle(self._rng.choice(list(state.active_agents)))
        else:
            yield self._answer() if self._asked else self._usage()

    def _offer(self) -> Happening | None:
        state, waiting = self.state, set(self._asked.values())
        taken = {each.task_id for each in state.active_agents.values()}
        named: dict[str, Any] = {"agent_id": f"agent-{self._cast.run}-{self._next_id:07d}"}
        for task_id in state.pending_audit:
            if task_id not in taken and task_id not in waiting:
                files = list(self._fold.outlook.tasks[task_id].files)
                named |= {"task_id": task_id, "files_to_audit": files}
                return run_events.AUDITOR_DISPATCHED, named
        for task_id in state.available:
            if task_id not in waiting:
                blockers = list(self._fold.outlook.tasks[task_id].blocked_by)
                is_known = task_id in state.tallies
                named |= {"task_id": task_id, "blocked_by": blockers, "resumed": is_known}
                return run_events.DEVELOPER_DISPATCHED, named
        return None

    def _settle(self, agent_id: str) -> Iterator[Happening]:
        agent = self.state.active_agents[agent_id]
        endings, weights = _ENDINGS[agent.type]
        [ending] = self._rng.choices(endings, weights)
        named = {"task_id": agent.task_id, "agent_id": agent_id}
        yield ending.kind, {**named, **ending.data(self, agent)}
        why = judging.is_once_too_often(self.state, agent.task_id, _LIMITS)
        if why and self.state.position(agent.task_id) in ("available", "blocked", "pending_audit"):
            failed = {"task_id": agent.task_id, "failures": 3, "reason": why}
            yield run_events.TASK_FAILED, failed
            yield self._question(agent.task_id, "", f"{agent.task_id} stopped: {why}. Try again?")

    def _meanwhile(self) -> Iterator[Happening]:
        """What happens while everybody is at work."""
        chance, state = self._rng.random(), self.state
        workers = [k for k, each in state.active_agents.items() if each.type == DEVELOPER]
        who = self._rng.choice(workers) if workers else ""
        named = {"task_id": state.active_agents[who].task_id if who else "", "agent_id": who}
        if chance < 0.002 and state.completed:
            yield from self._pause()
        elif chance < 0.01:
            number = {"compaction_number": state.compaction_count + 1}
            yield run_events.COMPACTION_START, {**number, "context_remaining": 9}
            yield run_events.COMPACTION_COMPLETE, {**number, "full_reload": False}
        elif chance < 0.03 and self._asked:
            yield self._answer()
        elif chance < 0.05 and who and len(self._asked) < _OPEN_QUESTIONS:
            yield self._question(str(named["task_id"]), who, "Should old readings be kept?")
        elif chance < 0.12 or not who:
            yield self._usage()
        elif chance < 0.2:
            yield run_events.CHECKPOINT_REQUESTED, named
        else:
            said = {"status": "implementing", "checkpoint": self._rng.choice(_SAID)}
            yield run_events.DEVELOPER_CHECKPOINT, {**named, **said}

    def _pause(self) -> Iterator[Happening]:
        """A pause ends everybody; what was completed last is looked at again."""
        state = self.state
        reason = {"reason": "usage_limit", "remaining_percent": 9, "resets_at": None}
        yield run_events.SESSION_PAUSE, reason
        for agent_id, agent in list(state.active_agents.items()):
            yield (
                run_events.TASK_RESTARTED_ON_RESUME,
                {
                    "task_id": agent.task_id,
                    "agent_id": agent_id,
                    "previous_status": agent.type,
                    "reason": "the run paused",
                },
            )
        number = state.session_resume_count + 1
        yield run_events.SESSION_RESUME, {"resume_count": number, "tasks_to_revalidate": 1}
        task_id = next(reversed(state.completed))
        at = {"completed_at": state.completed[task_id].completed_at}
        named = {"task_id": task_id}
        minutes = {"time_since_completion_minutes": 5}
        yield run_events.TASK_REVERIFICATION_REQUIRED, {**named, **at, **minutes}
        evidence = {"agent_id": "", "evidence_summary": "1 command succeeded"}
        yield run_events.TASK_REVERIFIED, {**named, **evidence}

    def _question(self, task_id: str, agent_id: str, question: str) -> Happening:
        said = {"question": question, "options": ["retry", "skip"], "context": ""}
        return (
            run_events.AGENT_SEEKS_GUIDANCE,
            {"task_id": task_id, "agent_id": agent_id or None, **said},
        )

    def _answer(self) -> Happening:
        number, task_id = next(iter(self._asked.items()))
        del self._asked[number]
        said = {"question": number, "task_id": task_id, "response": "retry"}
        return run_events.DIVINE_RESPONSE_RECEIVED, said

    def _usage(self) -> Happening:
        left = self._rng.randrange(20, 100)
        usage = {"utilisation": 100 - left, "remaining": left, "resets_at": None}
        return run_events.USAGE_CHECK, usage

    def _completion(self, _: ActiveAgent) -> dict[str, Any]:
        sha = self._cast.commits[len(self.state.completed)]
        return {"evidence_summary": "1 command succeeded", "commit_sha": sha, "branch": None}

    def _attempt(self, agent: ActiveAgent) -> int:
        return self.state.tally(agent.task_id).attempts


class _Ending(NamedTuple):
    """How the work of an agent may end."""

    kind: EventType
    weight: int
    data: Callable[[Story, ActiveAgent], dict[str, Any]]


_OF_DEVELOPERS = (
    _Ending(run_events.DEVELOPER_READY_FOR_REVIEW, 88, lambda *_: {"files_modified": []}),
    _Ending(
        run_events.DEVELOPER_INCOMPLETE,
        5,
        lambda story, agent: {
            "blocker": "worker ended with status 1\nAssertionError: 12 != 13",
            "attempt_number": story._attempt(agent),
            "escalate": False,
        },
    ),
    _Ending(
        run_events.AGENT_TIMEOUT,
        3,
        lambda story, agent: {
            "timeout_ms": _LIMITS.worker_ms,
            "attempt_number": story._attempt(agent),
        },
    ),
    _Ending(run_events.AGENT_STALLED, 2, lambda *_: {"missed_checkpoints": 3}),
    _Ending(run_events.ORPHAN_AGENT_DETECTED, 2, lambda *_: {"type": DEVELOPER}),
)
_OF_AUDITORS = (
    _Ending(
        run_events.TASK_COMPLETE,
        92,
        lambda story, agent: story._completion(agent),
    ),
    _Ending(
        run_events.AUDITOR_FAIL,
        8,
        lambda *_: {
            "failures": "criterion 1 ended with status 1",
            "required_fixes": "criterion 1 ended with status 1\nAssertionError: 12 != 13",
        },
    ),
)
_ENDINGS = {
    kind: (endings, [each.weight for each in endings])
    for kind, endings in ((DEVELOPER, _OF_DEVELOPERS), (AUDITOR, _OF_AUDITORS))
}
_ENDS = {each.kind for endings, _ in _ENDINGS.values() for each in endings}
_REGISTERED = {"kind": "other", "parent": None, "pid": None}
