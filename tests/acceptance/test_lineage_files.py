"""Files as such: what was done to them, also where no symbols are looked for in them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.greenhouse import Greenhouse

ONE, TWO, THREE = (f"T2026010{number}-aaaaa{number}" for number in (1, 2, 3))
RING = "def ring(bell):\n    bell.swing()\n    bell.swing()\n    return bell.tone\n"
GONG = "\n\ndef strike(gong):\n    gong.hit('soft')\n    gong.rest(3)\n    return gong.tone\n"
CONF = "bells: 3\nropes: 3\ntower: old\nclock: none\nyears: 12\n"
TEN = "".join(f"line {number}\n" for number in range(10))


@pytest.fixture
def yard(empty: Greenhouse) -> Greenhouse:
    """A repository with a bell."""
    empty.commit("2026-01-01", f"{ONE}: ring", {"bell.py": RING, "conf.yaml": CONF})
    return empty


def merge(
    made: Greenhouse, ours: dict[str, str], theirs: dict[str, str], settled: dict[str, str]
) -> str:
    """What two branches did is put together by a commit that is work on the third task."""
    made.git("checkout", "-qb", "br")
    made.commit("2026-01-02", f"{TWO}: theirs", theirs)
    made.git("checkout", "-q", "main")
    made.commit("2026-01-03", f"{TWO}: ours", ours)
    made.git("merge", "-q", "--no-commit", "-s", "ours", "br")
    made.commit("2026-01-04", f"Merge branch 'br': {THREE} settles it", settled)
    made.do("lineage", "rebuild")
    return made.git("rev-parse", "HEAD")


def proofs(made: Greenhouse, node: str, task: str) -> list[dict[str, Any]]:
    """What stands behind the edges of a task to a node."""
    found = []
    for each in made.told("edges", node)["edges"]:
        if each["subject"] == f"task:work:{task}":
            found += made.told("edges", "--evidence", each["edge"])["evidence"]
    return found


def test_what_a_merge_itself_changed_in_files_is_work_of_its_task(yard: Greenhouse) -> None:
    commit = merge(
        yard,
        {"bell.py": RING.replace("tone", "ours"), "conf.yaml": CONF.replace("old", "ours")},
        {"bell.py": RING.replace("tone", "theirs"), "conf.yaml": CONF.replace("old", "theirs")},
        {"bell.py": RING.replace("tone", "both") + GONG, "conf.yaml": CONF.replace("old", "new")},
    )
    for name, added in (("bell.py", 7), ("conf.yaml", 1)):
        [edge] = [e for e in yard.told("edges", name)["edges"] if THREE in e["subject"]]
        assert (edge["type"], edge["at"][:10]) == ("touched", "2026-01-04")
        [proof] = proofs(yard, name, THREE)
        assert proof["pointer"] == f"commit:{commit}"
        assert (proof["detail"]["added"], proof["detail"]["removed"]) == (added, 0)
        told = " ".join(line["text"] for line in yard.do("why", name)["lines"])
        assert THREE in told


def test_what_a_merge_only_brought_together_is_no_work_of_its_task(yard: Greenhouse) -> None:
    ours = CONF.replace("bells: 3", "bells: 4")
    merge(
        yard,
        {"bell.py": f"import os\n\n\n{RING}", "conf.yaml": ours},
        {"bell.py": RING + GONG, "conf.yaml": CONF.replace("12", "13")},
        {"bell.py": f"import os\n\n\n{RING}{GONG}", "conf.yaml": ours.replace("12", "13")},
    )
    for name in ("bell.py", "conf.yaml"):
        assert proofs(yard, name, THREE) == []
        assert THREE not in yard.page("edges", name)


@pytest.mark.parametrize("name", ["n.txt", "n.yaml", "Makefile"])
def test_lines_that_nobody_counted_are_not_told(yard: Greenhouse, name: str) -> None:
    yard.commit("2026-01-02", f"{ONE}: write", {name: TEN, "n.py": TEN.replace(" ", "=")})
    yard.commit("2026-01-03", f"{TWO}: change", {name: f"{TEN}more\n", "n.py": "more = 1\n"})
    (yard.path / name).unlink()
    (yard.path / "n.py").unlink()
    yard.commit("2026-01-04", f"{THREE}: remove", {})
    yard.do("lineage", "rebuild")
    counted = {ONE: (10, 0), TWO: (1, 10), THREE: (0, 1)}
    for task, lines in counted.items():
        [code], [text] = proofs(yard, "n.py", task), proofs(yard, name, task)
        assert (code["detail"]["added"], code["detail"]["removed"]) == lines
        assert not text["detail"].keys() & {"added", "removed"}
    [edge] = [e for e in yard.told("edges", name)["edges"] if ONE in e["subject"]]
    assert "lines" not in yard.page("edges", "--evidence", edge["edge"])


def test_a_file_that_only_moved_lost_no_line(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", f"{ONE}: write", {"n.txt": TEN})
    yard.git("mv", "n.txt", "m.txt")
    yard.commit("2026-01-03", f"{TWO}: move", {})
    yard.do("lineage", "rebuild")
    [proof] = proofs(yard, "m.txt", TWO)
    assert (proof["detail"]["added"], proof["detail"]["removed"]) == (0, 0)
