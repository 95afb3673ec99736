"""Lines under headings, and as many of them as a budget has room for. Pure."""

from __future__ import annotations

from tether import text
from tether.hints import NamedTuple

CHARS_PER_TOKEN = text.CHARS_PER_TOKEN
MIN_BUDGET = 200
# What a surface puts around a line, above a section, and below everything that did not fit.
LINE_CHARS = 9
HEADING_CHARS = 44
REST_CHARS = 64


class Line(NamedTuple):
    """One line of the packet and where it is from."""

    text: str
    source: str = ""

    @property
    def short_source(self) -> str:
        """Its source without the directories, which would fill the packet."""
        scheme, _, rest = self.source.partition(":")
        return rest.rpartition("/")[2] if scheme == "file" else self.source


class Section(NamedTuple):
    """Some lines under a heading, the most important first."""

    name: str
    lines: tuple[Line, ...]


class Packet(NamedTuple):
    """What fits, and how many lines did not."""

    sections: tuple[Section, ...]
    left_out: int


def fit(found: list[Section], max_chars: int) -> Packet:
    """The lines that fit: from each section its first, then from each its second, and so on."""
    room = max_chars - REST_CHARS
    taken: dict[str, int] = {}
    is_full: set[str] = set()
    for number in range(max((len(each.lines) for each in found), default=0)):
        for section in found:
            if number >= len(section.lines) or section.name in is_full:
                continue
            cost = _cost(section.lines[number]) + (HEADING_CHARS if not number else 0)
            if cost > room:
                is_full.add(section.name)  # no later line of it either: a gap would mislead
                continue
            room -= cost
            taken[section.name] = number + 1
    kept = [
        Section(each.name, each.lines[: taken[each.name]]) for each in found if each.name in taken
    ]
    total = sum(len(each.lines) for each in found)
    return Packet(tuple(kept), total - sum(taken.values()))


def _cost(line: Line) -> int:
    return len(line.text) + len(line.short_source) + LINE_CHARS
