"""What became of a worker or an auditor, by what its process shows. Pure."""

from __future__ import annotations

import signal
from typing import Literal, NamedTuple

from tether import clock
from tether.coordinator.jobs import model as jobs
from tether.coordinator.limits import Limits
from tether.coordinator.state import AUDITOR, ActiveAgent, State, Tally

Fate = Literal["working", "done", "failed", "timeout", "stalled", "stopped", "gone"]
# A process that was given up to start after this long is not coming.
START_MS = 60_000
# The wrapper ends what takes too long itself; this is for a wrapper that does not.
_SLACK_MS = 60_000
_MAX_BACK_OFF_MS = 60_000
# What a program does not do to itself.
_KILLS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Verdict(NamedTuple):
    """What became of an agent, and why."""

    fate: Fate
    reason: str = ""


WORKING = Verdict("working")


def judge(
    agent: ActiveAgent, look: jobs.Look, now: str, allowed_ms: int, limits: Limits
) -> Verdict:
    """What became of an agent that was given a task."""
    if look.report is not None:
        return _by_report(look.report)
    passed_ms = clock.parse(now) - clock.parse(agent.dispatched_at)
    if look.state == "gone":
        return Verdict("gone", "its process is gone and left no result")
    if look.state == "starting":
        never = passed_ms > START_MS
        return Verdict("gone", "its process never started") if never else WORKING
    if passed_ms > allowed_ms + limits.grace_seconds * 1000 + _SLACK_MS:
        return Verdict("timeout", "it took too long")
    missed = missed_checkpoints(agent, now, limits)
    if agent.type != AUDITOR and missed >= limits.stall_checkpoints:
        return Verdict("stalled", f"{missed} checkpoints were missed")
    return WORKING


def missed_checkpoints(agent: ActiveAgent, now: str, limits: Limits) -> int:
    """How many checkpoints an agent has left out since its last one."""
    last = agent.last_checkpoint_time or agent.dispatched_at
    return max(0, clock.parse(now) - clock.parse(last)) // limits.checkpoint_ms


def _by_report(report: jobs.Report) -> Verdict:
    if report.stopped:
        return Verdict("stopped", "it was ended")
    if report.is_success:
        return Verdict("done")
    if any(each.timed_out for each in report.results):
        return Verdict("timeout", "it took too long")
    if any(each.signal in _KILLS for each in report.results):
        # By whom or by what, as when memory is short: it is dead, and said nothing of the task.
        return Verdict("gone", failures(report))
    return Verdict("failed", failures(report))


def failures(report: jobs.Report) -> str:
    """What did not succeed, in words."""
    said = []
    for each in report.results:
        if each.timed_out:
            said.append(f"{each.name} took too long")
        elif each.signal is not None:
            said.append(f"{each.name} was ended by {_signal_name(each.signal)}")
        elif each.exit_code != 0:
            said.append(f"{each.name} ended with status {each.exit_code}")
    return "; ".join(said) or "it left no result"


def backs_off(tally: Tally, now: str) -> bool:
    """Is it too early to try a task again whose worker gave up? 1, 2, 4 seconds and so on."""
    if not tally.gave_up_at or not tally.incomplete:
        return False
    wait_ms = min(_MAX_BACK_OFF_MS, 1000 << min(tally.incomplete - 1, 10))
    return clock.parse(now) - clock.parse(tally.gave_up_at) < wait_ms


def is_once_too_often(state: State, task_id: str, limits: Limits) -> str:
    """Why a person must decide about a task; empty if it may be tried again."""
    tally = state.tallies.get(task_id)
    if tally is None:
        return ""
    for count, limit, what in (
        (tally.incomplete, limits.failure_limit, "its worker gave up"),
        (tally.audit_failures, limits.failure_limit, "it did not pass its audit"),
        (tally.timeouts, limits.failure_limit, "it took too long or left no checkpoints"),
        (tally.deaths, limits.death_limit, "its worker vanished"),
    ):
        if count >= limit:
            return f"{what} {f'{count} times' if count > 1 else 'once'}"
    return ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
