"""As many lines as a budget has room for: what matters least goes first, and of that the oldest.

What is dropped at a budget is dropped at every smaller one, because the order does not depend on
the budget.
"""

from __future__ import annotations

from collections.abc import Sequence

from tether import text
from tether.hints import NamedTuple
from tether.lineage.biography.model import Biography, Line, Source

# What goes first, and what stays at any budget.
ASIDE, SUM, COMMIT, SLIGHT, QUOTE, KEPT_QUOTE, TASK, DOCUMENTS, NOTE, KEPT = range(10)
# What the line about everything that had no room takes.
REST_CHARS = 80


class Part(NamedTuple):
    """Some sentences of a line."""

    text: str
    rank: int
    sources: tuple[Source, ...] = ()


class Draft(NamedTuple):
    """A line as it would be with room for everything."""

    parts: tuple[Part, ...]
    """The first one carries the others: it is dropped after them."""
    age: int = 0
    """Lines of a higher number are later."""


def fit(drafts: Sequence[Draft], budget: int) -> Biography:
    """The lines that fit into a budget of tokens, and those that stay whatever it is."""
    room = budget * text.CHARS_PER_TOKEN
    cost = whole = sum(_cost(part) for draft in drafts for part in draft.parts)
    dropped: set[tuple[int, int]] = set()
    if cost > room:
        for _, _, place in sorted(_droppable(drafts)):
            dropped.add(place)
            cost -= _cost(drafts[place[0]].parts[place[1]])
            if cost + REST_CHARS <= room:
                break
    kept = [
        [part for number, part in enumerate(draft.parts) if (place, number) not in dropped]
        for place, draft in enumerate(drafts)
    ]
    lines = [_line(parts) for parts in kept if parts]
    gone = sum(not parts for parts in kept)
    shortened = len({place for place, _ in dropped}) - gone
    if dropped:
        enough = -(-whole // text.CHARS_PER_TOKEN)
        lines.append(Line(_rest(gone, shortened, enough), ()))
    return Biography(tuple(lines), bool(dropped), gone)


def _droppable(drafts: Sequence[Draft]) -> list[tuple[int, int, tuple[int, int]]]:
    """Rank, age and place of everything that may go."""
    return [
        (part.rank, draft.age, (place, number))
        for place, draft in enumerate(drafts)
        for number, part in enumerate(draft.parts)
        if part.rank < KEPT
    ]


def _cost(part: Part) -> int:
    return len(part.text) + 1


def _line(parts: Sequence[Part]) -> Line:
    sources = dict.fromkeys(source for part in parts for source in part.sources)
    return Line(" ".join(part.text for part in parts), tuple(sources))


def _rest(gone: int, shortened: int, enough: int) -> str:
    """What had no room, and the budget that has room for it."""
    said = [f"{gone:,} more line{'' if gone == 1 else 's'} had no room"] if gone else []
    if shortened:
        what = f"{shortened:,}" if gone else text.counted(shortened, "line")
        said.append(f"{what} {'was' if shortened == 1 else 'were'} shortened")
    return f"{' and '.join(said)}; --budget {enough} shows all."
