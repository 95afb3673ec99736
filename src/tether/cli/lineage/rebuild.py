"""`tether lineage rebuild`: everything that lineage knows, up to a commit."""

from __future__ import annotations

import time

import click

from tether import errors, git, text
from tether.cli import answers, cold, context
from tether.cli.lineage import chronicle

_MAX_PROBLEMS = 10


@click.command()
@click.option(
    "--at", "revision", default="HEAD", show_default=True, metavar="COMMIT", help="Up to here."
)
@click.option("--force", is_flag=True, help="From the first commit on, whatever is known.")
@cold.answering
@cold.pass_call
def rebuild(call: context.Context, revision: str, force: bool) -> answers.Answer:
    """Follow all files and symbols up to a commit, and find what they have to do with tasks.

    Only what is new since the last time is looked at; who is interrupted goes on where it stood.
    Questions bring the index forward themselves as long as little is new.
    """
    from tether.lineage import installed

    installed.require()
    chronicle.require_store(call)
    commit = git.Git(call.workspace.place).resolve(revision)
    begun = time.monotonic()
    with chronicle.of(call) as who:
        brought = who.rebuild(commit, anew=force)
    seconds = round(time.monotonic() - begun, 2)
    built, derived = brought.built, brought.derived
    if not built.is_kept or derived is None:
        raise errors.NotWritable(
            "The index of lineage could not be written. What it had is as it was; nothing else is"
            " lost.",
            hint="See what is wrong with `tether doctor`, then run it again.",
        )
    problems = [text.one_line(each, 300) for each in derived.problems]
    value = {
        **built._asdict(),
        "inputs": derived.inputs,
        "problems": problems,
        "seconds": seconds,
        "untrusted": ["problems"],
    }
    how = "from the beginning" if built.is_anew else "since the last time"
    followed = f"{text.counted(built.commits, 'commit')} {how}"
    came = (
        f"{text.counted(built.events, 'event')}, {text.counted(value['inputs'], 'input')} of edges"
    )
    lines = [f"{followed}: {came}, {seconds} s."]
    if problems:
        lines += ["", "Not understood:", *(f"  {each}" for each in problems[:_MAX_PROBLEMS])]
    if len(problems) > _MAX_PROBLEMS:
        lines.append(f"  and {len(problems) - _MAX_PROBLEMS} more; --json has all")
    return answers.Answer("rebuild", value, lambda: "\n".join(lines))
