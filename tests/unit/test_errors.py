"""The error tree is as drawn, and no error tells anybody to destroy something."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tether
from tether import errors

SOURCE = Path(tether.__file__).parent
# What an agent might paste, whole, from a message into a shell or a database.
DESTRUCTIVE = re.compile(
    r"\brm\s+-|\brm\s+\S*[*/]|\brmdir\s|\bunlink\s+/|\bshred\s|\bdd\s+if=|\bmkfs\b"
    r"|\bgit\s+reset\s+--hard|\bgit\s+clean\b|\bgit\s+push\s+(?:\S+\s+)*(?:--force|-f\b)"
    r"|\bgit\s+checkout\s+(?:--\s|\.)|\bgit\s+restore\s+\.|\bgit\s+branch\s+-D"
    r"|\bgit\s+stash\s+(?:drop|clear)|\bgit\s+worktree\s+(?:remove|prune)"
    r"|\bgit\s+reflog\s+expire|\bgit\s+gc\s+--prune|\bgit\s+update-ref\s+-d"
    r"|\bdrop\s+(?:table|schema|database)\b|\bdelete\s+from\b|\btruncate\b"
    r"|(?:^|[\s`])>{1,2}\s*[\w./~]|\bchmod\s+(?:-R\s+)?0?[0-7]*7\b|\bchown\s+-R"
    r"|\bkill(?:all)?\s+-|\bpkill\b|\bsudo\b|\bcurl\b.*\|",
    re.IGNORECASE,
)


def classes(of: type[errors.TetherError] = errors.TetherError) -> list[type[errors.TetherError]]:
    """A class and those below it that the module defines, as deep as they go."""
    below = [kind for kind in of.__subclasses__() if kind.__module__ == errors.__name__]
    return [of, *(kind for child in below for kind in classes(child))]


def drawn() -> dict[str, tuple[str, str | None, str, int, bool]]:
    """The rows of the drawing: name, parent, code, exit code, retryable."""
    row = re.compile(r"(?P<branch>[│├└─ ]*)(?P<name>[A-Z]\w+) +(\w+) +([0-9])( +retryable)?")
    found: dict[str, tuple[str, str | None, str, int, bool]] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := row.fullmatch(line):
            depth = len(match["branch"]) // 4
            above = [*above[:depth], match["name"]]
            parent = above[-2] if depth else None
            name, code, number = match["name"], match[3], int(match[4])
            found[name] = (name, parent, code, number, bool(match[5]))
    return found


def real() -> dict[str, tuple[str, str | None, str, int, bool]]:
    return {
        kind.__name__: (
            kind.__name__,
            None if kind is errors.TetherError else kind.__bases__[0].__name__,
            kind.code,
            kind.exit_code,
            kind.retryable,
        )
        for kind in classes()
    }


def test_the_tree_is_as_it_is_drawn() -> None:
    assert drawn() == real()
    assert list(drawn()) == list(real())


def test_every_error_of_the_module_is_in_the_tree() -> None:
    here = [thing for thing in vars(errors).values() if isinstance(thing, type)]
    assert set(here) == set(classes())


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in classes()]
    assert len(codes) == len(set(codes))


def test_codes_are_words_for_programs() -> None:
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.code) for kind in classes())


def test_exit_codes_are_those_of_the_design() -> None:
    assert {kind.exit_code for kind in classes()} == {1, 2, 3, 4, 5, 6}


@pytest.mark.parametrize("kind", classes())
def test_an_error_raised_bare_says_its_docstring(kind: type[errors.TetherError]) -> None:
    with pytest.raises(kind) as caught:
        raise kind
    assert caught.value.message == (kind.__doc__ or "").strip()
    assert str(caught.value) == caught.value.message
    assert caught.value.hint == kind.hint


@pytest.mark.parametrize("kind", classes())
def test_a_docstring_works_as_a_message(kind: type[errors.TetherError]) -> None:
    message = kind().message
    # Its own sentence in one line, not one that is inherited or that speaks of classes.
    assert "__doc__" in vars(kind)
    assert re.fullmatch(r"[A-Z][^\n]{10,110}\.", message)
    assert not re.search(r"\b(raised|exception|class|subclass)\b", message, re.IGNORECASE)


@pytest.mark.parametrize("kind", classes())
def test_a_hint_is_a_sentence(kind: type[errors.TetherError]) -> None:
    assert not kind.hint or re.fullmatch(r"[A-Z][^\n]{10,200}\.", kind.hint)


@pytest.mark.parametrize("kind", classes())
def test_an_error_destroys_nothing(kind: type[errors.TetherError]) -> None:
    assert not DESTRUCTIVE.search(kind().message)
    assert not DESTRUCTIVE.search(kind.hint)


def test_a_message_and_a_hint_of_its_own_replace_the_defaults() -> None:
    error = errors.NotFound("There is no task T-1.", hint="List them with `tether tasks`.")
    assert (error.message, error.hint) == (
        "There is no task T-1.",
        "List them with `tether tasks`.",
    )
    assert (errors.NotFound().message, errors.NotFound.hint) == (
        "There is no such thing here.",
        "",
    )


def test_an_empty_message_counts_as_none() -> None:
    assert errors.Taken("").message == errors.Taken().message


# What the rest of the code says


def said(source: str) -> Iterator[str]:
    """The texts that a module gives to errors and hints, with `…` for what is filled in."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            given = [keyword.value for keyword in node.keywords if keyword.arg == "hint"]
            if name[:1].isupper():
                given += [*node.args, *(keyword.value for keyword in node.keywords)]
            yield from (text for value in given for text in texts(value))


def texts(value: ast.expr) -> Iterator[str]:
    if isinstance(value, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "…" for part in value.values
        )
        return
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    for child in ast.iter_child_nodes(value):
        if isinstance(child, ast.expr):
            yield from texts(child)


def test_no_text_given_to_an_error_destroys_anything() -> None:
    everything = [
        (path.relative_to(SOURCE).as_posix(), text)
        for path in sorted(SOURCE.rglob("*.py"))
        for text in said(path.read_text(encoding="utf-8"))
    ]
    assert len(everything) > 50
    assert [entry for entry in everything if DESTRUCTIVE.search(entry[1])] == []


@pytest.mark.parametrize(
    "planted",
    [
        "Run `rm -rf .git/tether` and try again.",
        "Use `git reset --hard` to go on.",
        "Run `git clean -fdx`.",
        "Run `git push origin main --force`.",
        "Run `git checkout -- .`.",
        "Send DROP TABLE events to the database.",
        "Send `delete from claims`.",
        "TRUNCATE events.",
        "Run `tether export > tether.db`.",
        "Run `chmod 777 .git`.",
        "Run `chmod -R 777 .git`.",
        "Run `kill -9 12`.",
    ],
)
def test_control_a_destructive_hint_is_found(planted: str) -> None:
    found = set(said(f"raise errors.StoreError(f'It {{x}} failed.', hint={planted!r})"))
    assert found == {"It … failed.", planted}
    assert DESTRUCTIVE.search(planted)


def test_without_docstrings_a_message_is_not_empty() -> None:
    script = "from tether import errors; print(errors.StoreBusy().message)"
    done = subprocess.run(
        [sys.executable, "-OO", "-c", script], capture_output=True, text=True, check=True
    )
    assert "store_busy" in done.stdout
