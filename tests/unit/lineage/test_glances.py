"""What is seen at a glance is what the parser of the whole file says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tether.lineage import extracting, glances, languages, sources, symbols

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("sample.*.txt"))
EDITS = 60
Told = tuple[int | str, ...]
JAVA = """class A {
    int first() {
        return 1;
    }

    /** About it. */
    int wanted(int one) {
        String brace = "}";
        return one; // {
    }

    int last() {
        return 3;
    }
}
"""


def _language(path: str) -> languages.Language:
    language = languages.of_path(path)
    assert language is not None
    return language


def _source(path: str, data: bytes) -> sources.Source:
    return sources.Source(path, data, extracting.extract(_language(path), data))


def _seen(source: sources.Source, number: int, data: bytes) -> glances.Glance | None:
    language = _language(source.path)
    here = glances.at(source, number)

    def parse(part: bytes) -> symbols.Outline:
        return extracting.extract(language, part)

    return glances.before(here, data, language.nesting) or glances.changed(
        here, data, language.nesting, parse
    )


def _wanted(after: str, before: str) -> tuple[bytes, bytes] | None:
    """The text that is seen of the method `wanted`, and that which the parser finds."""
    source, earlier = _source("A.java", after.encode()), _source("A.java", before.encode())
    numbers = {each.name: number for number, each in enumerate(source.symbols)}
    seen = _seen(source, numbers["wanted"], before.encode())
    if seen is None:
        return None
    (there,) = [n for n, each in enumerate(earlier.symbols) if each.name == "wanted"]
    return seen.data[seen.start : seen.end], earlier.text(there)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return 3;", "return 4;"),
        ("return one; //", "return one + 1; //"),
        ("About it.", "About that."),
        ('"}"', '"{}"'),
        ("    int last() {\n        return 3;\n    }\n", "    // none\n"),
        ("int last()", "int next()"),
    ],
)
def test_the_same_place_is_seen(old: str, new: str) -> None:
    assert old in JAVA
    # With a brace in a comment only the line below says where it ends.
    after = JAVA.replace("return one; // {", "return one; //") if "last" in old else JAVA
    after = after.replace('"}"', '"{}"') if "last" in old else after
    found = _wanted(after, after.replace(old, new))
    assert found is not None
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "before",
    [
        JAVA.replace("    /** About it. */\n", "    /** About it. */\n    int wanted() {}\n")
        + "class B { int wanted(int one) { return 0; } }\n",
        "/*\n" + JAVA.replace("class A", "*/ class B"),
        JAVA.replace("int last() {", "int last() { } } class C {"),
        JAVA.replace("return one; // {", "return one; // {{").replace("int last", "int least"),
    ],
)
def test_what_is_unsure_is_not_seen_or_right(before: str) -> None:
    source, data = _source("A.java", JAVA.encode()), before.encode()
    number = next(n for n, each in enumerate(source.symbols) if each.name == "wanted")
    seen = _seen(source, number, data)
    assert seen is None or _spans(_source("A.java", data)) >= {_span(seen)}


@pytest.mark.parametrize(
    "line",
    ["@dec(1)", "@dec(\n    1,\n)", "@dec(1,\n     2)", "# about it", "x = 1; '''", "x = f(1)"],
)
def test_what_is_behind_another_line_is_seen_without_what_leads_to_it(line: str) -> None:
    after = _source("a.py", b"x = g(1)\n\n\ndef wanted():\n    return 1\n")
    data = after.data.replace(b"x = g(1)", line.encode())
    seen = _seen(after, 0, data)
    assert seen is None or _span(seen) in _spans(_source("a.py", data))
    assert (seen is not None) == (line == "x = f(1)")


def test_one_of_several_with_the_same_text_is_seen_by_its_place() -> None:
    inside = b"    def wanted(self):\n        return 1\n"
    after = _source("a.py", b"class A:\n" + inside + b"\n\nclass B:\n" + inside)
    [first, second] = [n for n, each in enumerate(after.symbols) if each.name == "wanted"]
    data = b"x = 1\n\n\n" + after.data
    for number in (first, second):
        seen = _seen(after, number, data)
        assert seen is not None
        assert seen.start == after.symbols[number].start + 8
    twins = after.data.replace(inside, inside + b"\n" + inside, 1)
    assert _seen(after, first, twins) is None
    assert _seen(_source("a.py", twins), first + 1, after.data) is None


def test_the_first_of_a_file_is_seen_with_all_that_leads_to_it() -> None:
    after = b"/** Adds. */\nexport function add(a) {\n  return a;\n}\n"
    for before in (after.replace(b"return a", b"return a + 1"), b"\n" + after, b"x();\n" + after):
        seen = _seen(_source("a.js", after), 0, before)
        assert seen is None or _span(seen) in _spans(_source("a.js", before))
    assert _seen(_source("a.js", after), 0, after.replace(b"return a", b"return 1")) is not None


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda each: each.name)
def test_after_any_edit_the_parser_of_the_whole_agrees(fixture: Path) -> None:
    assert not list(_mistakes(fixture))


def test_control_a_glance_that_does_not_look_where_it_is_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(glances, "_is_right_inside", lambda *_: True)
    assert any(mistake for fixture in FIXTURES for mistake in _mistakes(fixture))


def test_control_a_glance_that_does_not_look_around_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(glances, "_is_cut_alike", lambda *_: True)
    assert any(mistake for fixture in FIXTURES for mistake in _mistakes(fixture))


def _mistakes(fixture: Path) -> Iterator[str]:
    """Files in which something was seen that the parser does not find."""
    path, after = fixture.stem, fixture.read_bytes()
    source = _source(path, after)
    chance = random.Random(path)  # noqa: S311 - the same edits every time
    for _ in range(EDITS):
        data = _edited(source, chance)
        earlier = _source(path, data)
        if earlier.outline.is_broken:
            continue
        spans = _spans(earlier)
        for number in range(len(source.symbols)):
            seen = _seen(source, number, data)
            if seen is not None and _span(seen) not in spans:
                yield data.decode()


def _span(seen: glances.Glance) -> Told:
    return _told(seen.source.symbols[seen.number], seen.start)


def _spans(source: sources.Source) -> set[Told]:
    return {_told(each, each.start) for each in source.symbols}


def _told(symbol: symbols.Symbol, start: int) -> Told:
    """All that is told of a symbol, with its places from where it starts."""
    places = [symbol.end, symbol.head, symbol.body]
    for first, last in (*symbol.documentation, *symbol.annotations):
        places += [first, last]
    names = (symbol.kind, symbol.qualified, symbol.signature)
    return start, *names, *(place - symbol.start for place in places)


def _edited(source: sources.Source, chance: random.Random) -> bytes:
    """A file with a few symbols gone, doubled or moved, and lines written otherwise."""
    for _ in range(chance.randint(1, 3)):
        source = _source(source.path, _edited_once(source, chance))
        if not source.symbols:
            break
    return source.data


def _edited_once(source: sources.Source, chance: random.Random) -> bytes:
    lines = source.data.splitlines(keepends=True)
    symbol = chance.choice(source.symbols)
    first, last = symbol.line - 1, symbol.end_line
    some = lines[first:last]
    match chance.choice(("drop", "double", "move", "blank", "note", "word")):
        case "drop":
            del lines[first:last]
        case "double":
            lines[first:first] = some
        case "move":
            near = [each for each in source.symbols if each.parent == symbol.parent]
            place = chance.choice(near).line - 1
            if place <= first:
                lines[first:last] = []
                lines[place:place] = some
        case "blank":
            lines.insert(first, b"\n")
        case "note" if not source.path.endswith(".kt"):
            # With a comment between properties Kotlin's grammar loses an annotation further on.
            mark = b"# note\n" if source.path.endswith((".py", ".sh", ".rb")) else b"// note\n"
            lines.insert(first, mark)
        case "word":
            line = chance.randrange(len(lines))
            lines[line] = lines[line].replace(b"a", b"some", 1)
    return b"".join(lines)
