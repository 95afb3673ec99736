"""Named tuples of ours behave like those of `typing`."""

from __future__ import annotations

import pickle
import typing
from typing import Any

import pytest

from tether import records


class Ours(records.NamedTuple):
    """A point."""

    x: int
    y: int = 2
    """How high."""

    @property
    def size(self) -> int:
        return self.x + self.y

    @classmethod
    def at(cls, x: int) -> Ours:
        return cls(x)


class Theirs(typing.NamedTuple):
    """A point."""

    x: int
    y: int = 2

    @property
    def size(self) -> int:
        return self.x + self.y


def test_they_have_the_same_fields_defaults_and_methods() -> None:
    for name in ("_fields", "_field_defaults", "__doc__", "__module__"):
        assert getattr(Ours, name) == getattr(Theirs, name), name
    ours, theirs = Ours(1), Theirs(1)
    assert tuple(ours) == tuple(theirs)
    assert (ours.size, ours._asdict(), ours._replace(x=5).x) == (3, {"x": 1, "y": 2}, 5)
    assert repr(ours) == "Ours(x=1, y=2)"
    assert Ours.at(4) == (4, 2)
    assert Ours.__qualname__ == "Ours"
    assert not hasattr(ours, "__dict__")


def test_they_can_be_carried_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Ours(1))) == Ours(1)  # noqa: S301 (our own)


def test_a_field_with_a_default_comes_last() -> None:
    body = {"__annotations__": {"a": "int", "b": "int"}, "a": 1}
    define: Any = type(records.NamedTuple)
    with pytest.raises(TypeError):
        define("Wrong", (), {**body, "__module__": __name__, "__qualname__": "Wrong"})
