"""`tether task history`: a task's whole life."""

from __future__ import annotations

import click

from tether import ids, text
from tether.agents import claims
from tether.cli import answers, cold, context, lookup
from tether.cli.task import shown
from tether.hints import Any
from tether.store import events
from tether.tasks import desk, packs
from tether.tasks import history as room


@click.command()
@click.argument("task")
@cold.answering
@cold.pass_call
def history(call: context.Context, task: str) -> answers.Answer:
    """Show a task's whole life: from Git by the name of its file, and from the event log."""
    task_id = shown.own_id(ids.TaskKey.parse(task), "history")
    steps = room.read(call.workspace, call.work, call.store, task_id)
    if not steps:
        is_here = bool(call.work.find(task_id)) or packs.load(call.work, task_id) is not None
        if not is_here:
            # A file that only the past knows comes before a task of a list that is called so.
            shown.own_id(lookup.key_of(call, task), "history")
            raise desk.nothing_there(call.work, task_id)
    value: dict[str, Any] = {
        "id": task_id,
        "history": [
            {name: text.clean(item) or None for name, item in step._asdict().items()}
            for step in steps
        ],
        "untrusted": ["by", "note"],
    }
    return answers.Answer(
        "task",
        value,
        lambda: answers.told(
            _text(task_id, steps), source=f"task {task_id}", for_agent=call.is_agent
        ),
    )


def _text(task_id: str, steps: list[room.Step]) -> str:
    if not steps:
        return f"Nothing is known of {task_id} but its file."
    lines = []
    for step in steps:
        grade = f" [{step.grade}]" if step.grade not in ("", "legal") else ""
        state = f" → {step.state}" if step.state not in ("", step.what) else ""
        where = f" {step.commit[:12]}" if step.commit else ""
        said = claims.in_words(step.note) if step.what == events.CLAIM_CLOSED.name else step.note
        note = f"  {text.one_line(said, 80)}" if said else ""
        lines.append(
            f"{step.at[:19].replace('T', ' ')}Z  {step.source}{where}"
            f"  {step.what.replace('_', ' ')}{state}{grade}"
            f"  {text.one_line(step.by, 30)}{note}"
        )
    return "\n".join(lines)
