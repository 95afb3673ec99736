"""What inputs say, and the edges that it comes to: replaced as a whole, taken back as a whole."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests import weaving
from tests.weaving import DERIVED_AT, Web, day, decision, task
from tether.lineage.edges import ledger, model, nodes
from tether.store import sql

EDGES = Path(ledger.__file__).parent
STATEMENTS = sql.Queries("ledger", str(EDGES)).all()


@pytest.fixture
def web() -> Web:
    return Web()


def rows(web: Web, columns: str, table: str) -> list[tuple[Any, ...]]:
    statement = f"SELECT {columns} FROM {table} ORDER BY 1"  # noqa: S608 (own names)
    return web.connection.execute(statement).fetchall()


# Sums


def test_an_edge_is_as_sure_as_its_best_evidence_and_as_old_as_its_oldest(web: Web) -> None:
    first = web.edge(task(2), "extends", task(1), 0.6, day(5))
    second = web.edge(task(2), "extends", task(1), 0.8, day(3))
    unknown = web.edge(task(2), "extends", task(1), 0.7)
    web.say("T2", first, second, unknown)
    assert rows(web, "confidence, at", "task_edges") == [(0.8, day(3))]
    assert len(rows(web, "edge", "task_evidence")) == 3


def test_what_two_derivers_say_are_two_edges(web: Web) -> None:
    edge = web.edge(task(2), "supersedes", task(1))
    web.say("T2", edge)
    web.say("T2", edge, deriver="declared")
    assert rows(web, "source", "task_edges") == [("declared",), ("task-text",)]


def test_what_an_input_says_twice_counts_once(web: Web) -> None:
    edge = web.edge(task(2), "extends", task(1))
    web.say("T2", edge, edge)
    assert len(rows(web, "edge", "task_evidence")) == 1


def test_edges_to_code_lie_apart_and_say_what_kind_it_is(web: Web) -> None:
    web.touch(1, "src/a.py", "src/a.py#run")
    web.say("T1", web.edge(task(1), "declared", model.path_key("docs/x.md")), deriver="declared")
    kinds = rows(web, "node_kind, edge_type", "task_code_edges")
    assert kinds == [("file", "touched"), ("path", "declared"), ("symbol", "touched")]
    assert rows(web, "id", "task_edges") == []


def test_evidence_of_a_commit_knows_the_number_of_the_commit(web: Web) -> None:
    web.commit("begin")
    pointer = web.commit("go on", "begin")
    here = web.edge(task(1), "touched", web.name("a.py"), pointer=pointer)
    elsewhere = here._replace(pointer=f"commit:{weaving.oid('of another clone')}")
    text = here._replace(pointer="file:work/T1.yaml#line=2")
    web.say("x", here, elsewhere, text)
    assert rows(web, "commit_no", "code_evidence") == [(None,), (None,), (2,)]


def test_details_are_kept(web: Web) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1), verb="builds on", line=7))
    assert rows(web, "detail", "task_evidence") == [('{"line":7,"verb":"builds on"}',)]


# Taking back


def test_what_an_input_says_no_longer_is_gone(web: Web) -> None:
    web.say("T3", web.edge(task(3), "extends", task(1)), web.edge(task(3), "reverts", task(2)))
    web.say("T3", web.edge(task(3), "reverts", task(2)), stamp="2")
    assert rows(web, "edge_type", "task_edges") == [("reverts",)]
    assert ledger.known(web.connection, "task-text", "") == {"T3": "2"}


def test_an_edge_stays_with_what_others_say(web: Web) -> None:
    web.say("first", web.edge(task(2), "extends", task(1), 0.9, day(1)))
    web.say("second", web.edge(task(2), "extends", task(1), 0.6, day(4)))
    web.say("first", stamp="2")
    assert rows(web, "confidence, at", "task_edges") == [(0.6, day(4))]


def test_an_input_that_says_nothing_was_read(web: Web) -> None:
    web.say("T1")
    assert ledger.known(web.connection, "task-text", "") == {"T1": "1"}
    assert ledger.known(web.connection, "declared", "") == {}


def test_what_is_forgotten_leaves_nothing(web: Web) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1)))
    web.say("T3", web.edge(task(3), "declared", web.name("a.py")))
    ledger.forget(web.connection, "task-text", "", ["T2", "T3", "never read"])
    assert not any(weaving.dump(web.connection).values())


def test_forgetting_one_leaves_the_others(web: Web) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1)))
    web.say("T3", web.edge(task(3), "extends", task(1)))
    ledger.forget(web.connection, "task-text", "", ["T2"])
    assert ledger.known(web.connection, "task-text", "") == {"T3": "1"}
    assert len(rows(web, "id", "task_edges")) == 1


def test_a_checkout_that_is_gone_says_nothing_any_more(web: Web) -> None:
    edge = web.edge(task(2), "extends", task(1))
    for scope in ("", "main", "feature"):
        web.say("T2", edge, scope=scope)
    ledger.forget_scope(web.connection, ["main"])
    assert rows(web, "scope", "task_edges") == [("",), ("main",)]
    assert ledger.known(web.connection, "task-text", "feature") == {}
    ledger.forget_scope(web.connection, [])
    assert rows(web, "scope", "task_edges") == [("",)]


# Again


def test_saying_the_same_again_changes_nothing(web: Web) -> None:
    pointer = web.commit("begin")
    edges = (
        web.edge(task(2), "extends", task(1), 0.8, day(1)),
        web.edge(task(2), "touched", web.name("a.py#run"), 0.9, day(1), pointer, added=3),
    )
    web.say("T2", *edges)
    before = weaving.dump(web.connection)
    web.say("T2", *edges, derived_at="2026-12-24T08:00:00.000Z")
    assert weaving.dump(web.connection) == before


def test_an_edge_keeps_the_time_at_which_it_was_derived_first(web: Web) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1), 0.6))
    later = "2026-12-24T08:00:00.000Z"
    web.say("T2", web.edge(task(2), "extends", task(1), 0.8), derived_at=later)
    assert rows(web, "confidence, derived_at", "task_edges") == [(0.8, DERIVED_AT)]


def test_many_inputs_at_once_are_the_same_as_one_after_the_other(web: Web) -> None:
    said = [
        ledger.Said(
            f"commit {number}",
            "1",
            tuple(
                web.edge(task(number % 3), "touched", web.name(f"{name}.py"), 0.9, day(number))
                for name in "abcd"[number % 4 :]
            ),
        )
        for number in range(12)
    ]
    other = Web()
    other.kinds = web.kinds
    ledger.replace_all(web.connection, "kg-attribution", "", said, DERIVED_AT, web.kinds)
    for each in said:
        other.say(each.name, *each.edges, deriver="kg-attribution")
    columns = "scope, from_id, node_kind, edge_type, source, confidence, at, derived_at"
    assert rows(web, columns, "task_code_edges") == rows(other, columns, "task_code_edges")
    assert len(rows(web, "edge", "code_evidence")) == len(rows(other, "edge", "code_evidence"))


# Direction


def test_superseded_by_is_stored_from_the_newer_one(web: Web) -> None:
    web.say("0001", web.edge(decision(1), "superseded_by", decision(2)))
    web.say("0002", web.edge(decision(2), "supersedes", decision(1)))
    [(subject, target)] = rows(web, "from_id, to_id", "task_edges")
    assert nodes.key(web.connection, subject) == decision(2)
    assert nodes.key(web.connection, target) == decision(1)


def test_code_that_names_its_task_is_stored_from_the_task(web: Web) -> None:
    web.say("a.py", web.edge(web.name("a.py#run"), "created_by", task(1)))
    [(subject, kind)] = rows(web, "from_id, node_kind", "task_code_edges")
    assert nodes.key(web.connection, subject) == task(1)
    assert kind == "symbol"


def test_an_edge_of_a_task_to_itself_says_nothing(web: Web) -> None:
    web.say("T1", web.edge(task(1), "references", task(1)))
    assert rows(web, "id", "task_edges") == []


# Mistakes of derivers


@pytest.mark.parametrize("verb", ["co-touches", "co-touches-symbol", "likes"])
def test_what_is_computed_when_asked_or_unknown_is_refused(web: Web, verb: str) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1)))
    before = weaving.dump(web.connection)
    with pytest.raises(ValueError, match="No deriver may say"):
        web.say("T2", web.edge(task(2), "extends", task(3)), web.edge(task(2), verb, task(1)))
    assert weaving.dump(web.connection) == before


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan")])
def test_a_confidence_is_between_0_and_1(web: Web, confidence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        web.say("T2", web.edge(task(2), "extends", task(1), confidence))


def test_code_of_no_known_kind_is_refused(web: Web) -> None:
    with pytest.raises(ValueError, match="what kind of node"):
        web.say("x", web.edge(task(1), "touched", weaving.code("a.py")))


def test_what_the_database_refuses_leaves_everything_as_it_was(web: Web) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1)))
    before = weaving.dump(web.connection)
    broken: Any = None
    with pytest.raises(sqlite3.IntegrityError):
        web.say("T2", web.edge(task(2), "reverts", task(1), at=broken), stamp="2")
    assert weaving.dump(web.connection) == before
    web.say("T2", web.edge(task(2), "reverts", task(1)), stamp="2")
    assert rows(web, "edge_type", "task_edges") == [("reverts",)]


# Nodes


def test_a_node_keeps_its_number(web: Web) -> None:
    first = nodes.number(web.connection, task(1), "task")
    more = nodes.numbers(web.connection, {task(2): "task", task(1): "task"})
    assert more[task(1)] == first
    assert nodes.keys(web.connection, more.values()) == {each: key for key, each in more.items()}


def test_what_nobody_spoke_of_has_no_number(web: Web) -> None:
    assert nodes.find(web.connection, [task(1)]) == {}
    assert nodes.key(web.connection, 17) is None


def test_a_path_that_is_no_utf8_can_be_a_node(web: Web) -> None:
    path = model.path_key("caf\udce9.py")
    web.say("x", web.edge(task(1), "declared", path, pointer="file:caf\udce9.py#line=1"))
    [number] = nodes.find(web.connection, [path]).values()
    assert nodes.key(web.connection, number) == r"path:caf\udce9.py"


# Plans


@pytest.mark.parametrize("query", STATEMENTS, ids=lambda query: query.name)
def test_no_statement_of_the_ledger_reads_a_large_table_as_a_whole(
    web: Web, query: sql.Query
) -> None:
    ledger.replace(web.connection, "declared", "", "x", "1", [], DERIVED_AT, {})
    assert weaving.scanned(web.connection, query.text) & weaving.LARGE == set()


def test_control_a_statement_that_reads_a_large_table_is_found(web: Web) -> None:
    for statement in (
        "SELECT max(confidence) FROM task_edges",
        "DELETE FROM code_evidence WHERE confidence < 0.1",
        "SELECT count(*) FROM task_code_edges",
    ):
        assert weaving.scanned(web.connection, statement) & weaving.LARGE, statement
