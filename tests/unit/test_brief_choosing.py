"""Why a task comes now, and why nothing does."""

from __future__ import annotations

import pytest

from tether.agents import model as agents
from tether.brief import choosing
from tether.tasks import dependencies, effective, model, states, views

DAY_MS = 86_400_000
TASK = model.Task("T-1", "work/inbox/T-1.yaml", states.INBOX)


@pytest.mark.parametrize(
    ("priority", "days", "ageing_days", "said"),
    [
        ("low", 40, 7, "free, priority low, waiting for 40 days"),
        ("normal", 7, 7, "free, priority normal, waiting for 7 days"),
        ("normal", 1, 1, "free, priority normal, waiting for 1 day"),
        ("normal", 6, 7, "free, priority normal"),
        ("low", 40, 0, "free, priority low"),
        ("high", 40, 7, "free, priority high"),
        ("critical", 40, 7, "free, priority critical"),
    ],
)
def test_where_waiting_has_lifted_a_task_that_is_said(
    priority: str, days: int, ageing_days: int, said: str
) -> None:
    assert choosing.why_free(priority, days * DAY_MS, ageing_days) == said


def view(overlay: str, *waits_for: dependencies.Dependency, offered: bool = False) -> views.View:
    found = effective.Effective(states.NEW, offered, overlay)
    claim: agents.Claim | None = None
    return views.View(TASK, found, claim, "", waits_for)


def test_what_was_begun_without_a_claim_is_counted() -> None:
    passed = [view(each) for each in effective.OVERLAYS]
    assert choosing.begun(passed) == 1


def test_what_only_waits_for_a_merge_is_counted() -> None:
    there = dependencies.Dependency("T-2", states.NEW, note="waiting for merge of side")
    here = dependencies.Dependency("T-3", states.DONE)
    open_ = dependencies.Dependency("T-4", states.NEW)
    assert choosing.for_merge([view(each) for each in effective.OVERLAYS]) == 1
    assert choosing.for_merge([view("", there, offered=True)]) == 1
    assert choosing.for_merge([view("", there, here, offered=True)]) == 1
    assert choosing.for_merge([view("", there, open_, offered=True)]) == 0
