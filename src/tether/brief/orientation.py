"""Where things stand, in a few facts, for somebody who has just come or has lost the thread."""

from __future__ import annotations

from collections.abc import Iterable

from tether import config, ids, workspace
from tether.agents import claims, liveness, lookout, messages, registry, roll
from tether.agents import model as agents
from tether.brief import choosing, orphaned
from tether.hints import NamedTuple
from tether.store import port, sql
from tether.tasks import listing, model, stalling, states, views, workdir
from tether.vacuum import model as vacuum
from tether.vacuum import quick

_SQL = sql.Queries("vacuum")


class Run(NamedTuple):
    """A long run, and what it last did."""

    run: str
    type: str
    at: str


class Orientation(NamedTuple):
    """What to know before anything else."""

    session_id: str
    agent_name: str
    held: list[views.View]
    """What the caller has."""
    claims: list[agents.Claim]
    """What it has that has no file here: of a list that the team keeps, or only a name."""
    stalled: list[model.Task]
    """What has been in progress for too long, whoever has it."""
    failed: list[model.Task]
    """What failed and waits for a person."""
    unread: int
    here: int
    """How many sessions are here, but for those that are known to be over."""
    orphans: orphaned.Orphaned = orphaned.NONE
    """What somebody began and nobody carries on."""
    run: Run | None = None
    next: choosing.Offer | None = None
    """What it could take up."""


def look(
    place: workspace.Workspace,
    work: workdir.Workdir | None,
    store: port.Store,
    spot: lookout.Lookout,
    viewer: views.Viewer | None,
    session: registry.Session,
    now: str,
    settings: config.Settings,
    swept: Iterable[quick.Found] = (),
) -> Orientation:
    """Look around. Reads only."""
    held: list[views.View] = []
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
        listed.close()
    in_files = {ids.TaskKey(ids.OWN_SOURCE, view.task.id) for view in held}
    known = roll.get(store.rows, session.session_id)
    unread = len(messages.unread(store, known, 100)) if known else 0
    return Orientation(
        session.session_id,
        session.agent_name,
        held,
        [each for each in held_ones if each.key not in in_files],
        stalled,
        failed,
        unread,
        _here(store, spot, session.session_id),
        orphaned.look(store, swept, vacuum.limits(settings)),
        _run(store),
    )


def _here(store: port.Store, spot: lookout.Lookout, caller: str) -> int:
    """How many are here: whom no sweep has found yet may be gone, and whoever calls is not."""
    return sum(
        each.session_id == caller or spot.shown_verdict(each).state not in liveness.OVER
        for each in roll.here(store.rows)
    )


def _run(store: port.Store) -> Run | None:
    rows = store.rows(_SQL.last_run)
    return Run(rows[0]["run"], rows[0]["type"], rows[0]["at"]) if rows else None
