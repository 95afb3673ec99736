"""After a power failure at any moment a file is old or new and what was promised is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fault import boundary, power

REAL = [name for name in power.PROTOCOLS if not name.startswith("control")]


@pytest.mark.parametrize("protocol", REAL)
def test_no_power_failure_tears_a_file_or_breaks_a_promise(tmp_path: Path, protocol: str) -> None:
    report = boundary.run_alone("power", str(tmp_path), protocol)

    assert report["complaints"] == []
    assert report["states"] > 5


@pytest.mark.parametrize(
    ("protocol", "fault"),
    [
        ("control: rename without sync", "torn"),
        ("control: no sync of the name", "acknowledged but lost"),
        ("control: write in place", "torn"),
        ("control: append without sync", "acknowledged but lost"),
    ],
)
def test_a_protocol_that_leaves_out_a_step_is_caught(
    tmp_path: Path, protocol: str, fault: str
) -> None:
    report = boundary.run_alone("power", str(tmp_path), protocol)

    assert fault in report["complaints"]
