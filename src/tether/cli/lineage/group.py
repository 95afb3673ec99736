"""click's view of `tether lineage`."""

from __future__ import annotations

import click

from tether.cli import cold

COMMANDS = {
    "feature": cold.Entry(
        "tether.cli.lineage.feature", "Show the tasks of some code, and the edges among them."
    ),
    "history": cold.Entry(
        "tether.cli.lineage.history", "Show what became of a function, a class or a section."
    ),
    "edges": cold.Entry(
        "tether.cli.lineage.edges", "Show what a task, a decision or code has to do with others."
    ),
    "closure": cold.Entry(
        "tether.cli.lineage.closure", "Show the tasks around a task, however remote."
    ),
    "diff": cold.Entry(
        "tether.cli.lineage.closure", "Show what one closure has that another has not."
    ),
    "decision": cold.Entry(
        "tether.cli.lineage.decision", "Show what a decision governs, and what became of it."
    ),
    "reversal": cold.Entry(
        "tether.cli.lineage.reversal", "Show what undid, replaced or contradicts what."
    ),
    "risk": cold.Entry(
        "tether.cli.lineage.risk", "Show what to look at before some code is changed."
    ),
    "feedback": cold.Entry(
        "tether.cli.lineage.feedback", "Say that an edge is right, or that it is wrong."
    ),
    "same-as": cold.Entry("tether.cli.lineage.same_as", "Declare that two pieces of code are one."),
    "stats": cold.Entry(
        "tether.cli.lineage.stats", "Show how much of the code has a story, and how good it is."
    ),
    "export": cold.Entry(
        "tether.cli.lineage.transfer", "Write a part of the graph as JSON or as a diagram."
    ),
    "import": cold.Entry("tether.cli.lineage.transfer", "Take up what another clone exported."),
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
