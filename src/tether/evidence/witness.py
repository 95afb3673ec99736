"""Brings the evidence forward to what there is now, and answers from it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable

from tether import errors, git, host, index, workspace
from tether.evidence import claimed, keeping, kinds, ledger, model, places, timeline
from tether.evidence.history import commits, made
from tether.hints import NamedTuple, TypeVar
from tether.ids import TaskKey
from tether.store import port, sql
from tether.tasks.sources import patterns

T = TypeVar("T")
# The first reading of a large history takes a while, and whoever comes second needs it too.
_WAIT_SECONDS = 120.0
_SQL = sql.Queries("evidence")
_EMPTY = (
    "DELETE FROM activities",
    "DELETE FROM edits",
    "DELETE FROM evidence_files",
    "DELETE FROM parsed_files",
    "DELETE FROM checkouts",
    "DELETE FROM authored",
    "DELETE FROM reflogs",
)


class Looked(NamedTuple):
    """What bringing everything forward came to."""

    files: int = 0
    read: int = 0
    read_bytes: int = 0
    commits: int = 0
    kept: int = 0
    problems: tuple[model.Problem, ...] = ()


class _Past(NamedTuple):
    """What looking at Git's history came to."""

    looked_for: patterns.Kinds
    commits: int
    problems: tuple[model.Problem, ...]


class Witness:
    """Tells what happened in one repository."""

    def __init__(
        self,
        here: workspace.Workspace,
        store: port.Store,
        where: places.Places,
        kinds: patterns.Kinds,
        *,
        work_root: str,
        host_id: str,
        keeps_excerpts: bool,
        kinds_of: Callable[[str], patterns.Kinds] = lambda _: patterns.Kinds(),
        tell: model.Tell = lambda _: None,
        is_task: Callable[[str], bool] = lambda _: False,
        only: tuple[str, ...] = (),
    ) -> None:
        self._here = here
        self._store = store
        self._kinds = kinds
        self._kinds_of = kinds_of
        self._tell = tell
        self._is_task = is_task
        self._only = only
        self._finder = patterns.Finder(kinds)
        self._work_root = work_root
        self._host_id = host_id
        self._keeps_excerpts = keeps_excerpts
        self._places = where
        self.looked = Looked()

    @property
    def finder(self) -> patterns.Finder:
        """Finds the ids of the lists of this checkout."""
        return self._finder

    @property
    def root(self) -> str:
        """The top of this checkout; empty in a bare repository."""
        return self._here.root or ""

    def timeline(self, key: TaskKey, names: tuple[str, ...] = ()) -> timeline.Timeline:
        """The whole life of a task; `names` are ids that it had before."""
        wanted = (key.id, *names)
        around = self.around()
        return self.ask(
            lambda connection: timeline.read(connection, self._store, key, wanted, around)
        )

    def around(self) -> claimed.Around:
        """What a timeline is told from besides: this machine, its checkouts, Git as it is now."""
        return claimed.Around(
            self._git_dirs(), self._host_id, git.Git(self._here.place), self._is_task
        )

    def told_of(self, names: Iterable[str]) -> list[TaskKey]:
        """The tasks that go by one of these ids and of which anything is told."""
        return self.ask(lambda connection: timeline.told_of(connection, self._store, names))

    def edits_beside(self, session: str, since: str) -> list[model.Activity]:
        """What a session edited from a time on, and no claim of it says for which task."""
        return self.ask(
            lambda connection: claimed.edits_beside(
                connection, self._store, session, since, self._host_id
            )
        )

    def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Bring everything forward, and ask the index."""

        def work(connection: sqlite3.Connection) -> T:
            self.looked = self._look(connection)
            return question(connection)

        return self._derived(work)

    def ask_history(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Bring forward only what Git tells, and ask the index."""

        def work(connection: sqlite3.Connection) -> T:
            self._look_at_history(connection, self.roots())
            return question(connection)

        return self._derived(work)

    def start_over(self) -> None:
        """Forget what is derived, and derive it again."""

        def work(connection: sqlite3.Connection) -> None:
            with ledger.transaction(connection):
                for statement in _EMPTY:
                    connection.execute(statement)
            self.looked = self._look(connection)

        self._derived(work)

    def problems(self) -> tuple[model.Problem, ...] | None:
        """What cannot be read, without changing anything; None if nothing was ever read here."""
        own = index.Index(self._here.store_dir)
        try:
            found = own.consider(lambda connection: self._look(connection, keeps=False))
            return found.problems if found is not None else None
        finally:
            own.close()
            self._tell("")

    def roots(self) -> tuple[str, ...]:
        """The checkouts of this repository, also those that were there once."""
        rows = self._store.rows(_SQL.worktrees, host_id=self._host_id, host_name=host.name())
        known = sorted(row["worktree"] for row in rows)
        return places.checkouts(self._here, [path for path in known if self._may_be_ours(path)])

    def _derived(self, work: Callable[[sqlite3.Connection], T]) -> T:
        own = index.Index(self._here.store_dir)
        try:
            return own.derive(work, wait_seconds=_WAIT_SECONDS)
        finally:
            own.close()
            self._tell("")

    def _may_be_ours(self, path: str) -> bool:
        """Is a directory gone, or of this repository? Another one may have taken its place."""
        if not os.path.isdir(path):
            return True
        try:
            return workspace.find(path).common_dir == self._here.common_dir
        except errors.TetherError:
            return True  # a directory that is left of a checkout, without any repository

    def _look(self, connection: sqlite3.Connection, *, keeps: bool = True) -> Looked:
        roots = self.roots()
        past = self._look_at_history(connection, roots)
        search = places.Search(self._places, roots)
        finder = patterns.Finder(past.looked_for)
        # The ledger has the problems of everything that is in the index, so it comes last.
        found = ledger.Ledger(connection, finder, roots).look(search, self._tell)
        problems = (*found.problems, *past.problems)
        kept = 0
        try:
            kept = self._keep(connection, past.looked_for) if keeps else 0
        except (errors.StoreError, errors.FileError) as problem:
            problems = (*problems, model.Problem("the store", "", problem.message))
        return Looked(found.files, found.read, found.read_bytes, past.commits, kept, problems)

    def _look_at_history(self, connection: sqlite3.Connection, roots: tuple[str, ...]) -> _Past:
        """Bring forward what Git tells; which ids there are to look for."""
        own = (self._here.root or "", self._kinds)
        found_kinds = kinds.of_all(connection, own, roots, self._kinds_of)
        count = 0
        looked_for = self._all(connection, found_kinds)
        repository = git.Git(self._here.place)
        try:
            while True:
                finder = patterns.Finder(looked_for)
                history = commits.History(connection, repository, finder, self._work_root)
                count += history.look(self._tell)
                # Git may have lists that no checkout has: then their ids are looked for, too.
                grown = self._all(connection, found_kinds)
                if grown == looked_for:
                    break
                looked_for = grown
        except errors.GitError as problem:
            told = (model.Problem(self._here.place, "", problem.message),)
            return _Past(looked_for, count, told)
        return _Past(looked_for, count, ())

    def _all(self, connection: sqlite3.Connection, found: list[patterns.Kinds]) -> patterns.Kinds:
        return kinds.together([*found, commits.kinds_of_lists(connection)], self._only)

    def _keep(self, connection: sqlite3.Connection, looked_for: patterns.Kinds) -> int:
        # Reading must not make a store where there is none.
        if not self._store.exists():
            return 0
        made.keep(connection, self._store, self._host_id, self._git_dirs())
        return keeping.keep(
            connection,
            self._store,
            self._host_id,
            with_excerpts=self._keeps_excerpts,
            sources=("", *looked_for.sources),
        )

    def _git_dirs(self) -> dict[str, str]:
        """The git dir of each checkout that is there now."""
        found = {}
        for root in self.roots():
            try:
                there = workspace.find(root) if os.path.isdir(root) else None
            except errors.TetherError:
                continue
            if there and there.root == root and there.common_dir == self._here.common_dir:
                found[root] = there.git_dir
        return found
