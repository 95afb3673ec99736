"""What must hold of every list, however it is written."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tether import ids
from tether.tasks.sources import dialects, history, model, reading, ticking

PATHS = {
    "track": "plans/TRACK-H-X.md",
    "speckit": "specs/001-login/tasks.md",
    "kiro": ".kiro/specs/auth/tasks.md",
    "openspec": "openspec/changes/add/tasks.md",
    "conductor": "conductor/tracks/auth/plan.md",
    "backlog": "backlog/tasks/task-1 - A.md",
    "beads": ".beads/issues.jsonl",
}
IDS = {
    "track": ["**H.1.{}**", "H.1.{}:", "`H.1.{}` —", "**H.1.1.{}:**"],
    "speckit": ["T00{}", "T00{} [P] [US1]", "**T01{}**"],
    "kiro": ["{}.", "1.{}", "2.{}."],
    "openspec": ["1.{}", "2.{}"],
    "conductor": ["Task: a{}", "b{}", "Task: c{} [abc1234]"],
}
ODD_LINES = [
    "", "```", "~~~", "````", "<!--", "-->", "<!-- a -->", "# A", "## H.1 B",
    "### Consolidation log", "- plain", "  - nested", "\tindented", "---", "> quote",
    "text `<!--` text", "| A.1 | A.2 |",
    "A.7 → A.8", "- ```", "  ```", "**Agent:** x", "\ufeff", "\x0b\x0c\u2028\x85", "- [", "- [x",
    "[x]", "track: H", "status: Done", "\x00",
]  # fmt: skip


@st.composite
def boxes(draw: st.DrawFn, source: str) -> str:
    indent = draw(st.sampled_from(["", "", "", "  ", "    ", "\t", "      "]))
    bullet = draw(st.sampled_from(["-", "*", "+", "1."]))
    mark = draw(st.sampled_from([" ", "x", "X", "~", "-", "!", "", "a"]))
    written = draw(st.sampled_from([*IDS[source], "no id"])).format(draw(st.integers(1, 9)))
    return f"{indent}{bullet} [{mark}] {written} {draw(st.sampled_from(['text', '', 'ü (P0)']))}"


@st.composite
def lists(draw: st.DrawFn) -> tuple[str, str]:
    """A list of checkboxes of some kind, and its kind."""
    source = draw(st.sampled_from(sorted(IDS)))
    line = boxes(source) | boxes(source) | st.sampled_from(ODD_LINES)
    lines = draw(st.lists(line, max_size=25))
    ends = draw(st.lists(st.sampled_from(["\n", "\n", "\r\n"]), min_size=len(lines)))
    content = "".join(map("".join, zip(lines, ends, strict=False)))
    front = draw(st.sampled_from(["", "", "---\ntrack: H\n---\n", "\ufeff", "---\na: b: c\n---\n"]))
    last = draw(st.sampled_from(["", "- [ ] H.9.9 no newline"]))
    return source, front + content + last


def states(source: str, content: bytes) -> dict[str, str]:
    listing = reading.parse(source, PATHS[source], content)
    return {item.id: item.state for item in listing.items}


@given(lists())
def test_states_in_is_what_the_parser_says(written: tuple[str, str]) -> None:
    source, content = written
    assert history.states_in(PATHS[source], content) == states(source, content.encode())


@given(lists())
def test_a_listing_makes_sense(written: tuple[str, str]) -> None:
    source, content = written
    listing = reading.parse(source, PATHS[source], content.encode())
    lines = content.split("\n")
    assert len({item.id for item in listing.items}) == len(listing.items)
    for item in listing.items:
        assert ids.TaskId.is_valid(item.id)
        assert item.state in model.STATES
        assert "[" in lines[item.line - 1]
        assert 0 <= item.parts_done <= item.parts_total
        assert item.parent != item.id
    for progress in listing.progress:
        assert 0 <= progress.done <= progress.total
    if listing.progress:
        whole, *sections = listing.progress
        assert all(each.total <= whole.total for each in sections)


@given(lists(), st.data())
def test_ticking_changes_one_line_and_one_state(
    written: tuple[str, str], data: st.DataObject
) -> None:
    source, content = written
    raw = content.encode()
    before = reading.parse(source, PATHS[source], raw)
    if not before.items:
        return
    item = data.draw(st.sampled_from(before.items))
    state = data.draw(st.sampled_from(sorted(dialects.CHECKBOXES[source].writes)))
    after = ticked(source, raw, item, state)
    assert states(source, after) == states(source, raw) | {item.id: state}
    changed = differing(raw, after)
    assert changed == ([] if item.state == state else [item.line])


def ticked(source: str, raw: bytes, item: model.Item, state: str) -> bytes:
    with tempfile.TemporaryDirectory() as top:
        path = Path(top) / PATHS[source]
        path.parent.mkdir(parents=True)
        path.write_bytes(raw)
        assert ticking.tick(top, item, state) == item.path
        return path.read_bytes()


def differing(one: bytes, other: bytes) -> list[int]:
    """The lines in which two texts of as many lines differ."""
    pairs = zip(one.split(b"\n"), other.split(b"\n"), strict=True)
    return [number for number, (a, b) in enumerate(pairs, 1) if a != b]


@given(
    st.text(max_size=300) | st.binary(max_size=300).map(lambda raw: raw.decode("utf-8", "replace"))
)
@example("---\n---\n")
@example("---\n- a\n---\n")
@example("---\nid: [task-1]\nstatus: {a: b}\nassignee: 7\n---\n")
@example('{"id":"bd-1","dependencies":7,"acceptance_criteria":[1],"title":{}}')
def test_any_text_is_read(content: str) -> None:
    for source, path in PATHS.items():
        found = states(source, content.encode("utf-8", "surrogatepass"))
        text = content.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        assert history.states_in(path, text) == found


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def issues(draw: st.DrawFn) -> str:
    """An export of beads."""
    lines = []
    for _ in range(draw(st.integers(1, 5))):
        issue = draw(st.dictionaries(st.text(max_size=6), VALUES, max_size=3))
        issue |= {
            "id": f"bd-{draw(st.integers(1, 3))}",
            "status": draw(st.sampled_from(["open", "closed", "in_progress", "tombstone", "zzz"])),
        }
        if draw(st.booleans()):
            issue["updated_at"] = draw(st.sampled_from(["2020-01-01T00:00:00Z", "2050-01-01", "x"]))
        if draw(st.booleans()):
            issue["closed_at"] = draw(st.sampled_from([None, "2020-01-01T00:00:00Z"]))
        separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
        lines.append(json.dumps(issue, separators=separators, ensure_ascii=draw(st.booleans())))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\nnot json\n"]))
    return text.encode("utf-8", "replace").decode()


@given(issues(), st.sampled_from(["new", "in_progress", "done"]), st.data())
def test_ticking_an_issue_changes_one_line_and_one_state(
    content: str, state: str, data: st.DataObject
) -> None:
    raw = content.encode()
    before = reading.parse("beads", PATHS["beads"], raw)
    item = data.draw(st.sampled_from(before.items))
    after = ticked("beads", raw, item, state)
    assert states("beads", after) == states("beads", raw) | {item.id: state}
    assert differing(raw, after) == ([] if item.state == state else [item.line])


@pytest.mark.parametrize("source", sorted(PATHS))
def test_control_a_wrong_edit_is_not_written(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check before the write finds an edit of another task."""
    texts = {
        "backlog": "---\nid: task-1\nstatus: To Do\n---\n",
        "beads": '{"id":"bd-1","status":"open"}\n{"id":"bd-2","status":"open"}\n',
    }
    content = texts.get(source, "- [ ] H.1.1 T001 1.1 a\n")
    for written in IDS.get(source, []):
        content += f"- [ ] {written.format(1)} a\n"
    raw = content.encode()
    item = reading.parse(source, PATHS[source], raw).items[0]
    monkeypatch.setattr(ticking, "_edited", lambda *_: raw.replace(b"[ ]", b"[x]") + b"\n")
    with pytest.raises(Exception, match="cannot be edited safely"):
        ticked(source, raw, item, "done")
