"""What a question answers that is asked amiss, too early or too narrowly: it says what is wrong."""

from __future__ import annotations

import pytest

from tests.greenhouse import Greenhouse

ONE, TWO, THREE, FOUR = (f"T2026010{number}-aaaaa{number}" for number in (1, 2, 3, 4))
RING = "def ring(bell):\n    bell.swing()\n    bell.swing()\n    return bell.tone\n"
CHIME = RING.replace("def ring", "def chime")
GONG = "def strike(gong):\n    gong.hit('soft')\n    gong.rest(3)\n    return gong.tone\n"
_ADR = "# {title}\n\nDate: {day}\n\nStatus: Accepted\n\n## Decision\n\n{text}\n"


@pytest.fixture
def yard(empty: Greenhouse) -> Greenhouse:
    """A repository with a bell."""
    empty.commit("2026-01-01", f"{ONE}: ring", {"src/bell.py": RING, "src/gong.py": GONG})
    return empty


def first(made: Greenhouse, selector: str, *words: str) -> str:
    line: str = made.do("why", selector, *words)["lines"][0]["text"]
    return line


def refused(made: Greenhouse, *words: str) -> tuple[str, str]:
    """Message and hint."""
    ended = made.run("why", *words, "--json")
    assert ended.code == 5, ended.out
    return ended.json["error"]["message"], ended.json["error"]["hint"]


# Old names


def test_a_symbol_is_found_by_the_name_that_it_had(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", f"{TWO}: chime", {"src/bell.py": CHIME})
    yard.do("lineage", "rebuild")
    for selector in ("src/bell.py#ring", "ring", "symbol:ring"):
        assert first(yard, selector).startswith("Function chime stands in src/bell.py:1-4")
    assert yard.told("feature", "src/bell.py#ring")["name"] == "function chime"
    assert first(yard, "ring", "--as-of", ONE).startswith(f"As of {ONE}, function ring stands in")
    yard.git("mv", "src/bell.py", "src/tower.py")
    yard.commit("2026-01-03", "Move it", {})
    yard.commit("2026-01-04", "Import", {"src/tower.py": f"import os\n\n\n{CHIME}"})
    assert yard.told("feature", "src/bell.py#ring")["place"] == "src/tower.py:4-7"
    for path in ("src/bell.py", "src/tower.py"):
        assert first(yard, f"{path}#ring").startswith("Function chime stands in src/tower.py")


def test_a_symbol_is_found_where_it_stood(yard: Greenhouse) -> None:
    tower = {"src/bell.py": "# Quiet.\n", "src/tower.py": RING}
    yard.commit("2026-01-02", "A tower", {"src/tower.py": GONG.replace("strike", "climb")})
    yard.commit("2026-01-03", "Move it", tower)
    yard.do("lineage", "rebuild")
    assert first(yard, "src/bell.py#ring").startswith("Function ring stands in src/tower.py:1-4")


def test_a_name_that_several_had_is_no_name_of_one(yard: Greenhouse) -> None:
    horn = "def {}(horn):\n    horn.blow('loud')\n    horn.wait(7)\n    return horn.noise\n"
    yard.commit("2026-01-02", "Another", {"src/horn.py": horn.format("ring")})
    files = {"src/bell.py": CHIME, "src/horn.py": horn.format("toot")}
    yard.commit("2026-01-03", "Rename both", files)
    yard.do("lineage", "rebuild")
    assert "is called ring here" in refused(yard, "ring")[0]
    assert first(yard, "src/horn.py#ring").startswith("Function toot stands in")


def test_of_a_living_and_a_removed_one_the_last_that_was_called_so_is_told(
    yard: Greenhouse,
) -> None:
    yard.commit("2026-01-02", "Rename", {"src/bell.py": CHIME})
    other = GONG.replace("strike", "ring")
    yard.commit("2026-01-03", "Another", {"src/bell.py": f"{CHIME}\n\n{other}"})
    yard.commit("2026-01-04", "Not that one", {"src/bell.py": CHIME})
    yard.do("lineage", "rebuild")
    assert first(yard, "src/bell.py#ring").startswith("Function ring")
    assert yard.told("feature", "src/bell.py#ring")["gone"] is True


def test_a_name_that_was_taken_after_it_was_free_is_that_of_the_living(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", "No ring", {"src/bell.py": "# Quiet.\n"})
    yard.commit("2026-01-03", "Another", {"src/bell.py": GONG.replace("strike", "ring")})
    yard.commit("2026-01-04", "Rename", {"src/bell.py": GONG.replace("strike", "beat")})
    yard.do("lineage", "rebuild")
    assert first(yard, "src/bell.py#ring").startswith("Function beat stands in src/bell.py")


def test_a_directory_that_is_gone_says_where_its_files_went(yard: Greenhouse) -> None:
    yard.commit("2026-01-02", "Below", {"src/deep/horn.py": CHIME})
    yard.git("mv", "src", "lib")
    yard.git("mv", "lib/gong.py", "strike.py")
    yard.commit("2026-01-03", "Move all", {})
    yard.do("lineage", "rebuild")
    for words in ("dir:src", "src", "src/"):
        message, hint = refused(yard, words)
        assert message.startswith("Nothing stands in src any more in commit ")
        assert message.endswith(": of 3 files 2 went to lib, 1 went to the top.")
        assert hint == "Name it as dir:lib."
    assert "2 went to lib" in yard.refused("feature", "src")[1]
    assert ", directory src: 1 task and 2 " in first(yard, "src", "--as-of", "2026-01-02")
    yard.git("rm", "-qr", "lib")
    yard.commit("2026-01-04", "Nothing rings", {"README.md": "# Quiet\n"})
    assert refused(yard, "dir:lib")[0].endswith(": of 2 files none is left.")


# Before there was anything


@pytest.mark.parametrize("words", ["feature README.md", "stats", "export --all", "edges"])
def test_where_nothing_was_ever_read_that_is_said(yard: Greenhouse, words: str) -> None:
    _, message, hint = yard.refused(*words.split())
    assert message == "Nothing is indexed yet, so this cannot be answered."
    assert hint == "Make the index with `tether lineage rebuild`."


def test_what_came_later_was_not_there_yet(yard: Greenhouse) -> None:
    yard.task(TWO, "Ring twice")
    yard.commit("2026-01-05", "Blow", {"src/horn.py": "def blow(horn):\n    return horn.air\n"})
    yard.do("lineage", "rebuild")
    said = f" was not there yet, as of {TWO} (2026-01-02 08:00Z)."
    for words in ("blow", "src/horn.py#blow", "src/horn.py"):
        assert refused(yard, words, "--as-of", TWO)[0] == words + said
        for question in ("feature", "risk", "reversal", "edges", "export"):
            assert yard.refused(question, words, "--as-of", TWO)[1] == words + said
    assert "not there yet" not in refused(yard, "nobody", "--as-of", TWO)[0]


def test_code_is_found_as_of_then_by_the_name_of_today(yard: Greenhouse) -> None:
    yard.git("mv", "src/bell.py", "src/tower.py")
    yard.commit("2026-01-02", "Move it", {})
    yard.do("lineage", "rebuild")
    told = yard.told("feature", "src/tower.py#ring", "--as-of", "2026-01-01")
    assert (told["place"], told["selector"]) == ("src/bell.py:1-4", "src/tower.py#ring")
    assert [each["task"] for each in told["tasks"]] == [f"task:work:{ONE}"]


# As of a time


def test_how_a_task_stands_today_is_not_told_as_of_a_time(yard: Greenhouse) -> None:
    yard.task(ONE, "Ring", status="done")
    yard.task(TWO, "Ring twice", status="done", description=f"Builds on {ONE}.")
    yard.commit("2026-01-02", f"{TWO}: ring twice", {"src/bell.py": RING * 2})
    yard.do("lineage", "rebuild")
    for words in (("feature", "src/bell.py"), ("closure", ONE), ("edges", ONE), ("reversal", ONE)):
        assert f"{ONE} “Ring” (done)" in (now := yard.page(*words)), now
        then = yard.page(*words, "--as-of", "2026-01-03")
        assert f"{ONE} “Ring”" in then
        assert "(done)" not in then
        nodes = yard.told(*words, "--as-of", "2026-01-03")["nodes"]
        assert nodes[f"task:work:{ONE}"]["status"] is None
    page = yard.page("diff", ONE, "--as-of", "2026-01-03")
    assert [line.count("(done)") for line in page.splitlines() if f"{ONE} “Ring”" in line] == [0, 1]


def test_what_seems_to_replace_a_decision_did_not_before_it_was_taken(yard: Greenhouse) -> None:
    rows = (
        ("0001-bells", "1. Bells ring twice", "2026-01-02", "We ring twice."),
        ("0002-once", "2. Ring once", "2026-03-01", "This replaces decision 0001."),
    )
    for name, title, day, text in rows:
        yard.write(f"docs/adr/{name}.md", _ADR.format(title=title, day=day, text=text))
    yard.commit("2026-01-03", "Decide", {})
    yard.do("lineage", "rebuild")
    assert "0002 seems to replace 0001" in yard.page("decision")
    for words in ((), ("0001",)):
        page = yard.page("decision", *words, "--as-of", "2026-02-01")
        assert "Ring once" not in page
        assert "0002" not in page
        assert "accepted" not in page
        assert yard.told("decision", *words, "--as-of", "2026-02-01")["suspected"] == []


# Too narrowly


def test_what_is_only_known_at_less_is_not_denied(house: Greenhouse) -> None:
    sure = ("--min-confidence", "0.999")
    said = {
        ("feature", "src/clock.py#tick"): "no task is known at 0.999 or more.",
        ("risk", "src/lamp.py"): "its past tells of no risk at 0.999 or more.",
        ("reversal", "src/clock.py#tick"): "nothing is known at 0.999 or more to undo,",
        ("closure", "T20260315-ape001"): "leads from it at 0.999 or more.",
        ("edges", "src/clock.py#tick"): "0 edges at 0.999 or more.",
        ("decision", "0003"): "Nothing refers to it at 0.999 or more,",
    }
    for words, expected in said.items():
        assert expected in " ".join(house.page(*words, *sure).split())
        assert " or more" not in house.page(*words)


def test_a_limit_counts_the_edges_that_were_asked_for(yard: Greenhouse) -> None:
    for number, task in enumerate((TWO, THREE, FOUR), 2):
        tone = RING.replace("bell.tone", f"bell.tone + {number}")
        files = {"src/bell.py": tone, "src/gong.py": GONG.replace("3", str(number + 2))}
        yard.commit(f"2026-01-0{number}", f"{task}: louder", files)
    yard.do("lineage", "rebuild")
    for name in ("co-touches", "co-touches-symbol"):
        told = yard.told("edges", ONE, "--type", name, "--limit", "3")
        assert [each["type"] for each in told["shared"]] == [name] * 3
        assert told["truncated"] is False


# Of another kind


@pytest.mark.parametrize(
    ("selector", "message", "hint"),
    [
        ("src/bel.py", "There is no file src/bel.py in commit ", "Did you mean src/bell.py?"),
        ("bel.py", "There is no file bel.py in commit ", ""),
        ("file:src/bel.py", "There is no file src/bel.py ", "Did you mean src/bell.py?"),
        ("file:src", "src is a directory, no file.", "Name it as dir:src."),
        ("dir:src/bell.py", "src/bell.py is a file, no directory.", "Name it as file:src/bell.py."),
        ("node:src", "node:src is no node: the id of one is 24 ", ""),
        (f"node:{'a' * 24}", "The index has no such node.", "Name the code as PATH or "),
    ],
)
def test_what_is_of_another_kind_says_so(
    yard: Greenhouse, selector: str, message: str, hint: str
) -> None:
    yard.do("lineage", "rebuild")
    told = refused(yard, selector)
    assert told[0].startswith(message)
    assert told[1].startswith(hint)


def test_a_dot_is_all_that_is_there(yard: Greenhouse) -> None:
    assert first(yard, ".").startswith("Directory .")
    yard.do("lineage", "rebuild")
    for selector in (".", "./", "dir:."):
        assert first(yard, selector).startswith("Directory .: 1 task and ")
    assert yard.told("feature", ".")["kind"] == "dir"
    assert first(yard.at(yard.path / "src"), ".").startswith("Directory src: 1 task and ")
    assert first(yard.at(yard.path / "src"), "..").startswith("Directory .: 1 task and ")
