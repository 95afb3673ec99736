"""What people say of edges, and how often stories are read: kept in a real store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import agency
from tests.weaving import Web, task
from tether.lineage import feedback, usage
from tether.lineage.edges import reading, view
from tether.store import port

EDGE = view.Content(task(1), "extends", task(2), "task-text")


@pytest.fixture
def store(tmp_path: Path) -> port.Store:
    return agency.sqlite_opener(tmp_path)()


@pytest.fixture
def begun(store: port.Store) -> port.Store:
    store.ensure_writable()
    return store


def said(store: port.Store) -> list[tuple[str, str, str]]:
    return [(each.word, each.by, each.why) for each in feedback.read(store)]


def test_the_last_word_counts(begun: port.Store) -> None:
    feedback.judge(begun, EDGE, "wrong", "ada", "It only mentions it.")
    feedback.judge(begun, EDGE, "right", "ben", "")
    [found] = feedback.read(begun)
    assert found.content == EDGE
    assert (found.word, found.by, found.why) == ("right", "ben", "")
    assert found.at.endswith("Z")


def test_another_deriver_is_another_edge(begun: port.Store) -> None:
    feedback.judge(begun, EDGE, "wrong", "ada", "")
    feedback.judge(begun, EDGE._replace(source="external"), "right", "ada", "")
    assert sorted(word for word, *_ in said(begun)) == ["right", "wrong"]


def test_a_verdict_outlives_the_index_that_it_was_said_of(begun: port.Store) -> None:
    feedback.judge(begun, EDGE, "wrong", "ada", "")
    wrong = frozenset(each.content for each in feedback.read(begun))
    for anew in (Web(), Web()):
        anew.say(
            "T1", anew.edge(task(1), "extends", task(2)), anew.edge(task(1), "blocks", task(3))
        )
        left = reading.raw(anew.view(wrong=wrong)).edges
        assert [each.type for each in left] == ["blocks"]


def test_reasons_are_kept_clean_and_short(begun: port.Store) -> None:
    feedback.judge(begun, EDGE, "wrong", "ada", "a\0b \x1b[2Jc\nd \udce9")
    feedback.judge(begun, EDGE._replace(type="blocks"), "wrong", "ada", "x" * 9000)
    whys = {each.content.type: each.why for each in feedback.read(begun)}
    assert whys["extends"] == "ab c\nd \ufffd"
    assert len(whys["blocks"]) == 2000


def test_paths_that_are_no_utf8_may_be_judged(begun: port.Store) -> None:
    web = Web()
    web.say("T1", web.edge(task(1), "declared", "path:caf\udce9.py"), deriver="declared")
    [edge] = reading.raw(web.view()).edges
    feedback.judge(begun, edge.content, "wrong", "ada", "")
    wrong = frozenset(each.content for each in feedback.read(begun))
    assert reading.raw(web.view(wrong=wrong)).edges == ()


def test_without_a_store_nothing_was_said_or_counted(store: port.Store) -> None:
    assert feedback.read(store) == []
    assert usage.read(store) == []
    assert not usage.count(store, usage.SHOWN)
    assert not store.exists()


def test_what_is_shown_and_opened_is_counted_by_day(begun: port.Store) -> None:
    assert usage.count(begun, usage.SHOWN, 3)
    assert usage.count(begun, usage.SHOWN)
    assert usage.count(begun, usage.EXPANDED)
    counted = {each.what: each.times for each in usage.read(begun)}
    assert counted == {usage.SHOWN: 4, usage.EXPANDED: 1}
