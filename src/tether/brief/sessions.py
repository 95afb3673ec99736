"""All sessions, live and dead: what each holds, what it said last, and what wants a look.

Facts come from the store alone. Who stopped in the middle of something is in `rescue`.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether import clock, ids
from tether.agents import claims, conflicts, liveness, lookout, messages, roll, standing
from tether.agents import model as agents
from tether.hints import NamedTuple
from tether.store import port

# Who went longer ago is shown only if everybody is asked for.
GONE_WITHIN_MS = 24 * 3_600_000
_MAX_UNREAD = 1000

CONFLICT = "conflict"
DEAD_CLAIM = "dead_claim"
LONG_CLAIM = "long_claim"
UNREAD = "unread"


class Held(NamedTuple):
    """A task that a session has."""

    key: ids.TaskKey
    epoch: int
    claimed_at: str
    held_ms: int
    paths: tuple[str, ...] = ()
    """What it has reserved for it."""


class Alert(NamedTuple):
    """What somebody should look at."""

    kind: str
    text: str


class Standing(NamedTuple):
    """How one session stands."""

    agent: agents.Agent
    verdict: str
    """alive, suspect, expired, dead or ended."""
    reason: str
    silent_ms: int | None = None
    """Since its last beat; None for a row whose times are damaged."""
    progress_ms: int = 0
    """Since it last told of its progress."""
    held: tuple[Held, ...] = ()
    unread: int = 0
    urgent: int = 0
    """How many of the unread are of high priority."""
    conflicts: tuple[str, ...] = ()
    """The open ones, in words."""
    alerts: tuple[Alert, ...] = ()


class Overview(NamedTuple):
    """The sessions that were asked for, those that are here first."""

    standings: tuple[Standing, ...]
    left_out: int
    """How many went so long ago that nobody asked for them."""


def look(
    store: port.Store, spot: lookout.Lookout, long_ms: int, *, everyone: bool = False
) -> Overview:
    """Look at every session that is here or went within a day, or at all that ever were."""
    held: dict[str, list[agents.Claim]] = {}
    for claim in claims.open_ones(store.rows):
        held.setdefault(claim.session_id, []).append(claim)
    clashes: dict[str, list[str]] = {}
    for each in conflicts.open_ones(store.rows):
        for session in dict.fromkeys((each.session_id, each.other_session_id)):
            clashes.setdefault(session, []).append(each.detail)
    every = roll.here(store.rows, everyone=True)
    wanted = [each for each in every if everyone or each.session_id in held or is_recent(each)]
    standings = [
        _standing(store, spot, each, held.get(each.session_id, []), clashes.get(each.session_id))
        for each in wanted
    ]
    told = [each._replace(alerts=alerts(each, long_ms)) for each in standings]
    told.sort(key=lambda each: not each.agent.is_here)
    return Overview(tuple(told), len(every) - len(wanted))


def is_recent(agent: agents.Agent) -> bool:
    """Is a session here, or did it go within a day?"""
    return agent.is_here or _passed_ms(agent.ended_at or "", agent.read_at) < GONE_WITHIN_MS


def alerts(standing: Standing, long_ms: int) -> tuple[Alert, ...]:
    """What is wrong with a session, the worst first."""
    labels = ", ".join(each.key.label for each in standing.held)
    is_over = standing.verdict in (*liveness.OVER, "ended")
    found = [Alert(DEAD_CLAIM, f"is gone and still has {labels}")] if is_over and labels else []
    found += [Alert(CONFLICT, each) for each in standing.conflicts]
    found += [
        Alert(LONG_CLAIM, f"has {each.key.label} for {liveness.shown(each.held_ms)}")
        for each in standing.held
        if each.held_ms > long_ms
    ]
    # Nobody reads what was written to somebody who has gone.
    if standing.urgent and not is_over:
        found.append(Alert(UNREAD, f"has {standing.urgent} of high priority unread"))
    return tuple(found)


def _standing(
    store: port.Store,
    spot: lookout.Lookout,
    agent: agents.Agent,
    held: Iterable[agents.Claim],
    clashes: Iterable[str] | None,
) -> Standing:
    unread = messages.unread(store, agent, _MAX_UNREAD)
    return Standing(
        agent,
        *standing.of_agent(store.rows, spot, agent),
        _silent_ms(spot, agent),
        _passed_ms(agent.progress_at or "", agent.read_at),
        tuple(
            Held(
                each.key,
                each.epoch,
                each.claimed_at,
                _passed_ms(each.claimed_at, agent.read_at),
                tuple(claims.reserved(store.rows, each)),
            )
            for each in held
        ),
        len(unread),
        sum(each.priority >= messages.HIGH for each in unread),
        tuple(clashes or ()),
    )


def _silent_ms(spot: lookout.Lookout, agent: agents.Agent) -> int | None:
    try:
        return spot.silent_ms(agent)
    except ValueError:
        return None


def _passed_ms(at: str, now: str) -> int:
    """How long ago a time was; 0 if it is damaged, so that such a row is shown."""
    try:
        return max(0, clock.parse(now) - clock.parse(at))
    except ValueError:
        return 0
