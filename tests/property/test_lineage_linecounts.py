"""Lines that came and went add up."""

from __future__ import annotations

from collections import Counter

import hypothesis
from hypothesis import strategies as st

from tests import scale
from tether.lineage import linecounts

texts = st.one_of(
    st.lists(st.sampled_from((b"", b"a", b"b", b"ab", b" a")), max_size=12).map(b"\n".join),
    st.lists(st.sampled_from((b"\n", b"a\n", b"ab\n")), max_size=12).map(b"".join),
)


def lines(text: bytes) -> list[bytes]:
    """The lines of a text, whether or not the last one has an end."""
    return text.removesuffix(b"\n").split(b"\n") if text else []


@hypothesis.settings(max_examples=scale.count(50_000, 1000), derandomize=True)
@hypothesis.given(texts, texts)
def test_what_came_and_went_is_the_difference(before: bytes, after: bytes) -> None:
    counts = linecounts.between(before, after)
    olds, news = Counter(lines(before)), Counter(lines(after))
    added, removed = (news - olds).total(), (olds - news).total()
    if added or removed:
        assert counts == (added, removed)
    else:
        moved = sum(a != b for a, b in zip(lines(before), lines(after), strict=True))
        assert counts == (moved, moved)


def test_a_last_line_without_an_end_is_a_line() -> None:
    assert linecounts.between(b"", b"a\nb\n") == (2, 0)
    assert linecounts.between(b"a\nb", b"") == (0, 2)
    assert linecounts.between(b"a", b"a\n") == (0, 0)
    assert linecounts.between(b"a\n\nb", b"a\nx\n\nb") == (1, 0)
