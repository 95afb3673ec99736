"""`tether reindex`: forget what is derived, and derive it again."""

from __future__ import annotations

import sqlite3

import click

from tether import index, text
from tether.cli import answers, cold, context
from tether.cli import timeline as shown
from tether.hints import Any


@click.command()
@cold.answering
@cold.pass_call
def reindex(call: context.Context) -> answers.Answer:
    """Make the index anew, from the files and from Git.

    Nothing can be lost by it: the index only holds what is read elsewhere, and gives the same
    answers afterwards.
    """
    skipped = _try_again(call.workspace.store_dir)
    call.witness.start_over()
    found = call.witness.looked
    value: dict[str, Any] = {
        "files": found.files,
        "read": found.read,
        "bytes": found.read_bytes,
        "commits": found.commits,
        "tried_again": skipped,
        "problems": [shown.problem_value(each) for each in found.problems],
    }

    def plain() -> str:
        counts = f"{found.read} of {text.counted(found.files, 'file')} ({found.read_bytes} bytes)"
        lines = [f"Read {counts} and {text.counted(found.commits, 'commit')}."]
        if skipped:
            lines.append(f"{text.counted(skipped, 'file')} in quarantine will be tried again.")
        for each in found.problems[:20]:
            where = f", {each.where}" if each.where else ""
            lines.append(f"Problem: {text.one_line(each.path)}{where}: {each.message}")
        return "\n".join(lines)

    return answers.Answer("reindex", value, plain)


def _try_again(store_dir: str) -> int:
    """Forget the symbols of files; how many were skipped because a grammar had failed at them."""
    from tether.lineage import cache, quarantine

    skipped = len(quarantine.Quarantine(store_dir).all())

    def work(connection: sqlite3.Connection) -> None:
        cache.forget(connection)
        quarantine.forget(connection)

    own = index.Index(store_dir)
    is_done = own.write(work)
    own.close()
    return skipped if is_done else 0
