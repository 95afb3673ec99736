"""What the questions of lineage have in common: who answers, and of which moment."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from collections.abc import Iterator

import click

from tether import clock, errors, git, index
from tether.cli import context, progress
from tether.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tether.lineage import chronicler, moments
    from tether.lineage.derive import attribution, checkout
    from tether.lineage.edges import view

as_of_option = click.option(
    "--as-of", metavar="DATE|COMMIT|TASK", help="As it was then; of a task: when it began."
)


@contextlib.contextmanager
def of(call: context.Context) -> Iterator[chronicler.Chronicler]:
    """Who keeps lineage for this checkout."""
    from tether.lineage import chronicler as room

    opened = room.Chronicler(sources(call), clock.SystemClock(), progress.Progress(sys.stderr))
    try:
        yield opened
    finally:
        opened.close()


def sources(call: context.Context) -> chronicler.Sources:
    """What lineage is derived from here."""
    from tether.lineage import chronicler as room

    place = call.workspace
    repository = git.Git(place.place)
    said = call.settings.text("lineage.links").split(",")
    links = tuple(part.strip() for part in said if part.strip())

    def here(commit: git.Oid) -> checkout.Here:
        from tether.lineage.derive import checkout

        return checkout.Here(
            place.root or "",
            repository,
            commit,
            call.work,
            call.lists,
            call.witness.finder.find,
            call.witness.finder.stamp,
            links,
        )

    def held() -> attribution.Claims:
        from tether.lineage.derive import attribution

        return attribution.Claims(call.store, call.witness.around())

    def look() -> None:
        call.witness.ask_history(lambda _: None)

    return room.Sources(
        place.place,
        place.store_dir,
        place.root or "",
        call.settings.text("tasks.root"),
        call.store,
        here,
        held,
        look,
        call.witness.roots,
        links,
    )


def bring_forward(call: context.Context) -> str:
    """Bring lineage forward where there is an index, as far as that is little; else why not.

    For those who only use what it wrote down: nothing that stands in its way stops them.
    """
    # Asked without the room: where there is none, it is not even imported.
    known = index.Index(call.workspace.store_dir)
    try:
        has_any = bool(known.rows("SELECT 1 FROM identity_commits LIMIT 1"))
    finally:
        known.close()
    if not has_any:
        return ""
    try:
        with of(call) as who:
            if who.refresh(git.Git(call.workspace.place).resolve("HEAD")):
                return ""
    except errors.TetherError as problem:
        return f"lineage could not be brought forward: {problem.message}"
    return "lineage is not up to date: run `tether lineage rebuild`"


def require_store(call: context.Context) -> None:
    """Where there is no store, nothing can be kept."""
    if not os.path.isdir(call.workspace.store_dir):
        raise errors.NotFound(
            "There is no store here, so nothing could be kept. Nothing was changed.",
            hint="Make one with `tether init`.",
        )


def below(root: str | None) -> str:
    """The current directory, from the top of the checkout."""
    if root is None:
        return ""
    found = os.path.relpath(os.path.realpath(os.getcwd()), root)
    return "" if found.startswith("..") or found == "." else found


def moment(
    chronicle: chronicler.Chronicler, connection: sqlite3.Connection, tip: git.Oid, words: str
) -> moments.Moment:
    """The moment that is asked about; now, if no words are said."""
    from tether.lineage import kept
    from tether.lineage import moments as room

    if not words:
        return room.Moment("", tip, "")
    number = kept.number_of(connection, tip) or 0
    return room.find(connection, chronicle.git, tip, number, words, list(chronicle.scopes()))


def seen(
    chronicle: chronicler.Chronicler,
    connection: sqlite3.Connection,
    at: moments.Moment,
    min_confidence: float,
    wrong: frozenset[Any],
) -> view.View:
    """What a question sees."""
    from tether.lineage.edges import view as room

    return room.View(
        connection,
        scopes=chronicle.scopes(),
        min_confidence=min_confidence,
        as_of=room.AsOf(at.commit, at.at),
        wrong=wrong,
    )
