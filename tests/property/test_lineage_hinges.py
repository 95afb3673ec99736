"""A name means the same as long as no path comes or goes that has a part on which it hangs."""

from __future__ import annotations

import hypothesis
from hypothesis import strategies as st

from tests import scale
from tether.lineage.derive import decisions

parts = st.sampled_from(("src", "bell", "gong", "a.py", "b.py", "[id]"))
paths = st.lists(parts, min_size=1, max_size=4).map("/".join)
signs = st.sampled_from(("*", "**", "*.py", "?.py", "{a,b}.py", "{src,gong/bell}", "b*"))
patterns = st.lists(st.one_of(parts, signs), min_size=1, max_size=4).map("/".join)


@hypothesis.settings(max_examples=scale.count(20_000, 300), derandomize=True)
@hypothesis.given(st.sets(paths, max_size=8), paths, patterns)
def test_other_paths_change_nothing_of_what_a_name_means(
    tree: set[str], path: str, pattern: str
) -> None:
    hinges = decisions.parts_of(pattern)
    hypothesis.assume(not hinges & {"", *path.split("/")})
    with_it, without = decisions.Tree(tree | {path}), decisions.Tree(tree - {path})
    assert with_it.meant(pattern) == without.meant(pattern)


def test_a_name_hangs_on_a_part_that_all_its_places_have() -> None:
    assert decisions.parts_of("src/tether/a.py") == {"a.py"}
    assert decisions.parts_of("./src/tether/") == {"tether"}
    assert decisions.parts_of("src/**/*.py") == {"src"}
    assert decisions.parts_of("src/{bell,gong}/*.py") == {"bell", "gong"}


def test_a_name_that_any_place_may_have_hangs_on_all() -> None:
    assert decisions.parts_of("**/*.py") == {""}
