"""`tether task stalled`: what is in progress for too long."""

from __future__ import annotations

import click

from tether import clock
from tether.cli import answers, cold, context
from tether.cli.task import shown
from tether.tasks import listing, model, stalling


@click.command()
@click.option("--log", is_flag=True, help="Also write them to the workflow log.")
@cold.answering
@cold.pass_call
def stalled(call: context.Context, log: bool) -> answers.Answer:
    """Show what has been in progress for too long.

    A person decides then: `tether task retry`, `extend` or `cancel`.
    """
    now = clock.now_text(clock.SystemClock())
    stalled_ms = call.settings.integer("tasks.stalled_seconds") * 1000
    tasks = listing.tasks(call.workspace, call.work)
    found = stalling.stalled(tasks, now, stalled_ms)
    lines = []
    if log and found:
        lines = stalling.log(call.work, call.settings.text("tasks.log"), found, now)
    value = {
        "tasks": [shown.task_value(task) for task in found],
        "logged": lines,
        "untrusted": list(shown.UNTRUSTED),
    }
    return answers.Answer(
        "",
        value,
        lambda: answers.told(
            _text(found, now, len(lines)), source="tasks", for_agent=call.is_agent
        ),
    )


def _text(found: list[model.Task], now: str, logged: int) -> str:
    if not found:
        return "Nothing is stalled."
    now_ms = clock.parse(now)
    rows = [("ID", "AGENT", "SINCE", "TITLE")]
    rows += [
        (
            task.id,
            task.owner or "-",
            shown.ago(task.started_at or task.assigned_at, now_ms),
            task.title,
        )
        for task in found
    ]
    lines = [shown.table(rows, shown.width())]
    lines.append("`tether task retry`, `extend` or `cancel` are the ways on.")
    if logged:
        lines.append(f"{logged} written to the log.")
    return "\n".join(lines)
