"""Whatever inputs say, take back and say again: the edges are what was said last, and no more.

A ledger that went through all of it must hold what one holds that was told the last words alone, in
any order; and what a question sees "as of" a commit must be what that commit and its past said.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from typing import Any, NamedTuple

import hypothesis
import pytest
from hypothesis import strategies as st

from tests import scale, weaving
from tests.figures import Figures
from tests.weaving import DERIVED_AT, Web, code, day, decision, oid, task
from tether.lineage.closures import related
from tether.lineage.edges import ledger, model, reading, view

DERIVERS = ("kg-attribution", "task-text")
SCOPES = ("", "main", "feature")
NAMES = ("one", "two", "three")
COMMITS = ("a", "b", "c")
CODE = ("a.py", "a.py#run", "README.md#Usage")
KINDS = {code(name): weaving.kind(name) for name in CODE}

sequences_each = hypothesis.settings(max_examples=scale.count(5_000, 80))

pointers = st.sampled_from(
    ["file:work/T1.yaml#line=3", "event:12", f"commit:{oid('elsewhere')}"]
    + [f"commit:{oid(name)}" for name in COMMITS]
)
confidences = st.sampled_from([0.4, 0.6, 0.9])
times = st.sampled_from(["", day(1), day(2), day(3)])
details = st.sampled_from([{}, {"line": 3}])
tasks = st.integers(0, 2).map(task)
between = st.builds(
    model.Edge,
    tasks,
    st.sampled_from(["extends", "reverts", "superseded_by", "motivated_by"]),
    tasks | st.integers(0, 1).map(decision),
    confidences,
    times,
    pointers,
    details,
)
to_code = st.builds(
    model.Edge,
    tasks,
    st.sampled_from(["touched", "created", "declared"]),
    st.sampled_from(sorted(KINDS)),
    confidences,
    times,
    pointers,
    details,
)
some_edges = st.lists(between | to_code, max_size=4).map(tuple)
derivers, scopes, names = map(st.sampled_from, (DERIVERS, SCOPES, NAMES))
words = st.dictionaries(st.tuples(derivers, scopes, names), some_edges)
steps = st.one_of(
    st.tuples(st.just("say"), derivers, scopes, st.dictionaries(names, some_edges, min_size=1)),
    st.tuples(st.just("say"), derivers, scopes, st.dictionaries(names, some_edges, min_size=1)),
    st.tuples(st.just("forget"), derivers, scopes, st.lists(names)),
    st.tuples(st.just("keep"), st.lists(scopes)),
)

Said = dict[tuple[str, str, str], tuple[model.Edge, ...]]
"""The last words of each input, by deriver, scope and name."""


class Standing(NamedTuple):
    """An edge without its numbers."""

    scope: str
    subject: model.Key
    type: str
    object: model.Key
    source: str


Sums = dict[Standing, tuple[float, str]]
Proofs = dict[Standing, list[tuple[Any, ...]]]


def begun() -> Web:
    web = Web()
    web.kinds |= KINDS
    for name in COMMITS:
        web.commit(name)
    return web


def take(web: Web, said: Said, step: tuple[Any, ...]) -> None:
    """Do something to a ledger, and note what was said last."""
    verb, *rest = step
    if verb == "say":
        deriver, scope, by_name = rest
        inputs = [ledger.Said(name, "1", edges) for name, edges in by_name.items()]
        ledger.replace_all(web.connection, deriver, scope, inputs, DERIVED_AT, KINDS)
        said.update({(deriver, scope, name): edges for name, edges in by_name.items()})
    elif verb == "forget":
        deriver, scope, gone = rest
        ledger.forget(web.connection, deriver, scope, gone)
        for name in gone:
            said.pop((deriver, scope, name), None)
    else:
        [kept] = rest
        ledger.forget_scope(web.connection, kept)
        for key in [key for key in said if key[1] and key[1] not in kept]:
            del said[key]


def expected(said: Said) -> tuple[Sums, Proofs]:
    """What the last words come to, added up by hand."""
    proofs: dict[Standing, set[tuple[Any, ...]]] = defaultdict(set)
    for (deriver, scope, name), edges in said.items():
        for edge in edges:
            if edge.subject != edge.object:
                content = model.stored(edge.subject, edge.type, edge.object)
                detail = '{"line":3}' if edge.detail else "{}"
                proof = (name, edge.confidence, edge.at, edge.pointer, detail)
                proofs[Standing(scope, *content, deriver)].add(proof)
    return (
        {
            each: (
                max(proof[1] for proof in some),
                min(filter(None, (p[2] for p in some)), default=""),
            )
            for each, some in proofs.items()
        },
        {each: sorted(some) for each, some in proofs.items()},
    )


def found(connection: sqlite3.Connection) -> tuple[Sums, Proofs]:
    """What a ledger holds."""
    sums: Sums = {}
    proofs: Proofs = {}
    for edge_table, evidence_table, target in (
        ("task_edges", "task_evidence", "to_id"),
        ("task_code_edges", "code_evidence", "node_id"),
    ):
        rows = connection.execute(
            "SELECT e.id, e.confidence, e.at, e.scope, s.key, e.edge_type, o.key, e.source"  # noqa: S608
            f" FROM {edge_table} AS e JOIN lineage_nodes AS s ON s.id = e.from_id"
            f" JOIN lineage_nodes AS o ON o.id = e.{target}"
        ).fetchall()
        for number, confidence, at, *content in rows:
            standing = Standing(*content)
            sums[standing] = (confidence, at)
            statement = (
                "SELECT i.name, v.confidence, v.at, v.pointer, v.detail"  # noqa: S608
                f" FROM {evidence_table} AS v JOIN lineage_inputs AS i ON i.id = v.input"
                " WHERE v.edge = ?"
            )
            proofs[standing] = sorted(connection.execute(statement, (number,)).fetchall())
    return sums, proofs


def faults(connection: sqlite3.Connection) -> list[str]:
    """What may never be in a ledger, whatever was said."""
    commits = dict(connection.execute("SELECT oid, number FROM identity_commits"))
    inputs = {
        number: (deriver, scope)
        for number, deriver, scope in connection.execute(
            "SELECT id, deriver, scope FROM lineage_inputs"
        )
    }
    wrong = []
    for edge_table, evidence_table in (
        ("task_edges", "task_evidence"),
        ("task_code_edges", "code_evidence"),
    ):
        edges = {
            number: (source, scope)
            for number, source, scope in connection.execute(
                f"SELECT id, source, scope FROM {edge_table}"  # noqa: S608
            )
        }
        rows = connection.execute(
            f"SELECT edge, input, pointer, commit_no FROM {evidence_table}"  # noqa: S608
        ).fetchall()
        for edge, number, pointer, commit_no in rows:
            if edge not in edges:
                wrong.append(f"{evidence_table}: evidence of no edge")
            elif inputs.get(number) != edges[edge]:
                wrong.append(f"{evidence_table}: evidence of no input, or of one of others")
            if commit_no != commits.get(pointer.removeprefix("commit:")):
                wrong.append(f"{evidence_table}: not the number of the commit")
        if set(edges) - {edge for edge, *_ in rows}:
            wrong.append(f"{edge_table}: an edge without evidence")
    for statement in ("SELECT 1 FROM temp.lineage_said", "SELECT 1 FROM temp.lineage_touched"):
        wrong += [f"{statement}: left" for _ in connection.execute(statement)]
    return wrong


@pytest.mark.proof(room="lineage")
def test_the_edges_are_what_was_said_last(figures: Figures) -> None:
    done = 0

    @sequences_each
    @hypothesis.given(st.lists(steps, min_size=1, max_size=8))
    def check(told: list[tuple[Any, ...]]) -> None:
        nonlocal done
        web, said = begun(), Said()
        for step in told:
            take(web, said, step)
            assert faults(web.connection) == []
        assert found(web.connection) == expected(said)
        for deriver in DERIVERS:
            for scope in SCOPES:
                known = {key[2] for key in said if key[:2] == (deriver, scope)}
                assert set(ledger.known(web.connection, deriver, scope)) == known
        web.connection.close()
        done += 1

    check()
    figures.add("Ledgers of edges against what was said last", sequences=done, differences=0)


@sequences_each
@hypothesis.given(words, st.data())
def test_the_order_does_not_matter(said: Said, data: st.DataObject) -> None:
    web = begun()
    for (deriver, scope, name), edges in data.draw(st.permutations(list(said.items()))):
        web.say(name, *edges, deriver=deriver, scope=scope)
    assert found(web.connection) == expected(said)
    web.connection.close()


@sequences_each
@hypothesis.given(st.lists(steps, min_size=1, max_size=8))
def test_what_is_taken_back_leaves_nothing(told: list[tuple[Any, ...]]) -> None:
    web, said = begun(), Said()
    for step in told:
        take(web, said, step)
    ledger.forget_scope(web.connection, [])
    for deriver in DERIVERS:
        ledger.forget(web.connection, deriver, "", NAMES)
    assert not any(weaving.dump(web.connection).values())
    web.connection.close()


@sequences_each
@hypothesis.given(words)
def test_saying_everything_again_changes_nothing(said: Said) -> None:
    web = begun()
    for (deriver, scope, name), edges in said.items():
        web.say(name, *edges, deriver=deriver, scope=scope)
    before = weaving.dump(web.connection)
    for (deriver, scope, name), edges in reversed(said.items()):
        web.say(name, *edges, deriver=deriver, scope=scope, derived_at="2027-01-01T00:00:00.000Z")
    assert weaving.dump(web.connection) == before
    web.connection.close()


# As of

# Parents come first: each commit names some of those before it.
histories = st.lists(st.lists(st.integers(0, 9), max_size=2), min_size=1, max_size=7)


def grown(history: list[list[int]]) -> tuple[Web, dict[str, set[str]]]:
    """An index with that history, and what each commit can reach, itself included."""
    web = Web()
    web.kinds |= KINDS
    past: dict[str, set[str]] = {}
    for number, picks in enumerate(history):
        parents = sorted({str(pick % number) for pick in picks}) if number else []
        web.commit(str(number), *parents, day_number=number)
        past[str(number)] = {str(number)}.union(*(past[parent] for parent in parents))
    return web, past


@pytest.mark.proof(room="lineage")
def test_a_question_sees_what_the_past_of_its_commit_said(figures: Figures) -> None:
    done = 0

    @sequences_each
    @hypothesis.given(
        histories,
        st.lists(st.tuples(between | to_code, st.integers(0, 9)), max_size=8),
        st.integers(0, 9),
        times,
    )
    def check(
        history: list[list[int]], told: list[tuple[model.Edge, int]], tip: int, until: str
    ) -> None:
        nonlocal done
        web, past = grown(history)
        asked = str(tip % len(history))
        counted: Said = {}
        for number, (edge, pick) in enumerate(told):
            made = str(pick % len(history))
            if edge.pointer.startswith("commit:"):
                edge = edge._replace(pointer=f"commit:{oid(made)}")  # noqa: PLW2901
                counts = made in past[asked]
            else:
                counts = not until or edge.at <= until
            web.say(str(number), edge)
            if counts:
                counted["task-text", "", str(number)] = (edge,)
        then = web.view(as_of=view.AsOf(oid(asked), until), min_confidence=0)
        sums, _ = expected(counted)
        page = reading.raw(then, limit=100)
        assert {
            Standing(each.scope, *each.content): (each.confidence, each.at) for each in page.edges
        } == sums
        web.connection.close()
        done += 1

    check()
    figures.add("Questions as of a commit against its past", questions=done, differences=0)


# Closures

links = st.tuples(
    st.integers(0, 6), st.sampled_from(["extends", "reverts"]), st.integers(0, 6), confidences
)
touches = st.tuples(st.integers(0, 6), st.sampled_from(CODE))


def best_ways(
    told: list[tuple[int, str, int, float]], touched: set[tuple[int, str]], depth: int
) -> dict[int, float]:
    """How sure the best way from task 0 to each other task is, added up by hand."""

    def steps_from(here: int) -> dict[int, float]:
        found: dict[int, float] = defaultdict(float)
        for name in CODE:
            others = {number for number, code_name in touched if code_name == name}
            for other in others - {here} if here in others else ():
                found[other] += 0.9 * 0.9 * 2 / len(others)
        ways = {other: weight / (1 + weight) for other, weight in found.items()}
        for one, _, two, confidence in told:
            for start, end in ((one, two), (two, one)):
                if start == here != end and confidence >= model.DEFAULT_CONFIDENCE:
                    ways[end] = max(ways.get(end, 0), confidence)
        return ways

    best, ring = {0: 1.0}, {0: 1.0}
    for _ in range(depth):
        found: dict[int, float] = {}
        for here, score in ring.items():
            for other, weight in steps_from(here).items():
                way = score * weight * 0.7
                if way > best.get(other, 0) and way >= 0.02:
                    found[other] = max(found.get(other, 0), way)
        best |= found
        ring = found
    return {each: score for each, score in best.items() if each}


@sequences_each
@hypothesis.given(st.lists(links, max_size=8), st.sets(touches, max_size=8), st.integers(1, 5))
def test_a_closure_finds_the_best_way_to_each_task(
    told: list[tuple[int, str, int, float]], touched: set[tuple[int, str]], depth: int
) -> None:
    web = begun()
    web.say("x", *(web.edge(task(a), verb, task(b), sure) for a, verb, b, sure in told))
    for number, name in sorted(touched):
        web.touch(number, name)
    found = related.closure(web.view(), task(0), depth=depth, least=0)
    expected_ways = {task(each): score for each, score in best_ways(told, touched, depth).items()}
    assert {each.task: each.score for each in found.tasks} == pytest.approx(expected_ways)
    for each in found.tasks:
        assert each.path[-1].node == each.task
        assert len(each.path) <= depth
    web.connection.close()


# Controls


def planted() -> Web:
    web = begun()
    web.say("one", web.edge(task(1), "extends", task(2)))
    web.say("two", web.edge(task(1), "touched", code("a.py")))
    return web


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO task_evidence SELECT edge+7, input, 1, '', '', '{}', NULL FROM task_evidence",
        "INSERT INTO code_evidence SELECT edge, input+7, 1, '', '', '{}', NULL FROM code_evidence",
        "UPDATE code_evidence SET commit_no = 1",
        "DELETE FROM task_evidence",
        "DELETE FROM lineage_inputs WHERE name = 'two'",
        "UPDATE task_code_edges SET scope = 'main'",
    ],
)
def test_control_what_may_never_be_is_found(statement: str) -> None:
    web = planted()
    assert faults(web.connection) == []
    web.connection.execute(statement)
    assert faults(web.connection)


def test_control_a_leftover_row_of_evidence_is_found() -> None:
    said: Said = {("task-text", "", "one"): (), ("task-text", "", "two"): ()}
    web = planted()
    web.connection.execute("CREATE TEMP TABLE leftover AS SELECT * FROM task_evidence")
    web.connection.execute("CREATE TEMP TABLE edge AS SELECT * FROM task_edges")
    for name in ("one", "two"):
        web.say(name)
    assert found(web.connection) == expected(said)
    web.connection.execute("INSERT INTO task_evidence SELECT * FROM leftover")
    assert faults(web.connection)
    web.connection.execute("INSERT INTO task_edges SELECT * FROM edge")
    assert found(web.connection) != expected(said)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE task_edges SET confidence = 0.7",
        "UPDATE task_edges SET at = '2026-01-01T00:00:00.000Z'",
        "UPDATE task_evidence SET detail = '{\"line\":4}'",
    ],
)
def test_control_another_sum_is_found(statement: str) -> None:
    web = planted()
    before = found(web.connection)
    web.connection.execute(statement)
    assert found(web.connection) != before
