"""What a question sees of the edges: from both ends, of one checkout, as of a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import weaving
from tests.weaving import Web, day, decision, task
from tether import errors
from tether.lineage.edges import model, nodes, reading, view
from tether.store import sql

STATEMENTS = sql.Queries("reading", str(Path(reading.__file__).parent)).all()
NOW = view.NOW


@pytest.fixture
def web() -> Web:
    return Web()


def types(
    web: Web, key: model.Key, as_of: view.AsOf = NOW, *, asked: tuple[str, ...] = ()
) -> list[str]:
    return [each.type for each in reading.around(web.view(as_of=as_of), key, types=asked).sides]


# From both ends


def test_an_edge_reads_from_both_ends(web: Web) -> None:
    web.say("0002", web.edge(decision(2), "supersedes", decision(1), 0.9))
    [newer] = reading.around(web.view(), decision(2)).sides
    [older] = reading.around(web.view(), decision(1)).sides
    assert (newer.type, newer.other) == ("supersedes", decision(1))
    assert (older.type, older.other) == ("superseded_by", decision(2))
    assert newer.edge == older.edge


def test_code_tells_who_changed_it(web: Web) -> None:
    web.touch(1, "a.py#run", day_number=3)
    [side] = reading.around(web.view(), web.name("a.py#run")).sides
    assert (side.type, side.other) == ("touched_by", task(1))
    assert side.edge.at == day(3)


def test_the_edges_of_a_node_come_as_they_happened(web: Web) -> None:
    web.say("T1", web.edge(task(1), "references", task(2), 0.6))
    web.say("T3", web.edge(task(3), "reverts", task(1), at=day(5)))
    web.touch(1, "a.py", day_number=2)
    assert types(web, task(1)) == ["touched", "reverted_by", "references"]


def test_types_are_chosen_as_they_read(web: Web) -> None:
    web.say(
        "T2", web.edge(task(2), "supersedes", task(1)), web.edge(task(3), "supersedes", task(2))
    )
    assert types(web, task(2), asked=("superseded_by",)) == ["superseded_by"]
    assert types(web, task(2), asked=("supersedes",)) == ["supersedes"]
    assert types(web, task(2), asked=("reverts",)) == []
    assert sorted(types(web, task(2))) == ["superseded_by", "supersedes"]


def test_a_node_that_nobody_spoke_of_has_no_edges(web: Web) -> None:
    assert reading.around(web.view(), task(1)) == reading.Sides((), is_truncated=False)


def test_too_many_edges_are_cut_and_that_is_said(web: Web) -> None:
    web.say("x", *(web.edge(task(each), "extends", task(1)) for each in range(2, 9)))
    assert reading.around(web.view(), task(1), limit=7).is_truncated is False
    some = reading.around(web.view(), task(1), limit=6)
    assert (len(some.sides), some.is_truncated) == (6, True)


# What does not count


def test_what_is_not_sure_enough_is_left_out(web: Web) -> None:
    web.say("T2", web.edge(task(2), "references", task(1), 0.4))
    assert types(web, task(1)) == []
    low = web.view(min_confidence=0.4)
    assert [each.type for each in reading.around(low, task(1)).sides] == ["referenced_by"]


def test_a_checkout_sees_what_git_says_and_what_it_says_itself(web: Web) -> None:
    web.say("a", web.edge(task(2), "reverts", task(1)), deriver="diff-reversal")
    web.say("b", web.edge(task(2), "extends", task(1)), scope="here")
    web.say("c", web.edge(task(2), "supersedes", task(1)), scope="there")
    seen = reading.around(web.view(scopes=("", "here")), task(2)).sides
    assert sorted(each.type for each in seen) == ["extends", "reverts"]


def test_an_edge_that_was_judged_wrong_is_left_out(web: Web) -> None:
    edge = web.edge(task(2), "supersedes", task(1))
    web.say("T2", edge, web.edge(task(2), "touched", web.name("a.py")))
    web.say("T2", edge, deriver="declared")
    wrong = frozenset(
        [
            view.Content(task(2), "supersedes", task(1), "task-text"),
            view.Content(task(2), "touched", web.name("a.py"), "task-text"),
            view.Content(task(9), "touched", task(7), "task-text"),
        ]
    )
    [left] = reading.around(web.view(wrong=wrong), task(2)).sides
    assert left.edge.source == "declared"
    assert len(reading.around(web.view(), task(2)).sides) == 3


def test_a_judgement_may_name_the_edge_from_its_other_end(web: Web) -> None:
    web.say("T2", web.edge(task(2), "supersedes", task(1)))
    wrong = frozenset([view.Content(task(1), "superseded_by", task(2), "task-text")])
    assert reading.around(web.view(wrong=wrong), task(2)).sides == ()


def test_an_edge_names_what_is_judged(web: Web) -> None:
    web.say("T2", web.edge(task(2), "supersedes", task(1)))
    [side] = reading.around(web.view(), task(1)).sides
    wrong = frozenset([side.edge.content])
    assert reading.around(web.view(wrong=wrong), task(1)).sides == ()


# As of a time


@pytest.fixture
def forked(web: Web) -> Web:
    """main: begin, go on; feature: begin, try. Tasks 1, 2 and 3 changed the same file."""
    for number, (name, parents) in enumerate(
        {"begin": (), "go on": ("begin",), "try": ("begin",)}.items(), 1
    ):
        pointer = web.commit(name, *parents, day_number=number)
        edge = web.edge(task(number), "touched", web.name("a.py"), 0.9, day(number), pointer)
        web.say(name, edge, deriver="kg-attribution")
    return web


def touchers(web: Web, as_of: view.AsOf) -> list[model.Key]:
    sides = reading.around(web.view(as_of=as_of), web.name("a.py")).sides
    return [each.other for each in sides]


def test_of_another_branch_nothing_is_seen(forked: Web) -> None:
    assert touchers(forked, NOW) == [task(1), task(2), task(3)]
    assert touchers(forked, view.AsOf(weaving.oid("go on"))) == [task(1), task(2)]
    assert touchers(forked, view.AsOf(weaving.oid("try"))) == [task(1), task(3)]
    assert touchers(forked, view.AsOf(weaving.oid("begin"))) == [task(1)]


def test_a_merge_sees_both_sides(forked: Web) -> None:
    forked.commit("merge", "go on", "try", day_number=4)
    assert touchers(forked, view.AsOf(weaving.oid("merge"))) == [task(1), task(2), task(3)]


def test_without_a_commit_the_time_decides(forked: Web) -> None:
    assert touchers(forked, view.AsOf(at=day(2))) == [task(1), task(2)]
    assert touchers(forked, view.AsOf(at=day(0))) == []


def test_where_everything_counts_nothing_is_filtered(forked: Web) -> None:
    query = STATEMENTS[0]
    now = forked.view().statement(query)
    forked.commit("merge", "go on", "try", day_number=4)
    assert forked.view(as_of=view.AsOf(weaving.oid("merge"))).statement(query) == now
    assert forked.view(as_of=view.AsOf(weaving.oid("try"))).statement(query) != now
    limited = forked.view(as_of=view.AsOf(weaving.oid("merge"), day(3)))
    assert limited.statement(query) != now


def test_two_questions_at_a_time_do_not_disturb_each_other(forked: Web) -> None:
    one = forked.view(as_of=view.AsOf(weaving.oid("go on")))
    other = forked.view(as_of=view.AsOf(weaving.oid("try")))
    assert [each.other for each in reading.around(one, forked.name("a.py")).sides] == [
        task(1), task(2),
    ]  # fmt: skip
    assert [each.other for each in reading.around(other, forked.name("a.py")).sides] == [
        task(1), task(3),
    ]  # fmt: skip


def test_a_commit_that_the_index_does_not_know_is_said(forked: Web) -> None:
    with pytest.raises(errors.NotFound) as caught:
        forked.view(as_of=view.AsOf(weaving.oid("tomorrow")))
    assert "does not know this commit" in caught.value.message
    assert caught.value.hint


def test_a_text_counts_from_its_time_on(web: Web) -> None:
    web.commit("begin")
    web.say("T2", web.edge(task(2), "extends", task(1), at=day(5)))
    web.say("T3", web.edge(task(3), "extends", task(1)))
    begin = weaving.oid("begin")
    assert types(web, task(2), view.AsOf(begin, day(4))) == []
    assert types(web, task(2), view.AsOf(begin, day(5))) == ["extends"]
    assert types(web, task(3), view.AsOf(begin, day(4))) == ["extends"]


def test_an_edge_is_as_sure_as_it_was_then(web: Web) -> None:
    early = web.edge(task(1), "touched", web.name("a.py"), 0.6, day(1), web.commit("one"))
    late = early._replace(confidence=0.9, at=day(2), pointer=web.commit("two", "one", day_number=2))
    web.say("one", early)
    web.say("two", late)
    then = web.view(as_of=view.AsOf(weaving.oid("one")))
    [side] = reading.around(then, task(1)).sides
    assert (side.edge.confidence, side.edge.pointer) == (0.6, early.pointer)
    assert [each.pointer for each in reading.evidence(then, side.edge.ref).evidence] == [
        early.pointer
    ]
    [side] = reading.around(web.view(), task(1)).sides
    assert (side.edge.confidence, side.edge.at) == (0.9, day(1))
    strict = web.view(as_of=view.AsOf(weaving.oid("one")), min_confidence=0.7)
    assert reading.around(strict, task(1)).sides == ()


def test_a_question_that_is_rolled_back_leaves_nothing(forked: Web) -> None:
    forked.connection.execute("BEGIN")
    touchers(forked, view.AsOf(weaving.oid("try")))
    forked.connection.execute("ROLLBACK")
    left = forked.connection.execute("SELECT name FROM sqlite_temp_schema").fetchall()
    assert not {name for (name,) in left} & {"lineage_counted"}


# Evidence and enumeration


def test_the_strongest_evidence_comes_first(web: Web) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1), 0.6, day(1), "file:a#line=1", verb="uses"))
    web.say("T3", web.edge(task(2), "extends", task(1), 0.9, day(2), "file:b#line=2"))
    [edge] = reading.raw(web.view()).edges
    proofs = reading.evidence(web.view(), edge.ref)
    assert edge.pointer == "file:b#line=2"
    assert [(each.pointer, each.input, each.detail) for each in proofs.evidence] == [
        ("file:b#line=2", "T3", {}),
        ("file:a#line=1", "T2", {"verb": "uses"}),
    ]
    assert reading.evidence(web.view(), edge.ref, limit=1).is_truncated


def test_an_edge_is_found_by_its_name(web: Web) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1)))
    web.touch(2, "a.py")
    for edge in reading.raw(web.view()).edges:
        assert reading.edge(web.view(), edge.ref) == edge
        assert reading.evidence(web.view(), edge.ref).evidence


@pytest.mark.parametrize(
    "ref", ["", "t", "c", "7", "t99", "tt1", "t-1", "t1\n", "t²", f"t{10**30}"]
)
def test_what_names_no_edge_finds_none(web: Web, ref: str) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1)))
    assert reading.edge(web.view(), ref) is None
    assert reading.evidence(web.view(), ref).evidence == ()


def test_all_edges_are_listed_up_to_a_limit(web: Web) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1)), web.edge(task(2), "reverts", task(3)))
    web.touch(2, "a.py", "b.py")
    every = reading.raw(web.view(), limit=4)
    assert [each.type for each in every.edges] == ["extends", "reverts", "touched", "touched"]
    assert not every.is_truncated
    for limit in (1, 2, 3):
        some = reading.raw(web.view(), limit=limit)
        assert some == reading.Page(every.edges[:limit], is_truncated=True)


def test_edges_are_listed_by_type_and_deriver(web: Web) -> None:
    web.say("T2", web.edge(task(2), "extends", task(1)), web.edge(task(2), "reverts", task(3)))
    web.touch(2, "a.py")
    assert [each.type for each in reading.raw(web.view(), types=("reverted_by",)).edges] == [
        "reverts"
    ]
    by_deriver = reading.raw(web.view(), source="kg-attribution").edges
    assert [each.type for each in by_deriver] == ["touched"]


def test_a_path_that_is_no_utf8_is_asked_for_as_it_is(web: Web) -> None:
    path = model.path_key("caf\udce9.py")
    web.say("x", web.edge(task(1), "declared", path))
    assert types(web, path) == ["declared_by"]
    assert nodes.kept(path) in nodes.keys(web.connection, [1, 2]).values()


# Plans


@pytest.mark.parametrize("as_of", [NOW, view.AsOf(weaving.oid("try"))], ids=["now", "then"])
@pytest.mark.parametrize("query", STATEMENTS, ids=lambda query: query.name)
def test_no_reading_reads_a_large_table_as_a_whole(
    forked: Web, query: sql.Query, as_of: view.AsOf
) -> None:
    statement = forked.view(as_of=as_of).statement(query)
    found = weaving.scanned(forked.connection, statement) & weaving.LARGE
    # To list every edge is to read them, from the first one until there are enough.
    assert bool(found) == query.name.partition(".")[2].startswith("every_")
