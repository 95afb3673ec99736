"""Which tasks a commit is about, by its message."""

from __future__ import annotations

import pytest

from tether.evidence import model
from tether.evidence.history import commit_messages
from tether.tasks.sources import patterns

FINDER = patterns.Finder(
    patterns.Kinds(
        ("work", "track", "speckit"), ("PROJ-#",), (("backlog", "task"), ("beads", "bd"))
    )
)
OWN = "T20261115-abc123"


def about(
    subject: str, body: str = "", *, is_merge: bool = False, is_work: bool = True
) -> dict[str, str]:
    """The kind of evidence for each task that a commit names."""
    found = commit_messages.read(FINDER, subject, body, is_merge=is_merge, is_work=is_work)
    assert len({(each.source, each.id) for each in found}) == len(found), "each once"
    return {f"{each.source}:{each.id}": each.kind for each in found}


def worked(*keys: str) -> dict[str, str]:
    return dict.fromkeys(keys, model.WORKED)


@pytest.mark.parametrize(
    ("subject", "keys"),
    [
        (f"[{OWN}] Parse", [f"work:{OWN}"]),
        (f"{OWN}-2: A follow-up", [f"work:{OWN}-2"]),
        ("feat(H.13.9): Parse", ["track:H.13.9"]),
        ("feat(H.13.9)!: Parse", ["track:H.13.9"]),
        ("feat(H.13.9, H.13.10): Parse", ["track:H.13.9", "track:H.13.10"]),
        ("feat(H.13.9,H.13.10): Parse", ["track:H.13.9", "track:H.13.10"]),
        ("H.13.9 Parse", ["track:H.13.9"]),
        ("H.13.9: Parse", ["track:H.13.9"]),
        ("Parse, for H.13.9", ["track:H.13.9"]),
        ("Parse, for H.13.9.", ["track:H.13.9"]),
        ("Parse (H.13.9)", ["track:H.13.9"]),
        ("H.13.9 and H.13.9 again", ["track:H.13.9"]),
        ("H.13.9/H.13.10", ["track:H.13.9", "track:H.13.10"]),
        ("AA.1.2.3.4 deep", ["track:AA.1.2.3.4"]),
        ("T012 Sign in", ["speckit:T012"]),
        ("PROJ-7: Parse", ["work:PROJ-7"]),
        ("task-7 - Parse", ["backlog:TASK-7"]),
        ("bd-a1b2: Parse", ["beads:bd-a1b2"]),
        ('Revert "feat(H.13.9): Parse"', ["track:H.13.9"]),
        ("fixup! feat(H.13.9): Parse", ["track:H.13.9"]),
        # The ends of a range; what is between them is not named.
        ("H.1.1-H.1.3 All of it", ["track:H.1.1", "track:H.1.3"]),
        ("H.1.1–H.1.3 All of it", ["track:H.1.1", "track:H.1.3"]),
    ],
)
def test_a_subject_says_what_was_worked_on(subject: str, keys: list[str]) -> None:
    assert about(subject) == worked(*keys)


@pytest.mark.parametrize(
    "subject",
    [
        "Go on",
        "",
        "Release v2.1.0",
        "Release 2.1.0 of the U.S. edition",
        "Bump lib to 1.H.2",
        "B.1.2.3.4.5 is too deep",
        "h.13.9 in small letters",
        "ABC.1 has too many letters",
        "H.0 and H.01 are none",
        "T20261115-abc12 is too short",
        "T01234 is a number",
        "BD-1 is none of beads",
        "e.g. this, i.e. that",
    ],
)
def test_what_looks_like_an_id_is_none(subject: str) -> None:
    assert about(subject) == {}


def test_an_id_is_matched_exactly() -> None:
    assert about("feat(H.13.9.7): Parse") == worked("track:H.13.9.7")
    assert about("feat(H.13.90): Parse") == worked("track:H.13.90")


# Trailers


@pytest.mark.parametrize(
    ("body", "keys"),
    [
        ("Task: H.1.1", ["track:H.1.1"]),
        ("task: H.1.1", ["track:H.1.1"]),
        ("TASK: H.1.1", ["track:H.1.1"]),
        ("Task:H.1.1", ["track:H.1.1"]),
        ("Task: H.1.1.", ["track:H.1.1"]),
        ("Task: track:H.1.1", ["track:H.1.1"]),
        ("Task: kiro:login.1", ["kiro:login.1"]),
        ("Task: speckit:001-login.T012", ["speckit:001-login.T012"]),
        (f"Task: {OWN}", [f"work:{OWN}"]),
        (f"Task: work:{OWN}", [f"work:{OWN}"]),
        ("Task: T-1", ["work:T-1"]),
        ("Task: work:T-1", ["work:T-1"]),
        ("Task: H.1.1, H.1.2", ["track:H.1.1", "track:H.1.2"]),
        ("Tasks: H.1.1 H.1.2", ["track:H.1.1", "track:H.1.2"]),
        ("Task: H.1.1\nTask: H.1.2", ["track:H.1.1", "track:H.1.2"]),
        ("Task: H.1.1\nTask: kiro:a.1", ["track:H.1.1", "kiro:a.1"]),
        ("Task: H.1.1\r\nSigned-off-by: A <a@example.com>\r", ["track:H.1.1"]),
        ("Why.\n\nSigned-off-by: A <a@example.com>\nTask: H.1.1", ["track:H.1.1"]),
        ("Task-Id: H.1.1", ["track:H.1.1"]),
        ("Fixes: H.1.1", ["track:H.1.1"]),
        ("Closes: TASK-7", ["backlog:TASK-7"]),
    ],
)
def test_a_trailer_says_what_was_worked_on(body: str, keys: list[str]) -> None:
    assert about("Parse", body) == worked(*keys)


@pytest.mark.parametrize(
    "body",
    [
        "Task: nowhere:X-1",
        "Task: kiro:../../etc",
        "Task: see below",
        "Task: the 3rd one",
        "Closes: 42",
        "Task:",
        "Tasking: T-1",
    ],
)
def test_a_trailer_that_names_no_task_says_nothing(body: str) -> None:
    assert about("Parse", body) == {}


def test_a_trailer_counts_more_than_the_story() -> None:
    body = "H.1.1 needed this, and so did H.1.2.\n\nTask: H.1.1"
    assert about("Parse", body) == {"track:H.1.1": "worked", "track:H.1.2": "mentioned"}


def test_a_trailer_counts_more_than_a_long_subject() -> None:
    subject = " ".join(f"H.1.{number}" for number in range(1, 11))
    found = about(subject, "Task: H.1.1")
    assert found.pop("track:H.1.1") == model.WORKED
    assert set(found.values()) == {model.LISTED}


# The body


def test_an_id_in_the_body_is_a_mention() -> None:
    assert about("Parse", "As in H.1.1.") == {"track:H.1.1": "mentioned"}
    [found] = commit_messages.read(FINDER, "Parse", "H.1.1", is_merge=False, is_work=True)
    assert found.start == -1, "it is not in the subject"


@pytest.mark.parametrize(
    "body",
    [
        "Closes H.1.1",
        "It all works. Fixes H.1.1, closes H.2.1.",
        "This implements task H.1.1.",
        "- Resolves: H.1.1",
        "- Add failing tests for H.1.1",
        "* H.1.1: test it",
        "* [H.1.1] Test it",
        "H.1.1 - test it",
        "Read it once (H.1.1).",
        "https://example.com/browse/H.1.1",
        "Task H.1.1 was not found.\nCloses H.1.1",
        "Part of H.2.1, H.1.1 and H.1.2",
        "Issue: H.1.1",
    ],
)
def test_a_body_says_what_is_done(body: str) -> None:
    assert ("H.1.1", "mentioned", "committed") in said_of("Parse", body)


@pytest.mark.parametrize(
    "body",
    [
        "As in H.1.1.",
        "This preserves H.1.1's intent, which introduced the reset.",
        "(similar to H.1.1, thanks)",
        "Related to H.1.1 verification.",
        "Task H.1.1 was not found.",
        "H.1.1 covers the board.",
        "Since H.1.1\nit is twice as fast.",
        "Closes nothing; see H.1.1",
        "Closes H.1.2 but not H.1.1",
    ],
)
def test_a_body_names_what_it_is_not_about(body: str) -> None:
    assert ("H.1.1", "mentioned", "named") in said_of("Parse", body)


@pytest.mark.parametrize(
    "body",
    [
        "* H.1.1: this is a line of its output",
        "H.1.1",
        "Read it once (H.1.1).",
        "The first step of [H.1.1](https://example.com/browse/H.1.1).",
    ],
)
def test_a_body_whose_subject_names_a_task_has_to_say_so_of_others(body: str) -> None:
    assert ("H.1.1", "mentioned", "named") in said_of("H.2.1: parse", body)
    assert ("H.1.1", "mentioned", "committed") in said_of("H.2.1: parse", "Closes H.1.1")


def said_of(subject: str, body: str) -> list[tuple[str, str, str]]:
    found = commit_messages.read(FINDER, subject, body, is_merge=False, is_work=True)
    return [(each.id, each.kind, each.what) for each in found]


def test_many_ids_in_the_body_are_a_list() -> None:
    body = "\n".join(f"- H.1.{number}" for number in range(1, 6))
    assert set(about("Parse", body).values()) == {model.LISTED}


def test_an_id_in_pasted_text_is_a_list() -> None:
    assert about("Parse", "```\nH.1.1\n```\n") == {"track:H.1.1": "listed"}


def test_the_subject_counts_more_than_the_body() -> None:
    assert about("H.1.1 Parse", "H.1.1 again") == worked("track:H.1.1")


# Merges


@pytest.mark.parametrize(
    "subject",
    [
        "Merge branch 'feat/H.13.9-foo'",
        "Merge branch 'H.13.9' into main",
        "Merge branch 'feat/H.13.9-foo' of example.com:x/y",
        "Merge branches 'feat/H.13.9' and 'other'",
        "Merge pull request #3 from x/H.13.9",
        "Merge remote-tracking branch 'origin/feat/H.13.9-foo'",
        "Merge remote-tracking branches 'origin/H.13.9' and 'origin/other'",
        "Merge tag 'H.13.9'",
        "Merge commit 'abc' into H.13.9",
    ],
)
def test_the_branch_of_a_merge_is_a_statement(subject: str) -> None:
    [found] = commit_messages.read(FINDER, subject, "", is_merge=True, is_work=True)
    assert (found.id, found.kind, found.what) == ("H.13.9", model.STATED, "merged")


def test_a_merge_with_words_of_its_own_is_work() -> None:
    assert about("feat(H.1.1): Bring both together", is_merge=True) == worked("track:H.1.1")


def test_only_a_merge_is_one() -> None:
    assert about("Merge branch 'feat/H.13.9-foo'") == worked("track:H.13.9")


# Commits that change task lists only


def test_a_commit_of_lists_alone_is_a_statement() -> None:
    assert about("Tick H.1.1", is_work=False) == {"track:H.1.1": "stated"}
    assert about("Tick", "Task: H.1.1", is_work=False) == {"track:H.1.1": "stated"}
    assert about("Tick", "H.1.1", is_work=False) == {"track:H.1.1": "mentioned"}


# Many


@pytest.mark.parametrize("is_work", [True, False])
def test_a_subject_with_ten_ids_is_a_list(is_work: bool) -> None:
    ids = [f"H.1.{number}" for number in range(1, 11)]
    kind = model.WORKED if is_work else model.STATED
    assert set(about(" ".join(ids[:9]), is_work=is_work).values()) == {kind}
    ten = about(" ".join(ids), is_work=is_work)
    assert (len(ten), set(ten.values())) == (10, {model.LISTED})
    assert set(about(" ".join(ids[:9] * 2), is_work=is_work).values()) == {kind}, "nine, twice"


@pytest.mark.parametrize(
    ("subject", "own", "taken_back"),
    [
        ("Revert PROJ-1", (), ("PROJ-1",)),
        ("reverting PROJ-1 patch since it breaks the build", (), ("PROJ-1",)),
        ("Reverting: PROJ-1. Call it at the beginning", (), ("PROJ-1",)),
        ("Revert 1380931: PROJ-1 close it", (), ("PROJ-1",)),
        ("Reverting changes from r1661762 (PROJ-1) for now", (), ("PROJ-1",)),
        ("Back out PROJ-1", (), ("PROJ-1",)),
        ("revert: feat(PROJ-1): close it", (), ("PROJ-1",)),
        ("PROJ-2: Revert PROJ-1", ("PROJ-2",), ("PROJ-1",)),
        ("revert PROJ-1; PROJ-2 does better", ("PROJ-2",), ("PROJ-1",)),
        ('revert "PROJ-1: add it" and add "PROJ-2: the other" instead', ("PROJ-2",), ("PROJ-1",)),
        ("PROJ-1: Revert to the old table", ("PROJ-1",), ()),
        ("PROJ-1 reverts the table", ("PROJ-1",), ()),
        ("Reverted PROJ-1, small build issue", (), ("PROJ-1",)),
        ("reverted: PROJ-1. It failed here", (), ("PROJ-1",)),
        ("Reverted rows are shown (PROJ-1)", ("PROJ-1",), ()),
        ("Undoable edits for PROJ-1", ("PROJ-1",), ()),
    ],
)
def test_who_takes_back_what_a_task_did_works_on_another_one(
    subject: str, own: tuple[str, ...], taken_back: tuple[str, ...]
) -> None:
    found = commit_messages.read(FINDER, subject, "", is_merge=False, is_work=True)
    what = {each.id: each.what for each in found}
    said = {name for name, each in what.items() if each == commit_messages.REVERTED}
    assert (what.keys() - said, said) == (set(own), set(taken_back))


def test_what_a_body_refers_to_is_worked_on_unless_the_subject_names_a_task() -> None:
    def of(subject: str) -> dict[str, str]:
        body = "Since PROJ-1.\n\nRefs: PROJ-2, PROJ-3"
        found = commit_messages.read(FINDER, subject, body, is_merge=False, is_work=True)
        return {each.id: each.what for each in found}

    named, done = commit_messages.NAMED, "committed"
    assert of("Fix it") == {"PROJ-1": named, "PROJ-2": done, "PROJ-3": done}
    assert of("PROJ-2: Fix it") == {"PROJ-1": named, "PROJ-2": done, "PROJ-3": named}


@pytest.mark.parametrize(
    ("subject", "task", "is_named"),
    [
        ("feat(frost-alarm): ring", "frost-alarm", True),
        ("[frost-alarm] ring", "frost-alarm", True),
        ("frost-alarm: ring", "frost-alarm", True),
        ("fix(api, frost-alarm): ring", "frost-alarm", True),
        ("The frost-alarm rings", "frost-alarm", False),  # a word of the language
        ("feat(frost-alarm-two): ring", "frost-alarm", False),
        ("feat(001-login.T003): env", "001-login.T003", True),
        ("Do 001-login.T003.", "001-login.T003", True),
        ("Do 001-login.T003.1", "001-login.T003", False),
        ("Do x001-login.T003", "001-login.T003", False),
        ("speckit:001-login.T003 env", "001-login.T003", True),
        ("Do BUG7 and T-12", "BUG7", True),
        ("Do BUG7 and T-12", "T-12", True),
        ("Fix 2 bugs", "2", False),
        ("Release 1.2", "1.2", False),
        ("Move to v2", "v2", False),
        ("test: more", "test", False),
        ("fix(test): more", "test", True),
        ("door!: open", "door", True),
        ("add-login.1.1 schema", "add-login.1.1", True),
        ("add-login.1.10 schema", "add-login.1.1", False),
    ],
)
def test_any_id_is_named_by_a_label_or_in_full(subject: str, task: str, is_named: bool) -> None:
    assert commit_messages.names(subject, task) == is_named


def test_a_range_of_ids_names_each() -> None:
    finder = patterns.Finder(patterns.Kinds(("speckit",)))

    def told(subject: str) -> list[str]:
        found = commit_messages.read(finder, subject, "", is_merge=False, is_work=True)
        return sorted(each.id for each in found)

    assert told("Forms (T017-T019) (#420)") == ["T017", "T018", "T019"]
    assert told("Forms (T017-T017)") == ["T017"]
    assert told("Forms (T001-T900)") == ["T001", "T900"]


@pytest.mark.parametrize(
    ("subject", "body", "whats"),
    [
        ('Revert "PROJ-7: Parse"', "", {"PROJ-7": "reverted"}),
        ('Reapply "PROJ-7: Parse"', "", {"PROJ-7": "reverted"}),
        ('PROJ-8: Revert "PROJ-7: Parse"', "", {"PROJ-8": "committed", "PROJ-7": "reverted"}),
        ('Revert "PROJ-7: Parse" (PROJ-8)', "", {"PROJ-7": "reverted", "PROJ-8": "committed"}),
        ('Revert "PROJ-7: Parse"', "Task: PROJ-8", {"PROJ-7": "reverted", "PROJ-8": "committed"}),
        ('Revert "PROJ-7: Parse"', "Task: PROJ-7", {"PROJ-7": "committed"}),
    ],
)
def test_a_title_that_is_reverted_was_work_of_another_commit(
    subject: str, body: str, whats: dict[str, str]
) -> None:
    found = commit_messages.read(FINDER, subject, body, is_merge=False, is_work=True)
    assert {each.id: each.what for each in found} == whats
