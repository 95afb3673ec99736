"""What a task's state is, all things considered: every row, every combination, every overlay."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tether.tasks import effective, states

FILES = ("new", "assigned", "in_progress", "done", "error", "archived", "absent", "unreadable")
CLAIMS = ("", "mine", "alive", "suspect", "over")
OUTCOMES = ("", "done", "failed", "released", "expired", "cancelled", "taken_over")
THERE = ("", "absent", "new", "assigned", "in_progress", "done", "error", "cancelled")

Input = tuple[effective.File, str, effective.Outcome, str]


def every_input() -> Iterator[Input]:
    for state, is_mine, claim, kind, is_here, there in itertools.product(
        FILES, (False, True), CLAIMS, OUTCOMES, (False, True), THERE
    ):
        # An open claim is the last one: there is no outcome beside it.
        if not (claim and kind):
            yield effective.File(state, is_mine), claim, effective.Outcome(kind, is_here), there


# Row by row. The words of the table are read again here, so that it cannot mean what it likes.


def fits(row: effective.Row, given: Input) -> bool:
    file, claim, outcome, there = given
    has_ended = outcome.kind in ("done", "failed")
    kind = outcome.kind
    if has_ended and outcome.is_here:
        kind = "reverted" if file.state == "in_progress" else ""
    state, _, mine = row.file.partition(", ")
    if state not in ("*", file.state) or (mine and not file.is_mine):
        return False
    if not {
        "*": True,
        "-": not claim,
        "open": bool(claim),
    }.get(row.claim, row.claim == claim):
        return False
    if not {
        "*": True,
        "-": not kind,
        "ended": kind in ("done", "failed"),
        "let_go": bool(kind) and kind not in ("done", "failed", "reverted"),
    }.get(row.outcome, row.outcome == kind):
        return False
    return row.there in ("*", there)


def first_of(given: Input) -> int:
    return next(number for number, row in enumerate(effective.TABLE) if fits(row, given))


def wanted(row: effective.Row, file: effective.File) -> effective.Effective:
    if row.result.state != "held":
        return row.result
    # Whoever holds it works on it, unless the file says that it was only assigned, or failed.
    shown = file.state if file.state in ("assigned", "error") else "in_progress"
    return row.result._replace(state=shown)


@pytest.mark.parametrize(
    "number",
    range(len(effective.TABLE)),
    ids=lambda number: "|".join(effective.TABLE[number][:4]),
)
def test_a_row_is_reached_and_gives_what_it_says(number: int) -> None:
    row = effective.TABLE[number]
    reached = [given for given in every_input() if first_of(given) == number]
    assert reached, "an earlier row fits wherever this one does"
    for given in reached:
        assert effective.effective(*given) == wanted(row, given[0]), given


def test_every_combination_has_an_answer() -> None:
    shown = {*states.STATES, "archived", "absent", "unreadable"}
    for given in every_input():
        answer = effective.effective(*given)
        assert answer.state in shown, given
        assert not answer.overlay or answer.overlay in effective.OVERLAYS, given


def test_an_outcome_beside_an_open_claim_changes_nothing() -> None:
    """A caller that does not know this order gets the same answer."""
    for given in every_input():
        file, claim, _, there = given
        if claim:
            for kind, is_here in itertools.product(OUTCOMES, (False, True)):
                outcome = effective.Outcome(kind, is_here)
                assert effective.effective(file, claim, outcome, there) == effective.effective(
                    *given
                )


def test_every_overlay_is_said_somewhere() -> None:
    said = {row.result.overlay for row in effective.TABLE} - {""}
    assert said == set(effective.OVERLAYS)


# What must never happen


def test_what_somebody_alive_holds_is_offered_to_nobody_else() -> None:
    for given in every_input():
        if given[1] in ("alive", "suspect"):
            assert not effective.effective(*given).is_offered, given


def test_what_is_done_here_or_put_away_or_unreadable_is_never_offered() -> None:
    for given in every_input():
        if given[0].state in ("done", "archived", "unreadable"):
            answer = effective.effective(*given)
            assert not answer.is_offered
            assert answer.state == given[0].state


def test_what_failed_is_offered_to_nobody_not_even_to_who_holds_it() -> None:
    for given in every_input():
        if given[0].state == "error":
            assert not effective.effective(*given).is_offered, given


def test_a_task_without_a_file_is_offered_only_by_its_claim() -> None:
    for given in every_input():
        if given[0].state == "absent" and not given[1]:
            assert not effective.effective(*given).is_offered, given


# The overlays, by name


def look(
    file: str,
    claim: str = "",
    outcome: str = "",
    there: str = "",
    *,
    is_mine: bool = False,
    is_here: bool = False,
) -> tuple[str, bool, str]:
    return effective.effective(
        effective.File(file, is_mine), claim, effective.Outcome(outcome, is_here), there
    )


@pytest.mark.parametrize("file", ["new", "assigned", "in_progress", "absent"])
def test_done_on_another_branch_waits_for_a_merge(file: str) -> None:
    assert look(file, outcome="done", there="done") == ("done", False, "waiting_for_merge")


@pytest.mark.parametrize("file", ["new", "assigned", "in_progress", "absent"])
def test_failed_on_another_branch_waits_for_a_merge(file: str) -> None:
    assert look(file, outcome="failed", there="error") == ("error", False, "waiting_for_merge")


@pytest.mark.parametrize("there", ["", "absent", "new", "in_progress", "error"])
def test_done_on_a_branch_that_has_no_such_file_any_more_is_lost_and_offered(there: str) -> None:
    assert look("new", outcome="done", there=there) == ("new", True, "lost")
    assert look("in_progress", outcome="done", there=there) == ("in_progress", True, "lost")
    assert look("assigned", outcome="done", there=there, is_mine=True) == ("assigned", True, "lost")


def test_what_was_lost_goes_back_to_whom_its_directory_names() -> None:
    assert look("assigned", outcome="done", there="absent") == (
        "assigned", False, "assigned_to_other",
    )  # fmt: skip


@pytest.mark.parametrize("file", ["new", "in_progress", "absent"])
def test_claimed_by_a_live_owner_elsewhere_is_in_progress_and_not_offered(file: str) -> None:
    assert look(file, "alive") == ("in_progress", False, "held")


def test_claimed_by_a_live_owner_who_has_not_started_is_assigned() -> None:
    assert look("assigned", "alive") == ("assigned", False, "held")


def test_claimed_by_an_owner_who_may_be_gone_is_not_offered() -> None:
    assert look("new", "suspect") == ("in_progress", False, "held_by_suspect")


@pytest.mark.parametrize("file", ["new", "in_progress", "absent"])
def test_claimed_by_a_dead_owner_elsewhere_is_offered(file: str) -> None:
    assert look(file, "over") == ("in_progress", True, "holder_gone")


def test_failed_by_an_owner_who_died_before_letting_go_is_for_a_person() -> None:
    assert look("error", "over") == ("error", False, "needs_human")


def test_what_i_hold_is_offered_to_me() -> None:
    assert look("new", "mine") == ("in_progress", True, "held_by_me")
    assert look("assigned", "mine") == ("assigned", True, "held_by_me")


def test_assigned_to_somebody_else_is_not_offered() -> None:
    assert look("assigned") == ("assigned", False, "assigned_to_other")


def test_assigned_to_me_is_offered() -> None:
    assert look("assigned", is_mine=True) == ("assigned", True, "")


def test_in_progress_without_any_claim_is_its_owners_alone() -> None:
    assert look("in_progress") == ("in_progress", False, "unclaimed")
    assert look("in_progress", is_mine=True) == ("in_progress", True, "")


@pytest.mark.parametrize("kind", ["released", "expired", "taken_over"])
def test_what_somebody_let_go_of_is_offered(kind: str) -> None:
    assert look("new", outcome=kind) == ("new", True, "dropped")
    assert look("in_progress", outcome=kind) == ("in_progress", True, "dropped")


def test_let_go_of_but_done_there_by_hand_waits_for_a_merge() -> None:
    assert look("new", outcome="released", there="done") == ("done", False, "waiting_for_merge")


@pytest.mark.parametrize("kind", ["done", "failed"])
def test_an_outcome_on_this_checkouts_own_branch_does_not_count(kind: str) -> None:
    """Here the file itself tells: a person moved it back, or took it from another branch."""
    assert look("new", outcome=kind, is_here=True) == ("new", True, "")
    assert look("assigned", outcome=kind, is_here=True) == look("assigned")
    assert look("absent", outcome=kind, is_here=True) == ("absent", False, "")
    assert look("done", outcome=kind, is_here=True) == ("done", False, "")


@pytest.mark.parametrize("kind", ["done", "failed"])
def test_in_progress_after_its_end_on_this_branch_was_reverted(kind: str) -> None:
    """Whoever had it has let go of it, so it is offered; elsewhere the other branch tells."""
    assert look("in_progress", outcome=kind, is_here=True) == ("in_progress", True, "dropped")


def test_done_here_with_a_claim_that_is_still_open_says_so() -> None:
    for claim in ("mine", "alive", "suspect", "over"):
        assert look("done", claim) == ("done", False, "still_held")
        assert look("archived", claim) == ("archived", False, "still_held")


def test_what_cannot_be_read_is_for_a_person_whoever_holds_it() -> None:
    for claim in CLAIMS:
        assert look("unreadable", claim) == ("unreadable", False, "needs_human")
