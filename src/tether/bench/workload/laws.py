"""The measured laws that the workload is drawn from. Pure, given a source of chance."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from tether.bench.workload import model

# Claims of real agents: median a quarter of an hour, p90 nine hours, one in a hundred over a week.
CLAIM_MEDIAN_HOURS = 0.22
# More than these numbers say, because some claims are cut short by the end of their session.
CLAIM_SIGMA = 3.08
MESSAGES_MEAN = 512
MESSAGES_SIGMA = 1.4
SESSION_MEDIAN_HOURS = 4.2
SESSION_SIGMA = 0.9
CLAIMS_PER_SESSION = 2.4

# What becomes of a hundred claims; the rest stays open. After an orphaning nine in ten tasks are
# claimed again and seven in ten are done in the end.
DONE_SHARE = 0.73
ORPHANED_SHARE = 0.12
ROLLBACK_SHARE = 0.03
CANCELLED_SHARE = 0.03
OPEN_SHARE = 0.09
RECLAIMED = 0.9
DONE_IN_THE_END = 0.7

# How a task looks whose last claim was never closed.
OPEN_ENDS = {
    model.DEAD_CLAIM: 0.20,
    model.CONTEXT_LOST: 0.12,
    model.CONFLICT_ABANDONED: 0.08,
    model.STALE: 0.18,
    model.PARTIAL: 0.12,
    model.DONE_UNMARKED: 0.20,
    model.FATE_DEFERRED: 0.04,
    model.ACTIVE: 0.06,
}
# How one looks that was orphaned and that nobody claimed again.
ORPHANED_ENDS = {
    model.DEAD_CLAIM: 0.45,
    model.CONTEXT_LOST: 0.30,
    model.CONFLICT_ABANDONED: 0.25,
}

_HOURS = (2, 1, 1, 1, 1, 2, 4, 7, 9, 10, 10, 9, 8, 9, 10, 10, 9, 8, 7, 6, 5, 4, 3, 3)
_WEEKEND = 0.35


def claim_ms(rng: random.Random) -> int:
    """How long a claim lasts."""
    hours = rng.lognormvariate(math.log(CLAIM_MEDIAN_HOURS), CLAIM_SIGMA)
    return max(model.MINUTE, round(hours * model.HOUR))


def session_ms(rng: random.Random) -> int:
    hours = rng.lognormvariate(math.log(SESSION_MEDIAN_HOURS), SESSION_SIGMA)
    return max(10 * model.MINUTE, round(min(hours, 40) * model.HOUR))


def messages(rng: random.Random, sessions: int, total: int, least: int) -> list[int]:
    """How many messages each session has; together exactly as many as wanted."""
    mu = math.log(MESSAGES_MEAN) - MESSAGES_SIGMA**2 / 2
    drawn = [rng.lognormvariate(mu, MESSAGES_SIGMA) for _ in range(sessions)]
    spare = max(0, total - least * sessions)
    factor = spare / sum(drawn)
    found = [least + int(each * factor) for each in drawn]
    found[-1] += total - sum(found) if total > sum(found) else 0
    return found


def moment(rng: random.Random, first: int, last: int) -> int:
    """A moment at which people work, between two others."""
    for _ in range(64):
        at = rng.randrange(first, last)
        hour = at // model.HOUR % 24
        weekday = (at // model.DAY + 3) % 7  # the first of January 1970 was a Thursday
        weight = _HOURS[hour] / 10 * (_WEEKEND if weekday >= 5 else 1)
        if rng.random() < weight:
            return at
    return first


def quotas(total: float, shares: Mapping[str, float], least: int) -> dict[str, int]:
    """Parts of a number, each at least so big."""
    return {name: max(least, round(total * share)) for name, share in shares.items()}


def spread(total: int, weights: Sequence[float]) -> list[int]:
    """A number in parts by weight, which add up to it exactly."""
    sum_of_weights, before, given, found = sum(weights), 0.0, 0, []
    for weight in weights:
        before += weight
        upto = round(total * before / sum_of_weights)
        found.append(upto - given)
        given = upto
    return found


def outcomes(claims: float) -> dict[str, int]:
    """How many tasks take each course, for so many claims."""
    orphaned = claims * ORPHANED_SHARE
    again_and_done = orphaned * DONE_IN_THE_END
    again_in_vain = orphaned * (RECLAIMED - DONE_IN_THE_END)
    rolled_back = claims * ROLLBACK_SHARE
    courses = {
        model.DONE: claims * DONE_SHARE - again_and_done - rolled_back,
        model.ROLLBACK: rolled_back,
        model.RESURRECTED: again_and_done / 2,
        model.FATE_ADOPTED: again_and_done / 2,
        "orphaned_again": again_in_vain,
        "orphaned": orphaned * (1 - RECLAIMED),
        model.FATE_CANCELLED: claims * CANCELLED_SHARE,
        "open": claims * OPEN_SHARE - again_in_vain,
    }
    return {name: max(1, round(count)) for name, count in courses.items()}
