"""Liveness with real processes: stopped, ended, hidden, in other namespaces, and pids that return.

Each agent has been silent for so long that only its process can speak for it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import agency
from tests.figures import Figures
from tests.parts import need
from tests.scale import count
from tether import host
from tether.agents import sweep
from tether.store import port

LINUX = sys.platform == "linux"
HOUR = 3600
DAY = 24 * HOUR
NOBODY = 65534
ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[port.Store]:
    store = agency.sqlite_opener(tmp_path)()
    yield store
    store.close()


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = agency.sleeper()
    yield process
    agency.end(process)


def verdict(store: port.Store, session_id: str, **changes: object) -> tuple[str, str]:
    """What a look at this session says."""
    found = agency.spot(**changes).verdict(agency.agent(store, session_id))
    return found.state, found.reason


def swept(store: port.Store, **changes: object) -> tuple[list[str], list[str]]:
    """The sessions that a sweep marks, and those whose process it sees."""
    result = sweep.sweep(store, agency.spot(**changes), sweep.Rules())
    assert result.problems == ()
    return [stale.session_id for stale in result.stale_agents], list(result.pids_verified)


def begin(store: port.Store, session_id: str, pid: int, silent_seconds: float = DAY) -> None:
    agency.begin(store, session_id, pid=pid)
    agency.silence(store, session_id, silent_seconds)


# Processes of this namespace


def test_a_live_process_is_alive_however_silent(
    store: port.Store, child: subprocess.Popen[bytes]
) -> None:
    begin(store, "a", child.pid, 365 * DAY)

    assert verdict(store, "a") == ("alive", f"process {child.pid} is running")
    assert swept(store) == ([], ["a"])


def test_a_stopped_process_is_alive(store: port.Store, child: subprocess.Popen[bytes]) -> None:
    begin(store, "a", child.pid)
    child.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)

    assert verdict(store, "a") == ("alive", f"process {child.pid} is stopped")
    assert swept(store) == ([], ["a"])


def test_a_zombie_is_dead(store: port.Store, child: subprocess.Popen[bytes]) -> None:
    begin(store, "a", child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    assert verdict(store, "a") == ("dead", f"process {child.pid} has ended")
    assert swept(store) == (["a"], [])


def test_a_process_that_is_gone_is_dead_even_right_after_a_beat(
    store: port.Store, child: subprocess.Popen[bytes]
) -> None:
    begin(store, "a", child.pid, 0)
    agency.end(child)

    assert verdict(store, "a") == ("dead", f"there is no process {child.pid} any more")
    assert swept(store) == ([], []), "it was heard from, so nobody looks yet"
    agency.silence(store, "a", 300)
    assert swept(store) == (["a"], [])


def test_a_machine_that_was_cloned_is_not_taken_for_an_earlier_boot(store: port.Store) -> None:
    """The same id and name, another boot, and heard from while this boot was running."""
    mine = host.identify(os.getpid())
    assert mine is not None
    agency.begin(store, "clone", process=mine._replace(boot_id="a-boot-elsewhere"))

    state, reason = verdict(store, "clone")
    assert state == "alive"
    assert reason.startswith("on a host like this one, lease runs")


def test_a_process_of_another_boot_is_dead_although_its_pid_is_in_use(store: port.Store) -> None:
    mine = host.identify(os.getpid())
    assert mine is not None
    agency.begin(store, "old", process=mine._replace(boot_id="a-boot-before"))
    agency.begin(store, "new", process=mine)
    for session_id in ("old", "new"):
        agency.silence(store, session_id, host.monotonic_ms() / 1000 + 300)

    assert verdict(store, "old") == ("dead", "its machine was started again since")
    assert swept(store) == (["old"], ["new"])


def test_a_process_whose_boot_is_not_known_is_judged_by_its_ticks(store: port.Store) -> None:
    mine = host.identify(os.getpid())
    assert mine is not None
    agency.begin(store, "same", process=mine._replace(boot_id=""))
    agency.begin(store, "other", process=mine._replace(boot_id="", start_ticks=1))
    for session_id in ("same", "other"):
        agency.silence(store, session_id, 300)

    assert swept(store) == (["other"], ["same"])


# Processes of others


_AS_NOBODY = """
import os, sys
from pathlib import Path
from tests import agency
store = agency.sqlite_opener(Path(sys.argv[1]))()
agents = [agency.agent(store, session_id) for session_id in sys.argv[3].split()]
spot = agency.spot()
if sys.argv[2]:
    from tether import host
    proc = sys.argv[2]
    spot = spot._replace(observe=lambda pid: host.observe(pid, proc, host.is_in_use))
nobody = int(sys.argv[4])
os.setgroups([]); os.setgid(nobody); os.setuid(nobody)
try:
    os.kill(agents[0].pid, 0)
except PermissionError:
    print("EPERM", *(spot.verdict(agent).state for agent in agents))
"""


def as_nobody(tmp_path: Path, sessions: str, proc: str = "") -> list[str]:
    """What a user who may not signal them sees of these sessions."""
    arguments = (str(tmp_path), proc, sessions, str(NOBODY))
    command = [sys.executable, "-c", _AS_NOBODY, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.split()


def test_a_process_that_may_not_be_signalled_is_alive(tmp_path: Path, store: port.Store) -> None:
    need(os.geteuid() == 0, "root, to become another user")
    begin(store, "a", os.getpid(), 365 * DAY)

    assert as_nobody(tmp_path, "a") == ["EPERM", "alive"]


def test_a_process_that_may_neither_be_signalled_nor_read_is_judged_by_its_lease(
    tmp_path: Path, store: port.Store
) -> None:
    need(LINUX and os.geteuid() == 0, "root, to become another user, and /proc")
    for session_id, silent_seconds in (("a", 600), ("b", 1200), ("c", 1801)):
        begin(store, session_id, os.getpid(), silent_seconds)
    empty = tmp_path / "proc"
    empty.mkdir()

    assert as_nobody(tmp_path, "a b c", str(empty)) == ["EPERM", "alive", "suspect", "expired"]


# Namespaces


def in_namespace(script: str, *arguments: str) -> Any:
    """The JSON that a script prints as the first process of a new pid namespace."""
    command = ["unshare", "--pid", "--fork", "--mount-proc"]
    done = subprocess.run(
        [*command, sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def may_unshare(then: str = "true") -> bool:
    """May we make a pid namespace, and do this in it?"""
    if not LINUX or shutil.which("unshare") is None:
        return False
    command = ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", then]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


_HIDDEN = """
import json, os, sys
from pathlib import Path
from tests import agency
store = agency.sqlite_opener(Path(sys.argv[1]))()
silences = {"a": 600, "b": 1200, "c": 1801}
for session_id, seconds in silences.items():
    agency.begin(store, session_id, pid=1)
    agency.silence(store, session_id, seconds)
agents = [agency.agent(store, session_id) for session_id in silences]
spot = agency.spot()
if os.fork():
    os.wait()
else:
    nobody = int(sys.argv[2])
    os.setgroups([]); os.setgid(nobody); os.setuid(nobody)
    assert not os.path.exists("/proc/1")
    print(json.dumps([spot.verdict(agent).state for agent in agents]), flush=True)
"""


def test_a_hidden_process_is_judged_by_its_lease(tmp_path: Path) -> None:
    hide = "mount -o remount,hidepid=2 /proc"
    need(
        os.geteuid() == 0 and may_unshare(hide), "root and the right to mount a /proc with hidepid"
    )
    script = f"import subprocess; subprocess.run({hide.split()!r}, check=True)\n{_HIDDEN}"

    assert in_namespace(script, str(tmp_path), str(NOBODY)) == ["alive", "suspect", "expired"]


_REGISTER = """
import json, os, sys
from pathlib import Path
from tests import agency
store = agency.sqlite_opener(Path(sys.argv[1]))()
for session_id in "abc":
    agency.begin(store, session_id, pid=os.getpid())
print(json.dumps(os.getpid()))
"""


def test_a_process_of_another_namespace_has_a_day_of_grace(
    tmp_path: Path, store: port.Store
) -> None:
    need(may_unshare(), "the right to make a pid namespace")
    # It is 1 there, which is somebody else and alive here.
    assert in_namespace(_REGISTER, str(tmp_path)) == 1
    for session_id, seconds in (("a", 600), ("b", DAY), ("c", DAY + 900)):
        agency.silence(store, session_id, seconds)

    assert [verdict(store, session_id)[0] for session_id in "abc"] == [
        "alive",
        "suspect",
        "expired",
    ]
    assert swept(store) == (["c"], [])


# Pids that return


_REUSE = """
import json, subprocess, sys
from pathlib import Path
from tests import agency
from tether import host
from tether.agents import sweep
store = agency.sqlite_opener(Path(sys.argv[1]))()
rounds = int(sys.argv[2])
def born():
    with open("/proc/sys/kernel/ns_last_pid", "w") as file:
        file.write("499")
    child = subprocess.Popen(["sleep", "1000000"])
    process = host.identify(child.pid)
    assert process is not None and process.pid == 500, process
    return child, process
def ended(child):
    child.kill()
    child.wait()
found = {"rounds": rounds, "wrong_alive": 0, "wrong_dead": 0, "bare_pid_says_alive": 0}
for number in range(rounds):
    first, was = born()
    agency.begin(store, f"first-{number}", process=was)
    ended(first)
    second, now = born()
    while now.start_ticks == was.start_ticks:
        ended(second)
        second, now = born()
    agency.begin(store, f"second-{number}", process=now)
    for name in ("first", "second"):
        agency.silence(store, f"{name}-{number}", 86_400)
    result = sweep.sweep(store, agency.spot(), sweep.Rules())
    assert not result.problems, result.problems
    stale = [agent.session_id for agent in result.stale_agents]
    found["wrong_alive"] += f"first-{number}" not in stale
    found["wrong_dead"] += f"second-{number}" in stale
    found["bare_pid_says_alive"] += host.is_in_use(was.pid)
    ended(second)
    sweep.sweep(store, agency.spot(), sweep.Rules(stale_ms=0))
print(json.dumps(found))
"""


@pytest.mark.proof(room="agents")
def test_a_pid_that_came_back_is_not_the_agent_that_had_it(
    tmp_path: Path, figures: Figures
) -> None:
    again = "echo 499 > /proc/sys/kernel/ns_last_pid"
    need(may_unshare(again), "the right to choose pids in a pid namespace")
    rounds = count(100, at_least=3)

    found = in_namespace(_REUSE, str(tmp_path), str(rounds))

    figures.add("a pid that came back, in a pid namespace", **found)
    # The control: what `kill(pid, 0)` says is wrong every time.
    assert found == {
        "rounds": rounds,
        "wrong_alive": 0,
        "wrong_dead": 0,
        "bare_pid_says_alive": rounds,
    }


class FakeProc:
    """A directory that looks like /proc, in which pids return when they are told to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "self").mkdir(parents=True)
        (path / "self" / "status").write_text(f"NSpid:\t{os.getpid()}\n")

    def start(self, pid: int, ticks: int, state: str = "S") -> None:
        (self.path / str(pid)).mkdir(exist_ok=True)
        zeros = " ".join(["0"] * 15)
        line = f"{pid} (agent) {state} 1 {zeros} 1 0 {ticks} 0\n"
        (self.path / str(pid) / "stat").write_text(line)

    def end(self, pid: int) -> None:
        shutil.rmtree(self.path / str(pid))

    def observe(self, pid: int) -> host.Sighting:
        return host.observe(pid, proc=str(self.path))


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    need(LINUX, "/proc, which only Linux has")
    return FakeProc(tmp_path / "proc")


def registered(store: port.Store, session_id: str, pid: int, ticks: int) -> None:
    """A session that has been silent for a day, whose process is in a made-up /proc."""
    agency.begin(store, session_id, process=host.Process(*host.here(), pid, ticks))
    agency.silence(store, session_id, DAY)


@pytest.mark.parametrize("later", [4712, 4710, 1, 2**60])
def test_in_a_made_up_proc_a_pid_that_came_back_is_another_process(
    store: port.Store, proc: FakeProc, later: int
) -> None:
    registered(store, "first", 77, 4711)
    proc.start(77, 4711)
    assert swept(store, observe=proc.observe) == ([], ["first"])

    proc.end(77)
    proc.start(77, later)
    agency.silence(store, "first", DAY)
    registered(store, "second", 77, later)

    assert proc.observe(77).outcome == "seen", "the control: a bare pid is in use"
    assert swept(store, observe=proc.observe) == (["first"], ["second"])


@pytest.mark.parametrize(
    ("state", "expected"),
    [("R", "alive"), ("D", "alive"), ("T", "alive"), ("t", "alive"), ("Z", "dead"), ("X", "dead")],
)
def test_in_a_made_up_proc_every_state_has_its_verdict(
    store: port.Store, proc: FakeProc, state: str, expected: str
) -> None:
    registered(store, "a", 77, 4711)
    proc.start(77, 4711, state)

    assert verdict(store, "a", observe=proc.observe)[0] == expected


def test_in_a_made_up_proc_nobody_is_dead(store: port.Store, proc: FakeProc) -> None:
    registered(store, "a", 77, 4711)

    assert verdict(store, "a", observe=proc.observe)[0] == "dead"
    assert swept(store, observe=proc.observe) == (["a"], [])
