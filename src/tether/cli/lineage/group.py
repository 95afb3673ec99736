"""click's view of `tether lineage`."""

from __future__ import annotations

import click

from tether.cli import cold

COMMANDS = {
    "history": cold.Entry(
        "tether.cli.lineage.history", "Show what became of a function, a class or a section."
    ),
    "rebuild": cold.Entry(
        "tether.cli.lineage.rebuild", "Follow all symbols up to the last commit, for the index."
    ),
}


class _Group(cold.LazyGroup):
    entries = COMMANDS

    def other_level(self, name: str) -> str:
        return f"tether {name}" if name in cold.COMMANDS else ""


@click.group(cls=_Group)
def lineage() -> None:
    """See where code comes from, through renames and moves."""
