"""What `typing` has for the types in this code, without importing it.

Type checkers see `typing` itself. A command that runs needs next to nothing of it, and importing it
takes a sixth of what the bare interpreter takes to start. The named tuples behave like those of
`typing` and are ten times as quick to define: a command defines fifty classes of them.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any as Any  # noqa: PLC0414 (all of these: so that they are exported)
    from typing import ClassVar as ClassVar  # noqa: PLC0414
    from typing import Literal as Literal  # noqa: PLC0414
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414
    from typing import Protocol as Protocol  # noqa: PLC0414
    from typing import TypeVar as TypeVar  # noqa: PLC0414
else:
    from collections import _tuplegetter

    class _Hint:
        """Stands where a type would, in an expression that Python evaluates."""

        def __getitem__(self, _):
            return self

    Any = ClassVar = Literal = _Hint()

    class Protocol:
        """Says what others have; it has nothing of its own."""

    def TypeVar(name):  # noqa: N802 (as in typing)
        return name

    class _Definition(type):
        """Makes a class of named tuples from a class body."""

        def __new__(cls, name, _bases, body):
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body.pop(field) for field in fields if field in body}
            if fields[len(fields) - len(defaults) :] != tuple(defaults):
                raise TypeError(f"{name}: a field without a default follows one with a default")
            for number, field in enumerate(fields):
                body[field] = _tuplegetter(number, None)
            body["__slots__"] = ()
            body["_fields"] = body["__match_args__"] = fields
            body["_field_defaults"] = defaults
            return type(name, (_Record,), body)

    class _Record(tuple):
        """What all named tuples have."""

        __slots__ = ()

        def __new__(cls, *values, **named):
            if named or len(values) != len(cls._fields):
                values = _filled(cls, values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, not {len(made)}")
            return made

        def _replace(self, **named):
            new = self._make(map(named.pop, self._fields, self))
            if named:
                raise ValueError(f"no such fields: {list(named)}")
            return new

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            shown = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self):
            return tuple(self)

    def _filled(cls, values, named):
        """All values, where some were given by name or not at all."""
        rest = cls._fields[len(values) :]
        given = {**cls._field_defaults, **named}
        if len(values) <= len(cls._fields) and named.keys() <= set(rest) <= given.keys():
            return (*values, *map(given.__getitem__, rest))
        raise TypeError(f"{cls.__name__}{cls._fields} cannot be made of {values} and {named}")

    NamedTuple = type.__new__(_Definition, "NamedTuple", (), {})
