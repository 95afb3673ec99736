"""After which compactions the whole plan is read again."""

from __future__ import annotations

from tether.coordinator import compaction


def test_every_second_one_reads_the_whole_plan() -> None:
    assert [n for n in range(1, 9) if compaction.is_full_reload(n, 2)] == [2, 4, 6, 8]


def test_it_may_be_every_one() -> None:
    assert all(compaction.is_full_reload(n, 1) for n in range(1, 9))
