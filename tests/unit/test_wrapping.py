"""Lines on a terminal: they break between words, and nothing is torn that is to be copied."""

from __future__ import annotations

import hypothesis
from hypothesis import strategies as st

from tether import text
from tether.cli.task import shown

words = st.text(alphabet="abcé`界", min_size=1, max_size=12)


def test_what_fits_stays_as_it_is() -> None:
    assert shown.wrapped("A  line", 80) == ["A  line"]
    assert shown.wrapped("", 80) == [""]
    assert shown.wrapped("A line", 80, tail="[here]") == ["A line  [here]"]


def test_later_lines_stand_further_in() -> None:
    line = "  " + "word " * 12
    assert shown.wrapped(line.rstrip(), 40) == [
        "  word word word word word word word",
        "    word word word word word",
    ]


def test_columns_stay_columns() -> None:
    assert shown.wrapped("deep     failed: " + "word " * 8, 40, " " * 9) == [
        "deep     failed: word word word word",
        "         word word word word",
    ]


def test_a_command_is_not_torn() -> None:
    line = "No note was left for those who come: `tether handoff track:H.1.1 --note TEXT` does."
    assert shown.wrapped(line, 60) == [
        "No note was left for those who come:",
        "  `tether handoff track:H.1.1 --note TEXT` does.",
    ]


def test_a_command_that_never_ends_is_none() -> None:
    line = "It said `tether and then went on with many words that nobody could stop at all"
    assert max(map(len, shown.wrapped(line, 40))) <= 40


def test_where_a_line_is_from_is_not_torn() -> None:
    lines = shown.wrapped("  word word word word word word word", 40, "    ", "[git status]")
    assert lines == ["  word word word word word word word", "      [git status]"]


def test_a_path_is_not_torn() -> None:
    path = "/a-long/path" * 6
    lines = shown.wrapped(f"It is in {path} and there", 40)
    assert lines == ["It is in", f"  {path}", "  and there"]


@hypothesis.given(st.lists(words, min_size=1, max_size=30), st.integers(40, 100))
def test_no_word_is_lost_and_no_line_is_wider(given: list[str], columns: int) -> None:
    lines = shown.wrapped(" ".join(given), columns)
    assert " ".join(line.strip() for line in lines) == " ".join(given)
    assert all(text.cells(line) <= columns for line in lines)
