"""How a run was started, and how a command becomes words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tether import errors, files
from tether.coordinator import options

REPLACED = {"{prompt_file}": "/a b/prompt.md", "{prompt}": "Do $(it) {prompt_file}"}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("claude -p", ("claude", "-p")),
        ("run {prompt_file}", ("run", "/a b/prompt.md")),
        ("run --in={prompt_file}", ("run", "--in=/a b/prompt.md")),
        ("run '{prompt_file} x'", ("run", "/a b/prompt.md x")),
        ("run '{prompt}'", ("run", "Do $(it) {prompt_file}")),
        ("echo $HOME; rm -rf *", ("echo", "$HOME;", "rm", "-rf", "*")),
        ("a 'b c' \"d e\" f\\ g", ("a", "b c", "d e", "f g")),
        ("a {unknown} {}", ("a", "{unknown}", "{}")),
        ("a ''", ("a", "")),
    ],
)
def test_a_command_is_words_and_no_shell(command: str, words: tuple[str, ...]) -> None:
    assert options.words(command, REPLACED) == words


def test_what_is_put_in_is_not_looked_at_again() -> None:
    swapped = {"{prompt}": "{prompt_file}", "{prompt_file}": "{prompt}"}
    assert options.words("x {prompt} {prompt_file}", swapped) == ("x", "{prompt_file}", "{prompt}")


def test_what_is_put_in_stays_one_word() -> None:
    assert options.words("x {prompt}", {"{prompt}": "a 'b\n\" c"}) == ("x", "a 'b\n\" c")


@pytest.mark.parametrize("command", ["", "  ", "a 'b", 'a "b', "a \\"])
def test_what_is_no_command_is_refused(command: str) -> None:
    with pytest.raises(errors.UsageError):
        options.words(command, {})


@pytest.fixture
def root(tmp_path: Path) -> files.Root:
    return files.Root(str(tmp_path))


def test_how_a_run_was_started_is_kept(root: files.Root) -> None:
    chosen = options.Options("claude -p", "codex exec", "usage", 3)
    options.save(root, chosen)
    assert options.load(root) == chosen


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b"5"])
def test_what_is_damaged_is_lost(root: files.Root, content: bytes) -> None:
    """And not as if nothing had been said: that would be a run without a worker."""
    root.write_atomic("options.json", content)
    assert options.load(root) is None


def test_what_is_of_another_kind_is_left_out(root: files.Root) -> None:
    root.write_atomic("options.json", b'{"worker": 5, "usage": "u"}')
    assert options.load(root) == options.Options(usage="u")


def test_what_a_newer_tether_says_on_top_is_left_out(root: files.Root) -> None:
    root.write_atomic("options.json", b'{"worker": "w", "mood": "good", "slots": true}')
    assert options.load(root) == options.Options(worker="w")


def test_what_is_not_there_is_lost(root: files.Root) -> None:
    assert options.load(root) is None
