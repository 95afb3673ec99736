"""What happened in a run, in lines that people read. Pure, but for reading the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tether import text
from tether.coordinator import runs
from tether.coordinator.state import Question
from tether.store import events

_WIDTH = 200


def since(run: runs.Run, event_id: int) -> list[str]:
    """A line for each event after one that people want to know of."""
    if event_id >= run.state.last_applied_event:
        return []
    return list(lines(events.of_run(run.store, run.name, event_id)))


def lines(found: Iterable[events.Event]) -> Iterable[str]:
    for event in found:
        say = _SAID.get(event.type)
        if say is not None:
            yield f"{event.at[11:19]} {text.one_line(say(event), _WIDTH)}"


def question(asked: Question) -> str:
    options = f" [{', '.join(asked.options)}]" if asked.options else ""
    about = f" about {asked.task_id}" if asked.task_id else ""
    said = text.one_line(asked.question, 400)
    return f"QUESTION {asked.id}{about}: {said}{options}\n  tether run answer {asked.id} ANSWER"


def _dispatched(event: events.Event) -> str:
    again = " again" if event.data["resumed"] else ""
    return f"{event.data['task_id']} is given out{again}"


def _incomplete(event: events.Event) -> str:
    data = event.data
    first = str(data["blocker"]).partition("\n")[0]
    return f"{data['task_id']} was not finished (try {data['attempt_number']}): {first}"


def _fail(event: events.Event) -> str:
    return f"{event.data['task_id']} did not pass: {event.data['failures']}"


def _asked(event: events.Event) -> str:
    return f"{event.data['task_id']} has question {event.id}: {event.data['question']}"


_SAID: dict[str, Callable[[events.Event], str]] = {
    "developer_dispatched": _dispatched,
    "developer_ready_for_review": lambda e: f"{e.data['task_id']} is ready for its audit",
    "developer_incomplete": _incomplete,
    "developer_checkpoint": lambda e: f"{e.data['task_id']}: {e.data['checkpoint']}",
    "agent_timeout": lambda e: f"{e.data['task_id']} took too long",
    "agent_stalled": lambda e: (
        f"{e.data['task_id']} stalled: {e.data['missed_checkpoints']} checkpoints missed"
    ),
    "orphan_agent_detected": lambda e: f"{e.data['task_id']}: its {e.data['type']} is gone",
    "auditor_fail": _fail,
    "task_complete": lambda e: f"{e.data['task_id']} is completed: {e.data['evidence_summary']}",
    "task_reverification_required": lambda e: f"{e.data['task_id']} is validated again",
    "task_reverified": lambda e: f"{e.data['task_id']} still passes",
    "task_failed": lambda e: f"{e.data['task_id']} failed: {e.data['reason']}",
    "agent_seeks_guidance": _asked,
    "divine_response_received": lambda e: f"question {e.data['question']} was answered",
    "compaction_start": lambda e: f"compaction {e.data['compaction_number']} began",
    "compaction_complete": lambda e: f"compaction {e.data['compaction_number']} is over",
}
