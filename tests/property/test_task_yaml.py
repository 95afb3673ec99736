"""Task files as text: what is written is read as the same by everybody, and an edit is only that.

The texts that are edited are made of pieces whose owner is known, so which lines an edit may touch
is known without asking the editor.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import hypothesis
import pytest
import ruamel.yaml
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml.error import YAMLError

from tests import scale
from tether import errors, text
from tether.tasks import document, scalars, splicing

EXAMPLES = scale.count(5_000, at_least=60)
many = hypothesis.settings(max_examples=EXAMPLES, deadline=None)


def by_ryaml(raw: bytes) -> Any:
    found = document.read(raw)
    assert not found.problem, f"{found.problem} in line {found.line} of {raw!r}"
    return found.fields


def by_ruamel(raw: bytes) -> Any:
    return ruamel.yaml.YAML(typ="safe", pure=True).load(io.BytesIO(raw))


def is_same(one: Any, other: Any) -> bool:
    """Equal, and of equal types: True is no 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        same_keys = list(one) == list(other)
        return same_keys and all(is_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        same_size = len(one) == len(other)
        return same_size and all(itertools.starmap(is_same, zip(one, other, strict=True)))
    return bool(one == other)


# Writing

# What a careless writer gets wrong: words that mean something, marks, ends of lines, blanks.
TRICKY = st.sampled_from(
    ["", " ", "no", "Yes", "on", "~", "null", "true", "010", "0x1F", "1e3", "12:30", "1:2:3", "-",
     "- a", "a: b", "a:", ": a", "#", "a #b", "a# b", "'", '"', "it's", "a\n", "\na", "a\n\nb\n\n",
     " a\nb", "a \nb ", "\ta", "a\tb", "a\r\nb", "a\rb", "---", "--- a", "...", "a\n---\nb\n",
     "? a", "& a", "*a", "!a", "| a", "> a", "%a", "@a", "`a", "{a}", "[a", "a]", "a, b", "<<", "=",
     ".inf", ".nan", "-.inf", "2026-01-01", "2026-01-01 10:00:00", "+1", "1_000", "0b1", "0o7",
     "y", "N", "\x85", "\u2028", "\ufeff", "\ufeffa", "\x7f", "\x07", "\0", "\ud800", "\udfff",
     "\ud83d\ude00", "😀", "e\u0301", "\xa0", "a\u200b", "\uffff", "\U0010ffff", "\\", "\\n",
     "x" * 600, "a b " * 200, "#\n#\n", "<<<<<<< HEAD\nx\n", "a\n\n", "\n", "\n\n", "a\n b\n  c\n"]
)  # fmt: skip


# Composite, because a strategy of this size takes longer to print than to use.
@st.composite
def any_text(draw: st.DrawFn) -> str:
    return draw(
        st.one_of(
            TRICKY,
            st.text(st.characters(), max_size=60),
            st.text(st.characters(exclude_categories=()), max_size=20),
            st.text("ab :#-'\"\n\t\\{}[],&*!|>%@`?=~0123456789.", max_size=40),
            st.lists(TRICKY, max_size=4).map("\n".join),
        )
    )


@st.composite
def any_name(draw: st.DrawFn) -> str:
    name = draw(st.one_of(any_text(), st.from_regex(r"[a-z_]{1,12}", fullmatch=True)))
    # A key of YAML has at most 1024 characters on one line, escapes counted.
    return name if len(scalars.scalar(name)) < 1000 else name[:20]


@st.composite
def any_value(draw: st.DrawFn, depth: int = 3) -> Any:
    kind = draw(st.integers(0, 7 if depth else 5))
    if kind <= 2:
        return draw(any_text())
    if kind <= 5:
        return draw([st.integers(-(2**63), 2**63 - 1), st.booleans(), st.none()][kind - 3])
    if kind == 6:
        return draw(st.lists(any_value(depth - 1), max_size=4))
    return draw(any_fields(depth - 1))


@st.composite
def any_fields(draw: st.DrawFn, depth: int = 3, at_least: int = 0) -> dict[str, Any]:
    names = draw(st.lists(any_name(), min_size=at_least, max_size=4, unique_by=text.storable))
    return {name: draw(any_value(depth)) for name in names}


def stored(value: Any) -> Any:
    """What must be read again: everything but NUL and halves of characters."""
    if isinstance(value, str):
        return text.storable(value)
    if isinstance(value, dict):
        return {text.storable(name): stored(each) for name, each in value.items()}
    return [stored(each) for each in value] if isinstance(value, list) else value


def reads_back(
    read: Callable[[bytes], Any], fields: Mapping[str, Any], write: Callable[..., bytes]
) -> None:
    raw = write(fields)
    wanted = stored(dict(fields))
    found = read(raw)
    assert {*found} == {*wanted}
    for name, value in wanted.items():
        assert is_same(found[name], value), f"{found[name]!r} is not {value!r} in {raw!r}"


def entries(fields: Mapping[str, Any]) -> bytes:
    return "".join(scalars.entry(name, value) for name, value in fields.items()).encode()


@many
@given(any_fields(at_least=1))
def test_a_composed_file_is_read_as_it_was_meant(fields: dict[str, Any]) -> None:
    reads_back(by_ryaml, fields, document.compose)


@many
@given(any_fields(at_least=1))
def test_another_reader_of_yaml_1_2_reads_the_same(fields: dict[str, Any]) -> None:
    reads_back(by_ruamel, fields, entries)


@many
@given(any_fields(at_least=1))
def test_a_reader_of_yaml_1_1_reads_the_same(fields: dict[str, Any]) -> None:
    reads_back(yaml.safe_load, fields, entries)


@many
@given(any_text(), any_text())
def test_a_text_that_takes_anothers_place_is_read_as_it_was_meant(old: str, new: str) -> None:
    """It takes on the quotes of the old one, and must not take on anything else."""
    for written in (scalars.quoted(old), "'x'", "x", '""', "''"):
        if "\n" not in new:
            raw = f"a: {scalars.like(written, new)}\n".encode("utf-8", "surrogatepass")
            for read in (by_ryaml, by_ruamel):
                assert read(raw) == {"a": text.storable(new)}, raw


def test_a_writer_that_quotes_nothing_is_caught() -> None:
    """The control."""

    def careless(fields: Mapping[str, Any]) -> bytes:
        return "".join(f"{name}: {value}\n" for name, value in fields.items()).encode()

    reads_back(by_ryaml, {"a": "plain"}, careless)
    for word in ("12", "true", "a: b", "#", "~", " a"):
        with pytest.raises((AssertionError, ValueError)):
            reads_back(by_ryaml, {"a": word}, careless)
    # Only another reader sees this one.
    reads_back(by_ryaml, {"a": "no"}, careless)


# Texts to edit


class Piece(NamedTuple):
    """Some lines of a text, and the field that they belong to; none for what stands between."""

    owner: str
    lines: tuple[str, ...]


class Text(NamedTuple):
    """A task file, in pieces."""

    pieces: tuple[Piece, ...]
    newline: str = "\n"
    has_end: bool = True
    """Does its last line end?"""

    @property
    def content(self) -> str:
        whole = "".join(line + self.newline for piece in self.pieces for line in piece.lines)
        return whole if self.has_end else whole[: -len(self.newline)]

    @property
    def document(self) -> document.Document:
        return document.read(self.content.encode())

    def kept(self, names: Mapping[str, Any]) -> list[str]:
        """The lines that an edit of these fields has no business with."""
        return [line for piece in self.pieces if piece.owner not in names for line in piece.lines]


KNOWN = ("id", "title", "agent", "status", "priority", "artefacts", "description", "result",
         "history")  # fmt: skip
OWN = ("x_team", "Sprint-3", "context", "notes")
WORDS = st.sampled_from(
    ["new", "done", "in_progress", "T1", "a b c", "it's", "2026-01-01T00:00:00Z", "no", "x#y",
     "status", "a-b", "http://x.y/z?a=b#c", "(a)", "010"]
)  # fmt: skip
LINES = st.sampled_from(
    ["plain words", "status: done", "# no comment", "- item", "--- a", "title: 'x'", "",
     "  deeper", "agent: nobody # x", "<<: x", "\tx", "it's \"so\""]
)  # fmt: skip
NUMBERS = st.integers(0, 10**6)


def commented(line: str, number: int | None) -> str:
    return line if number is None else f"{line}  # why {number}"


@st.composite
def spots(draw: st.DrawFn, name: str) -> tuple[str, ...]:
    """A field in one of the ways in which people write it."""
    comment = draw(st.one_of(st.none(), NUMBERS))
    gap = draw(st.sampled_from([" ", "  ", "\t", "   "]))
    colon = draw(st.sampled_from([":", ":", ":", " :"]))
    key = draw(st.sampled_from([name, name, name, f'"{name}"', f"'{name}'"])) + colon
    word, number = draw(WORDS), draw(NUMBERS)
    single = word.replace("'", "''")
    head = commented(key, comment)
    body = [f"  {line}" if line else "" for line in draw(st.lists(LINES, max_size=5))]
    # The first line of a text sets its margin; a blank one behind it belongs to nobody.
    body = ["  first", *body, "  last"]
    mark = draw(st.sampled_from(["|", "|-", "|+", ">", ">-"]))
    ways = (
        (commented(f"{key}{gap}{word}", comment),),
        (commented(f'{key}{gap}"{word}"', comment),),
        (commented(f"{key}{gap}'{single}'", comment),),
        (commented(f"{key} [a, 'b']", comment),),
        (head,),
        (f"{key} {mark}", *body),
        (head, "- a", f"- {word}", f"# inside {number}", "- 'c'"),
        (head, "    - a", f"    # inside {number}", f"    - {word}  # why 0"),
        (head, "  - at: 1", f"    what: {word}", "    text: |", "      status: done"),
        (head, f"  status: {word}", f"  # inside {number}", "  list:", "  - a"),
        (f"{key} [a,", f"  b, # inside {number}", "  ]"),
        (f"{key} one", "  two", "", "  three"),
        (f'{key} "one', "  # two", '  three"'),
    )
    return draw(st.sampled_from(ways))


BETWEEN = st.one_of(
    st.just(("",)),
    st.just(("", "")),
    NUMBERS.map(lambda n: (f"# between {n}",)),
    NUMBERS.map(lambda n: ("", f"# status: between {n}", "")),
)


# Keys that are not plain words, and a text that is hardly one of lines.
ODD = st.sampled_from(
    [("my key: x  # odd 1",), ("1st: x  # odd 2",), ("a.b: x  # odd 3",), ("? odd  # odd 4", ": x"),
     ("'it''s': x  # odd 5",), ('"a\\tb":', "  x: y  # odd 6")]
)  # fmt: skip


@st.composite
def texts(draw: st.DrawFn, odd: bool = False) -> Text:
    names = draw(st.lists(st.sampled_from([*KNOWN, *OWN]), min_size=1, max_size=7, unique=True))
    pieces = []
    if draw(st.booleans()):
        pieces.append(Piece("", draw(BETWEEN)))
    if draw(st.integers(0, 3)) == 0:
        pieces.append(Piece("", ("---",)))
    for name in names:
        pieces.append(Piece(name, draw(spots(name))))
        if draw(st.booleans()):
            pieces.append(Piece("", draw(BETWEEN)))
    if odd:
        at = draw(st.integers(0, len(pieces)))
        pieces.insert(at, Piece("odd", draw(ODD)))
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    # A last line that is empty has no end to leave out.
    has_end = draw(st.booleans()) or not pieces[-1].lines[-1]
    return Text(tuple(pieces), newline, has_end)


NEW_VALUES = st.one_of(
    WORDS,
    any_text(),
    st.integers(-9, 9),
    st.booleans(),
    st.just(document.REMOVE),
    st.lists(WORDS, max_size=3),
    st.dictionaries(st.sampled_from(["at", "by", "why"]), any_text(), max_size=3),
    st.lists(st.fixed_dictionaries({"at": WORDS, "text": any_text()}), max_size=2),
)


@st.composite
def edits(draw: st.DrawFn, odd: bool = False) -> tuple[Text, dict[str, Any]]:
    made = draw(texts(odd=odd))
    fields = made.document.fields
    names = st.sampled_from([*(name for name in fields if name in (*KNOWN, *OWN)), *KNOWN])
    changes: dict[str, Any] = {}
    for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        if isinstance(fields.get(name), list) and draw(st.booleans()):
            # As every entry of a history comes: one more behind the others.
            changes[name] = [*fields[name], draw(NEW_VALUES.filter(_is_value))]
        else:
            changes[name] = draw(NEW_VALUES)
    return made, changes


def _is_value(value: Any) -> bool:
    return value is not document.REMOVE


def meant(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {name: value for name, value in fields.items() if name not in changes}
    wanted |= {name: stored(value) for name, value in changes.items() if _is_value(value)}
    return wanted


def says_what_was_meant(made: Text, changes: Mapping[str, Any], after: bytes) -> None:
    wanted = meant(by_ryaml(made.content.encode()), changes)
    found = by_ryaml(after) if wanted else (document.read(after).fields)
    assert found == wanted
    assert all(is_same(found[name], value) for name, value in wanted.items())
    try:
        before = by_ruamel(made.content.encode())
    except YAMLError:
        # It refuses tabs where others read them.
        return
    # A second opinion, on what it reads as another YAML than ours.
    known = {name: value for name, value in before.items() if name not in changes}
    again = by_ruamel(after) or {}
    assert {name: again.get(name) for name in known} == known
    assert {*again} == {*wanted}


def touches_nothing_else(made: Text, changes: Mapping[str, Any], after: bytes) -> None:
    """Every line of another field, every comment and blank between them, is there as it was."""
    left = iter(after.decode().splitlines(keepends=True))
    kept = made.kept(changes)
    for number, line in enumerate(kept):
        is_last = number == len(kept) - 1 and not made.has_end
        ends = (line, line + made.newline) if is_last else (line + made.newline,)
        if "\n" not in made.content:
            ends = (line, f"{line}\n")  # nobody can tell how its lines would end
        assert any(each in ends for each in left), f"{line!r} is not where it was in {after!r}"


def is_an_edit(made: Text, changes: Mapping[str, Any], after: bytes) -> None:
    says_what_was_meant(made, changes, after)
    touches_nothing_else(made, changes, after)


def readable(made: Text) -> None:
    """Some pieces do not stand together: a comment may end a text of several lines."""
    hypothesis.assume(not made.document.problem)


@many
@given(edits())
def test_a_spliced_edit_changes_what_was_asked_and_no_other_byte(
    edit: tuple[Text, dict[str, Any]],
) -> None:
    made, changes = edit
    readable(made)
    spliced = splicing._splice(made.document, changes)
    hypothesis.assume(spliced is not None)
    assert spliced is not None
    wanted = meant(made.document.fields, changes)
    after = document.read(spliced.encode("utf-8", "surrogatepass"))
    # What does not say what was meant is not written: `edit` takes the other way then.
    hypothesis.assume(not after.problem and after.fields == wanted)
    is_an_edit(made, changes, spliced.encode())


@many
@given(edits())
def test_an_edit_says_what_was_meant_or_is_refused(edit: tuple[Text, dict[str, Any]]) -> None:
    made, changes = edit
    readable(made)
    hypothesis.assume(meant(made.document.fields, changes))
    try:
        after = splicing.edit(made.document, changes)
    except errors.TaskUneditable:
        # Only a text that cannot be stored may be refused.
        assert stored_differs(changes)
        return
    says_what_was_meant(made, changes, after)


def stored_differs(changes: Mapping[str, Any]) -> bool:
    plain = {name: value for name, value in changes.items() if _is_value(value)}
    return bool(stored(plain) != plain)


@many
@given(edits())
def test_almost_every_plain_text_is_spliced(edit: tuple[Text, dict[str, Any]]) -> None:
    """Else the test above could be true of nothing."""
    made, changes = edit
    readable(made)
    assert splicing._splice(made.document, changes) is not None


@many
@given(texts(), st.sampled_from(["new", "done", "in_progress"]))
def test_a_status_change_is_a_diff_of_one_line(made: Text, status: str) -> None:
    readable(made)
    line = commented("status: nothing", 1)
    made = Text(
        (*(p for p in made.pieces if p.owner not in ("", "status")), Piece("status", (line,))),
        made.newline,
    )
    readable(made)
    after = splicing.edit(made.document, {"status": status}).decode()
    assert after == made.content.replace(line, commented(f"status: {status}", 1))


@many
@given(edits(odd=True))
def test_comments_survive_whatever_else_is_in_the_text(
    edit: tuple[Text, dict[str, Any]],
) -> None:
    made, changes = edit
    readable(made)
    hypothesis.assume(not stored_differs(changes))
    try:
        after = splicing.edit(made.document, changes)
    except errors.TaskUneditable:
        return
    says_what_was_meant(made, changes, after)
    for line in made.kept(changes):
        for comment in re.findall(r"# (?:why|between|inside|odd|status: between) \d+$", line):
            assert comment.encode() in after, f"{comment} is lost in {after!r}"


@many
@given(edits())
def test_a_text_with_a_byte_order_mark_is_edited_like_any_other(
    edit: tuple[Text, dict[str, Any]],
) -> None:
    """Some editors put one before every text."""
    made, changes = edit
    readable(made)
    marked = document.read(b"\xef\xbb\xbf" + made.content.encode())
    assert (marked.problem, marked.fields) == ("", made.document.fields)
    try:
        plain = splicing.edit(made.document, changes)
    except errors.TaskUneditable:
        return
    assert meant(marked.fields, changes) == document.read(plain).fields
    after = document.read(splicing.edit(marked, changes))
    assert (after.problem, after.fields) == ("", document.read(plain).fields)


# The control

Naive = Callable[[str], str]


def everywhere(content: str) -> str:
    return re.sub("status: .*", "status: done", content)


def caught(made: Text, naive: Naive = everywhere) -> bool:
    try:
        is_an_edit(made, {"status": "done"}, naive(made.content).encode())
    except AssertionError:
        return True
    return False


STATUS = Piece("status", ("status: new",))


@pytest.mark.parametrize(
    "made",
    [
        Text((STATUS, Piece("result", ("result:", "  status: new")))),
        Text((STATUS, Piece("description", ("description: |", "  Write status: new here.")))),
        Text((STATUS, Piece("", ("# status: new, for now",)))),
        Text((Piece("status", ('"status": new',)),)),
        Text((Piece("status", ("status:", "  new")),)),
        Text((Piece("title", ("title: x",)),)),
    ],
)
def test_an_editor_that_replaces_everywhere_is_caught(made: Text) -> None:
    assert caught(made)
    is_an_edit(made, {"status": "done"}, splicing.edit(made.document, {"status": "done"}))


def test_the_made_texts_catch_such_an_editor_too() -> None:
    """Where it looks right on the one line that it is for."""
    plain = Text((Piece("id", ("id: T1",)), STATUS))
    assert not caught(plain)

    def with_status(made: Text) -> Text:
        return Text((STATUS, *(each for each in made.pieces if each.owner != "status")))

    found = hypothesis.find(
        texts().map(with_status),
        lambda made: not made.document.problem and caught(made),
        settings=hypothesis.settings(max_examples=500, phases=[hypothesis.Phase.generate]),
    )
    assert len(found.pieces) > 1


def test_an_editor_that_writes_everything_anew_is_caught() -> None:
    made = Text((Piece("", ("# why",)), STATUS, Piece("title", ("title:   'x'",))))

    def anew(content: str) -> str:
        return document.compose({**made.document.fields, "status": "done"}).decode()

    assert caught(made, anew)
