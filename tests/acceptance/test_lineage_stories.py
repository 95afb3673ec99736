"""What `tether why` says is so: of directories, records, notes, ancestors and sections.

Each story is of a small repository with real commits.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.greenhouse import Greenhouse
from tether import errors
from tether.lineage import declaring

ONE, TWO, THREE = (f"T2026010{number}-aaaaa{number}" for number in (1, 2, 3))
RING = "def ring(bell):\n    bell.swing()\n    bell.swing()\n    return bell.tone\n"
LOUD = RING.replace("return", "bell.louder()\n    return")
GONG = "def strike(gong):\n    gong.hit('soft')\n    gong.rest(3)\n    return gong.tone\n"
CHIME = "def chime(bars):\n    for bar in bars:\n        bar.touch()\n    return len(bars)\n"
DECLARED = "work/lineage.yaml"
MOVED = " moved it "


@pytest.fixture
def yard(empty: Greenhouse) -> Greenhouse:
    """A repository of two files in a directory."""
    empty.commit("2026-01-01", f"{ONE}: begin", {"pkg/one.py": RING, "pkg/two.py": GONG})
    return empty


def why(made: Greenhouse, selector: str, *words: str) -> list[str]:
    return [line["text"] for line in made.do("why", selector, *words)["lines"]]


def move(made: Greenhouse, day: str, message: str, *ways: tuple[str, str]) -> None:
    for before, after in ways:
        (made.path / after).parent.mkdir(parents=True, exist_ok=True)
        made.git("mv", before, after)
    made.commit(day, message, {})


# Directories


@pytest.fixture
def parted(yard: Greenhouse) -> Greenhouse:
    """One file was renamed in its directory, and the other one went to another."""
    move(yard, "2026-01-02", f"{TWO}: rename", ("pkg/one.py", "pkg/uno.py"))
    move(yard, "2026-01-03", f"{THREE}: take it out", ("pkg/two.py", "src/two.py"))
    yard.do("lineage", "rebuild")
    return yard


def test_a_file_that_moved_is_no_move_of_its_directory(parted: Greenhouse) -> None:
    for selector in ("dir:pkg", "src", "dir:."):
        assert MOVED not in " ".join(why(parted, selector)), selector


def test_a_commit_that_took_a_file_out_of_a_directory_is_told(parted: Greenhouse) -> None:
    told = why(parted, "dir:pkg")
    assert told[0] == "Directory pkg: 3 tasks without a record and 3 commits since 2026-01-01."
    assert told[1].startswith(f"It was created on 2026-01-01 by {ONE}")
    assert told[2].startswith(f"{TWO} (")
    assert " changed it on 2026-01-02" in told[2]
    assert told[3].startswith(f"{THREE} (")
    assert " changed it on 2026-01-03" in told[3]


def test_what_became_of_a_file_before_it_came_was_elsewhere(parted: Greenhouse) -> None:
    told = why(parted, "src")
    assert told[1].startswith(
        f"Before that, as files elsewhere: it was created on 2026-01-01 by {ONE}"
    )
    assert told[2].startswith(f"It was created on 2026-01-03 by {THREE}")
    assert len(told) == 3


def test_a_commit_that_removed_a_file_of_a_directory_is_told(yard: Greenhouse) -> None:
    yard.git("rm", "-q", "pkg/two.py")
    yard.commit("2026-01-02", f"{TWO}: no gong", {})
    yard.do("lineage", "rebuild")
    assert why(yard, "pkg")[2].startswith(f"{TWO} (")


def test_a_directory_was_moved_if_all_its_files_were(yard: Greenhouse) -> None:
    move(yard, "2026-01-02", f"{TWO}: move", ("pkg", "lib/pkg"))
    yard.commit("2026-01-03", f"{THREE}: louder", {"lib/pkg/one.py": LOUD})
    yard.do("lineage", "rebuild")
    told = why(yard, "lib/pkg")
    assert told[1].startswith(f"It was created on 2026-01-01 by {ONE}")
    assert f"{MOVED}from pkg to lib/pkg in commit " in told[2]
    assert "and changed it" not in told[2]
    assert why(yard, "lib")[2].startswith(f"It was created on 2026-01-02 by {TWO}")


def test_a_directory_was_not_moved_if_a_file_stayed(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", f"{TWO}: a chime", {"pkg/three.py": CHIME})
    ways = [(f"pkg/{name}.py", f"lib/{name}.py") for name in ("one", "two")]
    move(yard, "2026-01-03", f"{THREE}: move most", *ways)
    yard.do("lineage", "rebuild")
    assert MOVED not in " ".join(why(yard, "lib"))


def test_what_a_branch_did_under_the_old_name_is_of_the_directory(yard: Greenhouse) -> None:
    yard.git("checkout", "-qb", "side")
    yard.commit("2026-01-03", f"{THREE}: louder", {"pkg/one.py": LOUD})
    yard.git("checkout", "-q", "main")
    move(yard, "2026-01-02", f"{TWO}: move", ("pkg", "lib"))
    yard.git("merge", "-q", "--no-edit", "side", at="2026-01-04T09:00:00Z")
    yard.do("lineage", "rebuild")
    told = why(yard, "lib")
    assert not any("elsewhere" in each for each in told)
    assert any(each.startswith(f"{THREE} (") for each in told)


# Records


def test_without_an_index_nothing_is_said_of_records_that_are_missing(
    yard: Greenhouse, tmp_path: Path
) -> None:
    yard.task(ONE, "Ring when it freezes")
    yard.commit("2026-01-02", "Write it down", {})
    bare = tmp_path / "bare.git"
    yard.git("clone", "-q", "--bare", yard.path.as_uri(), str(bare))
    for made in (yard, yard.at(bare)):
        for selector in ("pkg/one.py#ring", "pkg/one.py", "pkg"):
            told = " ".join(why(made, selector))
            assert ONE in told
            assert "nothing is indexed yet" in told
            assert "no record" not in told
            assert "without a record" not in told
    yard.at(bare).do("init", "--yes")
    yard.at(bare).do("lineage", "rebuild")
    told = " ".join(why(yard.at(bare), "pkg/one.py#ring"))
    assert "no record" not in told
    assert "May be incomplete: no checkout is here" in told
    yard.do("lineage", "rebuild")
    assert f"by {ONE} “Ring when it freezes” (new)" in " ".join(why(yard, "pkg/one.py#ring"))


# Notes


@pytest.fixture
def noted(yard: Greenhouse) -> Greenhouse:
    """The first task named a risk, and a second one follows it up."""
    yard.task(ONE, "Ring when it freezes")
    summary = "It rings now. Risk: the frost sensor is not heated at night."
    yard.do("task", "complete", ONE, "--summary", summary)
    yard.task(TWO, "Heat the sensor", description=f"Follow-up to {ONE}: it is cold at night.")
    yard.commit("2026-01-02", f"{TWO}: louder", {"pkg/one.py": LOUD})
    yard.do("lineage", "rebuild")
    return yard


def notes_of(made: Greenhouse, selector: str) -> list[str]:
    return [each for each in why(made, selector) if each.startswith("Note: ")]


def test_a_note_stays_until_a_later_task_that_is_done_says_that_it_is_settled(
    noted: Greenhouse,
) -> None:
    assert len(notes_of(noted, "pkg/one.py#ring")) == 1
    noted.do("task", "complete", TWO, "--summary", "Fixed the frost sensor, it is heated at night.")
    assert notes_of(noted, "pkg/one.py#ring") == []
    assert len(notes_of(noted, "pkg/two.py#strike")) == 1, "the later task is not of its story"


def test_a_note_stays_if_the_later_task_speaks_of_something_else(noted: Greenhouse) -> None:
    noted.do("task", "complete", TWO, "--summary", "Fixed the colour of the bell.")
    assert len(notes_of(noted, "pkg/one.py#ring")) == 1


def test_code_that_is_gone_has_no_notes(noted: Greenhouse) -> None:
    noted.git("rm", "-q", "pkg/one.py")
    noted.commit("2026-01-04", "Drop it", {})
    assert notes_of(noted, "pkg/one.py#ring") == []


# Two that are one


RING_JS = "function ring(bell) {\n  bell.swing();\n  return bell.volume * bell.tone;\n}\n"
OLD, NEW, OTHER = "pkg/two.py#strike", "web/ring.js#ring", "pkg/chime.py#chime"


@pytest.fixture
def ported(yard: Greenhouse) -> Greenhouse:
    """Code that was written anew, beside the old one that went on."""
    yard.commit("2026-01-02", f"{TWO}: in JavaScript", {"web/ring.js": RING_JS})
    yard.commit("2026-01-03", f"{THREE}: rest longer", {"pkg/two.py": GONG.replace("3", "5")})
    yard.commit("2026-01-04", "A chime", {"pkg/chime.py": CHIME})
    yard.do("lineage", "rebuild")
    return yard


def test_the_story_of_the_old_one_ends_where_the_new_one_begins(ported: Greenhouse) -> None:
    ported.told("same-as", OLD, NEW)
    told = why(ported, NEW)
    assert told[1].startswith(f"Before that, as {OLD}: it was created on 2026-01-01 by {ONE}")
    assert told[2].startswith(f"It was created on 2026-01-02 by {TWO}")
    assert THREE not in " ".join(told)


def test_a_circle_is_refused_however_long_it_is(ported: Greenhouse) -> None:
    ported.told("same-as", OLD, NEW)
    ported.told("same-as", NEW, OTHER)
    before = (ported.path / DECLARED).read_bytes()
    for pair in ((NEW, OLD), (OTHER, OLD)):
        code, message, hint = ported.refused("same-as", *pair)
        assert code == 3
        assert message.startswith("The other way round is declared already.")
        assert DECLARED in hint
    assert (ported.path / DECLARED).read_bytes() == before


def test_a_circle_is_seen_in_the_words_of_the_file_too() -> None:
    raw = b"same_as:\n  - {from: a.py, to: b.py}\n  - {from: b.py, to: c.py}\n  - odd\n"
    with pytest.raises(errors.NotAllowed):
        declaring.same_as(raw, DECLARED, "c.py", "a.py", "")
    assert declaring.same_as(raw, DECLARED, "a.py", "c.py", "").startswith(raw)
    then = raw.replace(b"to: b.py", b"to: b.py, at: 1f2e3d4c")
    assert declaring.same_as(then, DECLARED, "c.py", "a.py", "").startswith(then)


def test_in_a_circle_that_stands_there_the_older_one_was_before(ported: Greenhouse) -> None:
    ways = ((OLD, NEW), (NEW, OLD))
    rows = "".join(f"  - {{from: '{old}', to: '{new}'}}\n" for old, new in ways)
    ported.commit("2026-01-05", "Declare", {DECLARED: f"same_as:\n{rows}"})
    assert why(ported, NEW)[1].startswith(f"Before that, as {OLD}: ")
    told = why(ported, OLD)
    assert TWO not in " ".join(told)
    assert not any("Before that" in each for each in told)


# Sections


def test_a_section_has_a_heading(yard: Greenhouse) -> None:
    body = "\n\nIt rings when it freezes, and stops when it thaws.\n"
    for day, heading in enumerate(("# Bell", "# The bell", "## The bell"), 1):
        yard.commit(f"2026-02-0{day}", f"Say {heading}", {"README.md": f"{heading}{body}"})
    by_git = " ".join(why(yard, "README.md:1"))
    yard.do("lineage", "rebuild")
    for told in (by_git, " ".join(why(yard, "README.md:1"))):
        assert "signature" not in told
        assert " renamed it from Bell to “The bell”" in told
        assert " changed its heading" in told
