"""The quick sweep: what the store alone can tell, inside every `orient`.

Owners that are gone, claims that are open for long, conflicts that nobody settled. It reads no file
and no index, so it takes as long however much there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tether import clock, ids
from tether.agents import claims, lookout, roll
from tether.agents import model as agents
from tether.hints import NamedTuple
from tether.store import port, sql
from tether.tasks import states
from tether.vacuum import model, rules

_SQL = sql.Queries("vacuum")
TYPES = (model.DEAD_CLAIM, model.CONFLICT_ABANDONED, model.LONG_CLAIM)
# After one of these a task waits for nobody, or for a person.
_SETTLED = ("done", "failed", "cancelled")


class Found(NamedTuple):
    """A task with what the store says is wrong with it."""

    key: ids.TaskKey
    finding: model.Finding
    evidence: model.Evidence

    @property
    def rank(self) -> tuple[object, ...]:
        return (*self.finding.rank, self.key)

    @property
    def name(self) -> tuple[str, str, str]:
        return (*self.key, self.finding.type)


def known(store: port.Store) -> set[tuple[str, str, str]]:
    """What earlier quick sweeps found and is still open: source, id and type."""
    rows = store.rows(_SQL.open_of_store)
    return {(row["source"], row["task_id"], row["orphan_type"]) for row in rows}


def sweep(
    store: port.Store,
    spot: lookout.Lookout,
    now: str,
    limits: model.Limits,
    is_over: Callable[[ids.TaskKey], bool] = lambda _: False,
) -> list[Found]:
    """What is wrong by the store alone, the most urgent first.

    `is_over` is asked of the few tasks that come up, whether their file or list says so.
    """
    known = dict(_gather(store, spot, now))
    put_off = {
        (row["source"], row["name"]): row["deferred_at"]
        for row in store.rows(_SQL.put_off_ones)
        if row["scope"] == "task" and (not row["until"] or now < row["until"])
    }
    found = []
    for key, evidence in known.items():
        has_time = put_off.get((key.source, key.id), "") > evidence.claimed_at
        if has_time:
            continue
        chosen = [each for each in rules.judge(evidence, limits) if each.type in TYPES]
        if chosen and not is_over(key):
            found += [Found(key, each, evidence) for each in chosen]
    return sorted(found, key=lambda each: each.rank)


def _gather(
    store: port.Store, spot: lookout.Lookout, now: str
) -> Iterator[tuple[ids.TaskKey, model.Evidence]]:
    people = _People(store, spot)
    held = claims.open_ones(store.rows)
    taken = [agents.claim(row) for row in store.rows(_SQL.released)]
    holds = {each.key: people.hold(each) for each in (*taken, *held)}
    clashes: dict[ids.TaskKey, list[model.Clash]] = {}
    for row in store.rows(_SQL.conflicts):
        key = ids.TaskKey(row["source"], row["task"])
        if people.is_abandoned(row, holds.get(key)):
            clashes.setdefault(key, []).append(people.clash(row))
    for key in sorted({*holds, *clashes}):
        yield key, _evidence(key, holds.get(key), clashes.get(key, []), now)


def _evidence(
    key: ids.TaskKey, hold: model.Hold | None, clashes: list[model.Clash], now: str
) -> model.Evidence:
    at = hold.at if hold is not None else clashes[-1].at
    hours = max(0, clock.parse(now) - clock.parse(at)) / model.HOUR_MS
    subject = model.Subject(key, "", states.IN_PROGRESS)
    return model.Evidence(
        subject,
        now,
        hold,
        clashes=tuple(clashes),
        claimed_at=hold.at if hold is not None else "",
        quiet=model.Quiet(hours, hours),
    )


class _People:
    """Sessions as the store knows them, each looked at once."""

    def __init__(self, store: port.Store, spot: lookout.Lookout) -> None:
        self._store = store
        self._spot = spot
        self._known: dict[str, tuple[str, str]] = {}

    def verdict(self, session: str) -> tuple[str, str]:
        if session not in self._known:
            self._known[session] = self._judge(session)
        return self._known[session]

    def hold(self, claim: agents.Claim) -> model.Hold:
        return model.Hold(
            claim.session_id,
            claim.agent_name,
            claim.claimed_at,
            claim.closed_at or "",
            claim.outcome or "",
            *self.verdict(claim.session_id),
            f"claim:{claim.key.label}/{claim.epoch}",
        )

    def is_abandoned(self, row: port.Row, hold: model.Hold | None) -> bool:
        """Is a conflict neither settled by somebody's work nor one of two who are at work now?"""
        parties = (row["session_id"], row["other_session_id"])
        if row["resolved_at"] is None:
            return any(self.verdict(each)[0] not in ("alive", "suspect") for each in parties)
        last = claims.last_of(self._store.rows, ids.TaskKey(row["source"], row["task"]))
        if last is None or (hold is not None and hold.is_open):
            return False
        return last.outcome not in _SETTLED and last.claimed_at <= row["resolved_at"]

    def clash(self, row: port.Row) -> model.Clash:
        parties = (row["session_id"], row["other_session_id"])
        are_over = all(self.verdict(each)[0] == "dead" for each in parties)
        is_open = row["resolved_at"] is None
        return model.Clash(row["raised_at"], *parties, f"conflict:{row['id']}", is_open, are_over)

    def _judge(self, session: str) -> tuple[str, str]:
        agent = roll.get(self._store.rows, session)
        if agent is None:
            return "", ""
        if agent.is_here:
            found = self._spot.shown_verdict(agent)
            return found.state, found.reason
        if agent.status == "stale":
            return roll.retired(self._store.rows, session)
        return "ended", "it has ended"
