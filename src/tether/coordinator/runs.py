"""One run: its directory, its events in the store, and the state that follows from both.

Everything that happens is written to the store first; the state is what comes back from there. So
whatever another process adds (an answer, a checkpoint, a request to pause) counts in the same
order here as in any replay.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TypeVar

from tether import errors, files, ids, workspace
from tether.coordinator import applying, copies, documents, snapshots
from tether.coordinator.state import Outlook, State
from tether.store import events, port, run_events, sql
from tether.store.events import EventType
from tether.tasks.sources import dialects

T = TypeVar("T")
_SQL = sql.Queries("events")
_STORE = sql.Queries("store")
_DIRECTORY = "runs"
_LOCK = "lock"
# The events by which a coordinator says that the run is its own now.
_TAKES_OVER = frozenset(
    each.name
    for each in (
        run_events.SESSION_START,
        run_events.SESSION_RESUME,
        run_events.COORDINATOR_RECOVERED,
    )
)


class RunId(ids.TaskId):
    """A run; also the name of the list that its tasks are of."""

    __slots__ = ()
    noun = "name of a run"
    hint = (
        "A run's name has 1 to 64 letters, digits, '.', '_' and '-', starts with a letter or digit"
        " and does not end with '.'."
    )


class Superseded(errors.Taken):
    """Another coordinator has taken this run over. It goes on there."""

    code = "superseded"


class Run:
    """A run as one process sees it."""

    def __init__(
        self,
        store: port.Store,
        place: workspace.Workspace,
        name: RunId,
        *,
        session_id: str = "",
        actor: str = "",
    ) -> None:
        self.store = store
        self.place = place
        self.name = name
        self.session_id = session_id
        """The session that coordinates; empty for whoever only looks or adds something."""
        self.actor = actor or f"coordinator-{name}"[:64]
        self.root = files.Root(directory(place, name))
        self.fold = self._fold(State(name))
        self.loaded = snapshots.Loaded(None)
        self.reconciled: list[events.Event] = []
        """What the snapshot did not have yet when the run was opened."""
        self._is_begun = False
        self._is_superseded = False

    @property
    def state(self) -> State:
        return self.fold.state

    @property
    def outlook(self) -> Outlook:
        return self.fold.outlook

    @property
    def state_file(self) -> str:
        return os.path.join(self.root.path, snapshots.STATE_FILE)

    # Opening

    def make(self) -> None:
        """Make the directory of a new run."""
        self.store.ensure_writable()
        if not os.path.isdir(self.place.store_dir):  # a store on a server needs none here
            files.make_directory_like(self.place.store_dir, like=self.place.common_dir)
        files.make_directory_like(self.root.path, like=self.place.store_dir)

    def open(self, *, tidies: bool = False) -> Run:
        """Find the run's state; `tidies` is for whoever holds its lock."""
        self.loaded = snapshots.load(self.root, self.name, self.now(), tidies=tidies)
        if self.loaded.state is not None:
            self.fold = self._fold(self.loaded.state)
            self._require_log(may_write=tidies)
        self.reconciled = self.catch_up()
        if not self.state.session_started_at:
            raise errors.NotFound(
                f"There is no run {self.name}. Nothing was changed.",
                hint="See the runs with `tether run list`.",
            )
        self._is_begun = True
        return self

    def forget_plan(self) -> None:
        """Read the plan again when it is next asked for."""
        self.fold = self._fold(self.state)

    def reload(self) -> None:
        """Forget what is in memory and find it again, as after a compaction."""
        self.fold = self._fold(State(self.name))
        self.open(tidies=True)

    def _fold(self, state: State) -> applying.Fold:
        fold = applying.Fold(
            state, lambda digest: copies.load(self.root, self.place, fold.state, digest)
        )
        return fold

    def _require_log(self, *, may_write: bool) -> None:
        """The snapshot knows events that the log lacks: the store is another one than it was."""
        last, at = self.state.last_applied_event, self.state.last_event_at
        if not last or self.store.rows(_SQL.has_event, id=last, run=self.name, at=at):
            return
        told = events.of_run(self.store, self.name, 0)
        if any(_made_anew(event) == last for event in told):
            # Whoever made the log anew died before the snapshot followed: the log has it all.
            self.fold = self._fold(State(self.name))
            return
        # What others have written since is newer than anything that the snapshot has.
        self.state.last_applied_event = 0
        for event in told:
            if event.at > at:
                self.fold.apply(event)
        self.state.last_applied_event = told[-1].id if told else 0
        known = documents.plain(self.state)
        if not may_write:
            return

        def work(transaction: port.Transaction) -> None:
            self.event(
                transaction,
                run_events.EVENT_LOG_RECONSTRUCTED,
                reason="the log does not have what the snapshot has",
                last_applied_event=last,
            )
            self.event(transaction, run_events.STATE_CHECKPOINT, state=known)

        self.store.write("run", work)

    # Going on

    def now(self) -> str:
        """The time by the store's own clock, which is also that of its events."""
        [row] = self.store.rows(_STORE.now)
        return str(row["now"])

    def catch_up(self) -> list[events.Event]:
        """Take into account what the log has that the state has not; what that was."""
        found = events.of_run(self.store, self.name, self.state.last_applied_event)
        for event in found:
            self.fold.apply(event)
            self._notice(event)
        return found

    def _notice(self, event: events.Event) -> None:
        """Whoever took the run over last coordinates it; those before us are no matter."""
        if event.type in _TAKES_OVER and event.session:
            is_own = event.session == self.session_id
            self._is_superseded = self._is_begun and not is_own
            self._is_begun = self._is_begun or is_own

    def require_current(self) -> None:
        """Raise Superseded if the log says that somebody else coordinates by now."""
        if self._is_superseded:
            raise Superseded

    def write(self, work: Callable[[port.Transaction], T]) -> T:
        """Write to the store, unless another coordinator has taken over; then catch up."""

        def guarded(transaction: port.Transaction) -> T:
            self.require_own(transaction)
            return work(transaction)

        result = self.store.write("run", guarded)
        self.catch_up()
        return result

    def require_own(self, transaction: port.Transaction) -> None:
        """A coordinator that was replaced while it slept changes nothing any more."""
        if not self.session_id:
            return
        if self._is_superseded or transaction.rows(
            _SQL.taken_over,
            run=self.name,
            after=self.state.last_applied_event,
            session=self.session_id,
        ):
            raise Superseded

    def log(self, kind: EventType, **data: object) -> None:
        """Write one event."""
        self.write(lambda transaction: self.event(transaction, kind, **data))

    def event(self, transaction: port.Transaction, kind: EventType, **data: object) -> None:
        """Add an event to a transaction."""
        task_id = data.get("task_id")
        key = self.key(str(task_id)) if task_id else None
        transaction.event(
            kind,
            actor=self.actor,
            session=self.session_id or None,
            source=key.source if key else None,
            task=key.id if key else None,
            run=self.name,
            data=data,
        )

    def key(self, task_id: str) -> ids.TaskKey:
        """How claims and evidence call a task of this run."""
        task = self.outlook.tasks.get(task_id) if self.state.plan_digest else None
        return ids.TaskKey((task.source if task else "") or self.name, task_id)

    def save(self, reason: str = "progress") -> None:
        """Save the snapshot; the run's lock is held."""
        snapshots.save(
            self.root, self.state, session_id=self.session_id, now=self.now(), reason=reason
        )

    # Who coordinates

    def lock(self, wait_seconds: float = 0.0) -> files.Lock:
        """One coordinator for each run, on this machine; it ends with its process."""
        return files.Lock(os.path.join(self.root.path, _LOCK), "run", wait_seconds)

    @contextlib.contextmanager
    def held(self, wait_seconds: float) -> Iterator[None]:
        """Be the one coordinator of this run: here, and among all who share the store."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self.lock(wait_seconds))
                stack.enter_context(self.store.exclusively(f"run {self.name}"))
            except errors.LockBusy as busy:
                raise errors.Taken(
                    f"Run {self.name} has a coordinator already. {busy.message}",
                    hint="See it with `tether run status`; `tether run pause` stops it.",
                ) from busy
            yield

    def coordinator(self) -> files.Holder | None:
        """The process that coordinates now."""
        return files.holder(os.path.join(self.root.path, _LOCK))


def _made_anew(event: events.Event) -> int:
    """The last event of the log that this one takes the place of; 0 if it is about none."""
    is_meant = event.type == run_events.EVENT_LOG_RECONSTRUCTED.name
    return int(event.data["last_applied_event"]) if is_meant else 0


def directory(place: workspace.Workspace, name: str) -> str:
    return os.path.join(place.store_dir, _DIRECTORY, name)


def names(store: port.Store, place: workspace.Workspace) -> list[str]:
    """The runs that there are; the one that did something last comes last."""
    told = events.runs(store)
    try:
        kept = sorted(os.listdir(os.path.join(place.store_dir, _DIRECTORY)))
    except OSError:
        kept = []
    return [each for each in kept if each not in told and RunId.is_valid(each)] + told


def slug(plan_file: str) -> str:
    """The name of a run of a plan: its file's name, in small letters."""
    stem = os.path.splitext(os.path.basename(plan_file))[0]
    word = "".join(c if c.isascii() and (c.isalnum() or c in ".-") else "-" for c in stem.lower())
    word = word.strip("-.")[:48].rstrip("-.")
    # Not every word may name a directory on every system, and some name the lists of a team.
    is_free = RunId.is_valid(word) and word not in (ids.OWN_SOURCE, *dialects.NAMES)
    return word if is_free else f"run-{word}".rstrip("-")
