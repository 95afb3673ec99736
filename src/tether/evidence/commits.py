"""Git's history as evidence: commits that name tasks, and what they did to the task lists.

What is no longer reachable from any branch or checkout is taken back: a squash, a rebase or a
forced push leaves nothing behind. Objects that are missing, as in a partial clone, are told.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator

from tether import clock, git
from tether.evidence import commit_messages, features, ledger, list_changes, mentions, model
from tether.tasks.sources import dialects, patterns

COMMITS = "git:commit"
LISTS = list_changes.SOURCE
VERSION = "3"
_MAX_FILES = 50
# So many commits are written down together: who interrupts the first reading loses no more.
_BATCH = 200
_FILE = "SELECT id, reader, state FROM evidence_files WHERE path = ?"
_NEW = (
    "INSERT INTO evidence_files (path, source, stamp, reader, is_ours, offset, anchor, state,"
    " facts, session, problems) VALUES (?, ?, '', '', 1, 0, '', '{}', '', '', '[]')"
)
_KEEP = "UPDATE evidence_files SET reader = ?, state = ?, problems = ? WHERE id = ?"
_FORGET_COMMIT = "DELETE FROM activities WHERE file = ? AND start = ? AND place = ?"
_AUTHORED = "INSERT OR REPLACE INTO authored VALUES (?, ?, ?)"
_FORGET_AUTHORED = "DELETE FROM authored WHERE oid = ?"
_ADD = "INSERT INTO activities VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


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
        versions = (VERSION, list_changes.VERSION, work_root, finder.version, _depth(repository))
        self._version = " ".join(versions)

    def look(self, tell: model.Tell = lambda _: None) -> int:
        """Bring everything forward to what Git says now; how many commits were read."""
        file_id, version, known = self._known(COMMITS)
        lists_id, _, absent = self._known(LISTS)
        tips = self._tips()
        is_outdated = version != self._version or self._has_come(absent)
        if not is_outdated and set(known) == set(tips):
            return 0
        gone = [oid for oid in known if oid not in set(tips)]
        with ledger.transaction(self._connection) as transaction:
            if is_outdated or self._repository.missing(gone):
                known, gone, absent = [], [], []
                for each in (file_id, lists_id):
                    ledger.forget(self._connection, each)
                self._connection.execute("DELETE FROM authored")
            gone = self._take_back(self._repository.log(gone, exclude=tips), (file_id, lists_id))
            told = self._told(lists_id) if known else []
            count = 0
            read = set(known)
            found = self._repository.log(tips, exclude=known, parents_first=True)
            while batch := list(itertools.islice(found, _BATCH)):
                count += len(batch)
                changed = list(self._lists.read(batch))
                self._add(lists_id, changed)
                listed = {
                    (e.record, e.task_source, e.task) for e in changed if list_changes.is_new(e)
                }
                self._add(file_id, (row for each in batch for row in self._from(each, listed)))
                self._connection.executemany(_AUTHORED, _written_before(batch))
                tell(f"reading Git's history: {count} commits")
                read = _frontier(read, batch)
                # What was taken back is no longer all that lies behind what was known.
                if not gone:
                    self._keep_all(file_id, read, lists_id, absent, told)
                    transaction.step()
            self._keep_all(file_id, tips, lists_id, absent, told)
        return count

    def _keep_all(
        self,
        file_id: int,
        read: Iterable[git.Oid],
        lists_id: int,
        absent: list[git.Oid],
        told: list[model.Problem],
    ) -> None:
        """Write down how far everything was read: up to these commits, with all before them."""
        self._keep(file_id, sorted(read), ())
        self._keep(
            lists_id, dict.fromkeys([*absent, *self._lists.absent]), [*told, *self._lists.problems]
        )

    def _has_come(self, absent: list[git.Oid]) -> bool:
        """Is something here now that was missing, as when a partial clone fetches it?"""
        return bool(absent) and len(self._repository.missing(absent)) < len(set(absent))

    def _told(self, file_id: int) -> list[model.Problem]:
        wanted = "SELECT problems FROM evidence_files WHERE id = ?"
        (problems,) = self._connection.execute(wanted, (file_id,)).fetchone()
        return [model.Problem(*each) for each in json.loads(problems)]

    def _tips(self) -> list[git.Oid]:
        tips = {oid for under in ("heads", "remotes") for _, oid in self._refs(under)}
        tips |= {each.head for each in self._repository.worktrees() if each.head}
        return sorted(tips)

    def _refs(self, under: str) -> Iterable[tuple[str, git.Oid]]:
        # A remote's HEAD points to one of its branches, and may dangle.
        return [each for each in self._repository.refs(f"refs/{under}") if each[0][-5:] != "/HEAD"]

    def _from(
        self, commit: git.Commit, listed: set[tuple[str, str, str]]
    ) -> Iterator[model.Activity]:
        """What a commit says; `listed` are the tasks that it, or another one, wrote down first."""
        is_work = len(commit.parents) > 1 or any(
            not self._lists.is_list(change.path) for change in commit.changes
        )
        about = commit_messages.read(
            self._finder,
            commit.subject,
            commit.body,
            is_merge=len(commit.parents) > 1,
            is_work=is_work,
        )
        if any(each.source == dialects.SPECKIT for each in about):
            paths = (change.path for change in commit.changes)
            feature = features.of_commit(commit.subject, paths, is_merge=len(commit.parents) > 1)
            about = [e._replace(id=features.placed(e.source, e.id, feature)) for e in about]
        if not is_work:
            about = [
                each._replace(kind=model.LISTED)
                if (commit.oid, each.source, each.id) in listed
                else each
                for each in about
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
        if not any(each.kind in model.MOVING for each in about):
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

    def _take_back(self, commits: Iterable[git.Commit], file_ids: tuple[int, ...]) -> list[git.Oid]:
        taken = []
        for commit in commits:
            taken.append(commit.oid)
            self._connection.execute(_FORGET_AUTHORED, (commit.oid,))
            at = _start(clock.text(commit.committed_ms))
            for file_id in file_ids:
                self._connection.execute(_FORGET_COMMIT, (file_id, at, f"commit:{commit.oid}"))
        return taken

    def _known(self, source: str) -> tuple[int, str, list[git.Oid]]:
        row = self._connection.execute(_FILE, (source,)).fetchone()
        if row is None:
            return self._connection.execute(_NEW, (source, source)).lastrowid or 0, "", []
        file_id, version, state = row
        return file_id, version, [git.Oid(oid) for oid in json.loads(state).get("oids", [])]

    def _keep(
        self, file_id: int, oids: Iterable[git.Oid], problems: Iterable[model.Problem]
    ) -> None:
        state = json.dumps({"oids": list(oids)})
        values = (self._version, state, json.dumps(list(dict.fromkeys(problems))[:50]), file_id)
        self._connection.execute(_KEEP, values)


def _depth(repository: git.Git) -> str:
    """Where a shallow clone ends: that moves without any branch doing so."""
    try:
        with open(os.path.join(repository.runner.facts.common_directory, b"shallow"), "rb") as file:
            return hashlib.blake2b(file.read(), digest_size=12).hexdigest()
    except OSError:
        return ""


def _start(at: str) -> int:
    return clock.parse(at) if at else 0


def _written_before(commits: Iterable[git.Commit]) -> Iterator[tuple[str, int, int]]:
    """The commits that were written earlier than they were made: amended, rebased, picked."""
    for commit in commits:
        if commit.authored_ms // 1000 < commit.committed_ms // 1000:
            yield commit.oid, commit.authored_ms, commit.committed_ms


def _frontier(read: set[git.Oid], commits: Iterable[git.Commit]) -> set[git.Oid]:
    """The last ones of all that was read; every commit comes after its parents."""
    last = set(read)
    for commit in commits:
        last.difference_update(commit.parents)
        last.add(commit.oid)
    return last
