"""Lines that came and went are those of a diff."""

from __future__ import annotations

import hypothesis
from hypothesis import strategies as st

from tests import scale
from tether.lineage import linecounts

texts = st.one_of(
    st.lists(st.sampled_from((b"", b"a", b"b", b"ab", b" a")), max_size=9).map(b"\n".join),
    st.lists(st.sampled_from((b"\n", b"a\n", b"ab\n")), max_size=9).map(b"".join),
)


def lines(text: bytes) -> list[bytes]:
    """The lines of a text, whether or not the last one has an end."""
    return text.removesuffix(b"\n").split(b"\n") if text else []


def longest(one: list[bytes], other: list[bytes]) -> int:
    """How many lines two texts have in common in one order, by trying everything."""
    row = [0] * (len(other) + 1)
    for each in one:
        before = row
        row = [0]
        for number, line in enumerate(other):
            same = before[number] + (each == line)
            row.append(max(same, before[number + 1], row[number]))
    return row[-1]


@hypothesis.settings(max_examples=scale.count(50_000, 1000), derandomize=True)
@hypothesis.given(texts, texts)
def test_what_is_not_kept_came_or_went(before: bytes, after: bytes) -> None:
    olds, news = lines(before), lines(after)
    both = longest(olds, news)
    assert linecounts.between(before, after) == (len(news) - both, len(olds) - both)


def test_a_last_line_without_an_end_is_a_line() -> None:
    assert linecounts.between(b"", b"a\nb\n") == (2, 0)
    assert linecounts.between(b"a\nb", b"") == (0, 2)
    assert linecounts.between(b"a", b"a\n") == (0, 0)
    assert linecounts.between(b"a\n\nb", b"a\nx\n\nb") == (1, 0)


def test_a_line_that_went_elsewhere_came_and_went() -> None:
    assert linecounts.between(b"a\nb\nc\nd\n", b"b\nc\nd\na\n") == (1, 1)
