"""How attributions are counted: Git's trails by hand, and a harness that sees what is planted."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import chronicles
from tether import index
from tether.bench.lineage import attributions, scene, steps
from tether.bench.lineage.attributions import judging, trails
from tether.git import Change, Commit, Git, Oid

A, B, C, D = (Oid(each * 40) for each in "abcd")
OLD, NEW = Oid("1" * 40), Oid("2" * 40)
ONE, TWO = "task:work:T-1", "task:work:T-2"
OF_ONE = "WHERE from_id = (SELECT id FROM lineage_nodes WHERE key LIKE '%:T-1')"
Renamed = Mapping[Oid, Mapping[str, str]]


def change(status: str, path: str, old: Oid = OLD, new: Oid = NEW) -> Change:
    return Change(status, path, "100644", "100644", old, new)


def made(oid: Oid, **changes: str) -> Commit:
    """A commit with changes by status: `A="a b"`."""
    every = tuple(
        change(status, path) for status, paths in changes.items() for path in paths.split()
    )
    return Commit(oid, (), "Anna", "anna@example.com", 0, 0, "", "", every)


def walked(paths: str, *commits: Commit, renamed: Renamed | None = None) -> dict[str, list[Any]]:
    """The steps of each path, in short: commit, path then, renames and births since."""
    found = trails.walk(paths.split(), commits, renamed or {})
    return {path: [(s.commit[0], *s[1:]) for s in each] for path, each in found.items()}


# Trails


def test_a_file_is_followed_over_its_rename() -> None:
    history = (made(A, M="b"), made(B, A="b", D="a"), made(C, M="a x"), made(D, A="a"))
    assert walked("b", *history, renamed={B: {"b": "a"}}) == {
        "b": [("a", "b", 0, 0), ("b", "b", 0, 0), ("c", "a", 1, 0), ("d", "a", 1, 0)]
    }
    assert walked("b", *history) == {"b": [("a", "b", 0, 0), ("b", "b", 0, 0)]}, "the control"


def test_what_was_there_before_it_began_is_another_life() -> None:
    history = (made(A, A="a"), made(B, D="a"), made(C, M="a"))
    assert walked("a", *history) == {"a": [("a", "a", 0, 0), ("b", "a", 0, 1), ("c", "a", 0, 1)]}


def test_a_name_that_was_taken_by_another_file_leads_to_both() -> None:
    history = (made(A, A="a"), made(B, A="b", D="a"), made(C, M="a"))
    found = walked("a b", *history, renamed={B: {"b": "a"}})
    assert found["b"] == [("b", "b", 0, 0), ("c", "a", 1, 0)]
    assert found["a"] == [("a", "a", 0, 0), ("b", "a", 0, 1), ("c", "a", 0, 1)]


def test_two_files_that_change_places_keep_their_own_pasts() -> None:
    history = (made(A, R="a b"), made(B, M="a"), made(C, M="b"))
    found = walked("a b", *history, renamed={A: {"a": "b", "b": "a"}})
    assert found == {
        "a": [("a", "a", 0, 0), ("c", "b", 1, 0)],
        "b": [("a", "b", 0, 0), ("b", "a", 1, 0)],
    }


def test_a_log_that_follows_nothing_knows_one_name() -> None:
    history = (made(A, M="b"), made(B, A="b", D="a"), made(C, M="a"))
    assert trails.plain(["b"], history) == {"b": {A, B}}


def test_a_rename_without_contents_is_seen_where_it_is_plain() -> None:
    def moved(*news: str, olds: str = "a") -> dict[str, str]:
        added = [change("A", path, Oid("0" * 40), OLD) for path in news]
        deleted = [change("D", path, OLD, Oid("0" * 40)) for path in olds.split()]
        return trails.unchanged([*added, *deleted, change("M", "x")])

    assert moved("b") == {"b": "a"}
    assert moved("b", "c") == moved("b", olds="a d") == {}
    assert trails.unchanged([change("A", "b"), change("D", "a", B, C)]) == {}


# Judging


def expected(**more: Any) -> judging.Expected:
    step = trails.Step(A, "a.py", 0, 0)
    return judging.Expected("subject", 0, 0, (step,), is_plain=True)._replace(**more)


def edge(sure: float, *hows: str) -> judging.Edge:
    return judging.Edge(sure, frozenset(hows), frozenset())


def fact(*, known: bool = True, credited: bool = True, node: Any = "none") -> judging.Fact:
    return judging.Fact(known, credited, node)


def test_git_implies_what_its_commits_name() -> None:
    steps = [trails.Step(A, "b", 0, 0), trails.Step(B, "a", 1, 2), trails.Step(C, "a", 1, 2)]
    told = trails.Trails({"b": steps, "c": []}, {"b": {A}}, 0)
    names = {
        A: judging.Named(body=frozenset([ONE])),
        B: judging.Named(subject=frozenset([ONE, TWO])),
        D: judging.Named(subject=frozenset(["task:work:T-3"])),
    }
    found = judging.expected(told, names)
    assert found.keys() == {("b", ONE), ("b", TWO)}
    assert found["b", ONE] == judging.Expected("subject", 0, 0, tuple(steps[:2]), is_plain=True)
    assert found["b", TWO] == judging.Expected("subject", 1, 2, (steps[1],), is_plain=False)


@pytest.mark.parametrize(
    ("one", "said", "facts", "why"),
    [
        (expected(), edge(0.3, "body"), [], "too unsure"),
        (expected(), None, [], "not there"),
        (expected(), None, [fact(known=False), fact(known=False)], "not there"),
        (expected(), None, [fact(known=False), fact(credited=False)], "not credited"),
        (expected(births=1), None, [fact(node="other")], "added again"),
        (expected(), None, [fact(credited=False), fact(node="other")], "another file"),
        (expected(), None, [fact()], "no change"),
    ],
)
def test_why_something_was_missed_is_told(
    one: judging.Expected, said: judging.Edge | None, facts: list[judging.Fact], why: str
) -> None:
    assert judging.reason(one, said, facts) == why


def figures(edges: dict[judging.Pair, judging.Edge]) -> dict[str, Any]:
    """What is found of a task that two files have, the second one beyond a rename."""
    wanted = {("a", ONE): expected(), ("b", ONE): expected(renames=1, is_plain=False)}
    reasons: dict[judging.Pair, judging.Reason] = dict.fromkeys(wanted, "no change")
    return judging.figures(wanted, edges, reasons, 0.5)


def test_what_is_found_is_counted_by_kind() -> None:
    found = figures({("a", ONE): edge(0.9, "named"), ("b", ONE): edge(0.5, "body")})
    assert found["all"] == {"found": 2, "of": 2, "share": 1.0}
    assert found["without following renames"] == {"found": 1, "of": 2, "share": 0.5}
    assert (found["missed"], found["more"], found["said"]) == ({}, {}, 2)


def test_the_control_what_is_missing_is_missed() -> None:
    found = figures({("a", ONE): edge(0.9, "named"), ("b", ONE): edge(0.49, "named")})
    assert found["all"] == {"found": 1, "of": 2, "share": 0.5}
    assert found["beyond a rename"]["found"] == 0
    assert found["without a rename"]["found"] == 1
    assert found["missed"] == {"no change": 1}


def test_the_control_what_is_wrong_is_more() -> None:
    right = {("a", ONE): edge(0.9, "named"), ("b", ONE): edge(0.9, "named")}
    planted = {
        ("a", TWO): edge(0.9, "merge"),
        ("b", TWO): edge(0.9, "merge", "named"),
        ("c", ONE): edge(0.49, "named"),
    }
    found = figures(right | planted)
    assert found["all"]["share"] == 1.0
    assert found["more"] == {"merge": 1, "commit": 1}
    assert found["said_by_commits"] == {"found": 2, "of": 3, "share": 0.6667}


def test_nothing_of_nothing_is_no_success() -> None:
    found = judging.figures({}, {}, {}, 0.5)
    assert found["all"] == {"found": 0, "of": 0, "share": 0.0}


# A real repository


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> scene.Scene:
    """An index of a history in which a file was renamed."""
    place = tmp_path_factory.mktemp("attributions").resolve()
    with contextlib.closing(chronicles.World(place)) as world:
        world.change("T-1: begin", old="def ring():\n    return 1\n\n\ndef show():\n    return 2\n")
        world.git("mv", "old.py", "new.py")
        world.commit("Move")
        world.write("README.md", "# Read\n\nIt rings.\n")
        world.commit("Write\n\nAs T-2 says.")
    made = scene.make(str(place), str(world.repo), ("T-#",))
    for name in ("identities", "edges"):
        steps.run(made.ground, name, made.store_dir)
    return made


@contextlib.contextmanager
def planted(here: scene.Scene, *statements: str) -> Iterator[None]:
    """Something in the index that is not so, for a while."""
    path = os.path.join(here.store_dir, index.FILE_NAME)
    before = Path(path).read_bytes()
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for each in statements:
                assert connection.execute(each).rowcount > 0, each
            connection.commit()
        yield
    finally:
        Path(path).write_bytes(before)


def pairs(told: dict[str, Any], name: str) -> list[tuple[str, str]]:
    return sorted((each["path"], each["task"]) for each in told["examples"][name])


def test_a_whole_history_is_found(here: scene.Scene) -> None:
    told = attributions.judged(here, 9, 1)
    assert told["all"] == {"found": 2, "of": 2, "share": 1.0}
    assert told["beyond a rename"] == {"found": 1, "of": 1, "share": 1.0}
    assert told["named in the body only"]["found"] == 1
    assert (told["files"], told["tasks"], told["commits_naming_tasks"]) == (3, 2, 2)
    assert told["follow"] == {"files": 3, "died": 0, "walk": 2, "both": 2, "git": 2, "found": 2}
    assert told["examples"] == {"missed": [], "more": []}


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE task_code_edges SET confidence = 0.1", "too unsure"),
        ("DELETE FROM task_code_edges", "no change"),
    ],
)
def test_the_control_an_attribution_that_is_missing_is_missed(
    here: scene.Scene, statement: str, why: str
) -> None:
    with planted(here, f"{statement} {OF_ONE}"):
        told = attributions.judged(here, 9, 1)
    assert told["all"] == {"found": 1, "of": 2, "share": 0.5}
    assert told["missed"] == {why: 1}
    assert pairs(told, "missed") == [("new.py", ONE)]
    assert told["follow"]["found"] == 1


def test_the_control_an_attribution_that_is_wrong_is_more(here: scene.Scene) -> None:
    two = "UPDATE task_code_edges SET from_id = (SELECT id FROM lineage_nodes WHERE key LIKE '%-2')"
    with planted(here, f"{two} {OF_ONE}"):
        told = attributions.judged(here, 9, 1)
    assert told["more"] == {"commit": 1}
    assert pairs(told, "more") == [("new.py", TWO)]
    assert told["said_by_commits"] == {"found": 1, "of": 2, "share": 0.5}


def test_git_and_the_walk_say_the_same_of_every_file(here: scene.Scene) -> None:
    git = Git(here.place)
    told = trails.of(git, here.tip)
    for path, every in told.steps.items():
        assert trails.follow(git, here.tip, path) == [each.commit for each in every]
    assert [each.path for each in told.steps["new.py"]] == ["new.py", "old.py"]


def test_what_is_not_there_is_not_followed(here: scene.Scene) -> None:
    assert trails.follow(Git(here.place), Oid("f" * 40), "new.py") is None


def test_ids_that_a_list_once_had_are_part_of_the_truth(
    repo: Path, git: Callable[..., str]
) -> None:
    """Whoever changes the prefix of a list had tasks before that, and commits that name them."""
    tasks = repo / "backlog/tasks"
    tasks.mkdir(parents=True)
    (repo / "backlog/config.yml").write_text("project_name: x\ntask_prefix: task\n")
    first = "---\nid: TASK-1\ntitle: Ring\nstatus: Done\n---\n\nIt rings.\n"
    (tasks / "task-1 - Ring.md").write_text(first)
    (repo / "a.py").write_text("def ring():\n    return 1\n")
    git("add", "-A", cwd=repo)
    git("commit", "-qm", "TASK-1 - Ring", cwd=repo)
    git("rm", "-q", "backlog/tasks/task-1 - Ring.md", cwd=repo)
    tasks.mkdir(exist_ok=True)
    (tasks / "back-2 - Show.md").write_text(first.replace("TASK-1", "BACK-2"))
    git("add", "-A", cwd=repo)
    git("commit", "-qm", "BACK-2 - Show", cwd=repo)
    told = attributions.measure([str(repo)], examples=9)["repositories"][0]
    assert told["more"] == {}, told["examples"]
