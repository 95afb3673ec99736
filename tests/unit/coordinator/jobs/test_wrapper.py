"""Jobs from their start to their report, with real processes."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parts import need
from tests.unit.coordinator.jobs import workshop
from tests.unit.coordinator.jobs.workshop import LINUX, Workshop, python, shell, until
from tether import clock, errors, files, host
from tether.coordinator.jobs import folder, groups, model, starting, stopping, wrapper

SIGNALS_OF_STEP = "grep -E '^Sig(Blk|Ign)' /proc/self/status"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workshop]:
    with workshop.opened(tmp_path) as made:
        yield made


# How a job ends


def test_a_job_runs_its_steps_and_reports_them(place: Workshop) -> None:
    report = place.run(shell("first", "echo one"), shell("second", "echo two >&2"))

    assert report.is_success
    assert not report.stopped
    assert [(each.name, each.exit_code, each.signal) for each in report.results] == [
        ("first", 0, None),
        ("second", 0, None),
    ]
    assert clock.parse(report.ended_at) > 0
    assert place.output() == "one\ntwo"


def test_the_output_says_which_step_said_it(place: Workshop) -> None:
    place.run(shell("first", "printf 'no newline'"), shell("second", "exit 3"))

    lines = [line.partition("Z ")[2] or line for line in place.log().splitlines() if line]
    assert [line.partition(" after ")[0] for line in lines] == [
        "first (1 of 2)",
        "no newline",
        "first ended: exit 0",
        "second (2 of 2)",
        "second ended: exit 3",
    ]


def test_steps_know_their_job_and_their_directory(place: Workshop) -> None:
    script = 'echo "$TETHER_SESSION|$TETHER_JOB_DIR|$EXTRA|$(pwd -P)"'
    report = place.run(shell("tell", script), EXTRA="more")

    agent_id = place.agents[-1]
    directory = f"{os.path.realpath(place.root.path)}/agents/{agent_id}"
    assert report.is_success
    assert place.output() == f"{agent_id}|{directory}|more|{os.path.realpath(place.desk)}"


def test_a_step_that_fails_is_the_last_one(place: Workshop) -> None:
    report = place.run(shell("fails", "exit 7"), shell("never", "echo ran"))

    assert [(each.name, each.exit_code) for each in report.results] == [("fails", 7)]
    assert not report.is_success
    assert place.output() == ""


def test_later_steps_run_after_a_failure_that_goes_on(place: Workshop) -> None:
    report = place.run(shell("fails", "exit 7", goes_on=True), shell("next", "echo ran"))

    assert [each.exit_code for each in report.results] == [7, 0]
    assert not report.is_success
    assert place.output() == "ran"


def test_a_signal_is_reported_as_one(place: Workshop) -> None:
    (result,) = place.run(shell("dies", "kill -SEGV $$")).results

    assert (result.exit_code, result.signal) == (None, signal.SIGSEGV)
    assert not result.timed_out


def test_a_step_that_takes_too_long_is_ended(place: Workshop) -> None:
    report = place.run(shell("slow", "exec sleep 600", timeout_seconds=0.1), shell("never", "true"))

    (result,) = report.results
    assert (result.signal, result.timed_out) == (signal.SIGTERM, True)
    assert 0.1 <= result.seconds < 20
    assert not report.is_success
    assert not report.stopped


def run_too_long(place: Workshop, script: str, grace_seconds: float) -> model.StepResult:
    """How a step ends that was ready to be asked when its time was over."""
    for seconds in (0.2, 1, 5, 20):
        step = shell("slow", f"{script}; echo x > up; while :; do sleep 0.01; done", seconds)
        (result,) = place.run(step, grace_seconds=grace_seconds).results
        if (place.desk / "up").exists():
            return result
    raise AssertionError("this machine is too slow")


def test_a_step_that_does_not_want_to_end_is_killed(place: Workshop) -> None:
    result = run_too_long(place, "trap '' TERM", grace_seconds=0.2)

    assert (result.signal, result.timed_out) == (signal.SIGKILL, True)


def test_a_step_that_ends_well_when_asked_was_still_too_late(place: Workshop) -> None:
    result = run_too_long(place, "trap 'exit 0' TERM", grace_seconds=20)

    assert (result.exit_code, result.timed_out, result.is_success) == (0, True, False)


def test_a_stopped_step_is_ended_too(place: Workshop) -> None:
    (result,) = place.run(shell("stops", "kill -STOP $$", timeout_seconds=0.1)).results

    assert (result.signal, result.timed_out) == (signal.SIGTERM, True)


@pytest.mark.parametrize("argv", [("no-such-program-here",), ("./not-executable",), ("/",)])
def test_a_step_that_cannot_be_started_says_so(place: Workshop, argv: tuple[str, ...]) -> None:
    (place.desk / "not-executable").write_text("echo ran\n")

    (result,) = place.run(model.Step("odd", argv)).results

    assert (result.exit_code, result.signal) == (127, None)
    assert "odd could not be started (" in place.log()


def test_a_job_whose_directory_is_missing_says_so(place: Workshop) -> None:
    job = place.job(shell("work", "echo ran"))._replace(directory=f"{place.desk}/missing")
    place.start(job)

    (result,) = place.report(job.agent_id).results

    assert result.exit_code == 127
    assert "(ENOENT)" in place.log()


# What a step is given


def test_a_step_starts_with_default_signals_whatever_its_coordinator_ignored(
    place: Workshop,
) -> None:
    need(LINUX, "/proc, which only Linux has")
    ignored = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT]
    before = [signal.signal(number, signal.SIG_IGN) for number in ignored]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        report = place.run(shell("look", SIGNALS_OF_STEP))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in zip(ignored, before, strict=True):
            signal.signal(number, handler)

    assert report.is_success
    blocked, ignored_by_step = (int(line.split()[1], 16) for line in place.output().splitlines())
    assert blocked == 0
    # 32 and 33 belong to the C library, which lets nobody change them.
    assert ignored_by_step & ~(3 << 31) == 0


def test_a_step_inherits_no_files(place: Workshop) -> None:
    need(LINUX, "/proc, which only Linux has")
    fd = os.open("/", os.O_RDONLY)
    os.set_inheritable(fd, True)
    try:
        place.run(python("look", "import os; print(*sorted(os.listdir('/proc/self/fd'), key=int))"))
    finally:
        os.close(fd)

    # The fourth is the directory that is being listed.
    assert place.output() == "0 1 2 3"


def test_a_step_reads_nothing_and_has_no_terminal(place: Workshop) -> None:
    asks = "import os, sys\nprint(repr(sys.stdin.read()), os.getsid(0) == os.getppid(),"
    report = place.run(python("asks", asks + " os.getpgrp() == os.getpid())"))

    assert report.is_success
    assert place.output() == "'' True True"


def test_files_of_a_job_are_like_its_root(place: Workshop) -> None:
    Path(place.root.path).chmod(0o750)
    place.run(shell("work", "true"))

    directory = Path(place.folder(place.agents[-1]).path)
    modes = {each.name: oct(stat.S_IMODE(each.stat().st_mode)) for each in directory.iterdir()}
    assert set(modes.values()) == {"0o640"}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o750


# What is left behind


def test_what_stays_in_the_group_of_a_step_ends_with_it(place: Workshop) -> None:
    leaves = "sleep 600 & echo $! > pid"
    report = place.run(shell("leaves", leaves))

    assert report.is_success
    assert not workshop.is_alive(int(place.read("pid")))


def test_what_stays_in_the_group_and_ignores_requests_is_killed(place: Workshop) -> None:
    stays = "(trap '' TERM; echo x > up; while :; do sleep 600; done) & echo $! > pid\n"
    report = place.run(shell("leaves", stays + "while [ ! -s up ]; do :; done"), grace_seconds=0.1)

    assert report.is_success
    assert not workshop.is_alive(int(place.read("pid")))


def test_what_has_left_the_group_stays_until_the_job_is_stopped(place: Workshop) -> None:
    script = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    with open('pid', 'w') as file: file.write(f'{os.getpid()}\\n')\n"
        "    time.sleep(600)\n"
        "while not os.path.exists('pid') or not open('pid').read().endswith('\\n'): pass\n"
    )
    report = place.run(python("leaves", script))
    pid = int(place.read("pid"))

    assert report.is_success
    assert workshop.is_alive(pid)
    assert stopping.stop(place.root, place.agents[-1], 0).state == "ended"
    assert not workshop.is_alive(pid)


def test_a_coordinator_keeps_no_zombies(place: Workshop) -> None:
    place.run(shell("work", "true"))
    process = place.look(place.agents[-1]).process
    assert process is not None

    until(lambda: starting.reap() == 0)

    assert host.observe(process.pid).outcome == "gone"


# Who is asked to end


def test_sigterm_ends_the_step_and_the_job(place: Workshop) -> None:
    waits = shell("waits", "echo $$ > up; exec sleep 600")
    job = place.job(waits, shell("never", "echo ran"))
    place.start(job)
    place.read("up")
    process = place.look(job.agent_id).process
    assert process is not None

    os.kill(process.pid, signal.SIGTERM)

    report = place.report(job.agent_id)
    assert report.stopped
    assert not report.is_success
    assert [(each.name, each.signal) for each in report.results] == [("waits", signal.SIGTERM)]
    assert not report.results[0].timed_out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_what_a_terminal_says_is_not_meant_for_a_worker(place: Workshop, number: int) -> None:
    job = place.job(shell("waits", "echo $$ > up; while [ ! -e go ]; do sleep 0.01; done"))
    place.start(job)
    place.read("up")
    process = place.look(job.agent_id).process
    assert process is not None

    os.kill(process.pid, number)
    (place.desk / "go").touch()

    assert place.report(job.agent_id).is_success


# An id is used once


def test_an_id_starts_once(place: Workshop) -> None:
    job = place.job(shell("work", "echo ran >> ran"))
    place.start(job)

    with pytest.raises(errors.AlreadyThere):
        starting.start(place.root, job, workshop.ENVIRON)

    assert place.report(job.agent_id).is_success
    assert (place.desk / "ran").read_text() == "ran\n"


def test_a_second_wrapper_runs_nothing_again(place: Workshop) -> None:
    place.run(shell("work", "echo ran >> ran"))

    assert workshop.wrapper(place.folder(place.agents[-1])).wait() == 0

    assert (place.desk / "ran").read_text() == "ran\n"


def test_two_wrappers_at_once_do_a_job_once(place: Workshop) -> None:
    job = place.job(shell("work", "echo ran >> ran"))
    made = place.prepare(job)

    both = [workshop.wrapper(made) for _ in range(2)]

    assert [each.wait() for each in both] == [0, 0]
    assert place.report(job.agent_id).is_success
    assert (place.desk / "ran").read_text() == "ran\n"


def test_a_job_that_cannot_be_read_back_is_not_started(place: Workshop) -> None:
    job = place.job(model.Step("nul", ("echo", "a\0b")))

    with pytest.raises(ValueError, match="not a job"):
        starting.start(place.root, job, workshop.ENVIRON)

    assert not place.folder(job.agent_id).exists(folder.JOB)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"agent_id": "another"}', "x" * 5_000_000])
def test_a_wrapper_runs_nothing_of_a_job_that_it_cannot_read(place: Workshop, content: str) -> None:
    job = place.job(shell("work", "echo ran >> ran"))
    made = place.prepare(job)
    Path(made.path, folder.JOB).write_text(content)

    assert workshop.wrapper(made).wait() == 1

    assert place.look(job.agent_id).state == "gone"
    assert not (place.desk / "ran").exists()


# The report


class Grudging(folder.Folder):
    """One that finds no room a few times."""

    refusals = 3

    def write(self, name: str, data: bytes, *, replace: bool = True) -> None:
        self.refusals -= 1
        if self.refusals >= 0:
            raise errors.DiskFull
        super().write(name, data, replace=replace)


def test_a_report_is_written_as_soon_as_there_is_room(
    place: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrapper, "RETRY_SECONDS", 0.001)
    made = Grudging(place.root, "agent")
    made.make()
    report = model.Report((), "2026-01-01T00:00:00.000Z", False)

    wrapper.keep_report(made, report, _Patience())

    assert made.refusals == -1
    assert made.report() == report


class _Patience(groups.Bell):
    """It waits, but leaves the signals of the tests alone."""

    def __init__(self) -> None:
        self._heard = os.pipe()[0]


def test_a_wrapper_whose_directory_has_gone_gives_up(tmp_path: Path) -> None:
    made = folder.Folder(files.Root(str(tmp_path)), "agent")

    with pytest.raises(errors.NotFound):
        wrapper.keep_report(made, model.Report((), "2026-01-01T00:00:00.000Z", False), _Patience())


# How it starts


def test_a_wrapper_imports_little() -> None:
    asks = "import json, sys, tether.coordinator.jobs.wrapper; print(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", asks], capture_output=True, text=True, check=True
    )

    loaded = json.loads(done.stdout)
    rooms = {name.split(".")[1] for name in loaded if name.startswith("tether.")}
    assert rooms == {"clock", "coordinator", "errors", "files", "hints", "host", "ids"}
    assert not {"subprocess", "typing", "asyncio", "ctypes", "threading"} & set(loaded)
