"""The sweep: finds sessions that are over, and frees what they held.

Candidates are sessions that nobody has seen for a while. Each is looked at; one whose process is
there is noted as seen; one that is dead or expired is marked in a transaction of its own, after the
evidence was looked at again inside it. So two sweeps give one set of events, and a beat that comes
in between wins. What one agent's row does wrong keeps no other from being swept.
"""

from __future__ import annotations

import functools

from tether import clock, errors
from tether.agents import liveness, lookout, model, registry, roll
from tether.hints import NamedTuple
from tether.store import events, port, sql

_SQL = sql.Queries("agents")
_CLAIMS = sql.Queries("claims")

# A beat this far ahead was not written by a clock that only runs a little fast.
_AHEAD_MS = 60_000
_BATCH = 1000
DAY_MS = 86_400_000
# What may be wrong with one session's rows. A store that is away or busy ends the sweep.
_ONE_AGENTS_OWN = (errors.StoreCorrupt, port.RowRefused, ValueError, KeyError)


class Rules(NamedTuple):
    """What a sweep is asked to do."""

    stale_ms: int | None = None
    """Replaces the usual patience, for people too; 0 means everybody."""
    spared: str = ""
    """A session that is not looked at: whoever calls is here."""
    keep_heartbeats_days: int = 7
    keep_chatter_days: int = 30
    max_batches: int = 1000
    """How much old history to forget at most, in batches."""


class Stale(NamedTuple):
    """A session that is over, and what it held."""

    session_id: str
    agent_name: str
    released_items: tuple[str, ...]


class Candidate(NamedTuple):
    """A session that was not seen for a while, and what is known of it."""

    session_id: str
    agent_name: str
    pid: int | None
    last_seen_at: str
    verdict: str
    """A state of liveness, or `damaged` for a row that cannot be judged."""
    reason: str
    would_release: tuple[str, ...]


class Problem(NamedTuple):
    """A session that could not be swept."""

    session_id: str
    agent_name: str
    code: str
    message: str


class Swept(NamedTuple):
    """What a sweep did."""

    stale_agents: tuple[Stale, ...]
    pids_verified: tuple[str, ...]
    suspects: tuple[Candidate, ...]
    problems: tuple[Problem, ...]
    heartbeats_pruned: int
    events_pruned: int


def look(store: port.Store, spot: lookout.Lookout, rules: Rules) -> list[Candidate]:
    """What a sweep would find. Changes nothing."""
    return [
        _damaged(found) if isinstance(found, Problem) else _candidate(store, *found)
        for found in _examine(store, spot, rules)
    ]


def sweep(store: port.Store, spot: lookout.Lookout, rules: Rules) -> Swept:
    """Look at everybody who was silent, and free what the dead and the expired held."""
    stale: list[Stale] = []
    seen: list[model.Agent] = []
    suspects: list[Candidate] = []
    problems: list[Problem] = []
    for found in _examine(store, spot, rules):
        if isinstance(found, Problem):
            problems.append(found)
            continue
        agent, verdict = found
        try:
            if verdict.is_over:
                retired = _retire(store, spot, agent, rules)
                stale += [retired] if retired else []
            elif _is_ahead(agent):
                _set_right(store, spot, agent)
            elif verdict.state == "suspect":
                suspects.append(_candidate(store, agent, verdict))
            elif verdict.is_seen:
                seen.append(agent)
        except _ONE_AGENTS_OWN as problem:
            problems.append(_problem(agent, problem))
    verified = _note_seen(store, spot, seen)
    heartbeats, chatter = _prune(store, rules)
    return Swept(
        tuple(stale), tuple(verified), tuple(suspects), tuple(problems), heartbeats, chatter
    )


def _examine(
    store: port.Store, spot: lookout.Lookout, rules: Rules
) -> list[tuple[model.Agent, liveness.Verdict] | Problem]:
    """Everybody who was not seen for a while, each looked at on its own."""
    wanted_ms = spot.limits.stale_ms if rules.stale_ms is None else rules.stale_ms
    found: list[tuple[model.Agent, liveness.Verdict] | Problem] = []
    silent = store.rows(
        _SQL.silent,
        since_ms=-wanted_ms,
        ahead_ms=min(_AHEAD_MS, wanted_ms),
        boot_id=spot.here.boot_id,
        since_running_ms=spot.monotonic_ms() - wanted_ms,
    )
    for row in silent:
        agent = model.agent(row)
        if agent.session_id == rules.spared:
            continue
        try:
            is_patient = rules.stale_ms is None and agent.kind == model.HUMAN
            if is_patient and 0 <= _unseen_ms(agent) < spot.human_stale_ms:
                continue
            found.append((agent, spot.verdict(agent, rules.stale_ms)))
        except _ONE_AGENTS_OWN as problem:
            found.append(_problem(agent, problem))
    return found


def _unseen_ms(agent: model.Agent) -> int:
    return clock.parse(agent.read_at) - clock.parse(agent.last_seen_at)


def _is_ahead(agent: model.Agent) -> bool:
    return _unseen_ms(agent) < -_AHEAD_MS


def _set_right(store: port.Store, spot: lookout.Lookout, agent: model.Agent) -> None:
    """A clock was set back after this beat: by the wall clock its silence would never end."""
    silent_ms = spot.silent_ms(agent)
    store.write(
        "sweep",
        lambda transaction: transaction.rows(
            _SQL.rewind,
            session_id=agent.session_id,
            version=agent.version,
            ago_ms=-silent_ms,
            lease_ms=spot.lease_ms - silent_ms,
            beat_boot_id=spot.here.boot_id,
            beat_monotonic_ms=spot.monotonic_ms() - silent_ms,
        ),
    )


def _note_seen(store: port.Store, spot: lookout.Lookout, seen: list[model.Agent]) -> list[str]:
    """These are alive: one transaction for all, because they may be many.

    Their leases are renewed for those who cannot see the processes themselves.
    """

    def work(transaction: port.Transaction) -> list[str]:
        verified = []
        for agent in seen:
            named = {"session_id": agent.session_id}
            seen_now = {**named, "version": agent.version, "lease_ms": spot.lease_ms}
            if transaction.rows(_SQL.seen, **seen_now):
                transaction.rows(_CLAIMS.renew_all, **named, **spot.lease())
                verified.append(agent.session_id)
        return verified

    return store.write("sweep", work) if seen else []


def _retire(
    store: port.Store, spot: lookout.Lookout, agent: model.Agent, rules: Rules
) -> Stale | None:
    """Mark one session and free its claims, if the evidence still holds."""

    def work(transaction: port.Transaction) -> Stale | None:
        now = roll.get(transaction.rows, agent.session_id)
        if now is None or not now.is_here:
            return None
        # Heard from since it was looked at. What else changes its row, as adopting a task of it
        # does, leaves a death as certain as it was.
        if (now.last_beat_at, now.beat_monotonic_ms) != (
            agent.last_beat_at,
            agent.beat_monotonic_ms,
        ):
            return None
        verdict = spot.verdict(now, rules.stale_ms)
        if now.version != agent.version and verdict.state != "dead":
            return None
        return mark(transaction, now, verdict) if verdict.is_over else None

    return store.write("sweep", work)


def retire_dead(store: port.Store, spot: lookout.Lookout, spared: str) -> list[Stale]:
    """Free what those hold whose process is certainly gone, however lately they were heard from.

    The sweep itself waits until somebody is silent for a while, because who is started again at
    once keeps what it has: so this is for whoever asks for it.
    """
    rules = Rules(stale_ms=0, spared=spared)
    dead = [each for each in look(store, spot, rules) if each.verdict == "dead"]
    found = [
        store.write("sweep", functools.partial(_retire_dead, spot, each.session_id))
        for each in dead
    ]
    return [each for each in found if each is not None]


def _retire_dead(
    spot: lookout.Lookout, session_id: str, transaction: port.Transaction
) -> Stale | None:
    agent = roll.get(transaction.rows, session_id)
    if agent is None or not agent.is_here:
        return None
    verdict = spot.verdict(agent)
    return mark(transaction, agent, verdict) if verdict.is_certain else None


def mark(
    transaction: port.Transaction, agent: model.Agent, verdict: liveness.Verdict
) -> Stale | None:
    """Write down that a session is over, unless it was heard from since it was read."""
    marked = transaction.rows(_SQL.mark_stale, session_id=agent.session_id, version=agent.version)
    if not marked:
        return None
    released = registry.release_all(transaction, agent, "released_stale", None, agent.place)
    labels = tuple(claim.key.label for claim in released)
    transaction.event(
        events.AGENT_STALE,
        actor=model.TETHER,
        session=agent.session_id,
        data={
            "agent": agent.agent_name,
            "pid": agent.pid,
            "last_seen_at": agent.last_seen_at,
            "verdict": verdict.state,
            "reason": verdict.reason,
        },
    )
    if released:
        transaction.event(
            events.STALE_LOCKS_RELEASED,
            actor=model.TETHER,
            session=agent.session_id,
            data={"agent": agent.agent_name, "released": list(labels)},
        )
    held = f" It held {', '.join(labels)}." if labels else ""
    registry.tell_parent(transaction, agent, f"{agent.agent_name} is over: {verdict.reason}.{held}")
    return Stale(agent.session_id, agent.agent_name, labels)


def _prune(store: port.Store, rules: Rules) -> tuple[int, int]:
    """Forget old progress texts and chatter; how many of each."""
    heartbeats = chatter = 0
    for _ in range(rules.max_batches):

        def work(transaction: port.Transaction) -> tuple[int, int]:
            rows = transaction.rows(
                _SQL.prune_heartbeats, since_ms=-rules.keep_heartbeats_days * DAY_MS, limit=_BATCH
            )
            return len(rows), events.prune(transaction, rules.keep_chatter_days * DAY_MS, _BATCH)

        some_heartbeats, some_chatter = store.write("sweep", work)
        heartbeats, chatter = heartbeats + some_heartbeats, chatter + some_chatter
        if max(some_heartbeats, some_chatter) < _BATCH:
            break
    return heartbeats, chatter


def _candidate(store: port.Store, agent: model.Agent, verdict: liveness.Verdict) -> Candidate:
    held = store.rows(_CLAIMS.open_ones, session_id=agent.session_id) if verdict.is_over else []
    return Candidate(
        agent.session_id,
        agent.agent_name,
        agent.pid,
        agent.last_seen_at,
        verdict.state,
        verdict.reason,
        tuple(model.claim(row).key.label for row in held),
    )


def _problem(agent: model.Agent, problem: Exception) -> Problem:
    if isinstance(problem, errors.TetherError):
        return Problem(agent.session_id, agent.agent_name, problem.code, problem.message)
    message = f"The session's row is not right: {problem}."
    return Problem(agent.session_id, agent.agent_name, "failed", message)


def _damaged(problem: Problem) -> Candidate:
    return Candidate(
        problem.session_id, problem.agent_name, None, "", "damaged", problem.message, ()
    )
