"""What commits did to the task lists: a box ticked, a status changed, a file moved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tether import clock, git, ids
from tether.evidence import mentions, model
from tether.evidence.history import versions
from tether.tasks import states, workdir
from tether.tasks.sources import dialects, history
from tether.tasks.sources import model as lists

SOURCE = "git:list"
VERSION = "4"
_STATUS = re.compile(r"^status:[ \t]{0,9}[\"']?([A-Za-z_]{1,20})", re.MULTILINE)
_SAID = {
    states.NEW: "reopened",
    states.IN_PROGRESS: "started",
    states.DONE: "ticked",
    states.ERROR: "failed",
    lists.CANCELLED: "cancelled",
}
TAKEN_OFF = "taken off the list"
FURTHERED = "ticked a part"
# Files that come and go in one commit, to be looked at in pairs.
_MAX_RENAMES = 16
# Lists with a file for each task, and what it is to move one.
_A_FILE_EACH = {ids.OWN_SOURCE: model.STATED, dialects.BACKLOG: model.LISTED}
_States = dict[str, str]


class Lists:
    """The task lists in the commits of a repository."""

    def __init__(self, repository: git.Git, work_root: str) -> None:
        self._work_root = work_root
        self._versions = versions.Versions(repository)
        self._reader = history.Reader()

    @property
    def problems(self) -> list[model.Problem]:
        return self._versions.problems

    @property
    def absent(self) -> list[git.Oid]:
        """Versions that are not here."""
        return self._versions.absent

    def is_list(self, path: str) -> bool:
        """Is a file a task list, a task of one, or beside our tasks?"""
        return workdir.is_ours(path, self._work_root) or bool(self._source(path))

    def read(self, commits: Iterable[git.Commit]) -> Iterator[model.Activity]:
        """What each commit changed, by the states of the tasks before and after it."""
        changed = []
        for commit in commits:
            found = [(self._source(change.path), change) for change in commit.changes]
            changed.append((commit, [(source, change) for source, change in found if source]))
        steps = [[change for _, change in pairs] for _, pairs in changed]
        for (commit, pairs), texts in zip(changed, self._versions.along(steps), strict=True):
            for source in dict.fromkeys(source for source, _ in pairs):
                of_source = [change for other, change in pairs if other == source]
                yield from self._from(commit, source, of_source, texts)

    def _source(self, path: str) -> str:
        if workdir.is_ours(path, self._work_root):
            return ids.OWN_SOURCE if path.endswith((".yaml", ".yml")) else ""
        return history.source_of(path)

    def _from(
        self, commit: git.Commit, source: str, changes: list[git.Change], texts: versions.Texts
    ) -> Iterator[model.Activity]:
        before: _States = {}
        after: _States = {}
        places: dict[str, list[str]] = {}
        furthered = self._furthered(source, changes, texts)
        for change in changes:
            one, other = self._states(source, change, texts)
            for task in one.keys() ^ other.keys():
                places.setdefault(task, []).append(change.path)
            before |= one
            after |= other
        paths = tuple(change.path for change in changes)
        for task in sorted(before.keys() | after.keys() | furthered):
            old, new = before.get(task, ""), after.get(task, "")
            if old != new:
                kind, what = _judged(old, new, has_boxes=source in dialects.CHECKBOXES)
            elif task in furthered:
                kind, what = model.WORKED, FURTHERED
            elif len(places.get(task, ())) > 1 and source in _A_FILE_EACH:
                # From one file to another: somebody assigned it anew, or cleaned up.
                kind, what = _A_FILE_EACH[source], "moved"
            else:
                continue
            yield model.Activity(
                SOURCE,
                f"commit:{commit.oid}",
                commit.oid,
                clock.text(commit.committed_ms),
                kind,
                what,
                task,
                source,
                text=mentions.excerpt(commit.subject),
                files=tuple(places[task]) if what == "moved" else paths if len(paths) == 1 else (),
            )

    def _states(
        self, source: str, change: git.Change, texts: versions.Texts
    ) -> tuple[_States, _States]:
        """The states of the tasks before and after a change of a file."""
        path, old, new = change.path, texts.get(change.old_oid), texts.get(change.new_oid)
        if any(not o.is_null and o not in texts for o in (change.old_oid, change.new_oid)):
            return {}, {}  # of what cannot be read nobody knows what has changed
        if source == ids.OWN_SOURCE:
            return self._own_state(path, old), self._own_state(path, new)
        if old is not None and new is not None:
            return self._reader.changes_in(path, old, new)
        return (
            self._reader.states_in(path, old) if old is not None else {},
            self._reader.states_in(path, new) if new is not None else {},
        )

    def _furthered(self, source: str, changes: list[git.Change], texts: versions.Texts) -> set[str]:
        """The tasks of which a part was ticked, also while their file was renamed."""
        if source == ids.OWN_SOURCE:
            return set()
        pairs = [(change, change) for change in changes]
        gone = [each for each in changes if each.new_oid.is_null]
        come = [each for each in changes if each.old_oid.is_null]
        pairs += [(one, other) for one in gone for other in come][:_MAX_RENAMES]
        found: set[str] = set()
        for one, other in pairs:
            old, new = texts.get(one.old_oid), texts.get(other.new_oid)
            if old is not None and new is not None:
                found |= {*self._reader.furthered(other.path, old, new, one.path)}
        return found

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


def is_new(change: model.Activity) -> bool:
    """Did a commit write the task down that was on no list before?"""
    is_of_list = change.source == SOURCE and change.kind == model.LISTED
    return is_of_list and change.what != TAKEN_OFF


def _judged(old: str, new: str, *, has_boxes: bool) -> tuple[str, str]:
    """What a change of a task's state in a list is, and in a word."""
    if not old:
        # Most lists come into Git whole: that a task is on one tells nothing of when it was done.
        return model.LISTED, f"listed as {new}"
    if not new:
        return model.LISTED, TAKEN_OFF
    return model.STATED, _SAID.get(new, new) if has_boxes or new != states.DONE else "marked done"
