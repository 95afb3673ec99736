"""When a session was at work on a task."""

from __future__ import annotations

from tether.agents import model as agents
from tether.evidence import stretches
from tether.evidence.stretches import Stretch


def at(minute: int) -> str:
    return f"2026-11-01T00:{minute:02}:00.000Z"


def before(minute: int) -> str:
    return f"2026-11-01T00:{minute - 1:02}:59.999Z"


def between(own: list[int], others: list[int]) -> tuple[Stretch, ...]:
    return stretches.between(map(at, own), map(at, others))


def test_a_task_is_worked_on_until_another_one_is_named() -> None:
    assert between([2, 4], [6, 7]) == (Stretch(at(2), before(6)),)
    assert between([2], [1]) == (Stretch(at(2)),), "to the end"
    assert between([2, 8], [5]) == (Stretch(at(2), before(5)), Stretch(at(8)))
    assert between([2], [2, 3]) == (Stretch(at(2), before(3)),), "both are named in one record"
    assert between([], [3]) == ()
    assert between([], []) == ()


def test_a_moment_lies_in_a_stretch() -> None:
    found = between([2, 8], [5])
    assert [minute for minute in range(10) if stretches.has(found, at(minute))] == [2, 3, 4, 8, 9]
    assert not stretches.has((), at(1))


def test_claims_say_it_for_a_session_and_for_those_that_it_started() -> None:
    claim = agents.Claim(
        *("track", "H.1.1", 7, "s1", "ada", at(1), at(9), at(3), "released", "s1", "/repo", "main"),
        *(None, None, None, None),
    )
    again = claim._replace(epoch=8, claimed_at=at(5), closed_at=None)
    other = claim._replace(epoch=9, session_id="s10")
    expected = (Stretch(at(1), at(3)), Stretch(at(5)))
    for session in ("s1", "s1.agent-a"):
        assert stretches.of_claims([claim, again, other], session) == expected
    assert stretches.of_claims([claim, again], "s10") == ()
