"""Is an agent alive? Pure: everything that was seen goes in, a verdict comes out.

| seen from | evidence | verdict |
|---|---|---|
| anywhere | no process known, silent for `stale_ms` | expired |
| same host and pid namespace | an earlier boot; no such process; other start ticks; zombie | dead |
| same host and pid namespace | the process itself, running or stopped, however silent | alive |
| elsewhere, or unreadable | lease running / over / over by the grace | alive / suspect / expired |

Only `dead` is certain. A wrong `expired` costs work, never truth, because every later write of its
owner is refused by the claim's epoch.
"""

from __future__ import annotations

from tether import host
from tether.hints import Literal, NamedTuple

State = Literal["alive", "suspect", "expired", "dead"]
OVER: tuple[State, ...] = ("dead", "expired")


class Moment(NamedTuple):
    """A point in time as two clocks saw it: the store's, and the running time of one boot."""

    wall_ms: int
    boot_id: str
    monotonic_ms: int


class Limits(NamedTuple):
    """How long silence is borne, in milliseconds."""

    stale_ms: int = 300_000
    grace_ms: int = 900_000
    namespace_grace_ms: int = 86_400_000
    """The grace of another pid namespace of this host: a container is easily only paused."""


class Evidence(NamedTuple):
    """What one look at an agent showed."""

    process: host.Process | None
    here: host.Here
    sighting: host.Sighting | None
    """What its pid is now; None if nobody could look."""
    silent_ms: int
    """Since its last beat."""
    lease_ms: int
    """How long its last beat promised to count."""
    running_ms: int = 0
    """How long the boot that looks has been running."""


class Verdict(NamedTuple):
    """What follows from the evidence."""

    state: State
    reason: str
    is_seen: bool = False
    """Was the process itself seen?"""

    @property
    def is_over(self) -> bool:
        """Are its claims free for others?"""
        return self.state in OVER

    @property
    def is_certain(self) -> bool:
        return self.state == "dead"


def elapsed_ms(then: Moment, now: Moment) -> int:
    """How long ago something was, whatever was done to the wall clock meanwhile.

    Within one boot the running time counts. It stands still while the machine sleeps, and so do the
    agents on it. Otherwise it is the store's clock, the same for everybody; a time that lies in the
    future is no time ago.
    """
    running_ms = now.monotonic_ms - then.monotonic_ms
    if then.boot_id and then.boot_id == now.boot_id and running_ms >= 0:
        return running_ms
    return max(0, now.wall_ms - then.wall_ms)


def can_look(process: host.Process | None, here: host.Here) -> bool:
    """Does a pid mean the same here as where the agent runs?"""
    return (
        process is not None
        and bool(process.host_id and process.pid_namespace)
        and process.host_id == here.host_id
        and process.pid_namespace == here.pid_namespace
    )


def judge(evidence: Evidence, limits: Limits) -> Verdict:
    """The table above."""
    process, here, sighting = evidence.process, evidence.here, evidence.sighting
    if process is None:
        return _by_silence(evidence.silent_ms, limits)
    if not can_look(process, here):
        is_neighbour = bool(process.host_id) and process.host_id == here.host_id
        if is_neighbour and _is_other(process.boot_id, here.boot_id):
            return _by_boot(evidence, limits)
        grace_ms = limits.namespace_grace_ms if is_neighbour else limits.grace_ms
        where = "in another pid namespace" if is_neighbour else "on another host"
        return _by_lease(evidence, grace_ms, where)
    if _is_other(process.boot_id, here.boot_id):
        return _by_boot(evidence, limits)
    return _by_sight(process, sighting) or _by_lease(evidence, limits.grace_ms, "not readable")


def _by_boot(evidence: Evidence, limits: Limits) -> Verdict:
    """Another boot of this host: an earlier one, unless its beat came while this one was running.

    Then it is another machine, cloned with the same id and name, and what it has cannot be seen.
    """
    if evidence.silent_ms >= evidence.running_ms:
        return Verdict("dead", "its machine was started again since")
    return _by_lease(evidence, limits.grace_ms, "on a host like this one")


def _by_sight(process: host.Process, sighting: host.Sighting | None) -> Verdict | None:
    """What the process itself shows; None if it could not be looked at."""
    if sighting is None or sighting.outcome == "unreadable":
        return None
    if sighting.outcome == "gone":
        return Verdict("dead", f"there is no process {process.pid} any more")
    if sighting.state == "zombie":
        return Verdict("dead", f"process {process.pid} has ended")
    if sighting.start_ticks != process.start_ticks:
        return Verdict("dead", f"process {process.pid} is another one now")
    return Verdict("alive", f"process {process.pid} is {sighting.state or 'there'}", is_seen=True)


def _by_silence(silent_ms: int, limits: Limits) -> Verdict:
    if silent_ms >= limits.stale_ms:
        return Verdict("expired", f"silent for {shown(silent_ms)}, and no process is known")
    return Verdict("alive", f"heard from {shown(silent_ms)} ago")


def _by_lease(evidence: Evidence, grace_ms: int, where: str) -> Verdict:
    over_ms = evidence.silent_ms - evidence.lease_ms
    if over_ms < 0:
        return Verdict("alive", f"{where}, lease runs for {shown(-over_ms)} more")
    if over_ms < grace_ms:
        return Verdict("suspect", f"{where}, lease over for {shown(over_ms)}")
    return Verdict("expired", f"{where}, lease over for {shown(over_ms)}")


def _is_other(one: str, other: str) -> bool:
    """Are these two different boots? Not if one of them is not known."""
    return bool(one) and bool(other) and one != other


def shown(ms: int) -> str:
    """A duration for people: `40 s`, `12 min`, `5 h`, `3 days`."""
    seconds = ms // 1000
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds // 60} min"
    if seconds < 172_800:
        return f"{seconds // 3600} h"
    return f"{seconds // 86_400} days"
