"""What was deleted from a file on the way to a commit, and may be brought back.

It belongs to the path as the path's own commits have it: what another branch deleted is not on the
way, and where a merge united a file from several, what its parents deleted is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping

from tether.hints import NamedTuple

# Of those that changed the path: so far back a deletion may be.
MAX_STEPS = 200


class Grave(NamedTuple):
    """Who was deleted by which event, at which step of the path."""

    node: str
    event: int
    step: int


class Yard(NamedTuple):
    """What was deleted from one path, by its life."""

    steps: int = 0
    """How many commits changed the path, counted from anywhere."""
    graves: Mapping[bytes, Grave] = {}

    def find(self, life: bytes) -> Grave | None:
        """Who may be brought back by the next step."""
        found = self.graves.get(life)
        return found if found and self.steps + 1 - found.step <= MAX_STEPS else None

    def after(self, gone: Mapping[bytes, tuple[str, int]]) -> Yard:
        """The same after a step that deleted some."""
        steps = self.steps + 1
        if not gone:
            return self._replace(steps=steps)
        new = {life: Grave(node, event, steps) for life, (node, event) in gone.items()}
        near = {life: each for life, each in self.graves.items() if steps - each.step < MAX_STEPS}
        return Yard(steps, {**near, **new})


Yards = dict[str, Yard]
"""By path; only those that something was deleted from."""
