"""The resume packet: what it says, in which order, and how much of it fits."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from tether import git, ids
from tether.agents import model as agents
from tether.brief import fitting, handoff
from tether.evidence import model, recall, stretches, timeline
from tether.evidence.unfinished import branches, lost
from tether.evidence.unfinished import reading as unfinished

KEY = ids.TaskKey("track", "H.1.1")
AT = "2026-11-01T00:00:00.000Z"
COMMIT = model.Activity(
    *("git:commit", "commit:abc", "abc", AT, model.WORKED, "committed", "H.1.1", "track"),
    text="Build it",
    files=("house.py",),
)
EDIT = model.Activity(
    *("claude:transcript", "file:t#bytes=0-9", "r1", AT, model.WORKED, "edited"),
    *("H.1.1", "track", "s1"),
    files=("/repo/house.py",),
)
BRANCH = branches.Branch("side", "abc", 2, AT, ("One", "Two"))
NOTHING = git.Uncommitted((), (), (), ())
UNKNOWN = "not known for which task"
STASH = git.Stash(git.Oid("a" * 40), 1_793_491_200_000, "main", "On main: Half a wall")
CLAIM = agents.Claim(
    *("track", "H.1.1", 7, "s1", "ada", AT, AT, AT, "released", "s1", "/repo", "main"),
    *(None, "The walls stand.", AT, None),
)


def subject(state: str = "new", **more: Any) -> handoff.Subject:
    return handoff.Subject(KEY, "Build it", state, "TRACK-H.md:3", **more)


def evidence(
    *activities: model.Activity, state: str = "new", said: str = "", **more: Any
) -> handoff.Evidence:
    line = timeline.Timeline(KEY, activities, ())
    if said:
        more["recalled"] = recall.Recalled([recall.Said(AT, said, "file:t")], [])
    return handoff.Evidence(subject(state), line, **more)


def dirty(
    *paths: str, others: tuple[str, ...] = (), is_own: bool = True, **more: Any
) -> unfinished.Unfinished:
    own, rest = (NOTHING._replace(changed=each) for each in (paths, others))
    checkout = unfinished.Checkout("/repo", "main", is_own, own, rest)
    return unfinished.Unfinished(checkouts=(checkout,), **more)


def said_of(found: handoff.Evidence) -> list[str]:
    return handoff.contradictions(found)


# Contradictions


def test_where_all_agree_nothing_is_said() -> None:
    assert said_of(evidence()) == []
    assert said_of(evidence(COMMIT, EDIT)) == []
    assert said_of(evidence(COMMIT, EDIT, state="done")) == []


def test_done_without_work() -> None:
    [said] = said_of(evidence(state="done"))
    assert "nothing shows that anybody worked on it" in said
    mention = COMMIT._replace(kind=model.MENTIONED)
    assert len(said_of(evidence(mention, state="done"))) == 1, "talk is no work"
    ticked = COMMIT._replace(kind=model.STATED, source="git:list")
    assert len(said_of(evidence(ticked, state="done"))) == 1, "that is what says that it is done"
    assert said_of(evidence(COMMIT._replace(kind=model.STATED), state="done")) == []
    branched = unfinished.Unfinished(is_branched=True)
    assert said_of(evidence(state="done", left=branched)) == []


def test_done_with_uncommitted_files() -> None:
    [said] = said_of(evidence(COMMIT, state="done", left=dirty("a.py", "b.py")))
    assert "not committed: a.py, b.py" in said


@pytest.mark.parametrize("kind", ["staged", "changed", "deleted", "untracked"])
def test_every_kind_of_uncommitted_file_counts(kind: str) -> None:
    own = NOTHING._replace(**{kind: ("a.py",)})
    checkout = unfinished.Checkout("/repo", "main", True, own, NOTHING)
    left = unfinished.Unfinished(checkouts=(checkout,))
    assert len(said_of(evidence(COMMIT, state="done", left=left))) == 1


def test_files_of_another_task_contradict_nothing() -> None:
    left = dirty(others=("other.py",), is_own=False)
    assert said_of(evidence(COMMIT, state="done", left=left)) == []
    assert said_of(evidence(COMMIT, said="All done!", left=left)) == []


def test_done_on_a_branch_that_is_not_merged() -> None:
    left = unfinished.Unfinished(branches=(BRANCH,))
    [said] = said_of(evidence(COMMIT, state="done", left=left))
    assert said == "It is marked done, but side is not merged."
    left = unfinished.Unfinished(branches=(BRANCH, BRANCH._replace(name="other")))
    [said] = said_of(evidence(COMMIT, state="done", left=left))
    assert said == "It is marked done, but side, other are not merged."


@pytest.mark.parametrize("subject", ["feat: finishes it", "H.1.1 done", "Completes H.1.1", "DONE"])
def test_a_commit_that_ends_what_is_not_done(subject: str) -> None:
    found = said_of(evidence(COMMIT._replace(text=subject)))
    assert found == ["A commit says that it is finished, but it is not marked done."]
    assert said_of(evidence(COMMIT._replace(text=subject), state="done")) == []


@pytest.mark.parametrize(
    "subject", ["Abandoned carts", "Undone", "Close the door", "Finish the house"]
)
def test_a_commit_that_ends_nothing(subject: str) -> None:
    assert said_of(evidence(COMMIT._replace(text=subject))) == []


def test_a_commit_that_only_mentions_the_task_ends_nothing() -> None:
    found = COMMIT._replace(text="Finish another", kind=model.MENTIONED)
    assert said_of(evidence(found)) == []


@pytest.mark.parametrize("words", ["All done!", "I committed and pushed it."])
def test_last_words_that_sound_finished(words: str) -> None:
    left = dirty("house.py")
    [said] = said_of(evidence(said=words, left=left))
    assert said.startswith("The last words sound finished, but not committed is: ")
    assert said_of(evidence(said=words)) == []


@pytest.mark.parametrize(
    "words", ["It is not done.", "3 files are uncommitted.", "I abandoned it.", "All tests pass."]
)
def test_last_words_that_do_not(words: str) -> None:
    assert said_of(evidence(said=words, left=dirty("house.py"))) == []


def test_edits_that_git_shows_nowhere() -> None:
    house = lost.Lost("house.py", AT, True)
    [said] = said_of(evidence(EDIT, lost=(house,)))
    assert said == (
        "house.py was edited at 2026-11-01 00:00Z and is in no commit since, nor uncommitted:"
        " the edit may be lost."
    )
    [said] = said_of(evidence(EDIT, lost=(house, house._replace(path="roof.py"))))
    assert said == (
        "house.py, roof.py were edited last at 2026-11-01 00:00Z and are in no commit since, nor"
        " uncommitted: the edits may be lost."
    )
    [said] = said_of(evidence(EDIT, lost=(house._replace(is_there=False),)))
    assert said == (
        "house.py was edited at 2026-11-01 00:00Z, but is neither there nor in a commit since:"
        " removed, or lost."
    )


# Sections


def test_what_there_is_to_say_in_its_order() -> None:
    recalled = recall.Recalled(
        [recall.Said(AT, "I begin.", "file:t"), recall.Said(AT, "I stop.", "file:t")],
        [recall.Failed(AT, "make", "no rule", "file:t")],
    )
    found = evidence(
        COMMIT._replace(text="Finish it"),
        EDIT,
        last=CLAIM,
        recalled=recalled,
        left=dirty(
            "house.py", branches=(BRANCH,), stashes=(unfinished.Stashed(STASH, is_own=True),)
        ),
        notes=(handoff.Note(AT, "ada", "Mind the roof.", "event:1"),),
    )
    found = found._replace(subject=subject(paragraphs=(("plan", "One\n\nTwo"),), unmet=("Fast",)))
    made = {each.name: [line.text for line in each.lines] for each in handoff.sections(found)}
    assert list(made) == [
        *("task", "stopped", "contradictions", "notes", "unmet", "left", "said", "failed"),
        *("files", "done"),
    ]
    assert made["task"] == ["track:H.1.1: Build it (new)", "plan: One", "plan: Two"]
    when = "2026-11-01 00:00Z"
    assert made["stopped"] == [
        f"ada claimed it at {when}, in /repo on main; released at {when}.",
        "Last checkpoint, 2026-11-01 00:00Z: The walls stand.",
        "Last worked on 2026-11-01 00:00Z.",
    ]
    assert made["notes"] == ["2026-11-01 00:00Z ada: Mind the roof."]
    assert made["unmet"] == ["Fast"]
    assert made["left"] == [
        "changed in /repo on main: house.py",
        "branch side, not merged, 2 commits: One; Two",
        "stashed at 2026-11-01 00:00Z: On main: Half a wall",
    ]
    assert made["said"] == ["2026-11-01 00:00Z I stop.", "2026-11-01 00:00Z I begin."]
    assert made["failed"] == ["2026-11-01 00:00Z make: no rule"]
    assert made["files"] == ["/repo/house.py, 1 edit, last 2026-11-01 00:00Z"]
    assert made["done"] == ["2026-11-01 00:00Z committed Finish it"]


def left_of(found: handoff.Evidence) -> list[str]:
    made = {each.name: [line.text for line in each.lines] for each in handoff.sections(found)}
    return made.get("left", [])


def test_of_a_shared_checkout_the_own_files_come_first() -> None:
    left = dirty("house.py", others=("a.py", "b.py"), is_own=False)
    assert left_of(evidence(left=left)) == [
        "changed in /repo on main, of files that this task touched: house.py",
        f"also uncommitted in /repo, {UNKNOWN}: changed a.py, b.py",
    ]
    left = dirty(others=tuple(f"{n}.py" for n in range(15)), is_own=False)
    [told] = left_of(evidence(left=left))
    assert told.startswith(f"uncommitted in /repo, {UNKNOWN}: ")
    assert told.endswith("11.py and 3 more")


def test_a_stash_that_may_be_of_another_task_is_told_as_one() -> None:
    left = unfinished.Unfinished(stashes=(unfinished.Stashed(STASH, is_own=False),))
    assert left_of(evidence(left=left)) == [
        f"stashed at 2026-11-01 00:00Z on main, {UNKNOWN}: On main: Half a wall"
    ]


def test_where_nobody_could_look_is_said() -> None:
    left = unfinished.Unfinished(problems=("/linked: Git ended with an error.",))
    assert left_of(evidence(left=left)) == ["Not looked at: /linked: Git ended with an error."]
    assert left_of(evidence(last=CLAIM, why_not="this directory is gone")) == [
        "Its files were not looked at: this directory is gone."
    ]
    assert left_of(evidence(last=CLAIM)) == [
        "Nothing is uncommitted, unmerged or stashed in /repo."
    ]
    left = unfinished.Unfinished(knows_main=False, more=("and 3 more branches",))
    assert left_of(evidence(last=CLAIM, left=left)) == [
        "and 3 more branches",
        "It is not known which branch is the main one, so nothing can be said of what is unmerged.",
    ]


def test_without_the_transcript_the_kept_failures_are_told() -> None:
    kept = EDIT._replace(what="failed", text="Exit code 2 no rule", files=())
    found = evidence(kept, kept._replace(text=""), kept._replace(kind=model.LISTED))
    failed = {each.name: each for each in handoff.sections(found)}["failed"]
    assert [line.text for line in failed.lines] == [
        "2026-11-01 00:00Z a tool failed",
        "2026-11-01 00:00Z Exit code 2 no rule",
    ]


def test_that_there_is_nothing_is_said_in_one_line() -> None:
    silent = "Nothing shows work on it: no commit, no session, no claim."
    for found in (evidence(), evidence(EDIT._replace(kind=model.LISTED))):
        [task, stopped] = handoff.sections(found)
        assert (task.name, [line.text for line in stopped.lines]) == ("task", [silent])
    branched = unfinished.Unfinished(is_branched=True)
    for found in (evidence(left=branched), evidence(EDIT._replace(kind=model.MENTIONED))):
        assert silent not in str(handoff.sections(found))


def test_how_a_session_ended() -> None:
    session = model.Session(
        "s1", "claude:transcript", "file:t", compactions=2, compacted_at=AT, ending="limited",
        resets_at=AT,
    )  # fmt: skip
    [_, stopped] = handoff.sections(evidence(session=session))
    compacted, limited = (line.text for line in stopped.lines)
    assert compacted.startswith("Its session was compacted 2 times, last at 2026-11-01 00:00Z:")
    assert limited == "Its session stopped at a usage limit until 2026-11-01 00:00Z."
    [_, stopped] = handoff.sections(evidence(session=session, whose="The session of ada"))
    assert stopped.lines[0].text.startswith("The session of ada was compacted 2 times")


def test_how_a_session_ended_that_had_gone_on_to_another_task_is_not_told() -> None:
    session = model.Session(
        "s1", "claude:transcript", "file:t", compactions=2, compacted_at=AT, ending="mid_turn",
        last_at=AT,
    )  # fmt: skip
    before = (stretches.Stretch("", "2026-10-31T00:00:00.000Z"),)
    found = evidence(COMMIT, session=session, times=before)
    [_, stopped, _] = handoff.sections(found)
    assert [line.text for line in stopped.lines] == ["Last worked on 2026-11-01 00:00Z."]


def test_an_open_claim_is_told_with_its_verdict() -> None:
    open_ = CLAIM._replace(closed_at=None, outcome=None)
    [_, stopped, _] = handoff.sections(evidence(last=open_, verdict="dead: no such process"))
    assert "; still open (dead: no such process)." in stopped.lines[0].text


def test_without_the_transcript_the_kept_words_are_told() -> None:
    kept = EDIT._replace(kind=model.MENTIONED, what="said", text="H.1.1 is next.")
    [_, said] = handoff.sections(evidence(kept))
    assert (said.name, said.lines[0].text) == ("said", "2026-11-01 00:00Z H.1.1 is next.")
    session = model.Session("s1", "claude:transcript", "file:t", last_at=AT, last_said="Bye.")
    [*_, said] = handoff.sections(evidence(session=session))
    assert (said.name, said.lines[0].text) == ("said", "Bye.")
    before = (stretches.Stretch("", "2026-10-31T00:00:00.000Z"),)
    assert "Bye." not in str(handoff.sections(evidence(session=session, times=before)))


def test_secrets_are_gone_before_anything_is_measured() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    found = evidence()._replace(subject=subject(paragraphs=(("plan", f"Use {secret}"),)))
    packet = handoff.packet(found, 1000)
    assert secret not in repr(packet)


# What fits

texts = st.text(alphabet="abc é\n", max_size=80)
lines = st.builds(fitting.Line, texts, st.sampled_from(["", "commit:abc", "file:x#bytes=1-2"]))
names = ["task", "stopped", "contradictions", "notes", "unmet", "left", "said", "failed", "files"]


@st.composite
def packets(draw: st.DrawFn) -> list[fitting.Section]:
    chosen = draw(st.lists(st.sampled_from(names), unique=True, max_size=6))
    return [
        fitting.Section(name, tuple(draw(st.lists(lines, min_size=1, max_size=6))))
        for name in chosen
    ]


def chars(packet: fitting.Packet) -> int:
    """At least what it takes to show it, a line of how much is left out included."""
    below = fitting.LINE_CHARS
    return sum(
        fitting.HEADING_CHARS
        + sum(len(line.text) + len(line.short_source) + below for line in section.lines)
        for section in packet.sections
    )


@hypothesis.given(packets(), st.integers(0, 2000))
def test_what_fits_is_never_more_than_there_is_room_for(
    found: list[fitting.Section], room: int
) -> None:
    packet = fitting.fit(found, room)
    assert chars(packet) <= max(0, room - fitting.REST_CHARS)
    taken = {each.name: each.lines for each in packet.sections}
    given = {each.name: each.lines for each in found}
    assert [name for name in given if name in taken] == list(taken), "in the given order"
    for name, kept in taken.items():
        assert kept, "no heading without a line"
        assert kept == given[name][: len(kept)], "nothing comes after a gap"
    total = sum(map(len, given.values()))
    assert packet.left_out == total - sum(map(len, taken.values()))


@hypothesis.given(packets())
def test_where_there_is_room_everything_fits(found: list[fitting.Section]) -> None:
    packet = fitting.fit(found, 100_000)
    assert (list(packet.sections), packet.left_out) == (found, 0)


@hypothesis.given(packets(), st.integers(0, 1500))
def test_more_room_is_never_fewer_sections(found: list[fitting.Section], room: int) -> None:
    equal = [
        each._replace(lines=tuple(fitting.Line("x" * 40) for _ in each.lines)) for each in found
    ]
    less, more = fitting.fit(equal, room), fitting.fit(equal, room + 100)
    assert len(less.sections) <= len(more.sections)
    assert less.left_out >= more.left_out


def test_the_first_line_of_every_section_comes_before_the_second_of_any() -> None:
    section = [fitting.Section(name, (fitting.Line("x" * 40),) * 3) for name in ("a", "b", "c")]
    first = 40 + fitting.LINE_CHARS + fitting.HEADING_CHARS
    packet = fitting.fit(section, 3 * first + 40 + fitting.LINE_CHARS + fitting.REST_CHARS)
    assert [(each.name, len(each.lines)) for each in packet.sections] == [
        ("a", 2),
        ("b", 1),
        ("c", 1),
    ]
    assert packet.left_out == 5


def test_a_line_that_does_not_fit_ends_its_section_and_no_other() -> None:
    long, short = fitting.Line("x" * 500), fitting.Line("y")
    found = [fitting.Section("a", (short, long, short)), fitting.Section("b", (short, short))]
    packet = fitting.fit(found, 300)
    assert [(each.name, len(each.lines)) for each in packet.sections] == [("a", 1), ("b", 2)]
