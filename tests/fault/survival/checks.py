"""What must be true of a run when it is over, whatever was done to it. Pure, but for the copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from tether.coordinator import applying, documents, integrity
from tether.coordinator.state import COMPLETE, State
from tether.store import events

Document = dict[str, Any]
DEVELOPER_ENDS = (
    "developer_ready_for_review",
    "developer_incomplete",
    "agent_timeout",
    "agent_stalled",
    "orphan_agent_detected",
    "task_restarted_on_resume",
)
AUDITOR_ENDS = (
    "task_complete",
    "auditor_fail",
    "task_reverified",
    "agent_timeout",
    "orphan_agent_detected",
    "task_restarted_on_resume",
)


class Evidence(NamedTuple):
    """What a run has left."""

    run: str
    events: list[events.Event]
    load_plan: applying.LoadPlan
    snapshots: list[Document]
    """Those that were found on the way, and the last one at the end."""
    ledger: dict[str, list[str]]
    """The agents that began to work on each task."""
    collisions: list[str]
    """Agents that met another one at work on their task."""
    unmet: list[str]
    """Tasks whose acceptance command does not succeed."""
    open_claims: list[str]
    processes: list[int]
    """What is still alive of its jobs."""


def faults(found: Evidence) -> list[str]:
    """Everything that is wrong with a run that is over."""
    return [
        *completed_once(found.events, found.ledger),
        *ended_once(found.events),
        *orphaned_once(found.events),
        *replayed(found),
        *began_once(found),
        *(f"two at once: {each}" for each in found.collisions),
        *(f"not satisfied: {each}" for each in found.unmet),
        *(f"still claimed: {each}" for each in found.open_claims),
        *(f"still alive: {each}" for each in found.processes),
    ]


def completed_once(log: Iterable[events.Event], tasks: Iterable[str]) -> list[str]:
    """Every task is completed, and none twice: a failed re-validation would take one back."""
    said: Counter[str] = Counter()
    now: Counter[str] = Counter()
    found = []
    for event in log:
        task_id = str(event.data.get("task_id"))
        if event.type == "task_complete":
            said[task_id] += 1
            now[task_id] += 1
            if now[task_id] > 1:
                found.append(f"{task_id} was completed when it was completed ({event.id})")
        elif event.type == "auditor_fail" and now[task_id]:
            now[task_id] -= 1
    # Nothing that these workers made ever goes away again.
    return found + [f"{each} was completed {said[each]} times" for each in tasks if said[each] != 1]


def ended_once(log: Iterable[events.Event]) -> list[str]:
    """Whoever was given a task came to one end."""
    log = list(log)
    found = []
    for given, ends in (
        ("developer_dispatched", DEVELOPER_ENDS),
        ("auditor_dispatched", AUDITOR_ENDS),
    ):
        count = Counter(str(e.data.get("agent_id")) for e in log if e.type in ends)
        for event in log:
            agent_id = str(event.data.get("agent_id"))
            if event.type == given and count[agent_id] != 1:
                found.append(f"{agent_id} came to {count[agent_id]} ends")
    return found


def orphaned_once(log: Iterable[events.Event]) -> list[str]:
    """Nobody's task was put back twice."""
    count = Counter(str(e.data["agent_id"]) for e in log if e.type == "orphan_agent_detected")
    return [f"{agent_id} was put back {n} times" for agent_id, n in count.items() if n > 1]


def replayed(found: Evidence) -> list[str]:
    """From nothing, the log leads through every snapshot to the end, and never loses a task."""
    wrong: list[str] = []
    fold = fresh(found.run, found.load_plan)
    expected = {doc["last_applied_event"]: doc for doc in found.snapshots}
    for event in found.events:
        fold.apply(event)
        if fold.state.plan_digest:
            wrong += [f"after event {event.id}: {each}" for each in whole(fold)]
        snapshot = expected.pop(event.id, None)
        if snapshot is not None:
            wrong += [f"event {event.id}: {each}" for each in differences(fold.state, snapshot)]
    wrong += [f"there is no event {each} of a snapshot" for each in expected]
    if fold.state.ended != COMPLETE:
        wrong.append(f"the run has not ended: {fold.state.counts()}")
    last = found.snapshots[-1]["last_applied_event"] if found.snapshots else 0
    if last != fold.state.last_applied_event:
        wrong.append("the last snapshot is not of the end")
    return wrong


def whole(fold: applying.Fold) -> list[str]:
    """What is wrong with a state by itself: a task in no position, or in two."""
    return integrity.problems(fold.state, fold.outlook)


def differences(state: State, snapshot: Document) -> list[str]:
    """What a snapshot says that the state does not."""
    plain = documents.plain(state)
    return [
        f"{name} differs from the snapshot"
        for name in plain.keys() | snapshot.keys()
        if plain.get(name) != snapshot.get(name)
    ]


def began_once(found: Evidence) -> list[str]:
    """Only those who were given a task worked on it, and each began once."""
    given = {
        str(event.data["agent_id"]): str(event.data["task_id"])
        for event in found.events
        if event.type == "developer_dispatched"
    }
    wrong = []
    for task_id, agents in found.ledger.items():
        wrong += [f"{a} worked on {task_id} unasked" for a in agents if given.get(a) != task_id]
        wrong += [f"{a} began {n} times" for a, n in Counter(agents).items() if n > 1]
    return wrong


def fresh(run: str, load_plan: applying.LoadPlan) -> applying.Fold:
    """A state that knows nothing yet."""
    return applying.Fold(State(run), load_plan)
