"""How git is run: an environment from scratch, options that win, no argument taken for another."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import io
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from tether import errors
from tether.git import objects
from tether.hints import NamedTuple

TIMEOUT_SECONDS = 60.0
_WIDE_PIPE_BYTES = 1 << 20
_ENVIRONMENT = {
    "LC_ALL": "C",  # the few messages that are told apart stay English
    "GIT_ALLOW_PROTOCOL": "none",  # protocol.allow=never loses to a repository's protocol.ext.allow
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    # Facts are kept by object id, so an id must stand for the object that it is the hash of:
    # neither replacement objects nor grafts are looked at.
    "GIT_GRAFT_FILE": "/dev/null/none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
_SETTINGS = (
    "advice.graftFileDeprecated=false",
    "core.fsmonitor=false",  # even diff-tree and update-index would run it
    "core.hooksPath=/dev/null",
    "core.untrackedCache=keep",  # `false` would drop the user's cache when their index is written
    "credential.helper=",
    "gc.auto=0",
    "i18n.commitEncoding=UTF-8",
    "log.showRoot=true",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
)
OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))
Argument = str | bytes
Answer = subprocess.CompletedProcess[bytes]
Environment = Mapping[str, str]
NO_ENVIRONMENT: Environment = {}


class Facts(NamedTuple):
    """What git says of a repository."""

    options: tuple[str, ...]
    is_bare: bool
    null: objects.Oid
    common_directory: bytes


class Runner:
    """Calls git for one directory: the top of a worktree, or a bare repository."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(os.path.realpath(directory))

    def call(
        self, *arguments: Argument, feed: bytes = b"", environment: Environment = NO_ENVIRONMENT
    ) -> bytes:
        """What git prints; raises GitError if it fails."""
        answer = self.ask(*arguments, feed=feed, environment=environment)
        if answer.returncode:
            raise failure(answer.stderr)
        return answer.stdout

    def ask(
        self, *arguments: Argument, feed: bytes = b"", environment: Environment = NO_ENVIRONMENT
    ) -> Answer:
        everything = [*self.facts.options, *arguments]
        return run(
            everything, self.directory, {**environment_for(self.directory), **environment}, feed
        )

    @contextlib.contextmanager
    def stream(self, *arguments: Argument, feed: str = "") -> Iterator[io.BufferedReader]:
        """Git's output while it is being made; git ends when its reader does."""
        # Files, because git and its reader could wait for each other on full pipes.
        with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
            stdin.write(feed.encode())
            stdin.seek(0)
            with starting():
                process = subprocess.Popen(
                    [_binary(), *self.facts.options, *arguments],
                    cwd=self.directory,
                    env=environment_for(self.directory),
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                )
            with process:
                try:
                    yield cast(io.BufferedReader, process.stdout)
                except BaseException:
                    process.kill()
                    raise
            if process.returncode:
                stderr.seek(0)
                raise failure(stderr.read(objects.CHUNK_BYTES))

    def start(self, *arguments: Argument) -> subprocess.Popen[bytes]:
        """A git to talk to; whoever starts it ends it. What it complains about is dropped."""
        return subprocess.Popen(
            [_binary(), *self.facts.options, *arguments],
            cwd=self.directory,
            env=environment_for(self.directory),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def feed(self, *arguments: Argument, chunks: Iterable[bytes]) -> None:
        """Give git an input of any size, for as long as that takes; what it prints is dropped."""
        with tempfile.TemporaryFile() as stderr:
            with starting():
                process = subprocess.Popen(
                    [_binary(), *self.facts.options, *arguments],
                    cwd=self.directory,
                    env=environment_for(self.directory),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                )
            # If git ends early, its complaint says more than the broken pipe.
            with contextlib.suppress(BrokenPipeError), process:
                try:
                    cast(io.BufferedWriter, process.stdin).writelines(chunks)
                except BaseException:
                    process.kill()
                    raise
            if process.returncode:
                stderr.seek(0)
                raise failure(stderr.read(objects.CHUNK_BYTES))

    def without_filters(self, environment: Environment = NO_ENVIRONMENT) -> dict[str, str]:
        """An environment that leaves the repository's filters without their programs.

        Who writes an index must hash again the files that changed in the second of its last
        writing, and git does so through their filters (met with `update-index`, Git 2.39).
        Unfiltered they look changed, and the user's next `git status` looks closer.
        """
        question = ("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        keys = self.ask(*question, environment=environment).stdout
        filters = {objects.as_path(key).rpartition(".")[0] for key in keys.split(b"\0")[:-1]}
        parts = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
        settings = {f"{name}.{part}": value for name in filters for part, value in parts}
        told = {**environment, "GIT_CONFIG_COUNT": str(len(settings))}
        for n, (key, value) in enumerate(settings.items()):
            told |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
        return told

    @functools.cached_property
    def facts(self) -> Facts:
        """What git says of the directory, asked once before anything else."""
        question = (
            *("rev-parse", "--is-bare-repository", "--show-object-format"),
            *("--path-format=absolute", "--git-common-dir"),
        )
        options: tuple[str, ...] = OPTIONS
        answer = run([*options, *question], self.directory, environment_for(self.directory))
        if _is_owner_refused(answer) and self._is_listed_as_safe():
            options = (*OPTIONS, "-c", f"safe.directory={self.directory}")
            answer = run([*options, *question], self.directory, environment_for(self.directory))
        if _is_owner_refused(answer):
            raise errors.GitRefusedOwner
        if b"not a git repository" in answer.stderr:
            raise errors.NotARepository
        if answer.returncode:
            raise failure(answer.stderr)
        is_bare, object_format, directory = answer.stdout.split(b"\n", 2)
        null = objects.Oid("0" * (64 if object_format == b"sha256" else 40))
        return Facts(options, is_bare == b"true", null, directory.removesuffix(b"\n"))

    def _is_listed_as_safe(self) -> bool:
        """Whether the user told git to trust this directory; our environment hides that from it."""
        is_listed = False
        # No repository has a say in this.
        nowhere = {"GIT_DIR": "/dev/null/none"}
        for entry in user_config(["--type=path", "--get-all", "safe.directory"], "/", nowhere):
            if not entry:
                is_listed = False  # as in git: an empty value forgets those before it
            elif entry == "*" or (os.path.isabs(entry) and _covers(entry, str(self.directory))):
                is_listed = True
        return is_listed


def end(process: subprocess.Popen[bytes]) -> None:
    """End a git that was started to talk to."""
    process.kill()
    with contextlib.suppress(BrokenPipeError), process:
        pass


def widen(pipe: io.BufferedReader) -> None:
    """Let git write a good deal before it has to wait for its reader, where that can be had."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        # A user may have only so many wide ones.
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _WIDE_PIPE_BYTES)


def environment_for(directory: Path | None = None) -> dict[str, str]:
    """Everything that git gets to know: nothing that begins with GIT_ is inherited."""
    environment = {
        **_ENVIRONMENT,
        "PATH": os.pathsep.join(_search_path()),
        # Without a home git dies at a `~` in the repository's configuration.
        "HOME": os.environ.get("HOME", "/nonexistent"),
    }
    if "TMPDIR" in os.environ:
        environment["TMPDIR"] = os.environ["TMPDIR"]
    if directory:
        # This directory or none: never a repository further up.
        environment["GIT_CEILING_DIRECTORIES"] = str(directory.parent)
    return environment


def _search_path() -> list[str]:
    """The absolute directories of the PATH: in a relative one a repository could plant a git."""
    path = os.environ.get("PATH", os.defpath)
    return [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]


def _binary() -> str:
    for directory in _search_path():
        candidate = os.path.join(directory, "git")
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise errors.GitMissing


def run(
    arguments: Iterable[Argument],
    directory: Path | str,
    environment: Environment,
    feed: bytes = b"",
) -> Answer:
    with starting():
        return subprocess.run(
            [_binary(), *arguments],
            cwd=directory,
            env=environment,
            input=feed,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """Turn what can go wrong between us and git into our errors."""
    try:
        yield
    except subprocess.TimeoutExpired:
        raise errors.GitError(f"Git did not answer within {TIMEOUT_SECONDS:.0f} seconds.") from None
    except (FileNotFoundError, NotADirectoryError) as error:
        # Python names the directory if that is what is missing, and else the program.
        if isinstance(error.filename, str) and os.path.basename(error.filename) == "git":
            raise errors.GitMissing("The git on the PATH cannot be started.") from None
        raise errors.NotARepository from None
    except OSError as error:
        raise errors.GitError(f"Git could not be started: {error.strerror}.") from None


def failure(stderr: bytes) -> errors.GitError:
    """An error that quotes git's complaint only in so far as it is short and printable ASCII."""
    lines = stderr.splitlines()
    first = next((line for line in lines if line.startswith((b"fatal:", b"error:"))), b"")
    shown = "".join(chr(byte) if 32 <= byte < 127 else "?" for byte in first[:200])
    return errors.GitError(f"Git ended with an error. It says: {shown}" if shown else "")


def _is_owner_refused(answer: Answer) -> bool:
    complaints = (b"dubious ownership", b"unsafe repository")  # the second until Git 2.37
    return answer.returncode != 0 and any(words in answer.stderr for words in complaints)


def _covers(entry: str, directory: str) -> bool:
    if entry.endswith("/*"):
        return directory.startswith(entry[:-1])
    return os.path.realpath(entry) == directory


def user_config(
    arguments: Iterable[str], directory: Path | str, more: Environment = NO_ENVIRONMENT
) -> list[str]:
    """Values from git's configuration as the user sees it; none if there are none."""
    environment = {**environment_for(), **more}
    del environment["GIT_CONFIG_GLOBAL"], environment["GIT_CONFIG_NOSYSTEM"]
    if "XDG_CONFIG_HOME" in os.environ:
        environment["XDG_CONFIG_HOME"] = os.environ["XDG_CONFIG_HOME"]
    answer = run(["config", "-z", *arguments], directory, environment)
    return objects.as_text(answer.stdout).split("\0")[:-1]
