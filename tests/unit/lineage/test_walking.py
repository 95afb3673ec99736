"""A part of the graph: what is reached, where it stops, and what is written of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import weaving
from tests.weaving import Web, day, decision, task
from tether.lineage import naming, portable, walking
from tether.lineage.biography import model as story
from tether.lineage.biography import records
from tether.lineage.edges import model
from tether.store import sql

STATEMENTS = sql.Queries("walking", str(Path(walking.__file__).parent)).all()


@pytest.fixture
def web() -> Web:
    """T2 → T1 → a.py ← T3, T3 → T4, and a decision beside all that."""
    made = Web()
    made.say("T2", made.edge(task(2), "extends", task(1)))
    made.say("T3", made.edge(task(3), "reverts", task(4), 0.4))
    made.touch(1, "a.py")
    made.touch(3, "a.py")
    made.say("0001", made.edge(decision(1), "governs", made.name("b.py")))
    return made


def around(
    web: Web, key: model.Key, depth: int, limit: int = 99, least: float = 0.0
) -> walking.Part:
    seen = web.view(min_confidence=least)
    number = seen.number(key)
    assert number is not None
    return walking.around(seen, [number], depth=depth, limit=limit)


def edges(part: walking.Part) -> set[tuple[model.Key, str, model.Key]]:
    return {(each.subject, each.type, each.object) for each in part.edges}


A = weaving.code("a.py")


@pytest.mark.parametrize(
    ("depth", "reached"),
    [
        (0, {task(1)}),
        (1, {task(1), task(2), A}),
        (2, {task(1), task(2), A, task(3)}),
        (6, {task(1), task(2), A, task(3), task(4)}),
    ],
)
def test_what_is_so_many_edges_away_is_reached(
    web: Web, depth: int, reached: set[model.Key]
) -> None:
    part = around(web, task(1), depth)
    assert part.keys[0] == task(1)
    assert set(part.keys) == reached
    assert not part.is_truncated


def test_all_edges_among_what_is_reached_are_told(web: Web) -> None:
    web.say("x", web.edge(task(2), "blocks", A.replace("node:", "path:")))
    web.touch(2, "a.py", verb="created")
    assert edges(around(web, task(1), 1)) == {
        (task(2), "extends", task(1)),
        (task(1), "touched", A),
        (task(2), "created", A),
    }


def test_of_too_many_the_nearest_are_told_and_that_it_is_cut(web: Web) -> None:
    part = around(web, task(1), 6, limit=3)
    assert part.is_truncated
    assert part.keys == (task(1), task(2), A)
    assert edges(part) == {(task(2), "extends", task(1)), (task(1), "touched", A)}


def test_what_is_not_sure_enough_leads_nowhere(web: Web) -> None:
    assert task(4) not in around(web, task(1), 6, least=0.5).keys


def test_cycles_end(web: Web) -> None:
    web.say("T1", web.edge(task(1), "extends", task(2)), web.edge(task(1), "blocks", task(1)))
    assert set(around(web, task(1), 6).keys) >= {task(1), task(2), task(4)}


def test_everything_is_all_that_has_edges(web: Web) -> None:
    web.name("never.py")
    web.code("never.py")
    part = walking.everything(web.view(min_confidence=0.0), limit=99)
    assert set(part.keys) == {*map(task, (1, 2, 3, 4)), decision(1), A, weaving.code("b.py")}
    assert len(part.edges) == 5
    some = walking.everything(web.view(min_confidence=0.0), limit=2)
    assert (len(some.keys), some.is_truncated) == (2, True)


def test_nothing_leads_to_nothing() -> None:
    empty = Web().view()
    assert walking.everything(empty, limit=9) == walking.Part((), (), is_truncated=False)
    assert walking.around(empty, [], depth=3, limit=9).keys == ()


# Documents


def test_a_part_is_written_with_what_it_stands_on_and_read_again(web: Web) -> None:
    record = story.Record(task(1), "T1", "Ring", "done", "ada", day(0), pointer="file:work/T1.yaml")
    records.keep(web.connection, "", {task(1): record})
    seen = web.view(min_confidence=0.0)
    part = around(web, task(1), 1)
    document = walking.document(
        seen, part, naming.names(seen, part.keys), commit="c", workspace_id="w"
    )
    [first, *_] = document.nodes
    assert (first.key, first.name, first.title, first.status, first.agent, first.created_at) == (
        task(1), "T20260302-000001", "Ring", "done", "ada", day(0),
    )  # fmt: skip
    read = portable.decode(portable.encode(document))
    assert {(each.subject, each.type, each.object) for each in read.edges} == edges(part)
    assert {each.pointer[:5] for each in read.edges} == {"file:", "commi"}


def test_the_strongest_evidence_is_written_and_no_more_than_can_be_read(web: Web) -> None:
    for number in range(30):
        edge = web.edge(task(5), "extends", task(6), number / 100, pointer=f"event:{number}")
        web.say(f"n{number}", edge)
    seen = web.view(min_confidence=0.0)
    part = around(web, task(5), 1)
    document = walking.document(
        seen, part, naming.names(seen, part.keys), commit="", workspace_id=None
    )
    [written] = document.edges
    assert [each.pointer for each in written.evidence] == [f"event:{29 - n}" for n in range(20)]


@pytest.mark.parametrize("query", STATEMENTS, ids=[each.name for each in STATEMENTS])
def test_no_part_but_all_of_it_reads_a_large_table_as_a_whole(query: sql.Query) -> None:
    web = Web()
    found = weaving.scanned(web.connection, web.view().statement(query)) & weaving.LARGE
    assert bool(found) is query.name.endswith("every_node")
