"""The registry of sessions: who began, who was heard from, who rests, who is over.

Every act is one transaction with its events. A beat is written at most every `beat_ms`; a progress
text is kept as a row of its own at the same pace. A session that was taken for dead comes back with
its next beat; one that said it is over comes back only by registering again.
"""

from __future__ import annotations

from tether import clock, errors, host, ids, text
from tether.agents import lookout, model, roll, settling
from tether.hints import NamedTuple
from tether.store import events, port, sql

_SQL = sql.Queries("agents")
_CLAIMS = sql.Queries("claims")
_STORE = sql.Queries("store")
_MAX_PROGRESS_CHARS = 2000


class Session(NamedTuple):
    """What somebody says of a session of theirs."""

    session_id: ids.SessionId
    agent_name: ids.AgentName
    kind: str = "other"
    parent_id: ids.SessionId | None = None
    process: host.Process | None = None
    transcript: str | None = None


class News(NamedTuple):
    """What a session tells with a beat."""

    progress: str | None = None
    key: ids.TaskKey | None = None
    process: host.Process | None = None
    place: model.Place = model.NOWHERE
    keeps_idle: bool = False
    """A call by the way: who waits for work goes on waiting."""


NO_NEWS = News()


class Beat(NamedTuple):
    """What became of a beat."""

    agent: model.Agent
    is_written: bool
    has_recovered: bool = False
    lost: tuple[ids.TaskKey, ...] = ()
    """The claims that the session had when it was taken for dead."""
    lost_pid: int | None = None
    """The process that it had named, if that is over: from now on it lives by its beats."""


def register(
    store: port.Store,
    spot: lookout.Lookout,
    session: Session,
    place: model.Place = model.NOWHERE,
) -> Beat:
    """Begin a session, or hear from it again: the same call twice does no harm."""
    if session.parent_id == session.session_id:
        raise errors.UsageError("A session is not its own parent. Nothing was changed.")
    if model.EVERYBODY in (session.session_id, session.agent_name):
        raise errors.UsageError(
            "Nobody can be called `all`: that is everybody. Nothing was changed."
        )

    def work(transaction: port.Transaction) -> Beat:
        return enter(transaction, spot, session, place)

    return store.write("register", work)


def enter(
    transaction: port.Transaction,
    spot: lookout.Lookout,
    session: Session,
    place: model.Place = model.NOWHERE,
) -> Beat:
    """`register` as part of something larger."""
    known = roll.get(transaction.rows, session.session_id) if session.process is None else None
    lost_pid = spot.lost_pid(known) if known is not None else None
    [row] = transaction.rows(
        _SQL.register,
        lost_pid=lost_pid,
        session_id=session.session_id,
        agent_name=session.agent_name,
        kind=session.kind,
        parent_id=session.parent_id,
        transcript=text.storable(session.transcript) if session.transcript else None,
        **_process(session.process),
        **place.columns,
        host_name=spot.host_name,
        **spot.beat(),
    )
    agent = model.agent(row)
    if agent.version == 1:
        _say_registered(transaction, agent)
        return Beat(agent, is_written=True)
    if agent.status in ("stale", "ended"):
        return _revive(transaction, agent)._replace(lost_pid=lost_pid)
    if agent.status == "idle":
        agent = _set_active(transaction, agent) or agent
    transaction.rows(_CLAIMS.renew_all, session_id=agent.session_id, **spot.lease())
    return Beat(agent, is_written=True, lost_pid=lost_pid)


def beat(store: port.Store, spot: lookout.Lookout, session_id: str, news: News = NO_NEWS) -> Beat:
    """Hear from a session that is registered. Written only if that is due or new."""
    agent = _require_may_beat(roll.require(store.rows, session_id), may_recover=True)
    news = news._replace(progress=_cut(news.progress))
    if not _is_due(spot, agent, news):
        return Beat(agent, is_written=False)
    return store.write("beat", lambda transaction: hear(transaction, spot, session_id, news))


def hear(
    transaction: port.Transaction,
    spot: lookout.Lookout,
    session_id: str,
    news: News = NO_NEWS,
    *,
    may_recover: bool = True,
) -> Beat:
    """A beat as part of something larger: always written, and the session's row stays locked."""
    before = _require_may_beat(roll.require(transaction.rows, session_id), may_recover=may_recover)
    if news.progress is not None and not _is_progress_due(spot, before):
        news = news._replace(progress=None)
    # Who comes back without naming a process lives by its beats; who beats for a dead one does not.
    comes_back = before.status == "stale" and news.process is None
    lost_pid = spot.lost_pid(before) if comes_back else None
    found = transaction.rows(
        _SQL.beat,
        session_id=session_id,
        status=before.status,
        lost_pid=lost_pid,
        new_status=_status_after(before, news),
        host_name=spot.host_name,
        progress=news.progress,
        source=news.key.source if news.key else None,
        task=news.key.id if news.key else None,
        **_process(news.process),
        **news.place.columns,
        **spot.beat(),
    )
    if not found:
        # Its status changed since it was read; as long as it changes, somebody else gets on.
        return hear(transaction, spot, session_id, news, may_recover=may_recover)
    agent = model.agent(found[0])
    transaction.rows(_CLAIMS.renew_all, session_id=session_id, **spot.lease())
    if news.progress is not None:
        _note_progress(transaction, agent, news.progress)
    _note_work(transaction, spot, agent)
    if before.status == "stale":
        recovered = _say_recovered(transaction, agent, before.ended_at)
        return recovered._replace(lost_pid=lost_pid)
    return Beat(agent, is_written=True, lost_pid=lost_pid)


def rest(store: port.Store, spot: lookout.Lookout, session_id: str) -> model.Agent:
    """A session waits for work. Its claims stay its own."""

    def work(transaction: port.Transaction) -> model.Agent:
        found: list[port.Row] = []
        while not found:  # until its status holds still between two statements
            if not roll.require(transaction.rows, session_id).is_here:
                hear(transaction, spot, session_id)
            found = transaction.rows(_SQL.rest, session_id=session_id, **spot.beat())
        settling.rested(transaction, session_id)
        return model.agent(found[0])

    return store.write("idle", work)


def end(
    store: port.Store, session_id: str, place: model.Place = model.NOWHERE
) -> tuple[model.Agent, list[model.Claim]]:
    """A session is over; what it still held is free. Ending twice does no harm."""

    return store.write("end", lambda transaction: leave(transaction, session_id, place))


def leave(
    transaction: port.Transaction, session_id: str, place: model.Place = model.NOWHERE
) -> tuple[model.Agent, list[model.Claim]]:
    """`end` as part of something larger."""
    before = roll.require(transaction.rows, session_id)
    found = transaction.rows(_SQL.end, session_id=session_id)
    if not found:
        return before, []
    agent = model.agent(found[0])
    # As it was before: an ended session works on nothing.
    last = place if place.worktree else before.place
    released = release_all(transaction, before, "released_end", agent.session_id, last)
    transaction.event(
        events.AGENT_ENDED,
        actor=agent.agent_name,
        session=session_id,
        data={"released": [claim.key.label for claim in released]},
    )
    tell_parent(transaction, agent, f"{agent.agent_name} has ended.")
    return agent, released


def release_all(
    transaction: port.Transaction,
    agent: model.Agent,
    outcome: str,
    closed_by: str | None,
    place: model.Place,
) -> list[model.Claim]:
    """Close all claims of a session that is over, with what is known of where it worked."""
    released = transaction.rows(
        _CLAIMS.close_all,
        session_id=agent.session_id,
        outcome=outcome,
        closed_by=closed_by,
        transcript=agent.transcript,
        current_source=agent.source,
        current_task=agent.task,
        **place.columns,
    )
    settling.left(transaction, agent.session_id)
    found = sorted(map(model.claim, released), key=lambda claim: (claim.claimed_at, claim.key))
    for claim in found:
        transaction.event(
            events.CLAIM_CLOSED,
            actor=agent.agent_name,
            session=agent.session_id,
            source=claim.source,
            task=claim.task,
            data={"epoch": claim.epoch, "outcome": outcome, "by": closed_by},
        )
    return found


def tell_parent(transaction: port.Transaction, agent: model.Agent, body: str) -> None:
    """Tell whoever started a session that it is over."""
    parent = roll.get(transaction.rows, agent.parent_id) if agent.parent_id else None
    if parent is not None and parent.is_here:
        from tether.agents import messages

        to = messages.To(session=parent.session_id)
        draft = messages.Draft(body, "session_lifecycle")
        messages.post(transaction, agent.agent_name, agent.session_id, to, draft)


# What is due


def _is_due(spot: lookout.Lookout, agent: model.Agent, news: News) -> bool:
    """Is there something to write: silence long enough, a change, or news?"""
    return (
        agent.status != _status_after(agent, news)
        or spot.silent_ms(agent) >= spot.beat_ms
        or (news.key is not None and news.key != agent.key)
        or (news.process is not None and news.process != agent.process)
        or (news.progress is not None and _is_progress_due(spot, agent))
    )


def _status_after(agent: model.Agent, news: News) -> str:
    return "idle" if agent.status == "idle" and news.keeps_idle else "active"


def _is_progress_due(spot: lookout.Lookout, agent: model.Agent) -> bool:
    if agent.progress_at is None:
        return True
    passed_ms = clock.parse(agent.read_at) - clock.parse(agent.progress_at)
    return passed_ms >= spot.beat_ms or passed_ms < 0


def _cut(progress: str | None) -> str | None:
    if progress is None or not progress.strip():
        return None
    from tether import redaction

    # Before it reaches a disk: secrets do not belong into a store that many read.
    return text.storable(redaction.redact(progress[:_MAX_PROGRESS_CHARS]))


# Writing


def _note_work(transaction: port.Transaction, spot: lookout.Lookout, agent: model.Agent) -> None:
    """Settle and raise conflicts by what a session works on now."""
    key = agent.key
    if key is None:
        return
    task = {"source": key.source, "task": key.id, "session_id": agent.session_id}
    settling.moved_on(transaction, agent)
    # Asked first: most calls raise no conflict, and need not even load its code.
    if transaction.rows(_CLAIMS.held_by_other, **task):
        from tether.agents import conflicts

        conflicts.note_work(transaction, spot, agent)


def _process(process: host.Process | None) -> dict[str, object]:
    if process is None:
        return dict.fromkeys(host.Process._fields)
    return process._asdict()


def _note_progress(transaction: port.Transaction, agent: model.Agent, progress: str) -> None:
    [counter] = transaction.rows(_STORE.count_up, name="heartbeats", amount=1)
    task = {"source": agent.source, "task": agent.task}
    transaction.rows(
        _SQL.note_progress,
        id=counter["value"],
        session_id=agent.session_id,
        progress=progress,
        **task,
    )
    if agent.key is not None:
        transaction.rows(
            _CLAIMS.checkpoint, session_id=agent.session_id, checkpoint=progress, **task
        )
    transaction.event(
        events.HEARTBEAT_RECEIVED,
        actor=agent.agent_name,
        session=agent.session_id,
        data={"progress": progress},
        **task,
    )


def _set_active(transaction: port.Transaction, agent: model.Agent) -> model.Agent | None:
    found = transaction.rows(_SQL.revive, session_id=agent.session_id, status=agent.status)
    return model.agent(found[0]) if found else None


def _revive(transaction: port.Transaction, agent: model.Agent) -> Beat:
    active = _set_active(transaction, agent)
    if active is None:
        # Another process of the same session was first.
        return Beat(roll.require(transaction.rows, agent.session_id), is_written=True)
    if agent.status == "stale":
        return _say_recovered(transaction, active, agent.ended_at)
    _say_registered(transaction, active)
    return Beat(active, is_written=True)


def _say_registered(transaction: port.Transaction, agent: model.Agent) -> None:
    transaction.event(
        events.AGENT_REGISTERED,
        actor=agent.agent_name,
        session=agent.session_id,
        data={"kind": agent.kind, "parent": agent.parent_id, "pid": agent.pid},
    )


def _say_recovered(
    transaction: port.Transaction, agent: model.Agent, stale_since: str | None
) -> Beat:
    lost = [
        model.claim(row).key
        for row in transaction.rows(_CLAIMS.lost, session_id=agent.session_id, since=stale_since)
    ]
    transaction.event(
        events.AGENT_RECOVERED,
        actor=agent.agent_name,
        session=agent.session_id,
        data={"stale_since": stale_since, "lost": [key.label for key in lost]},
    )
    return Beat(agent, is_written=True, has_recovered=True, lost=tuple(lost))


def _require_may_beat(agent: model.Agent, *, may_recover: bool) -> model.Agent:
    """The same agent, unless it is over."""
    if agent.status == "ended":
        raise errors.NotAllowed(
            "This session has ended. Nothing was changed.",
            hint="Begin it again with `tether agent register`.",
        )
    if agent.status == "stale" and not may_recover:
        raise errors.NotAllowed(
            "This session was taken for dead. Nothing was changed.",
            hint="Bring it back with `tether beat`, then repeat the command.",
        )
    return agent
