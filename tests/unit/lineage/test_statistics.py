"""How much of the code has a story, how good edges are, and who reads them: counted by hand."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

import pytest

from tests import chronicles, weaving
from tests.chronicles import task_id
from tests.weaving import Web, day, task
from tether.git import Oid
from tether.lineage import feedback, kept, statistics, symbols, usage
from tether.lineage.edges import model, view

ALARM = "class Alarm:\n    limit = 0\n\n    def ring(self):\n        return self.limit\n"
OTHER = "\n\ndef show():\n    return 1\n"


@pytest.fixture
def web() -> Web:
    return Web()


def symbol(line: int, end_line: int) -> symbols.Symbol:
    return symbols.Symbol("function", "f", "", "", 1, -1, 0, 0, 0, 0, line, line, end_line)


def verdict(
    word: feedback.Word, deriver: str = "task-text", kind: str = "extends"
) -> feedback.Verdict:
    return feedback.Verdict(view.Content(task(1), kind, task(2), deriver), word, day(1), "ada", "")


# Lines


@pytest.mark.parametrize(
    ("places", "told", "lines"),
    [
        ([], [], (0, 0)),
        ([(1, 4), (6, 6)], [True, False], (5, 4)),
        ([(1, 10), (3, 5)], [True, False], (10, 7)),
        ([(1, 10), (3, 5)], [False, True], (10, 3)),
        ([(1, 9), (2, 8), (4, 5)], [False, True, False], (9, 5)),
        ([(3, 3)], [True], (1, 1)),
    ],
)
def test_a_line_counts_for_the_innermost_symbol(
    places: list[tuple[int, int]], told: list[bool], lines: tuple[int, int]
) -> None:
    assert statistics.lines_of([symbol(*each) for each in places], told) == lines


# Derivers


def test_derivers_are_counted_by_type_and_judged(web: Web) -> None:
    web.say("T1", web.edge(task(1), "extends", task(2)), web.edge(task(1), "blocks", task(2)))
    web.say("T3", web.edge(task(3), "extends", task(2)))
    web.touch(1, "a.py", "a.py#run")
    said = [verdict("right"), verdict("right"), verdict("wrong"), verdict("wrong", "gone")]
    found = statistics.derivers(web.view(), said)
    assert [each[:] for each in found] == [
        ("gone", "extends", 0, 0, 1),
        ("kg-attribution", "touched", 2, 0, 0),
        ("task-text", "blocks", 1, 0, 0),
        ("task-text", "extends", 2, 2, 1),
    ]
    assert [each.precision for each in found] == [0.0, None, None, 2 / 3]


def test_an_empty_index_has_nothing(web: Web) -> None:
    assert statistics.derivers(web.view(), []) == ()
    assert set(statistics.counts(web.view()).values()) == {0}


def test_what_there_is_is_counted(web: Web) -> None:
    web.commit("a", changed=["a.py", "a.py#run"])
    web.touch(1, "a.py")
    found = statistics.counts(web.view())
    assert found == {
        "nodes": 3, "commits": 1, "events": 2, "task_edges": 0, "code_edges": 1, "inputs": 1,
    }  # fmt: skip


# Weeks


def test_weeks_begin_on_mondays() -> None:
    days = {"2026-03-01": 1, "2026-03-02": 2, "2026-03-08": 4, "2026-03-09": 8, "2024-12-31": 16}
    used = [usage.Used(day, usage.SHOWN, times) for day, times in days.items()]
    used.append(usage.Used("2026-03-04", usage.EXPANDED, 3))
    assert [each[:] for each in statistics.weeks(used)] == [
        ("2024-12-30", 16, 0),
        ("2026-02-23", 1, 0),
        ("2026-03-02", 6, 3),
        ("2026-03-09", 8, 0),
    ]


# What stands


class Standing:
    """What is known of a commit of a real repository."""

    def __init__(self, world: chronicles.World, connection: sqlite3.Connection) -> None:
        self.world, self.connection = world, connection

    def at(self, commit: str, least: float = model.SURE) -> statistics.Standing:
        seen = view.View(self.connection, min_confidence=least, as_of=view.AsOf(commit))
        number = kept.number_of(self.connection, Oid(commit))
        assert number is not None
        return statistics.standing(seen, number)

    def name(self, hot: statistics.Hot) -> str:
        [(name,)] = self.connection.execute(
            "SELECT coalesce(e.name, '') FROM identity_events AS e JOIN lineage_nodes AS n"
            " ON n.id = e.node WHERE n.key = ? ORDER BY e.number LIMIT 1",
            (hot.node,),
        )
        return str(name)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    world = chronicles.World(tmp_path_factory.mktemp("standing").resolve())
    world.write("README.md", "# Weather\n\nIt rings.\n")
    world.change("Begin", alarm=ALARM, gone="def left():\n    return 1\n")
    world.change(f"{task_id(1)}: show", alarm=ALARM + OTHER)
    (world.repo / "gone.py").unlink()
    world.change(f"{task_id(2)}: ring", alarm=(ALARM + OTHER).replace("return 1", "return 2"))
    world.bring(store_dir := world.index_dir())
    with contextlib.closing(world.connection(store_dir)) as connection:
        yield Standing(world, connection)
    world.close()


def test_code_that_a_task_made_or_changed_has_a_story(standing: Standing) -> None:
    found = standing.at(standing.world.tip)
    [python] = [each for each in found.shares if each.language == "python"]
    assert (python.symbols, python.told) == (3, 1)
    assert (python.lines, python.told_lines) == (7, 2)
    [sections] = [each for each in found.shares if each.language == "markdown"]
    assert (sections.symbols, sections.told) == (1, 0)
    assert (found.stories, found.incomplete) == (1, 0)


def test_before_a_task_changed_it_code_had_no_story(standing: Standing) -> None:
    first = standing.world.git("rev-parse", "HEAD~2")
    found = standing.at(first)
    assert (found.stories, found.hot) == (0, ())
    assert sum(each.symbols for each in found.shares) == 4


def test_what_several_tasks_changed_is_hot(standing: Standing) -> None:
    found = standing.at(standing.world.tip).hot
    assert [(each.is_file, each.tasks) for each in found] == [(True, 2), (False, 2)]
    assert standing.name(found[1]) == "show"
    assert all(each.weight > 0 for each in found)


def test_bulk_makes_nothing_hot(web: Web) -> None:
    names = [f"{number}.py" for number in range(60)]
    web.touch(1, *names)
    web.touch(2, *names)
    web.touch(3, "1.py")
    web.touch(4, "1.py")
    rows = web.view().rows(
        statistics._SQL.hot,
        standing=str(web.code(*names)),
        is_file=True,
        most_files=statistics._MOST_FILES,
        rows=99,
    )
    assert [(key, tasks) for key, tasks, _ in rows] == [(weaving.code("1.py"), 2)]
