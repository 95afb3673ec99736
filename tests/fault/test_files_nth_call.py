"""Whatever call of an operation fails, a file is old or new and what was promised is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fault import boundary, nth_call

REAL = [name for name in nth_call.SCENARIOS if not name.startswith("control")]
CONTROLS = [name for name in nth_call.SCENARIOS if name.startswith("control")]


@pytest.mark.parametrize("scenario", REAL)
def test_no_failing_call_tears_a_file_or_breaks_a_promise(tmp_path: Path, scenario: str) -> None:
    report = boundary.run_alone("nth_call", str(tmp_path), scenario)

    assert report["complaints"] == []
    assert {"fsync"} <= set(report["calls"])
    assert report["runs"] >= 7 * len(report["calls"])


@pytest.mark.parametrize("scenario", CONTROLS)
def test_a_broken_writer_is_caught(tmp_path: Path, scenario: str) -> None:
    report = boundary.run_alone("nth_call", str(tmp_path), scenario)

    assert report["complaints"]
