"""messaging.db in both of its versions: what sessions told each other, and who was there."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections.abc import Iterator

from tether import clock
from tether.bench.workload import archive, model, processes, story, truth
from tether.hints import Any, NamedTuple

SOURCE = "coditect:messaging"
PLACE = "home/.coditect-data/context-storage"
NEW_FILE = f"{PLACE}/messaging.db"
OLD_FILE = f"{PLACE}/messaging-v1.db"
MESSAGES = 6500
REGISTERED = 36
# When the older database was replaced by the newer one.
REPLACED_AT = model.START + 10 * model.DAY
_TTL_SECONDS = 300
_OLD_SCHEMA = """
CREATE TABLE inter_session_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, sender_id TEXT NOT NULL,
  channel TEXT NOT NULL, payload TEXT NOT NULL, created_at TEXT NOT NULL DEFAULT (datetime('now')),
  ttl_seconds INTEGER DEFAULT 300);
"""
_NEW_SCHEMA = """
CREATE TABLE schema_version (version INTEGER, applied_at TEXT);
CREATE TABLE session_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, sender_id TEXT NOT NULL,
  recipient_id TEXT, channel TEXT NOT NULL, message_type TEXT NOT NULL, payload TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending', priority INTEGER NOT NULL DEFAULT 0, project_id TEXT,
  task_id TEXT, created_at TEXT NOT NULL DEFAULT (datetime('now')),
  ttl_seconds INTEGER DEFAULT 300);
CREATE TABLE session_registry (session_id TEXT PRIMARY KEY, llm_vendor TEXT, llm_model TEXT,
  project_id TEXT, pid INTEGER, cwd TEXT, hostname TEXT, machine_uuid TEXT, session_uuid TEXT,
  task_id TEXT, status TEXT, registered_at TEXT, last_heartbeat TEXT);
CREATE TABLE task_claims (task_id TEXT NOT NULL, session_id TEXT NOT NULL, project_id TEXT,
  claimed_at TEXT NOT NULL, PRIMARY KEY (project_id, task_id));
CREATE TABLE file_locks (path TEXT PRIMARY KEY, session_id TEXT, locked_at TEXT);
CREATE TABLE session_state (session_id TEXT PRIMARY KEY, state TEXT);
CREATE TABLE message_receipts (message_id INTEGER, session_id TEXT, read_at TEXT);
CREATE TABLE channels (name TEXT PRIMARY KEY);
CREATE TABLE agent_capabilities (session_id TEXT, capability TEXT);
"""
_ADD_OLD = (
    "INSERT INTO inter_session_messages (sender_id, channel, payload, created_at, ttl_seconds)"
    " VALUES (?, ?, ?, ?, ?)"
)
_ADD_NEW = (
    "INSERT INTO session_messages (sender_id, recipient_id, channel, message_type, payload, status,"
    " priority, project_id, task_id, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_TYPES = {
    model.CLAIMED: "started",
    model.ADOPTED: "started",
    model.FINISHED: "completed",
    model.ROLLED_BACK: "error",
}
_MODELS = {model.CLAUDE: "claude-opus-5-5", model.CODEX: "gpt-5.5", model.GEMINI: "gemini-3-pro"}


class Message(NamedTuple):
    """One message between sessions."""

    at: int
    session: model.Session
    type: str
    tasks: tuple[str, ...] = ()
    status: str = "read"


class Messaging:
    """Both databases, written from what happened."""

    def __init__(self, tale: story.Story, directory: str, note: truth.Truth) -> None:
        self._story = tale
        self._directory = directory
        self._truth = note
        self._rng = random.Random(f"messages {tale.seed}")  # noqa: S311 (can be repeated)
        self._held = processes.held(tale)

    def write(self) -> dict[str, int]:
        """Write both files; how many rows there are."""
        os.makedirs(os.path.join(self._directory, PLACE), exist_ok=True)
        everything = sorted(self._messages(), key=lambda m: (m.at, m.session.number))
        old = [m for m in everything if m.at < REPLACED_AT and m.type != "task_conflict"]
        new = [m for m in everything if m.at >= REPLACED_AT or m.type == "task_conflict"]
        wanted = self._story.size.of(MESSAGES)
        new += self._heartbeats(max(wanted - len(new), len(new) // 10))
        new.sort(key=lambda m: (m.at, m.session.number))
        kept = self._write_old(old)
        self._write_new(new)
        return {"session_messages": len(new), "inter_session_messages": kept}

    def _messages(self) -> Iterator[Message]:
        for session in self._story.sessions:
            yield Message(session.start, session, "session_lifecycle", (), "started")
            for act in session.acts:
                if act.what in _TYPES:
                    yield Message(act.at, session, _TYPES[act.what], (act.task,))
            if session.ending in (model.AT_REST, model.LIMITED):
                yield Message(session.end, session, "session_lifecycle", (), "ended")
        for task, rival, at in self._story.conflicts:
            session = self._story.sessions[rival]
            yield Message(at, session, "task_conflict", (task,), "pending")

    def _heartbeats(self, count: int) -> Iterator[Message]:
        later = [s for s in self._story.sessions if s.end > REPLACED_AT + model.HOUR]
        for _ in range(count):
            session = self._rng.choice(later)
            at = self._rng.randrange(max(session.start, REPLACED_AT), session.end)
            tasks = dict.fromkeys(a.task for a in session.acts if a.at <= at)
            yield Message(at, session, "heartbeat", tuple(tasks)[-3:], "expired")

    def _write_old(self, messages: list[Message]) -> int:
        """Broadcasts live for five minutes; some of them were deleted after that."""
        connection = archive.connect(os.path.join(self._directory, OLD_FILE))
        connection.executescript(_OLD_SCHEMA)
        connection.execute("BEGIN")
        rows, lost = [], []
        # Of these there are other traces.
        done = {
            task.id
            for track in self._story.plan.pilot
            for task in track.tasks
            if task.fate == model.DONE
        }
        for message in messages:
            is_known = message.type == "started" and message.tasks[0] in done
            if is_known and self._rng.random() < 0.2:
                lost.append(message)
                continue
            rows.append(
                (
                    message.session.name,
                    "state" if message.type == "session_lifecycle" else "task_broadcast",
                    _payload(message),
                    model.naive(message.at),
                    _TTL_SECONDS,
                )
            )
            self._tell(message, OLD_FILE)
        connection.executemany(_ADD_OLD, rows)
        connection.execute("COMMIT")
        connection.close()
        names = sorted({task for message in lost for task in message.tasks})
        self._truth.trap("ttl_expired_broadcasts", where=OLD_FILE, deleted=names)
        self._truth.trap("naive_times", where=OLD_FILE)
        return len(rows)

    def _write_new(self, messages: list[Message]) -> None:
        connection = archive.connect(os.path.join(self._directory, NEW_FILE))
        connection.executescript(_NEW_SCHEMA)
        connection.execute("BEGIN")
        connection.execute("INSERT INTO schema_version VALUES (2, ?)", (model.naive(REPLACED_AT),))
        connection.executemany(_ADD_NEW, map(self._row, messages))
        for message in messages:
            self._tell(message, NEW_FILE)
        self._write_claims(connection)
        self._write_registry(connection)
        connection.execute("COMMIT")
        # As its owner keeps it. The file is whole: its log is empty when it is closed.
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.close()

    def _row(self, message: Message) -> tuple[Any, ...]:
        is_lifecycle = message.type == "session_lifecycle"
        task = message.tasks[0] if len(message.tasks) == 1 else None
        return (
            *(message.session.name, None),
            "state" if is_lifecycle else "task_broadcast",
            *(message.type, _payload(message), "read" if is_lifecycle else message.status),
            2 if message.type == "task_conflict" else 0,
            *(message.session.project, task, model.naive(message.at)),
        )

    def _tell(self, message: Message, where: str) -> None:
        kind = truth.LISTED if message.type == "heartbeat" else truth.STATED
        at = message.at // 1000 * 1000
        for task in message.tasks:
            self._truth.note(task, kind, at, SOURCE, where, message.session.project)

    def _write_claims(self, connection: sqlite3.Connection) -> None:
        for each in self._held:
            connection.execute(
                "INSERT INTO task_claims VALUES (?, ?, ?, ?)",
                (each.task, each.session.name, model.MAIN, model.naive(each.at)),
            )
            at = each.at // 1000 * 1000
            self._truth.note(each.task, truth.STATED, at, SOURCE, NEW_FILE)
        kept = {each.task for each in self._held}
        lost = [
            task.id
            for track in self._story.plan.pilot
            for task in track.tasks
            if task.fate == model.DEAD_CLAIM and task.id not in kept
        ]
        self._truth.trap("claims_deleted_by_cleanup", where=NEW_FILE, tasks=lost)

    def _write_registry(self, connection: sqlite3.Connection) -> None:
        owners = {each.session.number: each for each in self._held}
        count = self._story.size.of(REGISTERED, 8)
        last = sorted(self._story.sessions, key=lambda s: (s.end, s.number))[-count:]
        others = [s for s in last if s.number not in owners][: max(0, count - len(owners))]
        chosen = [self._story.sessions[number] for number in sorted(owners)] + others
        for session in sorted(chosen, key=lambda s: s.number):
            holding = owners.get(session.number)
            connection.execute(
                "INSERT INTO session_registry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                self._registered(session, holding),
            )

    def _registered(
        self, session: model.Session, holding: processes.Held | None
    ) -> tuple[Any, ...]:
        status = "active" if holding else "stale" if session.ending == model.KILLED else "ended"
        pid = session.pid if self._story.has_liveness else None
        return (
            *(session.name, session.vendor, _MODELS[session.vendor], session.project, pid),
            f"{self._directory}/{session.project}",
            *(f"host-{session.machine}", f"machine-{session.machine}", session.uuid),
            holding.task if holding else None,
            *(status, model.naive(session.start), model.naive(session.end)),
        )


def _payload(message: Message) -> str:
    found: dict[str, Any] = {
        "type": message.type,
        "session_id": message.session.name,
        "project_id": message.session.project,
    }
    if message.type == "session_lifecycle":
        found["event"] = message.status
    if message.type == "heartbeat":
        found["tasks"] = list(message.tasks)
    elif message.tasks:
        found["task_id"] = message.tasks[0]
        found["timestamp"] = clock.text(message.at)
    return json.dumps(found)
