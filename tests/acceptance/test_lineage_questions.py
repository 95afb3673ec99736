"""The questions of `tether lineage`: what they answer to people and programs, and what they refuse.

One small shop: a cart whose sum was made, changed and changed back, by tasks that are named in
commits, with two decisions and a page of documentation.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Ended, Tether

MAKE, CHANGE, BACK, REPLACE = (
    *("T20260301-aaaaaa", "T20260305-bbbbbb"),
    *("T20260310-cccccc", "T20260320-dddddd"),
)
ADD = "def add(cart, item):\n    cart.append(item)\n    return cart\n"
TOTAL = (
    "\n\ndef total(cart):\n    result = 0\n    for item in cart:\n        result += item.price\n"
)
PLAIN = f"{ADD}{TOTAL}    return result\n"
TAXED = f"""{ADD}{TOTAL}        if item.is_taxed:
            result += item.price * item.tax
        else:
            result += item.duty
    return round(result, 2)
"""
PAGE = '<html>\n"]; click n0 "javascript:alert(1)" %% |x| `#quot;` end\n</html>'
ADR = "# {title}\n\nStatus: {status}\n\nDate: {day}\n\n## Decision\n\n{text}\n"


class Shop:
    """A repository, and the command line in it."""

    def __init__(self, path: Path, environ: dict[str, str], tether: Tether) -> None:
        self.path, self._environ, self._tether = path, environ, tether

    def git(self, *words: str, at: str = "") -> str:
        dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
        done = subprocess.run(
            ["git", *words], cwd=self.path, env={**self._environ, **dates},
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    def commit(self, day: str, message: str, **files: str) -> str:
        for name, content in files.items():
            self.write(name.replace("__", "/").replace("_dot_", "."), content)
        self.git("add", "-A")
        self.git("commit", "-qm", message, at=f"{day}T09:00:00Z")
        return self.git("rev-parse", "HEAD")

    def write(self, name: str, content: str) -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)

    def ask(self, *words: str, env: dict[str, str] | None = None, stdin: str = "") -> Ended:
        return self._tether("lineage", *words, cwd=self.path, env=env, stdin=stdin)

    def told(self, *words: str) -> Any:
        ended = self.ask(*words, "--json")
        assert ended.code == 0, ended.out + ended.err
        assert ended.json["ok"]
        return ended.json

    def page(self, *words: str) -> str:
        ended = self.ask(*words)
        assert ended.code == 0, ended.err
        return ended.out

    def refused(self, *words: str) -> tuple[int, str]:
        ended = self.ask(*words, "--json")
        assert not ended.json["ok"]
        assert ended.json["error"]["hint"]
        return ended.code, ended.json["error"]["message"]

    def do(self, *words: str, env: dict[str, str] | None = None) -> Any:
        ended = self._tether(*words, "--json", cwd=self.path, env=env)
        assert ended.code == 0, ended.out + ended.err
        return ended.json

    def types(self, *words: str) -> list[tuple[str, str]]:
        """How the edges of a node read, and where they lead."""
        return [(e["reads"], e["other"]) for e in self.told("edges", *words)["edges"]]

    def ref(self, type_name: str) -> str:
        """What the only edge of a type is called."""
        [edge] = self.told("edges", "--type", type_name)["edges"]
        ref: str = edge["edge"]
        return ref


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as every test begins with it: made once."""
    return tmp_path_factory.mktemp("shop") / "shop"


@pytest.fixture
def shop(template: Path, tmp_path: Path, environ: dict[str, str], tether: Tether) -> Shop:
    if not template.exists():
        _open(Shop(template, environ, tether))
    path = tmp_path / "shop"
    shutil.copytree(template, path, symlinks=True)
    return Shop(path, environ, tether)


def _open(made: Shop) -> None:
    made.path.mkdir()
    made.git("init", "-q", "-b", "main")
    made.do("init", "--yes")
    made.commit("2026-03-01", f"[{MAKE}] Count what is in the cart", src__cart_dot_py=PLAIN)
    made.commit("2026-03-02", "Tell of it", README_dot_md="# Shop\n\nSee `src/cart.py#total`.\n")
    made.commit("2026-03-05", f"[{CHANGE}] Add the tax", src__cart_dot_py=TAXED)
    first = ADR.format(
        title="1. Sum in floats", status="Superseded by 0002", day="2026-03-06",
        text="We sum in floats, see `src/cart.py`.",
    )  # fmt: skip
    second = ADR.format(
        title="2. Sum in cents", status="Accepted. Supersedes 0001", day="2026-03-08",
        text="We sum in cents, see `src/cart.py`.",
    )  # fmt: skip
    made.commit(
        "2026-03-08", "Decide",
        **{"docs__adr__0001-floats_dot_md": first, "docs__adr__0002-cents_dot_md": second},
    )  # fmt: skip
    made.commit("2026-03-10", f"[{BACK}] Leave the tax to others", src__cart_dot_py=PLAIN)
    for task, title in ((MAKE, "Count the cart"), (CHANGE, f"Add the tax {PAGE}")):
        made.do("task", "new", title, "--id", task)
    made.do(
        *("task", "new", "Let others count", "--id", REPLACE, "--description"),
        f"It counts elsewhere. This supersedes {CHANGE}. See {MAKE}, too.",
    )
    made.commit("2026-03-21", "Write the tasks down")
    made.do("lineage", "rebuild")


# The tasks of some code


def test_a_feature_has_its_tasks_in_order_with_what_shows_it(shop: Shop) -> None:
    told = shop.told("feature", "src/cart.py#total")
    assert [each["task"] for each in told["tasks"]] == [
        f"task:work:{each}" for each in (MAKE, CHANGE, BACK)
    ]
    first = told["tasks"][0]["attributions"][0]
    assert (first["type"], first["source"]) == ("created", "kg-attribution")
    commit = first["evidence"][0]["pointer"].removeprefix("commit:")
    assert told["commits"][commit]["subject"] == f"[{MAKE}] Count what is in the cart"
    assert told["nodes"][f"task:work:{MAKE}"]["title"] == "Count the cart"
    assert told["nodes"][told["node"]]["name"] == "src/cart.py#total"
    assert ("reverts", f"task:work:{BACK}") in [
        (each["type"], each["subject"]) for each in told["edges"]
    ]
    assert told["as_of"] is None
    assert told["truncated"] is False
    assert "title" in told["untrusted"]


def test_a_feature_is_read_aloud(shop: Shop) -> None:
    page = shop.page("feature", "src/cart.py#total")
    assert page.startswith("Function total, src/cart.py:6-10: 3 tasks.\n")
    assert f"2026-03-01  {MAKE} “Count the cart” (new)\n" in page
    assert f"2026-03-10  {BACK} commit “[{BACK}] Leave the tax to others”\n" in page
    assert "AMONG THEM" in page
    assert f"{BACK} reverts {CHANGE}\n" in page
    assert "2 tasks" in shop.page("feature", "src/cart.py#total", "--limit", "2")
    assert "--limit" in shop.page("feature", "src/cart.py#total", "--limit", "2")


def test_a_file_and_a_directory_have_features_too(shop: Shop) -> None:
    assert shop.told("feature", "src/cart.py")["kind"] == "file"
    told = shop.told("feature", "dir:src")
    assert (told["kind"], told["node"]) == ("dir", None)
    assert len(told["tasks"]) == 3
    assert "src/cart.py" in shop.page("feature", "src")


def test_code_without_tasks_says_where_to_ask(shop: Shop) -> None:
    assert shop.told("feature", "README.md")["tasks"] == []
    page = shop.page("feature", "README.md")
    assert "no task is known." in page
    assert "`tether why`" in page


def test_a_feature_is_told_as_of_a_date_a_commit_and_a_task(shop: Shop) -> None:
    before = shop.git("rev-parse", "HEAD~3")
    for words in ("2026-03-06", before):
        told = shop.told("feature", "src/cart.py#total", "--as-of", words)
        assert [e["task"] for e in told["tasks"]] == [f"task:work:{e}" for e in (MAKE, CHANGE)]
        assert told["as_of"]["words"] == words
    assert "as of 2026-03-06" in shop.page("feature", "src/cart.py#total", "--as-of", "2026-03-06")
    began = shop.told("feature", "src/cart.py#total", "--as-of", BACK)
    assert len(began["tasks"]) == 3
    assert shop.refused("feature", "src/cart.py", "--as-of", "yesterday")[0] == 5
    assert shop.refused("feature", "src/cart.py", "--as-of", "2026-13-01")[0] == 2


def test_what_is_not_there_is_said_with_what_may_be_meant(shop: Shop) -> None:
    assert shop.refused("feature", "nothing.py")[0] == 5
    ended = shop.ask("feature", "T20260301-aaaaab", "--json")
    assert ended.code == 5
    assert MAKE in ended.json["error"]["hint"]
    ended = shop.ask("feture", "src/cart.py")
    assert "Did you mean `tether lineage feature`?" in ended.err


# Edges


def test_edges_read_from_both_ends(shop: Shop) -> None:
    assert ("supersedes", f"task:work:{CHANGE}") in shop.types(REPLACE)
    assert ("superseded_by", f"task:work:{REPLACE}") in shop.types(CHANGE)
    assert shop.types(CHANGE, "--type", "superseded_by") == [
        ("superseded_by", f"task:work:{REPLACE}")
    ]
    assert shop.types(CHANGE, "--type", "supersedes") == []
    both = shop.types(CHANGE, "--type", "superseded-by", "--type", "reverted_by")
    assert sorted(kind for kind, _ in both) == ["reverted_by", "superseded_by"]


def test_decisions_and_code_have_edges_too(shop: Shop) -> None:
    assert ("supersedes", "decision:0001") in shop.types("decision:0002")
    assert ("superseded_by", "decision:0002") in shop.types("0001")
    kinds = {kind for kind, _ in shop.types("src/cart.py#total")}
    assert {"created_by", "touched_by", "described_by"} <= kinds
    assert "governed_by" in {kind for kind, _ in shop.types("src/cart.py")}


def test_all_edges_are_listed_and_narrowed(shop: Shop) -> None:
    everything = shop.told("edges", "--min-confidence", "0")
    assert everything["node"] is None
    sources = {each["source"] for each in everything["edges"]}
    assert {"adr-text", "commit-grep", "kg-attribution", "task-text"} <= sources
    some = shop.told("edges", "--source", "task-text")["edges"]
    assert [each["type"] for each in some] == ["supersedes"]
    weak = shop.told("edges", "--source", "task-text", "--min-confidence", "0.3")["edges"]
    assert sorted(each["type"] for each in weak) == ["references", "supersedes"]
    assert shop.types(REPLACE, "--source", "declared") == []
    cut = shop.told("edges", "--limit", "2")
    assert (len(cut["edges"]), cut["truncated"]) == (2, True)
    assert "There is more" in shop.page("edges", "--limit", "2")


def test_edges_of_a_task_over_shared_code_are_computed(shop: Shop) -> None:
    told = shop.told("edges", MAKE, "--type", "co-touches-symbol")
    assert told["edges"] == []
    assert {each["task"] for each in told["shared"]} == {
        f"task:work:{CHANGE}", f"task:work:{BACK}",
    }  # fmt: skip
    assert "src/cart.py#total" in shop.page("edges", MAKE, "--type", "co-touches-symbol")
    assert shop.refused("edges", "--type", "co-touches")[0] == 2
    assert shop.refused("edges", "src/cart.py", "--type", "co-touches")[0] == 2


def test_edges_are_read_aloud(shop: Shop) -> None:
    page = shop.page("edges", REPLACE)
    head, _, columns, row = page.splitlines()
    assert head == f"{REPLACE} “Let others count” (new): 1 edge."
    assert columns.split() == ["EDGE", "SURE", "WHEN", "SOURCE", "SAYS"]
    assert f"supersedes {CHANGE} “Add the tax" in row
    assert "\x1b" not in page


def test_what_is_no_type_no_deriver_and_no_edge_is_refused(shop: Shop) -> None:
    code, message = shop.refused("edges", "--type", "replces")
    assert (code, "replces" in message) == (2, True)
    assert shop.refused("edges", "--source", "somebody")[0] == 2
    assert shop.refused("edges", "src")[0] == 2
    for ref in ("t99999", "q1", "t", "t1x", "12"):
        assert shop.refused("edges", "--evidence", ref)[0] == 5
    assert shop.refused("edges", MAKE, "--evidence", "t1")[0] == 2
    assert shop.refused("edges", "decision:0009")[0] == 5


def test_evidence_opens_an_edge_and_is_counted(shop: Shop) -> None:
    assert shop.told("stats")["stats"]["weeks"] == []
    ref = shop.ref(["supersedes", "--source", "task-text"][0]) if False else _superseding(shop)
    told = shop.told("edges", "--evidence", ref)
    assert (told["subject"], told["type"]) == (f"task:work:{REPLACE}", "supersedes")
    [proof] = told["evidence"]
    assert proof["pointer"] == f"file:work/inbox/{REPLACE}.yaml#field=description"
    assert "This supersedes" in proof["detail"]["text"]
    assert told["verdict"] is None
    page = shop.page("edges", "--evidence", ref)
    assert f"{ref}: {REPLACE} “Let others count” (new) supersedes {CHANGE}" in page
    assert f"“This supersedes {CHANGE}.”" in page
    [week] = shop.told("stats")["stats"]["weeks"]
    assert (week["shown"], week["expanded"]) == (0, 2)


def _superseding(shop: Shop) -> str:
    """What the edge is called by which one task replaces another."""
    [edge] = shop.told("edges", "--type", "supersedes", "--source", "task-text")["edges"]
    ref: str = edge["edge"]
    return ref
