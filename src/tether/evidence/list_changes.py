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
_STATUS = re.compile(rb"^status:[ \t]{0,9}[\"']?([A-Za-z_]{1,20})", re.MULTILINE)
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
        self._remembered: dict[tuple[str, git.Oid], _States] = {}
        self.problems: list[model.Problem] = []

    def is_list(self, path: str) -> bool:
        """Is a file a task list, or a task of one?"""
        return bool(self._source(path))

    def read(self, commits: Iterable[git.Commit]) -> Iterator[model.Activity]:
        """What each commit changed, by the states of the tasks before and after it."""
        changed = []
        for commit in commits:
            found = [(self._source(change.path), change) for change in commit.changes]
            changed.append((commit, [(source, change) for source, change in found if source]))
        self._fetch(pair for _, pairs in changed for pair in pairs)
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
            before |= self._states(source, change.path, change.old_oid)
            after |= self._states(source, change.path, change.new_oid)
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

    def _states(self, source: str, path: str, oid: git.Oid) -> _States:
        """The states of the tasks in one version of a file."""
        if oid.is_null:
            return {}
        if source == ids.OWN_SOURCE:
            return self._own_states(path, oid)
        return self._remembered.get((path, oid), {})

    def _own_states(self, path: str, oid: git.Oid) -> _States:
        found = workdir.located(path, self._work_root)
        if found is None:
            return {}
        status = self._remembered.get(("", oid), {}).get("", "")
        standing = states.settle(
            found.place, status, has_agent=True, is_cancelled=False, is_claimed=False
        )
        return {found.task_id: standing.state}

    def _fetch(self, wanted: Iterable[tuple[str, git.Change]]) -> None:
        """Read the versions that are not remembered, all at once."""
        versions: dict[tuple[str, git.Oid], str] = {}
        for source, change in wanted:
            path = "" if source == ids.OWN_SOURCE else change.path
            for oid in (change.old_oid, change.new_oid):
                if not oid.is_null:
                    versions[path, oid] = source
        known = {key: self._remembered[key] for key in versions if key in self._remembered}
        paths: dict[git.Oid, list[str]] = {}
        for path, oid in versions:
            if (path, oid) not in known:
                paths.setdefault(oid, []).append(path)
        # Parsed as they come: together they would fill the memory.
        for blob in self._repository.blobs(paths, max_bytes=_MAX_BYTES):
            for path in paths[blob.oid]:
                if blob.data is not None:
                    source = versions[path, blob.oid]
                    known[path, blob.oid] = _parsed(source, path, blob.data)
                else:
                    message = f"version {blob.oid[:12]} is {blob.why_missing.replace('_', ' ')}"
                    self.problems.append(model.Problem(path or self._work_root, "", message))
        self._remembered = known


def _parsed(source: str, path: str, content: bytes) -> _States:
    if source == ids.OWN_SOURCE:
        status = _STATUS.search(content)
        return {"": status[1].decode() if status else ""}
    return history.states_in(path, content.decode("utf-8", "replace"))


def _judged(old: str, new: str) -> tuple[str, str]:
    """What a change of a task's state in a list is, and in a word."""
    if not old:
        # Most lists come into Git whole: that a task is on one tells nothing of when it was done.
        return model.LISTED, f"listed as {new}"
    if not new:
        return model.LISTED, "taken off the list"
    return model.STATED, _SAID.get(new, new)
