"""Which run is meant, and what works on it."""

from __future__ import annotations

from collections.abc import Callable

import click

from tether import clock, errors, host, ids
from tether.cli import context
from tether.coordinator import crew, limits, options, runs, starting, taskfiles
from tether.coordinator.gauges import command, model, reading
from tether.coordinator.jobs import folder
from tether.tasks.sources import finding

RUN_VARIABLE = "TETHER_RUN"
TASK_VARIABLE = "TETHER_TASK"
JOB_VARIABLE = folder.DIRECTORY_VARIABLE
named = click.option("--run", "name", metavar="NAME", help="Which run; otherwise the latest one.")


def opened(call: context.Context, name: str | None, *, tidies: bool = False) -> runs.Run:
    """The run that a flag or the environment names, or the latest one."""
    return unopened(call, name).open(tidies=tidies)


def unopened(call: context.Context, name: str | None, session_id: str = "") -> runs.Run:
    """The same, before its state is looked for."""
    said = name or call.environ.get(RUN_VARIABLE)
    found = runs.RunId(said) if said else starting.latest(call.store, call.workspace)
    actor = "" if session_id else call.actor
    return runs.Run(call.store, call.workspace, found, session_id=session_id, actor=actor)


def is_worker(call: context.Context) -> bool:
    """Does a worker of a run call, whose context is its own affair?"""
    return bool(call.environ.get(TASK_VARIABLE))


def is_below_worker(call: context.Context) -> bool:
    """Was this started by a worker of a run, whatever its environment says now?

    It keeps honest agents from answering by mistake. Whoever has the user's rights and means to
    deceive cannot be kept from it.
    """
    pids = () if is_worker(call) else host.ancestors()
    return is_worker(call) or any(host.environment_value(pid, JOB_VARIABLE) for pid in pids)


def session_of(call: context.Context) -> ids.SessionId | None:
    """The session of the agent that calls; None for a person, or if it names none."""
    try:
        return call.session.session_id if call.is_agent else None
    except errors.NotAllowed:
        return None


def hands(call: context.Context, run: runs.Run, chosen: options.Options | None = None) -> crew.Crew:
    """Those who work on a run, with what it was started with unless that is said."""
    kept = chosen or options.load(run.root) or options.Options()

    def lists(top: str) -> finding.Lists:
        return finding.read(top, call.sources)

    keeper = taskfiles.Keeper(call.store, call.spot, call.settings, lists)
    return crew.Crew(run, kept, limits.of(call.settings), call.spot, call.environ, keeper)


def context_of(call: context.Context) -> model.Context | None:
    """How much context the agent that calls has left, as its own records say."""
    if session_of(call) is None:
        return None
    session = call.session
    return reading.context_of(session.kind, session.session_id, _sources(call), _now_ms())


def usage_of(call: context.Context, chosen: options.Options) -> Callable[[], model.Usage | None]:
    """How to look at the usage limit: the user's command, or the records of the workers' kind."""
    said = chosen.usage or call.settings.text("run.usage")
    sources = _sources(call)._replace(command=tuple(command.split(said)) if said else ())
    kind = options.kind_of(chosen.worker)
    session: ids.SessionId | None = None
    if not kind and session_of(call) is not None:
        kind, session = call.session.kind, call.session.session_id

    def look() -> model.Usage | None:
        return reading.usage_of(kind, session, sources, _now_ms())

    return look


def _sources(call: context.Context) -> reading.Sources:
    return reading.Sources(call.workspace.store_dir, call.places, call.environ)


def _now_ms() -> int:
    return clock.SystemClock().now_ms()
