"""`tether hook …`: the commands that hooks call."""

from __future__ import annotations

import click

from tether.cli import cold

COMMANDS = {
    "prepare-commit-msg": cold.Entry(
        "tether.cli.hook", "Add `Task: ID` to a commit message, by the committer's open claim."
    ),
}


class _Group(cold.LazyGroup):
    entries = COMMANDS

    def other_level(self, name: str) -> str:
        return f"tether {name}" if name in cold.COMMANDS else ""


@click.group(cls=_Group)
def hook() -> None:
    """What hooks call. These commands never stand in the way: they always end with 0."""
