"""Ending jobs for certain, and nothing else."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.parts import need
from tests.unit.coordinator.jobs import workshop
from tests.unit.coordinator.jobs.workshop import LINUX, Workshop, python, shell, until
from tether import files, host
from tether.coordinator.jobs import folder, looking, model, records, signals, stopping

WAITS = shell("waits", "echo $$ > up; exec sleep 600")
# Each of them tells its pid: one in a session of its own, whose parent has gone, and one in it.
ESCAPES = """
import os, subprocess, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        subprocess.Popen(["sleep", "600"])
        with open("escaped", "w") as file: file.write(f"{os.getpid()}\\n")
        time.sleep(600)
    os._exit(0)
time.sleep(600)
"""
IGNORES = "trap '' TERM; echo $$ > up; while :; do sleep 600; done"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workshop]:
    with workshop.opened(tmp_path) as made:
        yield made


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with any job."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def of_job(made: folder.Folder) -> list[int]:
    found = host.started_with(folder.DIRECTORY_VARIABLE, made.path)
    assert found is not None
    return found


# Stop


def test_a_stopped_job_has_its_report(place: Workshop) -> None:
    made = place.start(place.job(WAITS, shell("never", "echo ran > ran")))
    place.read("up")

    seen = stopping.stop(place.root, made.agent_id, 20)

    assert seen.state == "ended"
    assert seen.report is not None
    assert seen.report.stopped
    assert [each.signal for each in seen.report.results] == [signal.SIGTERM]
    assert of_job(made) == []
    assert not (place.desk / "ran").exists()


def test_stopping_twice_is_as_good_as_once(place: Workshop) -> None:
    made = place.start(place.job(WAITS))
    place.read("up")

    first, second = (stopping.stop(place.root, made.agent_id, 20) for _ in range(2))

    assert first == second


def test_what_ignores_requests_is_killed(place: Workshop) -> None:
    made = place.start(place.job(shell("ignores", IGNORES), grace_seconds=0.1))
    place.read("up")

    seen = stopping.stop(place.root, made.agent_id, 0.1)

    assert seen.report is not None
    assert [each.signal for each in seen.report.results] == [signal.SIGKILL]


def test_grandchildren_in_sessions_of_their_own_are_ended(place: Workshop) -> None:
    made = place.start(place.job(python("escapes", ESCAPES)))
    pid = int(place.read("escaped"))
    assert len(of_job(made)) == 4

    assert stopping.stop(place.root, made.agent_id, 20).state == "ended"

    assert of_job(made) == []
    assert not workshop.is_alive(pid)


def test_a_wrapper_that_does_not_answer_is_killed(
    place: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "SPARE_SECONDS", 0.1)
    made = place.start(place.job(WAITS))
    place.read("up")
    process = place.look(made.agent_id).process
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)

    seen = stopping.stop(place.root, made.agent_id, 0)

    assert seen == model.Look("gone", None, process)
    assert of_job(made) == []


def test_a_job_stopped_before_its_start_never_runs(place: Workshop) -> None:
    made = place.prepare(place.job(shell("work", "echo ran > ran")))

    assert stopping.stop(place.root, made.agent_id, 0).state == "gone"
    assert workshop.wrapper(made).wait() == 0

    assert not (place.desk / "ran").exists()


def test_a_job_that_nobody_has_written_down_is_gone_after_a_stop(place: Workshop) -> None:
    assert stopping.stop(place.root, "agent", 0).state == "gone"


def test_a_wrapper_that_has_only_just_begun_is_stopped(place: Workshop) -> None:
    """It is there, but has not yet said which process it is."""
    for _ in range(5):
        made = place.start(place.job(WAITS))

        seen = stopping.stop(place.root, made.agent_id, 20)

        assert seen.state in ("gone", "ended")
        assert of_job(made) == []


# What a killed wrapper leaves


def test_a_step_that_a_killed_wrapper_left_is_swept_away(place: Workshop) -> None:
    made = place.start(place.job(WAITS))
    pid = int(place.read("up"))
    workshop.kill_wrapper(place.look(made.agent_id))
    place.until(made.agent_id, "gone")
    assert workshop.is_alive(pid)

    assert stopping.sweep_processes(place.root, made.agent_id) == 0

    assert not workshop.is_alive(pid)
    assert place.look(made.agent_id).state == "gone"


def test_a_crowd_that_goes_on_multiplying_is_swept_away(place: Workshop) -> None:
    multiplies = (
        "import os, time\n"
        "for _ in range(10):\n"
        "    if os.fork() == 0: os.setsid()\n"
        "    else: break\n"
        "open('up', 'w').write('x\\n')\n"
        "while True:\n"
        "    if os.fork() == 0: time.sleep(0.002); os._exit(0)\n"
        "    os.wait()\n"
    )
    made = place.start(place.job(python("multiplies", multiplies)))
    place.read("up")

    assert stopping.stop(place.root, made.agent_id, 0).state in ("gone", "ended")

    assert of_job(made) == []


def test_nobody_else_is_swept_away(place: Workshop, tmp_path: Path) -> None:
    """An agent of the same name that works in another clone is not ours."""
    job = place.job(WAITS)
    made = place.start(job)
    place.read("up")
    with workshop.opened(tmp_path / "other") as other:
        other.agents.append(job.agent_id)
        other.start(job._replace(directory=str(other.desk)))
        theirs = int(other.read("up"))

        stopping.stop(place.root, made.agent_id, 20)

        assert other.look(job.agent_id).state == "running"
        assert workshop.is_alive(theirs)


def test_whoever_stops_its_own_job_is_spared(place: Workshop) -> None:
    script = (
        "import os; from tether import files; from tether.coordinator.jobs import stopping\n"
        "path = os.environ['TETHER_JOB_DIR']\n"
        "left, leaves = os.pipe()\n"
        "if os.fork(): os.close(leaves); os.read(left, 1); os._exit(0)\n"
        "os.setsid(); os.close(leaves)\n"
        "root = files.Root(os.path.dirname(os.path.dirname(path)))\n"
        "seen = stopping.stop(root, os.path.basename(path), 20)\n"
        "open('told', 'w').write(seen.state + '\\n')\n"
    )
    step = model.Step("stops itself", (sys.executable, "-c", script))
    made = place.start(place.job(step, shell("waits", "exec sleep 600")))

    assert place.read("told") == "ended"
    until(lambda: not of_job(made))


# Exactly the one that is meant


def test_a_reused_pid_is_not_signalled(
    place: Workshop, bystander: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stopping, "SPARE_SECONDS", 0.2)
    monkeypatch.setattr(stopping, "KILL_SECONDS", 0.2)
    process = host.identify(bystander.pid)
    assert process is not None
    earlier = process._replace(start_ticks=process.start_ticks - 1)
    made = place.prepare(place.job(WAITS))
    made.write(folder.START, records.encode_start(made.agent_id, earlier, "2026-01-01T00:00:00Z"))

    with files.Lock(made.lock_path, "test"):
        assert stopping.stop(place.root, made.agent_id, 0).state == "running"
    assert stopping.stop(place.root, made.agent_id, 0).state == "gone"

    assert bystander.poll() is None


@pytest.mark.parametrize(
    "change",
    [
        lambda process: process._replace(host_id="elsewhere"),
        lambda process: process._replace(boot_id="earlier"),
        lambda process: process._replace(pid_namespace="pid:[7]"),
        lambda process: process._replace(start_ticks=process.start_ticks + 1),
    ],
)
def test_a_process_of_another_place_or_time_is_not_signalled(
    bystander: subprocess.Popen[bytes], change: Callable[[host.Process], host.Process]
) -> None:
    process = host.identify(bystander.pid)
    assert process is not None
    other = change(process)

    assert not signals.send(other, signal.SIGKILL)
    assert bystander.poll() is None

    assert signals.send(process, signal.SIGKILL)
    assert bystander.wait() == -signal.SIGKILL
    assert not signals.send(process, signal.SIGKILL)


def test_a_process_that_is_replaced_between_look_and_signal_is_spared() -> None:
    """The one that was pinned ends while we look at it; whoever has its number now lives."""
    need(LINUX, "a descriptor for a process")
    first = subprocess.Popen(["sleep", "600"])

    def ends_meanwhile(_pid: int) -> bool:
        first.kill()
        first.wait()
        return True

    assert not signals.send_if(first.pid, signal.SIGKILL, ends_meanwhile)


def test_without_descriptors_the_process_is_still_looked_at_first(
    bystander: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_pid: int) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "pidfd_open", refused, raising=False)

    assert not signals.send_if(bystander.pid, signal.SIGKILL, lambda _: False)
    assert bystander.poll() is None
    assert signals.send_if(bystander.pid, signal.SIGKILL, lambda _: True)
    assert bystander.wait() == -signal.SIGKILL


def test_where_processes_cannot_be_seen_nobody_is_told_that_they_ended(place: Workshop) -> None:
    need(
        LINUX and os.geteuid() == 0 and shutil.which("unshare") is not None,
        "the right to make a pid namespace",
    )
    script = (
        "import sys; from tether import errors, files\n"
        "from tether.coordinator.jobs import stopping\n"
        "try: stopping.stop(files.Root(sys.argv[1]), 'agent', 0)\n"
        "except errors.PlatformUnsupported: print('unsupported')\n"
    )
    # Without --mount-proc, /proc still counts as outside.
    command = ["unshare", "--pid", "--fork", sys.executable, "-c", script, place.root.path]

    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout == "unsupported\n"
    # All the same, nothing begins any more.
    assert looking.look(place.root, "agent").state == "gone"


# Finding processes by their environment


def test_a_process_is_found_by_a_variable(bystander: subprocess.Popen[bytes]) -> None:
    environ = {**os.environ, "TETHER_TEST_MARK": f"mark {bystander.pid}"}
    with subprocess.Popen(["sleep", "600"], env=environ) as marked:
        found = until(lambda: host.started_with("TETHER_TEST_MARK", f"mark {bystander.pid}"))
        assert found == [marked.pid]
        assert host.started_with("TETHER_TEST_MARK", "mark") == []
        assert host.started_with("TEST_MARK", f"mark {bystander.pid}") == []

        marked.kill()
        os.waitid(os.P_PID, marked.pid, os.WEXITED | os.WNOWAIT)
        assert host.started_with("TETHER_TEST_MARK", f"mark {bystander.pid}") == []


def test_a_variable_at_the_end_of_a_large_environment_is_found() -> None:
    need(LINUX, "/proc, which only Linux has")
    large = {f"LARGE{number}": "x" * 100_000 for number in range(15)}
    environ = {"PATH": os.environ["PATH"], **large, "TETHER_TEST_MARK": "last"}
    with subprocess.Popen(["sleep", "600"], env=environ) as marked:
        found = until(lambda: host.environment_value(marked.pid, "TETHER_TEST_MARK"))
        marked.kill()
    assert found == "last"


def test_psutil_sees_the_same_environment(bystander: subprocess.Popen[bytes]) -> None:
    path = until(lambda: host.environment_value(bystander.pid, "PATH"))

    assert host.environment_value_by_psutil(bystander.pid, "PATH") == path
    assert host.environment_value_by_psutil(bystander.pid, "NO_SUCH_VARIABLE") == ""
    assert host.environment_value_by_psutil(1 << 22, "PATH") == ""


def test_all_processes_are_seen(bystander: subprocess.Popen[bytes]) -> None:
    assert {os.getpid(), bystander.pid} <= set(host.pids() or ())
