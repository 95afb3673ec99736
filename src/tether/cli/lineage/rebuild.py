"""`tether lineage rebuild`: the identities of all symbols in the index, up to a commit."""

from __future__ import annotations

import os
import sys
import time

import click

from tether import errors, git
from tether.cli import answers, cold, context, progress


@click.command()
@click.option(
    "--at", "revision", default="HEAD", show_default=True, metavar="COMMIT", help="Up to here."
)
@click.option("--force", is_flag=True, help="From the first commit on, whatever is known.")
@cold.answering
@cold.pass_call
def rebuild(call: context.Context, revision: str, force: bool) -> answers.Answer:
    """Follow all symbols up to a commit and keep what became of them in the index.

    Only what is new since the last time is looked at, unless history was rewritten or a branch was
    merged that began before. `tether lineage history node:ID` asks the index then.
    """
    from tether.lineage import following, installed

    installed.require()
    place = call.workspace
    if not os.path.isdir(place.store_dir):
        raise errors.NotFound(
            "There is no store here, so nothing could be kept. Nothing was changed.",
            hint="Make one with `tether init`.",
        )
    commit = git.Git(place.place).resolve(revision)
    begun = time.monotonic()
    built = following.bring(
        place.place, place.store_dir, commit, anew=force, tell=progress.Progress(sys.stderr)
    )
    seconds = round(time.monotonic() - begun, 2)
    value = {**built._asdict(), "seconds": seconds}
    how = "from the beginning" if built.is_anew else "since the last time"
    lines = [f"{built.commits} commits {how}: {built.events} events, {seconds} s."]
    if not built.is_kept:
        lines.append("The index could not be written, so nothing is kept. Nothing else is lost.")
    return answers.Answer("rebuild", value, lambda: "\n".join(lines))
