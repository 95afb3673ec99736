"""What `host` sees, with real processes, real namespaces and made-up /proc trees."""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parts import need
from tether import host

LINUX = sys.platform == "linux"
SLEEPER = "import sys; print('up', flush=True); sys.stdin.read()"


def start(before: str = "") -> subprocess.Popen[bytes]:
    """A child that says when it is up and ends when its input does."""
    command = (sys.executable, "-I", "-S", "-c", before + SLEEPER)
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"up\n"
    return child


def end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.communicate()


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = start()
    yield process
    end(process)


def never(pid: int) -> bool:
    raise AssertionError(f"pid {pid} was asked about")


class FakeProc:
    """A directory that looks like /proc, as seen from this process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write_status(f"Name:\tpython\nPid:\t{os.getpid()}\nNSpid:\t{os.getpid()}\n")

    def write_status(self, text: str) -> None:
        (self.path / "self").mkdir(exist_ok=True)
        (self.path / "self" / "status").write_text(text)

    def add(self, pid: int, stat: bytes) -> None:
        (self.path / str(pid)).mkdir()
        (self.path / str(pid) / "stat").write_bytes(stat)

    def observe(self, pid: int, probe: host.Probe = never) -> host.Sighting:
        return host.observe(pid, proc=str(self.path), probe=probe)


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    need(LINUX, "/proc, which only Linux has")
    return FakeProc(tmp_path)


def stat_line(
    name: bytes = b"agent", state: bytes = b"S", ticks: int = 4711, threads: int = 1
) -> bytes:
    fields = [state, b"1"] + [b"0"] * 15 + [b"%d" % threads, b"0", b"%d" % ticks, b"0"]
    return b"77 (" + name + b") " + b" ".join(fields) + b"\n"


# Real processes


def test_this_process_is_seen_running() -> None:
    sighting = host.observe(os.getpid())

    assert (sighting.outcome, sighting.state) == ("seen", "running")
    assert sighting.start_ticks is not None


def test_a_process_keeps_its_start_ticks(child: subprocess.Popen[bytes]) -> None:
    assert host.observe(child.pid).start_ticks == host.observe(child.pid).start_ticks


def test_a_stopped_process_is_seen_stopped_and_running_again(
    child: subprocess.Popen[bytes],
) -> None:
    child.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
    assert host.observe(child.pid).state == "stopped"

    child.send_signal(signal.SIGCONT)
    os.waitid(os.P_PID, child.pid, os.WCONTINUED | os.WNOWAIT)
    assert host.observe(child.pid).state == "running"


def test_a_process_that_nobody_has_reaped_is_a_zombie(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    sighting = host.observe(child.pid)

    assert (sighting.outcome, sighting.state) == ("seen", "zombie")
    assert host.identify(child.pid) is None


def test_a_reaped_process_is_gone(child: subprocess.Popen[bytes]) -> None:
    end(child)

    assert host.observe(child.pid) == host.Sighting("gone", None, "")
    assert host.identify(child.pid) is None


def test_a_process_of_another_user_is_seen() -> None:
    need(os.geteuid() == 0, "root, to start a process of another user")
    child = start("import os; os.setuid(65534); ")
    try:
        assert host.observe(child.pid).outcome == "seen"
    finally:
        end(child)


def test_a_process_that_may_not_be_signalled_is_in_use() -> None:
    need(os.geteuid() == 0, "root, to become another user")
    asks = (
        "import os; from tether import host; os.setuid(65534);"
        f" print(host.is_in_use({os.getpid()}), host.is_in_use({1 << 22}))"
    )

    answer = subprocess.run(
        [sys.executable, "-c", asks], capture_output=True, text=True, check=True
    )

    assert answer.stdout == "True False\n"


@pytest.mark.parametrize("name", ["a) S 1 1 (b", "two words", "new\nline", ")))", "(("])
def test_a_program_cannot_hide_behind_its_name(name: str) -> None:
    need(LINUX, "/proc, which only Linux has")
    child = start(f"open('/proc/self/comm', 'w').write({name!r}); ")
    try:
        assert Path(f"/proc/{child.pid}/comm").read_text() == name + "\n"
        sighting, mine = host.observe(child.pid), host.observe(os.getpid())
        assert (sighting.outcome, sighting.state) == ("seen", "running")
        assert sighting.start_ticks is not None
        assert mine.start_ticks is not None
        assert 0 <= sighting.start_ticks - mine.start_ticks < 10**6
    finally:
        end(child)


def test_a_process_whose_main_thread_has_ended_is_running() -> None:
    number = {"x86_64": 60, "aarch64": 93}.get(platform.machine(), 0)
    need(LINUX and number > 0, "the number of the exit system call")
    leaves = (
        "import ctypes, sys, threading\n"
        "def stay():\n"
        "    while open('/proc/self/stat').read().rpartition(')')[2].split()[0] != 'Z': pass\n"
        "    print('up', flush=True)\n"
        "    sys.stdin.read()\n"
        "threading.Thread(target=stay).start()\n"
        f"ctypes.CDLL(None).syscall({number}, 0)\n"
    )
    child = start(leaves)
    try:
        assert host.observe(child.pid).state == "running"
    finally:
        end(child)


# Numbers that are no pids


@pytest.mark.parametrize("pid", [0, -1, -2, 1 << 22 | 1, 1 << 31, 1 << 63, 10**30])
def test_a_number_that_is_no_pid_is_gone_and_nobody_is_asked(pid: int) -> None:
    assert host.observe(pid, probe=never) == host.Sighting("gone")
    assert host.identify(pid) is None


# Pid namespaces


def in_namespace(script: str) -> list[str]:
    """The lines that a script prints as the first process of a new pid namespace."""
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def may_unshare() -> bool:
    if not LINUX or shutil.which("unshare") is None:
        return False
    command = ["unshare", "--pid", "--fork", "--mount-proc", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_pid_that_came_back_has_other_start_ticks() -> None:
    need(may_unshare(), "the right to make a pid namespace")
    script = (
        "import subprocess, sys, time\n"
        "from tether import host\n"
        "def born():\n"
        "    open('/proc/sys/kernel/ns_last_pid', 'w').write('499')\n"
        "    child = subprocess.Popen(['sleep', '600'])\n"
        "    seen = host.observe(child.pid)\n"
        "    child.kill(); child.wait()\n"
        "    return child.pid, seen.start_ticks\n"
        "first = second = born()\n"
        "while second[1] == first[1]: second = born()\n"
        "print(first[0], second[0], second[1] > first[1], host.observe(500).outcome)\n"
    )

    assert in_namespace(script) == ["500 500 True gone"]


def test_another_pid_namespace_has_another_name() -> None:
    need(may_unshare(), "the right to make a pid namespace")

    there = in_namespace("from tether import host; print(*host.here(), sep='\\n')")

    assert there[:2] == list(host.here()[:2])
    assert there[2] != host.here().pid_namespace
    assert re.fullmatch(r"pid:\[[0-9]+\]", there[2])


def test_a_proc_of_another_namespace_is_not_believed() -> None:
    need(may_unshare(), "the right to make a pid namespace")
    # Without --mount-proc, /proc still counts as outside: 1 is the machine's init there.
    asks = "from tether import host; print(host.observe(1).outcome, host.observe(77777).outcome)"

    answer = subprocess.run(
        ["unshare", "--pid", "--fork", sys.executable, "-c", asks],
        capture_output=True,
        text=True,
        check=True,
    )

    assert answer.stdout == "unreadable gone\n"


def test_a_hidden_process_is_unreadable() -> None:
    need(may_unshare() and os.geteuid() == 0, "root and the right to mount a /proc with hidepid")
    script = (
        "import os, subprocess, sys\n"
        "subprocess.run(['mount', '-o', 'remount,hidepid=2', '/proc'], check=True)\n"
        "from tether import host\n"
        "if os.fork():\n"
        "    os.wait()\n"
        "else:\n"
        "    os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "    print(host.observe(1).outcome, host.observe(999).outcome, flush=True)\n"
    )

    assert in_namespace(script) == ["unreadable gone"]


# A made-up /proc


@pytest.mark.parametrize(
    ("letter", "state"),
    [
        (b"R", "running"),
        (b"S", "running"),
        (b"D", "running"),
        (b"I", "running"),
        (b"T", "stopped"),
        (b"t", "stopped"),
        (b"Z", "zombie"),
        (b"X", "zombie"),
        (b"x", "zombie"),
    ],
)
def test_every_state_has_a_word(proc: FakeProc, letter: bytes, state: str) -> None:
    proc.add(77, stat_line(state=letter))

    assert proc.observe(77) == ("seen", 4711, state)


@pytest.mark.parametrize("name", [b"a) Z 1 (b", b"(((", b") R", b"x\ny", b"\xff\xfe", b""])
def test_the_last_bracket_ends_the_name(proc: FakeProc, name: bytes) -> None:
    proc.add(77, stat_line(name=name))

    assert proc.observe(77) == ("seen", 4711, "running")


def test_a_zombie_with_living_threads_is_running(proc: FakeProc) -> None:
    proc.add(77, stat_line(state=b"Z", threads=3))

    assert proc.observe(77).state == "running"


@pytest.mark.parametrize("stat", [b"", b"77", b"77 (a", b"77 (a) R 1 2", b"77 (a) R" + b" x" * 30])
def test_what_cannot_be_parsed_is_unreadable_as_long_as_the_pid_is_used(
    proc: FakeProc, stat: bytes
) -> None:
    proc.add(77, stat)

    assert proc.observe(77, probe=lambda _: True).outcome == "unreadable"
    assert proc.observe(77, probe=lambda _: False).outcome == "gone"


def test_a_made_up_proc_signals_nobody_by_itself(proc: FakeProc) -> None:
    # This pid is certainly in use.
    assert host.observe(os.getpid(), proc=str(proc.path)) == host.Sighting("gone")


def test_a_proc_that_counts_otherwise_is_not_read(proc: FakeProc) -> None:
    proc.add(77, stat_line())
    proc.write_status("NSpid:\t90210\t7\n")

    assert proc.observe(77, probe=lambda _: True).outcome == "unreadable"


def test_a_kernel_that_does_not_list_namespaces_is_believed_if_it_calls_us_as_we_do(
    proc: FakeProc,
) -> None:
    proc.add(77, stat_line())
    proc.add(os.getpid(), b"")
    (proc.path / str(os.getpid()) / "status").write_text("Name:\tpython\n")
    shutil.rmtree(proc.path / "self")
    (proc.path / "self").symlink_to(str(os.getpid()))

    assert proc.observe(77).outcome == "seen"


# Without /proc


def test_psutil_sees_the_same_states(child: subprocess.Popen[bytes]) -> None:
    first = host.observe_by_psutil(child.pid)
    assert (first.outcome, first.state) == ("seen", "running")
    assert first.start_ticks == host.observe_by_psutil(child.pid).start_ticks

    child.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
    assert host.observe_by_psutil(child.pid).state == "stopped"

    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert host.observe_by_psutil(child.pid).state == "zombie"

    child.wait()
    assert host.observe_by_psutil(child.pid) == host.Sighting("gone")


# The place


def test_a_process_is_identified_by_its_place_pid_and_start() -> None:
    mine = host.identify(os.getpid())

    assert mine is not None
    assert mine[:3] == host.here()
    assert mine.pid == os.getpid()
    assert mine.start_ticks == host.observe(os.getpid()).start_ticks


def test_the_place_is_known_and_stays() -> None:
    first = host.here()

    assert re.fullmatch(r"[0-9a-f]{16}|", first.host_id)
    assert first.boot_id
    assert first == host.here()


def test_the_machine_id_is_not_given_away() -> None:
    path = Path("/etc/machine-id")
    need(path.exists(), "/etc/machine-id")

    assert host.here().host_id not in path.read_text()


def test_a_clone_of_the_image_with_another_name_is_another_host() -> None:
    need(may_unshare() and os.geteuid() == 0, "root and the right to make a namespace")
    asks = (
        "import socket; socket.sethostname('clone')\n"
        "from tether import host; print(host.here().host_id)"
    )
    answer = subprocess.run(
        ["unshare", "--uts", sys.executable, "-c", asks], capture_output=True, text=True, check=True
    )

    assert answer.stdout.strip() != host.here().host_id


def test_the_null_signal_tells_used_from_free(child: subprocess.Popen[bytes]) -> None:
    assert host.is_in_use(child.pid)
    end(child)

    with pytest.raises(OSError, match="No such process") as raised:
        os.kill(child.pid, 0)
    assert raised.value.errno == errno.ESRCH
    assert not host.is_in_use(child.pid)
