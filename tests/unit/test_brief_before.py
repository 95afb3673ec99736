"""What was before a claim: that somebody takes a task up is no work on it."""

from __future__ import annotations

from typing import Any

import pytest

from tether import ids
from tether.agents import model as agents
from tether.brief import before
from tether.evidence import model, timeline
from tether.store import events

KEY = ids.TaskKey("track", "H.1.1")
EARLIER, AT, LATER = (f"2026-11-0{day}T00:00:00.000Z" for day in (1, 2, 3))
CLAIM = agents.Claim(
    *("track", "H.1.1", 7, "s1", "ada", AT, LATER, None, None, None, "/repo", "main"),
    *(None, None, None, None),
)


def event(kind: events.EventType, at: str = AT, session: str = "s1", **data: Any) -> events.Event:
    return events.Event(4, at, kind.name, "ada", session, *KEY, None, data)


def activity(at: str = AT, kind: str = model.STATED, session: str = "s1") -> model.Activity:
    return model.Activity(
        *("tether:event", "event:4", "event:4", at, kind, "claimed", "H.1.1", "track", session)
    )


def line(*activities: model.Activity) -> timeline.Timeline:
    return timeline.Timeline(KEY, activities, ())


def is_left_out(told: events.Event) -> bool:
    found = before.without_taking(line(activity(told.at)), [told], CLAIM)
    return not found.activities


@pytest.mark.parametrize(
    "told",
    [
        event(events.CLAIM_TAKEN, epoch=7),
        event(events.CLAIM_ADOPTED, epoch=7),
        event(events.CLAIM_CLOSED, session="s0", epoch=6, outcome="adopted", by="s1"),
        event(events.TASK_MOVED, verb="claim"),
        event(events.TASK_MOVED, verb="start"),
        event(events.MESSAGE_SENT, type="task_adopted"),
        event(events.MESSAGE_SENT, type="task_conflict"),
    ],
    ids=lambda told: f"{told.type} {told.data}",
)
def test_what_only_tells_of_the_claim_is_left_out(told: events.Event) -> None:
    assert is_left_out(told)


@pytest.mark.parametrize(
    "told",
    [
        event(events.CLAIM_TAKEN, epoch=6),
        event(events.CLAIM_TAKEN, session="s0", epoch=7),
        event(events.CLAIM_CLOSED, session="s0", epoch=6, outcome="adopted", by="s2"),
        event(events.CLAIM_CLOSED, session="s0", epoch=6, outcome="done", by="s1"),
        event(events.CLAIM_CLOSED, EARLIER, "s0", epoch=5, outcome="adopted", by="s1"),
        event(events.TASK_MOVED, verb="fail"),
        event(events.TASK_MOVED, EARLIER, verb="start"),
        event(events.TASK_EDITED),
        event(events.HANDOFF_LEFT, note="Mind the roof."),
        event(events.MESSAGE_SENT, type="question"),
    ],
    ids=lambda told: f"{told.type} {told.data}",
)
def test_everything_else_stays(told: events.Event) -> None:
    assert not is_left_out(told)


def test_work_since_the_claim_is_a_beginning() -> None:
    assert before.has_begun(line(activity(LATER, model.WORKED)), CLAIM)
    assert before.has_begun(line(activity(LATER, model.WORKED, session="")), CLAIM), "a commit"
    assert before.has_begun(line(), CLAIM._replace(checkpoint="The walls stand."))
    assert not before.has_begun(line(activity(EARLIER, model.WORKED)), CLAIM)
    assert not before.has_begun(line(activity(LATER, model.MENTIONED)), CLAIM)


def test_what_the_taker_only_said_is_left_out() -> None:
    said, worked = activity(kind=model.MENTIONED), activity(kind=model.WORKED)
    other = said._replace(session="s0")
    assert before.without_talk(line(said, worked, other), "s1").activities == (worked, other)
