"""When something periodic is due again. Pure."""

from __future__ import annotations

from tether import clock
from tether.vacuum import model


def is_due(last_at: str, days: int, now: str) -> bool:
    """Is it time again? With no days between it never is; a time in the future counts as none."""
    if not days:
        return False
    if not last_at:
        return True
    return not 0 <= clock.parse(now) - clock.parse(last_at) < days * model.DAY_MS
