"""What is given out next. Pure.

What must be validated again comes first, and until that is over nothing else begins. Then work that
was interrupted, then audits, because they free what waits for them, then new work. A question holds
up its own task and what depends on it, nothing else.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from tether.agents import paths
from tether.coordinator.state import AUDITOR, DEVELOPER, Outlook, State
from tether.tasks import model as tasks


class Offer(NamedTuple):
    """A task, and what for it is given out."""

    type: str
    task_id: str


def is_giving_out(state: State) -> bool:
    """May new work begin?"""
    return not (
        state.ended
        or state.paused_at
        or state.is_compacting
        or state.assignments_paused_at
        or state.pause_requested
    )


def choose(
    state: State,
    outlook: Outlook,
    weights: Mapping[str, int],
    slots: int,
    held: Collection[str] = (),
) -> list[Offer]:
    """What to give out now: as many as there are slots, for workers and auditors together."""
    free = slots - len(state.active_agents)
    if free <= 0 or not is_giving_out(state):
        return []
    looked_at = {a.task_id for a in state.active_agents.values() if a.type == AUDITOR}
    if state.pending_validation:
        again = [each for each in state.pending_validation if each not in looked_at]
        return [Offer(AUDITOR, each) for each in again][:free]
    waiting = state.waiting()
    audits = [e for e in state.pending_audit if e not in looked_at and e not in waiting]
    urgent = by_urgency(state, outlook, weights, held)
    # Those that were interrupted come first, also where others want the same paths.
    urgent.sort(key=lambda each: each not in state.restored)
    ready = list(itertools.islice(_apart(urgent, state, outlook), free))
    offers = [Offer(DEVELOPER, each) for each in ready if each in state.restored]
    offers += [Offer(AUDITOR, each) for each in audits]
    offers += [Offer(DEVELOPER, each) for each in ready if each not in state.restored]
    return offers[:free]


def _apart(ready: Iterable[str], state: State, outlook: Outlook) -> Iterator[str]:
    """Those that touch no path of each other, or of what is being worked on."""
    taken = locked_files(state, outlook)
    for task_id in ready:
        wanted = outlook.tasks[task_id].files
        if not any(paths.overlap(one, other) for one in wanted for other in taken):
            taken += wanted
            yield task_id


def by_urgency(
    state: State, outlook: Outlook, weights: Mapping[str, int], held: Collection[str] = ()
) -> list[str]:
    """What a worker could begin: what most depends on first, then by priority, then as written."""
    order = {task_id: number for number, task_id in enumerate(outlook.tasks)}
    waiting = state.waiting()
    ready = [each for each in state.available if each not in waiting and each not in held]
    return sorted(
        ready,
        key=lambda each: (
            -weights.get(each, 0),
            tasks.rank(outlook.tasks[each].priority),
            order[each],
        ),
    )


def locked_files(state: State, outlook: Outlook) -> list[str]:
    """The paths of tasks that are being worked on, until their audit has passed."""
    return [
        path
        for task_id in (*state.in_progress, *state.pending_audit)
        if task_id in outlook.tasks
        for path in outlook.tasks[task_id].files
    ]


def is_stuck(state: State) -> bool:
    """Can nothing of the run go on any more, with nobody to wait for?"""
    return not (
        state.active_agents
        or state.pending_validation
        or state.pending_audit
        or state.available
        or state.open_questions
    )


def is_complete(state: State) -> bool:
    """Is everything completed, and validated as far as it must be?"""
    rest = (
        state.active_agents,
        state.pending_validation,
        state.pending_audit,
        state.in_progress,
        state.available,
        state.blocked,
        state.failed,
    )
    return not any(rest)
