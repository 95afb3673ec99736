"""The versions of files that some commits are about: read as they are needed, held no longer."""

from __future__ import annotations

from collections.abc import Iterator

from tether import git
from tether.evidence import model

_MAX_BYTES = 8 * 1024 * 1024
# What may be needed again by later commits has no more characters than this, all together.
_MAX_KEPT_CHARS = 16 * 1024 * 1024
Texts = dict[git.Oid, str]


class Versions:
    """Versions of files in one repository.

    Commits come parents first: then the new side of one is soon the old side of another, and only
    few versions have to be in the memory, however long a history is.
    """

    def __init__(self, repository: git.Git) -> None:
        self._repository = repository
        self._texts: Texts = {}
        self.problems: list[model.Problem] = []
        self.absent: list[git.Oid] = []
        """Versions that are not here."""

    def along(self, steps: list[list[git.Change]]) -> Iterator[Texts]:
        """For each step all versions that it needs; those that cannot be read are left out."""
        paths: dict[git.Oid, str] = {}
        last_step: dict[git.Oid, int] = {}
        for number, changes in enumerate(steps):
            for oid, path in _sides(changes):
                paths.setdefault(oid, path)
                last_step[oid] = number
        wanted = [oid for oid in paths if oid not in self._texts]
        awaited = set(wanted)
        arriving = self._repository.blobs(wanted, max_bytes=_MAX_BYTES)
        for number, changes in enumerate(steps):
            while any(oid in awaited for oid, _ in _sides(changes)):
                blob = next(arriving)
                awaited.discard(blob.oid)
                self._take(blob, paths[blob.oid])
            yield self._texts
            self._drop({c.old_oid for c in changes if last_step.get(c.old_oid) == number})
            self._make_room(last_step, number)

    def _take(self, blob: git.Blob, path: str) -> None:
        if blob.data is not None:
            self._texts[blob.oid] = blob.data.decode("utf-8", "replace")
            return
        if blob.why_missing == "missing":
            self.absent.append(blob.oid)
        message = f"version {blob.oid[:12]} is {blob.why_missing.replace('_', ' ')}"
        self.problems.append(model.Problem(path, "", message))

    def _drop(self, oids: set[git.Oid]) -> None:
        for oid in oids:
            self._texts.pop(oid, None)

    def _make_room(self, last_step: dict[git.Oid, int], number: int) -> None:
        """Let the oldest go that no later step needs, if there is too much."""
        excess = sum(map(len, self._texts.values())) - _MAX_KEPT_CHARS
        if excess <= 0:
            return
        for oid in [oid for oid in self._texts if last_step.get(oid, -1) <= number]:
            excess -= len(self._texts.pop(oid))
            if excess <= 0:
                return


def _sides(changes: list[git.Change]) -> list[tuple[git.Oid, str]]:
    """The versions before and after, where there are any."""
    return [
        (oid, change.path)
        for change in changes
        for oid in (change.old_oid, change.new_oid)
        if not oid.is_null
    ]
