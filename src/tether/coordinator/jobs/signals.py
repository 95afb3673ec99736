"""Sends signals to exactly the process that is meant, never to one that has got its number."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from tether import host


def send(process: host.Process, number: int) -> bool:
    """Signal a process that was identified before; False if it is no longer there."""
    return send_if(process.pid, number, lambda pid: host.identify(pid) == process)


def send_if(pid: int, number: int, is_meant: Callable[[int], bool]) -> bool:
    """Signal a process if it is the one that is meant; False if it is not, or may not be."""
    try:
        # Pinned first: what is found out after that is about the process that gets the signal.
        pinned = _pin(pid)
    except ProcessLookupError:
        return False
    try:
        if not is_meant(pid):
            return False
        _signal(pid, pinned, number)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        if pinned >= 0:
            os.close(pinned)
    return True


def _pin(pid: int) -> int:
    """A descriptor that stays with this process; -1 where the system has none."""
    if sys.platform != "linux":
        return -1
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:
        # A kernel before 5.3, or a sandbox. What is left is the moment between look and signal.
        return -1


def _signal(pid: int, pinned: int, number: int) -> None:
    if sys.platform == "linux" and pinned >= 0:
        signal.pidfd_send_signal(pinned, number)
    else:
        os.kill(pid, number)
