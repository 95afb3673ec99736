"""Which programs and refactorings are tried: their shapes are chosen, and their words by a seed."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.programs import catalogue, making, model

seeds = st.integers(0, 2**32 - 1)
styles = st.builds(
    model.Style,
    indent=st.sampled_from((4, 2)),
    width=st.sampled_from((90, 70, 50)),
    blank_lines=st.sampled_from((1, 2)),
    has_trailing_commas=st.booleans(),
)


def shapes_of(most_files: int, most: int) -> st.SearchStrategy[making.Shape]:
    """At least two files, one with a class, so that something can move; sometimes with getters."""
    classes = st.lists(st.integers(1, most), max_size=2).map(tuple)
    files = st.lists(
        st.builds(making.FileShape, st.integers(1, most), classes, st.integers(0, 2)),
        min_size=1,
        max_size=most_files - 1,
    )
    first = st.builds(making.FileShape, st.integers(1, most), st.just((2, 1)), st.just(1))
    return st.builds(
        making.Shape,
        st.builds(lambda one, others: (one, *others), first, files),
        st.sampled_from((0.0, 0.0, 0.3)),
        styles,
    )


shapes = shapes_of(4, 4)
small_shapes = shapes_of(2, 2)


def some(least: int, most: int) -> st.SearchStrategy[list[str]]:
    """Refactorings by their names."""
    return st.lists(st.sampled_from(catalogue.NAMES), min_size=least, max_size=most)
