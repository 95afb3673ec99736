"""What a store can do, whichever database is behind it.

Rooms bring their own named statements and run them here; they know neither the database nor how
it waits, reconnects or reports errors.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from tether import errors
from tether.hints import TYPE_CHECKING, Any, Protocol, TypeVar
from tether.store import sql

if TYPE_CHECKING:
    from tether.store import events

Row = dict[str, Any]
Execute = Callable[[sql.Query, Mapping[str, object]], list[Row]]
ExecuteMany = Callable[[sql.Query, Iterable[Mapping[str, object]]], None]
T = TypeVar("T")

_STORE = sql.Queries("store")
_EVENTS = sql.Queries("events")


class RowRefused(Exception):
    """The database does not take a row: its type, its size, or what must be unique or not null."""


class Transaction:
    """A write in progress: all of it happens, or nothing."""

    def __init__(self, execute: Execute, execute_many: ExecuteMany) -> None:
        self._execute = execute
        self._execute_many = execute_many
        self._events: list[dict[str, object]] = []

    def rows(self, query: sql.Query, **params: object) -> list[Row]:
        """Run a statement; its rows, also those of a RETURNING clause."""
        return self._execute(query, params)

    def many(self, query: sql.Query, rows: Iterable[Mapping[str, object]]) -> None:
        """Run a statement for each of many rows; what it returns is not looked at."""
        self._execute_many(query, rows)

    def event(
        self,
        kind: events.EventType,
        *,
        actor: str,
        session: str | None = None,
        source: str | None = None,
        task: str | None = None,
        run: str | None = None,
        data: Mapping[str, object],
    ) -> None:
        """Log an event when this transaction commits."""
        if set(data) != set(kind.fields):
            raise ValueError(f"{kind.name} has the fields {kind.fields}, not {sorted(data)}")
        self._events.append(
            {
                "type": kind.name,
                "actor": actor,
                "session": session,
                "source": source,
                "task": task,
                "run": run,
                "data": json.dumps(data, sort_keys=True),
            }
        )

    def write_events(self) -> None:
        """Give the events their ids and write them: the store calls this right before COMMIT."""
        if not self._events:
            return
        amount = len(self._events)
        [counter] = self.rows(_STORE.count_up, name="events", amount=amount)
        for number, event in enumerate(self._events, start=counter["value"] - amount + 1):
            try:
                self.rows(_EVENTS.append, id=number, **event)
            except RowRefused as problem:
                raise errors.StoreCorrupt(
                    "The store does not take an event with the next id. Nothing was changed."
                ) from problem


class Snapshot(Protocol):
    """One consistent view of the whole store that holds up no writer."""

    def stream(self, query: sql.Query) -> Iterator[Row]: ...


class Store(Protocol):
    """Coordination: claims, messages, events and what else agents share."""

    kind: str
    wait_seconds: float
    """How long a write waits for others before it gives up; may be set anew at any time."""

    def rows(self, query: sql.Query, **params: object) -> list[Row]:
        """Read: fetched and closed at once, so that no writer waits."""

    def write(self, purpose: str, work: Callable[[Transaction], T]) -> T:
        """Run `work` in one durable transaction; it may run again if the database went away."""

    def snapshot(self, work: Callable[[Snapshot], T]) -> T:
        """Read many rows as of one moment."""

    def exclusively(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Hold a name that nobody else holds, on whatever machine; LockBusy if somebody does.

        It ends with its process. On one machine a lock of the files does that, so here it is free.
        """

    def exists(self) -> bool:
        """Has it been created yet?"""

    def ensure_writable(self) -> None:
        """Raise StoreReadOnly now rather than after a file was touched."""

    def describe(self) -> dict[str, Any]:
        """What doctor tells of this store. Reads only."""

    def close(self) -> None: ...
