"""Two sessions in each other's way: told to both, and open until one lets go or all is done.

`paths`: a claim names paths that overlap those of a live agent's claim. `work`: a session works on
a task that another live session has. Whether the messages about it were read or have expired does
not matter to a conflict. How one ends is in `settling`.
"""

from __future__ import annotations

from tether import ids
from tether.agents import lookout, messages, model, paths, roll
from tether.hints import NamedTuple
from tether.store import events, port, sql

_SQL = sql.Queries("conflicts")
_CLAIMS = sql.Queries("claims")
_STORE = sql.Queries("store")


class Conflict(NamedTuple):
    """One conflict; the first session is the one that came later."""

    id: int
    kind: str
    source: str
    task: str
    session_id: str
    other_source: str
    other_task: str
    other_session_id: str
    detail: str
    raised_at: str
    resolved_at: str | None
    resolution: str | None


class Overlap(NamedTuple):
    """Paths of a claim that a live agent has reserved."""

    source: str
    task: str
    session_id: str
    agent_name: str
    pattern: str
    reserved: str


def open_ones(rows: roll.Rows, session_id: str | None = None) -> list[Conflict]:
    """Unresolved conflicts, of everybody or of one session."""
    return [_conflict(row) for row in rows(_SQL.open_ones, session_id=session_id)]


def all_ones(rows: roll.Rows, limit: int, session_id: str | None = None) -> list[Conflict]:
    """The newest conflicts, resolved ones too, newest first."""
    return [_conflict(row) for row in rows(_SQL.all_ones, session_id=session_id, limit=limit)]


def note_work(
    transaction: port.Transaction, spot: lookout.Lookout, worker: model.Agent
) -> Conflict | None:
    """Raise a conflict if another live session has the task that this one works on."""
    key = worker.key
    if key is None:
        return None
    found = transaction.rows(_CLAIMS.open_of, source=key.source, task=key.id)
    if not found or found[0]["session_id"] == worker.session_id:
        return None
    held = model.claim(found[0])
    holder = _if_alive(transaction, spot, held.session_id)
    if holder is None:
        return None
    refusal = events.last_of(
        transaction.rows, events.CLAIM_REFUSED, worker.session_id, key.source, key.id
    )
    was_refused = refusal is not None and refusal.data.get("epoch") == held.epoch
    detail = f"{worker.agent_name} works on {key.label}, which {holder.agent_name} has"
    if was_refused:
        detail += f"; it had been refused to {worker.agent_name}"
    return _raise(transaction, "work", worker, key, holder, key, detail + ".")


def find_overlaps(
    transaction: port.Transaction,
    spot: lookout.Lookout,
    claimer: model.Agent,
    patterns: list[str],
) -> list[Overlap]:
    """Which of these paths live agents have reserved for other claims."""
    found = []
    alive: dict[str, model.Agent | None] = {}
    reserved = transaction.rows(_CLAIMS.reservations_of_others, session_id=claimer.session_id)
    for row in reserved:
        for pattern in patterns:
            if not paths.overlap(pattern, row["pattern"]):
                continue
            session_id = row["session_id"]
            if session_id not in alive:
                alive[session_id] = _if_alive(transaction, spot, session_id)
            holder = alive[session_id]
            if holder is not None:
                found.append(
                    Overlap(
                        row["source"],
                        row["task"],
                        session_id,
                        holder.agent_name,
                        pattern,
                        row["pattern"],
                    )
                )
    return found


def note_overlaps(
    transaction: port.Transaction,
    claimer: model.Agent,
    key: ids.TaskKey,
    overlaps: list[Overlap],
) -> None:
    """Raise one conflict for each claim that these overlaps are with."""
    by_claim: dict[tuple[str, str, str], list[Overlap]] = {}
    for overlap in overlaps:
        by_claim.setdefault((overlap.source, overlap.task, overlap.session_id), []).append(overlap)
    for (source, task, session_id), group in by_claim.items():
        other = ids.TaskKey(source, task)
        holder = roll.require(transaction.rows, session_id)
        shared = ", ".join(sorted({f"{o.pattern} ({o.reserved})" for o in group})[:5])
        detail = (
            f"{claimer.agent_name} claimed {key.label} with paths that {holder.agent_name} has"
            f" reserved for {other.label}: {shared}."
        )
        _raise(transaction, "paths", claimer, key, holder, other, detail)


def _if_alive(
    transaction: port.Transaction, spot: lookout.Lookout, session_id: str
) -> model.Agent | None:
    agent = roll.get(transaction.rows, session_id)
    if agent is None or not agent.is_here or spot.verdict(agent).is_over:
        return None
    return agent


def _raise(
    transaction: port.Transaction,
    kind: str,
    party: model.Agent,
    key: ids.TaskKey,
    other: model.Agent,
    other_key: ids.TaskKey,
    detail: str,
) -> Conflict | None:
    """Write it down and tell both, unless it is open already."""
    what = {
        "kind": kind,
        "source": key.source,
        "task": key.id,
        "session_id": party.session_id,
        "other_source": other_key.source,
        "other_task": other_key.id,
        "other_session_id": other.session_id,
    }
    if transaction.rows(_SQL.open_like, **what):
        return None
    [counter] = transaction.rows(_STORE.count_up, name="conflicts", amount=1)
    found = transaction.rows(_SQL.open_one, id=counter["value"], detail=detail, **what)
    if not found:
        return None  # another process was first
    conflict = _conflict(found[0])
    _tell(transaction, conflict, party.agent_name)
    return conflict


def _tell(transaction: port.Transaction, conflict: Conflict, came_later: str) -> None:
    """Write to both sides, and log it."""
    key = ids.TaskKey(conflict.source, conflict.task)
    for session_id in (conflict.session_id, conflict.other_session_id):
        draft = messages.Draft(conflict.detail, "task_conflict", messages.HIGH, key)
        messages.post(transaction, model.TETHER, None, messages.To(session=session_id), draft)
    transaction.event(
        events.CONFLICT_RAISED,
        actor=came_later,
        session=conflict.session_id,
        source=key.source,
        task=key.id,
        data={
            "conflict": conflict.id,
            "kind": conflict.kind,
            "other_session": conflict.other_session_id,
            "other_task": ids.TaskKey(conflict.other_source, conflict.other_task).label,
            "detail": conflict.detail,
        },
    )


def _conflict(row: port.Row) -> Conflict:
    return Conflict(*(row[name] for name in Conflict._fields))
