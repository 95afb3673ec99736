"""The sessions of the workload: when each ran, where, and how much it said. Pure."""

from __future__ import annotations

import random
import uuid

from tether.bench.workload import laws, model

SESSIONS = 1000
MESSAGES = 512_000
MACHINES = 2
_LEAST_SESSIONS = 48
_LEAST_MESSAGES = 24
# One in so many is of the other project, was here lately, or is here now.
_OF_SECOND = 20
_LATELY = 6
LIVE_CLAIMS = 2
_VENDORS = (*(model.CLAUDE,) * 35, *(model.CODEX,) * 11, *(model.GEMINI,) * 4)
# The other project stops two weeks before the end, all at once.
PAUSED_AT = model.NOW - 15 * model.DAY


def make(rng: random.Random, size: model.Size) -> list[model.Session]:
    """All sessions, in the order in which they began."""
    count = size.of(SESSIONS, _LEAST_SESSIONS)
    live, lately = size.of(LIVE_CLAIMS, LIVE_CLAIMS), size.of(_LATELY, 3)
    second = size.of(_OF_SECOND, 3)
    spans = [_now(rng) for _ in range(live)]
    spans += [_lately(rng) for _ in range(lately)]
    pausing = [_span(rng, model.NOW - 40 * model.DAY, PAUSED_AT - model.DAY) for _ in range(second)]
    rest = count - live - lately - second
    others = [_span(rng, model.START, model.NOW - 19 * model.HOUR) for _ in range(rest)]
    everything = [(span, _ending(n, live), model.MAIN) for n, span in enumerate([*spans, *others])]
    everything += [(span, model.AT_REST, model.SECOND_PROJECT) for span in pausing]
    everything.sort()
    found = [_session(rng, n, *each) for n, each in enumerate(everything)]
    _give_messages(rng, found, size)
    return found


def _span(rng: random.Random, first: int, last: int) -> tuple[int, int]:
    start = laws.moment(rng, first, last)
    return start, min(start + laws.session_ms(rng), max(last, start + 20 * model.MINUTE))


def _now(rng: random.Random) -> tuple[int, int]:
    return model.NOW - rng.randrange(2, 6) * model.HOUR, model.NOW - model.MINUTE


def _lately(rng: random.Random) -> tuple[int, int]:
    start = model.NOW - rng.randrange(10, 18) * model.HOUR
    return start, start + rng.randrange(2, 7) * model.HOUR


def _ending(number: int, live: int) -> str:
    return model.LIVE if number < live else model.AT_REST


def _session(
    rng: random.Random, number: int, span: tuple[int, int], ending: str, project: str
) -> model.Session:
    vendor = rng.choice(_VENDORS)
    if ending == model.LIVE or project != model.MAIN or number % 4 == 0:
        vendor = model.CLAUDE  # these have to have a transcript, and small workloads each vendor
    elif number % 16 in (1, 2):
        vendor = (model.CODEX, model.GEMINI)[number % 16 - 1]
    return model.Session(
        number,
        str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        vendor,
        rng.randrange(MACHINES),
        10_000 + 37 * number % 50_000,
        *span,
        0,
        project,
        ending,
    )


def _give_messages(rng: random.Random, sessions: list[model.Session], size: model.Size) -> None:
    telling = [session for session in sessions if session.vendor != model.GEMINI]
    total = size.of(MESSAGES, 2 * _LEAST_MESSAGES * len(telling))
    counts = laws.messages(rng, len(telling), total, _LEAST_MESSAGES)
    for session, count in zip(telling, counts, strict=True):
        session.messages = count
