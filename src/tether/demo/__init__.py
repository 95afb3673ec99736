"""A sample repository, and Tether at work in it: what `tether demo` and `make demo` show."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tether import errors, git


class Scene(NamedTuple):
    """One command of the story, and why it is run."""

    why: str
    words: tuple[str, ...]


STORY = (
    Scene("Set up Tether. It says what it changes; --yes answers for you.", ("init", "--yes")),
    Scene("Is everything in order?", ("doctor",)),
    Scene("Everything that happens is in one log.", ("events",)),
    Scene("Programs read the same as JSON.", ("events", "--json")),
    Scene("A typo gets an answer too.", ("evnts",)),
    Scene("And the whole store can be taken along.", ("export",)),
)

_FILES = {
    "README.md": b"# Weather station\n\nReads a thermometer and tells when it freezes next.\n",
    "station.py": b'def next_frost(readings):\n    """The first reading below zero."""\n'
    b"    return next((at for at, degrees in readings if degrees < 0), None)\n",
}


def make_repository(path: str) -> git.Git:
    """A small repository with a history."""
    try:
        os.makedirs(path)
    except FileExistsError:
        if not os.path.isdir(path) or os.listdir(path):
            raise errors.AlreadyThere(
                "The place for the sample repository is not empty. It was left as it is."
            ) from None
    except OSError as problem:
        raise errors.FileError(
            f"The directory for the sample repository cannot be made: {problem.strerror}."
        ) from problem
    repository = git.init(path)
    person = git.Identity("Ada Example", "ada@example.com")
    for name, content in _FILES.items():
        repository.commit_paths("refs/heads/main", {name: content}, f"Add {name}", person)
        with open(os.path.join(path, name), "wb") as file:
            file.write(content)
    return repository


def tell(path: str, environ: Mapping[str, str], say: Callable[[str], object]) -> None:
    """Make the repository and run the story in it, with the real command line."""
    make_repository(path)
    say(f"A sample repository in {path}\n")
    for scene in STORY:
        say(f"\n# {scene.why}\n$ tether {' '.join(scene.words)}\n")
        # Errors are part of the story: both streams, in the order in which they come.
        done = subprocess.run(
            [sys.executable, "-m", "tether", *scene.words],
            cwd=path,
            env={**environ, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        say(done.stdout)
        if done.returncode:
            say(f"(exit code {done.returncode})\n")
