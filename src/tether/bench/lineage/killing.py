"""A first index that is killed in its midst: does it go on where it stood, and what does that cost?

Everything that was started for it is killed at once. What it had used until then is read from the
kernel, where that is Linux: nobody waits for children of the dead, so no other figure has them.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator

from tether.bench import processes
from tether.bench.lineage import steps
from tether.hints import Any, NamedTuple

_EARLIEST, _LATEST = 0.2, 0.8
_MAX_ATTEMPTS = 4
_PROC = "/proc"


class _Seen(NamedTuple):
    """A process, as the kernel shows it."""

    pid: int
    cpu_seconds: float


def measure(
    ground: processes.Ground, store_dir: str, whole: dict[str, Any], seed: int
) -> dict[str, Any]:
    """Kill a first index, let another go on, and compare with one that nobody disturbed."""
    chance = random.Random(seed)  # noqa: S311 (chance that can be repeated)
    share = chance.uniform(_EARLIEST, _LATEST)
    for attempt in range(_MAX_ATTEMPTS):
        store = os.path.join(store_dir, str(attempt))
        os.makedirs(store)
        killed = _interrupted(ground, store, whole["wall_seconds"] * share)
        if killed is not None:
            break
        share /= 2
    else:
        raise processes.Failed("an index was always made before it could be killed")
    continued = steps.run(ground, "identities", store)
    found = told(whole, killed.cpu_seconds, continued)
    return {
        "after_share_of_time": round(share, 2),
        **found,
        "digest": steps.run(ground, "digest", store)["digest"],
    }


def told(
    whole: dict[str, Any], spent_seconds: float | None, continued: dict[str, Any]
) -> dict[str, Any]:
    """What going on cost, against what was left. Pure."""
    own, rest = float(whole["cpu_seconds"]), float(continued["cpu_seconds"])
    found = {
        "continued_cpu_seconds": round(rest, 2),
        "continued_share": round(rest / own, 3),
        "commits_left": continued["commits"],
        "spent_share": None,
        "of_what_was_left": None,
        "more_than_without": None,
    }
    if spent_seconds is not None:
        left = max(own - spent_seconds, 0.001)
        found |= {
            "spent_share": round(spent_seconds / own, 3),
            "of_what_was_left": round(rest / left, 3),
            "more_than_without": round((spent_seconds + rest) / own - 1, 3),
        }
    return found


class Killed(NamedTuple):
    """What a process had used when it was killed; None where the kernel does not say."""

    cpu_seconds: float | None


def _interrupted(ground: processes.Ground, store_dir: str, seconds: float) -> Killed | None:
    """Kill a first index after a time; None if it had come to its end."""
    process = subprocess.Popen(
        steps.words("identities", ground.place, store_dir),
        env=dict(ground.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return _kill(process)
    if process.returncode:
        raise processes.Failed(f"identities: exit code {process.returncode}")
    return None


def _kill(process: subprocess.Popen[bytes]) -> Killed:
    """With all that it started, which stands still first, so that nobody starts more."""
    for pid in {process.pid, *(each.pid for each in _session(process.pid))}:
        _signal(pid, signal.SIGSTOP)
    ours = list(_session(process.pid))
    for pid in {process.pid, *(each.pid for each in ours)}:
        _signal(pid, signal.SIGKILL)
    process.wait()
    return Killed(sum(each.cpu_seconds for each in ours) if ours else None)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _session(leader: int) -> Iterator[_Seen]:
    """The processes of a session, the leader's own among them."""
    if not sys.platform.startswith("linux"):
        return
    ticks = os.sysconf("SC_CLK_TCK")
    for name in os.listdir(_PROC):
        if not name.isdigit():
            continue
        try:
            with open(os.path.join(_PROC, name, "stat"), "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        # Behind the name: state, ppid, pgrp, session, …, utime, stime, cutime, cstime.
        if int(fields[3]) == leader:
            yield _Seen(int(name), sum(map(int, fields[11:15])) / ticks)
