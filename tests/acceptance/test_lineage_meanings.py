"""What texts call something stays bound to it: after renames, by links, and not too early."""

from __future__ import annotations

import pytest

from tests.greenhouse import Greenhouse

ONE, TWO, THREE = (f"T2026010{number}-aaaaa{number}" for number in (1, 2, 3))
RING = "def ring_twice(bell):\n    bell.swing()\n    bell.swing()\n    return bell.tone\n"
HUM = "def hum_low(bell):\n    for wave in b.waves:\n        wave.damp()\n    return b.rest\n"
CODE = f"{RING}\n\n{HUM}"
DECISION = "# 1. Bells\n\nStatus: Accepted\n\nAffects: {places}\n\n## Decision\n\nWe ring twice.\n"


@pytest.fixture
def yard(empty: Greenhouse) -> Greenhouse:
    empty.commit("2026-01-01", f"{ONE}: ring", {"src/bell.py": CODE})
    return empty


def types(made: Greenhouse, node: str, *words: str) -> set[str]:
    return {each["type"] for each in made.told("edges", node, *words)["edges"]}


def prose(made: Greenhouse, selector: str, *words: str) -> str:
    return " ".join(line["text"] for line in made.do("why", selector, *words)["lines"])


# Renames


def test_what_was_renamed_is_still_described(yard: Greenhouse) -> None:
    readme = "# Bell\n\nCall `ring_twice()`, then `src/bell.py#hum_low`.\n"
    yard.commit("2026-01-02", "Tell of it", {"README.md": readme})
    renamed = CODE.replace("ring_twice", "ring_thrice").replace("hum_low", "hum_lower")
    yard.commit("2026-01-03", "Rename", {"src/bell.py": renamed})
    yard.do("lineage", "rebuild")
    for name in ("ring_thrice", "hum_lower"):
        assert "Also described in README.md:3." in prose(yard, name)
        assert yard.told("risk", name)["described"]


def test_a_name_that_something_else_has_now_means_that(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", "Tell of it", {"README.md": "# Bell\n\nCall `ring_twice()`.\n"})
    renamed = RING.replace("ring_twice", "ring_thrice")
    yard.commit("2026-01-03", "Rename", {"src/bell.py": f"{renamed}\n\n{HUM}"})
    yard.commit("2026-01-04", "Anew", {"src/gong.py": "def ring_twice(gong):\n    gong.hit(2)\n"})
    yard.do("lineage", "rebuild")
    assert "describes" not in types(yard, "ring_thrice")
    assert "describes" in types(yard, "ring_twice")


@pytest.mark.parametrize("place", ["`src/bell.py`", "`src/**`", "`bell.py`"])
def test_what_was_moved_is_still_governed(yard: Greenhouse, place: str) -> None:
    files = {"docs/decisions/0001-bells.md": DECISION.format(places=place)}
    yard.commit("2026-01-02", "Decide", files)
    yard.do("lineage", "rebuild")
    yard.git("mv", "src", "lib")
    yard.commit("2026-01-03", "Move", {})
    assert "under decision 0001" in prose(yard, "lib/bell.py")
    assert "under decision 0001" in prose(yard, "lib/bell.py", "--as-of", "HEAD~1")


def test_what_is_declared_of_a_pattern_goes_with_the_files(yard: Greenhouse) -> None:
    said = 'relations:\n  - {subject: "decision:0001", type: governs, object: "src/**"}\n'
    files = {"docs/decisions/0001-bells.md": DECISION.format(places="nothing")}
    yard.commit("2026-01-02", "Decide", {**files, "work/lineage.yaml": said})
    yard.git("mv", "src", "lib")
    yard.commit("2026-01-03", "Move", {})
    yard.do("lineage", "rebuild")
    assert "governs" in types(yard, "lib/bell.py")


# Links


def test_a_link_leads_from_where_its_document_stands(yard: Greenhouse) -> None:
    guide = "# Guide\n\nSee [the bell](../src/bell.py) and [all](README.md).\n"
    files = {"README.md": "# Top\n", "docs/README.md": "# All\n", "docs/guide.md": guide}
    yard.commit("2026-01-02", "Tell of it", files)
    yard.do("lineage", "rebuild")
    assert "describes" in types(yard, "src/bell.py")
    assert "Also described in docs/guide.md:3" in prose(yard, "docs/README.md")
    assert "described" not in prose(yard, "README.md")


def test_a_link_may_lead_from_the_top(yard: Greenhouse) -> None:
    guide = "# Guide\n\nSee [the bell](/src/bell.py).\n"
    yard.commit("2026-01-02", "Tell of it", {"docs/guide.md": guide})
    yard.do("lineage", "rebuild")
    assert "describes" in types(yard, "src/bell.py")


# Ids that may be any word


def test_a_subject_may_name_a_task_whose_id_is_any_word(yard: Greenhouse) -> None:
    yard.do("task", "new", "Hum", "--id", "quiet")
    yard.commit("2026-01-02", "feat(quiet): hum less", {"src/bell.py": CODE.replace("hum", "um")})
    yard.commit("2026-01-03", "Be quiet, for once", {"src/bell.py": CODE})
    yard.do("lineage", "rebuild")
    assert yard.do("lineage", "rebuild")["rebuild"]["inputs"] == 0
    told = prose(yard, "src/bell.py#hum_low")
    assert "quiet “Hum” (new) renamed it" in told
    assert told.count("quiet “Hum”") == 1


# Times


def test_a_decision_without_a_date_is_as_old_as_its_file(yard: Greenhouse) -> None:
    files = {"docs/decisions/0001-bells.md": DECISION.format(places="`src/bell.py`")}
    yard.commit("2026-02-03", "Decide", files)
    yard.do("lineage", "rebuild")
    assert "decision" not in prose(yard, "ring_twice", "--as-of", "2026-01-20")
    assert types(yard, "src/bell.py", "--as-of", "HEAD~1") == {"created"}
    assert "under decision 0001" in prose(yard, "ring_twice", "--as-of", "2026-02-04")


def test_what_is_declared_of_unknown_tasks_is_as_old_as_the_file(yard: Greenhouse) -> None:
    said = f'relations:\n  - {{subject: "{TWO}", type: supersedes, object: "{ONE}"}}\n'
    yard.commit("2026-01-05", f"{TWO}: on", {"src/bell.py": CODE.replace("rest", "tone")})
    yard.commit("2026-02-03", "Declare", {"work/lineage.yaml": said})
    yard.do("lineage", "rebuild")
    assert "supersedes" in types(yard, TWO)
    assert "supersedes" not in types(yard, TWO, "--as-of", "2026-01-20")


def test_what_a_result_says_is_as_old_as_the_result(yard: Greenhouse) -> None:
    yard.task(
        TWO, "Ring once", status="done", created_at="2026-01-02T09:00:00Z",
        completed_at="2026-01-03T09:00:00Z", result={"summary": f"Supersedes {ONE}."},
        history=[{"at": "2026-03-01T09:00:00Z", "what": "noted", "note": "a remark"}],
    )  # fmt: skip
    yard.commit("2026-03-01", "Write it down", {})
    yard.do("lineage", "rebuild")
    [edge] = [e for e in yard.told("edges", TWO)["edges"] if e["type"] == "supersedes"]
    assert edge["at"].startswith("2026-01-03")


# Slips


def test_the_same_code_has_to_be_there(yard: Greenhouse) -> None:
    pairs = ('"src/bell.py#nothing", to: "src/bell.py#hum_low"',)
    said = "same_as:\n" + "".join(f"  - {{from: {pair}}}\n" for pair in pairs)
    said += '  - {from: "src/bell.py#ring_twice", to: "src/bell.py#hum_low", at: deadbeef}\n'
    yard.write("work/lineage.yaml", said)
    first, second = yard.do("lineage", "rebuild")["rebuild"]["problems"]
    assert "this code is not known here" in first
    assert "the commit deadbeef is not known here" in second


def test_a_decision_that_nobody_wrote_down_is_told(yard: Greenhouse) -> None:
    said = 'relations:\n  - {subject: "decision:9999", type: governs, object: "src/bell.py"}\n'
    yard.write("work/lineage.yaml", said)
    [problem] = yard.do("lineage", "rebuild")["rebuild"]["problems"]
    assert "no decision is called 9999 here" in problem


def test_what_a_cancelled_task_meant_to_do_was_not_done(yard: Greenhouse) -> None:
    yard.task(TWO, "Hum", description=f"Reverts {ONE}.")
    yard.do("lineage", "rebuild")
    assert "reverts" in types(yard, TWO)
    yard.do("task", "cancel", TWO, "--why", "no")
    assert "reverts" not in types(yard, TWO)
