"""Where things stand, in a few facts, for somebody who has just come or has lost the thread."""

from __future__ import annotations

from tether import config, ids, workspace
from tether.agents import claims, messages, registry, roll
from tether.agents import model as agents
from tether.brief import choosing
from tether.hints import NamedTuple
from tether.store import port
from tether.tasks import listing, model, stalling, states, views, workdir


class Orientation(NamedTuple):
    """What to know before anything else."""

    session_id: str
    agent_name: str
    held: list[views.View]
    """What the caller has."""
    claims: list[agents.Claim]
    """What it has that has no file here: of a list that the team keeps, or only a name."""
    next: views.View | None
    """What it could take up."""
    stalled: list[model.Task]
    """What has been in progress for too long, whoever has it."""
    failed: list[model.Task]
    """What failed and waits for a person."""
    unread: int
    here: int
    """How many sessions are here."""


def look(
    place: workspace.Workspace,
    work: workdir.Workdir | None,
    store: port.Store,
    viewer: views.Viewer | None,
    session: registry.Session,
    now: str,
    settings: config.Settings,
) -> Orientation:
    """Look around. Reads only."""
    held: list[views.View] = []
    following: views.View | None = None
    stalled: list[model.Task] = []
    failed: list[model.Task] = []
    held_ones = claims.open_ones(store.rows, session.session_id)
    mine = {claim.task for claim in held_ones if claim.source == ids.OWN_SOURCE}
    if work is not None and viewer is not None:
        stalled_ms = settings.integer("tasks.stalled_seconds") * 1000
        listed = listing.Listing(place, work)
        found = list(listed.items())
        held = [viewer.view(listed.task(path)) for *_, task_id, path in found if task_id in mine]
        at_work = [listed.task(path) for state, *_, path in found if state == states.IN_PROGRESS]
        stalled = stalling.stalled(at_work, now, stalled_ms)
        failed = [listed.task(path) for state, *_, path in found if state == states.ERROR]
        ageing_days = settings.integer("tasks.ageing_days")
        offered = choosing.offered(listed, viewer, session.agent_name, now, ageing_days)
        following = next((view for view in offered if view.task.id not in mine), None)
        listed.close()
    in_files = {ids.TaskKey(ids.OWN_SOURCE, view.task.id) for view in held}
    known = roll.get(store.rows, session.session_id)
    unread = len(messages.unread(store, known, 100)) if known else 0
    return Orientation(
        session.session_id,
        session.agent_name,
        held,
        [each for each in held_ones if each.key not in in_files],
        following,
        stalled,
        failed,
        unread,
        len(roll.here(store.rows)),
    )
