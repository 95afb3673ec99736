"""How answers about symbols are counted: every rule of it, on rows made by hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tether import errors
from tether.bench import symbols
from tether.bench.symbols import agreement, git_lines, judging, oracle, said, scoring
from tether.git import Oid

A, B, C, D = (each * 40 for each in "abcd")
Types = dict[str, list[str]]
Kinds = dict[str, list[str]]


def write(path: Path, rows: Iterable[Any]) -> str:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


def asked(types: Types, *, is_class: bool = False) -> oracle.Question:
    expected = [oracle.Expected(commit, frozenset(each)) for commit, each in types.items()]
    return oracle.Question("q", "o/n", Oid(A), "f.java", 1, 9, is_class, tuple(expected))


def told(kinds: Kinds) -> list[said.Change]:
    return [said.Change(commit, frozenset(each)) for commit, each in kinds.items()]


def counts(sets: scoring.Sets) -> tuple[int, int, int]:
    return sets.counted[:3]


# Histories


def test_strict_excuses_nothing() -> None:
    question = asked({A: ["body"], B: ["doc"], C: ["introduced"]})
    found = scoring.strict(question, told({A: ["body"], C: ["introduced"], D: ["formatting"]}))
    assert counts(found) == (2, 1, 1)
    assert not found.is_exact


def test_the_control_a_planted_wrong_commit_is_counted() -> None:
    question = asked({A: ["body"]})
    right, planted = told({A: ["body"]}), told({A: ["body"], D: ["body"]})
    for score in (scoring.strict, scoring.core):
        assert (counts(score(question, right)), score(question, right).is_exact) == (
            (1, 0, 0),
            True,
        )
        assert counts(score(question, planted)) == (1, 1, 0)
        assert not score(question, planted).is_exact


def test_core_leaves_documentation_and_layout_out_on_both_sides() -> None:
    question = asked({A: ["body"], B: ["doc", "format"]})
    quiet = {A: ["body"], D: ["documentation", "comment", "formatting"]}
    assert counts(scoring.core(question, told(quiet))) == (1, 0, 0)
    assert counts(scoring.strict(question, told(quiet))) == (1, 1, 1)


def test_core_counts_a_quiet_answer_to_a_real_change_as_missed() -> None:
    assert counts(scoring.core(asked({A: ["body"]}), told({A: ["formatting"]}))) == (0, 0, 1)


def test_core_does_not_blame_a_loud_answer_to_a_quiet_change() -> None:
    assert counts(scoring.core(asked({A: ["doc"]}), told({A: ["body"]}))) == (0, 0, 0)


def test_documentation_with_something_else_is_no_quiet_change() -> None:
    question = asked({A: ["doc", "annotation"]})
    assert counts(scoring.core(question, told({A: ["documentation", "annotation"]}))) == (1, 0, 0)


def test_where_classes_are_asked_for_bodies_are_left_out() -> None:
    kinds = {A: ["body", "move"], B: ["body", "comment"], C: ["rename"], D: ["formatting"]}
    assert counts(scoring.strict(asked({A: ["file_move"]}, is_class=True), told(kinds))) == (
        1,
        1,
        0,
    )
    assert counts(scoring.strict(asked({A: ["file_move"]}), told(kinds))) == (1, 3, 0)


def test_what_is_said_without_kinds_counts_as_a_real_change() -> None:
    assert counts(scoring.core(asked({A: ["body"]}), told({A: [], B: []}))) == (1, 1, 0)
    assert counts(scoring.strict(asked({A: ["rename"]}, is_class=True), told({A: []}))) == (1, 0, 0)


def test_an_origin_has_to_be_called_one() -> None:
    question = asked({A: ["body"], B: ["introduced", "body"]})
    assert scoring.origin(question, told({B: ["introduced"]})) == (1, 1)
    assert scoring.origin(question, told({A: ["introduced"], B: ["body"]})) == (0, 1)


def test_renames_and_moves_are_found_by_commit_and_then_by_place() -> None:
    moved = oracle.Expected(A, frozenset({"rename"}), "old.java", "new.java", "one", "two")
    unplaced = oracle.Expected(B, frozenset({"method_move"}))
    question = asked({C: ["body"]})._replace(expected=(moved, unplaced))
    before = said.Spot("old.java", "method", "K.one")
    after = said.Spot("new.java", "method", "K.two")
    right = [said.Change(A, frozenset({"rename"}), before, after), said.Change(B)]
    assert scoring.moves(question, right) == (2, 2)
    assert scoring.moves_with_places(question, right) == (1, 1)
    wrong = [right[0]._replace(before=before._replace(qualified="K.other"))]
    assert scoring.moves(question, wrong) == (1, 2)
    assert scoring.moves_with_places(question, wrong) == (0, 1)
    assert scoring.moves_with_places(question, [said.Change(A)]) == (0, 1)


def test_the_names_of_classes_come_in_two_forms() -> None:
    assert scoring.last_name("src/java/org.x.(public)(final)Outer(65)") == "Outer"
    assert scoring.last_name("Outer") == "Outer"


def test_figures_are_of_all_commits_together() -> None:
    sets = [
        scoring.Sets(frozenset({A}), frozenset({A})),
        scoring.Sets(frozenset({A, B}), frozenset({C})),
    ]
    found = scoring.figures(sets)
    assert (found["tp"], found["fp"], found["fn"], found["exact"]) == (1, 1, 2, 1)
    assert (found["precision"], found["recall"], found["f1"]) == (0.5, 0.3333, 0.4)
    assert found["intervals"]["f1"] == [0.0, 1.0]


def test_a_median_and_nine_in_ten() -> None:
    values = [float(each) for each in range(1, 11)]
    assert (scoring.median(values), scoring.p90(values)) == (5.5, 9.0)
    assert (scoring.median([]), scoring.p90([])) == (None, None)


def test_merges_that_git_lists_are_kept_apart() -> None:
    found = git_lines.read(
        [f"{A} {B} {C}\n".encode(), f"{B} {C}\n".encode(), b"\n", f"{C}\n".encode()]
    )
    assert [each.commit for each in found.changes] == [B, C]
    assert [each.commit for each in found.merges] == [A]


# Pairs: which symbol is meant


def method(qualified: str, path: str = "src/org/x/Outer.java", **more: Any) -> said.Spot:
    return said.Spot(path, "method", qualified, **{"signature": "()", **more})


def test_a_file_and_a_line_tell_a_symbol() -> None:
    side = oracle.Side("run", "org.x.Other", path="src/org/x/Outer.java", line=12)
    inside, outside = method("Outer.run", line=10, end_line=20), method("Outer.run", line=30)
    assert agreement.spots_of(side, [inside, outside], "java", is_class=False) == {inside}
    moved = inside._replace(path="src/org/x/Elsewhere.java")
    assert agreement.spots_of(side, [moved], "java", is_class=False) == set()


def test_parameters_tell_overloads_even_against_the_line() -> None:
    ints = method("Outer.copy", signature="(final int[] array, int start)", line=10, end_line=20)
    one = method("Outer.copy", signature="(int array, int start)", line=30, end_line=40)
    side = oracle.Side("copy", "org.x.Outer", "public copy(array int, start int) : int[]")
    assert agreement.spots_of(side, [ints, one], "java", is_class=False) == {one}
    at_the_first = side._replace(path=one.path, line=12)
    assert agreement.spots_of(at_the_first, [ints, one], "java", is_class=False) == {one}
    assert agreement.spots_of(at_the_first, [ints], "java", is_class=False) == set()


@pytest.mark.parametrize(
    ("written", "described", "is_so"),
    [
        ("(self, x, y=[])", "public f(x, y)", True),
        ("(self, x: dict[str, int], *rest)", "public f(x, rest)", True),
        ("(x)", "public f(x, y)", False),
        ("(Map<String, List<T>> map)", "private f(map Map<String,List<T>>) : void", True),
        ("()", "package f() : void", True),
        ("(String... names)", "public f(names String...)", True),
    ],
)
def test_parameters_are_compared_by_their_words(written: str, described: str, is_so: bool) -> None:
    assert agreement.has_parameters(written, described) is is_so


@pytest.mark.parametrize(
    ("language", "container", "spot"),
    [
        ("java", "org.x.Outer.Inner", method("Outer.Inner.run")),
        ("java", "org.X.Outer", method("Outer.run")),
        ("python", "deep.nodes.__module__", said.Spot("a/deep/nodes.py", "function", "run")),
        ("python", "nodes.Node", said.Spot("a/nodes.py", "method", "Node.run")),
        ("python", "nodes.__module__.outer", said.Spot("a/nodes.py", "function", "outer.run")),
        (
            "javascript",
            "core.scale",
            said.Spot("src/core/core.scale.js", "method", "Chart.Scale.run"),
        ),
        ("javascript", "core.helpers.helpers", said.Spot("src/core.helpers.js", "method", "h.run")),
    ],
)
def test_a_class_is_told_by_its_last_parts(language: str, container: str, spot: said.Spot) -> None:
    side = oracle.Side("run", container)
    assert agreement.agrees(side, spot, language, is_class=False)
    assert not agreement.agrees(side._replace(name="walk"), spot, language, is_class=False)
    assert not agreement.agrees(side._replace(container="a.B"), spot, language, is_class=False)


def test_a_function_of_a_module_is_not_one_of_its_classes() -> None:
    side = oracle.Side("run", "nodes.__module__")
    spot = said.Spot("a/nodes.py", "method", "Node.run")
    assert not agreement.agrees(side, spot, "python", is_class=False)


def test_a_class_is_no_constructor() -> None:
    side = oracle.Side("org.x.Outer", "org.x.Outer")
    spots = [said.Spot("src/org/x/Outer.java", "class", "Outer"), method("Outer.Outer")]
    assert agreement.spots_of(side, spots, "java", is_class=True) == {spots[0]}


# Pairs: what is right and wrong


def row(type_: str, before: str, after: str, **more: Any) -> oracle.Pair:
    sides = [oracle.Side(name, "org.x.Outer") for name in (before, after)]
    given = {"is_identity": True, "is_right": True, "description": "", **more}
    return oracle.Pair("o/n", Oid(A), None, "java", type_, before=sides[0], after=sides[1], **given)


def match(before: str, after: str, relation: str = "same", *kinds: str) -> said.Match:
    spots = [method(f"Outer.{name}") for name in (before, after)]
    return said.Match(spots[0], spots[1], relation, frozenset(kinds or ("rename",)))


def judged(rows: list[oracle.Pair], *matches: said.Match) -> tuple[int, int, int]:
    return judging.judge(rows, matches).counted()[:3]


@pytest.mark.parametrize(
    ("type_", "relations"),
    [
        ("Rename Method", {"same"}),
        ("Move def", {"same"}),
        ("Extract Method", {"split_from"}),
        ("Extract And Move Method", {"split_from"}),
        ("Inline Method", {"inlined_into", "merged_into"}),
        ("Move And Inline Method", {"inlined_into", "merged_into"}),
        ("Pull Up Method", {"same", "split_from", "inlined_into", "merged_into"}),
        ("Push Down Method", {"same", "split_from", "inlined_into", "merged_into"}),
    ],
)
def test_a_row_is_found_by_the_relations_of_its_type(type_: str, relations: set[str]) -> None:
    rows = [row(type_, "one", "two")]
    for relation in ("same", "split_from", "inlined_into", "merged_into"):
        expected = (1, 0, 0) if relation in relations else (0, 0, 1)
        assert judged(rows, match("one", "two", relation)) == expected
    assert judged(rows) == (0, 0, 1)


def test_a_known_mistake_that_is_said_is_wrong() -> None:
    rows = [row("Rename Method", "one", "two", is_right=False)]
    assert judged(rows, match("one", "two")) == (0, 1, 0)
    assert judged(rows, match("one", "two", "split_from")) == (0, 0, 0)
    verdict = judging.judge(rows, [match("one", "two")])
    assert [each.why for each in verdict.wrong] == ["known_mistake"]


def test_a_known_mistake_is_none_if_another_type_has_it_right() -> None:
    rows = [
        row("Rename Method", "one", "two", is_right=False),
        row("Move And Rename Method", "one", "two"),
    ]
    assert judged(rows, match("one", "two")) == (1, 0, 0)


def test_a_symbol_that_its_class_took_along_is_no_mistake() -> None:
    moved = row("Move Method", "one", "one", is_right=False)
    moved = moved._replace(
        before=oracle.Side("one", "org.x.Outer"), after=oracle.Side("one", "org.x.Other")
    )
    said_so = said.Match(method("Outer.one"), method("Other.one"), "same", frozenset({"container"}))
    assert judged([moved], said_so) == (0, 1, 0)
    names = [oracle.Side(f"org.x.{name}", f"org.x.{name}") for name in ("Outer", "Other")]
    renamed = row("Rename Class", "", "")._replace(before=names[0], after=names[1])
    assert judged([moved, renamed], said_so) == (0, 0, 1)


def test_another_partner_of_which_no_row_knows_is_wrong() -> None:
    rows = [row("Rename Method", "one", "two"), row("Extract Method", "big", "small")]
    assert judged(rows, match("one", "three")) == (0, 1, 2)
    assert judged(rows, match("zero", "two")) == (0, 1, 2)
    assert judged(rows, match("big", "tiny", "split_from")) == (0, 1, 2)
    verdict = judging.judge(rows, [match("one", "three")])
    assert [(each.why, each.group) for each in verdict.wrong] == [("other_partner", "rename_move")]


def test_another_partner_that_a_row_mentions_is_not_called_wrong() -> None:
    told_by_name = row("Rename Method", "one", "two")
    mentioned = row("Rename Method", "x", "three", is_right=False)
    assert judged([told_by_name, mentioned], match("one", "three")) == (0, 0, 1)
    text = oracle.Pair(
        "o/n", Oid(A), None, "java", "Rename Variable", False, True,
        "Rename Variable a to b in method three() from class org.x.Outer",
    )  # fmt: skip
    assert judged([told_by_name, text], match("one", "three")) == (0, 0, 1)


def test_partners_are_only_wrong_within_their_group() -> None:
    rows = [row("Rename Method", "one", "two")]
    assert judged(rows, match("one", "three", "split_from")) == (0, 0, 1)
    assert judged(rows, match("one", "three", "same", "body")) == (0, 0, 1)


def test_what_no_row_mentions_is_counted_apart() -> None:
    rows = [row("Rename Method", "one", "two")]
    others = [match("one", "two"), match("five", "six"), match("seven", "seven", "same", "body")]
    verdict = judging.judge(rows, others)
    assert (verdict.counted()[:3], verdict.unlisted) == ((1, 0, 0), 1)


def test_what_goes_along_with_its_class_is_listed_by_nobody() -> None:
    spots = [said.Spot("src/org/x/Outer.java", "class", name) for name in ("Outer", "Other")]
    renamed = said.Match(spots[0], spots[1], "same", frozenset({"rename"}))
    inside = said.Match(method("Outer.f"), method("Other.f"), "same", frozenset({"container"}))
    assert judging.judge([], [renamed, inside]).unlisted == 0
    assert judging.judge([], [inside]).unlisted == 1


def test_what_has_no_names_or_another_type_is_not_asked() -> None:
    rows = [
        row("Rename Method", "one", "two")._replace(before=None),
        row("Extract Class", "one", "two"),
        row("Rename Variable", "one", "two", is_identity=False),
    ]
    verdict = judging.judge(rows, [match("one", "two")])
    assert (verdict.counted()[:3], verdict.not_asked) == ((0, 0, 0), 2)


def test_a_module_is_found_if_most_of_its_symbols_moved_there() -> None:
    side = oracle.Side("pkg.old.__module__", "pkg.old.__module__")
    moved = row("Move Class", "x", "y")._replace(
        language="python", before=side, after=oracle.Side("pkg.new.__module__")
    )

    def went(name: str, to: str) -> said.Match:
        spots = [said.Spot(f"pkg/{path}.py", "function", name) for path in ("old", to)]
        return said.Match(spots[0], spots[1], "same", frozenset({"move"}))

    assert judged([moved], went("a", "new"), went("b", "new"), went("c", "old")) == (1, 0, 0)
    assert judged([moved], went("a", "new"), went("b", "old"), went("c", "old")) == (0, 0, 1)


def test_a_row_may_call_the_class_before_as_it_is_called_after() -> None:
    classes = [said.Spot("src/org/x/Outer.java", "class", name) for name in ("Old", "Outer")]
    renamed = said.Match(classes[0], classes[1], "same", frozenset({"rename"}))
    inside = said.Match(method("Old.one"), method("Outer.two"), "same", frozenset({"rename"}))
    assert judged([row("Rename Method", "one", "two")], renamed, inside) == (1, 0, 0)


# Files


HISTORY = {
    "id": "q", "repo": "o/n", "kind": "method", "start_commit": A, "file": "f.py",
    "start_line": 1, "end_line": 2, "expected": [{"commit": B, "change_types": ["introduced"]}],
}  # fmt: skip
PAIR = {
    "repo": "o/n", "commit": A, "language": "python", "type": "Rename def",
    "name_before": "one", "name_after": "two", "file_before": "f.py", "file_after": "f.py",
}  # fmt: skip


def test_files_are_read_packed_or_not(tmp_path: Path) -> None:
    plain = write(tmp_path / "histories.jsonl", [HISTORY])
    packed = write(tmp_path / "pairs.jsonl.gz", [PAIR, {**PAIR, "validation": "FP"}])
    found = oracle.read([plain, packed])
    assert [each.id for each in found.questions] == ["q"]
    assert [(each.is_right, judging.is_asked(each)) for each in found.pairs] == [
        (True, True),
        (False, True),
    ]


@pytest.mark.parametrize(
    ("bad", "said_of_it"),
    [
        ({**HISTORY, "repo": "../../etc"}, "has a `repo` that is not like owner/name"),
        ({**HISTORY, "start_commit": "main"}, "has a `start_commit` that is no commit"),
        ({**HISTORY, "start_line": 0}, "has no `start_line` that is a number of a line"),
        ({**HISTORY, "end_line": "2"}, "has no `end_line` that is a number of a line"),
        ({**HISTORY, "start_line": 3}, "has an `end_line` before its `start_line`"),
        ({**HISTORY, "file": None}, "has no `file`"),
        ({**HISTORY, "expected": {}}, "has no list of `expected`"),
        ({**HISTORY, "expected": [{"commit": B}]}, "has something `expected` without"),
        ({**PAIR, "type": 3}, "has no `type`"),
        ({**PAIR, "parent": "HEAD"}, "has a `parent` that is no commit"),
        ({**PAIR, "line_after": "x"}, "has no `line_after` that is a number of a line"),
        ([], "is not a JSON object"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, bad: Any, said_of_it: str) -> None:
    path = write(tmp_path / "rows.jsonl", [HISTORY, bad])
    with pytest.raises(errors.FileError) as caught:
        oracle.read([path])
    assert f"Line 2 of rows.jsonl {said_of_it}" in caught.value.message


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(errors.FileError, match=r"gone\.jsonl cannot be read: No such file"):
        oracle.read([str(tmp_path / "gone.jsonl")])
    (tmp_path / "bad.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(errors.FileError, match=r"bad\.jsonl\.gz cannot be read"):
        oracle.read([str(tmp_path / "bad.jsonl.gz")])
    (tmp_path / "text.jsonl").write_bytes(b"\n{")
    with pytest.raises(errors.FileError, match=r"Line 2 of text\.jsonl is not JSON"):
        oracle.read([str(tmp_path / "text.jsonl")])
    with pytest.raises(errors.FileError, match=r"There is nothing in empty\.jsonl") as caught:
        oracle.read([write(tmp_path / "empty.jsonl", [])])
    assert "bench symbols --help" in caught.value.hint


# The whole of it, with somebody else as the engine


def fake(changes: Kinds, *matches: said.Match) -> said.Engine:
    return said.Engine(lambda *_: told(changes), lambda *_: list(matches))


def test_a_repository_that_is_not_there_is_skipped_and_named(tmp_path: Path) -> None:
    other = {**PAIR, "repo": "o/other", "identity": False}
    paths = [
        write(tmp_path / "histories.jsonl", [HISTORY, HISTORY]),
        write(tmp_path / "pairs.jsonl", [PAIR, other]),
    ]
    found = symbols.measure(paths, str(tmp_path), engine=fake({}))
    assert found["skipped"] == {"o/n": 3, "o/other": 0}
    assert (found["strict"]["questions"], found["questions"]) == (0, [])
    assert found["seconds"]["median"] is None


def test_answers_come_from_processes_that_keep_nothing(tmp_path: Path) -> None:
    (tmp_path / "o+n" / "repo").mkdir(parents=True)
    path = write(tmp_path / "histories.jsonl", [HISTORY, HISTORY, HISTORY])
    kept: list[int] = []

    def trace(_place: str, _question: oracle.Question) -> list[said.Change]:
        kept.append(1)
        if len(kept) > 1:
            raise errors.GitError("Something was kept.")
        return [said.Change(B, frozenset({"introduced"}), None, method("Outer.f"))]

    engine = said.Engine(trace, lambda *_: [])
    found = symbols.measure([path], str(tmp_path), limit=2, has_git=False, engine=engine)
    assert (found["strict"]["exact"], found["origin"]["found"], found["git"]) == (2, 2, None)
    assert [each.get("error") for each in found["questions"]] == [None, None]
    assert found["seconds"]["peak_mb"] > 0


def test_an_engine_that_gives_up_has_missed_everything(tmp_path: Path) -> None:
    (tmp_path / "o+n" / "repo").mkdir(parents=True)
    path = write(tmp_path / "histories.jsonl", [HISTORY])

    def trace(*_: Any) -> list[said.Change]:
        raise errors.GitError("Gone.")

    engine = said.Engine(trace, lambda *_: [])
    found = symbols.measure([path], str(tmp_path), has_git=False, engine=engine)
    assert (found["strict"]["fn"], found["questions"][0]["error"]) == (1, "Gone.")


def test_an_engine_that_dies_ends_the_measurement(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "o+n" / "repo").mkdir(parents=True)
    path = write(tmp_path / "histories.jsonl", [HISTORY])

    def trace(*_: Any) -> list[said.Change]:
        raise ZeroDivisionError

    engine = said.Engine(trace, lambda *_: [])
    with pytest.raises(RuntimeError, match="died"):
        symbols.measure([path], str(tmp_path), has_git=False, engine=engine)
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_pairs_alone_fill_the_same_places(tmp_path: Path) -> None:
    (tmp_path / "o+n" / "repo").mkdir(parents=True)
    rows = [{**PAIR, "parent": B}, {**PAIR, "parent": B, "name_after": "three"}]
    path = write(tmp_path / "pairs.jsonl", rows)
    spots = [said.Spot("f.py", "function", name) for name in ("one", "two")]
    said_so = said.Match(spots[0], spots[1], "same", frozenset({"rename"}))
    found = symbols.measure([path], str(tmp_path), engine=fake({}, said_so))
    assert (found["strict"]["tp"], found["strict"]["fn"], found["moves"]["of"]) == (1, 1, 2)
    assert found["pairs"]["types"]["Rename def"] == {"asked": 2, "found": 1, "recall": 0.5}
    assert found["pairs"]["groups"]["rename_move"]["precision"] == 1.0
    [missed] = found["pairs"]["missed"]
    assert missed["commit"] == A
