"""`tether lineage decision`, `reversal` and `risk`: what was decided, undone, or may go wrong."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests.greenhouse import ALONE, COLUMNS, HAND, POUR, ROW, SHINE, TIMER, Greenhouse


def named(told: dict[str, Any], keys: list[str]) -> list[str]:
    """What nodes are called."""
    return [told["nodes"][key]["name"] for key in keys]


# Decisions


@pytest.mark.parametrize("words", ["2", "0002", "decision:0002", "ADR-0002"])
def test_a_decision_has_what_it_governs_and_what_it_replaced(house: Greenhouse, words: str) -> None:
    told = house.told("decision", words)
    assert told["decision"] == "decision:0002"
    assert (told["newer"], told["older"]) == ([], ["decision:0001"])
    assert [(e["type"], e["object"]) for e in told["chain"]] == [("supersedes", "decision:0001")]
    assert named(told, [each["object"] for each in told["governs"]]) == ["src/water.py"]
    assert [(e["reads"], e["other"]) for e in told["tasks"]] == [("motivates", f"task:work:{HAND}")]
    assert told["nodes"]["decision:0002"]["status"] == "accepted"
    assert told["nodes"]["decision:0002"]["place"] == "docs/adr/0002-cans.md:1"


def test_a_decision_that_was_replaced_names_the_newer_one(house: Greenhouse) -> None:
    told = house.told("decision", "1")
    assert (told["newer"], told["governs"]) == (["decision:0002"], [])
    page = house.page("decision", "1").splitlines()
    assert page[0] == "0001 “Water with hoses” (superseded)"
    newest = page.index("The newest first:")
    assert [line.strip() for line in page[newest + 1 : newest + 3]] == [
        "0002 “Water with cans” (accepted)",
        "* 0001 “Water with hoses” (superseded)",
    ]


def test_all_decisions_are_listed(house: Greenhouse) -> None:
    told = house.told("decision")
    assert told["decisions"] == [f"decision:000{number}" for number in (1, 2, 3, 4)]
    assert "0001  superseded  Water with hoses\n" in house.page("decision")
    cut = house.told("decision", "--limit", "2")
    assert (len(cut["decisions"]), cut["truncated"]) == (2, True)
    assert "There are more: `--limit` shows more." in house.page("decision", "--limit", "2")


def test_a_decision_that_seems_to_be_replaced_is_suggested(house: Greenhouse) -> None:
    [found] = house.told("decision")["suspected"]
    assert (found["later"], found["earlier"]) == ("decision:0004", "decision:0003")
    assert found["reasons"]
    assert "0004 seems to replace 0003" in house.page("decision", "3")
    assert house.told("decision", "2")["suspected"] == []


def test_a_decision_did_not_stand_before_it_was_written(house: Greenhouse) -> None:
    assert len(house.told("decision", "--as-of", "2026-03-08")["decisions"]) == 4
    assert house.told("decision", "2", "--as-of", "2026-03-07")["governs"] == []
    assert house.told("decision", "--as-of", "2026-03-07")["decisions"] == []


@pytest.mark.parametrize("words", ["9", "0002-hoses", "decision:0022"])
def test_a_decision_that_is_not_there_is_named(house: Greenhouse, words: str) -> None:
    code, message, hint = house.refused("decision", words)
    assert (code, words in message) == (5, True)
    assert hint


# What was undone


def test_a_chain_of_reversals_begins_with_what_was_undone_first(house: Greenhouse) -> None:
    for what in ("src/water.py", "src/water.py#pour", TIMER, HAND):
        [chain] = house.told("reversal", what)["chains"]
        assert chain["nodes"] == [f"task:work:{each}" for each in (TIMER, HAND, SHINE)]
        first, *others = [each["type"] for each in chain["edges"]]
        assert (first, set(others)) == ("reverts", {"supersedes", "contradicts"})
    page = house.page("reversal", TIMER)
    assert page.startswith(
        f"{TIMER} “Water by the clock” (new): 1 chain of reversals, 1 commit taken back.\n"
    )
    assert f"{HAND} reverts {TIMER}\n" in page
    assert f"{SHINE} contradicts {HAND}\n" in page


def test_a_reversal_is_known_from_the_day_on_that_it_happened(house: Greenhouse) -> None:
    told = house.told("reversal", TIMER, "--as-of", "2026-03-10")
    assert "reverts" in {e["type"] for chain in told["chains"] for e in chain["edges"]}
    told = house.told("reversal", TIMER, "--as-of", "2026-03-09")
    assert "reverts" not in {e["type"] for chain in told["chains"] for e in chain["edges"]}


def test_unsure_reversals_are_left_out_and_a_cut_is_said(house: Greenhouse) -> None:
    told = house.told("reversal", TIMER, "--min-confidence", "0.85")
    assert {e["type"] for e in told["chains"][0]["edges"]} == {"supersedes", "contradicts"}
    assert house.told("reversal", TIMER, "--limit", "1")["truncated"] is True
    assert "There is more: `--limit` shows more." in house.page("reversal", TIMER, "--limit", "1")


def test_what_nobody_undid_says_so(house: Greenhouse) -> None:
    assert house.told("reversal", ROW[0])["chains"] == []
    said = "nothing is known to undo, replace or contradict it"
    assert f"{ROW[0]} “Step 1” (new): {said}.\n" in house.page("reversal", ROW[0])


def test_reversals_name_tasks_in_full_on_a_terminal(house: Greenhouse) -> None:
    [page] = house.on_terminals(f"reversal {TIMER}")
    assert max(map(len, page.splitlines())) <= COLUMNS
    assert f"{SHINE} supersedes {TIMER}" in page


# What to mind


def test_a_risk_has_what_changes_with_it_what_was_undone_and_what_describes_it(
    house: Greenhouse,
) -> None:
    told = house.told("risk", "src/water.py#pour")
    changed = told["co_changed"]
    assert named(told, [each["node"] for each in changed])[0] == "src/clock.py#tick"
    assert (changed[0]["times"], changed[0]["changes"]) == (1, 1)
    last = house.git("log", "-1", "--format=%H", "--", "src/clock.py")
    assert changed[0]["pointer"] == f"commit:{last}"
    undone = [(e["subject"], e["type"], e["object"]) for e in told["undone"]]
    assert (f"task:work:{HAND}", "reverts", f"task:work:{TIMER}") in undone
    assert named(told, [each["subject"] for each in told["described"]]) == ["README.md#Beds"]
    assert told["dropped"] == []
    assert (told["kind"], told["gone"], told["fallback"]) == ("symbol", False, None)


def test_a_risk_is_read_aloud(house: Greenhouse) -> None:
    page = house.page("risk", "src/water.py#pour")
    assert page.startswith("Function pour, src/water.py:1-3: before it is changed, look at:\n")
    headings = ["What changes with it:", "What was undone:", "What is written of it:"]
    assert [line for line in page.splitlines() if line in headings] == headings
    assert "README.md#Beds describes src/water.py#pour\n" in page
    assert "src/lamp.py: its past tells of no risk.\n" in house.page("risk", "src/lamp.py")


def test_a_risk_that_was_cut_says_so(house: Greenhouse) -> None:
    told = house.told("risk", "src/water.py#pour", "--limit", "1")
    assert (len(told["co_changed"]), told["truncated"]) == (1, True)
    assert "There is more" in house.page("risk", "src/water.py#pour", "--limit", "1")
    assert "There is more" not in house.page("risk", "src/water.py#pour")


def test_unsure_reversals_are_no_risk_if_so_asked(house: Greenhouse) -> None:
    assert house.told("risk", "src/water.py", "--min-confidence", "0.85")["undone"] == []
    assert house.told("risk", "src/water.py", "--min-confidence", "0.7")["undone"]


def test_a_risk_knows_what_its_past_had_done_by_then(house: Greenhouse) -> None:
    told = house.told("risk", "src/water.py", "--as-of", TIMER)
    assert told["undone"] == []
    assert told["as_of"]["words"] == TIMER


def test_a_document_describes_nothing_before_it_was_written(house: Greenhouse) -> None:
    for day, count in (("2026-03-08", 2), ("2026-03-02", 1), ("2026-03-01", 0)):
        told = house.told("risk", "src/water.py", "--as-of", day)
        assert len(told["described"]) == count, day


def test_a_task_that_was_dropped_is_a_risk_for_its_files(own_house: Greenhouse) -> None:
    own_house.task(ALONE, "Alone", context_files=["src/clock.py"])
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        who = {"TETHER_SESSION": "s1", "TETHER_AGENT": "anna", "TETHER_PID": str(process.pid)}
        own_house.do("agent", "register", "--session", "s1", "--name", "anna", **who)
        own_house.do("claim", ALONE, **who)
        assert own_house.told("risk", "src/clock.py")["dropped"] == []
    own_house.do("vacuum")
    [dropped] = own_house.told("risk", "src/clock.py")["dropped"]
    assert (dropped["task"], dropped["finding"]) == (f"task:work:{ALONE}", "dead_claim")
    assert f"dead claim  {ALONE} “Alone” (in_progress)" in own_house.page("risk", "src/clock.py")
    assert own_house.told("risk", "src/lamp.py")["dropped"] == []


def test_rows_of_a_risk_can_be_told_apart_on_a_terminal(house: Greenhouse) -> None:
    [page] = house.on_terminals("risk src/water.py")
    lines = [line for line in page.splitlines() if line]
    assert max(map(len, lines)) <= COLUMNS
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("src/water.py#por",), 5, "src/water.py#pour"),
        (("src/watr.py",), 5, "src/watr.py"),
        (("",), 2, "This names no code"),
        (("src/water.py", "--limit", "none"), 2, "--limit"),
    ],
)
def test_code_that_is_not_there_is_named(
    house: Greenhouse, words: tuple[str, ...], code: int, said: str
) -> None:
    ended, *told = house.refused("risk", *words)
    assert ended == code
    assert said in " ".join(told)


def test_a_task_or_decision_that_is_no_code_is_not_denied(house: Greenhouse) -> None:
    assert "is called T20260301-nobody" in house.refused("risk", "T20260301-nobody")[1]
    for words in (POUR, "decision:0002"):
        _, message, hint = house.refused("risk", words)
        assert f"is called {words}" not in message
        assert hint != f"Did you mean {words}?"
