"""What people say of lineage: `tether lineage feedback` and `same-as`; and what `stats` count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.greenhouse import COLUMNS, POUR, SHINE, TIMER, Greenhouse

GLOW, BULBS = "src/lamp.js#glow", "src/lamp.py#shine"
DECLARED = "work/lineage.yaml"


def counted(house: Greenhouse, deriver: str, type_name: str) -> tuple[int, int, float | None]:
    """How often somebody said of an edge that it is right, and wrong; the share that is right."""
    rows = house.told("stats")["stats"]["derivers"]
    [row] = [e for e in rows if (e["deriver"], e["type"]) == (deriver, type_name)]
    return row["right"], row["wrong"], row["precision"]


def reads(house: Greenhouse, node: str) -> list[tuple[str, str]]:
    return [(each["reads"], each["source"]) for each in house.told("edges", node)["edges"]]


# Right and wrong


def test_what_is_wrong_is_in_no_answer_until_somebody_says_that_it_is_right(
    own_house: Greenhouse,
) -> None:
    ref = own_house.ref(TIMER, "extends")
    told = own_house.told("feedback", ref, "wrong", "--why", "It only mentions it.")
    assert (told["edge"], told["verdict"], told["still_said_by"]) == (ref, "wrong", [])
    assert ("extends", "task-text") not in reads(own_house, TIMER)
    closure = own_house.told("closure", POUR)["tasks"]
    assert "extended_by" not in [step["type"] for each in closure for step in each["path"]]
    assert counted(own_house, "task-text", "extends") == (0, 1, 0.0)
    own_house.told("feedback", ref, "right")
    assert ("extends", "task-text") in reads(own_house, TIMER)
    assert counted(own_house, "task-text", "extends") == (1, 0, 1.0)


def test_a_verdict_is_read_aloud(own_house: Greenhouse) -> None:
    ref = own_house.ref(TIMER, "extends")
    page = own_house.page("feedback", ref, "wrong", "--why", "It only mentions it.")
    assert page.startswith(f"Judged wrong: {TIMER} extends {POUR}, as task-text says.\n")
    assert "No answer counts it from now on.\n" in page
    assert "“It only mentions it.”; no answer counts it." in own_house.page(
        "edges", "--evidence", ref
    )
    page = own_house.page("feedback", ref, "right")
    assert page.startswith(f"Judged right: {TIMER} extends {POUR}, as task-text says.\n")


def test_a_verdict_outlives_a_rebuild_and_holds_in_all_checkouts(
    own_house: Greenhouse, tmp_path: Path
) -> None:
    own_house.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "other"))
    other = own_house.at(tmp_path / "other")
    assert ("extends", "task-text") in reads(other, TIMER)
    own_house.told("feedback", own_house.ref(TIMER, "extends"), "wrong")
    assert ("extends", "task-text") not in reads(other, TIMER)
    own_house.do("lineage", "rebuild", "--force")
    assert ("extends", "task-text") not in reads(own_house, TIMER)
    assert ("superseded_by", "task-text") in reads(own_house, TIMER), "only that one"


def test_what_others_say_too_still_counts_and_is_named(own_house: Greenhouse) -> None:
    relations = [{"type": "extends", "task": POUR}]
    description = f"Builds on {POUR}."
    own_house.task(TIMER, "Water by the clock", description=description, relations=relations)
    edges = own_house.told("edges", TIMER, "--type", "extends")["edges"]
    refs = {each["source"]: each["edge"] for each in edges}
    told = own_house.told("feedback", refs["task-text"], "wrong")
    assert [each["source"] for each in told["still_said_by"]] == ["declared"]
    assert ("extends", "declared") in reads(own_house, TIMER)
    page = own_house.page("feedback", refs["task-text"], "wrong")
    assert f"The same is said by declared ({refs['declared']}, 1.00)" in page


@pytest.mark.parametrize(("edge", "verdict", "code"), [("t9999", "wrong", 5), ("", "right", 5)])
def test_an_edge_that_is_not_there_cannot_be_judged(
    house: Greenhouse, edge: str, verdict: str, code: int
) -> None:
    before = house.told("stats")["stats"]["derivers"]
    ended, message, hint = house.refused("feedback", edge, verdict)
    assert (ended, "No edge is called" in message) == (code, True)
    assert "`tether lineage edges` lists them" in hint
    assert house.told("stats")["stats"]["derivers"] == before


def test_a_verdict_is_right_or_wrong(house: Greenhouse) -> None:
    ref = house.ref(TIMER, "extends")
    assert house.refused("feedback", ref, "maybe")[0] == 2
    assert house.refused("feedback", ref)[0] == 2
    assert counted(house, "task-text", "extends") == (0, 0, None)


# How much has a story


def test_stats_count_what_has_a_story(own_house: Greenhouse) -> None:
    def python() -> dict[str, Any]:
        [row] = [e for e in _stats(own_house)["languages"] if e["language"] == "python"]
        return dict(row)

    assert (python()["symbols"], python()["share"], python()["line_share"]) == (4, 1.0, 1.0)
    own_house.commit("2026-03-22", "No task", {"src/more.py": "def more():\n    return 1\n"})
    assert (python()["symbols"], python()["told"], python()["share"]) == (5, 4, 0.8)
    assert 0.8 < python()["line_share"] < 1.0
    total = _stats(own_house)["total"]
    assert total["symbols"] == sum(each["symbols"] for each in _stats(own_house)["languages"])
    assert total["told"] == 4


def test_stats_name_what_many_tasks_changed(house: Greenhouse) -> None:
    hot = _stats(house)["hot"]
    assert [(e["kind"], e["name"], e["tasks"]) for e in hot] == [
        ("file", "src/water.py", 3),
        ("file", "src/clock.py", 2),
        ("symbol", "src/water.py#pour", 3),
        ("symbol", "src/clock.py#tick", 2),
    ]
    hottest = house.told("stats", "--limit", "1")["stats"]["hot"]
    assert [each["name"] for each in hottest] == ["src/water.py", "src/water.py#pour"]


def test_stats_count_stories_that_are_shown_and_edges_that_are_opened(
    own_house: Greenhouse,
) -> None:
    assert _stats(own_house)["weeks"] == []
    assert "No story was shown yet." in own_house.page("stats")
    own_house.do("why", "src/water.py#pour")
    own_house.told("edges", "--evidence", own_house.ref(TIMER, "extends"))
    [week] = _stats(own_house)["weeks"]
    assert (week["shown"], week["expanded"]) == (1, 1)


def test_stats_are_read_aloud(house: Greenhouse) -> None:
    page, [shown] = house.page("stats"), house.on_terminals("stats")
    assert max(map(len, shown.splitlines())) <= COLUMNS
    for said in (page, shown):
        assert "python    4        100 %         13     100 %\n" in said
        assert "DERIVER         TYPE         EDGES  RIGHT  WRONG  PRECISION\n" in said
        assert "The index has 7 commits, " in said


def _stats(house: Greenhouse) -> dict[str, Any]:
    return dict(house.told("stats")["stats"])


# Two that are one


def test_code_that_was_written_anew_has_the_story_of_the_old_one(
    own_house: Greenhouse, tmp_path: Path
) -> None:
    assert POUR not in own_house.do("why", BULBS)["prose"]
    before = (own_house.path / DECLARED).read_text()
    told = own_house.told("same-as", GLOW, BULBS, "--why", "in Python now")["same_as"]
    assert (told["repeat"], told["known"], told["path"]) == (False, True, DECLARED)
    assert (told["old"]["gone"], told["new"]["gone"]) == (True, False)
    assert f"Before that, as {GLOW}:" in own_house.do("why", BULBS)["prose"]
    after = (own_house.path / DECLARED).read_text()
    assert after.startswith(before), "what stood there stands there"
    assert "in Python now" in after
    own_house.commit("2026-03-22", "It is the same", {})
    clone = own_house.clone(tmp_path / "clone")
    clone.do("lineage", "rebuild")
    assert POUR in clone.do("why", BULBS)["prose"], "it travels"


def test_what_is_declared_already_is_not_declared_again(own_house: Greenhouse) -> None:
    page = own_house.page("same-as", GLOW, BULBS)
    assert f"It stands in {DECLARED}: commit that to tell all clones.\n" in page
    before = (own_house.path / DECLARED).read_bytes()
    assert own_house.told("same-as", GLOW, BULBS)["same_as"]["repeat"] is True
    assert "is already declared to be what" in own_house.page("same-as", GLOW, BULBS)
    code, message, _ = own_house.refused("same-as", BULBS, GLOW)
    assert (code, "The other way round is declared already." in message) == (3, True)
    assert (own_house.path / DECLARED).read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        (GLOW, "src/lamp.py", 2, "One of them is a file and the other one is not."),
        ("src/lamp.py", "src/lamp.py", 2, "Both are the same already"),
        ("src", "src/lamp.py", 2, "it is a directory"),
        (GLOW, "src/lamp.py#shne", 5, "shne"),
        (GLOW, SHINE, 5, SHINE),
    ],
)
def test_what_cannot_be_one_is_refused_and_nothing_is_written(
    house: Greenhouse, old: str, new: str, code: int, said: str
) -> None:
    before = (house.path / DECLARED).read_bytes()
    ended, message, _ = house.refused("same-as", old, new)
    assert (ended, said in message) == (code, True)
    assert (house.path / DECLARED).read_bytes() == before


def test_a_file_in_the_manner_of_json_is_kept_as_it_is(own_house: Greenhouse) -> None:
    rows = (
        f'{{"relations": [\n  {{"subject": "{SHINE}", "type": "extends", "object": "{POUR}"}}\n]}}'
    )
    own_house.write(DECLARED, rows)
    ended = own_house.run("lineage", "same-as", GLOW, BULBS, "--json")
    kept = (own_house.path / DECLARED).read_text()
    assert kept == rows if ended.code else rows[:-1] in kept


def test_a_name_that_is_mistyped_is_told_what_may_be_meant(house: Greenhouse) -> None:
    assert "src/lamp.py#shine" in house.refused("same-as", GLOW, "src/lamp.py#shne")[2]
    _, message, hint = house.refused("same-as", "src/lamp.js#glw", BULBS)
    assert "--at" not in hint, "there is no such option"
    assert "src/lamp.js#glow" in message + hint
