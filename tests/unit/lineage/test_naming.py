"""What nodes are called, which node words mean, and what stands in a piece of code."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import chronicles, weaving
from tests.chronicles import task_id
from tests.weaving import Web, decision, task
from tether import errors, git
from tether.lineage import kept, naming, parts, targets
from tether.lineage.biography import model as story
from tether.lineage.biography import records
from tether.lineage.edges import model, nodes, view

CODE = """\
class Bell:
    def ring(self):
        return 1


class Bellows:
    def blow(self):
        return 2


def ring():
    return 3
"""


@pytest.fixture
def web() -> Web:
    return Web()


def know(web: Web, *keys: model.Key) -> None:
    for key in keys:
        nodes.number(web.connection, key, "decision" if key.startswith("decision") else "task")


def written(web: Web, key: model.Key, cited: str = "") -> None:
    record = story.Record(key, cited or model.label(key), "Ring", "done", pointer="file:T1#line=7")
    records.keep(web.connection, "", {key: record})


# Tasks


def test_a_task_is_called_by_its_id_by_its_list_too_and_by_its_key(web: Web) -> None:
    know(web, "task:work:T1", "task:track:H.1", "task:work:T12")
    for words in ("T1", "work:T1", "task:work:T1"):
        assert naming.task(web.connection, words) == "task:work:T1"
    for words in ("T2", "track:T1", "t1", "T1 ", "", "a/b", "decision:T1"):
        assert naming.task(web.connection, words) is None


def test_tasks_of_two_lists_are_asked_back(web: Web) -> None:
    know(web, "task:work:T1", "task:track:T1")
    with pytest.raises(errors.UsageError) as caught:
        naming.task(web.connection, "T1")
    assert caught.value.details["candidates"] == ["task:track:T1", "task:work:T1"]
    assert naming.task(web.connection, "track:T1") == "task:track:T1"


def test_a_task_that_nobody_knows_is_told_with_what_is_near(web: Web) -> None:
    know(web, "task:work:T20260302-aaaa01", "task:work:other")
    with pytest.raises(errors.NotFound) as caught:
        naming.require_task(web.connection, "T20260302-aaaa02")
    assert caught.value.hint == "Did you mean T20260302-aaaa01?"
    with pytest.raises(errors.NotFound) as caught:
        naming.require_task(web.connection, "OTHER")
    assert caught.value.hint == "Did you mean other?"


def test_an_error_tells_no_raw_words(web: Web) -> None:
    with pytest.raises(errors.NotFound) as caught:
        naming.require_decision(web.view(), "\x1b[2J" + "x" * 999)
    assert "\x1b" not in caught.value.message
    assert len(caught.value.message) < 200


# Decisions


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("docs/adr/0007", "docs/adr/0007"),
        ("decision:docs/adr/0007", "docs/adr/0007"),
        ("DOCS/ADR/0007", "docs/adr/0007"),
        ("0007", "docs/adr/0007"),
        ("7", "docs/adr/0007"),
        ("ADR-012", "log#ADR-012"),
        ("12", "log#ADR-012"),
        ("RFC 3", "other"),
        ("0", "docs/adr/0000"),
        ("0000", "docs/adr/0000"),
    ],
)
def test_a_decision_is_called_by_its_name_its_end_its_id_or_its_number(
    web: Web, words: str, name: str
) -> None:
    names = ("docs/adr/0007", "docs/adr/0070", "log#ADR-012", "docs/adr/0000")
    for each in names:
        written(web, model.decision_key(each))
    written(web, "decision:other", cited="RFC 3")
    assert naming.decision(web.view(), words) == model.decision_key(name)


def test_a_number_counts_only_where_it_may(web: Web) -> None:
    know(web, decision(7))
    assert naming.decision(web.view(), "7") == decision(7)
    assert naming.decision(web.view(), "7", by_number=False) is None
    assert naming.decision(web.view(), "17") is None


def test_decisions_of_one_number_are_asked_back(web: Web) -> None:
    know(web, "decision:api/0007", "decision:web/0007")
    for words in ("7", "0007"):
        with pytest.raises(errors.UsageError) as caught:
            naming.decision(web.view(), words)
        assert caught.value.details["candidates"] == ["decision:api/0007", "decision:web/0007"]
        assert "decision:api/0007" in str(caught.value.hint)


def test_decisions_that_are_only_spoken_of_are_not_listed(web: Web) -> None:
    know(web, decision(1))
    written(web, decision(2))
    assert naming.decisions(web.view(), kept.Line(0)) == [decision(2)]


# Names


def test_tasks_and_decisions_are_called_as_they_are_written_down(web: Web) -> None:
    know(web, task(1), task(2))
    written(web, task(1))
    found = naming.names(web.view(), [task(2), task(1), task(1), decision(9), "path:src/a.py"])
    assert list(found) == [task(2), task(1), decision(9), "path:src/a.py"]
    assert found[task(1)][2:6] == ("T20260302-000001", "Ring", "done", "T1:7")
    assert found[task(2)][1:4] == ("task", "T20260302-000002", "")
    assert found[decision(9)][1:3] == ("decision", "0009")
    assert found["path:src/a.py"][1:3] == ("path", "src/a.py")


def test_code_of_which_nothing_is_known_is_called_by_its_key(web: Web) -> None:
    key = weaving.code("a.py")
    assert naming.names(web.view(), [key])[key].label == key
    assert naming.names(web.view(), []) == {}


class Scene:
    """A real repository, and an index of it."""

    def __init__(self, world: chronicles.World, connection: sqlite3.Connection) -> None:
        self.world, self.connection = world, connection
        self.git = git.Git(world.repo)

    def called(self, name: str, as_of: view.AsOf = view.NOW) -> naming.Name:
        seen = view.View(self.connection, as_of=as_of)
        [(key,)] = self.connection.execute(
            "SELECT DISTINCT n.key FROM identity_events AS e JOIN lineage_nodes AS n"
            " ON n.id = e.node WHERE e.name = ?",
            (name,),
        )
        return naming.names(seen, [key])[key]

    def inside(self, selector: str) -> set[str]:
        """What stands in a piece of code, and it itself."""
        tip = self.world.tip
        number = kept.number_of(self.connection, tip)
        assert number is not None
        aim = targets.Aim(self.connection, self.git, tip, number)
        try:
            found = parts.whole(self.connection, aim.line, aim.find(selector))
        finally:
            aim.close()
        assert len(found) == len(set(found))
        keys = nodes.keys(self.connection, found).values()
        seen = view.View(self.connection)
        return {each.label for each in naming.names(seen, keys).values()}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    world = chronicles.World(tmp_path_factory.mktemp("naming").resolve())
    world.write("README.md", "# Node\n\nOne.\n\n## Install\n\nIt.\n\n# Node.js setup\n\nOther.\n")
    world.write("src/bell.py", CODE)
    world.write("old.py", "def gone():\n    return 'gone'\n")
    world.commit(f"{task_id(1)}: begin")
    world.git("mv", "src/bell.py", "src/gong.py")
    (world.repo / "old.py").unlink()
    world.commit("Move")
    world.bring(store_dir := world.index_dir())
    with contextlib.closing(world.connection(store_dir)) as connection:
        yield Scene(world, connection)
    world.close()


def test_code_is_called_by_where_it_stands_now_or_then(scene: Scene) -> None:
    first = view.AsOf(scene.world.git("rev-parse", "HEAD~1"))
    assert scene.called("blow")[2:] == (
        "src/gong.py#Bellows.blow",
        "",
        "",
        "src/gong.py:7-8",
        False,
        "",
    )
    assert scene.called("blow", first).label == "src/bell.py#Bellows.blow"


def test_code_that_is_gone_is_called_by_where_it_stood(scene: Scene) -> None:
    found = scene.called("gone")
    assert (found.label, found.place, found.is_gone) == ("old.py#gone", "old.py:1-2", True)


def test_a_file_has_its_symbols_in_it_and_a_class_its_methods(scene: Scene) -> None:
    top = "src/gong.py"
    bell = {f"{top}#Bell", f"{top}#Bell.ring"}
    rest = {f"{top}#Bellows", f"{top}#Bellows.blow", f"{top}#ring"}
    assert scene.inside(f"{top}#Bell") == bell
    assert scene.inside(f"{top}#ring") == {f"{top}#ring"}
    assert scene.inside(top) == {top, *bell, *rest}
    assert scene.inside("dir:src") == {top, *bell, *rest}


def test_a_section_has_only_what_stands_below_it(scene: Scene) -> None:
    assert scene.inside("README.md#Node") == {"README.md#Node", "README.md#Node.Install"}


def test_a_path_that_is_no_utf8_is_indexed_and_called_as_it_can_be(tmp_path: Path) -> None:
    with contextlib.closing(chronicles.World(tmp_path.resolve())) as world:
        with open(os.path.join(os.fsencode(world.repo), b"caf\xe9.py"), "wb") as file:
            file.write(b"def ring():\n    return 1\n")
        world.commit(f"{task_id(1)}: ring")
        world.bring(store_dir := world.index_dir())
        with contextlib.closing(world.connection(store_dir)) as connection:
            found = Scene(world, connection).called("ring")
    assert found.label.startswith("caf")
    assert found.label.endswith(".py#ring")
