"""Saving and loading the state of a run: whole or not at all, and nothing damaged is lost."""

from __future__ import annotations

from typing import Literal, NamedTuple

from tether import clock, errors, files
from tether.coordinator import documents
from tether.coordinator.state import State

STATE_FILE = "state.json"
PREVIOUS_FILE = "state.previous.json"
MAX_BYTES = 256 * 1024 * 1024

Origin = Literal["snapshot", "previous", "none"]


class Loaded(NamedTuple):
    """What was found of a run on the disk."""

    state: State | None
    saved_at: str = ""
    origin: Origin = "none"
    set_aside: tuple[str, ...] = ()
    """The names that damaged snapshots have now."""


def save(
    root: files.Root, state: State, *, session_id: str, now: str, reason: str = "progress"
) -> None:
    """Save the state, durably; the one before is kept."""
    raw = documents.encode(state, session_id=session_id, saved_at=now, reason=reason)
    root.write_atomic(STATE_FILE, raw, keeps=PREVIOUS_FILE)


def load(root: files.Root, run: str, now: str, *, tidies: bool) -> Loaded:
    """The newest snapshot that is whole.

    Whoever holds the run's lock tidies: what a dead writer left half-written is dropped, and what
    is damaged gets another name. Everybody else only looks.
    """
    if tidies:
        root.remove_leftovers(min_age_seconds=0)
    aside: list[str] = []
    names: tuple[tuple[str, Origin], ...] = (
        (STATE_FILE, "snapshot"),
        (PREVIOUS_FILE, "previous"),
    )
    for name, origin in names:
        try:
            state, found = documents.decode(root.read_bytes(name, MAX_BYTES), run)
            return Loaded(state, str(found["saved_at"]), origin, tuple(aside))
        except errors.NotFound:
            continue
        except (documents.SnapshotDamaged, errors.FileTooLarge, errors.LinkRefused):
            if tidies:
                aside.append(_set_aside(root, name, now))
    return Loaded(None, set_aside=tuple(aside))


def _set_aside(root: files.Root, name: str, now: str) -> str:
    stamp = "".join(char for char in clock.text(clock.parse(now))[:19] if char.isdigit())
    stem = name.removesuffix(".json")
    for number in range(100):
        target = f"{stem}.corrupted.{stamp}{f'-{number}' if number else ''}.json"
        try:
            root.rename_noreplace(name, target)
        except errors.AlreadyThere:
            continue
        return target
    raise errors.FileError("There are too many damaged snapshots. They were left as they are.")
