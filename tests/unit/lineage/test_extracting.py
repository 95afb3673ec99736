"""What is found in a file of each language, whole or broken.

A fixture is `fixtures/sample.<suffix>.txt`, so that no tool takes it for code of ours. Beside it,
in `.outline`, is what must be found: a line for each symbol, with the lines where it begins, where
its declaration begins and where it ends.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
import tree_sitter

from tether.lineage import extracting, grammars, languages, symbols

FIXTURES = Path(__file__).parent / "fixtures"
NAMES = [language.name for language in languages.LANGUAGES]


def fixture_of(name: str) -> Path:
    return FIXTURES / f"sample{languages.BY_NAME[name].suffixes[0]}.txt"


def outline_of(name: str, source: bytes | str) -> symbols.Outline:
    content = source.encode() if isinstance(source, str) else source
    return extracting.extract(languages.BY_NAME[name], content)


def names_in(name: str, source: bytes | str) -> list[str]:
    return [each.qualified for each in outline_of(name, source).symbols]


def described(each: symbols.Symbol) -> str:
    words = [
        f"{each.line:3} {each.head_line:3} {each.end_line:3} {each.kind:8}",
        f"{each.qualified} {each.signature}".rstrip(),
        f"#{each.ordinal}" if each.ordinal > 1 else "",
        f"documentation={len(each.documentation)}" if each.documentation else "",
        f"annotations={len(each.annotations)}" if each.annotations else "",
    ]
    return " ".join(word for word in words if word)


@pytest.mark.parametrize("name", NAMES)
def test_the_fixture_of_a_language_has_the_outline_beside_it(name: str) -> None:
    path = fixture_of(name)
    outline = outline_of(name, path.read_bytes())
    expected = path.with_suffix(".outline").read_text("utf-8").splitlines()
    assert [described(each) for each in outline.symbols] == expected
    assert not outline.is_broken


@pytest.mark.parametrize("name", NAMES)
def test_the_version_of_a_language_has_its_grammar_and_the_extractor(name: str) -> None:
    language, grammar, extractor = languages.version_of(languages.BY_NAME[name]).split(" ")
    assert language == name
    assert all(number.isdigit() for number in grammar.split("."))
    assert extractor == str(languages.EXTRACTOR_VERSION)


def test_a_grammar_that_is_not_installed_has_no_version() -> None:
    assert languages.version_of(languages.Language("x", (".x",), "tree-sitter-none")) == ""


def test_every_query_belongs_to_a_language() -> None:
    folder = Path(extracting.__file__).parent / "queries"
    known = {name for each in languages.LANGUAGES for name in each.queries or (each.name,)}
    assert {path.stem for path in folder.iterdir()} == known


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/a.py", "python"),
        ("A.JAVA", "java"),
        ("a.d.ts", "typescript"),
        ("a.mjs", "javascript"),
        ("include/a.h", "c"),
        ("a.hpp", "cpp"),
        ("docs/README.md", "markdown"),
        ("lib/Rakefile", "ruby"),
    ],
)
def test_a_language_is_known_by_the_name_of_a_file(path: str, name: str) -> None:
    assert languages.of_path(path) == languages.BY_NAME[name]


@pytest.mark.parametrize("path", ["a.txt", "py", ".py", "Makefile", "a.py/b"])
def test_other_files_have_no_language(path: str) -> None:
    assert languages.of_path(path) is None


@pytest.mark.parametrize(
    "source",
    [
        "class Shop {\npublic:\n  int total() const;\n};\n",
        "namespace a { int f(); }\n",
        "#include <vector>\nstruct Shop { int total; };\n",
        "struct Shop { int total() const { return 1; } };\n",
        "template <typename T> T twice(T x) { return x + x; }\n",
        "void f(const std::string& s);\n",
        (FIXTURES / "sample.cpp.txt").read_text(),
    ],
)
def test_a_header_of_cplusplus_is_known_by_its_content(source: str) -> None:
    assert languages.of_file("a.h", source.encode()) == languages.BY_NAME["cpp"]
    assert languages.of_file("a.c", source.encode()) == languages.BY_NAME["c"]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "/* The class of things: a namespace. */\n#include <stdio.h>\nint f(const char *a);\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\nstruct S { int class; };\n',
        (FIXTURES / "sample.c.txt").read_text(),
    ],
)
def test_any_other_header_is_one_of_c(source: str) -> None:
    assert languages.of_file("a.h", source.encode()) == languages.BY_NAME["c"]


def assert_consistent(outline: symbols.Outline, source: bytes) -> None:
    for number, each in enumerate(outline.symbols):
        assert 0 <= each.start <= each.head <= each.body <= each.end <= len(source)
        assert each.name
        assert each.line == source.count(b"\n", 0, each.start) + 1
        assert each.head_line == source.count(b"\n", 0, each.head) + 1
        assert each.end_line == source.count(b"\n", 0, max(each.end - 1, each.start)) + 1
        assert -1 <= each.parent < number
        if each.parent >= 0:
            parent = outline.symbols[each.parent]
            assert parent.start <= each.start <= each.end <= parent.end
        for start, end in (*each.documentation, *each.annotations):
            assert each.start <= start < end <= each.end
    assert [each.start for each in outline.symbols] == sorted(
        each.start for each in outline.symbols
    )
    keys = [(each.kind, each.qualified, each.signature, each.ordinal) for each in outline.symbols]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_that_is_cut_anywhere_has_a_consistent_outline(name: str) -> None:
    source = fixture_of(name).read_bytes()
    for end in (*range(0, len(source), 50), len(source)):
        assert_consistent(outline_of(name, source[:end]), source[:end])
        assert_consistent(outline_of(name, source[end:]), source[end:])


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_file_has_an_empty_outline(name: str) -> None:
    assert outline_of(name, b"") == symbols.Outline()


@pytest.mark.parametrize("name", NAMES)
def test_other_line_ends_and_a_byte_order_mark_change_nothing(name: str) -> None:
    source = fixture_of(name).read_bytes()
    expected = [described(each) for each in outline_of(name, source).symbols]
    for changed in (source.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + source):
        assert [described(each) for each in outline_of(name, changed).symbols] == expected


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("odd", [b"\x00", b"\xff\xfe", b"\xc3", b")}]", b'"""\''])
def test_odd_bytes_anywhere_never_fail(name: str, odd: bytes) -> None:
    source = fixture_of(name).read_bytes()
    for at in range(0, len(source), 200):
        broken = source[:at] + odd + source[at:]
        assert_consistent(outline_of(name, broken), broken)


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("python", "def a(): pass\n\nx = = )\n\ndef b(): pass\n", ["a", "b"]),
        ("java", "class A { void a() {} void b( { } void c() {} }", ["A", "A.a", "A.c"]),
        ("javascript", "const A = 1;\nfunction b() {}\nfunction c() { if (", ["A", "b"]),
        ("typescript", "class A { a(): void {} b(: ; c(): void {} }", ["A", "A.a", "A.c"]),
        ("go", "package p\nfunc a() {}\nfunc b() { x := = }\nfunc c() {}\n", ["a", "c"]),
        ("rust", "fn a() {}\nfn b( {}\nfn c() {}\n", ["a", "c"]),
    ],
)
def test_what_is_outside_of_the_broken_part_is_found(
    name: str, source: str, expected: list[str]
) -> None:
    outline = outline_of(name, source)
    assert outline.is_broken
    assert set(expected) <= {each.qualified for each in outline.symbols}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("python", "def f():\n    return " + "(" * 10_000 + ")" * 10_000 + "\n"),
        ("java", "class A { void f() {" + "if (x) {" * 10_000 + "}" * 10_000 + "} }"),
        ("javascript", "function f() {" + "if (x) {" * 10_000 + "}" * 10_000 + "}"),
        ("javascript", "x = " + "{a: " * 10_000 + "1" + "}" * 10_000),
        ("go", "package p\nfunc f() {" + "{" * 10_000 + "}" * 10_000 + "}"),
        ("python", "(" * 10_000),
        ("java", "{" * 10_000),
    ],
)
def test_very_deep_nesting_never_fails(name: str, source: str) -> None:
    assert_consistent(outline_of(name, source), source.encode())


def test_ten_thousand_symbols_of_one_file_are_told_apart() -> None:
    each = "/** Doc. */\n@Override\n@Other(1)\nvoid f%d(int a) {}\nvoid g() {}\n"
    source = "class A {\n" + "".join(each % number for number in range(5_000)) + "}\n"
    found = outline_of("java", source).symbols
    assert len(found) == 10_001
    assert described(found[-2]) == (
        "24997 25000 25000 method   A.f4999 (int a) documentation=1 annotations=2"
    )
    assert described(found[-1]) == "25001 25001 25001 method   A.g () #5000"


def test_a_comment_at_the_end_of_a_line_of_code_belongs_to_that_line() -> None:
    found = outline_of("python", "x = 1  # about x\ndef f(): pass\n").symbols
    assert (found[0].line, found[0].documentation) == (2, ())


def test_a_comment_with_an_empty_line_after_it_stands_alone() -> None:
    found = outline_of("go", "package p\n\n// Alone.\n\n// Doc.\nfunc f() {}\n").symbols
    assert (found[0].line, len(found[0].documentation)) == (5, 1)


def test_a_comment_belongs_to_what_follows_on_its_line() -> None:
    found = outline_of("java", "class A { int x; /** Doc. */ void f() {} }").symbols
    assert len(found[1].documentation) == 1


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("bash", "#!/bin/sh\nf() { :; }\n"),
        ("bash", "#!/bin/sh\n# Doc.\nf() { :; }\n"),
        ("python", "#!/usr/bin/env python\n# Doc.\ndef f(): pass\n"),
        ("ruby", "\ufeff#!/usr/bin/env ruby\n# Doc.\ndef f; end\n"),
    ],
)
def test_what_runs_a_file_is_no_documentation_of_its_first_function(name: str, source: str) -> None:
    outline = outline_of(name, source)
    [found] = outline.symbols
    assert found.line == 2
    assert len(found.documentation) == source.count("Doc.")
    assert len(outline.comments) == 1 + source.count("Doc.")


def test_all_comments_of_a_file_are_kept() -> None:
    source = b"# one\ndef f():  # two\n    # three\n    pass\n"
    outline = outline_of("python", source)
    assert [source[start:end] for start, end in outline.comments] == [
        b"# one",
        b"# two",
        b"# three",
    ]


def test_the_parts_of_a_symbol_are_where_they_stand() -> None:
    source = b'# Doc.\n@first\n@second(1)\ndef f(a):\n    """Inside."""\n    return a\n'
    (found,) = outline_of("python", source).symbols
    assert source[found.start :].startswith(b"# Doc.")
    assert source[found.head :].startswith(b"def f")
    assert source[found.body : found.end] == b'"""Inside."""\n    return a'
    assert [source[a:b] for a, b in found.documentation] == [b"# Doc.", b'"""Inside."""']
    assert [source[a:b] for a, b in found.annotations] == [b"@first", b"@second(1)"]


@pytest.mark.parametrize(
    "parameters", ["(a, b=1)", "( a,  b=1 )", "(\n    a,\n    b=1,\n)", "(a,  # one\n  b=1)"]
)
def test_a_signature_is_the_same_however_it_is_laid_out(parameters: str) -> None:
    (found,) = outline_of("python", f"def f{parameters}: pass\n").symbols
    assert found.signature == "(a, b=1)"


def test_names_that_are_no_text_are_replaced() -> None:
    assert outline_of("ruby", b"def a\xff; end\n").symbols is not None
    assert names_in("markdown", b"# a\xff\n") == ["a\ufffd"]


def test_what_only_javascript_has_is_found_where_it_belongs() -> None:
    source = """
    var Widget = createClass({ render() {}, statics: { make: function () {} } });
    Widget.prototype.draw = function (x) {};
    (function () { exports.open = async () => {}; })();
    module.exports = Widget.extend({ hide() {} });
    """
    assert names_in("javascript", source) == [
        "Widget",
        "Widget.render",
        "Widget.statics.make",
        "Widget.draw",
        "exports.open",
        "module.exports",
        "module.exports.hide",
    ]


def test_an_object_with_functions_is_a_symbol_and_one_with_data_is_a_place() -> None:
    source = """
    export default { data() {} };
    function open() {
      const local = { done: () => 1 }, plain = { a: 1, b: { c() {} } };
      return local;
    }
    """
    assert names_in("javascript", source) == [
        "default",
        "default.data",
        "open",
        "open.local",
        "open.local.done",
        "open.plain.b.c",
    ]


def test_tests_in_javascript_are_called_by_their_sentences() -> None:
    source = """
    describe.skip("a cart", () => {
      it('adds up', function (done) { const sum = () => 1; });
      test.each([1, 2])(`takes %d`, (count) => {});
      it('is to be written');
      items.test('adds', () => {});
    });
    """
    assert names_in("javascript", source) == [
        "a cart",
        "a cart.adds up",
        "a cart.adds up.sum",
        "a cart.takes %d",
    ]
    assert [each.kind for each in outline_of("javascript", source).symbols[:2]] == [
        "class",
        "method",
    ]


def test_all_names_of_one_declaration_are_found() -> None:
    source = (
        "package p\n\n// Both.\nvar x, y = pair()\n\nconst (\n\tA, B, C = 1, 2, 3\n\tD = 4\n)\n"
    )
    assert_consistent(outline_of("go", source), source.encode())
    assert [described(each) for each in outline_of("go", source).symbols] == [
        "  3   4   4 constant x documentation=1",
        "  3   4   4 constant y documentation=1",
        *(f"  7   7   7 constant {name}" for name in "ABC"),
        "  8   8   8 constant D",
    ]


@pytest.mark.parametrize("name", ["c", "cpp"])
def test_a_function_may_return_a_function(name: str) -> None:
    source = "int (*pick(int a))(int) { return 0; }\nstatic void (*on(int s, F *f))(int, char) {}\n"
    assert [described(each) for each in outline_of(name, source).symbols] == [
        "  1   1   1 function pick (int a)",
        "  2   2   2 function on (int s, F *f)",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_pattern_captures_all_that_it_is_about(name: str) -> None:
    """Else a match would be kept though something was edited in it (`reading`)."""
    language = languages.BY_NAME[name]
    text = grammars._query_text(language)
    module = importlib.import_module(language.module)
    query = tree_sitter.Query(tree_sitter.Language(getattr(module, language.function)()), text)
    for pattern in range(len(grammars.load(language).roles)):
        assert query.is_pattern_rooted(pattern)
        own = text[query.start_byte_for_pattern(pattern) : query.end_byte_for_pattern(pattern)]
        assert _captured_root(own), own


def _captured_root(pattern: str) -> bool:
    """Whether a name stands behind the first node of a pattern."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"|;[^\n]*', "", pattern).strip()
    while re.match(r"\(\s*[(\[]", bare):
        bare = bare[1:].lstrip()  # around it there are conditions
    depth = 0
    for place, sign in enumerate(bare):
        depth += (sign in "([") - (sign in ")]")
        if not depth:
            return bare[place + 1 :].lstrip().startswith("@")
    return False


def test_a_pattern_whose_first_node_has_no_name_is_noticed() -> None:
    assert _captured_root('((a (b) @x) @y (#eq? @x "("))')
    assert not _captured_root("(a (b) @x)")
    assert not _captured_root('((a (b) @x) (#eq? @x "c"))')
