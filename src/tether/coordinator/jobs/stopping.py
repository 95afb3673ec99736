"""Ends jobs for certain, with everything that they have started."""

from __future__ import annotations

import os
import signal
import time

from tether import errors, files, host
from tether.coordinator.jobs import folder as folders
from tether.coordinator.jobs import looking, model, signals

# On top of the grace: for the wrapper to see that its steps have ended and to write its report.
SPARE_SECONDS = 5.0
# A killed process is gone in a moment, unless it waits for a disk that does not answer.
KILL_SECONDS = 10.0
_POLL_SECONDS = 0.02
# A process that is just being replaced (exec) shows no environment for a moment, and one that forks
# and ends may slip past a reader of the list: once more shows them.
_EMPTY_LOOKS = 2


def stop(root: files.Root, agent_id: str, grace_seconds: float) -> model.Look:
    """End a job and whatever is left of it: `ended` if it left a report, otherwise `gone`.

    The wrapper is asked first and has the grace and a few seconds to end its steps; give the grace
    of the job here, or it is killed earlier. `running` means that its wrapper is out of reach, on
    another machine. Raises if something of it cannot be ended from here.
    """
    looking.abandon(root, agent_id)
    _end_wrapper(folders.Folder(root, agent_id), grace_seconds + SPARE_SECONDS)
    left = sweep_processes(root, agent_id)
    found = looking.abandon(root, agent_id)
    if left:
        raise errors.TetherError(
            f"{left} processes of {agent_id} could not be ended. No other will begin.",
            hint="End them by other means, then repeat the command.",
        )
    return found


def sweep_processes(root: files.Root, agent_id: str) -> int:
    """Kill every process that was started by a job, and count those that would not go.

    They are known by the job's directory in their environment, wherever they have moved: into other
    groups and sessions, or to another parent. What has also changed its environment is not found.
    A caller that belongs to the job itself is spared.
    """
    directory = folders.Folder(root, agent_id).path
    deadline = time.monotonic() + KILL_SECONDS
    found = _of_job(directory)
    empty_looks = 0
    while time.monotonic() < deadline:
        empty_looks = 0 if found else empty_looks + 1
        if empty_looks == _EMPTY_LOOKS:
            break
        for pid in found:
            signals.send_if(pid, signal.SIGKILL, lambda pid: _is_of_job(pid, directory))
        time.sleep(_POLL_SECONDS)
        found = _of_job(directory)
    return len(found)


def _end_wrapper(folder: folders.Folder, seconds: float) -> None:
    """Ask the wrapper to end, if there is one, and kill it if it does not."""
    if not _ends(folder, signal.SIGTERM, seconds):
        _ends(folder, signal.SIGKILL, KILL_SECONDS)


def _ends(folder: folders.Folder, number: int, seconds: float) -> bool:
    """Whether a wrapper ends within a time after a signal."""
    deadline = time.monotonic() + seconds
    was_sent = False
    while not _is_free(folder):
        if time.monotonic() >= deadline:
            return False
        # It says which process it is a moment after it has taken the lock.
        if not was_sent and (process := folder.process()):
            was_sent = signals.send(process, number)
        time.sleep(_POLL_SECONDS)
    return True


def _is_free(folder: folders.Folder) -> bool:
    with folder.sharing_lock() as is_free:
        return is_free


def _of_job(directory: str) -> list[int]:
    found = host.started_with(folders.DIRECTORY_VARIABLE, directory)
    if found is None:
        raise errors.PlatformUnsupported(
            "The processes of this machine cannot be seen from here. None was ended.",
            hint="Run this outside of the sandbox, or where /proc is that of its own processes.",
        )
    return [pid for pid in found if pid != os.getpid()]


def _is_of_job(pid: int, directory: str) -> bool:
    return host.environment_value(pid, folders.DIRECTORY_VARIABLE) == directory
