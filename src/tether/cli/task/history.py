"""`tether task history`: a task's whole life."""

from __future__ import annotations

import click

from tether import text
from tether.cli import answers, cold, context
from tether.cli.task import shown
from tether.hints import Any
from tether.tasks import desk, packs
from tether.tasks import history as room


@click.command()
@click.argument("task")
@cold.answering
@cold.pass_call
def history(call: context.Context, task: str) -> answers.Answer:
    """Show a task's whole life: from Git by the name of its file, and from the event log."""
    task_id = shown.task_id(task)
    steps = room.read(call.workspace, call.work, call.store, task_id)
    if not steps:
        is_here = bool(call.work.find(task_id)) or packs.load(call.work, task_id) is not None
        if not is_here:
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
        note = f"  {text.one_line(step.note, 80)}" if step.note else ""
        lines.append(
            f"{step.at[:19].replace('T', ' ')}Z  {step.source}{where}  {step.what}{state}{grade}"
            f"  {text.one_line(step.by, 30)}{note}"
        )
    return "\n".join(lines)
