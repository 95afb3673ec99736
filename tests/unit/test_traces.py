"""Where a task's work may still be, by its timeline."""

from __future__ import annotations

import pytest

from tether import ids
from tether.brief import traces
from tether.evidence import model, stretches, timeline
from tether.evidence.unfinished import neighbours
from tether.tasks.sources import patterns

KEY = ids.TaskKey("track", "H.1.1")
OWN = neighbours.Own(KEY)
FINDER = patterns.Finder(patterns.Kinds(("work", "track")))
AT = "2026-11-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("feat/H.1.1-house", True),
        ("H.1.1", True),
        ("On main: half of H.1.1.", True),
        ("feat/H.1.10", False),
        ("feat/H.1.1.2", False),
        ("feat/AH.1.1", False),
        ("v2.H.1.1", False),
        ("feat/G.2", True),
        ("feature/h.1.1-house", True),
        ("feature/h.1.10-house", False),
        ("feature/fh.1.1", False),
        ("half of h.1.1 only", False),
        ("main", False),
        ("", False),
    ],
)
def test_a_text_names_a_task_exactly(text: str, expected: bool) -> None:
    assert traces.naming(FINDER, KEY, ["G.2"])(text) is expected


def test_one_of_our_own_is_named_by_a_whole_part_of_a_branch() -> None:
    is_named = traces.naming(FINDER, ids.TaskKey(ids.OWN_SOURCE, "T-1"), ())
    assert [is_named(each) for each in ("T-1", "feat/T-1", "feat/T-10", "feat/T-1-x")] == [
        *(True, True, False, False)
    ]
    assert not traces.naming(FINDER, ids.TaskKey("backlog", "H.1.1"), ())("feat/H.1.1")


def line(*kinds: tuple[str, str]) -> timeline.Timeline:
    """A timeline of activities by (kind, session)."""
    activities = tuple(
        model.Activity("claude:transcript", "file:t", "r", AT, kind, "said", session=session)
        for kind, session in kinds
    )
    sessions = tuple(
        model.Session(name, "claude:transcript", "file:t", cwd=f"/{name}", last_at=f"{AT}{name}")
        for name in ("s1", "s2", "s3")
    )
    return timeline.Timeline(KEY, activities, sessions)


def sessions(*kinds: tuple[str, str]) -> list[str]:
    return [each.session for each in traces.sessions(line(*kinds))]


def test_who_worked_comes_before_who_talked() -> None:
    assert sessions(("worked", "s1"), ("mentioned", "s2"), ("stated", "s3")) == ["s3", "s1"]
    assert sessions(("mentioned", "s1"), ("mentioned", "s2"), ("listed", "s3")) == ["s2", "s1"]
    assert sessions(("listed", "s3")) == [], "who lists everything works on nothing"


def test_what_was_edited_and_committed_is_wanted() -> None:
    commit = model.Activity(
        *("git:commit", "commit:abc", "abc", AT, model.WORKED, "committed"), files=("house.py",)
    )
    named = commit._replace(record="def", kind=model.MENTIONED, files=("else.py",))
    edit = commit._replace(
        source="claude:transcript", what="edited", session="s1", files=("a.py", "/b.py")
    )
    found = line(("worked", "s1"))._replace(activities=(commit, named, edit))
    wanted = traces.wanted(found, OWN, neighbours.Others(), {}, lambda _: False)
    assert (wanted.commits, wanted.committed) == (("abc",), ("house.py",))
    assert wanted.edited == ("/s1/a.py", "/b.py")
    assert (wanted.checkout, wanted.branch, wanted.holds) == ("", "", ())
    assert [each.directory for each in wanted.stays] == ["/s1"]


def test_a_session_stays_for_as_long_as_it_was_at_work_on_it() -> None:
    found = line(("worked", "s1"), ("worked", "s2"))
    times = {"s1": (stretches.Stretch(AT, f"{AT}0"), stretches.Stretch(f"{AT}2"))}
    assert [(each.directory, each.since, each.until) for each in traces.stays(found, times)] == [
        ("/s2", "9", ""),
        ("/s1", AT, f"{AT}0"),
        ("/s1", f"{AT}2", f"{AT}s1"),
    ]


def test_any_task_in_a_branch() -> None:
    is_any = traces.naming_any(FINDER)
    assert [is_any(each) for each in ("feat/Z.9", "feat/z.9", "main", "v1.2")] == [
        *(True, True, False, False)
    ]
