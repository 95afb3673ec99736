"""`tether lineage history`: whom a selector means, and what is said of histories with holes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tether as package
from tests.conftest import Ended, Tether
from tether import errors
from tether.git import Git
from tether.lineage import sandbox

GitCall = Callable[..., str]
TWO = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


class Scene:
    """A repository that grows commit by commit."""

    def __init__(self, path: Path, git: GitCall, tether: Tether) -> None:
        self.path = path
        self._git = git
        self._tether = tether

    def commit(self, name: str, content: str | bytes, message: str = "Change") -> str:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", ".")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")

    def git(self, *words: str) -> str:
        return self._git(*words, cwd=self.path)

    def ask(self, *words: str, cwd: Path | None = None) -> Ended:
        return self._tether("lineage", "history", *words, cwd=cwd or self.path)

    def told(self, *words: str) -> dict[str, Any]:
        ended = self.ask(*words, "--json")
        assert ended.code == 0, ended.out
        history: dict[str, Any] = ended.json["history"]
        return history

    def error(self, *words: str) -> tuple[int, str]:
        ended = self.ask(*words, "--json")
        assert not ended.json["ok"]
        assert ended.json["error"]["hint"]
        return ended.code, ended.json["error"]["message"]

    def box(self) -> sandbox.Sandbox:
        return sandbox.Sandbox(str(self.path))

    def kinds(self, *words: str) -> list[str]:
        return [" ".join(each["kinds"]) for each in self.told(*words)["changes"]]


@pytest.fixture
def scene(repo: Path, git: GitCall, tether: Tether) -> Scene:
    return Scene(repo, git, tether)


# Whom a selector means


def test_a_symbol_is_followed_through_a_move_and_a_rename(scene: Scene) -> None:
    body = "    total = 0\n    for each in values:\n        total += each * 2\n    return total\n"
    first = scene.commit("old.py", f"def add(values):\n{body}", "Begin \x1b[31mred")
    scene.git("mv", "old.py", "new.py")
    moved = scene.commit("new.py", f"def add(values):\n{body}", "Move")
    last = scene.commit("new.py", f"def total(values):\n{body}", "Call it what it is")
    told = scene.told("total")
    assert [each["commit"] for each in told["changes"]] == [last, moved, first]
    assert [each["kinds"] for each in told["changes"]] == [["rename"], ["move"], ["introduced"]]
    assert told["symbol"]["path"] == "new.py"
    assert told["changes"][0]["before"]["qualified"] == "add"
    assert told["changes"][1]["before"]["path"] == "old.py"
    assert told["changes"][2]["subject"] == "Begin red"
    assert told["changes"][0]["author"] == "Test"
    assert told["unknown"] == []

    page = scene.ask("total").out
    assert page.startswith("function total, new.py:1-5, at ")
    assert "    add → total\n" in page
    assert "    old.py#add → new.py#add\n" in page
    assert "\x1b" not in page
    assert "Not shown: 2 earlier" in scene.ask("total", "--limit", "1").out
    assert scene.told("add", "--at", moved)["symbol"]["name"] == "add"


def test_every_form_of_selector_names_the_same(scene: Scene) -> None:
    scene.commit("src/shop.py", "class Cart:\n    def add(self):\n        return 1\n")
    scene.commit("README.md", "# Shop\n\n## Install\n\nRun it.\n")
    with scene.box() as box:
        commit = Git(scene.path).resolve("HEAD")
        for words in ("src/shop.py:3", "src/shop.py:2-3", "src/shop.py#Cart.add", "src/shop.py#add",
                      "Cart.add", "Cart::add", "add"):  # fmt: skip
            assert box.history(commit, words).symbol.qualified == "Cart.add", words
        for words in ("shop.py:3", "src/shop.py:3", "./shop.py#add", "../README.md#Install"):
            assert box.history(commit, words, "src").symbol.name in ("add", "Install"), words
    assert scene.told("README.md#Install")["symbol"]["kind"] == "section"
    assert scene.told(f"{scene.path}/src/shop.py:2")["symbol"]["name"] == "add"
    assert scene.ask("shop.py#add", cwd=scene.path / "src").code == 0


def test_a_class_of_a_header_is_followed_into_another(scene: Scene) -> None:
    shop = "class Shop {\npublic:\n  int total(int tax) {\n    return sum() + tax;\n  }\n};\n"
    scene.commit("a.h", shop)
    scene.commit("a.h", shop.replace("+ tax", "- tax"))
    scene.git("mv", "a.h", "a.hpp")
    scene.git("commit", "-qm", "Move")
    assert scene.kinds("Shop.total") == ["move", "body", "introduced"]
    assert scene.kinds("Shop") == ["move", "introduced"]


def test_a_name_may_have_dots(scene: Scene, tether: Tether) -> None:
    tether("init", "--yes", cwd=scene.path)
    scene.commit("README.md", "# Shop\n\n## 1.2 Install\n\nRun it.\n")
    told = scene.told("README.md#1.2 Install")
    assert told["symbol"]["name"] == told["changes"][0]["after"]["name"] == "1.2 Install"
    tether("lineage", "rebuild", cwd=scene.path)
    assert scene.told(told["symbol"]["node"])["symbol"]["name"] == "1.2 Install"


def test_names_of_several_are_asked_back(scene: Scene) -> None:
    scene.commit("a.py", "class A:\n    def go(self): ...\n\n\nclass B:\n    def go(self): ...\n")
    scene.commit("b.py", "def twice(): ...\n\n\ndef twice(): ...\n")
    ended = scene.ask("go", "--json")
    assert ended.code == 2
    candidates = ended.json["error"]["candidates"]
    assert [(each["selector"], each["line"]) for each in candidates] == [
        ("a.py#A.go", 2),
        ("a.py#B.go", 6),
    ]
    assert "a.py#B.go (line 6)" in ended.json["error"]["message"]
    assert scene.error("b.py#twice")[0] == 2
    assert scene.told("b.py#twice@2")["symbol"]["line"] == 4
    assert scene.error("b.py#twice@3")[0] == 5


def test_what_is_not_there_is_not_found(scene: Scene) -> None:
    scene.commit("a.py", TWO)
    scene.commit("notes.txt", "x")
    head = scene.git("rev-parse", "--short=12", "HEAD")
    assert scene.error("a.py:3") == (5, f"No symbol of a.py has line 3 in commit {head}.")
    assert scene.error("b.py:3") == (5, f"There is no file b.py in commit {head}.")
    assert "not known" in scene.error("notes.txt:1")[1]
    assert scene.error("one", "--at", "nowhere")[0] == 5
    with scene.box() as box:
        commit = Git(scene.path).resolve("HEAD")
        for words in ("nobody", "a.py#nobody", "../../etc/passwd:1", "/etc/passwd:1"):
            with pytest.raises(errors.NotFound):
                box.history(commit, words)
        for words in ("a.py", "a.py:0", "a.py:5-2", "#", "a.py#", "."):
            with pytest.raises(errors.UsageError):
                box.history(commit, words)


# Bad input


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"def one():\n    return 1\n" + b"# filler\n" * 120_000, "more than 1 MB"),
        (b"def one(): return 1\nx = '" + b"a" * 20_000 + b"'\n", "a machine made it"),
        (b"def one():\n    return '\0'\n", "binary"),
    ],
)
def test_a_file_that_no_person_wrote_is_named_as_what_it_is(
    scene: Scene, content: bytes, why: str
) -> None:
    scene.commit("one.py", content)
    code, message = scene.error("one.py#one")
    assert code == 5
    assert why in message


@pytest.mark.parametrize(
    ("middle", "why"),
    [
        (TWO.encode() + b"# filler\n" * 120_000, "it has more than 1 MB"),
        (b"def two(): return 2\nx = '" + b"a" * 20_000 + b"'\n", "its lines are too long for"),
        (TWO.encode() + b"\0", "it is binary"),
    ],
)
def test_such_a_version_in_the_middle_is_said(scene: Scene, middle: bytes, why: str) -> None:
    scene.commit("a.py", TWO)
    scene.commit("a.py", middle)
    scene.commit("a.py", TWO.replace("2", "22"))
    scene.commit("a.py", TWO.replace("2", "222"))
    told = scene.told("a.py#two")
    assert told["changes"][0]["kinds"] == ["body"]
    [said] = told["unknown"]
    assert said.startswith(f"a.py: a version was not read: {why}")
    assert f"Not known:\n  a.py: a version was not read: {why}" in scene.ask("a.py#two").out


def test_what_was_met_while_a_name_was_looked_for_is_said(scene: Scene) -> None:
    large = TWO + "# filler\n" * 120_000
    scene.commit("a.py", large)
    scene.commit("a.py", TWO)
    scene.commit("b.py", large)
    [said] = scene.told("two")["unknown"]
    assert said.startswith("a.py: a version was not read: it has more than 1 MB")
    assert "1 MB" in scene.error("b.py#two")[1]


def test_odd_bytes_and_line_ends_are_no_trouble(scene: Scene) -> None:
    odd = "def one():\n    return 'caf\xe9'\n".encode("latin-1")
    scene.commit("odd.py", odd)
    scene.commit("odd.py", odd.replace(b"return", b"return 1,"))
    assert scene.kinds("odd.py#one") == ["body", "introduced"]
    scene.commit("lines.py", TWO)
    scene.commit("lines.py", TWO.replace("\n", "\r\n").replace("2", "22"))
    assert scene.told("lines.py:6")["symbol"]["name"] == "two"
    assert scene.kinds("lines.py#two") == ["body", "introduced"]
    assert scene.kinds("lines.py#one") == ["introduced"]


def test_a_path_that_is_no_text_is_followed(scene: Scene) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    scene.commit(name, TWO)
    scene.commit(name, TWO.replace("2", "22"))
    assert scene.kinds("two") == ["body", "introduced"]


def test_missing_content_is_said(scene: Scene) -> None:
    scene.commit("a.py", TWO)
    blob = scene.git("rev-parse", "HEAD:a.py")
    scene.commit("a.py", TWO.replace("2", "22"))
    scene.commit("a.py", TWO.replace("2", "222"))
    os.unlink(scene.path / ".git" / "objects" / blob[:2] / blob[2:])
    told = scene.told("a.py#two")
    assert told["changes"][0]["kinds"] == ["body"]
    [said] = told["unknown"]
    assert said.startswith("a.py: a version was not read: its content is not in this clone; `git f")
    code, message = scene.error("a.py#two", "--at", "HEAD~2")
    assert (code, "not in this clone" in message) == (5, True)


def test_a_directory_that_is_missing_ends_the_history_and_is_said(scene: Scene) -> None:
    scene.commit("deep/a.py", TWO)
    tree = scene.git("rev-parse", "HEAD:deep")
    second = scene.commit("deep/a.py", TWO.replace("2", "22"))
    third = scene.commit("deep/a.py", TWO.replace("2", "222"))
    os.unlink(scene.path / ".git" / "objects" / tree[:2] / tree[2:])
    told = scene.told("deep/a.py#two")
    assert [each["commit"] for each in told["changes"]] == [third]
    assert told["unknown"] == [f"deep/a.py: what was before {third[:12]} could not be read"]
    assert second not in str(told)


def test_links_and_submodules_are_named_as_what_they_are(scene: Scene, tmp_path: Path) -> None:
    head = scene.commit("a.py", TWO)
    (scene.path / "link.py").symlink_to("a.py")
    scene.git("add", "link.py")
    scene.git("update-index", "--add", "--cacheinfo", f"160000,{head},module.py")
    scene.git("commit", "-qm", "Links")
    assert "symbolic link" in scene.error("link.py#one")[1]
    assert "submodule" in scene.error("module.py#one")[1]
    assert scene.error("link.py") == (2, "link.py is a symbolic link.")
    assert "is a submodule" in scene.error("module.py")[1]
    assert scene.told("one")["symbol"]["path"] == "a.py"


def test_a_directory_is_named_as_what_it_is(scene: Scene) -> None:
    scene.commit("one/two/a.py", TWO)
    scene.commit("docs/a.md", "# Guide\n")
    assert scene.error("docs") == (2, "docs is a directory.")
    assert "it is a directory" in scene.error("docs#Guide")[1]
    assert scene.told("one")["symbol"]["path"] == "one/two/a.py"
    assert scene.error("one/two/a.py") == (2, "one/two/a.py is a whole file.")


def test_a_repository_without_commits_says_so(tether: Tether, git: GitCall, tmp_path: Path) -> None:
    git("init", "-q", str(tmp_path / "empty"), cwd=tmp_path)
    for words in (("history", "a.py#f"), ("history", "a.py#f", "--at", "main")):
        ended = tether("lineage", *words, "--json", cwd=tmp_path / "empty")
        assert ended.code == 5
        assert ended.json["error"]["code"] == "no_commits"
        assert "no commits yet" in ended.json["error"]["message"]


def test_a_shallow_clone_says_where_it_ends(scene: Scene, tether: Tether, tmp_path: Path) -> None:
    scene.commit("a.py", TWO)
    cut = scene.commit("a.py", TWO.replace("2", "22"))
    scene.commit("a.py", TWO.replace("2", "222"))
    scene.git("clone", "-q", "--depth=2", scene.path.as_uri(), str(tmp_path / "clone"))
    ended = tether("lineage", "history", "a.py#two", "--json", cwd=tmp_path / "clone")
    told = ended.json["history"]
    assert told["changes"][0]["kinds"] == ["body"]
    assert len(told["unknown"]) == 1
    assert told["unknown"][0].startswith(cut[:12])
    assert "shallow" in told["unknown"][0]


def test_grafts_and_replacements_change_no_history(scene: Scene) -> None:
    first = scene.commit("a.py", TWO)
    scene.commit("a.py", TWO.replace("2", "22"))
    last = scene.commit("a.py", TWO.replace("2", "222"))
    before = scene.told("a.py#two")
    scene.git("replace", "--graft", last, first)
    (scene.path / ".git" / "info").mkdir(exist_ok=True)
    (scene.path / ".git" / "info" / "grafts").write_text(f"{last}\n")
    assert scene.told("a.py#two") == before
    assert len(before["changes"]) == 3


def test_a_bare_repository_answers_too(scene: Scene, tether: Tether, tmp_path: Path) -> None:
    scene.commit("a.py", TWO)
    scene.git("clone", "-q", "--bare", str(scene.path), str(tmp_path / "bare.git"))
    ended = tether("lineage", "history", "a.py#two", "--json", cwd=tmp_path / "bare.git")
    assert ended.json["history"]["symbol"]["name"] == "two"


def test_a_damaged_or_read_only_index_changes_no_answer(scene: Scene, tether: Tether) -> None:
    scene.commit("a.py", TWO)
    tether("init", "--yes", cwd=scene.path)
    index = scene.path / ".git" / "tether" / "index.db"
    before = scene.told("a.py#two")
    assert index.stat().st_size > 0
    assert scene.told("a.py#two") == before
    index.write_bytes(index.read_bytes()[:3000])
    assert scene.told("a.py#two") == before
    index.unlink(missing_ok=True)
    index.mkdir()
    assert scene.told("a.py#two") == before


# The parser


def test_a_parser_that_crashes_is_refused(scene: Scene, tether: Tether, tmp_path: Path) -> None:
    found = tmp_path / "installed" / "tree_sitter-0.26.0.dist-info"
    found.mkdir(parents=True)
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: tree-sitter\nVersion: 0.26.0\n")
    scene.commit("a.py", TWO)
    env = {"PYTHONPATH": str(found.parent)}
    ended = tether("lineage", "history", "one", "--json", cwd=scene.path, env=env)
    assert (ended.code, ended.json["error"]["code"]) == (1, "extra_missing")
    assert "0.26.0" in ended.json["error"]["message"]
    checks = tether("doctor", "--json", cwd=scene.path, env=env).json["doctor"]["checks"]
    assert [each["grade"] for each in checks if each["name"] == "lineage"] == ["fail"]


def test_without_a_parser_the_way_to_it_is_told(
    scene: Scene, environ: dict[str, str], tmp_path: Path
) -> None:
    import click

    places = Path(click.__file__).parents[1]
    without = tmp_path / "without"
    without.mkdir()
    for each in places.iterdir():
        if not each.name.startswith("tree_sitter") and not each.name.endswith(".pth"):
            (without / each.name).symlink_to(each)
    source = Path(package.__file__).parents[1]
    script = (
        f"import sys; sys.path += [{str(source)!r}, {str(without)!r}]\n"
        "from tether.cli import main; sys.exit(main.main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, "lineage", "history", "one"],
        cwd=scene.path, env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "needs the package tree-sitter" in done.stderr
    assert "pip install '.[lineage]'" in done.stderr


# All symbols, and what belongs together

LONG = """def report(rows):
    total = sum(row.amount for row in rows)
    mean = total / max(1, len(rows))
    lines = [f"{row.name}: {row.amount}" for row in rows]
    lines.append(f"mean {mean:.2f} of {total}")
    return "\\n".join(lines)
"""
SPLIT = """def report(rows):
    lines = [f"{row.name}: {row.amount}" for row in rows]
    lines.append(summary(rows))
    return "\\n".join(lines)


def summary(rows):
    total = sum(row.amount for row in rows)
    mean = total / max(1, len(rows))
    return f"mean {mean:.2f} of {total}"
"""


def test_the_index_knows_a_symbol_by_its_id(scene: Scene, tether: Tether) -> None:
    tether("init", "--yes", cwd=scene.path)
    scene.commit("a.py", TWO)
    scene.commit("a.py", TWO.replace("return 2", "return 3"))
    node = scene.told("a.py#two")["symbol"]["node"]
    assert scene.error(node)[0] == 5
    built = tether("lineage", "rebuild", "--json", cwd=scene.path).json["rebuild"]
    assert (built["is_anew"], built["is_kept"]) == (True, True)
    told = scene.told(node)
    assert [each["kinds"] for each in told["changes"]] == [["body"], ["introduced"]]
    assert told["symbol"]["qualified"] == "two"


def test_an_id_does_not_go_with_a_commit(scene: Scene, tether: Tether) -> None:
    tether("init", "--yes", cwd=scene.path)
    scene.commit("a.py", LONG)
    scene.commit("a.py", SPLIT)
    node = scene.told("a.py#report")["symbol"]["node"]
    tether("lineage", "rebuild", cwd=scene.path)
    for revision in ("nowhere", "HEAD~1", "HEAD"):
        code, message = scene.error(node, "--at", revision)
        assert (code, "--at does not go with" in message) == (2, True)
    assert scene.told(node) == scene.told(node, "--related")
    assert scene.told(node)["changes"] == scene.told("a.py#report", "--related")["changes"]


def test_without_a_store_nothing_is_followed_in_vain(scene: Scene, tether: Tether) -> None:
    ended = tether("lineage", "rebuild", cwd=scene.path)
    assert ended.code == 5
    assert "tether init" in ended.err


def test_what_is_gone_is_still_known_by_its_id(scene: Scene, tether: Tether) -> None:
    tether("init", "--yes", cwd=scene.path)
    scene.commit("a.py", TWO)
    node = scene.told("a.py#two")["symbol"]["node"]
    scene.commit("a.py", TWO.partition("\n\n\n")[0] + "\n")
    tether("lineage", "rebuild", cwd=scene.path)
    assert scene.told(node)["changes"][0]["kinds"] == ["deleted"]


def test_a_second_rebuild_has_nothing_to_do(scene: Scene, tether: Tether) -> None:
    tether("init", "--yes", cwd=scene.path)
    scene.commit("a.py", TWO)
    tether("lineage", "rebuild", cwd=scene.path)
    again = tether("lineage", "rebuild", "--json", cwd=scene.path).json["rebuild"]
    assert (again["commits"], again["events"]) == (0, 0)
    assert tether("lineage", "rebuild", "--force", cwd=scene.path).out.count("beginning") == 1


def test_what_was_split_off_says_from_what(scene: Scene) -> None:
    scene.commit("a.py", LONG)
    scene.commit("a.py", SPLIT)
    [introduced] = scene.told("a.py#summary")["changes"]
    assert [each["relation"] for each in introduced["related"]] == ["split_from"]
    assert introduced["related"][0]["before"]["qualified"] == "report"
    assert "split from a.py#report" in scene.ask("a.py#summary").out


def test_the_whole_says_what_was_split_off_if_it_is_asked(scene: Scene) -> None:
    scene.commit("a.py", LONG)
    scene.commit("a.py", SPLIT)
    assert scene.told("a.py#report")["changes"][0]["related"] == []
    assert "split off: a.py#summary" in scene.ask("a.py#report", "--related").out


def test_the_survivor_says_what_it_took_in(scene: Scene) -> None:
    scene.commit("a.py", SPLIT)
    scene.commit("a.py", LONG)
    told = scene.told("a.py#report", "--related")["changes"][0]["related"]
    assert [(each["relation"], each["before"]["qualified"]) for each in told] == [
        ("inlined_into", "summary")
    ]
    assert "took in a.py#summary" in scene.ask("a.py#report", "--related").out


def test_what_was_deleted_says_what_took_it_in_if_it_is_asked(scene: Scene) -> None:
    scene.commit("a.py", SPLIT)
    scene.commit("a.py", LONG)
    scene.git("revert", "--no-edit", "HEAD")
    changes = scene.told("a.py#summary", "--related")["changes"]
    [gone] = [each for each in changes if each["kinds"] == ["deleted"]]
    assert [(each["relation"], each["after"]["qualified"]) for each in gone["related"]] == [
        ("inlined_into", "report")
    ]
    assert "inlined into a.py#report" in scene.ask("a.py#summary", "--related").out
