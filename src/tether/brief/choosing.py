"""What to do next: what one holds already, what is assigned, then what is most urgent."""

from __future__ import annotations

from collections.abc import Iterator

from tether import clock
from tether.tasks import listing, ordering, states, views


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
