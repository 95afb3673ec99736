"""sessions.db: what was said, kept once more in a database with a full text search."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable

from tether import clock
from tether.bench.workload import model

_BATCH = 5000
_SCHEMA = """
CREATE TABLE sessions (session_id TEXT PRIMARY KEY, llm_vendor TEXT, project_id TEXT, cwd TEXT,
  started_at TEXT, ended_at TEXT, message_count INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY, hash TEXT UNIQUE, content TEXT, role TEXT,
  source_type TEXT, source_file TEXT, session_id TEXT, timestamp TEXT);
CREATE TABLE tool_analytics (id INTEGER PRIMARY KEY, session_id TEXT, tool TEXT, calls INTEGER);
CREATE TABLE task_tracking (task_id TEXT PRIMARY KEY, title TEXT, status TEXT, track TEXT);
CREATE TABLE task_messages (task_id TEXT, message_id INTEGER);
CREATE VIRTUAL TABLE messages_fts USING fts5(content, content='messages', content_rowid='id');
"""
_ADD = "INSERT INTO messages VALUES (?, ?, ?, ?, 'jsonl', ?, ?, ?)"
_ADD_SESSION = "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)"


def connect(path: str) -> sqlite3.Connection:
    """A new database. It need not survive a crash, and its bytes must not depend on the clock."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    return connection


class Archive:
    """Prompts and answers, as they are said."""

    def __init__(self, path: str) -> None:
        self._connection = connect(path)
        self._connection.executescript(_SCHEMA)
        self._connection.execute("BEGIN")
        self._rows: list[tuple[int, str, str, str, str, str, str]] = []
        self.messages = 0

    def keeper(self, session: model.Session, path: str) -> Callable[[str, str, int], None]:
        """Keeps what is said in one session: role, the inside of a JSON string, when."""

        def keep(role: str, text: str, at: int) -> None:
            self.messages += 1
            content = text.replace("\\n", "\n").replace('\\"', '"')
            digest = hashlib.sha256(f"{self.messages} {content}".encode()).hexdigest()
            when = clock.text(at)
            self._rows.append((self.messages, digest, content, role, path, session.uuid, when))
            if len(self._rows) >= _BATCH:
                self._flush()

        return keep

    def finish(self, sessions: list[model.Session], directory: str) -> None:
        self._flush()
        self._connection.executemany(
            _ADD_SESSION,
            (
                (
                    *(session.uuid, session.vendor, session.project),
                    f"{directory}/{session.project}",
                    *(clock.text(session.start), clock.text(session.end), session.messages),
                )
                for session in sessions
            ),
        )
        self._connection.execute("INSERT INTO messages_fts(messages_fts) VALUES ('rebuild')")
        self._connection.execute("COMMIT")
        self._connection.close()

    def _flush(self) -> None:
        self._connection.executemany(_ADD, self._rows)
        self._rows.clear()
