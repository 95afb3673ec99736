"""click's view of `tether run`."""

from __future__ import annotations

import click

from tether.cli import cold

COMMANDS = {
    "start": cold.Entry("tether.cli.run.coordinate", "Work through a plan with many agents."),
    "status": cold.Entry("tether.cli.run.status", "Show where a run stands."),
    "list": cold.Entry("tether.cli.run.status", "Show all runs."),
    "pause": cold.Entry("tether.cli.run.words", "Stop giving out work, and save everything."),
    "resume": cold.Entry("tether.cli.run.coordinate", "Go on with a run, whatever stopped it."),
    "recover": cold.Entry(
        "tether.cli.run.coordinate", "Put a run right whose coordinator died, and stop there."
    ),
    "compact": cold.Entry(
        "tether.cli.run.words", "Save everything before the coordinator's context is compacted."
    ),
    "assign": cold.Entry("tether.cli.run.by_hand", "Give a task out yourself, without a worker."),
    "done": cold.Entry("tether.cli.run.by_hand", "Say that a worker of yours is done."),
    "give-up": cold.Entry("tether.cli.run.by_hand", "Say that a worker of yours gave up."),
    "checkpoint": cold.Entry("tether.cli.run.words", "Say how far a task has come."),
    "ask": cold.Entry("tether.cli.run.words", "Ask a person what only a person can decide."),
    "answer": cold.Entry("tether.cli.run.words", "Answer a question of a run."),
}


class _Group(cold.LazyGroup):
    entries = COMMANDS

    def other_level(self, name: str) -> str:
        return f"tether {name}" if name in cold.COMMANDS else ""


@click.group(cls=_Group)
def run() -> None:
    """Work through a plan with many agents, and survive what happens to them.

    The coordinator may be killed at any moment, the agents too: `tether run resume` goes on.
    """
