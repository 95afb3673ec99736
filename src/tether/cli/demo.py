"""`tether demo`: the story of the sample repository."""

from __future__ import annotations

import os
import sys
import tempfile

import click

from tether import demo as story
from tether.cli import cold, context


@click.command()
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(),
    help="Make the repository in this new directory and keep it.",
)
@cold.pass_call
def demo(call: context.Context, keep: str | None) -> int:
    """Show Tether at work in a sample repository.

    The repository is made in a temporary directory and removed again, unless --keep names one.
    """
    # The story is about its own repository and agents, whoever calls from wherever.
    others = ("TETHER_", "CLAUDE", "CODEX_", "GEMINI_")
    environ = {key: value for key, value in call.environ.items() if not key.startswith(others)}
    if keep is not None:
        story.tell(os.path.abspath(keep), environ, _say)
        _say(f"\nThe sample repository stays in {os.path.abspath(keep)}\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="tether-demo-") as directory:
        story.tell(os.path.join(directory, "weather"), environ, _say)
    _say("\nThe sample repository is removed again. Now yours: cd into one, run `tether init`.\n")
    return 0


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
