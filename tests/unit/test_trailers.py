"""A trailer in a commit message: as Git itself would add it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from tests import scale
from tether.git import trailers

SCISSORS = "# ------------------------ >8 ------------------------"
ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C.UTF-8",
}


def added(message: str, comment: str = "#") -> str:
    return trailers.with_trailer(message, "Task", "H.1.1", comment)


def by_git(message: str, directory: Path, comment: str = "#") -> str:
    options = ["--no-divider", "--trailer", "Task: H.1.1"]
    done = subprocess.run(
        ["git", "-c", f"core.commentChar={comment}", "interpret-trailers", *options],
        cwd=directory, env=ENVIRON, input=message.encode(), capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout.decode()


@pytest.mark.parametrize(
    "message",
    [
        "Subject\n",
        "Subject\n\nBody.\n",
        "Subject\nthat goes on\n",
        "Subject\n\nBody.\n\nMore.\n",
        "feat: Subject\n",
        "feat: Subject\nReviewed-by: A\n",
        "Subject\n\nReviewed-by: A\n",
        "Subject\n\nBody.\n\nSigned-off-by: A <a@example.com>\n",
        "Subject\n\nReviewed-by: A\nAcked-by: B\n",
        "Subject\n\nReviewed-by: A\n\nAcked-by: B\n",
        "Subject\n\nReviewed-by: A\n  and others\n",
        "Subject\n\nSigned-off-by: A\n(cherry picked from commit abc)\n",
        "Subject\n\nSigned-off-by: A\n[ada: changed a word]\n",
        "Subject\n\nSigned-off-by: A\none\ntwo\nthree\n",
        "Subject\n\nSigned-off-by: A\none\ntwo\nthree\nfour\n",
        "Subject\n\nBody: is here\nand goes on\n",
        "Subject\n\n  Indented: A\n",
        "Subject\n\nBody.\n---\n file | 2 +-\n",
        "Subject\n\nAn_odd: name\n",
        "Subject\n\nReviewed-by: A\n\n\n",
        "Subject\n\nBody.\n\n# A comment\n#\n# Another\n",
        "Subject\n# A comment\n",
        "Subject\n\nReviewed-by: A\n# A comment\n",
        "Subject\n\nReviewed-by: A\n\n\n# A comment\n# Another\n",
        f"Subject\n\n{SCISSORS}\n# Do not touch.\ndiff --git a/a b/a\n",
        f"Subject\n\nReviewed-by: A\n{SCISSORS}\n# Do not touch.\nReviewed-by: B\n",
        "\n\nSubject\n",
        "# A comment\nSubject\n",
        "# A comment\n\nSubject\n\nReviewed-by: A\n",
        "Ein Größenänderer — ✓\n\nReviewed-by: Ä\n",
        "Subject\r\n\r\nBody.\r\n",
    ],
)
def test_it_is_added_as_git_does(message: str, tmp_path: Path) -> None:
    assert added(message) == by_git(message, tmp_path)


lines = st.sampled_from(
    [
        *("Some words", "and more of them.", "", "", "  indented", "\tby a tab", "- a point"),
        *("Reviewed-by: A", "Acked-by: B <b@example.com>", "Signed-off-by: A", "Key: value"),
        *("(cherry picked from commit abc)", "not_one: x", "Two words: x", ": x"),
    ]
)
comments = st.lists(st.sampled_from(["# On branch main", "#", "# Task: H.1.1"]), max_size=3)


@hypothesis.settings(max_examples=scale.count(3000, 60), derandomize=True)
@hypothesis.given(subject=st.sampled_from(["Subject", "feat: Subject"]),
                  body=st.lists(lines, max_size=8), rest=comments)  # fmt: skip
def test_it_is_added_as_git_does_to_any_message(
    subject: str, body: list[str], rest: list[str]
) -> None:
    message = "\n".join([subject, *body, *rest]) + "\n"
    assert added(message) == by_git(message, Path("/"))


@hypothesis.given(st.text(alphabet="aT:# \n\r\tsk-.1H(", max_size=60))
def test_nothing_is_lost_and_nothing_is_added_twice(message: str) -> None:
    once = added(message)
    assert added(once) == once
    rest = iter(once.split("\n"))
    assert all(line in rest for line in message.split("\n")), "every line, in order"


@pytest.mark.parametrize(
    "message",
    ["", "\n", "\n \n", "# Only\n# comments\n", f"\n{SCISSORS}\ndiff --git a/a b/a\n+Words\n"],
)
def test_a_message_that_is_empty_stays_so(message: str) -> None:
    assert added(message) == message


@pytest.mark.parametrize(
    "message",
    [
        "Subject\n\nTask: H.1.1\n",
        "Subject\n\ntask: h.1.1\n",
        "Subject\n\nTask: H.1.1\nSigned-off-by: A\n",
        "Subject\n\nTask: H.1.1  \n",
        "Subject\r\n\r\nTask: H.1.1\r\n",
    ],
)
def test_one_that_is_there_is_not_added_again(message: str) -> None:
    assert added(message) == message


def test_what_stands_in_a_comment_is_not_there() -> None:
    assert added("Subject\n# Task: H.1.1\n") == "Subject\n\nTask: H.1.1\n# Task: H.1.1\n"


def test_another_value_is_another_trailer() -> None:
    assert added("Subject\n\nTask: H.1.2\n") == "Subject\n\nTask: H.1.2\nTask: H.1.1\n"


@pytest.mark.parametrize("mark", [";", "%", "!"])
def test_comments_may_begin_with_another_sign(mark: str, tmp_path: Path) -> None:
    for message in (
        f"Subject\n\nReviewed-by: A\n{mark} A comment\n",
        f"Subject\n\n# no comment\n{mark} one\n",
        f"Subject\n\n{mark}{SCISSORS[1:]}\ndiff\n",
    ):
        assert added(message, mark) == by_git(message, tmp_path, mark)


def test_a_message_without_a_line_end_gets_a_paragraph() -> None:
    assert added("Subject") == "Subject\n\nTask: H.1.1"


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("Go on\n\nBecause.\n", "Go on"),
        ("\n# A comment\n\n  Go on  \nmore\n", "Go on"),
        ("# Only comments\n", ""),
        ("", ""),
        (f"# {'-' * 24} >8 {'-' * 24}\ndiff --git a/H.1.1 b/H.1.1\n", ""),
    ],
)
def test_a_subject_is_the_first_line_that_says_something(message: str, subject: str) -> None:
    assert trailers.subject(message) == subject
