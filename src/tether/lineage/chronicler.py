"""Keeps lineage current in the index, and answers from it: the room's front door.

A question brings forward what is new since the last one, as long as that is little; the first index
of a history is made when somebody asks for it. What cannot be written is answered from what there
is.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
from collections.abc import Callable, Iterator

from tether import clock, errors, index
from tether.git import Git, Oid
from tether.hints import TYPE_CHECKING, NamedTuple, TypeVar
from tether.lineage import imports, kept, keptoutlines, targets
from tether.lineage.edges import view
from tether.store import port, sql

if TYPE_CHECKING:
    # A question that finds everything current needs none of what derives it.
    from tether.lineage import identities
    from tether.lineage.derive import attribution, checkout, running

T = TypeVar("T")
Tell = Callable[[str], None]
_SQL = sql.Queries("lineage")
_FEW_COMMITS = 300
_MARK = "SELECT cursor FROM derivation_cursors WHERE deriver = ?"
_KEEP_MARK = "INSERT OR REPLACE INTO derivation_cursors VALUES (?, ?)"
_ANY = "SELECT 1 FROM identity_commits LIMIT 1"
_LISTS = "SELECT path FROM parsed_files WHERE worktree = ? LIMIT 20000"
_MAX_FOLDERS = 2000
_MAX_ATTEMPTS = 3


class Sources(NamedTuple):
    """What lineage is derived from; the costly parts are functions, asked only if needed."""

    place: str
    """Where git is called."""
    store_dir: str
    root: str
    """The top of the checkout; empty in a bare repository."""
    work_root: str
    store: port.Store
    here: Callable[[Oid], checkout.Here]
    held: Callable[[], attribution.Claims]
    look: Callable[[], None]
    """Brings forward what Git tells of tasks."""
    roots: Callable[[], tuple[str, ...]]
    links: tuple[str, ...] = ()
    """Files with links of other tools."""


class Brought(NamedTuple):
    """What bringing lineage forward came to."""

    built: identities.Built
    derived: running.Derived | None
    """None if the index could not be written."""


class _Once:
    """Something that is done when it is first asked for."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work: Callable[[], None] | None = work

    def __call__(self) -> None:
        work, self._work = self._work, None
        if work is not None:
            work()


class Chronicler:
    """Answers for one checkout."""

    def __init__(self, sources: Sources, clock_: clock.Clock, tell: Tell = lambda _: None) -> None:
        self.sources = sources
        self.git = Git(sources.place)
        self._clock = clock_
        self._tell = tell
        self._index = index.Index(sources.store_dir)
        self._missing = keptoutlines.Missing()

    def close(self) -> None:
        self._index.close()

    def rebuild(self, tip: Oid, *, anew: bool = False) -> Brought:
        """Bring everything forward to a commit, however long that takes."""
        from tether.lineage import following

        sources, commits, events = self.sources, 0, 0
        look = _Once(sources.look)
        for _ in range(_MAX_ATTEMPTS):
            place = (sources.place, sources.store_dir, tip)
            built = following.bring(*place, anew=anew, tell=self._tell, meanwhile=look)
            commits, events, anew = commits + built.commits, events + built.events, False
            built = built._replace(commits=commits, events=events)
            derived = self._derive(tip, look) if built.is_kept else None
            # Somebody else may have begun anew meanwhile.
            if derived is not None or not built.is_kept:
                break
        return Brought(built, derived)

    def refresh(self, tip: Oid) -> bool:
        """Bring forward what is new, if that is little; whether the commit is known now."""
        boundary = kept.boundary_of(self.git.shallow())
        look = _Once(self.sources.look)
        if not self._index.read(lambda c: kept.is_known(c, tip, boundary)):
            from tether.lineage import following

            place = (self.sources.place, self.sources.store_dir, tip)
            brought = following.bring(*place, tell=self._tell, most=_FEW_COMMITS, meanwhile=look)
            if not brought.is_kept:
                return False
        if self._token(tip) != self._kept_token():
            self._derive(tip, look)
        return True

    def has_any(self) -> bool:
        """Whether any commit was followed yet."""
        return bool(self._index.rows(_ANY))

    def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """Ask the index; outlines that were dropped from it are made again."""
        self._missing = keptoutlines.Missing()
        found = self._asked(question)
        # What is made for one answer may lead to others.
        for _ in range(_MAX_ATTEMPTS):
            if not self._missing.wanted:
                break
            from tether.lineage import sandbox

            with sandbox.Sandbox(self.sources.place, self.sources.store_dir) as box:
                box.prepare(self._missing.taken())
            found = self._asked(question)
        if isinstance(found, errors.TetherError):
            raise found
        if found is not None:
            return found[0]
        raise errors.NotFound(
            "The index cannot be read. Nothing else is lost.",
            hint="Make it anew with `tether lineage rebuild`.",
        )

    def _asked(
        self, question: Callable[[sqlite3.Connection], T]
    ) -> tuple[T] | errors.TetherError | None:
        """An answer, or why there is none: that may be because an outline is missing."""
        try:
            return self._index.read(lambda connection: (question(connection),))
        except errors.TetherError as problem:
            return problem

    @contextlib.contextmanager
    def aimed(
        self, connection: sqlite3.Connection, commit: Oid, below: str = ""
    ) -> Iterator[targets.Aim]:
        """Who finds what selectors name at a commit that is known."""
        number = kept.number_of(connection, commit)
        if number is None:
            raise errors.NotFound(
                f"The index does not know commit {commit[:12]}.",
                hint="Bring it up to date with `tether lineage rebuild`.",
            )
        aim = targets.Aim(connection, self.git, commit, number, below, self._missing)
        try:
            yield aim
        finally:
            aim.close()

    def scopes(self) -> tuple[str, ...]:
        """What Git and the store say, and what this checkout does."""
        return ("", self.sources.root) if self.sources.root else ("",)

    def wrong(self) -> frozenset[view.Content]:
        """The edges that somebody judged wrong."""
        if not self.sources.store.exists():
            return frozenset()
        rows = self.sources.store.rows(_SQL.judged)
        return frozenset(
            view.Content(row["subject"], row["edge_type"], row["object"], row["deriver"])
            for row in rows
            if row["verdict"] == "wrong"
        )

    def _derive(self, tip: Oid, look: _Once) -> running.Derived | None:
        """Bring the edges forward."""
        from tether.lineage.derive import running

        sources = self.sources
        if not sources.root:
            return running.Derived(0)
        look()
        # Taken before anything is read: what changes meanwhile is read again the next time.
        token = self._token(tip)
        done = running.bring(
            self._index,
            sources.here(tip),
            sources.store,
            sources.held() if sources.store.exists() else None,
            clock.now_text(self._clock),
            roots=sources.roots(),
            store_dir=sources.store_dir,
            wrong=self.wrong(),
            tell=self._tell,
        )
        self._tell("")
        if done is not None:
            self._index.write(
                lambda into: into.execute(_KEEP_MARK, (self._token_name, token)),
                wait_seconds=5.0,
            )
        return done

    @property
    def _token_name(self) -> str:
        return f"edges:{self.sources.root}"

    def _kept_token(self) -> str:
        rows = self._index.rows(_MARK, (self._token_name,))
        return str(rows[0][0]) if rows else ""

    def _token(self, tip: Oid) -> str:
        """Another one if edges may have changed: by what costs little to look at."""
        store = self.sources.store
        [moved] = store.rows(_SQL.moved) if store.exists() else [{}]
        stamps = [str(tip), *(f"{name}={value}" for name, value in moved.items())]
        stamps += self._folders()
        stamps.append(_stamp(os.path.join(self.sources.store_dir, imports.DIRECTORY)))
        for link in self.sources.links:
            stamps += [link, _stamp(os.path.join(self.sources.root, link))]
        for (path,) in self._index.rows(_LISTS, (self.sources.root,)):
            if not path.startswith(f"{self.sources.work_root}/"):
                stamps.append(_stamp(os.path.join(self.sources.root, path)))
        return " ".join(stamps)

    def _folders(self) -> Iterator[str]:
        """The directories of task files: whoever writes one as we do changes its directory."""
        top = os.path.join(self.sources.root, self.sources.work_root)
        yield _stamp(os.path.join(top, "lineage.yaml"))
        for path, folders, _ in itertools.islice(os.walk(top), _MAX_FOLDERS):
            folders.sort()
            yield _stamp(path)


def _stamp(path: str) -> str:
    try:
        return str(os.stat(path).st_mtime_ns)
    except OSError:
        return "-"
