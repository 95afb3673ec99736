"""The numbers of a run."""

from __future__ import annotations

from tether import config
from tether.coordinator import limits


def test_unless_something_is_set_they_are_those_of_the_seed() -> None:
    usual = {each.name: each.default for each in config.SETTINGS}
    found = limits.of(config.Settings(usual, {}, ()))
    assert found == limits.Limits()
    assert (found.context_percent, found.session_percent) == (10, 10)
    assert (found.slots, found.failure_limit, found.stall_checkpoints) == (5, 3, 3)
    assert (found.worker_ms, found.checkpoint_ms) == (900_000, 300_000)
    assert (found.checkpoint_wait_ms, found.recent_ms) == (30_000, 3_600_000)
    assert (found.resume_ms, found.reload_compactions) == (300_000, 2)
