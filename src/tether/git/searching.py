"""Where a commit has a word."""

from __future__ import annotations

from tether.git import objects, process
from tether.git.objects import Oid
from tether.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from tether.git import repository

# Each option answers a setting of the repository; without `-a` and with `-I` no binary is opened.
_GREP = (
    *("grep", "--files-with-matches", "-z", "-I", "--word-regexp", "--fixed-strings"),
    *("--full-name", "--no-color", "--no-textconv", "--no-recurse-submodules"),
)


def files_with(git: repository.Git, commit: Oid, word: str) -> list[str]:
    """The files of a commit that have a word, as far as they are here."""
    answer = git.runner.ask(*_GREP, "-e", objects.path_bytes(word), Oid(commit))
    if answer.returncode > 1 and not answer.stdout:
        raise process.failure(answer.stderr)
    prefix = f"{commit}:".encode()
    found = answer.stdout.split(b"\0")[:-1]
    return [objects.as_path(each.removeprefix(prefix)) for each in found]
