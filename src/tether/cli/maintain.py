"""`tether maintain`: what is periodic, as far as it is due. Made for cron, systemd and CI."""

from __future__ import annotations

from collections.abc import Callable

import click

from tether import clock, errors, text
from tether.agents import liveness, sweep, upkeep
from tether.brief import periodic
from tether.cli import answers, cold, context
from tether.cli import sweep as sweeping_agents
from tether.cli.task import shown
from tether.hints import Any, NamedTuple
from tether.tasks import keeping
from tether.vacuum import model, reports

DONE = "done"
DUE = "due"
"""It would be done, or a setting leaves it to somebody."""
NOT_DUE = "not_due"
FAILED = "failed"


class Told(NamedTuple):
    """What became of one step."""

    state: str
    said: str
    facts: dict[str, Any]
    """For programs."""


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what is due.")
@cold.answering
@cold.pass_call
def maintain(call: context.Context, dry_run: bool) -> answers.Answer:
    """Do what is periodic, as far as it is due: sweep, prune, archive, look for orphans.

    How often is said by maintain.vacuum_days, maintain.deep_days and maintain.archive. A step that
    fails keeps no other from being done; the exit code is 1 then. Calling it often costs little.
    """
    _ = call.settings  # without them, or outside of a repository, there is no step to do
    told = {name: _try(step, call, dry_run) for name, step in _STEPS.items()}
    failed = [name for name, each in told.items() if each.state == FAILED]
    failure = _failure(failed) if failed else None
    steps = [
        {"name": name, "state": each.state, "said": text.clean(each.said), **each.facts}
        for name, each in told.items()
    ]
    value: dict[str, Any] = {"dry_run": dry_run, "steps": steps}
    if failure is not None:
        named = {name: getattr(failure, name) for name in ("code", "message", "hint", "retryable")}
        value |= {"ok": False, "error": named}
    lines = [f"{name:<8} {text.one_line(said)}" for name, said in _said(told).items()]
    return answers.Answer(
        "", value, lambda: "\n".join(lines), shown.fitted(lines, " " * 9), failure
    )


def _said(told: dict[str, Told]) -> dict[str, str]:
    """What is said of each step; what keeps several from being done is said once."""
    first: dict[str, str] = {}
    said = {}
    for name, each in told.items():
        before = first.setdefault(each.said, name) if each.state == FAILED else name
        said[name] = each.said if before == name else f"failed as {before} did"
    return said


def _try(
    step: Callable[[context.Context, bool], Told], call: context.Context, dry_run: bool
) -> Told:
    """A step on its own: whatever is wrong with it is told, and the next one is done."""
    try:
        return step(call, dry_run)
    except errors.TetherError as problem:
        hint = f" {problem.hint}" if problem.hint else ""
        return Told(FAILED, f"failed: {problem.message}{hint}", {"code": problem.code})
    except Exception as problem:  # noqa: BLE001 (the other steps are done all the same)
        return Told(FAILED, f"failed: {type(problem).__name__}", {"code": "failed"})


def _failure(failed: list[str]) -> errors.TetherError:
    said = f"Not everything was done: {', '.join(failed)}. The rest was."
    return errors.TetherError(
        said if len(failed) < len(_STEPS) else "Nothing was done: every step failed.",
        hint="See what is said of it; calling this again does only what is still due.",
    )


# The steps


def _sweep(call: context.Context, dry_run: bool) -> Told:
    """Free what the dead hold, and forget old chatter."""
    if not call.store.exists():
        return Told(NOT_DUE, "there is no store yet", {})
    if dry_run:
        found = sweep.look(call.store, call.spot, upkeep.rules(call.settings))
        over = [each.session_id for each in found if each.verdict in liveness.OVER]
        many = text.counted(len(over), "session")
        said = f"would free what {many} had" if over else "nobody is gone"
        return Told(DUE if over else NOT_DUE, said, {"gone": over})
    swept = sweeping_agents.free(call)
    freed = [label for each in swept.stale_agents for label in each.released_items]
    facts = {
        "gone": [each.session_id for each in swept.stale_agents],
        "released": freed,
        "heartbeats_pruned": swept.heartbeats_pruned,
        "events_pruned": swept.events_pruned,
    }
    gone = f"{text.counted(len(swept.stale_agents), 'session')} gone"
    held = f", freed {', '.join(freed)}" if freed else ""
    forgot = f"forgot {text.counted(swept.heartbeats_pruned + swept.events_pruned, 'old row')}"
    return Told(DONE, f"{gone}{held}; {forgot}", facts)


def _archive(call: context.Context, dry_run: bool) -> Told:
    """Put away what was done long ago, if a setting says so."""
    if call.workspace.root is None or not call.work.exists:
        return Told(NOT_DUE, "there are no task files here", {})
    now = clock.now_text(clock.SystemClock())
    due = keeping.due(call.work, now, keeping.RETENTION_DAYS * model.DAY_MS)
    facts: dict[str, Any] = {"due": [each.id for each in due]}
    if not due:
        return Told(NOT_DUE, "no task was done so long ago", facts)
    many = text.counted(len(due), "done task")
    if not call.settings.integer("maintain.archive"):
        return Told(DUE, f"{many} could be put away: `tether task archive` does it", facts)
    if dry_run:
        return Told(DUE, f"would put {many} away", facts)
    done, left = keeping.archive(call.desk(), due)
    facts |= {"archived": [each.task.id for each in done], "left": left}
    not_done = f", left {len(left)}" if left else ""
    return Told(DONE, f"put {text.counted(len(done), 'task')} away{not_done}; commit that", facts)


def _deep(call: context.Context, dry_run: bool) -> Told:
    return _vacuum(call, model.DEEP, "maintain.deep_days", (model.DEEP,), dry_run)


def _standard(call: context.Context, dry_run: bool) -> Told:
    # A deep sweep sees whatever a standard one does.
    if dry_run and _deep(call, dry_run).state == DUE:
        return Told(NOT_DUE, "the deep one does it, too", {})
    types = (model.STANDARD, model.DEEP)
    return _vacuum(call, model.STANDARD, "maintain.vacuum_days", types, dry_run)


def _vacuum(
    call: context.Context, kind: str, setting: str, types: tuple[str, ...], dry_run: bool
) -> Told:
    if not call.store.exists():
        return Told(NOT_DUE, "there is no store yet", {})
    days = call.settings.integer(setting)
    last = reports.last_finished(call.store, types, call.spot.here.host_id)
    since = f"last {text.minute(last)}" if last else "never done yet"
    facts: dict[str, Any] = {"last_at": last or None, "every_days": days}
    if not periodic.is_due(last, days, clock.now_text(clock.SystemClock())):
        return Told(NOT_DUE, f"not due: {since}" if days else f"{setting} is 0", facts)
    if dry_run:
        return Told(DUE, f"due: {since}", facts)
    return _look(call, kind, facts)


def _look(call: context.Context, kind: str, facts: dict[str, Any]) -> Told:
    from tether.cli import sweeping, vacuum
    from tether.vacuum import filtering

    swept = sweeping.run_sweep(call, kind)
    if swept.why_not:
        raise errors.StoreError(f"What was found could not be written down: {swept.why_not}")
    saved = ""
    if place := call.settings.text("vacuum.save_dir"):
        saved = vacuum.save(call, filtering.choose(swept, filtering.Filter()), place)
    facts |= {"counts": swept.counts, "saved": saved or None}
    as_file = f"; saved as {saved}" if saved else ""
    orphans = text.counted(swept.counts["orphans"], "orphan")
    return Told(DONE, f"{orphans} found{as_file}", facts)


_STEPS: dict[str, Callable[[context.Context, bool], Told]] = {
    "sweep": _sweep,
    "archive": _archive,
    "deep": _deep,
    "vacuum": _standard,
}
