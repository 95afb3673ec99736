"""The table of the lifecycle: every move, every file that was caught half-way, every grade."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import pytest

from tether.tasks import states


class Legal(NamedTuple):
    """One line of the design's table, as it is written there."""

    verb: str
    sources: str
    target: str
    who: str


# Typed from the design, not from the code: open is everything that is neither done nor put away.
DESIGN = (
    Legal("new", "none", "new", "anyone"),
    Legal("assign", "new", "assigned", "coordinator human"),
    Legal("claim", "new", "in_progress", "agent human"),
    Legal("claim", "assigned", "in_progress", "assignee human"),
    Legal("start", "assigned", "in_progress", "assignee"),
    Legal("finish", "in_progress assigned", "done", "holder"),
    Legal("fail", "in_progress assigned", "error", "holder"),
    Legal("complete", "new assigned in_progress error", "done", "human adopter"),
    Legal("retry", "error", "assigned", "human"),
    Legal("retry", "in_progress", "assigned", "human"),
    Legal("extend", "in_progress", "", "human"),
    Legal("return", "assigned in_progress", "new", "holder coordinator human"),
    # An error is nobody's: `fail` closes its claim, and a person decides (decision 0015).
    Legal("adopt", "new assigned in_progress", "", "agent human"),
    Legal("cancel", "new assigned in_progress error", "archived", "human"),
    # The clean-up is a command, and a person may name one task to it.
    Legal("archive", "done", "archived", "cleanup human"),
    Legal("reopen", "done archived", "new", "human"),
)
VERBS = tuple(dict.fromkeys(row.verb for row in DESIGN))
EVERY_STATE = ("none", "new", "assigned", "in_progress", "done", "error", "archived")
EVERY_ROLE = (
    "anyone", "agent", "assignee", "holder", "adopter", "coordinator", "human", "cleanup",
)  # fmt: skip


def target(verb: str, state: str, role: str) -> str | None:
    """Where the design lets this lead; None if it does not allow it."""
    for row in DESIGN:
        is_for = row.who == "anyone" or role in row.who.split()
        if row.verb == verb and state in row.sources.split() and is_for:
            return row.target
    return None


# The table


def test_the_words_are_those_of_the_design() -> None:
    assert states.VERBS == VERBS
    assert (states.NONE, *states.STATES, states.ARCHIVED) == (
        "none", "new", "assigned", "in_progress", "done", "error", "archived",
    )  # fmt: skip
    assert tuple(states.ROLES) == EVERY_ROLE


@pytest.mark.parametrize("state", EVERY_STATE)
@pytest.mark.parametrize("verb", VERBS)
def test_a_move_is_legal_exactly_where_the_design_says(verb: str, state: str) -> None:
    for role in EVERY_ROLE:
        wanted = target(verb, state, role)
        answer = states.check(verb, state, [role])
        if wanted is None:
            assert isinstance(answer, states.Breach), f"{role} may {verb} what is {state}"
            assert (answer.verb, answer.state) == (verb, state)
            assert f"`{verb}`" in answer.rule
            assert state in answer.rule
        else:
            assert isinstance(answer, states.Move), f"{role} may not {verb} what is {state}"
            assert (answer.verb, answer.target) == (verb, wanted)


@pytest.mark.parametrize("state", EVERY_STATE)
@pytest.mark.parametrize("verb", VERBS)
def test_who_has_no_role_may_only_do_what_anyone_may(verb: str, state: str) -> None:
    is_allowed = isinstance(states.check(verb, state, []), states.Move)
    assert is_allowed == (verb == "new" and state == "none")


@pytest.mark.parametrize("verb", VERBS)
def test_one_role_of_several_is_enough(verb: str) -> None:
    for state, one, other in itertools.product(EVERY_STATE, EVERY_ROLE, EVERY_ROLE):
        together = isinstance(states.check(verb, state, [one, other]), states.Move)
        alone = [
            isinstance(states.check(verb, state, [each]), states.Move) for each in (one, other)
        ]
        assert together == any(alone), (state, one, other)


def test_a_wrong_state_is_told_with_the_states_that_would_do() -> None:
    answer = states.check("finish", "done", ["holder"])
    assert isinstance(answer, states.Breach)
    assert answer.rule == "`finish` goes from in_progress or assigned, and this is done"


def test_a_wrong_role_is_told_with_who_may() -> None:
    answer = states.check("return", "assigned", ["agent"])
    assert isinstance(answer, states.Breach)
    assert answer.rule == (
        "`return` of a task that is assigned is for who holds its claim, the coordinator of a run"
        " or a person"
    )


@pytest.mark.parametrize("state", EVERY_STATE)
def test_successors_are_the_targets_of_the_table(state: str) -> None:
    wanted: dict[str, set[str]] = {}
    for row in DESIGN:
        if state in row.sources.split() and row.target:
            wanted.setdefault(row.target, set()).add(row.verb)
    assert {to: set(verbs) for to, verbs in states.successors(state).items()} == wanted


# A file that was caught half-way

PLACES = ("inbox", "assigned", "done", "archive")
HOLDS = {
    "inbox": ("new",),
    "assigned": ("assigned", "in_progress", "error"),
    "done": ("done",),
    "archive": ("archived",),
}
# Which moves between directories write a status and then rename: out of the inbox to an agent or
# to `done/`, and from an agent to `done/`.
BEGUN = {
    ("inbox", "assigned"): "assigned",
    ("inbox", "in_progress"): "assigned",
    ("inbox", "error"): "assigned",
    ("inbox", "done"): "done",
    ("assigned", "done"): "done",
}
MEANINGS = {
    "new": "new", "assigned": "assigned", "in_progress": "in_progress", "done": "done",
    "error": "error", "DONE": "done", " In-Progress ": "in_progress", "completed": "done",
    "TODO": "new", "pending": "new", "failed": "error", "wip": "in_progress", "inbox": "new",
    "blocked": None, "": None, "None": None, "done?": None, "archived": None, "none": None,
}  # fmt: skip
FLAGS = tuple(itertools.product((False, True), (False, True), (False, True)))
CASES = tuple(itertools.product(PLACES, MEANINGS, FLAGS))


def settled(place: str, written: str, flags: tuple[bool, bool, bool]) -> states.Standing:
    has_agent, is_cancelled, is_claimed = flags
    return states.settle(
        place, written, has_agent=has_agent, is_cancelled=is_cancelled, is_claimed=is_claimed
    )


def test_a_file_is_never_sent_where_its_state_does_not_belong() -> None:
    for place, written, flags in CASES:
        standing = settled(place, written, flags)
        assert standing.state in HOLDS[standing.place], (place, written, flags)


def test_what_is_settled_stays_settled() -> None:
    for place, written, flags in CASES:
        standing = settled(place, written, flags)
        # In the archive the status is kept as it is.
        again = written if standing.place == "archive" else standing.state
        assert settled(standing.place, again, flags) == standing, (place, written, flags)


def test_what_is_put_away_or_cancelled_is_in_the_archive() -> None:
    for place, written, flags in CASES:
        is_away = settled(place, written, flags) == ("archived", "archive")
        assert is_away == (place == "archive" or flags[1]), (place, written, flags)


def test_a_status_that_fits_its_directory_stays() -> None:
    for place, written, (has_agent, _, is_claimed) in CASES:
        meant = MEANINGS[written]
        if place != "archive" and meant in HOLDS[place]:
            assert settled(place, written, (has_agent, False, is_claimed)) == (meant, place)


def test_a_status_that_follows_its_directory_completes_the_move() -> None:
    for (place, status), home in BEGUN.items():
        for is_claimed in (False, True):
            assert settled(place, status, (True, False, is_claimed)) == (status, home)


def test_what_is_done_is_carried_on_also_without_an_agent() -> None:
    assert settled("inbox", "done", (False, False, False)) == ("done", "done")
    assert settled("assigned", "completed", (False, False, False)) == ("done", "done")


def test_nothing_is_carried_to_an_agent_that_is_not_named() -> None:
    for status in ("assigned", "in_progress", "error"):
        for is_claimed in (False, True):
            assert settled("inbox", status, (False, False, is_claimed)) == ("new", "inbox")


def test_otherwise_the_directory_wins() -> None:
    for place, written, (has_agent, _, is_claimed) in CASES:
        meant = MEANINGS[written]
        if place == "archive" or meant in HOLDS[place]:
            continue
        is_begun = (place, meant) in BEGUN and (has_agent or meant == "done")
        is_returned = (place, meant, is_claimed) == ("assigned", "new", True)
        if not is_begun and not is_returned:
            found = settled(place, written, (has_agent, False, is_claimed))
            assert found == (HOLDS[place][0], place), (place, written, has_agent, is_claimed)


@pytest.mark.parametrize(
    ("place", "written", "state"),
    [
        ("assigned", "new", "assigned"),
        ("done", "new", "done"),
        ("done", "in_progress", "done"),
        ("inbox", "nonsense", "new"),
        ("assigned", "blocked", "assigned"),
    ],
)
def test_a_persons_mv_counts(place: str, written: str, state: str) -> None:
    for has_agent in (False, True):
        assert settled(place, written, (has_agent, False, False)) == (state, place)


def test_a_return_that_died_half_way_goes_on_to_the_inbox() -> None:
    """Only the claim, which is closed last, tells it from a person's `mv`."""
    for has_agent in (False, True):
        assert settled("assigned", "new", (has_agent, False, True)) == ("new", "inbox")
        assert settled("assigned", "new", (has_agent, False, False)) == ("assigned", "assigned")


def test_a_claim_says_nothing_about_any_other_file() -> None:
    for place, written, (has_agent, is_cancelled, _) in CASES:
        if place == "assigned" and MEANINGS[written] == "new" and not is_cancelled:
            continue
        with_it, without = (
            settled(place, written, (has_agent, is_cancelled, claimed)) for claimed in (True, False)
        )
        assert with_it == without, (place, written)


# Words for states


@pytest.mark.parametrize(("written", "meant"), MEANINGS.items())
def test_a_status_is_known_by_name_case_or_alias(written: str, meant: str | None) -> None:
    assert states.known_status(written) == meant


def test_every_alias_means_a_state_and_is_none() -> None:
    for alias, meant in states.STATUS_ALIASES.items():
        assert meant in states.STATES
        assert alias not in states.STATES
        for written in (alias, alias.upper(), f" {alias.title()} ", alias.replace("_", "-")):
            assert states.known_status(written) == meant


# Grades


@pytest.mark.parametrize(
    ("place", "written", "grade"),
    [
        # A person moved the file on, and its status lags behind.
        ("assigned", "new", "skipped"),
        ("assigned", "inbox", "skipped"),
        ("done", "new", "skipped"),
        ("done", "assigned", "skipped"),
        ("done", "in_progress", "skipped"),
        ("done", "error", "skipped"),
        ("archive", "new", "skipped"),
        ("archive", "assigned", "skipped"),
        # It was moved back.
        ("inbox", "assigned", "backwards"),
        ("inbox", "in_progress", "backwards"),
        ("inbox", "done", "backwards"),
        ("assigned", "done", "backwards"),
        ("assigned", "Completed", "backwards"),
        # It is none of the five.
        ("inbox", "blocked", "unknown"),
        ("assigned", "None", "unknown"),
        ("done", "", "unknown"),
        ("archive", "blocked", "unknown"),
    ],
)
def test_a_file_in_the_wrong_directory_is_graded(place: str, written: str, grade: str) -> None:
    assert states.grade(place, written) == grade


@pytest.mark.parametrize(
    ("before", "after", "grade"),
    [
        ("new", "new", "legal"),
        ("none", "new", "legal"),
        ("new", "assigned", "legal"),
        ("new", "in_progress", "legal"),
        ("assigned", "done", "legal"),
        ("error", "assigned", "legal"),
        ("in_progress", "new", "legal"),
        ("done", "archived", "legal"),
        ("archived", "new", "legal"),
        ("new", "archived", "legal"),
        # Git sees checkpoints only: verbs in a row lead there.
        ("new", "error", "skipped"),
        # No verb, and no row of verbs, goes this way but through somebody's decision.
        ("done", "in_progress", "backwards"),
        ("done", "assigned", "backwards"),
        ("done", "error", "backwards"),
        ("error", "new", "backwards"),
        ("error", "in_progress", "backwards"),
        ("blocked", "done", "unknown"),
        ("new", "blocked", "unknown"),
        ("", "done", "unknown"),
    ],
)
def test_a_change_is_graded(before: str, after: str, grade: str) -> None:
    assert states.change_grade(before, after) == grade


def test_every_move_of_the_table_is_a_legal_change() -> None:
    for row in DESIGN:
        for state in row.sources.split():
            assert states.change_grade(state, row.target or state) == "legal"


def test_every_change_between_known_states_has_a_grade() -> None:
    for before, after in itertools.product(states.STATES, (*states.STATES, states.ARCHIVED)):
        grade = states.change_grade(before, after)
        assert grade in ("legal", "skipped", "backwards")
        if grade == "skipped":
            assert states.RANK[after] > states.RANK[before]
