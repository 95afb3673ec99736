"""Fields that people and other tools wrote, of any shape, and what was wrong with them. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from tether import text
from tether.hints import Any

WHY = ("why", "reason", "note", "comment")
_MAX_ITEMS = 1000
_MAX_PROBLEMS = 100
_MAX_WHY_CHARS = 1000
_SHOWN = 60


class Problems:
    """What was not understood, and where; of very many the first ones and how many there are."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._count = 0

    def add(self, place: str, what: str, value: object = None) -> None:
        self._count += 1
        if len(self._kept) < _MAX_PROBLEMS:
            self._kept.append(f"{place}: {what}{f' ({shown(value)})' if value is not None else ''}")

    def all(self) -> tuple[str, ...]:
        more = self._count - len(self._kept)
        return (*self._kept, f"and {more} more") if more else tuple(self._kept)


def shown(value: object) -> str:
    """A piece of what was written, so that a person finds it."""
    if isinstance(value, str):
        return f"'{text.one_line(value[:500], _SHOWN)}'"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value)[:_SHOWN] if is_number else f"a {type(value).__name__}"


def items(problems: Problems, place: str, value: object) -> Iterator[tuple[str, Any]]:
    """The entries of a list, each with its place; what is no list counts as one entry."""
    if value is None or value == "":
        return
    if not isinstance(value, list):
        yield place, value
        return
    for number, item in enumerate(value[:_MAX_ITEMS]):
        yield f"{place}[{number}]", item
    if len(value) > _MAX_ITEMS:
        problems.add(place, f"only the first {_MAX_ITEMS} of {len(value)} entries were read")


def one_of(problems: Problems, place: str, item: dict[Any, Any], names: tuple[str, ...]) -> Any:
    """The field that has one of these names; that two have one is a problem."""
    known = [name for name in names if item.get(name) is not None]
    if len(known) > 1:
        problems.add(place, f"'{known[0]}' and '{known[1]}' mean the same; the first one counts")
    return item[known[0]] if known else None


def unknown(problems: Problems, place: str, item: dict[Any, Any], known: tuple[str, ...]) -> None:
    """Say which fields mean nothing here."""
    for name in item:
        if name not in known:
            problems.add(place, "this field is not known here", str(name))


def scalar(value: object) -> str:
    """A scalar as text: ids may look like numbers."""
    if isinstance(value, str):
        return value.strip()
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if is_number else ""


def why(item: object) -> dict[str, Any]:
    """The reason that an entry gives, as the detail of an edge."""
    if not isinstance(item, dict):
        return {}
    given = next((scalar(item[name]) for name in WHY if item.get(name) is not None), "")
    return {"why": given[:_MAX_WHY_CHARS]} if given else {}
