"""Named tuples of ours behave like those of `typing`."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any

import pytest

from tether import hints


class Ours(hints.NamedTuple):
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
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__module__"):
        assert getattr(Ours, name) == getattr(Theirs, name), name
    ours, theirs = Ours(1), Theirs(1)
    assert tuple(ours) == tuple(theirs)
    assert (ours.size, ours._asdict(), ours._replace(x=5).x) == (3, {"x": 1, "y": 2}, 5)
    assert list(ours._asdict()) == list(theirs._asdict())
    assert repr(ours) == "Ours(x=1, y=2)"
    assert (hash(ours), ours < Ours(2)) == (hash(theirs), True)
    assert Ours.at(4) == (4, 2)
    assert Ours.__qualname__ == "Ours"
    assert not hasattr(ours, "__dict__")
    match ours:
        case Ours(x, y=y):
            assert (x, y) == (1, 2)


CALLS: list[tuple[tuple[int, ...], dict[str, int]]] = [
    ((), {}), ((1,), {}), ((1, 5), {}), ((1, 5, 6), {}),
    ((), {"x": 1}), ((), {"y": 1}), ((), {"y": 5, "x": 1}), ((1,), {"y": 5}),
    ((1,), {"x": 5}), ((1, 5), {"y": 5}), ((1,), {"z": 5}), ((1, 5), {"z": 5}),
    ((1, 5, 6), {"y": 5}), ((), {"x": 1, "y": 5, "z": 6}),
]  # fmt: skip


@pytest.mark.parametrize(("values", "named"), CALLS)
def test_they_are_made_and_refused_alike(values: tuple[int, ...], named: dict[str, int]) -> None:
    def result(make: Any) -> object:
        try:
            return tuple(make(*values, **named))
        except TypeError:
            return "refused"

    assert result(Ours) == result(Theirs)


@pytest.mark.parametrize("kind", [Ours, Theirs])
def test_they_are_checked_when_made_of_others(kind: Any) -> None:
    assert kind._make([1, 5]) == (1, 5)
    with pytest.raises(TypeError):
        kind._make([1])
    with pytest.raises(TypeError):
        kind._make([1, 2, 3])
    with pytest.raises((TypeError, ValueError)):
        kind(1)._replace(z=4)
    with pytest.raises(AttributeError):
        kind(1).x = 4


def test_they_can_be_carried_to_another_process() -> None:
    carried = pickle.loads(pickle.dumps(Ours(1)))  # noqa: S301 (our own)
    for same in (carried, copy.copy(Ours(1)), copy.deepcopy(Ours(1))):
        assert same == Ours(1)
        assert type(same) is Ours


def test_a_field_with_a_default_comes_last() -> None:
    body = {"__annotations__": {"a": "int", "b": "int"}, "a": 1}
    define: Any = type(hints.NamedTuple)
    with pytest.raises(TypeError):
        define("Wrong", (), {**body, "__module__": __name__, "__qualname__": "Wrong"})
