"""What holds for a run whatever happens in it, whether that could happen or not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import hypothesis
import pytest
from hypothesis import strategies as st

from tests import scale
from tests.ledger import RUN, Ledger, plan, task
from tether.coordinator import applying, choosing, documents, integrity
from tether.coordinator.plans import graph, model
from tether.coordinator.state import DEVELOPER, ActiveAgent, State
from tether.store import events, run_events
from tether.store.events import EventType

many = hypothesis.settings(max_examples=scale.count(10_000, 100))
control = hypothesis.settings(
    max_examples=5_000,
    database=None,
    derandomize=True,
    report_multiple_bugs=False,
    phases=[hypothesis.Phase.generate],  # that it is found is enough
)

TASKS = [f"T{number}" for number in range(6)]
AGENTS = tuple(f"a{number}" for number in range(5))
STRANGE = ["T9", ""]
ANSWERS = ["retry", "skip", "complete", "accept", "keep", "Use the old one."]
# What is told more often, so that runs get somewhere.
OFTEN = [
    *[run_events.DEVELOPER_DISPATCHED] * 6,
    *[run_events.DEVELOPER_READY_FOR_REVIEW] * 4,
    *[run_events.AUDITOR_DISPATCHED] * 3,
    *[run_events.TASK_COMPLETE] * 3,
    *[run_events.AUDITOR_FAIL] * 2,
    *[run_events.TASK_REVERIFICATION_REQUIRED] * 2,
    *[run_events.TASK_FAILED] * 2,
    *[run_events.ORPHAN_AGENT_DETECTED] * 3,
]
# The state that it carries would have to be one of this run; the contract tests have it.
KINDS = [kind for kind in run_events.TYPES if kind is not run_events.STATE_CHECKPOINT]
Told = tuple[str, int, dict[str, Any]]


class Story(NamedTuple):
    """Some versions of a plan, and what is told about it; the number chooses a version."""

    plans: tuple[model.Plan, ...]
    told: tuple[Told, ...]


@st.composite
def versions(draw: st.DrawFn) -> model.Plan:
    """A plan without cycles: a task waits only for those before it, in some order."""
    chosen = draw(st.lists(st.sampled_from(TASKS), min_size=1, max_size=6, unique=True))
    waits = [
        draw(st.lists(st.sampled_from(chosen[:n]), max_size=3)) if n else []
        for n in range(len(chosen))
    ]
    return plan(
        *(task(name, *dict.fromkeys(each)) for name, each in zip(chosen, waits, strict=True))
    )


@st.composite
def things(
    draw: st.DrawFn,
    kinds: tuple[EventType, ...] = (*KINDS, *OFTEN),
    agents: tuple[str, ...] = AGENTS,
) -> Told:
    """One event, about anybody and anything."""
    kind = draw(st.sampled_from(kinds))
    said: dict[str, Any] = {
        "task_id": draw(st.sampled_from([*TASKS, *TASKS, *STRANGE])),
        "agent_id": draw(st.sampled_from(agents)),
        "question": draw(st.integers(1, 12)),
        "response": draw(st.sampled_from(ANSWERS)),
        "resumed": draw(st.booleans()),
        "compaction_number": draw(st.integers(0, 9)),
    }
    if kind is run_events.TASK_COMPLETE and draw(st.booleans()):
        said["agent_id"] = None
    if kind is run_events.AGENT_SEEKS_GUIDANCE:
        said["question"] = "Which?"
        said["agent_id"] = draw(st.sampled_from([None, *AGENTS]))
    return kind.name, draw(st.integers(0, 9)), {k: v for k, v in said.items() if k in kind.fields}


def stories_of(told: st.SearchStrategy[Told]) -> st.SearchStrategy[Story]:
    return st.builds(
        Story,
        st.lists(versions(), min_size=1, max_size=3).map(tuple),
        st.lists(told, max_size=40).map(tuple),
    )


stories = stories_of(things())
BY_NAME = {kind.name: kind for kind in run_events.TYPES}


def ledger_of(story: Story, check: Callable[[Ledger], None] = lambda _: None) -> Ledger:
    """What the story comes to, looked at after each event."""
    ledger = Ledger(*story.plans)
    digests = list(ledger.plans)
    for name, number, said in story.told:
        kind = BY_NAME[name]
        more = (
            {"plan_digest": digests[number % len(digests)]} if "plan_digest" in kind.fields else {}
        )
        ledger.tell(kind, **said, **more)
        check(ledger)
    return ledger


def complaints(state: State, ledger: Ledger) -> list[str]:
    """What must never be so."""
    outlook = ledger.fold.outlook
    found = integrity.problems(state, outlook)
    known = [*TASKS, *STRANGE]
    positions = {name: _positions(state, name) for name in known}
    found += [f"{name} is in {each}" for name, each in positions.items() if len(each) > 1]
    found += [f"{name} came from nowhere" for name in STRANGE if positions[name]]
    found += [f"{name} is lost" for name in outlook.tasks if not positions[name]]
    at_work = [a.task_id for a in state.active_agents.values() if a.type == DEVELOPER]
    if sorted(at_work) != sorted(state.in_progress):
        found.append(f"workers have {at_work}, in progress are {list(state.in_progress)}")
    found += [f"{t} waits for nothing" for t, each in state.blocked.items() if not each]
    found += [f"{t} is not in the plan" for t in state.available if t not in outlook.tasks]
    found += [f"{t} is validated" for t in state.pending_validation if t not in state.completed]
    return found


def _positions(state: State, task_id: str) -> list[str]:
    places = ("completed", "in_progress", "pending_audit", "available", "blocked", "failed")
    return [name for name in (*places, "removed") if task_id in getattr(state, name)]


def check_all(story: Story) -> None:
    def check(ledger: Ledger) -> None:
        assert complaints(ledger.state, ledger) == []

    ledger_of(story, check)


# The properties


@many
@hypothesis.given(stories)
def test_every_task_is_in_one_position_and_every_worker_has_one(story: Story) -> None:
    check_all(story)


@many
@hypothesis.given(stories, st.data())
def test_any_event_twice_is_the_event_once(story: Story, data: st.DataObject) -> None:
    ledger = ledger_of(story)
    before = copy.deepcopy(ledger.state)
    again = data.draw(st.lists(st.sampled_from(ledger.log), max_size=10))
    assert not any(ledger.fold.apply(event) for event in again)
    assert ledger.state == before


@many
@hypothesis.given(stories, st.data())
def test_a_snapshot_and_the_rest_of_the_log_are_the_whole_log(
    story: Story, data: st.DataObject
) -> None:
    ledger = ledger_of(story)
    cut = data.draw(st.integers(0, len(ledger.log)))
    first = ledger.empty()
    apply_all(first, ledger.log[:cut])
    raw = documents.encode(first.state, session_id="s", saved_at="now", reason="test")
    then = ledger.empty(documents.decode(raw, RUN)[0])
    # From anywhere before the cut: what the snapshot has already does not count again.
    apply_all(then, ledger.log[data.draw(st.integers(0, cut)) :])
    assert then.state == ledger.state


@many
@hypothesis.given(stories)
def test_a_state_is_its_document(story: Story) -> None:
    state = ledger_of(story).state
    raw = documents.encode(state, session_id="s", saved_at="now", reason="test")
    assert documents.decode(raw, RUN)[0] == state
    assert documents.state_of(documents.plain(state), RUN) == state


@many
@hypothesis.given(stories, st.integers(0, 7))
def test_what_is_chosen_can_be_given_out(story: Story, slots: int) -> None:
    ledger = ledger_of(story)
    state, outlook = ledger.state, ledger.fold.outlook
    weights = graph.dependent_counts(graph.graph(outlook.plan.tasks))
    offers = choosing.choose(state, outlook, weights, slots)
    assert len(offers) <= max(0, slots - len(state.active_agents))
    assert len({offer.task_id for offer in offers}) == len(offers)
    for offer in offers:
        kind = "work" if offer.type == DEVELOPER else "audit"
        getattr(ledger, kind)(offer.task_id, f"new-{offer.task_id}")
        assert ledger.state.active_agents[f"new-{offer.task_id}"].task_id == offer.task_id


def apply_all(fold: applying.Fold, log: list[events.Event]) -> None:
    for event in log:
        fold.apply(event)


# The controls: handlers without their guard


def dispatch_anything(fold: applying.Fold, event: events.Event) -> None:
    task_id, agent_id = str(event.data["task_id"]), str(event.data["agent_id"])
    fold.state.in_progress[task_id] = agent_id
    fold.state.active_agents[agent_id] = ActiveAgent(DEVELOPER, task_id, event.at)


def ready_whoever(fold: applying.Fold, event: events.Event) -> None:
    fold.state.take_out(str(event.data["task_id"]))
    fold.state.pending_audit[str(event.data["task_id"])] = None


def orphan_like_the_seed(fold: applying.Fold, event: events.Event) -> None:
    """Contradiction 2 of the seed: available, and still in progress."""
    agent = fold.state.active_agents.pop(str(event.data["agent_id"]), None)
    if agent is not None:
        fold.state.available[agent.task_id] = None


def complete_without_unblocking(fold: applying.Fold, event: events.Event) -> None:
    """Contradiction 4 of the seed."""
    dependents, fold.outlook.dependents = fold.outlook.dependents, {}
    try:
        applying._task_complete(fold, event)
    finally:
        fold.outlook.dependents = dependents


CONTROLS = {
    "developer_dispatched": dispatch_anything,
    "developer_ready_for_review": ready_whoever,
    "orphan_agent_detected": orphan_like_the_seed,
    "task_complete": complete_without_unblocking,
}


@pytest.mark.parametrize("name", CONTROLS)
def test_a_handler_without_its_guard_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(applying._HANDLERS, name, CONTROLS[name])
    # Few agents who do little else, so that it does not take thousands of stories.
    kinds = (run_events.DEVELOPER_DISPATCHED, run_events.DEVELOPER_READY_FOR_REVIEW, BY_NAME[name])
    check = control(hypothesis.given(stories_of(things(kinds, AGENTS[:2])))(check_all))
    with pytest.raises(AssertionError):
        check()


def test_counting_the_same_event_again_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contradiction 1 of the seed: what is read again counts again."""

    def apply(fold: applying.Fold, event: events.Event) -> bool:
        applying._HANDLERS[event.type](fold, event)
        return False

    def check(story: Story, data: st.DataObject) -> None:
        test_any_event_twice_is_the_event_once.hypothesis.inner_test(story, data)  # type: ignore[attr-defined]

    monkeypatch.setattr(applying.Fold, "apply", apply)
    with pytest.raises(AssertionError):
        control(hypothesis.given(stories, st.data())(check))()
