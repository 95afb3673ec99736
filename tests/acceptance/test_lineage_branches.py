"""Several branches and checkouts share one index: what the others have is none of their business.

And what is gone says nothing any more, whatever took it away.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.greenhouse import Greenhouse
from tether import index
from tether.lineage import languages, quarantine

ONE, TWO, THREE = (f"T2026010{number}-aaaaa{number}" for number in (1, 2, 3))
RING = "def ring(bell):\n    bell.swing()\n    bell.swing()\n    return bell.tone\n"
LOUD = RING.replace("return", "bell.louder()\n    return")
GONG = "def strike(gong):\n    gong.hit('soft')\n    gong.rest(3)\n    return gong.tone\n"


@pytest.fixture
def yard(empty: Greenhouse) -> Greenhouse:
    """A repository with a bell."""
    empty.commit("2026-01-01", f"{ONE}: ring", {"bell.py": RING})
    return empty


def why(made: Greenhouse, selector: str, *words: str) -> list[str]:
    return [line["text"] for line in made.do("why", selector, *words)["lines"]]


def types(made: Greenhouse, node: str) -> set[str]:
    return {each["type"] for each in made.told("edges", node)["edges"]}


def revert(made: Greenhouse, day: str, *words: str) -> None:
    made.git("revert", "--no-edit", *words, at=f"{day}T09:00:00Z")


# What was taken back


def test_a_revert_is_no_work_of_the_task_that_it_takes_back(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", f"{TWO}: louder", {"bell.py": LOUD})
    revert(yard, "2026-01-03", "HEAD")
    yard.do("lineage", "rebuild")
    short = yard.git("rev-parse", "HEAD")[:7]
    told = why(yard, "bell.py#ring")
    assert f"This was undone by commit {short} on 2026-01-03." in told[2]
    assert told[3].startswith(f"Commit {short} (2026-01-03, ")
    assert f" undid {TWO}'s change of 2026-01-02" in told[3]


def test_what_is_applied_again_was_no_new_change(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", f"{TWO}: louder", {"bell.py": LOUD})
    revert(yard, "2026-01-03", "HEAD")
    first = yard.git("rev-parse", "HEAD")[:7]
    revert(yard, "2026-01-04", "HEAD")
    second = yard.git("rev-parse", "HEAD")[:7]
    yard.do("lineage", "rebuild")
    told = " ".join(why(yard, "bell.py#ring"))
    undone = f"undone by commit {first} on 2026-01-03 and applied again by commit {second}"
    assert undone in told
    assert f" applied {TWO}'s change of 2026-01-02 again" in told


def test_what_is_reverted_need_not_read_as_before(yard: Greenhouse) -> None:
    body = "class Tower:\n    height = 3\n{}\n    def ring(self):\n        return self.height\n"
    taller = body.format("    bells = 2\n    steps = 90\n")
    yard.commit("2026-01-02", f"{ONE}: a tower", {"tower.py": body.format("")})
    yard.commit("2026-01-03", f"{TWO}: taller", {"tower.py": taller})
    first = yard.git("rev-parse", "HEAD").strip()
    hum = "\n    def hum(self):\n        return self.height + 1\n"
    yard.commit("2026-01-04", "Hum", {"tower.py": f"{taller}{hum}"})
    revert(yard, "2026-01-05", first)
    yard.do("lineage", "rebuild")
    told = " ".join(why(yard, "tower.py#Tower"))
    assert f" undid {TWO}'s change of 2026-01-03, −2 lines" in told


def test_commits_without_a_task_are_reversals_and_risks_too(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", f"{TWO}: louder", {"bell.py": LOUD})
    revert(yard, "2026-01-03", "HEAD")
    yard.do("lineage", "rebuild")
    by, of = yard.git("rev-parse", "HEAD", "HEAD~1").split()
    for question in ("reversal", "risk"):
        [found] = yard.told(question, "bell.py#ring")["commits"]
        assert (found["commit"], found["undoes"]) == (by, of)
        page = yard.page(question, "bell.py#ring")
        assert f"commit {by[:10]} undid commit {of[:10]}" in page
        assert yard.told(question, "bell.py#ring", "--as-of", "2026-01-02")["commits"] == []


def test_a_title_that_two_branches_have_means_the_own_one(yard: Greenhouse) -> None:
    message = "Fix the bell\n\nTask: {}"
    yard.commit("2026-01-02", message.format(ONE), {"a.py": RING})
    yard.git("checkout", "-qb", "other", "HEAD~1")
    yard.commit("2026-01-02", message.format(TWO), {"b.py": GONG})
    yard.do("lineage", "rebuild")
    yard.git("checkout", "-q", "main")
    yard.commit("2026-01-03", f'Revert "Fix the bell"\n\nTask: {THREE}', {"c.py": GONG})
    [edge] = [e for e in yard.told("edges", THREE)["edges"] if e["type"] == "reverts"]
    assert edge["object"] == f"task:work:{ONE}"


# Branches


def test_a_flag_is_of_the_branch_that_says_so(yard: Greenhouse, tmp_path: Path) -> None:
    yard.task(TWO, "Ring twice")
    yard.commit("2026-01-02", "Write it down", {})
    yard.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = yard.at(tmp_path / "side")
    side.do("lineage", "rebuild")
    yard.git("checkout", "-qb", "other")
    said = f"{THREE}: a gong\n\nThis supersedes {TWO}."
    yard.commit("2026-01-03", said, {"gong.py": GONG})
    yard.do("lineage", "rebuild")
    assert [each["flag"] for each in yard.do("vacuum")["vacuum"]["flags"]] == ["superseded"]
    yard.git("checkout", "-q", "main")
    yard.do("lineage", "edges", TWO)
    assert yard.do("vacuum")["vacuum"]["flags"] == []
    side.git("merge", "-q", "other")
    assert [each["flag"] for each in side.do("vacuum")["vacuum"]["flags"]] == ["superseded"]


def test_a_file_that_only_another_branch_moved_on_is_told_where_it_is(yard: Greenhouse) -> None:
    yard.git("mv", "bell.py", "tower.py")
    yard.commit("2026-01-02", "Move it", {})
    yard.git("checkout", "-qb", "other")
    for name, to in (("tower.py", "church.py"), ("church.py", "bell.py")):
        yard.git("mv", name, to)
        yard.commit("2026-01-03", "Move it on", {})
    yard.do("lineage", "rebuild")
    yard.git("checkout", "-q", "main")
    assert yard.do("why", "bell.py#ring")["lines"][0]["text"].startswith(
        "Function ring stands in tower.py:1-4"
    )
    assert yard.told("feature", "bell.py")["place"] == "tower.py"
    assert yard.told("risk", "bell.py")["place"] == "tower.py"
    code, message, _ = yard.refused("feature", "bell.py#nope")
    assert (code, "nope" in message) == (5, True)


def test_a_path_that_a_file_had_never_means_another_one(yard: Greenhouse) -> None:
    for number, (name, to) in enumerate((("bell.py", "a.py"), ("a.py", "b.py"))):
        yard.git("mv", name, to)
        yard.commit(f"2026-01-0{number + 2}", "Move it", {})
    yard.git("rm", "-q", "b.py")
    yard.commit("2026-01-05", f"{TWO}: no bells", {})
    yard.commit("2026-01-06", f"{THREE}: a gong", {"b.py": GONG})
    yard.do("lineage", "rebuild")
    told = " ".join(why(yard, "bell.py"))
    assert told.startswith("File b.py was removed on 2026-01-05")
    assert THREE not in told


def test_a_document_is_as_old_as_it_is_here(yard: Greenhouse) -> None:
    yard.do("lineage", "rebuild")
    yard.git("checkout", "-qb", "side")
    yard.commit("2026-02-01", "Tell of it", {"README.md": "# Bell\n\nCall `ring()`.\n"})
    yard.told("edges", "bell.py#ring")
    yard.git("checkout", "-q", "main")
    yard.commit("2026-03-01", "Strike", {"gong.py": GONG})
    yard.git("checkout", "-q", "side")
    yard.git("rebase", "-q", "main", at="2026-04-01T09:00:00Z")
    [edge] = [e for e in yard.told("edges", "bell.py#ring")["edges"] if e["type"] == "describes"]
    assert edge["at"].startswith("2026-04-01")
    told = yard.told("edges", "bell.py#ring", "--as-of", "2026-03-15")
    assert "describes" not in {each["type"] for each in told["edges"]}


def test_many_of_a_name_elsewhere_do_not_hide_the_one_here(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", "Tell of it", {"README.md": "# Bell\n\nCall `ring()`.\n"})
    yard.git("checkout", "-qb", "other")
    many = {f"bells/b{number}.py": RING.replace("tone", f"tone{number}") for number in range(60)}
    yard.commit("2026-01-03", "Many bells", many)
    yard.do("lineage", "rebuild")
    yard.git("checkout", "-q", "main")
    assert "describes" in types(yard, "bell.py#ring")


def test_a_date_long_ago_is_found_beyond_what_was_merged(yard: Greenhouse) -> None:
    yard.git("checkout", "-qb", "other")
    for day in range(1, 6):
        yard.commit(f"2026-03-0{day}", "Strike", {"gong.py": f"{GONG}# {day}\n"})
    yard.git("checkout", "-q", "main")
    yard.git("merge", "-q", "--no-ff", "--no-edit", "other", at="2026-03-09T09:00:00Z")
    yard.do("lineage", "rebuild")
    assert why(yard, "bell.py#ring", "--as-of", "2026-02-01")[0].startswith("As of 2026-02-01, ")


# Others at work


_BEGUN_ANEW = """
from tether.__main__ import main
from tether.lineage import chronicler, identities, kept

derive = chronicler.Chronicler._derive


def late(self, tip, look):
    # What `lineage rebuild --force` of another process does first.
    chronicler.Chronicler._derive = derive
    known = identities.Identities(self.sources.store_dir)
    known._begin(kept.boundary_of([]))
    known.close()
    return derive(self, tip, look)


chronicler.Chronicler._derive = late
main()
"""


def test_nothing_is_kept_of_an_index_that_is_begun_anew(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", "Tell of it", {"README.md": "# Bell\n\nCall `ring()`.\n"})
    yard.do("lineage", "rebuild")
    yard.commit("2026-01-03", f"{TWO}: louder", {"bell.py": LOUD})
    subprocess.run(
        [sys.executable, "-c", _BEGUN_ANEW, "lineage", "edges", "bell.py#ring"],
        cwd=yard.path, env=yard.environ, check=False, capture_output=True,
    )  # fmt: skip
    yard.do("lineage", "rebuild")
    found = {(e["type"], e["subject"]) for e in yard.told("edges", "bell.py#ring")["edges"]}
    assert {("created", f"task:work:{ONE}"), ("touched", f"task:work:{TWO}")} < found
    assert "describes" in {each for each, _ in found}


# What is gone


def test_a_document_that_is_no_text_any_more_describes_nothing(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", "Tell of it", {"README.md": "# Bell\n\nCall `ring()`.\n"})
    yard.do("lineage", "rebuild")
    assert "describes" in types(yard, "bell.py#ring")
    yard.commit("2026-01-03", "A picture", {"README.md": "\0\0"})
    assert "describes" not in types(yard, "bell.py#ring")


def test_links_are_looked_at_by_every_question(yard: Greenhouse) -> None:
    for task in (ONE, TWO):
        yard.task(task, "A task")
    yard.commit("2026-01-02", "Write them down", {})
    yard.write("links.json", "[]")
    yard.environ["TETHER_LINEAGE_LINKS"] = "links.json"
    try:
        yard.do("lineage", "rebuild")
        link = f'[{{"subject": "{TWO}", "type": "supersedes", "object": "{ONE}"}}]'
        yard.write("links.json", link)
        assert "supersedes" in types(yard, TWO)
        (yard.path / "links.json").unlink()
        assert "supersedes" not in types(yard, TWO)
    finally:
        del yard.environ["TETHER_LINEAGE_LINKS"]


def test_what_is_not_understood_is_said_until_it_is_settled(yard: Greenhouse) -> None:
    yard.do("lineage", "rebuild")
    said = f'relations:\n  - {{subject: "{ONE}", type: supercedes, object: "{TWO}"}}\n'
    yard.write("work/lineage.yaml", said)
    yard.told("edges", "bell.py")
    for _ in range(2):
        [problem] = yard.do("lineage", "rebuild")["rebuild"]["problems"]
        assert "supercedes" in problem
    (yard.path / "work/lineage.yaml").unlink()
    assert yard.do("lineage", "rebuild")["rebuild"]["problems"] == []


def test_a_name_that_is_no_utf8_breaks_no_pattern(yard: Greenhouse) -> None:
    (yard.path / os.fsdecode(b"\xff.txt")).write_text("x\n")
    decision = "# 1. Bells\n\nStatus: Accepted\n\nAffects: src/**\n\nWe ring.\n"
    files = {"docs/decisions/0001-bells.md": decision, "src/horn.py": GONG}
    yard.commit("2026-01-02", "Decide", files)
    yard.do("lineage", "rebuild")
    assert "governs" in types(yard, "src/horn.py")


# What cannot be read


def dropped(made: Greenhouse) -> sqlite3.Connection:
    """The index without its outlines, as if there had been no room for them."""
    path = made.path / ".git" / "tether" / index.FILE_NAME
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("DELETE FROM outlines")
    return connection


def test_outlines_that_were_dropped_are_made_again_at_once(yard: Greenhouse) -> None:
    many = {f"b{number}.py": f"def b{number}():\n    return ring()\n" for number in range(30)}
    yard.commit("2026-01-02", "Many", many)
    yard.do("lineage", "rebuild")
    dropped(yard).close()
    assert why(yard, "ring")[0].startswith("Function ring stands in bell.py:1-4")


def test_a_file_that_is_in_quarantine_has_its_own_story(yard: Greenhouse) -> None:
    yard.do("lineage", "rebuild")
    dropped(yard).close()
    version = languages.version_of(languages.BY_NAME["python"])
    culprit = (yard.git("rev-parse", "HEAD:bell.py"), version, "bell.py", "took more than 5 s")
    quarantine.Quarantine(str(yard.path / ".git" / "tether")).add(quarantine.Blamed(*culprit))
    told = why(yard, "bell.py#ring")
    assert told[0].startswith("File bell.py")
    assert "this is the history of its file" in told[1]


def test_a_line_in_no_symbol_is_told_by_its_file(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", "Import", {"bell.py": f"import os\n\n\n{RING}", "notes.txt": "x\n"})
    yard.do("lineage", "rebuild")
    for selector in ("bell.py:1", "notes.txt:1"):
        told = why(yard, selector)
        assert told[0].startswith(f"File {selector[:-2]}")
        assert "this is the history of its file" in told[1]


def test_a_branch_that_was_amended_and_cleared_away_is_followed_on(yard: Greenhouse) -> None:
    yard.git("checkout", "-qb", "other")
    yard.commit("2026-01-02", f"{TWO}: a gong", {"gong.py": GONG})
    yard.commit("2026-01-03", "Tune it", {"gong.py": GONG.replace("3", "4")})
    yard.do("lineage", "rebuild")
    yard.write("gong.py", GONG.replace("3", "5"))
    yard.git("commit", "-qa", "--amend", "-m", f"{THREE}: tune it", at="2026-01-04T09:00:00Z")
    yard.git("reflog", "expire", "--expire=now", "--all")
    yard.git("gc", "-q", "--prune=now")
    assert yard.do("lineage", "rebuild")["rebuild"]["commits"] == 1
    told = " ".join(why(yard, "gong.py#strike"))
    assert TWO in told
    assert THREE in told
