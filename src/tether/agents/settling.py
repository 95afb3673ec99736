"""How conflicts end: the task is finished, or one of the two let go.

Apart from how they begin, because nearly every act of a session asks this and few find anything.
"""

from __future__ import annotations

from tether import ids
from tether.agents import model
from tether.store import events, port, sql

_SQL = sql.Queries("conflicts")


def finished(transaction: port.Transaction, key: ids.TaskKey) -> None:
    """The task is done."""
    _say(transaction, transaction.rows(_SQL.settle_task, source=key.source, task=key.id))


def let_go(transaction: port.Transaction, key: ids.TaskKey, session_id: str) -> None:
    """One party let go of the task."""
    found = transaction.rows(
        _SQL.settle_party, source=key.source, task=key.id, session_id=session_id
    )
    _say(transaction, found)


def moved_on(transaction: port.Transaction, worker: model.Agent) -> None:
    """A session works on its current task and on no other."""
    key = worker.key
    if key is not None:
        found = transaction.rows(
            _SQL.settle_work, session_id=worker.session_id, source=key.source, task=key.id
        )
        _say(transaction, found)


def rested(transaction: port.Transaction, session_id: str) -> None:
    """A session works on nothing now."""
    _say(transaction, transaction.rows(_SQL.settle_idle, session_id=session_id))


def left(transaction: port.Transaction, session_id: str) -> None:
    """A session let go of everything."""
    _say(transaction, transaction.rows(_SQL.settle_session, session_id=session_id))


def _say(transaction: port.Transaction, found: list[port.Row]) -> None:
    for row in found:
        transaction.event(
            events.CONFLICT_RESOLVED,
            actor=model.TETHER,
            session=row["session_id"],
            source=row["source"],
            task=row["task"],
            data={"conflict": row["id"], "resolution": row["resolution"]},
        )
