"""What people declare in task files and in the file of the repository, and what they got wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tether.lineage.derive import declared, references
from tether.lineage.edges import model as graph

OWN = "task:work:T2"
TASKS = ("T1", "T2", "T3", "H.1.1", "task-7", "PROJ.beta")
NODE = f"node:{'ab' * 12}"


def resolve(word: str) -> str | None:
    bare = word.removeprefix("work:")
    return f"task:work:{bare}" if bare in TASKS else None


def read(**fields: Any) -> declared.Declared:
    return declared.task(fields, OWN, resolve, path="work/inbox/T2.yaml")


def told(edges: tuple[graph.Edge, ...]) -> list[tuple[str, str, str]]:
    """Edges as words, without the names of their sources."""
    short = [(each.subject, each.type, each.object) for each in edges]
    return [
        (begin.removeprefix("task:work:"), kind, end.removeprefix("task:work:"))
        for begin, kind, end in short
    ]


# Task files


def test_a_task_declares_its_context() -> None:
    found = read(context_files=["src/a.py", "./docs/b.md", "src/a.py:12-40", "lib/"])
    assert told(found.edges) == [
        ("T2", "declared", "path:src/a.py"),
        ("T2", "declared", "path:docs/b.md"),
        ("T2", "declared", "path:lib"),
    ]
    assert {each.confidence for each in found.edges} == {1.0}
    assert found.edges[0].pointer == "file:work/inbox/T2.yaml#field=context_files[0]"
    assert found.problems == ()


def test_a_symbol_and_a_pattern_are_kept_as_details() -> None:
    found = read(context_files=["src/a.py#Session.run", "src/b.rs::go", "src/**/*.sql", NODE])
    assert told(found.edges) == [
        ("T2", "declared", "path:src/a.py"),
        ("T2", "declared", "path:src/b.rs"),
        ("T2", "declared", "path:src/**/*.sql"),
        ("T2", "declared", NODE),
    ]
    assert [each.detail for each in found.edges] == [
        {"name": "Session.run"},
        {"name": "go"},
        {"is_pattern": True},
        {},
    ]


def test_context_may_be_one_path_or_have_reasons() -> None:
    assert told(read(context_files="Makefile").edges) == [("T2", "declared", "path:Makefile")]
    [edge] = read(context_files=[{"path": "src/a.py", "why": "the bug is here"}]).edges
    assert edge.detail == {"why": "the bug is here"}


@pytest.mark.parametrize(
    "path",
    ["../x.py", "/etc/passwd", "https://a.b/c", "~/x", "a\\b.py", "", ".", 7, None, ["x"], {}],
)
def test_what_is_no_path_in_the_repository_is_a_problem(path: object) -> None:
    found = read(context_files=["src/a.py", path])
    assert told(found.edges) == [("T2", "declared", "path:src/a.py")]
    assert len(found.problems) == 1
    assert found.problems[0].startswith("context_files[1]: this is no path in the repository")


def test_a_dependency_comes_before_the_task() -> None:
    assert told(read(depends_on=["T1", "H.1.1"]).edges) == [
        ("T1", "blocks", "T2"),
        ("H.1.1", "blocks", "T2"),
    ]
    assert told(read(depends_on="T1").edges) == [("T1", "blocks", "T2")]
    assert told(read(depends_on=[{"task": "T1"}]).edges) == [("T1", "blocks", "T2")]


def test_the_rest_of_a_task_follows_it_up() -> None:
    assert told(read(parent="T1").edges) == [("T2", "follows-up", "T1")]


BOTH = [("T2", "extends", "T1"), ("T2", "extends", "T3")]


@pytest.mark.parametrize(
    ("relations", "expected"),
    [
        ([{"type": "supersedes", "task": "T1"}], [("T2", "supersedes", "T1")]),
        ([{"kind": "supersedes", "to": "T1"}], [("T2", "supersedes", "T1")]),
        ([{"relation": "Reverts", "id": "T1"}], [("T2", "reverts", "T1")]),
        ([{"type": "contradicts", "target": "T1"}], [("T2", "contradicts", "T1")]),
        ([{"type": "superseded_by", "task": "T3"}], [("T3", "supersedes", "T2")]),
        ([{"type": "superseded by", "task": "T3"}], [("T3", "supersedes", "T2")]),
        ([{"type": "is blocked by", "task": "T3"}], [("T3", "blocks", "T2")]),
        ([{"type": "motivated-by", "task": "T3"}], [("T3", "motivates", "T2")]),
        ([{"type": "extends", "task": ["T1", "T3"]}], BOTH),
        ([{"type": "follows-up", "task": "T1"}], [("T2", "follows-up", "T1")]),
        ([{"subject": "T2", "type": "extends", "object": "T1"}], [("T2", "extends", "T1")]),
        ([{"supersedes": "T1"}], [("T2", "supersedes", "T1")]),
        ([{"extends": ["T1", {"task": "T3"}]}], BOTH),
        ({"extends": ["T1", "T3"]}, BOTH),
        ({"extends": "T1", "builds on": "T3"}, BOTH),
        ({"type": "supersedes", "task": "T1"}, [("T2", "supersedes", "T1")]),
        (["supersedes T1"], [("T2", "supersedes", "T1")]),
        (["superseded_by: T3"], [("T3", "supersedes", "T2")]),
        (["Superseded by T3"], [("T3", "supersedes", "T2")]),
        ("extends T1, T3", BOTH),
        (["builds on T1 and T3"], BOTH),
        (["T1"], [("T2", "references", "T1")]),
        (["supersedes decision:0003"], [("T2", "supersedes", "decision:0003")]),
        (["supersedes task:T1"], [("T2", "supersedes", "T1")]),
        (["supersedes work:T1"], [("T2", "supersedes", "T1")]),
        (["relates to PROJ.beta"], [("T2", "references", "PROJ.beta")]),
        ([{"type": "created", "object": "src/a.py"}], [("T2", "created", "path:src/a.py")]),
        (["supersedes T1", {"supersedes": "T1"}], [("T2", "supersedes", "T1")]),
        ([], []),
        (None, []),
    ],
)  # fmt: skip
def test_relations_are_read_in_every_form(
    relations: object, expected: list[tuple[str, str, str]]
) -> None:
    found = read(relations=relations)
    assert told(found.edges) == expected
    assert found.problems == ()


@pytest.mark.parametrize(
    ("relations", "problem"),
    [
        (["destroys T1"], "relations[0]: this is no type of relation with a task behind it"),
        (["supersedes"], "relations[0]: this is no type of relation with a task behind it"),
        ([{"type": "destroys", "task": "T1"}], "relations[0]: this is no type of relation"),
        ([{"type": "co-touches", "task": "T1"}], "relations[0]: this is no type of relation"),
        ([{"type": ["x"], "task": "T1"}], "relations[0]: this is no type of relation"),
        ([{"type": "supersedes"}], "relations[0]: it does not say which task it is about"),
        ([{"type": "supersedes", "task": "T9"}], "relations[0]: no task or decision is called so"),
        ([{"type": "supersedes", "task": "T2"}], "relations[0]: a task has no relation to itself"),
        ([{"type": "supersedes", "task": ["T9"]}], "relations[0][0]: no task or decision"),
        ([{"subject": "T3", "type": "supersedes", "object": "T1"}], "relations[0]: what others do"),
        ([{"type": "created", "object": "T1"}], "relations[0]: 'created' is about code"),
        ([{"destroys": "T1"}], "relations[0]: this is no type of relation ('destroys')"),
        ([7], "relations[0]: this is no relation (7)"),
        ([["supersedes", "T1"]], "relations[0]: this is no relation (a list)"),
        (["supersedes src/a.py"], "relations[0]: no task or decision is called so"),
        ([True], "relations[0]: this is no relation"),
    ],
)
def test_a_relation_that_is_none_is_a_problem(relations: object, problem: str) -> None:
    found = read(relations=relations)
    assert found.edges == ()
    assert len(found.problems) == 1
    assert found.problems[0].startswith(problem)


def test_nothing_is_lost_silently() -> None:
    found = read(relations=[{"type": "supersedes", "task": "T1", "to": "T3", "when": "now"}])
    assert told(found.edges) == [("T2", "supersedes", "T1")]
    assert found.problems == (
        "relations[0]: this field is not known here ('when')",
        "relations[0]: 'task' and 'to' mean the same; the first one counts",
    )


def test_a_reason_goes_with_the_edge() -> None:
    reasons = (
        [{"type": "supersedes", "task": "T1", "why": "it was slow"}],
        [{"supersedes": "T1", "why": "it was slow"}],
        [{"supersedes": {"task": "T1", "reason": "it was slow"}}],
    )
    for relations in reasons:
        [edge] = read(relations=relations).edges
        assert edge.detail == {"why": "it was slow"}


def test_an_edge_is_as_old_as_the_task() -> None:
    [edge] = read(parent="T1", created_at="2026-11-18 09:30Z").edges
    assert edge.at == "2026-11-18T09:30:00.000Z"
    [given] = declared.task({"parent": "T1"}, OWN, resolve, at="2026-11-19T00:00:00.000Z").edges
    assert given.at == "2026-11-19T00:00:00.000Z"


def test_of_very_many_entries_the_first_are_read_and_the_rest_is_said() -> None:
    found = read(depends_on=["T1"] * 5000)
    assert told(found.edges) == [("T1", "blocks", "T2")]
    assert found.problems == ("depends_on: only the first 1000 of 5000 entries were read",)
    wrong = read(depends_on=[f"X{n}" for n in range(900)])
    assert (len(wrong.problems), wrong.problems[-1]) == (101, "and 800 more")


def test_a_problem_shows_a_piece_of_the_text_and_none_of_its_controls() -> None:
    [problem] = read(depends_on=[f"\u202e\x1b[31m{'x' * 900}"]).problems
    assert problem.isprintable()
    assert len(problem) < 150


# The file of the repository


def file(text: str) -> declared.DeclaredFile:
    return declared.file(text.encode())


def test_the_file_relates_tasks_decisions_and_code() -> None:
    found = file(
        "relations:\n"
        "  - {subject: T2, type: supersedes, object: T1, why: it was slow}\n"
        "  - {subject: 'decision:0021', type: governs, object: 'src/a.py#run'}\n"
        "  - {subject: 'src/b.py', type: governed_by, object: 'decision:0021'}\n"
        "  - T3 extends T1, H.1.1\n"
        f"  - {{subject: 'decision:0021', type: governs, object: '{NODE}'}}\n"
    )
    assert found.problems == ()
    edges = declared.edges(found, resolve)
    assert edges.problems == ()
    assert told(edges.edges) == [
        ("T2", "supersedes", "T1"),
        ("decision:0021", "governs", "path:src/a.py"),
        ("decision:0021", "governs", "path:src/b.py"),
        ("T3", "extends", "T1"),
        ("T3", "extends", "H.1.1"),
        ("decision:0021", "governs", NODE),
    ]
    assert [each.detail for each in edges.edges[:2]] == [{"why": "it was slow"}, {"name": "run"}]
    assert edges.edges[1].pointer == "file:work/lineage.yaml#field=relations[1]"


def test_the_file_says_what_code_is_the_same() -> None:
    found = file(
        "same_as:\n"
        "  - {from: 'src/a.py#old', to: 'src/b.py#new', at: 1F2E3D4c, why: the split}\n"
        f"  - {{from: {NODE}, to: 'src/b.py'}}\n"
    )
    assert found.problems == ()
    first, second = found.same_as
    assert first.before == references.Code("src/a.py", "old")
    assert first.after == references.Code("src/b.py", "new")
    assert (first.at, first.why, first.place) == ("1f2e3d4c", "the split", "same_as[0]")
    assert (second.before, second.at) == (NODE, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("same_as: [{from: T1, to: 'src/b.py'}]", "same_as[0]: this is no code"),
        ("same_as: [{from: 'src/b.py'}]", "same_as[0]: this is no code"),
        ("same_as: [{from: 'a/b.py', to: './a/b.py'}]", "same_as[0]: both are the same place"),
        ("same_as: [{from: a/b, to: a/c, at: main}]", "same_as[0]: 'at' names no commit"),
        ("same_as: ['a/b.py -> a/c.py']", "same_as[0]: this is no pair"),
        ("relations: [{subject: T1, type: eats, object: T2}]", "relations[0]: this is no type"),
        ("relations: [{type: extends, object: T2}]", "relations[0]: it does not say what"),
        ("relations: [{subject: T1, type: extends}]", "relations[0]: it does not say what"),
        ("relations: [{subject: T1, type: extends, object: T1}]", "relations[0]: nothing has"),
        ("relations: [{subject: T1, type: extends, object: ../x}]", "relations[0]: this names"),
        ("relations: [T1]", "relations[0]: this is no relation"),
        ("relations: [7]", "relations[0]: this is no relation (7)"),
        ("supersedes: [T1]", "work/lineage.yaml: this field is not known here ('supersedes')"),
        ("- T1", "line 1: it is not a list of fields"),
        ("a: [", "line "),
        ("a: 1\na: 2", "line 2: "),
    ],
)
def test_what_the_file_cannot_mean_is_a_problem(text: str, problem: str) -> None:
    found = file(text)
    assert (found.relations, found.same_as) == ((), ())
    assert len(found.problems) == 1
    assert found.problems[0].startswith(problem)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("T9 extends T1", "relations[0]: no task or decision is called so ('T9')"),
        ("T1 extends T9", "relations[0]: no task or decision is called so ('T9')"),
        ("src/a.py supersedes src/b.py", "relations[0]: between two pieces of code only 'same_as'"),
        ("T1 supersedes src/b.py", "relations[0]: 'supersedes' is between tasks and decisions"),
        ("T1 governs T2", "relations[0]: 'governs' is about code"),
        ("src/a.py governs src/b.py", "relations[0]: code has no 'governs'"),
    ],
)
def test_nodes_that_cannot_have_an_edge_are_a_problem(entry: str, problem: str) -> None:
    found = declared.edges(file(f"relations: ['{entry}']"), resolve)
    assert found.edges == ()
    assert len(found.problems) == 1
    assert found.problems[0].startswith(problem)


def test_a_document_may_describe_code() -> None:
    found = declared.edges(file("relations: ['docs/x.md describes src/a.py#run']"), resolve)
    assert told(found.edges) == [("path:docs/x.md", "describes", "path:src/a.py")]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"\xff\xfe\x00",
        b"\0" * 1000,
        b"[" * 100_000,
        b"relations: " + b"[" * 500 + b"]" * 500,
        b"a: &a [x]\nrelations: [*a, *a]\n",
        b"relations: {a: {b: {c: d}}}\n",
        b"relations: [{subject: {a: b}, type: {}, object: []}]\n",
        b"<<<<<<< ours\nrelations: []\n",
        b"x: " + b"y" * 400_000,
        "relations: ['\u202eT1 extends T2']".encode(),
    ],
)
def test_no_file_makes_it_fail(content: bytes) -> None:
    found = declared.file(content)
    assert declared.edges(found, resolve).edges == ()
    assert all(each.isprintable() for each in found.problems)


# Words


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("supersedes", "supersedes"),
        ("Superseded-By", "superseded_by"),
        ("is superseded by", "superseded_by"),
        ("cited in review", "cited-in-review"),
        ("relates to", "references"),
        ("co-touches", None),
        ("eats", None),
        ("", None),
    ],
)
def test_types_are_named_from_either_end(words: str, expected: str | None) -> None:
    assert references.type_of(words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("T1", references.Word("T1")),
        ("decision:0021", references.Word("decision:0021")),
        ("src/a.py", references.Code("src/a.py", "")),
        ("a.py#run", references.Code("a.py", "run")),
        ("symbol:src/a.py#run", references.Code("src/a.py", "run")),
        ("dir:src", references.Code("src", "")),
        (NODE, NODE),
        ("node:xyz", None),
        ("decision:", None),
        ("a/../../b", None),
        ("x" * 1000, None),
        ("a\u202eb", None),
        ("", None),
    ],
)
def test_a_word_names_a_task_a_decision_or_code(words: str, expected: object) -> None:
    assert references.reference(words) == expected
