"""Named tuples that are quick to define.

A command defines some fifty of them before it does anything. `typing.NamedTuple` compiles each
annotation to check it, which takes longer than all the rest of a definition; type checkers have
read them already. For them this is `typing.NamedTuple`, and for all others it behaves like it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 (so it is exported)
else:
    import collections

    _OWN = frozenset(["__annotations__", "__doc__", "__module__", "__qualname__"])

    class _Definition(type):
        """Makes a named tuple of a class body."""

        def __new__(cls, name, _bases, body):
            fields = list(body.get("__annotations__", ()))
            defaults = [body[field] for field in fields if field in body]
            if fields[len(fields) - len(defaults) :] != [f for f in fields if f in body]:
                raise TypeError(f"{name}: a field without a default follows one with a default")
            made = collections.namedtuple(
                name, fields, defaults=defaults, module=body["__module__"]
            )
            made.__annotations__ = body.get("__annotations__", {})
            made.__qualname__ = body["__qualname__"]
            made.__doc__ = body.get("__doc__") or made.__doc__
            for key, value in body.items():
                if key not in _OWN and key not in fields:
                    setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Definition, "NamedTuple", (), {})
