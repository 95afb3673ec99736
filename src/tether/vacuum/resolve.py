"""What becomes of an orphan: adopted, deferred, cancelled or completed, and told to all.

Who has a task is the claim's business and what its file says that of `tasks`; here the findings are
settled, and tasks of lists, which have no file of their own, get their mark.
"""

from __future__ import annotations

from tether import ids
from tether.agents import claims, liveness, lookout, messages
from tether.agents import model as agents
from tether.hints import NamedTuple
from tether.store import events, port
from tether.tasks.sources import model as lists
from tether.tasks.sources import ticking
from tether.vacuum import model, reports

ADOPTED_MESSAGE = "task_adopted"


def adopted(
    store: port.Store, adopter: agents.Agent, key: ids.TaskKey, now: str, why: str
) -> list[reports.Report]:
    """An orphan has an owner again: settle its findings, and tell everybody."""

    def work(transaction: port.Transaction) -> list[reports.Report]:
        body = f"{adopter.agent_name} has adopted {key.label}{why}."
        draft = messages.Draft(body, ADOPTED_MESSAGE, messages.NORMAL, key)
        messages.post(transaction, adopter.agent_name, adopter.session_id, messages.ALL, draft)
        named = (model.ADOPTED, now, adopter.agent_name, "")
        return reports.settle(transaction, key, *named)

    return store.write("adopt", work)


def settled(
    store: port.Store, key: ids.TaskKey, resolution: str, now: str, by: str, why: str
) -> list[reports.Report]:
    """Settle the findings of a task that was completed or cancelled."""

    def work(transaction: port.Transaction) -> list[reports.Report]:
        return reports.settle(transaction, key, resolution, now, by, why)

    return store.write(resolution, work)


class Mark(NamedTuple):
    """A task of a list that gets another mark, and why."""

    item: lists.Item
    state: str
    outcome: str
    why: str = ""
    branch: str | None = None


def mark_listed(
    store: port.Store,
    spot: lookout.Lookout,
    closer: agents.Agent,
    wanted: Mark,
    top: str,
    is_person: bool,
) -> str | claims.Refused:
    """Give a task of a list its mark, whoever did the work; the file that was changed.

    Nobody can take the task meanwhile. What a living agent has is refused to another agent; a
    person's word closes its claim, and it is told.
    """
    item, outcome = wanted.item, ids.Outcome(wanted.outcome)

    def work(transaction: port.Transaction) -> str | claims.Refused:
        held = claims.open_of(transaction.rows, item.key)
        if held is not None and held.session_id == closer.session_id:
            claims.close_one(transaction, closer.session_id, item.key, held.epoch, outcome)
        elif held is not None:
            answer = claims.refused(transaction.rows, spot, item.key)
            is_here = answer.holder is not None and answer.holder.is_here
            if is_here and answer.verdict not in liveness.OVER and not is_person:
                return answer
            body = f"{closer.agent_name} has closed {item.key.label}: {outcome}."
            claims.take_back(transaction, held, closer, outcome, body)
        _say_marked(transaction, closer, wanted)
        return ticking.tick(top, item, wanted.state)

    return store.write("vacuum", work)


def _say_marked(transaction: port.Transaction, closer: agents.Agent, wanted: Mark) -> None:
    item = wanted.item
    verb = "cancel" if wanted.state == lists.CANCELLED else "complete"
    transaction.event(
        events.TASK_MOVED,
        actor=closer.agent_name,
        session=closer.session_id,
        source=item.source,
        task=item.id,
        data={
            "verb": verb,
            "from": item.state,
            "to": wanted.state,
            "branch": wanted.branch,
            "why": wanted.why,
        },
    )
