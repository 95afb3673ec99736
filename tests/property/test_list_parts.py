"""Which tasks a change of a list furthered: told by the lines that changed as by all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tether.tasks.sources import dialects, history, steps

PATH = "plans/TRACK-H.md"
Lines = list[tuple[str, str, str]]
MARKS = st.sampled_from(["[ ]", "[x]", "[X]", "[~]", "[-]", ""])
LINES = st.lists(
    st.tuples(
        st.sampled_from(["", "  ", "    "]),
        MARKS,
        st.sampled_from(["H.1.1 One", "H.1.2 Two", "**H.1.3** Three", "a part", "x", ""]),
    ),
    max_size=8,
)


def text(lines: Lines) -> str:
    return "".join(f"{indent}- {mark} {said}\n" for indent, mark, said in lines)


def furthered(old: str, new: str) -> list[str]:
    """By everything that both say."""
    dialect = dialects.CHECKBOXES[dialects.TRACK]
    before, after = (steps.parts_in(each, dialect, PATH) for each in (old, new))
    return [task for task, count in after.items() if count > before.get(task, count)]


@given(LINES, LINES, st.lists(MARKS, min_size=8, max_size=8), LINES)
def test_a_part_of_a_list_tells_what_all_of_it_tells(
    begin: Lines, old: Lines, marks: list[str], end: Lines
) -> None:
    new = [(indent, mark, said) for (indent, _, said), mark in zip(old, marks, strict=False)]
    one, other = text([*begin, *old, *end]), text([*begin, *new, *end])
    assert history.Reader().furthered(PATH, one, other) == furthered(one, other)


@given(LINES, LINES)
def test_whatever_changed_nothing_is_made_up(old: Lines, new: Lines) -> None:
    found = history.Reader().furthered(PATH, text(old), text(new))
    assert set(found) <= set(furthered(text(old), text(new)))


def test_control_a_ticked_part_is_told() -> None:
    old, new = "- [ ] H.1.1 One\n  - [ ] a\n", "- [ ] H.1.1 One\n  - [x] a\n"
    assert history.Reader().furthered(PATH, old, new) == furthered(old, new) == ["H.1.1"]
