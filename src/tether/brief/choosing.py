"""What to do next: what one holds already, what is assigned, then what is most urgent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tether import clock
from tether.tasks import model, ordering, states, views


def offered(
    tasks: Iterable[model.Task],
    viewer: views.Viewer,
    agent_name: str,
    now: str,
    ageing_days: int,
) -> Iterator[views.View]:
    """The tasks that somebody may take up now, best first; found as they are asked for."""
    held: list[model.Task] = []
    own: list[model.Task] = []
    others: list[model.Task] = []
    claims = viewer.open_claims
    for task in tasks:
        if task.problem:
            continue
        claim = claims.get(task.id)
        if claim is not None and viewer.is_mine(claim):
            held.append(task)
        elif task.place == states.ASSIGNED and task.owner == agent_name:
            own.append(task)
        else:
            others.append(task)
    now_ms = clock.parse(now)
    for group in (held, own, others):
        for task in ordering.ordered(group, now_ms, ageing_days):
            view = viewer.view(task)
            if view.is_offered:
                yield view
