"""Git's history as evidence: commits that name tasks, and what they did to the task lists.

What is no longer reachable from any branch or checkout is taken back: a squash, a rebase or a
forced push leaves nothing behind. Objects that are missing, as in a partial clone, are told.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator

from tether import clock, git
from tether.evidence import ledger, mentions, model
from tether.evidence.history import commit_messages, features, list_changes
from tether.hints import NamedTuple
from tether.tasks.sources import dialects, finding, patterns

COMMITS = "git:commit"
LISTS = list_changes.SOURCE
VERSION = "7"
_MAX_FILES = 50
# So many commits are written down together: who interrupts the first reading loses no more.
_BATCH = 200
_MAX_PROBLEMS = 50
_FILE = "SELECT id, reader, state, problems FROM evidence_files WHERE path = ?"
_LISTED = (
    "SELECT task_source, task FROM activities"
    " WHERE file = ? AND start = ? AND place = ? AND kind = 'listed' AND what <> ?"
)
_TASKS = "SELECT DISTINCT task_source, task FROM activities WHERE file = ?"
_NEW = (
    "INSERT INTO evidence_files (path, source, stamp, reader, is_ours, offset, anchor, state,"
    " facts, session, problems) VALUES (?, ?, '', '', 1, 0, '', '{}', '', '', '[]')"
)
_KEEP = "UPDATE evidence_files SET reader = ?, state = ?, problems = ? WHERE id = ?"
_FORGET_COMMIT = "DELETE FROM activities WHERE file = ? AND start = ? AND place = ?"
_AUTHORED = "INSERT OR REPLACE INTO authored VALUES (?, ?, ?)"
_FORGET_AUTHORED = "DELETE FROM authored WHERE oid = ?"
_ADD = "INSERT INTO activities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class _Known(NamedTuple):
    """What the index has of the commits, or of the lists in them."""

    file_id: int
    is_current: bool
    tips: tuple[git.Oid, ...] = ()
    """All that lies behind these was read."""
    absent: tuple[git.Oid, ...] = ()
    """Versions of lists that were not here."""
    problems: tuple[model.Problem, ...] = ()
    is_whole: bool = False
    """Was a reading brought to its end, and not killed after its last step?"""

    @property
    def nothing(self) -> _Known:
        return _Known(self.file_id, is_current=True)


class History:
    """The commits of one repository, in an index that may be changed."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        repository: git.Git,
        finder: patterns.Finder,
        work_root: str,
    ) -> None:
        self._connection = connection
        self._repository = repository
        self._finder = finder
        self._lists = list_changes.Lists(repository, work_root)
        self._shallow = repository.shallow()
        # The lists do not depend on which ids are looked for.
        self._versions = {LISTS: f"{list_changes.VERSION} {work_root} {_digest(self._shallow)}"}
        self._versions[COMMITS] = f"{VERSION} {self._versions[LISTS]} {finder.version}"

    def look(self, tell: model.Tell = lambda _: None) -> int:
        """Bring everything forward to what Git says now; how many commits were read."""
        known, lists = self._known(COMMITS), self._known(LISTS)
        if self._has_come(lists.absent):
            known, lists = (each._replace(is_current=False) for each in (known, lists))
        tips = self._tips()
        are_current = all(e.is_current and set(e.tips) == set(tips) for e in (known, lists))
        if are_current and lists.is_whole:
            return 0
        count = 0
        with ledger.transaction(self._connection) as transaction:
            (known, gone), (lists, _) = (self._without(each, tips) for each in (known, lists))
            new = self._new_to(lists, known, tips)
            found = self._repository.log(tips, exclude=known.tips, parents_first=True)
            while batch := list(itertools.islice(found, _BATCH)):
                count += len(batch)
                batch = [self._seen(each) for each in batch]
                lists = self._read_lists(lists, [c for c in batch if new is None or c.oid in new])
                known = self._read(known, lists.file_id, batch)
                tell(f"reading Git's history: {count} commits")
                # What was taken back is no longer all that lies behind what was known.
                if not gone:
                    self._keep(COMMITS, known)
                    self._keep(LISTS, lists)
                    transaction.step()
            self._keep(COMMITS, known._replace(tips=tuple(tips)))
            self._keep(LISTS, lists._replace(tips=tuple(tips)), kinds=True)
        return count

    def _without(self, known: _Known, tips: list[git.Oid]) -> tuple[_Known, bool]:
        """What is known without what cannot be reached any more, and whether that was anything."""
        lost = [oid for oid in known.tips if oid not in set(tips)]
        if known.is_current and not self._repository.missing(lost):
            taken = self._take_back(self._repository.log(lost, exclude=tips), known.file_id)
            # A version that could not be read may be in other commits, or in none any more.
            if not (taken and known.problems):
                return known, taken
        ledger.forget(self._connection, known.file_id)
        return known.nothing, False

    def _new_to(self, lists: _Known, known: _Known, tips: list[git.Oid]) -> set[git.Oid] | None:
        """The commits whose lists are to be read; None for all that are read anyway."""
        if set(lists.tips) == set(known.tips):
            return None
        return {each.oid for each in self._repository.log(tips, exclude=lists.tips)}

    def _seen(self, commit: git.Commit) -> git.Commit:
        """A commit without its changes where a shallow clone ends: they would be everything."""
        return commit._replace(changes=()) if commit.oid in self._shallow else commit

    def _read_lists(self, lists: _Known, batch: list[git.Commit]) -> _Known:
        self._add(lists.file_id, self._lists.read(batch))
        return lists._replace(
            tips=_frontier(lists.tips, batch),
            absent=tuple(sorted({*lists.absent, *self._lists.absent})),
            problems=tuple(sorted({*lists.problems, *self._lists.problems})[:_MAX_PROBLEMS]),
        )

    def _read(self, known: _Known, lists_id: int, batch: list[git.Commit]) -> _Known:
        rows = (row for each in batch for row in self._from(each, self._listed(lists_id, each)))
        self._add(known.file_id, rows)
        self._connection.executemany(_AUTHORED, _written_before(batch))
        return known._replace(tips=_frontier(known.tips, batch))

    def _listed(self, lists_id: int, commit: git.Commit) -> set[tuple[str, str]]:
        """The tasks that a commit wrote down first."""
        place = (lists_id, _made_at(commit), f"commit:{commit.oid}")
        rows = self._connection.execute(_LISTED, (*place, list_changes.TAKEN_OFF))
        return set(rows.fetchall())

    def _has_come(self, absent: tuple[git.Oid, ...]) -> bool:
        """Is something here now that was missing, as when a partial clone fetches it?"""
        return bool(absent) and len(self._repository.missing(absent)) < len(set(absent))

    def _tips(self) -> list[git.Oid]:
        tips = {oid for under in ("heads", "remotes") for _, oid in self._refs(under)}
        tips |= {each.head for each in self._repository.worktrees() if each.head}
        return sorted(tips)

    def _refs(self, under: str) -> Iterable[tuple[str, git.Oid]]:
        # A remote's HEAD points to one of its branches, and may dangle.
        return [each for each in self._repository.refs(f"refs/{under}") if each[0][-5:] != "/HEAD"]

    def _from(self, commit: git.Commit, listed: set[tuple[str, str]]) -> Iterator[model.Activity]:
        """What a commit says; `listed` are the tasks that it wrote down first."""
        is_merge = len(commit.parents) > 1
        is_work = is_merge or any(not self._lists.is_list(change.path) for change in commit.changes)
        about = commit_messages.read(
            self._finder,
            commit.subject,
            commit.body,
            is_merge=is_merge,
            is_work=is_work,
        )
        if any(each.source == dialects.SPECKIT for each in about):
            paths = (change.path for change in commit.changes)
            feature = features.of_commit(commit.subject, paths, is_merge=is_merge)
            about = [e._replace(id=features.placed(e.source, e.id, feature)) for e in about]
        if not is_work:
            about = [
                e._replace(kind=model.LISTED) if (e.source, e.id) in listed else e for e in about
            ]
        said = mentions.excerpt(commit.subject)
        files = tuple(change.path for change in commit.changes[:_MAX_FILES])
        plain = model.Activity(
            COMMITS,
            f"commit:{commit.oid}",
            commit.oid,
            clock.text(commit.committed_ms),
            model.WORKED if is_work else model.STATED,
            "committed",
            text=said,
            files=files,
        )
        # One that names no task may be of the claim that was held where it was made.
        own = (each for each in about if each.what != commit_messages.REVERTED)
        if not any(each.kind in model.MOVING for each in own):
            yield plain
        for each in about:
            text = said if each.start >= 0 else mentions.excerpt(commit.body)
            yield plain._replace(
                task=each.id, task_source=each.source, kind=each.kind, what=each.what, text=text
            )

    def _add(self, file_id: int, activities: Iterable[model.Activity]) -> None:
        rows = (ledger.row(file_id, "", each) for each in activities)
        dated = ((row[0], _start(str(row[8])), *row[2:]) for row in rows)
        self._connection.executemany(_ADD, dated)

    def _take_back(self, commits: Iterable[git.Commit], file_id: int) -> bool:
        """Forget commits; whether there were any."""
        has_any = False
        for commit in commits:
            has_any = True
            place = (file_id, _made_at(commit), f"commit:{commit.oid}")
            self._connection.execute(_FORGET_COMMIT, place)
            self._connection.execute(_FORGET_AUTHORED, (commit.oid,))
        return has_any

    def _known(self, source: str) -> _Known:
        row = self._connection.execute(_FILE, (source,)).fetchone()
        if row is None:
            file_id = self._connection.execute(_NEW, (source, source)).lastrowid or 0
            return _Known(file_id, is_current=False)
        file_id, version, state, problems = row
        found = json.loads(state)
        return _Known(
            file_id,
            version == self._versions[source],
            tuple(map(git.Oid, found.get("oids", []))),
            tuple(map(git.Oid, found.get("absent", []))),
            tuple(model.Problem(*each) for each in json.loads(problems)),
            "kinds" in found,
        )

    def _keep(self, source: str, known: _Known, *, kinds: bool = False) -> None:
        state: dict[str, object] = {"oids": sorted(known.tips), "absent": known.absent}
        if kinds:
            state["kinds"] = self._kinds(known.file_id)
        problems = json.dumps(known.problems)
        values = (self._versions[source], json.dumps(state), problems, known.file_id)
        self._connection.execute(_KEEP, values)

    def _kinds(self, lists_id: int) -> list[object]:
        """The lists that Git has or had, and how the ids of some begin."""
        rows = self._connection.execute(_TASKS, (lists_id,)).fetchall()
        sources = {source for source, _ in rows}
        return [sorted(sources), finding.prefixes_of(rows)]


def kinds_of_lists(connection: sqlite3.Connection) -> patterns.Kinds:
    """The kinds of ids of all lists that Git has, or had on some branch, as far as was read."""
    row = connection.execute(_FILE, (LISTS,)).fetchone()
    sources, prefixes = json.loads(row[2]).get("kinds", [[], []]) if row else ([], [])
    return patterns.Kinds(tuple(sources), (), tuple((source, each) for source, each in prefixes))


def _digest(oids: Iterable[str]) -> str:
    return hashlib.blake2b(" ".join(sorted(oids)).encode(), digest_size=12).hexdigest()


def _made_at(commit: git.Commit) -> int:
    """When a commit was made, as its activities have it: Git takes dates that are none."""
    return _start(clock.text(commit.committed_ms))


def _start(at: str) -> int:
    return clock.parse(at) if at else 0


def _written_before(commits: Iterable[git.Commit]) -> Iterator[tuple[str, int, int]]:
    """The commits that were written earlier than they were made: amended, rebased, picked."""
    for commit in commits:
        if commit.authored_ms // 1000 < commit.committed_ms // 1000:
            yield commit.oid, _start(clock.text(commit.authored_ms)), _made_at(commit)


def _frontier(read: Iterable[git.Oid], commits: Iterable[git.Commit]) -> tuple[git.Oid, ...]:
    """The last ones of all that was read; every commit comes after its parents."""
    last = set(read)
    for commit in commits:
        last.difference_update(commit.parents)
        last.add(commit.oid)
    return tuple(last)
