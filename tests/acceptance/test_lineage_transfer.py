"""`tether lineage export` and `import`: a part of the graph to look at, or for another clone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.greenhouse import HAND, POUR, ROW, SHINE, STAR, TIMER, Greenhouse

ROOF = "T20260321-rf0001"


def names(document: dict[str, Any]) -> list[str]:
    return [each["name"] for each in document["nodes"]]


def exported(house: Greenhouse, *words: str) -> dict[str, Any]:
    return dict(json.loads(house.page("export", *words)))


def links(house: Greenhouse, node: str) -> set[tuple[str, str, str]]:
    """How the edges of a node read, where they lead, and who says so."""
    told = house.told("edges", node, "--min-confidence", "0")["edges"]
    return {(each["reads"], each["other"], each["source"]) for each in told}


# Out


def test_an_export_has_a_task_and_all_that_it_has_edges_to(house: Greenhouse) -> None:
    document = exported(house, POUR)
    assert names(document)[0] == POUR
    assert {TIMER, "src/water.py", "src/water.py#pour", "src/lamp.js"} <= set(names(document))
    assert HAND not in names(document)
    keys = {each["key"] for each in document["nodes"]}
    assert all({each["subject"], each["object"]} <= keys for each in document["edges"])
    [extends] = [each for each in document["edges"] if each["type"] == "extends"]
    assert extends["evidence"][0]["detail"]["text"] == f"Builds on {POUR}."
    assert document["commit"] == house.git("rev-parse", "HEAD")
    assert document["truncated"] is False
    assert house.told("export", POUR)["export"] == document


def test_an_export_goes_as_far_as_is_said(house: Greenhouse) -> None:
    assert names(exported(house, ROW[0], "--depth", "0")) == [ROW[0]]
    assert names(exported(house, ROW[0])) == [*ROW[:2]]
    assert names(exported(house, ROW[0], "--depth", "3")) == [*ROW[:4]]
    everything = names(exported(house, "--all"))
    assert {POUR, STAR, ROW[4], "0001", "src/lamp.py#shine"} <= set(everything)


def test_an_export_is_narrowed_by_how_sure_and_when(house: Greenhouse) -> None:
    assert SHINE in names(exported(house, POUR))
    assert SHINE not in names(exported(house, POUR, "--min-confidence", "0.5"))
    assert HAND in names(exported(house, "src/water.py"))
    assert HAND not in names(exported(house, "src/water.py", "--as-of", "2026-03-09"))
    assert HAND not in names(exported(house, "src/water.py", "--as-of", TIMER))


def test_an_export_that_was_cut_says_so(house: Greenhouse, tmp_path: Path) -> None:
    assert exported(house, STAR, "--limit", "3")["truncated"] is True
    assert len(names(exported(house, STAR, "--limit", "3"))) == 3
    said = house.page("export", STAR, "--limit", "3", "-o", str(tmp_path / "part.json"))
    assert said.startswith("Exported 3 nodes and 2 edges to ")
    assert "There is more: `--limit` writes more." in said
    assert "more was left out" in house.page(*("export", STAR, "--format", "mermaid"), "--limit=3")
    assert "more was left out" not in house.page("export", STAR, "--format", "mermaid")


def test_a_diagram_has_a_box_for_each_node_and_an_arrow_for_each_edge(house: Greenhouse) -> None:
    lines = house.page("export", TIMER, "--format", "mermaid").splitlines()
    assert lines[0] == "flowchart LR"
    boxes = dict(re.findall(r'^    (n\d+)[\[({]+"(.*)"[\])}]+$', "\n".join(lines), re.MULTILINE))
    called = {label.partition("#58;")[0]: number for number, label in boxes.items()}
    assert {POUR, TIMER, HAND, SHINE, "src/water.py"} <= set(called)
    assert f"    {called[HAND]} -->|reverts| {called[TIMER]}" in lines
    told = house.told("export", TIMER, "--format", "mermaid")["diagram"]
    assert told["mermaid"].splitlines() == lines
    assert told["nodes"] == len(boxes)
    assert len(lines) == 2 + len(boxes) + told["edges"]


def test_no_title_breaks_out_of_its_box(own_house: Greenhouse) -> None:
    own_house.task(ROOF, '"]; click n0 "javascript:x" %% `a` <b>\n  end', parent=POUR)
    diagram = own_house.page("export", ROOF, "--format", "mermaid")
    [box] = [line for line in diagram.splitlines() if ROOF in line]
    assert re.fullmatch(r'    n0\["[\w #;.,/-]*"\]', box)
    assert "click n0" in box, "it is there, as letters"


def test_a_file_that_is_there_is_not_replaced(house: Greenhouse, tmp_path: Path) -> None:
    target = tmp_path / "part.json"
    told = house.told("export", POUR, "-o", str(target))["export"]
    assert told["path"] == str(target)
    assert json.loads(target.read_text()) == exported(house, POUR)
    target.write_text("mine")
    assert house.refused("export", POUR, "-o", str(target))[0] == 1
    assert target.read_text() == "mine"
    assert house.refused("export", POUR, "-o", str(tmp_path / "no/part.json"))[0] == 5


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "--all"),
        ((POUR, "--all"), 2, "--all"),
        ((POUR, "--format", "svg"), 2, "svg"),
        ((POUR[:-1],), 5, f"Did you mean {POUR}?"),
        (("decision:9",), 5, "No decision that is indexed is called decision:9"),
        ((POUR, "--as-of", "yesterday"), 5, "yesterday"),
    ],
)
def test_what_cannot_be_exported_is_named(
    house: Greenhouse, words: tuple[str, ...], code: int, said: str
) -> None:
    ended, *told = house.refused("export", *words)
    assert (ended, said in " ".join(told)) == (code, True)


# In


class Pair(NamedTuple):
    """What one clone exported, and another one."""

    file: Path
    clone: Greenhouse


@pytest.fixture(scope="module")
def made(house: Greenhouse, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    base = tmp_path_factory.mktemp("pair")
    other = house.copy(base / "other")
    other.task(ROOF, "Water the roof", description=f"Builds on {POUR}.")
    other.told("export", "--all", "-o", str(base / "all.json"))
    clone = house.clone(base / "clone")
    clone.do("lineage", "rebuild")
    return Pair(base / "all.json", clone)


@pytest.fixture
def pair(made: Pair, tmp_path: Path) -> Pair:
    return made._replace(clone=made.clone.copy(tmp_path / "clone"))


def test_what_another_clone_knows_is_taken_up_and_what_both_know_is_not(pair: Pair) -> None:
    before = links(pair.clone, POUR)
    told = pair.clone.told("import", str(pair.file))["import"]
    assert (told["new"], told["problems"], told["truncated"]) == (True, [], False)
    new = ("extended_by", f"task:work:{ROOF}", "external")
    assert links(pair.clone, POUR) - before == {new}
    assert before <= links(pair.clone, POUR)
    assert len(pair.clone.told("edges", "--source", "external")["edges"]) == 1
    assert f"{ROOF} “Water the roof” (new)" in pair.clone.page("closure", POUR)
    edge = pair.clone.ref(ROOF, "extends")
    assert f"“Builds on {POUR}.”" in pair.clone.page("edges", "--evidence", edge)


def test_who_is_behind_learns_what_happened_since(
    own_house: Greenhouse, made: Pair, tmp_path: Path
) -> None:
    own_house.git("branch", "old", "HEAD~3")
    behind = own_house.clone(tmp_path / "clone", "--single-branch", "-b", "old")
    behind.do("lineage", "rebuild")
    assert behind.told("reversal", TIMER)["chains"] == []
    behind.told("import", str(made.file))
    [chain] = behind.told("reversal", TIMER)["chains"]
    assert ("reverts", "external") in [(each["type"], each["source"]) for each in chain["edges"]]


def test_to_import_twice_changes_nothing(pair: Pair) -> None:
    first = pair.clone.page("import", str(pair.file))
    before, listed = links(pair.clone, POUR), pair.clone.told("import")["imports"]
    again = pair.clone.run("lineage", "import", "-", stdin=pair.file.read_text())
    assert (first.startswith("Imported "), again.code) == (True, 0)
    assert again.out.startswith("Imported before: ")
    assert pair.clone.told("import", str(pair.file))["import"]["new"] is False
    assert links(pair.clone, POUR) == before
    assert pair.clone.told("import")["imports"] == listed
    assert [each["bytes"] for each in listed] == [pair.file.stat().st_size]


def test_an_import_can_be_taken_back(pair: Pair) -> None:
    before = links(pair.clone, POUR)
    digest = pair.clone.told("import", str(pair.file))["import"]["digest"]
    assert digest in pair.clone.page("import")
    assert links(pair.clone, POUR) != before
    for wrong in ("zz", "abc", f"{digest}0"):
        assert pair.clone.refused("import", "--forget", wrong)[0] == 5
    assert pair.clone.refused("import", str(pair.file), "--forget", digest)[0] == 2
    assert links(pair.clone, POUR) != before
    assert pair.clone.told("import", "--forget", digest[:6])["import"]["forgotten"] is True
    assert links(pair.clone, POUR) == before
    assert pair.clone.page("import") == "Nothing was imported.\n"


def test_an_export_in_its_envelope_is_taken_up_too(pair: Pair) -> None:
    wrapped = json.dumps({"ok": True, "export": json.loads(pair.file.read_text())})
    ended = pair.clone.run("lineage", "import", "-", stdin=wrapped)
    assert (ended.code, len(pair.clone.told("import")["imports"])) == (0, 1)


@pytest.mark.parametrize(
    ("pattern", "becomes", "code", "said"),
    [
        (r"(?s).*", "no export", 1, "it is no JSON"),
        (r"(?s)\n.*", "", 1, "or not all of it"),
        (r'"lineage": 1', '"lineage": 9', 1, "it has the form 9"),
        (r'"type": "extends"', '"type": "expands"', 1, "is of no type that can be kept"),
        (r'"subject": "task:[^"]*"', '"subject": "task:work:no"', 1, "nodes that are not in it"),
        (r'"confidence": 0.9,', '"confidence": 7,', 1, "<= 1"),
        (r'(?<=0.9, "at": ")2026-03(?=[^"]*", "detail")', "2026-13", 1, "a time that is none"),
        (r'"workspace_id": "[^"]*"', '"workspace_id": "another1"', 3, "another workspace"),
    ],
)
def test_a_bad_file_is_refused_and_changes_nothing(
    made: Pair, pattern: str, becomes: str, code: int, said: str
) -> None:
    good = made.file.read_text()
    bad = re.sub(pattern, becomes, good, count=1)
    assert bad != good
    before = links(made.clone, POUR)
    ended, message, hint = made.clone.refused("import", "-", stdin=bad)
    assert (ended, said in message) == (code, True), message
    assert "Nothing was imported." in message
    assert hint
    assert made.clone.told("import")["imports"] == []
    assert links(made.clone, POUR) == before


def test_a_file_that_is_not_there_or_of_another_kind_is_refused(made: Pair, tmp_path: Path) -> None:
    made.clone.do("export", "-o", str(tmp_path / "store.jsonl"))
    assert made.clone.refused("import", str(tmp_path / "store.jsonl"))[0] == 1
    assert made.clone.refused("import", str(tmp_path / "none.json"))[0] == 5
    assert made.clone.refused("import", str(tmp_path))[0] == 5
    assert made.clone.told("import")["imports"] == []


def test_without_a_store_nothing_is_imported(house: Greenhouse, pair: Pair) -> None:
    bare = pair.clone.path.parent / "bare"
    house.git("clone", "-q", str(house.path), str(bare))
    code, _, hint = house.at(bare).refused("import", str(pair.file))
    assert (code, "tether init" in hint) == (5, True)
    assert not (bare / ".git/tether").exists()
