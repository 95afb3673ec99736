"""What acceptance tests of the room `evidence` share: a repository in which agents are at work.

Transcripts are written with the times of now, because claims, which are taken by real commands,
are. Commits were made some weeks ago, a second apart, unless a test says when.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import trails
from tests.conftest import Ended, Tether
from tether import clock

Git = Callable[..., str]

TRACK = "plans/TRACK-H-HOUSE.md"
SESSION = trails.SESSION
OTHER = "1c6b2e0f-1111-4222-8333-444455556666"
PERSON = {"TETHER_AGENT": "ada"}
# No sweep by the way: what a command finds depends on the test alone.
BY_HAND = {"TETHER_SWEEP_INTERVAL_SECONDS": "0"}


def agent(session: str = SESSION, **more: str) -> dict[str, str]:
    """The environment of an agent."""
    return {"TETHER_SESSION": session, **BY_HAND, **more}


class Talk(trails.Transcript):
    """A transcript that is written as a session goes on: each line has the time of its writing."""

    def __init__(self, path: Path, cwd: Path, session: str) -> None:
        super().__init__(cwd, session)
        self.path = path
        self._last_ms = 0

    def add(self, line: str, at_ms: int = 0) -> str:
        """Write a line; the time that it bears. No two have the same, unless a test wants so."""
        self._last_ms = at_ms or max(clock.SystemClock().now_ms(), self._last_ms + 1)
        record = {**json.loads(line), "timestamp": clock.text(self._last_ms)}
        with self.path.open("a") as file:
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
        return str(record["timestamp"])

    def says(self, text: str) -> str:
        return self.add(self.said(text))

    def edits(self, path: str) -> str:
        return self.add(self.tool("Edit", file_path=path, old_string="a", new_string="b"))

    def fails(self, command: str, error: str, use: str = "toolu_9") -> None:
        self.add(self.tool("Bash", use, command=command, description="Run it"))
        self.add(self.result(error, use, is_error=True))


class Scene:
    """A repository, a home, and what may be done in them."""

    def __init__(self, repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> None:
        self.repo = repo
        self.environ = environ
        self.home = Path(environ["HOME"])
        self.git = git
        self._tether = tether
        self._seconds = itertools.count(1_793_000_000)

    def write(self, name: str, text: str, cwd: Path | None = None) -> Path:
        path = (cwd or self.repo) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def commit(self, message: str, *names: str, at_ms: int = 0, cwd: Path | None = None) -> str:
        """Commit some files, or what is there; its id."""
        where = cwd or self.repo
        for name in names:
            path = where / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                file.write(f"{message}\n")
        self.git("add", "-A", cwd=where)
        return self.commits("-qm", message, at_ms=at_ms, cwd=where)

    def commits(self, *words: str, at_ms: int = 0, cwd: Path | None = None) -> str:
        """`git commit` with these words, at a time or after the last one; the id."""
        where = cwd or self.repo
        with pytest.MonkeyPatch.context() as patch:
            seconds = at_ms // 1000 or next(self._seconds)
            patch.setitem(self.environ, "GIT_COMMITTER_DATE", f"@{seconds} +0000")
            self.git("commit", *words, cwd=where)
        return self.git("rev-parse", "HEAD", cwd=where)

    def make_store(self) -> None:
        """What `tether init` does, as far as evidence is concerned, without a process."""
        store = trails.store_of(self.repo)
        store.ensure_writable()
        store.close()

    def plan(self, *lines: str) -> None:
        """Have a track with these lines, committed."""
        body = "\n".join(lines or ("- [ ] H.1.1 Build it", "- [ ] H.1.2 Test it"))
        self.write(TRACK, f"# Track H\n\n{body}\n")
        self.commit("Plan")

    def talk(self, session: str = SESSION, cwd: Path | None = None) -> Talk:
        """The transcript of a session in a checkout."""
        where = cwd or self.repo
        return Talk(trails.claude_file(self.home, where, session), where, session)

    def subagent(self, name: str, session: str = SESSION) -> Talk:
        """The transcript of somebody whom a session has started."""
        main = trails.claude_file(self.home, self.repo, session)
        path = main.with_suffix("") / "subagents" / f"agent-{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return Talk(path, self.repo, session)

    def run(
        self, *words: str, who: dict[str, str] | None = None, cwd: Path | None = None, **how: str
    ) -> Ended:
        env = {**BY_HAND, **(PERSON if who is None else who), **how}
        return self._tether(*words, cwd=cwd or self.repo, env=env)

    def done(
        self, *words: str, who: dict[str, str] | None = None, cwd: Path | None = None, **how: str
    ) -> Ended:
        """The same for what must work."""
        ended = self.run(*words, who=who, cwd=cwd, **how)
        assert ended.code == 0, ended
        return ended

    def timeline(self, task: str, *words: str, cwd: Path | None = None) -> dict[str, Any]:
        found: dict[str, Any] = self.done("timeline", task, "--json", *words, cwd=cwd).json
        assert found["ok"] is True
        return found

    def told(self, task: str, source: str, *words: str) -> list[dict[str, Any]]:
        """The activities of a task from one source."""
        found = self.timeline(task, *words)["activities"]
        return [each for each in found if each["source"] == source]

    def handoff(self, task: str, *words: str) -> dict[str, list[str]]:
        """The sections of a resume packet, as lines."""
        found = self.done("handoff", task, "--json", *words).json["handoff"]["sections"]
        return {name: [line["text"] for line in lines] for name, lines in found.items()}

    def on_a_terminal(self, *words: str, columns: int = 80) -> str:
        """What a command shows on a terminal of this width."""
        import fcntl
        import pty
        import struct
        import termios

        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-m", "tether", *words],
            cwd=self.repo,
            env={**self.environ, **PERSON, **BY_HAND, "TERM": "xterm-256color", "NO_COLOR": "1"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:  # how Linux says that the other end was closed
            pass
        finally:
            os.close(ours)
            process.wait()
        return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n")
