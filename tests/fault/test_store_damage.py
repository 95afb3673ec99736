"""A store file with flipped bytes gives an answer or a clear error, never anything else."""

from __future__ import annotations

import random
from pathlib import Path

from tests.scale import count
from tether import errors, workspace
from tether.store import events, sqlite, transfer

SAID = events.EventType("test_said", ("text",), "Something was said.")


def open_store(path: Path) -> sqlite.SqliteStore:
    place = workspace.Workspace(None, str(path), str(path), str(path / "tether"))
    return sqlite.SqliteStore(place, wait_seconds=1)


def test_flipped_bytes_never_surprise(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for n in range(30):
        said = {"text": f"\u00fcber {n} " * 20}
        store.write("test", lambda t, said=said: t.event(SAID, actor="a", data=said))  # type: ignore[misc]
    store.close()
    path = tmp_path / "tether" / "tether.db"
    whole = path.read_bytes()
    dice = random.Random(11)  # noqa: S311 (the same damage in every run)
    refused = 0
    for _ in range(count(20_000, at_least=400)):
        damaged = bytearray(whole)
        for _ in range(dice.choice([1, 1, 4, 64])):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        path.write_bytes(damaged)
        refused += _is_refused(tmp_path)
    assert refused > 0


def _is_refused(directory: Path) -> bool:
    store = open_store(directory)
    try:
        events.latest(store, 100)
        transfer.export(store, None, len)
        store.describe()
        store.write("test", lambda t: t.event(SAID, actor="a", data={"text": "more"}))
    except errors.TetherError:
        return True
    finally:
        store.close()
    return False
