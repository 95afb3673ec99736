"""How probable it is that a task which somebody began was dropped, from its silence alone. Pure.

One clock with three corrections, measured on the histories of real projects (docs/explanation/
accuracy.md):

- It starts at the last touch that was about this task. A state or an owner that is set on many
  tasks in one minute is housekeeping, and what was touched before the task was written down was
  another task of that name: neither starts it anew.
- It runs faster where silence means more: nothing but a claim ever showed that work began, or the
  project is so busy that others would have been touched often.
- For half a day after any touch that touch is believed: real claims last minutes to hours.

The odds that nobody comes back grow evenly with the time on that clock, up to a limit, because a
few tasks come back after any silence.
"""

from __future__ import annotations

import math

from tether.vacuum import model

BULK_TASKS = 6
"""A statement about so many tasks in a minute is about none of them; hands change up to five."""
GRACE_HOURS = 12.0
"""Nine in ten real claims are over after 1.4 to 9 hours."""
PACE = 1.5
BUSY_TOUCHES = 150
"""In a week: thirty on each working day."""
_FIRST_ODDS = 0.7
"""Right after a touch, as a daily sweep meets it: two in five."""
_DOUBLINGS = 2.0
"""The odds grow so many times e-fold until the silence counts as too long."""
_CEILING = 0.93
"""One in a hundred silent tasks comes back on each day of the next week."""


def probability(quiet: model.Quiet, stale_hours: float = 168.0) -> float:
    """That nobody who had it comes back within a week; 0.84 once it is silent for too long."""
    growth = min(50.0, _DOUBLINGS * silence_hours(quiet) / stale_hours)
    odds = _FIRST_ODDS * math.exp(growth)
    return min(_CEILING, odds / (1 + odds))


def percent(quiet: model.Quiet | None, limits: model.Limits) -> int:
    """The same as a whole number; 0 if nothing is known."""
    if quiet is None:
        return 0
    return round(100 * probability(quiet, limits.stale_ms / model.HOUR_MS))


def silence_hours(quiet: model.Quiet) -> float:
    """The hours of silence that count."""
    hours = quiet.alone_hours
    if quiet.touched_hours <= GRACE_HOURS:
        hours = min(hours, quiet.touched_hours)
    return max(0.0, hours) * (PACE if _is_telling(quiet) else 1.0)


def reasons(quiet: model.Quiet | None) -> list[str]:
    """What makes the silence say more than its length, in words."""
    if quiet is None:
        return []
    said = []
    if quiet.touched_together >= BULK_TASKS:
        said.append(f"its last touch was a change of {quiet.touched_together} tasks at once")
    if not quiet.has_work:
        said.append("no trace of work on it")
    if quiet.project_touches >= BUSY_TOUCHES:
        said.append(f"others were touched {quiet.project_touches} times in a week")
    return said


def _is_telling(quiet: model.Quiet) -> bool:
    # Both reasons mean the same, so they do not multiply.
    return not quiet.has_work or quiet.project_touches >= BUSY_TOUCHES
