"""Who has a task: taken, renewed, closed and adopted by single conditional statements.

At most one claim of a task is open, by a unique index. Every write of a holder names its session
and its epoch, so a process that wakes up after its task went to another one changes nothing and
learns who has it. Losing a race is an answer, not an error. Claims are closed, never deleted.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether import ids
from tether.agents import liveness, lookout, model, registry, roll, settling
from tether.hints import TYPE_CHECKING, NamedTuple
from tether.store import events, port, sql

if TYPE_CHECKING:
    from tether.agents import conflicts

_SQL = sql.Queries("claims")
_AGENTS = sql.Queries("agents")
_STORE = sql.Queries("store")

DONE = "done"
FAILED = "failed"
RELEASED = "released"
ADOPTED = "adopted"
STALE = "released_stale"
_IN_WORDS = {
    ADOPTED: "taken over",
    STALE: "released when its holder was gone",
    "released_end": "released when its session ended",
}


class Claimed(NamedTuple):
    """The session has the task."""

    claim: model.Claim
    is_new: bool
    """False if it had the task already: asking twice does no harm."""
    overlaps: tuple[conflicts.Overlap, ...] = ()
    previous: model.Claim | None = None
    """The claim before this one, with what its owner left."""
    is_adopted: bool = False
    """Was the previous one still open?"""
    reason: str = ""
    """Why it could be adopted."""


class Refused(NamedTuple):
    """Somebody else has the task, or it was lost meanwhile. Nothing was changed."""

    key: ids.TaskKey
    last: model.Claim | None
    """The claim that counts: the open one, or the newest if none is open."""
    holder: model.Agent | None = None
    verdict: str = ""
    reason: str = ""

    @property
    def is_held(self) -> bool:
        return self.last is not None and self.last.closed_at is None


def take(
    store: port.Store,
    spot: lookout.Lookout,
    session_id: str,
    key: ids.TaskKey,
    *,
    patterns: Iterable[str] = (),
    news: registry.News = registry.NO_NEWS,
    takes_over: bool = False,
) -> Claimed | Refused:
    """Take a task that is free or whose holder is dead or expired.

    `takes_over` takes it from a living holder too: a person's decision.
    """
    wanted = _parsed(patterns)
    news = news._replace(key=None, progress=None)

    known = None if takes_over else _known_refusal(store.rows, spot, session_id, key)
    if known is not None:
        return known

    def work(transaction: port.Transaction) -> Claimed | Refused:
        heard = registry.hear(transaction, spot, session_id, news, may_recover=False)
        answer = _take(transaction, spot, heard.agent, key, takes_over=takes_over)
        if isinstance(answer, Refused):
            _say_refused(transaction, heard.agent, answer)
            return answer
        overlaps = _reserve(transaction, spot, heard.agent, answer.claim, wanted)
        if answer.is_adopted and answer.previous is not None:
            body = f"{heard.agent.agent_name} has taken {key.label} over from you."
            _tell_holder(transaction, heard.agent, answer.previous, body)
        if answer.is_new:
            _say_taken(transaction, answer, wanted)
        [row] = transaction.rows(
            _AGENTS.work_on, session_id=session_id, source=key.source, task=key.id
        )
        settling.moved_on(transaction, model.agent(row))
        return answer._replace(overlaps=overlaps)

    return store.write("claim", work)


def renew(
    store: port.Store, spot: lookout.Lookout, session_id: str, key: ids.TaskKey, epoch: int
) -> Claimed | Refused:
    """Extend the lease of a claim that this session still has."""

    def work(transaction: port.Transaction) -> Claimed | Refused:
        found = transaction.rows(
            _SQL.renew,
            source=key.source,
            task=key.id,
            session_id=session_id,
            epoch=epoch,
            lease_ms=spot.lease_ms,
        )
        if not found:
            return refused(transaction.rows, spot, key)
        return Claimed(model.claim(found[0]), is_new=False)

    return store.write("renew", work)


def close(
    store: port.Store,
    spot: lookout.Lookout,
    session_id: str,
    key: ids.TaskKey,
    epoch: int,
    outcome: str,
    place: model.Place = model.NOWHERE,
) -> model.Claim | Refused:
    """Let go of a task, with what became of it."""
    outcome = ids.Outcome(outcome)

    def work(transaction: port.Transaction) -> model.Claim | Refused:
        closed = close_one(transaction, session_id, key, epoch, outcome, place)
        return closed or refused(transaction.rows, spot, key)

    return store.write("release", work)


def close_one(
    transaction: port.Transaction,
    session_id: str,
    key: ids.TaskKey,
    epoch: int,
    outcome: str,
    place: model.Place = model.NOWHERE,
) -> model.Claim | None:
    """`close` as part of something larger; None if this session has no such claim."""
    transaction.rows(_AGENTS.lock, session_id=session_id)
    agent = roll.require(transaction.rows, session_id)
    closed = _close(transaction, agent, key, epoch, outcome, session_id, place)
    if closed is None:
        return None
    if agent.key == key:
        transaction.rows(_AGENTS.work_on, session_id=session_id, source=None, task=None)
    return closed


def give(
    transaction: port.Transaction,
    spot: lookout.Lookout,
    receiver: model.Agent,
    key: ids.TaskKey,
    patterns: Iterable[str] = (),
) -> model.Claim | None:
    """Open a claim for a session that did not ask, as an assignment does; None if one is open."""
    wanted = _parsed(patterns)
    transaction.rows(_AGENTS.lock, session_id=receiver.session_id)
    previous = last_of(transaction.rows, key)
    if previous is not None and previous.closed_at is None:
        return None
    taken = _insert(transaction, spot, receiver, key, previous)
    if taken is None:
        return None
    _reserve(transaction, spot, receiver, taken.claim, wanted)
    _say_taken(transaction, taken, wanted)
    return taken.claim


def take_back(
    transaction: port.Transaction, held: model.Claim, closer: model.Agent, outcome: str, body: str
) -> model.Claim | None:
    """Close somebody else's claim, as people and coordinators may, and tell its holder."""
    transaction.rows(_AGENTS.lock, session_id=held.session_id)
    owner = roll.require(transaction.rows, held.session_id)
    place = _last_place(owner, held)
    closed = _close(transaction, owner, held.key, held.epoch, outcome, closer.session_id, place)
    if closed is not None:
        _tell_holder(transaction, closer, closed, body)
    return closed


def in_words(outcome: str | None) -> str:
    """What became of a claim, as people read it; programs get the outcome itself."""
    return _IN_WORDS.get(outcome or "", (outcome or "").replace("_", " "))


def open_of(rows: roll.Rows, key: ids.TaskKey) -> model.Claim | None:
    """The open claim of a task."""
    found = rows(_SQL.open_of, source=key.source, task=key.id)
    return model.claim(found[0]) if found else None


def last_of(rows: roll.Rows, key: ids.TaskKey) -> model.Claim | None:
    """The newest claim of a task, open or closed."""
    found = rows(_SQL.last_of, source=key.source, task=key.id)
    return model.claim(found[0]) if found else None


def history(rows: roll.Rows, key: ids.TaskKey) -> list[model.Claim]:
    """Every claim of a task, newest first."""
    return [model.claim(row) for row in rows(_SQL.all_of, source=key.source, task=key.id)]


def called(rows: roll.Rows, task_id: str) -> list[model.Claim]:
    """The newest claim of each task that has this id, whatever its list; an open one first."""
    return [model.claim(row) for row in rows(_SQL.called, task=task_id)]


def unfinished_before(rows: roll.Rows, claim: model.Claim) -> list[model.Claim]:
    """The claims of a task since it was last done, newest first: whose work may lie about."""
    found = []
    for each in history(rows, claim.key):
        if each.epoch >= claim.epoch:
            continue
        if each.outcome == DONE:
            break
        found.append(each)
    return found


def open_ones(rows: roll.Rows, session_id: str | None = None) -> list[model.Claim]:
    """Open claims of everybody or of one session, oldest first."""
    return [model.claim(row) for row in rows(_SQL.open_ones, session_id=session_id)]


def all_ones(rows: roll.Rows, limit: int, session_id: str | None = None) -> list[model.Claim]:
    """The newest claims, closed ones too, newest first."""
    return [model.claim(row) for row in rows(_SQL.all_ones, session_id=session_id, limit=limit)]


def reserved(rows: roll.Rows, claim: model.Claim) -> list[str]:
    """The paths that a claim names."""
    return [row["pattern"] for row in rows(_SQL.reservations, **_named(claim))]


def refused(rows: roll.Rows, spot: lookout.Lookout, key: ids.TaskKey) -> Refused:
    """Who has a task now, for those who do not."""
    found = rows(_SQL.open_of, source=key.source, task=key.id) or rows(
        _SQL.last_of, source=key.source, task=key.id
    )
    last = model.claim(found[0]) if found else None
    if last is None or last.closed_at is not None:
        return Refused(key, last)
    holder = roll.require(rows, last.session_id)
    verdict = spot.shown_verdict(holder)
    return Refused(key, last, holder, verdict.state, verdict.reason)


def _take(
    transaction: port.Transaction,
    spot: lookout.Lookout,
    claimer: model.Agent,
    key: ids.TaskKey,
    *,
    takes_over: bool,
) -> Claimed | Refused:
    previous = last_of(transaction.rows, key)
    # Not blindly: on PostgreSQL an insert beside an open claim waits for its holder's transaction,
    # and two holders that ask for each other's tasks would wait for ever.
    is_free = previous is None or previous.closed_at is not None
    taken = _insert(transaction, spot, claimer, key, previous) if is_free else None
    if taken is not None:
        return taken
    held = open_of(transaction.rows, key)
    if held is None:
        # It was taken and let go between our two looks (PostgreSQL): there is a new last claim.
        return _take(transaction, spot, claimer, key, takes_over=takes_over)
    if held.session_id == claimer.session_id:
        lease = {"session_id": held.session_id, "lease_ms": spot.lease_ms}
        renewed = transaction.rows(_SQL.renew, **_named(held), **lease)
        if renewed:
            return Claimed(model.claim(renewed[0]), is_new=False)
        # Another process of the same session has just let go of it.
        return _take(transaction, spot, claimer, key, takes_over=takes_over)
    return _adopt(transaction, spot, claimer, held, takes_over=takes_over)


def _adopt(
    transaction: port.Transaction,
    spot: lookout.Lookout,
    claimer: model.Agent,
    held: model.Claim,
    *,
    takes_over: bool,
) -> Claimed | Refused:
    """Take a held task over, if its holder is over or a person says so."""
    answer = refused(transaction.rows, spot, held.key)
    holder = answer.holder
    if holder is None:
        return _take(transaction, spot, claimer, held.key, takes_over=takes_over)
    is_over = not holder.is_here or answer.verdict in liveness.OVER
    if not (is_over or takes_over):
        return answer
    row = {"session_id": holder.session_id}
    if takes_over:
        transaction.rows(_AGENTS.lock, **row)
    elif not transaction.rows(_AGENTS.hold, **row, version=holder.version):
        # It was heard from since it was looked at.
        return _take(transaction, spot, claimer, held.key, takes_over=takes_over)
    closed = _close(
        transaction,
        holder,
        held.key,
        held.epoch,
        ADOPTED,
        claimer.session_id,
        _last_place(holder, held),
    )
    taken = _insert(transaction, spot, claimer, held.key, closed) if closed else None
    if taken is None:
        return _take(transaction, spot, claimer, held.key, takes_over=takes_over)
    reason = f"{answer.verdict}: {answer.reason}" if is_over else "a person said so"
    return taken._replace(is_adopted=True, reason=reason)


def _last_place(holder: model.Agent, held: model.Claim) -> model.Place:
    """Where a claim was last worked on: where its holder is, unless it has gone elsewhere."""
    is_there = held.worktree in (None, holder.worktree) or holder.key == held.key
    return holder.place if is_there else model.NOWHERE


def _tell_holder(
    transaction: port.Transaction, claimer: model.Agent, previous: model.Claim, body: str
) -> None:
    """Whoever may still be alive learns that the task is not its own any more."""
    holder, key = roll.require(transaction.rows, previous.session_id), previous.key
    if not holder.is_here:
        return
    from tether.agents import messages

    if holder.key == key:
        transaction.rows(_AGENTS.work_on, session_id=holder.session_id, source=None, task=None)
    draft = messages.Draft(body, "task_conflict", messages.HIGH, key)
    to = messages.To(session=holder.session_id)
    messages.post(transaction, claimer.agent_name, claimer.session_id, to, draft)


def _parsed(patterns: Iterable[str]) -> list[str]:
    given = list(patterns)
    if not given:
        return []
    from tether.agents import paths

    return sorted({paths.parse(pattern) for pattern in given})


def _reserve(
    transaction: port.Transaction,
    spot: lookout.Lookout,
    claimer: model.Agent,
    claim: model.Claim,
    patterns: list[str],
) -> tuple[conflicts.Overlap, ...]:
    """Note the paths of a claim; whose reservations they overlap."""
    if not patterns:
        return ()
    from tether.agents import conflicts

    # One after another: on PostgreSQL two that reserve at once would not see each other.
    transaction.rows(_STORE.count_up, name="conflicts", amount=0)
    for pattern in patterns:
        transaction.rows(_SQL.reserve, **_named(claim), pattern=pattern)
    overlaps = conflicts.find_overlaps(transaction, spot, claimer, patterns)
    conflicts.note_overlaps(transaction, claimer, claim.key, overlaps)
    return tuple(overlaps)


def _insert(
    transaction: port.Transaction,
    spot: lookout.Lookout,
    claimer: model.Agent,
    key: ids.TaskKey,
    previous: model.Claim | None,
) -> Claimed | None:
    """Open a claim after `previous`, the last one; None if another one is open."""
    found = transaction.rows(
        _SQL.take,
        source=key.source,
        task=key.id,
        session_id=claimer.session_id,
        lease_ms=spot.lease_ms,
    )
    if not found:
        return None
    claim = model.claim(found[0])
    if previous is None and transaction.rows(_SQL.withdraw, **_named(claim)):
        # On PostgreSQL another claim came and went while ours waited: ours was not the first.
        previous = last_of(transaction.rows, key)
        return _insert(transaction, spot, claimer, key, previous)
    return Claimed(claim, is_new=True, previous=previous)


def _close(
    transaction: port.Transaction,
    owner: model.Agent,
    key: ids.TaskKey,
    epoch: int,
    outcome: str,
    closed_by: str,
    place: model.Place,
) -> model.Claim | None:
    found = transaction.rows(
        _SQL.close,
        source=key.source,
        task=key.id,
        session_id=owner.session_id,
        epoch=epoch,
        outcome=outcome,
        closed_by=closed_by,
        transcript=owner.transcript,
        **place.columns,
    )
    if not found:
        return None
    if outcome == DONE:
        settling.finished(transaction, key)
    else:
        settling.let_go(transaction, key, owner.session_id)
    transaction.event(
        events.CLAIM_CLOSED,
        actor=owner.agent_name,
        session=owner.session_id,
        source=key.source,
        task=key.id,
        data={"epoch": epoch, "outcome": outcome, "by": closed_by},
    )
    return model.claim(found[0])


def _say_taken(transaction: port.Transaction, answer: Claimed, patterns: list[str]) -> None:
    claim, previous = answer.claim, answer.previous
    data: dict[str, object] = {"epoch": claim.epoch, "paths": patterns, "head": claim.head}
    kind = events.CLAIM_TAKEN
    if answer.is_adopted and previous is not None:
        kind = events.CLAIM_ADOPTED
        data |= {
            "from_session": previous.session_id,
            "from_agent": previous.agent_name,
            "reason": answer.reason,
        }
    transaction.event(
        kind,
        actor=claim.agent_name,
        session=claim.session_id,
        source=claim.source,
        task=claim.task,
        data=data,
    )


def _known_refusal(
    rows: roll.Rows, spot: lookout.Lookout, session_id: str, key: ids.TaskKey
) -> Refused | None:
    """The answer to somebody who asks again for what a living agent still has: a mere look."""
    held = open_of(rows, key)
    if held is None or held.session_id == session_id or not _is_told(rows, session_id, held):
        return None
    asker = roll.require(rows, session_id)
    answer = refused(rows, spot, key)
    is_over = answer.verdict in liveness.OVER or answer.holder is None or not answer.holder.is_here
    # Who rested is at work again by asking, and that is written down.
    return None if is_over or asker.status != "active" else answer


def _is_told(rows: roll.Rows, session_id: str, held: model.Claim) -> bool:
    """Does the log say that this claim stood in this session's way?"""
    known = events.last_of(rows, events.CLAIM_REFUSED, session_id, held.source, held.task)
    return known is not None and known.data.get("epoch") == held.epoch


def _say_refused(transaction: port.Transaction, asker: model.Agent, answer: Refused) -> None:
    """Once for each claim that stood in the way: who waits and asks again fills no log."""
    key, last = answer.key, answer.last
    if last is None:
        return
    if _is_told(transaction.rows, asker.session_id, last):
        return
    transaction.event(
        events.CLAIM_REFUSED,
        actor=asker.agent_name,
        session=asker.session_id,
        source=key.source,
        task=key.id,
        data={
            "holder_session": last.session_id,
            "holder": last.agent_name,
            "epoch": last.epoch,
        },
    )


def _named(claim: model.Claim) -> dict[str, object]:
    return {"source": claim.source, "task": claim.task, "epoch": claim.epoch}
