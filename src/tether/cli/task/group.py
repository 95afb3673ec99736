"""click's view of `tether task`: help, typos, and the verbs that are not hot."""

from __future__ import annotations

import click

from tether.cli import cold

COMMANDS = {
    "new": cold.Entry("tether.cli.task.write", "Write a task down."),
    "list": cold.Entry(
        "tether.cli.task.listing", "Show tasks, who has them and what they wait for."
    ),
    "show": cold.Entry(
        "tether.cli.task.show", "Show one task: its state, who has it, what it waits for."
    ),
    "edit": cold.Entry("tether.cli.task.write", "Change what a task says."),
    "note": cold.Entry("tether.cli.task.write", "Add a remark to a task's history."),
    "assign": cold.Entry("tether.cli.task.move", "Give a new task to an agent."),
    "start": cold.Entry("tether.cli.task.move", "Start a task that is assigned to you."),
    "extend": cold.Entry("tether.cli.task.move", "Let a task in progress take longer."),
    "retry": cold.Entry(
        "tether.cli.task.move", "Have a task tried again that failed or got stuck."
    ),
    "return": cold.Entry("tether.cli.task.move", "Give a task back to the inbox."),
    "complete": cold.Entry(
        "tether.cli.task.move", "Say that the work of a task is there, whoever did it."
    ),
    "cancel": cold.Entry("tether.cli.task.move", "Decide that a task will not be done."),
    "reopen": cold.Entry("tether.cli.task.move", "Make a finished or archived task new again."),
    "archive": cold.Entry(
        "tether.cli.task.keeping",
        "Put done tasks away, by the month in which they were completed.",
    ),
    "restore": cold.Entry("tether.cli.task.keeping", "Bring a lost task file back."),
    "history": cold.Entry("tether.cli.task.history", "Show a task's whole life."),
    "stalled": cold.Entry("tether.cli.task.stalled", "Show what is in progress for too long."),
}


class _Group(cold.LazyGroup):
    entries = COMMANDS

    def other_level(self, name: str) -> str:
        return f"tether {name}" if name in cold.COMMANDS else ""


@click.group(cls=_Group)
def task() -> None:
    """Write tasks down, show them, move them.

    A task is a file in the repository; `tether claim`, `finish` and `fail` are the words that an
    agent needs most.
    """
