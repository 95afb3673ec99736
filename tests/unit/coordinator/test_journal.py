"""WORKFLOW_LOG.md: where a run stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ledger import DIAMOND, Ledger, at
from tether import files
from tether.coordinator import journal
from tether.coordinator.limits import Limits
from tether.store import run_events

LIMITS = Limits()


@pytest.fixture
def ledger() -> Ledger:
    ledger = Ledger(DIAMOND)
    ledger.complete("T1")
    ledger.work("T2", "a2")
    ledger.tell(
        run_events.DEVELOPER_CHECKPOINT,
        task_id="T2",
        agent_id="a2",
        checkpoint="half\n# Not a title",
    )
    return ledger


def page(ledger: Ledger, minutes: float = 4, *lines: str) -> str:
    return journal.page(ledger.state, at(minutes), LIMITS, list(lines))


def test_it_says_how_far_the_run_is(ledger: Ledger) -> None:
    assert page(ledger).startswith(
        "# Run house\n\n1 of 4 tasks are completed (1 completed, 1 in progress, 1 available,"
        f" 1 blocked). Written {at(4)}.\n\n## In progress\n\n"
    )


def test_it_says_who_is_at_work_and_for_how_long(ledger: Ledger) -> None:
    assert "- T2, a2, 2 min: half # Not a title\n" in page(ledger)


@pytest.mark.parametrize(("minutes", "missed"), [(7, 0), (8, 1), (13, 2)])
def test_a_worker_that_misses_checkpoints_is_named(
    ledger: Ledger, minutes: float, missed: int
) -> None:
    """Its last one was three minutes past, and one is due every five."""
    found = journal.stalled(ledger.state, at(minutes), LIMITS)
    assert found == ([("T2", "a2", missed)] if missed else [])
    assert (f"## Stalled\n\n- T2: a2 missed {missed}" in page(ledger, minutes)) == bool(missed)


def test_it_says_what_waits_for_a_person_and_what_failed(ledger: Ledger) -> None:
    ledger.ask("T3", question="Which\none?")
    ledger.tell(run_events.TASK_FAILED, task_id="T3", reason="3 times")
    assert "## Waiting for a person\n\n- 5 (T3): Which one?\n" in page(ledger)
    assert "## Failed\n\n- T3: 3 times\n" in page(ledger)


def test_what_is_empty_is_left_out() -> None:
    said = page(Ledger(DIAMOND))
    assert "##" not in said
    assert said.endswith(".\n")


def test_it_ends_with_the_last_lines_of_the_log(ledger: Ledger) -> None:
    said = page(ledger, 4, *(f"line {n}" for n in range(300)))
    assert said.endswith("- line 299\n")
    assert "- line 100\n" in said
    assert "- line 99\n" not in said


def test_it_is_written_whole_whatever_it_says(tmp_path: Path) -> None:
    journal.write(files.Root(str(tmp_path)), "half a character: \ud800\n")
    assert (tmp_path / "WORKFLOW_LOG.md").read_text() == "half a character: ?\n"
