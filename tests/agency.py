"""What tests of the room `agents` share: stores to open, sessions to begin, silence to pass."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

from tether import host, ids, workspace
from tether.agents import lookout, model, registry, roll
from tether.store import port, postgres, sql, sqlite

OpenStore = Callable[[], port.Store]

_PASS = sql.Query(
    "pass",
    "",
    "UPDATE agents SET last_beat_at = tether_now(:ago_ms), last_seen_at = tether_now(:ago_ms),"
    " lease_until = tether_now(:lease_ms), beat_monotonic_ms = beat_monotonic_ms + :ago_ms,"
    " version = version + 1 WHERE session_id = :session_id",
)
LEASE_MS = 900_000


def sqlite_opener(path: Path) -> OpenStore:
    place = workspace.Workspace(None, str(path), str(path), str(path / "tether"))
    return lambda: sqlite.SqliteStore(place, wait_seconds=60)


def postgres_opener(url: str) -> OpenStore:
    workspace_id = ids.WorkspaceId.generate()
    return lambda: postgres.PostgresStore(url, workspace_id, wait_seconds=60)


def opener_of(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> OpenStore:
    """How to open a store of this kind, each time on the same data."""
    if kind == "sqlite":
        return sqlite_opener(tmp_path)
    return postgres_opener(request.getfixturevalue("postgres_url"))


def on_databases(metafunc: pytest.Metafunc, on_both: Collection[str]) -> None:
    """Run tests that open a store on SQLite, and those of these names on PostgreSQL too."""
    if "opener" in metafunc.fixturenames:
        is_on_both = metafunc.function.__name__ in on_both
        kinds = ["sqlite", "postgres"] if is_on_both else ["sqlite"]
        metafunc.parametrize("opener", kinds, indirect=True)


def spot(**changes: object) -> lookout.Lookout:
    """The lookout of this process, with other eyes or patience where a test wants them."""
    return lookout.Lookout(host.here())._replace(**changes)  # type: ignore[arg-type]


def begin(
    store: port.Store,
    session_id: str,
    *,
    pid: int | None = None,
    process: host.Process | None = None,
    at: lookout.Lookout | None = None,
    kind: str = "other",
    parent: str | None = None,
) -> model.Agent:
    """Register a session; its name is `agent-<session>`."""
    if pid is not None:
        process = host.identify(pid)
        assert process is not None
    session = registry.Session(
        ids.SessionId(session_id),
        ids.AgentName(f"agent-{session_id}"),
        kind,
        ids.SessionId(parent) if parent else None,
        process,
    )
    return registry.register(store, at or spot(), session).agent


def silence(store: port.Store, session_id: str, seconds: float) -> None:
    """Let a session have been silent for this long, by both clocks."""
    ago_ms = -round(seconds * 1000)
    store.write(
        "test",
        lambda transaction: transaction.rows(
            _PASS, session_id=session_id, ago_ms=ago_ms, lease_ms=ago_ms + LEASE_MS
        ),
    )


def agent(store: port.Store, session_id: str) -> model.Agent:
    return roll.require(store.rows, session_id)


def key(label: str) -> ids.TaskKey:
    return ids.TaskKey.parse(label)


def sleeper() -> subprocess.Popen[bytes]:
    """A process that lives until it is told otherwise, or until the test ends."""
    script = "import sys; sys.stdin.read()"
    return subprocess.Popen([sys.executable, "-S", "-c", script], stdin=subprocess.PIPE)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill it, and leave no zombie."""
    process.kill()
    process.wait()
    if process.stdin:
        process.stdin.close()


def closing(open_: OpenStore) -> Iterator[OpenStore]:
    """The opener, and everything that it opened closed in the end."""
    opened: list[port.Store] = []

    def opener() -> port.Store:
        opened.append(open_())
        return opened[-1]

    yield opener
    for store in opened:
        store.close()
