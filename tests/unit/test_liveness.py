"""The table of liveness: every row, its borders, what is not known, and clocks that jump."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import pytest

from tether import host
from tether.agents import liveness

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
YEAR = 365 * DAY

LIMITS = liveness.Limits()
LEASE_MS = 15 * MINUTE

HERE = host.Here("host-a", "boot-1", "pid:[1]")
MINE = host.Process(*HERE, pid=77, start_ticks=4711)
ELSEWHERE = MINE._replace(host_id="host-b")
NEIGHBOUR = MINE._replace(pid_namespace="pid:[2]")

RUNNING = host.Sighting("seen", 4711, "running")
STOPPED = host.Sighting("seen", 4711, "stopped")
ZOMBIE = host.Sighting("seen", 4711, "zombie")
NAMELESS_ZOMBIE = host.Sighting("seen", None, "zombie")
WORDLESS = host.Sighting("seen", 4711, "")
REUSED = host.Sighting("seen", 4712, "running")
GONE = host.Sighting("gone")
UNREADABLE = host.Sighting("unreadable")
SIGHTINGS = (None, RUNNING, STOPPED, ZOMBIE, NAMELESS_ZOMBIE, WORDLESS, REUSED, GONE, UNREADABLE)

Judge = Callable[[liveness.Evidence, liveness.Limits], liveness.Verdict]


def evidence(
    process: host.Process | None,
    sighting: host.Sighting | None = None,
    silent_ms: int = 0,
    *,
    here: host.Here = HERE,
    lease_ms: int = LEASE_MS,
) -> liveness.Evidence:
    return liveness.Evidence(process, here, sighting, silent_ms, lease_ms)


def state(
    process: host.Process | None,
    sighting: host.Sighting | None = None,
    silent_ms: int = 0,
    *,
    here: host.Here = HERE,
    lease_ms: int = LEASE_MS,
) -> str:
    seen = evidence(process, sighting, silent_ms, here=here, lease_ms=lease_ms)
    return liveness.judge(seen, LIMITS).state


class Case(NamedTuple):
    """One row of the table, or one side of its border."""

    name: str
    evidence: liveness.Evidence
    state: liveness.State


def by_lease(
    name: str, process: host.Process, sighting: host.Sighting | None, grace_ms: int
) -> list[Case]:
    """The three states of a lease, with both sides of both borders."""
    rows: list[tuple[str, int, liveness.State]] = [
        ("just heard from", 0, "alive"),
        ("1 ms of lease left", LEASE_MS - 1, "alive"),
        ("lease over", LEASE_MS, "suspect"),
        ("lease over for 1 ms", LEASE_MS + 1, "suspect"),
        ("1 ms of grace left", LEASE_MS + grace_ms - 1, "suspect"),
        ("grace over", LEASE_MS + grace_ms, "expired"),
        ("grace over for 1 ms", LEASE_MS + grace_ms + 1, "expired"),
        ("silent for a year", YEAR, "expired"),
    ]
    return [
        Case(f"{name}, {what}", evidence(process, sighting, silent_ms), verdict)
        for what, silent_ms, verdict in rows
    ]


OLD_BOOT = MINE._replace(boot_id="boot-0")
TABLE = [
    Case("no process, just heard from", evidence(None), "alive"),
    Case("no process, 1 ms before the limit", evidence(None, silent_ms=300_000 - 1), "alive"),
    Case("no process, at the limit", evidence(None, silent_ms=300_000), "expired"),
    Case("no process, 1 ms after the limit", evidence(None, silent_ms=300_000 + 1), "expired"),
    Case("another boot", evidence(OLD_BOOT, RUNNING), "dead"),
    Case("another boot, nobody looked", evidence(OLD_BOOT), "dead"),
    Case("another boot, just heard from", evidence(OLD_BOOT, GONE), "dead"),
    Case("no such process", evidence(MINE, GONE), "dead"),
    Case("other start ticks", evidence(MINE, REUSED), "dead"),
    Case("one tick earlier", evidence(MINE, REUSED._replace(start_ticks=4710)), "dead"),
    Case("zombie", evidence(MINE, ZOMBIE), "dead"),
    Case("zombie whose start is not told", evidence(MINE, NAMELESS_ZOMBIE), "dead"),
    Case("running", evidence(MINE, RUNNING), "alive"),
    Case("running, silent for a year", evidence(MINE, RUNNING, YEAR), "alive"),
    Case("stopped", evidence(MINE, STOPPED), "alive"),
    Case("stopped, silent for a year", evidence(MINE, STOPPED, YEAR), "alive"),
    Case("there, in a state without a word", evidence(MINE, WORDLESS, YEAR), "alive"),
    *by_lease("another host", ELSEWHERE, None, LIMITS.grace_ms),
    *by_lease("another namespace", NEIGHBOUR, None, LIMITS.namespace_grace_ms),
    *by_lease("unreadable", MINE, UNREADABLE, LIMITS.grace_ms),
    *by_lease("nobody could look", MINE, None, LIMITS.grace_ms),
]


def wrong(judge: Judge) -> set[str]:
    """The cases of the table that a judge decides otherwise."""
    return {case.name for case in TABLE if judge(case.evidence, LIMITS).state != case.state}


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_every_row_of_the_table(case: Case) -> None:
    assert liveness.judge(case.evidence, LIMITS).state == case.state


def test_the_limits_are_those_of_the_design() -> None:
    assert LIMITS == (300 * SECOND, 15 * MINUTE, 24 * HOUR)


def test_the_limits_can_be_others() -> None:
    limits = liveness.Limits(stale_ms=5, grace_ms=7, namespace_grace_ms=11)

    def states(process: host.Process | None, *silences_ms: int) -> list[str]:
        looks = [evidence(process, None, silent_ms, lease_ms=3) for silent_ms in silences_ms]
        return [liveness.judge(look, limits).state for look in looks]

    assert states(None, 4, 5) == ["alive", "expired"]
    assert states(ELSEWHERE, 2, 3, 9, 10) == ["alive", "suspect", "suspect", "expired"]
    assert states(NEIGHBOUR, 2, 3, 13, 14) == ["alive", "suspect", "suspect", "expired"]


def test_no_patience_ends_everybody_without_a_process_and_nobody_with_one() -> None:
    limits = LIMITS._replace(stale_ms=0)

    assert liveness.judge(evidence(None), limits).state == "expired"
    assert liveness.judge(evidence(MINE, RUNNING, YEAR), limits).state == "alive"
    assert liveness.judge(evidence(ELSEWHERE), limits).state == "alive"


def test_a_beat_without_a_lease_is_suspect_at_once() -> None:
    assert state(ELSEWHERE, lease_ms=0) == "suspect"
    assert state(ELSEWHERE, silent_ms=LIMITS.grace_ms, lease_ms=0) == "expired"


# What a verdict says


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_only_the_dead_are_certain_and_only_the_dead_and_expired_are_over(case: Case) -> None:
    verdict = liveness.judge(case.evidence, LIMITS)

    assert verdict.is_certain == (verdict.state == "dead")
    assert verdict.is_over == (verdict.state in ("dead", "expired"))
    assert verdict.reason


def test_only_a_process_that_was_looked_at_was_seen() -> None:
    seen = {case.name for case in TABLE if liveness.judge(case.evidence, LIMITS).is_seen}

    assert seen == {
        "running",
        "running, silent for a year",
        "stopped",
        "stopped, silent for a year",
        "there, in a state without a word",
    }


def test_reasons_name_the_process_and_the_time() -> None:
    def reason(
        process: host.Process | None, sighting: host.Sighting | None, silent_ms: int = 0
    ) -> str:
        return liveness.judge(evidence(process, sighting, silent_ms), LIMITS).reason

    assert reason(MINE, GONE) == "there is no process 77 any more"
    assert reason(MINE, REUSED) == "process 77 is another one now"
    assert reason(MINE, STOPPED, DAY) == "process 77 is stopped"
    assert reason(None, None, 301_000) == "silent for 5 min, and no process is known"
    assert reason(ELSEWHERE, None, LEASE_MS) == "on another host, lease over for 0 s"
    assert reason(NEIGHBOUR, None) == "in another pid namespace, lease runs for 15 min more"


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (0, "0 s"),
        (999, "0 s"),
        (119_999, "119 s"),
        (120_000, "2 min"),
        (7_199_999, "119 min"),
        (7_200_000, "2 h"),
        (172_799_999, "47 h"),
        (172_800_000, "2 days"),
    ],
)
def test_durations_are_shown_in_the_unit_that_fits(ms: int, words: str) -> None:
    assert liveness.shown(ms) == words


# What is not known


@pytest.mark.parametrize("sighting", SIGHTINGS)
@pytest.mark.parametrize("unknown", ["host_id", "pid_namespace"])
@pytest.mark.parametrize("boot_id", ["boot-1", ""])
def test_an_unknown_place_never_gives_a_certain_death(
    unknown: str, sighting: host.Sighting | None, boot_id: str
) -> None:
    here = HERE._replace(**{unknown: ""})
    there = host.Process(*here._replace(boot_id=boot_id), MINE.pid, MINE.start_ticks)

    for process, place in ((there, HERE), (MINE, here), (there, here)):
        assert not liveness.can_look(process, place)
        assert state(process, sighting, 0, here=place) == "alive"
        assert state(process, sighting, LEASE_MS, here=place) == "suspect"
        assert state(process, sighting, YEAR, here=place) == "expired"


@pytest.mark.parametrize("sighting", SIGHTINGS)
def test_an_unknown_host_is_no_neighbour_even_after_a_restart(
    sighting: host.Sighting | None,
) -> None:
    nobody = OLD_BOOT._replace(host_id="")

    assert state(nobody, sighting, here=HERE._replace(host_id="")) == "alive"
    assert state(nobody, sighting, LEASE_MS + LIMITS.grace_ms) == "expired"


@pytest.mark.parametrize("sighting", [None, RUNNING, STOPPED, UNREADABLE])
def test_an_unknown_boot_is_not_another_boot(sighting: host.Sighting | None) -> None:
    unknown, here = MINE._replace(boot_id=""), HERE._replace(boot_id="")

    for process, place in ((unknown, HERE), (MINE, here), (unknown, here)):
        assert state(process, sighting, here=place) == "alive"
        assert state(NEIGHBOUR._replace(boot_id=process.boot_id), here=place) == "alive"


def test_whatever_the_boot_a_pid_that_is_gone_or_another_one_is_dead() -> None:
    unknown = MINE._replace(boot_id="")

    assert state(unknown, GONE) == state(unknown, REUSED) == state(unknown, ZOMBIE) == "dead"


def test_a_neighbour_is_only_looked_at_in_our_own_namespace() -> None:
    assert liveness.can_look(MINE, HERE)
    assert not liveness.can_look(NEIGHBOUR, HERE)
    assert not liveness.can_look(ELSEWHERE, HERE)
    assert not liveness.can_look(None, HERE)


@pytest.mark.parametrize("sighting", SIGHTINGS)
def test_what_a_pid_is_here_says_nothing_of_one_elsewhere(sighting: host.Sighting | None) -> None:
    assert state(ELSEWHERE, sighting) == "alive"
    assert state(NEIGHBOUR, sighting) == "alive"


def test_a_neighbour_of_another_boot_is_dead_and_one_on_another_host_is_not() -> None:
    assert state(NEIGHBOUR._replace(boot_id="boot-0")) == "dead"
    assert state(ELSEWHERE._replace(boot_id="boot-0")) == "alive"


# Clocks

NOW = liveness.Moment(wall_ms=50 * YEAR, boot_id="boot-1", monotonic_ms=10 * DAY)
JUMPS_MS = [0, *(sign * size for sign in (1, -1) for size in (1, SECOND, HOUR, DAY, 10 * YEAR))]


@pytest.mark.parametrize("jump_ms", JUMPS_MS)
@pytest.mark.parametrize("passed_ms", [0, 1, 299_999, 300_000, DAY])
def test_within_a_boot_no_jump_of_the_clock_counts(jump_ms: int, passed_ms: int) -> None:
    then = NOW._replace(
        wall_ms=NOW.wall_ms - passed_ms + jump_ms, monotonic_ms=NOW.monotonic_ms - passed_ms
    )

    assert liveness.elapsed_ms(then, NOW) == passed_ms


@pytest.mark.parametrize("jump_ms", JUMPS_MS)
@pytest.mark.parametrize("boots", [("boot-0", "boot-1"), ("", "boot-1"), ("boot-1", ""), ("", "")])
def test_between_boots_the_stores_clock_counts_and_never_backwards(
    jump_ms: int, boots: tuple[str, str]
) -> None:
    then = liveness.Moment(NOW.wall_ms - HOUR + jump_ms, boots[0], NOW.monotonic_ms - 5)

    passed_ms = liveness.elapsed_ms(then, NOW._replace(boot_id=boots[1]))

    assert passed_ms == max(0, HOUR - jump_ms)


def test_a_running_time_that_ran_backwards_is_not_believed() -> None:
    later = NOW._replace(wall_ms=NOW.wall_ms - HOUR, monotonic_ms=NOW.monotonic_ms + 1)

    assert liveness.elapsed_ms(later, NOW) == HOUR


def test_no_time_ever_passed_backwards() -> None:
    times_ms = (0, 1, NOW.monotonic_ms - 1, NOW.monotonic_ms, NOW.monotonic_ms + 1)
    walls_ms = (0, NOW.wall_ms - 1, NOW.wall_ms, NOW.wall_ms + 1, 2 * NOW.wall_ms)
    moments = [
        liveness.Moment(wall_ms, boot_id, monotonic_ms)
        for wall_ms, boot_id, monotonic_ms in itertools.product(
            walls_ms, ("", "boot-0", "boot-1"), times_ms
        )
    ]

    assert all(
        liveness.elapsed_ms(then, now) >= 0 for then, now in itertools.product(moments, repeat=2)
    )


# Controls: the same cases catch judges that know less


def by_pid_alone(seen: liveness.Evidence, limits: liveness.Limits) -> liveness.Verdict:
    """What `kill(pid, 0)` can tell: no ticks, no boot, no zombies, no places."""
    if seen.process is None:
        return liveness.judge(seen, limits)
    is_used = seen.sighting is not None and seen.sighting.outcome != "gone"
    return liveness.Verdict("alive" if is_used else "dead", "")


def by_silence_alone(seen: liveness.Evidence, limits: liveness.Limits) -> liveness.Verdict:
    return liveness.judge(seen._replace(process=None), limits)


def test_the_table_catches_a_judge_that_knows_only_pids() -> None:
    caught = wrong(by_pid_alone)

    assert {"other start ticks", "another boot", "zombie"} <= caught
    assert "another host, just heard from" in caught
    assert wrong(liveness.judge) == set()


def test_the_table_catches_a_judge_that_knows_only_silence() -> None:
    caught = wrong(by_silence_alone)

    assert {"running, silent for a year", "stopped, silent for a year"} <= caught
    assert {"no such process", "other start ticks"} <= caught


@pytest.mark.parametrize(
    ("silent_ms", "state"),
    [(0, "alive"), (9_999, "alive"), (10_000, "dead"), (10_001, "dead")],
)
def test_another_boot_is_an_earlier_one_only_if_nobody_was_heard_since_this_began(
    silent_ms: int, state: str
) -> None:
    here = host.Here("host", "boot-2", "pid:[1]")
    process = host.Process("host", "boot-1", "pid:[1]", 7, 1)
    seen = liveness.Evidence(process, here, None, silent_ms, 900_000, running_ms=10_000)
    assert liveness.judge(seen, liveness.Limits()).state == state
