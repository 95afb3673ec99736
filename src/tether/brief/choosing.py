"""What to do next: what one holds already, what is assigned, then what is most urgent.

Of the lists that a team keeps only the open tasks are counted: their order is the team's own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tether import clock, ids
from tether.hints import TYPE_CHECKING, NamedTuple
from tether.tasks import listing, ordering, states, views

if TYPE_CHECKING:
    from tether.tasks.sources import finding

OPEN_IN_LISTS = (states.NEW, states.IN_PROGRESS, states.ERROR)


class Open(NamedTuple):
    """How much of a list is still to do."""

    open: int
    held: int
    """How many of them somebody has."""
    total: int
    """Without those that somebody decided against."""


def offered(
    listed: listing.Listing, viewer: views.Viewer, agent_name: str, now: str, ageing_days: int
) -> Iterator[views.View]:
    """The tasks that somebody may take up now, best first; found as they are asked for."""
    held: list[listing.Item] = []
    own: list[listing.Item] = []
    others: list[listing.Item] = []
    mine = {c.task for c in viewer.open_claims.values() if viewer.is_mine(c)}
    own_directory = f"/{states.ASSIGNED}/{agent_name}/"
    over = (states.UNREADABLE, states.DONE, states.ARCHIVED)
    for item in listed.items():
        state, _, _, task_id, path = item
        if state in over:
            continue
        if task_id in mine:
            held.append(item)
        elif own_directory in path:
            own.append(item)
        else:
            others.append(item)
    now_ms = clock.parse(now)
    for group in (held, own, others):
        for *_, path in ordering.ordered(group, now_ms, ageing_days):
            view = viewer.view(listed.task(path))
            if view.is_offered:
                yield view


def open_in(lists: finding.Lists, held: Collection[ids.TaskKey]) -> dict[str, Open]:
    """What there is to do in the lists that a team keeps, by list; none where all is done."""
    found: dict[str, Open] = {}
    for item in lists.items.values():
        is_open = item.state in OPEN_IN_LISTS
        if is_open or item.state == states.DONE:
            so_far = found.get(item.source, Open(0, 0, 0))
            found[item.source] = Open(
                so_far.open + is_open,
                so_far.held + (is_open and item.key in held),
                so_far.total + 1,
            )
    return {source: each for source, each in found.items() if each.open}
