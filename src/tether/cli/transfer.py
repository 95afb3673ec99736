"""`tether export` and `tether import`: the store as JSON lines."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from typing import IO

import click

from tether import errors, files
from tether.cli import answers, cold, context
from tether.store import transfer


@click.command()
@click.option("-o", "--output", metavar="FILE", help="Write to this new file, not to stdout.")
@cold.pass_call
def export(call: context.Context, output: str | None) -> int:
    """Write the whole store as JSON lines.

    A backup, and the way to another store: `tether import` reads it. The copy is of one moment and
    holds up nobody.
    """
    workspace_id = call.settings.workspace_id
    if output is None:
        transfer.export(call.store, workspace_id, sys.stdout.buffer.write)
        return 0
    directory, name = os.path.split(os.path.abspath(output))
    with tempfile.TemporaryFile() as spool:
        count = transfer.export(call.store, workspace_id, spool.write)
        spool.seek(0)
        files.Root(directory).write_atomic(name, spool.read(), replace=False)
    sys.stderr.write(f"Exported {count} rows.\n")
    return 0


@click.command("import")
@click.argument("file", metavar="FILE")
@cold.pass_call
@cold.answering
def import_(call: context.Context, file: str) -> answers.Answer:
    """Fill an empty store from an export. FILE may be - for stdin.

    All of it or nothing: an export that was cut off or changed is refused, and so is a store that
    already has content.
    """
    with _opened(file) as source:

        def read() -> Iterator[bytes]:
            source.seek(0)
            return iter(source)

        count = transfer.import_(call.store, read)
    return answers.Answer("import", {"rows": count}, lambda: f"Imported {count} rows.")


def _opened(file: str) -> IO[bytes]:
    """The file, or all of stdin: the import may have to read it twice."""
    if file != "-":
        try:
            return open(file, "rb")
        except OSError as problem:
            raise errors.NotFound(
                f"The export cannot be opened: {problem.strerror}. Nothing was imported."
            ) from problem
    spool = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    while chunk := sys.stdin.buffer.read(1 << 20):
        spool.write(chunk)
    return spool
