"""Does a text say that a task is finished? Sentences as agents and people write them."""

from __future__ import annotations

import time

import pytest

from tether.evidence import finished

NAMES = ("H.1.1", "G.2")
FINISHED = [
    "All done!",
    "I committed and pushed it.",
    "H.1.1 is done and everything is committed.",
    "Done.",
    "It is done.",
    "Everything is committed.",
    "I've finished H.1.1.",
    "The task is complete.",
    "H.1.1 is now complete: the parser and its tests.",
    "Task H.1.1 is finished.",
    "All changes are committed and pushed.",
    "✅ **H.1.1 is complete**",
    "Finished the task.",
    "All tests pass. Everything is done.",
    "That was the last part. H.1.1 is done!",
    "The tests pass and the task is done.",
    "G.2 is complete.",
]
OPEN = [
    "I haven't committed anything yet.",
    "Half of it is done, the rest is open.",
    "This can't be merged before H.1.2.",
    "What remains to be done: the tests.",
    "It is not done.",
    "3 files are uncommitted.",
    "I abandoned it.",
    "Going on.",
    "All tests pass.",
    "H.1.2 is done.",
    "Everything for H.1.2 is done.",
    "It is done. I haven't committed anything yet.",
    "Is it done?",
    "The parser is done.",
    "Once it is done, I commit.",
    "I finished reading the file.",
    "The first step is done.",
    "It will be done tomorrow.",
    "H.1.1 is almost finished.",
    "Tell me when it is done.",
    "I merged main into the branch.",
    "The migration is done by the caller.",
    "I call done() here.",
    "H.1.1 is done except for the tests.",
    "Committed the parser.",
    "H.1.1 is half done, the parser is left.",
]
ENDING = [
    "H.1.1 done",
    "Completes H.1.1",
    "DONE",
    "feat: finishes it",
    "feat(H.1.1): done",
    "feat(H.1.1): Finish H.1.1",
    "H.1.1: complete",
    "[H.1.1] Finished",
    "Mark H.1.1 as done",
    "Add the parser, closes H.1.1",
    "feat(H.1.1): the parser, finishes the task",
    "H.1.1 is complete",
    "chore: close task H.1.1",
    "feat(H.1.1): parser and tests; H.1.1 done",
    "Add the roof (completes H.1.1)",
]
GOING_ON = [
    "feat(H.1.1): parser calls done() and finish() of its listeners",
    "feat(H.1.1): close the file when done",
    "H.1.1: half done",
    "H.1.1 not done yet",
    "WIP H.1.1, almost finished",
    "feat(H.1.1): handle completed orders",
    "feat(H.1.1): Finish the house",
    "fix(H.1.1): finish() is called twice",
    "Completes H.1.2 for H.1.1",
    "feat(H.1.1): complete the parser",
    "Abandoned carts",
    "Undone",
    "Incomplete",
    "Close the door",
    "feat(H.1.1): show what is done",
    "feat(H.1.1): done button",
    "Prepare to finish H.1.1",
    "feat(H.1.1): Handle abandoned carts",
    "feat(H.1.1): a done callback",
    "H.1.1: first half done",
    "feat(H.1.1): mark tasks done",
]


@pytest.mark.parametrize("words", FINISHED)
def test_words_that_say_so(words: str) -> None:
    assert finished.is_said(words, NAMES)


@pytest.mark.parametrize("words", OPEN)
def test_words_that_do_not(words: str) -> None:
    assert not finished.is_said(words, NAMES)


@pytest.mark.parametrize("subject", ENDING)
def test_subjects_of_commits_that_say_so(subject: str) -> None:
    assert finished.is_committed_as(subject, NAMES)


@pytest.mark.parametrize("subject", GOING_ON)
def test_subjects_of_commits_that_do_not(subject: str) -> None:
    assert not finished.is_committed_as(subject, NAMES)


@pytest.mark.parametrize(
    "piece", ["it ", "it is ", "a: ", "[", " and ", "i have now ", "not ", "("]
)
def test_no_text_takes_long(piece: str) -> None:
    begin = time.perf_counter()
    for judge in (finished.is_said, finished.is_committed_as):
        judge(piece * 5000, NAMES)
    assert time.perf_counter() - begin < 2
