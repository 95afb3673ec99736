"""Transcripts of every agent that grow, with records of any size, and what a ledger has of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tests import trails
from tests.fault import site
from tests.transcripts import Record
from tether import index
from tether.evidence import ledger, model, places, readers
from tether.tasks.sources import patterns

SESSION = trails.SESSION
FINDER = patterns.Finder(patterns.Kinds(("work", "track")))
TIMES = "2026-11-01T08:{:02}:{:02}.000Z"


class Step(NamedTuple):
    """Some records of a kind: `ask`, `say`, `call` (a tool), `print` (what it gave), `break`."""

    what: str
    size: int = 10
    times: int = 1


class Agent:
    """Writes records as one of the agents does, each a second after the one before."""

    source = ""
    file = ""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self._number = 0

    def data(self, steps: Iterable[Step]) -> bytes:
        """A whole transcript."""
        found = [self._line(record) for record in self.head()]
        for step in steps:
            for _ in range(step.times):
                self._number += 1
                words = f"H.1.1 {step.what} {self._number} ".ljust(step.size, "x")
                is_broken = step.what == "break"
                found.append(
                    f"{words}\n".encode() if is_broken else self._line(self.record(step, words))
                )
        return b"".join(found)

    def record(self, step: Step, words: str) -> Record:
        found: Record = getattr(self, step.what)(words)
        return found

    def head(self) -> list[Record]:
        return []

    @property
    def number(self) -> int:
        return self._number

    @property
    def at(self) -> str:
        return TIMES.format(self._number // 60, self._number % 60)

    def _line(self, record: Record) -> bytes:
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


class Claude(Agent):
    source = "claude:transcript"

    @property
    def path(self) -> str:
        return f".claude/projects/{places.slug(str(self.repo))}/{SESSION}.jsonl"

    def _message(self, kind: str, content: object) -> Record:
        common = {"uuid": f"u-{self.number}", "timestamp": self.at, "cwd": str(self.repo)}
        return {"type": kind, "sessionId": SESSION, "message": {"content": content}, **common}

    def ask(self, words: str) -> Record:
        return self._message("user", words)

    def say(self, words: str) -> Record:
        return self._message("assistant", [{"type": "text", "text": words}])

    def call(self, words: str) -> Record:
        given = {"description": words}
        return self._message("assistant", [{"type": "tool_use", "name": "Bash", "input": given}])

    def print(self, words: str) -> Record:
        return self._message("user", [{"type": "tool_result", "content": words}])


class Codex(Agent):
    source = "codex:rollout"

    @property
    def path(self) -> str:
        return f".codex/sessions/2026/11/01/rollout-2026-11-01T08-00-00-{SESSION}.jsonl"

    def head(self) -> list[Record]:
        payload = {"id": SESSION, "timestamp": self.at, "cwd": str(self.repo)}
        return [{"timestamp": self.at, "type": "session_meta", "payload": payload}]

    def _item(self, kind: str, **fields: Any) -> Record:
        payload = {"type": kind, **fields}
        return {"timestamp": self.at, "type": "response_item", "payload": payload}

    def ask(self, words: str) -> Record:
        return self._item("message", role="user", content=[{"type": "input_text", "text": words}])

    def say(self, words: str) -> Record:
        content = [{"type": "output_text", "text": words}]
        return self._item("message", role="assistant", content=content)

    def call(self, words: str) -> Record:
        return self._item("function_call", name="shell", arguments=json.dumps({"command": words}))

    def print(self, words: str) -> Record:
        return self._item("function_call_output", output=words)


class Gemini(Agent):
    source = "gemini:session"

    @property
    def path(self) -> str:
        return f".gemini/tmp/{self.repo.name}/chats/session-2026-11-01-0b5a1d9e.jsonl"

    def head(self) -> list[Record]:
        return [
            {"sessionId": SESSION, "projectHash": "h", "startTime": self.at},
            {"$set": {"directories": [str(self.repo)]}},
        ]

    def _message(self, kind: str, content: str, **more: object) -> Record:
        found = {"id": f"m-{self.number}", "timestamp": self.at, "type": kind, "content": content}
        return {**found, **more}

    def ask(self, words: str) -> Record:
        return self._message("user", words)

    def say(self, words: str) -> Record:
        return self._message("gemini", words)

    def call(self, words: str) -> Record:
        call = {"id": "c", "name": "run", "args": {"command": words}, "status": "executing"}
        return self._message("gemini", "", toolCalls=[call])

    def print(self, words: str) -> Record:
        call = {"id": "c", "name": "run", "status": "success", "resultDisplay": words}
        return self._message("gemini", "", toolCalls=[call])


class Cursor(Agent):
    """What tools gave back is not written down: what they were given can be as long."""

    source = "cursor:transcript"

    @property
    def path(self) -> str:
        folder = f".cursor/projects/{places.slug(str(self.repo)).strip('-')}/agent-transcripts"
        return f"{folder}/{SESSION}/{SESSION}.jsonl"

    def _turn(self, role: str, content: Record) -> Record:
        return {"role": role, "message": {"content": [content]}}

    def ask(self, words: str) -> Record:
        time = f"Sunday, Nov 1, 2026, 8:{self.number % 60:02} AM (UTC)"
        return self._turn("user", {"type": "text", "text": f"<timestamp>{time}</timestamp>{words}"})

    def say(self, words: str) -> Record:
        return self._turn("assistant", {"type": "text", "text": words})

    def call(self, words: str) -> Record:
        given = {"command": words}
        return self._turn("assistant", {"type": "tool_use", "name": "Shell", "input": given})

    def print(self, words: str) -> Record:
        given = {"path": "/x/a.py", "contents": words}
        return self._turn("assistant", {"type": "tool_use", "name": "Write", "input": given})


AGENTS: dict[str, Callable[[Path], Any]] = {
    each.source: each for each in (Claude, Codex, Gemini, Cursor)
}


class Known(NamedTuple):
    """What an index has of the one transcript."""

    held: str
    """All of it, in an order that does not depend on when it was written."""
    facts: model.Session
    problems: tuple[model.Problem, ...]


class Desk:
    """A place where one agent's transcript grows and is looked at."""

    def __init__(self, base: Path, source: str) -> None:
        self._base = base
        self.repo = base / "repo"
        self.home = base / "home"
        self.repo.mkdir(parents=True)
        self.agent = AGENTS[source](self.repo)
        self.file = self.home / self.agent.path
        self.file.parent.mkdir(parents=True)

    def look(self, name: str = "own") -> Known:
        """What a ledger has, after a look, that keeps its index in a directory of this name."""
        own = index.Index(str(self._base / name))
        (self._base / name).mkdir(exist_ok=True)
        roots = (str(self.repo),)

        def work(connection: Any) -> Known:
            search = places.Search(trails.places_of(self.home), roots)
            looked = ledger.Ledger(connection, FINDER, roots).look(search)
            [(facts,)] = connection.execute("SELECT facts FROM evidence_files").fetchall()
            session = readers.from_json(facts) or model.Session("", "", "")
            return Known(site.dump(connection), session, looked.problems)

        try:
            return own.derive(work, wait_seconds=10)
        finally:
            own.close()

    def piecemeal(self, data: bytes, cuts: Iterable[int]) -> Known:
        """Let the transcript grow, and look at it whenever it is so many bytes long."""
        begin = 0
        self.file.write_bytes(b"")
        for cut in (*sorted(cuts), len(data)):
            with self.file.open("ab") as file:
                file.write(data[begin:cut])
            begin = max(begin, cut)
            known = self.look()
        return known
