"""Whose work it was: what was done counts for the task that was held at that time."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st

from tether.agents import model as agents
from tether.evidence import attribution, model

TASK = ("track", "H.1.1")


def at(seconds: int) -> str:
    return f"2026-11-01T00:{seconds // 60:02}:{seconds % 60:02}.000Z"


def claim(
    begin: int, end: int | None, task: str = "H.1.1", session: str = "s1", epoch: int = 1
) -> agents.Claim:
    return agents.Claim(
        *("track", task, epoch, session, "ada", at(begin), at(begin + 900)),
        *(None if end is None else at(end), None, None, None, None, None, None, None, None),
    )


def done(second: int | None, session: str = "s1") -> model.Activity:
    moment = at(second) if second is not None else ""
    return model.Activity(
        *("claude:transcript", f"file:x#bytes={second}-9", f"r{second}", moment, model.WORKED),
        *("edited", "", "", session),
    )


def attributed(seconds: list[int | None], *claims: agents.Claim) -> list[str]:
    found = attribution.attributed([done(each) for each in seconds], claims, TASK)
    assert all((each.task_source, each.task) == TASK for each in found)
    return [each.at for each in found]


def test_work_between_claim_and_release_counts() -> None:
    assert attributed([9, 10, 15, 20, 21], claim(10, 20)) == [at(10), at(15), at(20)]


def test_work_under_an_open_claim_counts() -> None:
    assert attributed([9, 10, 500], claim(10, None)) == [at(10), at(500)]


def test_work_of_no_known_time_counts_for_nobody() -> None:
    assert attributed([None], claim(0, None)) == []


def test_without_a_claim_nothing_counts() -> None:
    assert attributed([5]) == []


def test_of_two_claims_the_one_taken_last_counts() -> None:
    inner = claim(20, 30, "H.1.2")
    assert attributed([15, 25, 35], claim(10, 40), inner) == [at(15), at(35)]
    assert attributed([15, 25, 35], inner, claim(10, 40)) == [at(15), at(35)], "in any order"


def test_of_two_claims_of_one_moment_the_later_epoch_counts() -> None:
    other = claim(10, None, "H.1.2", epoch=2)
    assert attributed([15], claim(10, None, epoch=3), other) == [at(15)]
    assert attributed([15], claim(10, None, epoch=1), other) == []


def test_two_claims_of_one_task_count_together() -> None:
    assert attributed([5, 15, 25, 35], claim(0, 10), claim(20, 30)) == [at(5), at(25)]


def test_a_task_of_another_list_is_another_one() -> None:
    other = claim(0, None)._replace(source="work")
    assert attributed([5], other) == []


def test_who_did_it_is_kept_and_who_held_it_is_told_where_nobody_did() -> None:
    mine = attribution.attributed([done(5, "s1.agent-a")], [claim(0, None)], TASK)
    assert [each.session for each in mine] == ["s1.agent-a"]
    commit = attribution.attributed([done(5, "")], [claim(0, None)], TASK)
    assert [each.session for each in commit] == ["s1"]


@pytest.mark.parametrize(("second", "epoch"), [(9, None), (10, 1), (20, 2), (25, 2), (31, 1)])
def test_who_held_it_when(second: int, epoch: int | None) -> None:
    claims = [claim(10, None, epoch=1), claim(20, 30, "H.1.2", epoch=2)]
    held = attribution.held_at(claims, at(second))
    assert (held.epoch if held else None) == epoch


moments = st.integers(0, 50)
some_claims = st.lists(
    st.builds(
        lambda begin, length, task, epoch: claim(
            begin, None if length is None else begin + length, task, epoch=epoch
        ),
        moments,
        st.none() | st.integers(0, 30),
        st.sampled_from(["H.1.1", "H.1.2"]),
        st.integers(1, 9),
    ),
    max_size=5,
)


@hypothesis.given(some_claims, st.lists(moments, max_size=10))
def test_every_work_counts_for_at_most_one_task(
    claims: list[agents.Claim], seconds: list[int]
) -> None:
    work = [done(each) for each in seconds]
    first = attribution.attributed(work, claims, ("track", "H.1.1"))
    second = attribution.attributed(work, claims, ("track", "H.1.2"))
    held = [each for each in work if attribution.held_at(claims, each.at)]
    assert len(first) + len(second) == len(held)


def under(
    claims: list[agents.Claim],
    files: list[str],
    reserved: dict[str, list[str]],
    committers: set[str],
) -> str:
    found = attribution.committed_under(
        claims, files, lambda claim: reserved.get(claim.task, []), lambda _: committers
    )
    return found.task if found is not None else ""


def test_a_commit_is_of_the_only_session_that_held_something() -> None:
    assert under([], ["a.py"], {}, set()) == ""
    assert under([claim(1, None, "A.1")], ["a.py"], {}, set()) == "A.1"
    both = [claim(1, None, "A.1"), claim(2, None, "A.2")]
    assert under(both, ["a.py"], {}, set()) == "A.2"
    assert under(both, ["a.py"], {"A.1": ["a.py"]}, set()) == "A.1"


@pytest.mark.parametrize(
    ("files", "reserved", "committers", "task"),
    [
        (["a.py"], {}, set(), ""),  # nobody can tell
        (["a.py"], {"A.1": ["a.py"], "A.2": ["b.py"]}, set(), "A.1"),
        (["src/b.py"], {"A.1": ["a.py"], "A.2": ["src"]}, set(), "A.2"),
        (["a.py", "b.py"], {"A.1": ["a.py"], "A.2": ["b.py"]}, set(), ""),
        (["a.py"], {}, {"s1"}, "A.1"),
        (["a.py"], {}, {"s1", "s2"}, ""),
        (["a.py", "b.py"], {"A.1": ["a.py"], "A.2": ["b.py"]}, {"s2"}, "A.2"),
    ],
)
def test_of_several_sessions_paths_or_their_own_records_tell(
    files: list[str], reserved: dict[str, list[str]], committers: set[str], task: str
) -> None:
    claims = [claim(1, None, "A.1", "s1"), claim(2, None, "A.2", "s2")]
    assert under(claims, files, reserved, committers) == task
