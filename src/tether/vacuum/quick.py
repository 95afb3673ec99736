"""The quick sweep: what the store alone can tell, inside every `orient`.

Owners that are gone, claims that are open for long, conflicts that nobody settled. It reads no file
and no index, so it takes as long however much there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tether import clock, ids
from tether.agents import claims, lookout, standing
from tether.agents import model as agents
from tether.hints import NamedTuple
from tether.store import port, sql
from tether.tasks import states
from tether.vacuum import deferring, model, rules

_SQL = sql.Queries("vacuum")
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


Lookup = Callable[[ids.TaskKey], "model.Subject | None"]
"""What files and lists say of the few tasks that come up; asked only then."""


def deferrals(store: port.Store) -> list[model.Deferral]:
    """Every deferral that nobody has ended, oldest first."""
    return [model.deferral(row) for row in store.rows(_SQL.put_off_ones)]


def unmarked(store: port.Store, limits: model.Limits) -> set[ids.TaskKey]:
    """Tasks that a sweep found to be done although their lists do not say so."""
    rows = store.rows(_SQL.unmarked, percent=limits.alert_percent)
    return {ids.TaskKey(row["source"], row["task_id"]) for row in rows}


def known(store: port.Store) -> set[tuple[str, str, str]]:
    """What earlier quick sweeps found and is still open: source, id and type."""
    rows = store.rows(_SQL.open_of_store)
    return {(row["source"], row["task_id"], row["orphan_type"]) for row in rows}


def sweep(
    store: port.Store,
    spot: lookout.Lookout,
    now: str,
    limits: model.Limits,
    lookup: Lookup = lambda _: None,
) -> list[Found]:
    """What is wrong by the store alone, but for what somebody put off; the most urgent first."""
    put_off = deferrals(store)
    found = [
        Found(key, each, evidence)
        for key, evidence in _gather(store, spot, now)
        for each in rules.judge(evidence, limits)
        if each.type in model.OF_STORE and not _has_time(evidence, put_off, lookup)
    ]
    return sorted(found, key=lambda each: each.rank)


def _has_time(known: model.Evidence, put_off: list[model.Deferral], lookup: Lookup) -> bool:
    """Did somebody defer it, or its track or project, after it was last touched?"""
    if not put_off:
        return False
    subject = lookup(known.subject.key) or known.subject
    return deferring.applying(put_off, subject, _touched_at(known), known.now) is not None


def _touched_at(known: model.Evidence) -> str:
    return max([known.claimed_at, *(each.at for each in known.clashes)])


def standing_here(found: list[Found], lookup: Lookup) -> list[Found]:
    """Those that still have to be done in this checkout."""
    return [each for each in found if _stands(each, lookup(each.key))]


def to_be_open(
    found: list[Found], here: list[Found], known: set[tuple[str, str, str]]
) -> list[Found]:
    """Those that are to be open: that stand here, or were open already.

    What is over here may not be so elsewhere: it is not closed, and not opened either.
    """
    names = {each.name for each in here} | known
    return [each for each in found if each.name in names]


def alerting(found: list[Found], limits: model.Limits) -> list[Found]:
    """Without those that would be orphans if they were more probable; they are none."""
    least = limits.alert_percent
    return [e for e in found if e.finding.type not in model.ORPHANED or e.finding.percent >= least]


def _stands(each: Found, subject: model.Subject | None) -> bool:
    if subject is None:
        return True
    is_off = deferring.is_put_off(subject, _touched_at(each.evidence))
    return subject.state in model.OPEN and not is_off


def _gather(
    store: port.Store, spot: lookout.Lookout, now: str
) -> Iterator[tuple[ids.TaskKey, model.Evidence]]:
    people = _People(store, spot)
    taken = [agents.claim(row) for row in store.rows(_SQL.released)]
    taken, held = (_not_of_runs(store, each) for each in (taken, claims.open_ones(store.rows)))
    holds = {each.key: people.hold(each) for each in (*taken, *held)}
    clashes: dict[ids.TaskKey, list[model.Clash]] = {}
    resumed: dict[ids.TaskKey, str] = {}
    for row in store.rows(_SQL.conflicts):
        key = ids.TaskKey(row["source"], row["task"])
        last = claims.last_of(store.rows, key)
        if last is None or last.outcome not in _SETTLED:
            clashes.setdefault(key, []).append(people.clash(row))
            resumed[key] = last.claimed_at if last is not None else ""
    for key in sorted({*holds, *clashes}):
        found = _evidence(key, holds.get(key), clashes.get(key, []), now)
        yield key, found._replace(resumed_at=resumed.get(key, ""))


def _not_of_runs(store: port.Store, found: list[agents.Claim]) -> list[agents.Claim]:
    """Without the tasks that only a run has: whoever resumes it looks after them."""
    sources = {each.source for each in found} - {ids.OWN_SOURCE}
    of_runs = {each for each in sources if store.rows(_SQL.is_run, source=each)}
    return [each for each in found if each.source not in of_runs]


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
        resumed_by=hold.session if hold is not None else "",
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
            rows = self._store.rows
            self._known[session] = standing.of_session(rows, self._spot, session)
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

    def clash(self, row: port.Row) -> model.Clash:
        return model.clash(row, lambda session: self.verdict(session)[0])
