"""`tether export` and `tether import`: the store as JSON lines."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import IO

import click

from tether import errors, files, text
from tether.cli import answers, cold, context, verbs
from tether.store import transfer


@click.command()
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="Write to this new file, not to stdout.",
)
@click.option("--json", "as_json", is_flag=True, help=verbs.JSON.help)
@cold.pass_call
def export(call: context.Context, output: str | None, as_json: bool) -> int:
    """Write the whole store as JSON lines.

    A backup, and the way to another store: `tether import` reads it. The copy is of one moment and
    holds up nobody. On stdout it is JSON in any case; --json is for the answer after -o.
    """
    workspace_id = call.settings.workspace_id
    if output in (None, "-"):
        transfer.export(call.store, workspace_id, sys.stdout.buffer.write)
        return 0
    directory, name = os.path.split(os.path.abspath(output))
    if not os.path.isdir(directory) or not name:
        raise errors.NotFound("There is no such directory to export into. Nothing was written.")
    with tempfile.TemporaryFile() as spool:
        count = transfer.export(call.store, workspace_id, spool.write)
        spool.seek(0)
        # As private as the store: in /tmp a file like its directory would be everybody's.
        root = files.Root(directory, like=call.workspace.common_dir)
        root.write_atomic(name, spool.read(), replace=False)
    value = {"rows": count, "path": os.path.join(directory, name)}
    answer = answers.Answer("export", value, lambda: f"Exported {text.counted(count, 'row')}.")
    return answers.show(answer, as_json=as_json)


@click.command("import")
@click.argument("file", metavar="FILE", type=click.Path())
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

        count = transfer.import_(call.store, read, call.settings.workspace_id)
    said = f"Imported {text.counted(count, 'row')}."
    return answers.Answer("import", {"rows": count}, lambda: said)


def _opened(file: str) -> IO[bytes]:
    """The file, or all of a pipe: the import may have to read it twice."""
    if file == "-":
        return _spooled(sys.stdin.buffer)
    try:
        source = open(file, "rb")  # noqa: SIM115 (the caller closes it)
    except OSError as problem:
        raise errors.NotFound(
            f"The export cannot be opened: {problem.strerror}. Nothing was imported."
        ) from problem
    if source.seekable():
        return source
    with source:
        return _spooled(source)


def _spooled(pipe: IO[bytes]) -> IO[bytes]:
    spool = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    shutil.copyfileobj(pipe, spool)
    return spool
