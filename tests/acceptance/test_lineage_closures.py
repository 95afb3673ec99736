"""`tether lineage closure` and `diff`: which tasks hang together with one, and what has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.greenhouse import (
    ALONE,
    COLUMNS,
    FAR,
    FARTHER,
    HAND,
    LEAVES,
    POUR,
    ROW,
    SHINE,
    STAR,
    TIMER,
    Greenhouse,
)


def tasks(related: list[dict[str, Any]]) -> list[str]:
    return [each["task"].removeprefix("task:work:") for each in related]


def around(house: Greenhouse, task: str, *words: str) -> list[str]:
    return tasks(house.told("closure", task, *words)["tasks"])


def way(house: Greenhouse, task: str, other: str, *words: str) -> list[str]:
    """The types of the steps from a task to another one."""
    told = house.told("closure", task, *words)["tasks"]
    [found] = [each for each in told if each["task"] == f"task:work:{other}"]
    return [step["type"] for step in found["path"]]


# Around a task


def test_a_closure_has_the_nearest_task_first_and_the_way_to_each(house: Greenhouse) -> None:
    told = house.told("closure", POUR)
    assert told["task"] == f"task:work:{POUR}"
    assert tasks(told["tasks"]) == [TIMER, SHINE, HAND]
    scores = [each["score"] for each in told["tasks"]]
    assert scores == sorted(scores, reverse=True)
    assert told["tasks"][0]["path"] == [
        {"type": "extended_by", "over": None, "node": f"task:work:{TIMER}"}
    ]
    [step] = told["tasks"][2]["path"]
    assert step["type"] == "co-touches-symbol"
    assert told["nodes"][step["over"]]["name"].startswith("src/water.py")
    assert told["nodes"][f"task:work:{TIMER}"]["title"] == "Water by the clock"
    assert (told["as_of"], told["truncated"]) == (None, False)
    assert "title" in told["untrusted"]


def test_a_closure_has_the_files_of_its_tasks(house: Greenhouse) -> None:
    told = house.told("closure", POUR)
    names = [told["nodes"][each["node"]]["name"] for each in told["files"]]
    assert names[0] == "src/water.py"
    assert "src/lamp.py" in names
    page = house.page("closure", POUR)
    assert page.startswith(f"Around {POUR} “Water the beds” (new): 3 tasks.\n")
    assert f"  {TIMER} “Water by the clock” (new): extended_by\n" in page
    assert page.index("Their files:") < page.rindex("src/water.py")


@pytest.mark.parametrize(
    ("words", "expected", "stop", "said"),
    [
        ((), ROW[1:4], "depth", "because it was to take no more steps"),
        (("--depth", "1"), ROW[1:2], "depth", "because it was to take no more steps"),
        (("--depth", "6"), ROW[1:5], "exhausted", "because nothing more is left"),
    ],
)
def test_a_closure_ends_after_so_many_steps_and_says_why(
    house: Greenhouse, words: tuple[str, ...], expected: tuple[str, ...], stop: str, said: str
) -> None:
    told = house.told("closure", ROW[0], *words)
    assert (tasks(told["tasks"]), told["stop"]) == (list(expected), stop)
    assert said in house.page("closure", ROW[0], *words)


def test_a_closure_ends_where_a_step_adds_next_to_nothing(house: Greenhouse) -> None:
    told = house.told("closure", STAR, "--depth", "6")
    assert set(tasks(told["tasks"])) == {*LEAVES, FAR}
    assert told["stop"] == "diminishing"
    assert "added next to nothing" in house.page("closure", STAR, "--depth", "6")
    assert FARTHER in around(house, LEAVES[0], "--depth", "6"), "it can be reached"


def test_a_closure_that_was_cut_says_so(house: Greenhouse) -> None:
    told = house.told("closure", STAR, "--limit", "3")
    assert (len(told["tasks"]), told["truncated"]) == (3, True)
    assert "There is more: `--limit` shows more." in house.page("closure", STAR, "--limit", "3")
    assert "There is more" not in house.page("closure", STAR)


def test_old_steps_and_unsure_ones_are_not_taken_if_so_asked(house: Greenhouse) -> None:
    assert way(house, POUR, TIMER) == ["extended_by"]
    assert way(house, POUR, TIMER, "--since", "2026-03-09")[-1] == "supersedes"
    assert way(house, POUR, TIMER, "--min-confidence", "0.95") == ["co-touches"]


@pytest.mark.parametrize("when", ["2026-03-05", "HEAD~4", TIMER])
def test_a_closure_is_told_as_of_a_date_a_commit_and_a_task(house: Greenhouse, when: str) -> None:
    told = house.told("closure", POUR, "--as-of", when)
    assert tasks(told["tasks"]) == [TIMER]
    assert told["as_of"]["words"] == when
    assert told["as_of"]["at"].startswith("2026-03-0")
    assert f", as of {when} (2026-03-0" in house.page("closure", POUR, "--as-of", when)


def test_nothing_hangs_together_with_a_task_before_anybody_said_so(house: Greenhouse) -> None:
    assert around(house, ROW[0], "--as-of", "HEAD") == list(ROW[1:4])
    assert around(house, ROW[0], "--as-of", "2026-03-11") == []


def test_a_task_that_nothing_leads_from_says_so(house: Greenhouse) -> None:
    assert house.told("closure", ALONE)["tasks"] == []
    page = house.page("closure", ALONE)
    assert page.startswith(f"Around {ALONE} “Alone” (new): 0 tasks.\n")
    assert "It ends there" not in page


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((POUR[:-1],), 5, f"Did you mean {POUR}?"),
        (("src/water.py",), 5, "knows a task src/water.py"),
        ((POUR, "--since", "yesterday"), 2, "yesterday is no date"),
        ((POUR, "--as-of", "yesterday"), 5, "no date, no task that is known here, and no commit"),
        ((POUR, "--as-of", "2026-02-31"), 2, "2026-02-31 is no date"),
        ((POUR, "--as-of", "2026-02-01"), 5, "There was no commit yet"),
        ((POUR, "--depth", "7"), 2, "--depth"),
        ((POUR, "--limit", "0"), 2, "--limit"),
        ((POUR, "--min-confidence", "2"), 2, "--min-confidence"),
    ],
)
def test_what_no_closure_can_be_told_of_is_named(
    house: Greenhouse, words: tuple[str, ...], code: int, said: str
) -> None:
    ended, *told = house.refused("closure", *words)
    assert ended == code
    assert said in " ".join(told)


def test_what_is_told_to_an_agent_stands_in_a_fence(house: Greenhouse) -> None:
    own = {"TETHER_SESSION": "s1", "TETHER_AGENT": "anna"}
    fenced = house.run("lineage", "closure", POUR, env=own).out.splitlines()
    assert fenced[0].startswith("<<tether-fence ")
    assert any("Water by the clock" in line and line.startswith("|") for line in fenced)
    assert "tether-fence" not in house.page("closure", POUR)


# What one has that another has not


def test_a_diff_shows_what_came_since(house: Greenhouse) -> None:
    told = house.told("diff", POUR, "--as-of", "2026-03-06")
    assert (tasks(told["new"]), told["gone"], told["changed"]) == ([SHINE, HAND], [], [])
    assert (told["before"]["tasks"], told["after"]["tasks"]) == (1, 3)
    assert (told["before"]["as_of"]["words"], told["after"]["as_of"]) == ("2026-03-06", None)
    page = house.page("diff", POUR, "--as-of", "2026-03-06")
    assert f"- {POUR} “Water the beds”, as of 2026-03-06 (" in page
    assert f"+ {POUR} “Water the beds” (new), now: 3 tasks\n" in page
    back = house.told("diff", POUR, "--as-of", "HEAD", "--and-as-of", "2026-03-06")
    assert (back["new"], tasks(back["gone"])) == ([], [SHINE, HAND])


def test_a_diff_of_two_tasks_says_what_both_have_on_other_ways(house: Greenhouse) -> None:
    told = house.told("diff", TIMER, STAR)
    assert set(tasks(told["gone"])) == {POUR, HAND, SHINE}
    assert set(tasks(told["new"])) == {*LEAVES, FAR}
    [shine] = [e for e in house.told("diff", POUR, TIMER)["changed"] if SHINE in e["task"]]
    assert [e["type"] for e in shine["before"]["path"]] == ["co-touches-symbol"]
    assert [e["type"] for e in shine["after"]["path"]] == ["superseded_by"]
    assert f"(another way) {SHINE} “Shine on the leaves”" in house.page("diff", POUR, TIMER)


def test_two_that_are_the_same_say_so(house: Greenhouse) -> None:
    assert "They have the same tasks, on the same ways." in house.page("diff", POUR, POUR)


def test_a_diff_of_what_was_cut_warns(house: Greenhouse) -> None:
    assert house.told("diff", STAR, ALONE, "--limit", "3")["truncated"] is True
    assert "may only have had no room" in house.page("diff", STAR, ALONE, "--limit", "3")
    assert "may only have had no room" not in house.page("diff", STAR, ALONE)


def test_a_diff_needs_two_sides(house: Greenhouse) -> None:
    code, message, hint = house.refused("diff", POUR)
    assert (code, message) == (2, "One closure alone has no difference.")
    assert "--as-of" in hint
    assert house.refused("diff", POUR, "T20260301-nobody")[0] == 5


def test_closures_fit_on_a_terminal(house: Greenhouse) -> None:
    closure, diff = house.on_terminals(f"closure {POUR}", f"diff {POUR} {TIMER}")
    assert max(map(len, [*closure.splitlines(), *diff.splitlines()])) <= COLUMNS
    assert all(f"  {each}" in closure for each in (TIMER, SHINE, HAND))
    assert f"(another way) {SHINE} “Shine on the leaves” (new): " in diff


def test_a_clone_without_an_index_says_how_to_make_one(house: Greenhouse, tmp_path: Path) -> None:
    clone = house.clone(tmp_path / "clone")
    for words in (
        *(("closure", POUR), ("diff", POUR, TIMER), ("decision",), ("reversal", TIMER)),
        *(("risk", "src/water.py"), ("feedback", "t1", "wrong"), ("stats",), ("export", POUR)),
        ("same-as", "src/lamp.js", "src/lamp.py"),
    ):
        code, message, hint = clone.refused(*words)
        assert (code, "Nothing is indexed yet" in message) == (5, True), words
        assert "`tether lineage rebuild`" in hint
    clone.do("lineage", "rebuild")
    assert around(clone, POUR) == around(house, POUR)
