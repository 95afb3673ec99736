"""What tests of the room `evidence` share: transcripts in the shape of real ones, and a witness."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tether import host, workspace
from tether.evidence import places, witness
from tether.store import port, sqlite
from tether.tasks.sources import patterns

SESSION = "0b5a1d9e-1111-4222-8333-444455556666"


class Transcript:
    """Lines as Claude Code writes them, with times that go on by a second."""

    def __init__(self, cwd: Path, session: str = SESSION, start: int = 0) -> None:
        self.cwd = cwd
        self.session = session
        self._seconds = itertools.count(start)
        self._uuids = random_uuids(session)

    def prompt(self, text: str, **more: Any) -> str:
        return self._line("user", {"role": "user", "content": text}, **more)

    def said(self, text: str, **more: Any) -> str:
        block = {"type": "text", "text": text}
        return self._line("assistant", {"role": "assistant", "content": [block]}, **more)

    def tool(self, name: str, use: str = "toolu_1", **asked: Any) -> str:
        block = {"type": "tool_use", "id": use, "name": name, "input": asked}
        return self._line("assistant", {"role": "assistant", "content": [block]})

    def result(self, text: str, use: str = "toolu_1", *, is_error: bool = False) -> str:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": use, "content": text}
        if is_error:
            block["is_error"] = True
        return self._line("user", {"role": "user", "content": [block]})

    def compaction(self) -> str:
        return self._line(
            "system",
            None,
            subtype="compact_boundary",
            content="Conversation compacted",
            compactMetadata={"trigger": "auto", "preTokens": 1, "postTokens": 1},
        )

    def _line(self, kind: str, message: dict[str, Any] | None, **more: Any) -> str:
        seconds = next(self._seconds)
        record = {
            "parentUuid": None,
            "isSidechain": False,
            "type": kind,
            "message": message,
            "uuid": next(self._uuids),
            "timestamp": f"2026-11-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:"
            f"{seconds % 60:02}.000Z",
            "cwd": str(self.cwd),
            "sessionId": self.session,
            "version": "2.1.325",
            "gitBranch": "main",
            **more,
        }
        if message is None:
            del record["message"]
        return json.dumps(record, separators=(",", ":")) + "\n"


def random_uuids(seed: str) -> Iterator[str]:
    """Ids that depend on nothing but a seed."""
    for number in itertools.count():
        yield str(uuid.uuid5(uuid.NAMESPACE_OID, f"{seed}/{number}"))


def claude_file(home: Path, cwd: Path, session: str = SESSION) -> Path:
    """Where Claude Code would write the transcript of a session."""
    path = home / ".claude" / "projects" / places.slug(str(cwd)) / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def places_of(home: Path) -> places.Places:
    """The places of a user with this home."""
    names = ("claude", "codex", "gemini", "cursor", "coditect-data")
    return places.Places._make((str(home / f".{name}"),) for name in names)


def store_of(repo: Path) -> port.Store:
    return sqlite.SqliteStore(workspace.find(str(repo)), wait_seconds=10)


def witness_of(
    repo: Path,
    home: Path,
    store: port.Store,
    *,
    sources: tuple[str, ...] = ("work", "track"),
    templates: tuple[str, ...] = (),
    store_dir: Path | None = None,
    keeps_excerpts: bool = True,
) -> witness.Witness:
    """A witness of a repository; another store directory gives it an index of its own."""
    here = workspace.find(str(repo), store_dir=str(store_dir) if store_dir else None)
    return witness.Witness(
        here,
        store,
        places_of(home),
        patterns.Kinds(sources, templates),
        work_root="work",
        host_id=host.here().host_id,
        keeps_excerpts=keeps_excerpts,
    )
