"""What commits did to the task lists: a box ticked, a status changed, a file moved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tether import clock, git, ids
from tether.evidence import mentions, model
from tether.tasks import states, workdir
from tether.tasks.sources import history
from tether.tasks.sources import model as lists

VERSION = "1"
_MAX_BYTES = 8 * 1024 * 1024
_STATUS = re.compile(r"^status:[ \t]{0,9}[\"']?([A-Za-z_]{1,20})", re.MULTILINE)
_SAID = {
    states.NEW: "reopened",
    states.IN_PROGRESS: "started",
    states.DONE: "ticked",
    states.ERROR: "failed",
    lists.CANCELLED: "cancelled",
}
_States = dict[str, str]


class Lists:
    """The task lists in the commits of a repository."""

    def __init__(self, repository: git.Git, work_root: str) -> None:
        self._repository = repository
        self._work_root = work_root
        self._texts: dict[git.Oid, str] = {}
        """Versions of lists: the old side of a commit is the new side of its parent."""
        self.problems: list[model.Problem] = []
        self.absent: list[git.Oid] = []
        """Versions that are not here."""

    def is_list(self, path: str) -> bool:
        """Is a file a task list, or a task of one?"""
        return bool(self._source(path))

    def read(self, commits: Iterable[git.Commit]) -> Iterator[model.Activity]:
        """What each commit changed, by the states of the tasks before and after it."""
        changed = []
        for commit in commits:
            found = [(self._source(change.path), change) for change in commit.changes]
            changed.append((commit, [(source, change) for source, change in found if source]))
        self._fetch(change for _, pairs in changed for _, change in pairs)
        for commit, pairs in changed:
            for source in dict.fromkeys(source for source, _ in pairs):
                yield from self._from(commit, source, [c for s, c in pairs if s == source])

    def _source(self, path: str) -> str:
        if workdir.is_ours(path, self._work_root):
            return ids.OWN_SOURCE if path.endswith((".yaml", ".yml")) else ""
        return history.source_of(path)

    def _from(
        self, commit: git.Commit, source: str, changes: list[git.Change]
    ) -> Iterator[model.Activity]:
        before: _States = {}
        after: _States = {}
        for change in changes:
            one, other = self._states(source, change)
            before |= one
            after |= other
        paths = tuple(change.path for change in changes)
        for task in sorted(before.keys() | after.keys()):
            old, new = before.get(task, ""), after.get(task, "")
            if old == new:
                continue
            kind, what = _judged(old, new)
            yield model.Activity(
                "git:list",
                f"commit:{commit.oid}",
                commit.oid,
                clock.text(commit.committed_ms),
                kind,
                what,
                task,
                source,
                text=mentions.excerpt(commit.subject),
                files=paths if len(paths) == 1 else (),
            )

    def _states(self, source: str, change: git.Change) -> tuple[_States, _States]:
        """The states of the tasks before and after a change of a file."""
        path, old, new = (
            change.path,
            self._texts.get(change.old_oid),
            self._texts.get(change.new_oid),
        )
        if any(not o.is_null and o not in self._texts for o in (change.old_oid, change.new_oid)):
            return {}, {}  # of what cannot be read nobody knows what has changed
        if source == ids.OWN_SOURCE:
            return self._own_state(path, old), self._own_state(path, new)
        if old is not None and new is not None:
            return history.changes_in(path, old, new)
        return (
            history.states_in(path, old) if old is not None else {},
            history.states_in(path, new) if new is not None else {},
        )

    def _own_state(self, path: str, content: str | None) -> _States:
        found = workdir.located(path, self._work_root)
        if found is None or content is None:
            return {}
        said = _STATUS.search(content)
        status = said[1] if said else ""
        standing = states.settle(
            found.place, status, has_agent=True, is_cancelled=False, is_claimed=False
        )
        return {found.task_id: standing.state}

    def _fetch(self, changes: Iterable[git.Change]) -> None:
        """Read the versions before and after some changes, all at once."""
        places: dict[git.Oid, str] = {}
        for change in changes:
            for oid in (change.old_oid, change.new_oid):
                if not oid.is_null:
                    places.setdefault(oid, change.path)
        texts = {oid: self._texts[oid] for oid in places if oid in self._texts}
        wanted = [oid for oid in places if oid not in texts]
        for blob in self._repository.blobs(wanted, max_bytes=_MAX_BYTES):
            if blob.data is not None:
                texts[blob.oid] = blob.data.decode("utf-8", "replace")
            else:
                if blob.why_missing == "missing":
                    self.absent.append(blob.oid)
                message = f"version {blob.oid[:12]} is {blob.why_missing.replace('_', ' ')}"
                self.problems.append(model.Problem(places[blob.oid], "", message))
        self._texts = texts


def _judged(old: str, new: str) -> tuple[str, str]:
    """What a change of a task's state in a list is, and in a word."""
    if not old:
        # Most lists come into Git whole: that a task is on one tells nothing of when it was done.
        return model.LISTED, f"listed as {new}"
    if not new:
        return model.LISTED, "taken off the list"
    return model.STATED, _SAID.get(new, new)
