"""What a job is at every moment of its life, and giving one up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parts import need
from tests.unit.coordinator.jobs import workshop
from tests.unit.coordinator.jobs.workshop import LINUX, Workshop, shell, until
from tether import errors, files, host
from tether.coordinator.jobs import folder, looking, model, records, starting

WAITS = shell("waits", "echo $$ > up; while [ ! -e go ]; do sleep 0.01; done")
REPORT = model.Report((), "2026-01-01T00:00:00.000Z", False)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workshop]:
    with workshop.opened(tmp_path) as made:
        yield made


# Every state


def test_a_job_that_nobody_has_written_down_may_still_start(place: Workshop) -> None:
    assert place.look("agent") == model.Look("starting")
    assert not os.path.exists(f"{place.root.path}/agents")


def test_a_job_goes_through_its_states(place: Workshop) -> None:
    job = place.job(WAITS)
    place.prepare(job)
    assert place.look(job.agent_id) == model.Look("starting")

    process = workshop.wrapper(place.folder(job.agent_id))
    running = place.until(job.agent_id, "running")
    assert running == model.Look("running", None, host.identify(process.pid))

    (place.desk / "go").touch()
    ended = place.until(job.agent_id, "ended")
    assert ended.report is not None
    assert ended.report.is_success
    assert ended.process == running.process
    assert process.wait() == 0
    assert place.look(job.agent_id) == ended


def test_a_wrapper_that_has_not_said_who_it_is_is_starting(place: Workshop) -> None:
    made = place.prepare(place.job(WAITS))

    with files.Lock(made.lock_path, "test"):
        assert place.look(made.agent_id) == model.Look("starting")
    assert place.look(made.agent_id) == model.Look("starting")


def test_a_killed_wrapper_leaves_its_job_gone(place: Workshop) -> None:
    made = place.start(place.job(WAITS))
    place.read("up")
    running = place.look(made.agent_id)

    workshop.kill_wrapper(running)

    assert place.until(made.agent_id, "gone") == model.Look("gone", None, running.process)


def test_a_zombie_does_not_look_alive(place: Workshop) -> None:
    made = place.prepare(place.job(WAITS))
    process = workshop.wrapper(made)
    workshop.kill_wrapper(place.until(made.agent_id, "running"))

    place.until(made.agent_id, "gone")

    # The kernel lets go of the lock a moment before it is a zombie.
    workshop.until(lambda: host.identify(process.pid) is None)
    process.wait()


def test_a_job_is_the_same_however_its_root_is_called(place: Workshop, tmp_path: Path) -> None:
    made = place.start(place.job(shell("work", "true")))
    place.until(made.agent_id, "ended")
    (tmp_path / "link").symlink_to(place.root.path)

    elsewhere = folder.Folder(files.Root(str(tmp_path / "link")), made.agent_id)

    assert elsewhere.variables == made.variables
    assert elsewhere.report() == made.report()


@pytest.mark.parametrize("agent_id", ["", ".", "..", "a/b", "-x", "a\n", "con", "a" * 129])
def test_an_id_cannot_leave_the_directory(place: Workshop, agent_id: str) -> None:
    for act in (looking.look, looking.abandon):
        with pytest.raises(errors.InvalidId):
            act(place.root, agent_id)


# Those who look


def test_those_who_look_do_not_see_each_other(place: Workshop) -> None:
    made = place.prepare(place.job(WAITS))
    with made.sharing_lock(creates=True) as first, made.sharing_lock() as second:
        assert (first, second) == (True, True)
        assert place.look(made.agent_id).state == "starting"
        assert looking.abandon(place.root, made.agent_id).state == "gone"


def test_a_wrapper_waits_for_those_who_look(place: Workshop) -> None:
    need(LINUX, "/proc, which only Linux has")
    made = place.prepare(place.job(shell("work", "true")))
    with made.sharing_lock(creates=True):
        process = workshop.wrapper(made)
        # It waits in a thread of its own.
        until(lambda: len(os.listdir(f"/proc/{process.pid}/task")) == 2)
        assert place.look(made.agent_id).state == "starting"

    assert process.wait() == 0
    assert place.report(made.agent_id).is_success


def test_a_look_leaves_no_descriptor_open(place: Workshop) -> None:
    need(LINUX, "/proc, which only Linux has")
    made = place.prepare(place.job(WAITS))
    looking.abandon(place.root, made.agent_id)
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(5):
        place.look(made.agent_id)
        place.look("nobody")
        looking.abandon(place.root, made.agent_id)

    assert len(os.listdir("/proc/self/fd")) == before


# Giving up


def test_a_job_given_up_before_its_start_never_runs(place: Workshop) -> None:
    job = place.job(shell("work", "echo ran > ran"))
    made = place.prepare(job)

    assert looking.abandon(place.root, job.agent_id) == model.Look("gone")
    assert workshop.wrapper(made).wait() == 0

    assert place.look(job.agent_id) == model.Look("gone")
    assert not (place.desk / "ran").exists()
    assert not made.exists(folder.START)


def test_a_job_given_up_before_it_is_written_down_never_runs(place: Workshop) -> None:
    job = place.job(shell("work", "echo ran > ran"))
    assert looking.abandon(place.root, job.agent_id).state == "gone"

    place.start(job)
    until(lambda: starting.reap() == 0)

    assert place.look(job.agent_id).state == "gone"
    assert not (place.desk / "ran").exists()


def test_giving_up_twice_is_as_good_as_once(place: Workshop) -> None:
    made = place.prepare(place.job(WAITS))

    first, second = (looking.abandon(place.root, made.agent_id) for _ in range(2))

    assert first == second == model.Look("gone")


def test_a_job_that_runs_is_not_given_up(place: Workshop) -> None:
    made = place.start(place.job(WAITS))
    place.read("up")

    assert looking.abandon(place.root, made.agent_id).state == "running"

    assert not made.exists(folder.ABANDONED)
    (place.desk / "go").touch()
    assert place.report(made.agent_id).is_success


def test_a_job_that_has_ended_stays_ended(place: Workshop) -> None:
    place.run(shell("work", "true"))
    made = place.folder(place.agents[-1])

    assert looking.abandon(place.root, made.agent_id).state == "ended"

    assert not made.exists(folder.ABANDONED)


# Files that are not ours

HOSTILE = (b"", b"{", b"[]", b"\xff\xfe\0", b'{"agent_id": 1}', b"[" * 100_000, b"x" * 5_000_000)


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_a_report_that_is_not_one_does_not_count(place: Workshop, content: bytes) -> None:
    made = place.prepare(place.job(WAITS))
    Path(made.path, folder.EXIT).write_bytes(content)
    assert place.look(made.agent_id).state == "starting"

    Path(made.path, folder.START).write_bytes(content)
    with files.Lock(made.lock_path, "test"):
        assert place.look(made.agent_id) == model.Look("running")
    assert place.look(made.agent_id) == model.Look("gone")
    assert looking.abandon(place.root, made.agent_id) == model.Look("gone")


@pytest.mark.parametrize("name", [folder.EXIT, folder.START])
def test_what_is_no_file_at_all_does_not_count(place: Workshop, name: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    made = place.prepare(place.job(WAITS))
    whole.write_bytes(records.encode_report(made.agent_id, REPORT))
    looking.abandon(place.root, made.agent_id)
    path = Path(made.path, name)

    path.mkdir()
    assert place.look(made.agent_id) == model.Look("gone")
    path.rmdir()
    path.symlink_to(whole)
    assert place.look(made.agent_id) == model.Look("gone")
    path.unlink()
    os.mkfifo(path)
    assert place.look(made.agent_id) == model.Look("gone")


def test_a_report_of_another_job_does_not_count(place: Workshop) -> None:
    made = place.prepare(place.job(WAITS))
    looking.abandon(place.root, made.agent_id)

    made.write(folder.EXIT, records.encode_report("another", REPORT))
    assert place.look(made.agent_id).state == "gone"

    made.write(folder.EXIT, records.encode_report(made.agent_id, REPORT))
    assert place.look(made.agent_id).state == "ended"


def test_a_marker_of_any_kind_keeps_a_job_from_starting(place: Workshop) -> None:
    made = place.prepare(place.job(shell("work", "echo ran > ran")))
    Path(made.path, folder.ABANDONED).symlink_to("/nowhere")

    assert workshop.wrapper(made).wait() == 0

    assert not (place.desk / "ran").exists()


def test_a_report_that_may_not_be_read_is_an_error_and_not_an_absence(place: Workshop) -> None:
    need(os.geteuid() == 0, "root, to become another user")
    made = place.prepare(place.job(WAITS))
    made.write(folder.EXIT, records.encode_report(made.agent_id, REPORT))
    for path, mode in ((made.path, 0o755), (f"{made.path}/{folder.EXIT}", 0o600)):
        os.chmod(path, mode)
    for above in list(Path(made.path).parents)[:-2]:
        above.chmod(above.stat().st_mode | 0o055)

    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setuid(65534)
            place.look(made.agent_id)
        except errors.FileError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
