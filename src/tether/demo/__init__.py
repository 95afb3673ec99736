"""A sample repository, and Tether at work in it: what `tether demo` and `make demo` show."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping

from tether import errors, git
from tether.hints import NamedTuple


class Scene(NamedTuple):
    """One command of the story, and why it is run."""

    why: str
    words: tuple[str, ...]
    who: str = ""
    """The agent that calls; without one it is a person."""
    has_process: bool = True
    """Does the agent say which process is its own?"""


STORY = (
    Scene("Set up Tether. It says what it changes; --yes answers for you.", ("init", "--yes")),
    Scene("Is everything in order?", ("doctor",)),
    Scene(
        "A person writes tasks down. They are files in the repository.",
        ("task", "new", "Ring when it freezes", "--id", "frost-alarm", "--priority", "high"),
    ),
    Scene("Another one.", ("task", "new", "Tidy up", "--id", "tidy-up")),
    Scene(
        "And one that waits for the first.",
        ("task", "new", "Tell the gardeners", "--id", "announce", "--depends-on", "frost-alarm"),
    ),
    Scene("An agent asks what to do.", ("next",), who="ada", has_process=False),
    Scene(
        "It takes the task, and says which files it will change.",
        ("claim", "frost-alarm", "--path", "station.py"),
        who="ada",
        has_process=False,
    ),
    Scene("Another one is refused, and told who has it.", ("claim", "frost-alarm"), who="bob"),
    Scene("What waits cannot be taken either.", ("claim", "announce"), who="bob"),
    Scene(
        "It takes another task, and both hear that they will meet in a file.",
        ("claim", "tidy-up", "--path", "*.py"),
        who="bob",
    ),
    Scene("What is there, and who has it?", ("task", "list")),
    Scene("Who is here?", ("agent", "list")),
    Scene(
        "The first one tells how far it is, and then falls silent.",
        ("beat", "--progress", "The alarm rings, the test is missing."),
        who="ada",
        has_process=False,
    ),
    Scene(
        "What would a sweep find now? The other one's process is seen.",
        ("sweep", "--dry-run", "--threshold", "0"),
    ),
    Scene("So what it held comes free.", ("sweep", "--threshold", "0")),
    Scene(
        "What should the next one know? Everything that was left, said and shown.",
        ("handoff", "frost-alarm"),
    ),
    Scene(
        "Somebody takes it up, with what the first one left.", ("claim", "frost-alarm"), who="cyd"
    ),
    Scene(
        "The first one wakes up. It cannot finish what is not its own any more.",
        ("finish", "frost-alarm"),
        who="ada",
        has_process=False,
    ),
    Scene(
        "The one who has it can. What is missing becomes a task of its own.",
        (
            *("finish", "frost-alarm", "--summary", "It rings.", "--artefact", "station.py"),
            *("--partial", "--missing", "test_station.py", "--why", "No frost to test it with."),
        ),
        who="cyd",
    ),
    Scene("Now what waited is free.", ("next", "--limit", "2"), who="dan"),
    Scene(
        "A task's whole life: from Git, from the log, and from transcripts if there are any.",
        ("timeline", "frost-alarm"),
    ),
    Scene("Are all task files in order?", ("validate",)),
    Scene("Everything that happens is in one log.", ("events", "--limit", "8")),
    Scene("Programs read the same as JSON.", ("task", "show", "announce", "--json")),
    Scene("A typo gets an answer too.", ("task", "shwo", "announce")),
    Scene("And the whole store can be taken along.", ("export", "-o", "store.jsonl")),
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
        who = _who(scene)
        called = "".join(f"{name}={value} " for name, value in who.items())
        say(f"\n# {scene.why}\n$ {called}tether {shlex.join(scene.words)}\n")
        # Errors are part of the story: both streams, in the order in which they come.
        done = subprocess.run(
            [sys.executable, "-m", "tether", *scene.words],
            cwd=path,
            env={**environ, **who, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        say(done.stdout)
        if done.returncode:
            say(f"(exit code {done.returncode})\n")


def _who(scene: Scene) -> dict[str, str]:
    """What the environment says of the agent that calls."""
    if not scene.who:
        return {}
    process = {"TETHER_PID": str(os.getpid())} if scene.has_process else {}
    return {"TETHER_SESSION": f"{scene.who}-1", "TETHER_AGENT": scene.who, **process}
