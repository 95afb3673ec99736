"""Jobs outlive their coordinator; each runs or was given up, never both, whatever is killed.

Wrappers and those who give jobs up are forked here, so that they meet within microseconds: an
interpreter takes longer to start than all of it. The controls leave out the check, or the lock.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import crowd, scale
from tests.fault import boundary
from tests.fault.test_files_disk_full import may_mount, on_small_disk
from tests.figures import Figures
from tests.parts import need
from tests.unit.coordinator.jobs import workshop
from tests.unit.coordinator.jobs.workshop import Workshop, shell
from tether.coordinator.jobs import folder, looking, model, stopping, wrapper

ROUNDS = 5000
KILLS = 500
RUNS = shell("runs", "echo $TETHER_SESSION >> ran")

Abandon = Callable[[Workshop, str], model.Look]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workshop]:
    with workshop.opened(tmp_path) as made:
        yield made


# The coordinator dies

COORDINATOR = """
import json, os, signal, sys
from tether import files
from tether.coordinator.jobs import model, starting

root, desk, *agents = sys.argv[1:]
step = model.Step("work", ("/bin/sh", "-c", "while [ ! -e go ]; do sleep 0.01; done; echo done"))
for agent_id in agents:
    starting.start(files.Root(root), model.Job(agent_id, desk, {}, (step,)), dict(os.environ))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_jobs_outlive_a_killed_coordinator(place: Workshop) -> None:
    agents = [place.job(RUNS).agent_id for _ in range(3)]
    command = [sys.executable, "-c", COORDINATOR, place.root.path, str(place.desk), *agents]

    # Its streams are pipes here: they must end with it, whoever still works.
    died = subprocess.run(command, capture_output=True, timeout=60, check=False)

    assert died.returncode == -signal.SIGKILL
    assert {place.look(agent_id).state for agent_id in agents} <= {"starting", "running"}
    (place.desk / "go").touch()
    assert all(place.report(agent_id).is_success for agent_id in agents)
    assert [place.output(agent_id) for agent_id in agents] == ["done"] * 3


def test_a_successor_stops_what_it_has_not_started(place: Workshop) -> None:
    agent_id = place.job(RUNS).agent_id
    command = [sys.executable, "-c", COORDINATOR, place.root.path, str(place.desk), agent_id]
    subprocess.run(command, timeout=60, check=False)
    place.until(agent_id, "running")

    seen = stopping.stop(place.root, agent_id, 20)

    assert seen.report is not None
    assert seen.report.stopped


# A race between the start and giving up


class Race(NamedTuple):
    """How often each happened, and what went wrong."""

    ran: int
    given_up: int
    faults: list[str]


def forked(does: Callable[[], object]) -> int:
    """A process that does something and ends; nothing of the tests happens in it."""
    child = os.fork()
    if child == 0:
        try:
            does()
        finally:
            os._exit(0)
    return child


def one_race(place: Workshop, abandon: Abandon, dice: random.Random) -> tuple[str, bool]:
    """What giving up was told, and whether the job ran."""
    made = place.prepare(place.job(RUNS))
    delays = (0.0, dice.uniform(0, 0.004))
    first, second = delays if dice.random() < 0.7 else delays[::-1]

    def start() -> None:
        pause(first)
        wrapper.main(made.path)

    child = forked(start)
    pause(second)
    told = abandon(place, made.agent_id).state
    os.waitpid(child, 0)
    ran = made.agent_id in lines(place.desk / "ran")
    (place.desk / "ran").unlink(missing_ok=True)
    # Whatever it started has ended with it.
    place.agents.clear()
    return told, ran


def race(place: Workshop, rounds: int, abandon: Abandon) -> Race:
    dice = random.Random(7)  # noqa: S311 - the same moments again when one finds something
    found = [one_race(place, abandon, dice) for _ in range(rounds)]
    faults = [
        f"told {told}, and it {'ran' if ran else 'did not run'}"
        for told, ran in found
        if (told == "gone") == ran
    ]
    return Race(sum(ran for _, ran in found), sum(told == "gone" for told, _ in found), faults)


def pause(seconds: float) -> None:
    """A random moment: this is the experiment, not a wait for something."""
    select.select([], [], [], seconds)


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def as_it_is(place: Workshop, agent_id: str) -> model.Look:
    return looking.abandon(place.root, agent_id)


def without_lock(place: Workshop, agent_id: str) -> model.Look:
    """A control: whether a wrapper runs is looked at first, and the marker is written later."""
    made, seen = place.folder(agent_id), looking.look(place.root, agent_id)
    if seen.state != "starting" or made.exists(folder.START):
        return seen
    crowd.dawdle()
    made.write(folder.ABANDONED, b"")
    return model.Look("gone")


@pytest.mark.proof(room="coordinator")
def test_a_job_runs_or_was_given_up_and_never_both(place: Workshop, figures: Figures) -> None:
    rounds = scale.count(ROUNDS, at_least=30)
    found = race(place, rounds, as_it_is)

    figures.add(
        "jobs started and given up at the same moment",
        rounds=rounds,
        ran=found.ran,
        given_up=found.given_up,
        faults=len(found.faults),
    )
    assert found.faults == []
    assert found.ran > 0
    assert found.given_up > 0


def test_the_race_catches_a_wrapper_that_does_not_look_for_the_marker(
    place: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    monkeypatch.setattr(wrapper, "is_settled", lambda _: False)

    assert "told gone, and it ran" in race(place, scale.count(500, at_least=30), as_it_is).faults


def test_the_race_catches_giving_up_without_the_lock(place: Workshop) -> None:
    """The control."""
    found = race(place, scale.count(500, at_least=30), without_lock)

    assert "told gone, and it ran" in found.faults


# Somebody looks all the time

Looking = Callable[[Workshop, str], model.State]


def states_of(place: Workshop, look: Looking) -> list[str]:
    """What a job that ends well is said to be, from its start to its end."""
    made = place.prepare(place.job(RUNS))
    child = forked(lambda: wrapper.main(made.path))
    seen: list[str] = []
    while not seen or seen[-1] in ("starting", "running"):
        state = look(place, made.agent_id)
        if state not in seen[-1:]:
            seen.append(state)
    os.waitpid(child, 0)
    return seen


def as_looked(place: Workshop, agent_id: str) -> model.State:
    return looking.look(place.root, agent_id).state


def hasty(place: Workshop, agent_id: str) -> model.State:
    """A control: the report is not looked for again once the lock is known to be free."""
    made = place.folder(agent_id)
    if made.report():
        return "ended"
    crowd.dawdle()
    with made.sharing_lock(creates=True) as is_free:
        return "gone" if is_free and made.exists(folder.START) else "starting"


def in_order(seen: list[str]) -> bool:
    return seen == [state for state in ("starting", "running", "ended") if state in seen]


def test_a_job_that_ends_well_never_looks_gone(place: Workshop) -> None:
    found = [states_of(place, as_looked) for _ in range(scale.count(1000, at_least=20))]

    assert [seen for seen in found if not in_order(seen)] == []
    assert all(seen[-1] == "ended" for seen in found)


def test_the_watch_catches_a_look_that_does_not_look_twice(place: Workshop) -> None:
    """The control."""
    found = [states_of(place, hasty) for _ in range(scale.count(100, at_least=10))]

    assert any(not in_order(seen) for seen in found)


# The wrapper is killed


@pytest.mark.proof(room="coordinator")
def test_whatever_ran_before_a_kill_is_known_to_have_begun(
    place: Workshop, figures: Figures
) -> None:
    kills = scale.count(KILLS, at_least=20)
    dice = random.Random(11)  # noqa: S311 - the same kills again
    states: dict[str, int] = {}
    for _ in range(kills):
        made = place.prepare(place.job(shell("runs", "echo >> ran; exec sleep 600")))
        child = forked(lambda path=made.path: wrapper.main(path))  # type: ignore[misc]
        pause(dice.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        stopping.sweep_processes(place.root, made.agent_id)
        seen = looking.look(place.root, made.agent_id)
        if (place.desk / "ran").exists():
            assert seen.state == "gone"
            (place.desk / "ran").unlink()
        assert looking.abandon(place.root, made.agent_id).state == "gone"
        states[seen.state] = states.get(seen.state, 0) + 1
    figures.add("wrappers killed at random moments", kills=kills, **states)
    assert set(states) <= {"starting", "gone"}


# Every call that changes the disk


def number_of_calls(does: Callable[[], None]) -> int:
    outcome = boundary.in_child(does)
    assert outcome.word == "ok", outcome
    return len(outcome.calls)


@pytest.mark.parametrize("mode", ["kill before", "kill after"])
def test_giving_up_may_be_killed_anywhere_and_done_again(place: Workshop, mode: str) -> None:
    def fresh() -> folder.Folder:
        return place.prepare(place.job(RUNS))

    def gives_up(made: folder.Folder) -> Callable[[], None]:
        return lambda: void(looking.abandon(place.root, made.agent_id))

    for at in range(number_of_calls(gives_up(fresh()))):
        made = fresh()
        word = boundary.in_child(gives_up(made), boundary.Fault(at, mode)).word
        # Nobody is killed after a call that found nothing.
        assert word == "killed" or mode == "kill after"
        assert place.look(made.agent_id).state in ("starting", "gone")
        assert looking.abandon(place.root, made.agent_id).state == "gone"
        assert workshop.wrapper(made).wait() == 0
        assert not (place.desk / "ran").exists()


@pytest.mark.parametrize("mode", ["kill before", "kill after", "EIO", "ENOSPC", "EINTR", "short"])
def test_a_wrapper_may_fail_anywhere_and_what_it_did_is_known(
    place: Workshop, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrapper, "RETRY_SECONDS", 0.001)

    def does(made: folder.Folder) -> Callable[[], None]:
        return lambda: void(wrapper.main(made.path))

    for at in range(number_of_calls(does(place.prepare(place.job(RUNS))))):
        (place.desk / "ran").unlink(missing_ok=True)
        made = place.prepare(place.job(RUNS))
        boundary.in_child(does(made), boundary.Fault(at, mode))
        seen = place.look(made.agent_id)
        ran = lines(place.desk / "ran")
        assert seen.state in ("starting", "gone", "ended")
        assert len(ran) <= 1
        # A fault that it survives loses no result; a kill may, but then it is known to have begun.
        assert seen.state == "ended" if ran and not mode.startswith("kill") else True
        assert not ran if seen.state == "starting" else True
        assert ran if seen.state == "ended" else True


def void(_: object) -> None:
    """For what is done and not asked about."""


# No room for the report

FULL = r"""
import json, os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from tests.unit.coordinator.jobs import workshop
from tests.unit.coordinator.jobs.workshop import until

disk, desk = Path(sys.argv[1]), Path(sys.argv[2])
with workshop.opened(disk) as place:
    place.desk = desk
    os.mkfifo(desk / "fifo")
    made = place.start(place.job(workshop.shell("work", "echo $$ > up; exec cat fifo")))
    step = int(place.read("up"))
    with open(disk / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 512): pass
        except OSError: pass
    (desk / "fifo").write_bytes(b"")
    until(lambda: not workshop.is_alive(step))
    # Each try makes a file and removes it.
    tries = set()
    until(lambda: tries.add(os.stat(made.path).st_mtime_ns) or len(tries) > 1)
    while_full = place.look(made.agent_id).state
    os.unlink(disk / "filler")
    report = place.report(made.agent_id)
    print(json.dumps([while_full, report.is_success]))
"""


def test_a_result_is_not_lost_while_there_is_no_room(tmp_path: Path) -> None:
    disk, desk = tmp_path / "disk", tmp_path / "desk"
    disk.mkdir()
    desk.mkdir()
    need(may_mount(disk), "the right to mount a small disk")

    # Another test of this process may have gone to another directory.
    top = str(Path(__file__).parents[2])
    said = on_small_disk(disk, "size=256k", FULL, str(desk), top)
    assert json.loads(said) == ["running", True]
