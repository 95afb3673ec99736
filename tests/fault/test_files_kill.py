"""A kill in the middle of an append loses nothing that was there, and the next append repairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fault import boundary
from tests.figures import Figures
from tests.scale import count


@pytest.mark.proof(room="files")
@pytest.mark.parametrize("record_bytes", [200, 3_000, 20_000])
def test_no_kill_loses_an_earlier_record(
    tmp_path: Path, record_bytes: int, figures: Figures
) -> None:
    kills = count(1500, at_least=20)

    report = boundary.run_alone("kill", str(tmp_path), str(record_bytes), str(kills), "real")

    assert report["complaints"] == []
    assert report["kills"] == kills
    # Otherwise the kills came too late to prove anything.
    assert report["torn"] > 0
    figures.add(
        f"kills inside appends of {record_bytes} bytes",
        kills=kills,
        torn=report["torn"],
        earlier_records_lost=0,
    )


def test_an_append_that_does_not_repair_is_caught(tmp_path: Path) -> None:
    report = boundary.run_alone("kill", str(tmp_path), "200", "20", "careless")

    assert report["complaints"]
