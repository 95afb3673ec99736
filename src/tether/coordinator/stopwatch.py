"""How long something took while this machine was running.

A laptop that slept for an hour, or a clock that was set, must not make every worker look stalled.
"""

from __future__ import annotations

from tether import clock

# Two readings are never taken at the same instant.
_TOLERANCE_MS = 5_000


class Stopwatch:
    """Notes when the wall clock went on without the machine, or jumped."""

    def __init__(self) -> None:
        self._last: tuple[int, int] | None = None
        self._jumps: list[tuple[int, int]] = []

    def tick(self, now: str, running_ms: int) -> None:
        """Compare the store's clock with the running time; called once each cycle."""
        wall_ms = clock.parse(now)
        if self._last is not None:
            jumped_ms = (wall_ms - self._last[0]) - (running_ms - self._last[1])
            if abs(jumped_ms) > _TOLERANCE_MS:
                self._jumps.append((wall_ms, jumped_ms))
        self._last = (wall_ms, running_ms)

    def now_since(self, since: str, now: str) -> str:
        """The time that it would be if no clock had jumped after `since`."""
        since_ms = clock.parse(since)
        jumped_ms = sum(ms for at_ms, ms in self._jumps if at_ms > since_ms)
        return clock.text(clock.parse(now) - jumped_ms)
