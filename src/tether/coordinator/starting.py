"""Beginning a run, or finding the one that a plan already has."""

from __future__ import annotations

from tether import errors, workspace
from tether.coordinator import copies, options, runs
from tether.coordinator.plans import model
from tether.store import events, port, run_events


def name_for(store: port.Store, place: workspace.Workspace, plan_file: str) -> runs.RunId:
    """The run of this plan that is not over, or the name of a new one."""
    slug = runs.slug(plan_file)
    known = set(runs.names(store, place))
    number, name = 1, slug
    while name in known and not _is_of(store, place, name, plan_file):
        number += 1
        name = f"{slug}-{number}"
    return runs.RunId(name)


def _is_of(store: port.Store, place: workspace.Workspace, name: str, plan_file: str) -> bool:
    """Is this a run of that plan which can go on?"""
    try:
        state = runs.Run(store, place, runs.RunId(name)).open().state
    except errors.NotFound:
        return True  # a name that was begun, and nothing else
    except copies.PlanLost:
        return False
    return state.plan_file == plan_file and not state.ended


def latest(store: port.Store, place: workspace.Workspace) -> runs.RunId:
    """The run that did something last; one that is not over comes first."""
    known = runs.names(store, place)
    if not known:
        raise errors.NotFound(
            "There is no run here yet.", hint="Start one with `tether run start PLAN --worker CMD`."
        )
    over = events.ended_runs(store)
    open_ones = [name for name in known if name not in over]
    return runs.RunId((open_ones or known)[-1])


def begin(run: runs.Run, plan: model.Plan, chosen: options.Options, base: str = "") -> None:
    """Write down a new run; its lock is held."""
    options.save(run.root, chosen)
    digest = copies.keep(run.root, plan)
    run.log(
        run_events.SESSION_START,
        plan_file=plan.file,
        total_tasks=len(plan.tasks),
        plan_digest=digest,
        base=base or None,
    )
    run.save("session_start")
