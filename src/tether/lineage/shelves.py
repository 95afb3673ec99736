"""What lies at each path as of one commit: what was put there since, over what is looked up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")


class Shelf(Generic[T]):
    """Things by path. What is not known yet is asked for once, from where it is kept."""

    def __init__(
        self, kept: Callable[[str], T | None] | None = None, own: dict[str, T | None] | None = None
    ) -> None:
        self._kept = kept
        self._own = {} if own is None else own

    def get(self, path: str) -> T | None:
        """What lies there, if anything does."""
        if path in self._own:
            return self._own[path]
        if self._kept is None:
            return None
        found = self._own[path] = self._kept(path)
        return found

    def copy(self) -> Shelf[T]:
        return Shelf(self._kept, dict(self._own))

    def put(self, things: Mapping[str, T | None]) -> None:
        """Others lie there from now on; nothing, where it is None."""
        if self._kept is not None:
            self._own.update(things)
            return
        for path, thing in things.items():
            if thing is None:
                self._own.pop(path, None)
            else:
                self._own[path] = thing

    def paths(self) -> list[str]:
        """Where anything lies, as far as it was put there or asked for."""
        return sorted(path for path, thing in self._own.items() if thing is not None)
