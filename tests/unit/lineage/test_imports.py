"""What other clones exported and somebody took up: how it is kept, and what counts of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import weaving
from tests.weaving import DERIVED_AT, Web, decision, task
from tether import errors
from tether.lineage import imports, portable
from tether.lineage.biography import gathering, records
from tether.lineage.biography import model as story
from tether.lineage.derive import imported
from tether.lineage.edges import model

FILE = weaving.code("a.py")
HERE, THERE = weaving.oid("here"), weaving.oid("there")


@pytest.fixture
def web() -> Web:
    return Web()


class Post:
    """Takes up documents of others, and has them derived."""

    def __init__(self, store_dir: Path, web: Web) -> None:
        self.place, self.web = str(store_dir), web

    def take(self, *edges: portable.Edge, title: str = "", more: str = "") -> str:
        """Keep a document about two tasks, a decision and a file; its digest."""
        nodes = [
            portable.Node(task(1), "task", title=title, status="done", agent="ada"),
            portable.Node(task(2), "task"),
            portable.Node(decision(1), "decision"),
            portable.Node(FILE, "file"),
            *([portable.Node(more, more.partition(":")[0])] if more else []),
        ]
        raw = portable.encode(portable.Document(1, None, "", nodes, list(edges)))
        assert imports.keep(self.place, raw)
        return imports.digest_of(raw)

    def derive(self) -> imported.Derived:
        return imported.derive(self.web.connection, self.place, DERIVED_AT)

    def damage(self, digest: str) -> None:
        path = Path(self.place, imports.path_of(digest))
        path.write_bytes(path.read_bytes()[:-9])

    @property
    def said(self) -> list[tuple[str, str, str]]:
        """What others say: pointers of the evidence, by edges."""
        rows = self.web.connection.execute(
            "SELECT e.edge_type, o.key, v.pointer FROM task_edges AS e"
            " JOIN lineage_nodes AS o ON o.id = e.to_id JOIN task_evidence AS v ON v.edge = e.id"
            " WHERE e.source = 'external' UNION ALL"
            " SELECT e.edge_type, o.key, v.pointer FROM task_code_edges AS e"
            " JOIN lineage_nodes AS o ON o.id = e.node_id JOIN code_evidence AS v ON v.edge = e.id"
            " WHERE e.source = 'external'"
        )
        return sorted(rows.fetchall())

    def record(self, scopes: tuple[str, ...] = ("",)) -> story.Record | None:
        return records.read(self.web.connection, scopes, [task(1)]).get(task(1))


@pytest.fixture
def post(tmp_path: Path, web: Web) -> Post:
    return Post(tmp_path, web)


def touched(oid: str, **detail: object) -> portable.Edge:
    proof = portable.Evidence(f"commit:{oid}", 0.9, "", detail)
    return portable.Edge(task(1), "touched", FILE, "commit-grep", 0.9, "", [proof])


def written(pointer: str = "file:work/T1.yaml#line=7") -> portable.Edge:
    proof = portable.Evidence(pointer, 0.8)
    return portable.Edge(task(1), "extends", task(2), "task-text", 0.8, "", [proof])


# Files


def test_an_import_is_kept_once_and_read_as_it_was(tmp_path: Path) -> None:
    place = str(tmp_path)
    assert imports.there(place) == []
    assert imports.keep(place, b"one")
    assert not imports.keep(place, b"one")
    assert imports.keep(place, b"two")
    assert imports.there(place) == sorted(map(imports.digest_of, (b"one", b"two")))
    assert imports.load(place, imports.digest_of(b"one")) == b"one"


def test_an_import_is_forgotten_once(tmp_path: Path) -> None:
    place = str(tmp_path)
    imports.keep(place, b"one")
    assert imports.forget(place, imports.digest_of(b"one"))
    assert imports.there(place) == []
    assert not imports.forget(place, imports.digest_of(b"one"))


def test_other_files_are_no_imports(tmp_path: Path) -> None:
    place = str(tmp_path)
    imports.keep(place, b"one")
    for name in ("note.json", f"{'a' * 24}.json~", f"{'A' * 24}.json", "a" * 24):
        (tmp_path / imports.DIRECTORY / name).write_text("x")
    assert imports.there(place) == [imports.digest_of(b"one")]


def test_control_an_import_that_was_changed_is_noticed(tmp_path: Path) -> None:
    place = str(tmp_path)
    imports.keep(place, b"one")
    path = tmp_path / imports.path_of(imports.digest_of(b"one"))
    path.write_bytes(b"two")
    with pytest.raises(errors.ExportInvalid):
        imports.load(place, imports.digest_of(b"one"))
    assert path.read_bytes() == b"two"


def test_a_damaged_import_is_mended_by_importing_it_again(tmp_path: Path) -> None:
    place = str(tmp_path)
    imports.keep(place, b"one")
    (tmp_path / imports.path_of(imports.digest_of(b"one"))).write_bytes(b"two")
    imports.keep(place, b"one")
    assert imports.load(place, imports.digest_of(b"one")) == b"one"


# Edges


def test_what_others_say_of_nodes_that_nobody_knows_here_counts(post: Post) -> None:
    post.take(touched(THERE), written())
    assert post.derive() == imported.Derived(1)
    assert post.said == [
        ("extends", task(2), "file:work/T1.yaml#line=7"),
        ("touched", FILE, f"commit:{THERE}"),
    ]


def test_an_import_that_was_read_is_not_read_again(post: Post) -> None:
    post.take(written())
    post.derive()
    assert post.derive() == imported.Derived(0)


def test_of_a_commit_that_is_here_nothing_is_taken(web: Web, post: Post) -> None:
    web.commit("here")
    post.take(touched(HERE), touched(THERE))
    post.derive()
    assert post.said == [("touched", FILE, f"commit:{THERE}")]


def test_a_commit_that_comes_later_is_not_told_twice(web: Web, post: Post) -> None:
    post.take(touched(HERE))
    post.derive()
    web.commit("here")
    post.derive()
    assert post.said == []


def test_what_was_done_under_a_claim_only_the_other_clone_knows(web: Web, post: Post) -> None:
    web.commit("here")
    post.take(touched(HERE, how="claim"))
    post.derive()
    assert post.said == [("touched", FILE, f"commit:{HERE}")]


def test_what_texts_here_say_in_the_same_words_is_not_told_twice(web: Web, post: Post) -> None:
    web.say("T1", web.edge(task(1), "extends", task(2), pointer="file:work/T1.yaml#line=7"))
    post.take(written(), written("file:work/T1.yaml#line=9"))
    post.derive()
    assert post.said == [("extends", task(2), "file:work/T1.yaml#line=9")]


def test_what_was_forgotten_leaves_nothing(post: Post) -> None:
    digest = post.take(touched(THERE), written(), title="Ring")
    post.derive()
    imports.forget(post.place, digest)
    assert post.derive() == imported.Derived(1)
    assert post.said == []
    assert post.record() is None


def test_of_two_imports_the_other_one_stays(post: Post) -> None:
    first = post.take(written("event:1"), title="Ring")
    post.take(written("event:2"), title="Ring twice")
    post.derive()
    imports.forget(post.place, first)
    post.derive()
    assert [pointer for *_, pointer in post.said] == ["event:2"]
    found = post.record()
    assert found is not None
    assert found.title == "Ring twice"


def test_a_damaged_import_says_nothing_and_leaves_the_others(post: Post) -> None:
    damaged = post.take(written("event:1"))
    post.take(written("event:2"))
    post.damage(damaged)
    [problem] = post.derive().problems
    assert damaged in problem
    assert [pointer for *_, pointer in post.said] == ["event:2"]


@pytest.mark.parametrize("path", ["path:a b", "path:caf\u00e9\n.py", "path:a\0b"])
def test_no_name_of_a_path_stops_all_others(post: Post, path: str) -> None:
    proof = portable.Evidence("event:1", 0.8)
    odd = portable.Edge(task(1), "declared", path, "declared", 0.8, "", [proof])
    post.take(written(), odd, more=path)
    post.derive()


def test_a_line_number_as_long_as_a_book_is_no_line() -> None:
    pointer = f"file:a.py#line={'9' * 5000}"
    assert gathering.placed_at(pointer)[1] == 0


# Records


def test_tasks_are_called_as_the_other_clone_calls_them(post: Post) -> None:
    digest = post.take(title="Ring\nat \x1b[2Jzero")
    post.derive()
    found = post.record()
    assert found is not None
    assert (found.title, found.status, found.agent) == ("Ring at zero", "done", "ada")
    assert found.pointer == f"import:{digest}"


def test_what_is_written_here_counts_more(web: Web, post: Post) -> None:
    post.take(title="Theirs")
    post.derive()
    theirs = post.record()
    assert theirs is not None
    records.keep(web.connection, "main", {task(1): theirs._replace(title="Ours")})
    found = post.record(("", "main"))
    assert found is not None
    assert found.title == "Ours"


def test_a_node_without_a_title_has_no_record(post: Post) -> None:
    post.take(written())
    post.derive()
    assert post.record() is None


def test_an_import_says_in_whose_name_it_speaks(web: Web, post: Post) -> None:
    post.take(written())
    post.derive()
    [row] = web.connection.execute("SELECT DISTINCT source, scope FROM task_edges").fetchall()
    assert row == (imported.DERIVER, "")
    assert imported.DERIVER in model.DERIVERS
