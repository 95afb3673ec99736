"""Which tasks a change of a list furthered: told by the lines that changed as by all of them."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from tether.tasks.sources import dialects, history, steps

PATH = "plans/TRACK-H.md"
TASKS = [f"H.1.{number} Task" for number in range(1, 9)]
Lines = list[tuple[str, str, str]]
BOXES = st.sampled_from(["[ ]", "[x]", "[X]", "[~]", "[-]"])
MARKS = BOXES | st.just("")
LINES = st.lists(
    st.tuples(
        st.sampled_from(["", "  ", "    "]),
        MARKS,
        st.sampled_from([*TASKS, "a part", "x", "y", ""]),
    ),
    max_size=8,
)


def text(lines: Lines) -> str:
    """A line without a box is text, also where it stands at the margin below a task."""
    return "".join(
        f"{indent}- {mark} {said}\n" if mark else f"{indent}{said}\n"
        for indent, mark, said in lines
    )


def furthered(old: str, new: str) -> list[str]:
    """By everything that both say."""
    dialect = dialects.CHECKBOXES[dialects.TRACK]
    before, after = (steps.parts_in(each, dialect, PATH) for each in (old, new))
    return [
        task
        for task, parts in after.items()
        if task in before and steps.is_furthered(before[task], parts)
    ]


@given(LINES, LINES, st.lists(BOXES, min_size=8, max_size=8), LINES)
def test_a_part_of_a_list_tells_what_all_of_it_tells(
    begin: Lines, old: Lines, marks: list[str], end: Lines
) -> None:
    # A box stays one, and a text a text: the rest of a list hangs on them.
    pairs = zip(old, marks, strict=False)
    new = [(indent, mark if was else "", said) for (indent, was, said), mark in pairs]
    named = [said for _, _, said in (*begin, *old, *end) if "H." in said]
    assume(len(named) == len(set(named)))  # of two with one id the first counts, wherever it is
    one, other = text([*begin, *old, *end]), text([*begin, *new, *end])
    assert history.Reader().furthered(PATH, one, other) == furthered(one, other)


@given(LINES, LINES)
def test_whatever_changed_nothing_is_made_up(old: Lines, new: Lines) -> None:
    found = history.Reader().furthered(PATH, text(old), text(new))
    assert set(found) <= set(furthered(text(old), text(new)))


def test_control_a_ticked_part_is_told() -> None:
    old, new = "- [ ] H.1.1 One\n  - [ ] a\n", "- [ ] H.1.1 One\n  - [x] a\n"
    assert history.Reader().furthered(PATH, old, new) == furthered(old, new) == ["H.1.1"]
