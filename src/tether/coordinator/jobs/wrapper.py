"""The process that does one job: `python -m tether.coordinator.jobs.wrapper DIRECTORY`.

It runs the steps one after another, each in a process group of its own within this session, and
leaves a report. SIGTERM ends the running step and the job. When a step is over, so is its group:
what it has left there is asked to end and then killed, so that nothing of an ended job goes on
editing files. A background process that is meant to stay must leave the group (`setsid`), and lives
until somebody stops the job.

It imports little, because every job waits for that.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import sys
import time

from tether import clock, errors, files, host
from tether.coordinator.jobs import folder as folders
from tether.coordinator.jobs import groups, model, records
from tether.files import system

# Those who look have the lock for a moment only; but one of them may have been stopped in it.
LOCK_SECONDS = 30.0
RETRY_SECONDS = 1.0
# The system does not wait for ever at once.
_MAX_WAIT_SECONDS = 3600.0
# What a shell says of a command that cannot be run.
_CANNOT_START = 127


def main(directory: str) -> int:
    """Do the job of a directory, unless it was given up or done before."""
    bell = groups.Bell()
    folder = folders.Folder.at(directory)
    try:
        with files.Lock(folder.lock_path, "job", LOCK_SECONDS):
            if is_settled(folder):
                return 0
            _say_who(folder)
            return _do(folder, bell)
    except errors.TetherError as problem:
        sys.stderr.write(f"{problem.message}\n")
        return 1


def is_settled(folder: folders.Folder) -> bool:
    """Whether nothing may begin here any more."""
    names = (folders.ABANDONED, folders.START, folders.EXIT)
    return any(folder.exists(name) for name in names)


def _say_who(folder: folders.Folder) -> None:
    """Before anything runs: what has run and left no trace of that would be started again."""
    pid = os.getpid()
    # Where processes cannot be seen it has no start; it is then signalled by nobody.
    process = host.identify(pid) or host.Process(*host.here(), pid, 0)
    now = clock.now_text(clock.SystemClock())
    folder.write(folders.START, records.encode_start(folder.agent_id, process, now))


def _do(folder: folders.Folder, bell: groups.Bell) -> int:
    job = folder.job()
    if job is None:
        sys.stderr.write("The job could not be read. Nothing was run.\n")
        return 1
    os.environ.update({**job.environment, **folder.variables})
    log = folder.open_log(folders.OUTPUT)
    report = run_steps(job, log, bell)
    keep_report(folder, report, bell)
    return 0


def run_steps(job: model.Job, log: int, bell: groups.Bell) -> model.Report:
    """Run them until one fails that is needed, or somebody asks to stop."""
    results: list[model.StepResult] = []
    for number, step in enumerate(job.steps, start=1):
        if bell.is_stopping:
            break
        _note(log, f"{step.name} ({number} of {len(job.steps)})")
        result = _run_step(job, step, log, bell)
        _note(log, f"{step.name} ended: {_in_words(result)}")
        results.append(result)
        if not (result.is_success or step.goes_on):
            break
    return model.Report(tuple(results), clock.now_text(clock.SystemClock()), bell.is_stopping)


def _run_step(job: model.Job, step: model.Step, log: int, bell: groups.Bell) -> model.StepResult:
    began = time.monotonic()
    try:
        os.chdir(job.directory)
        group = groups.Group(step.argv, log, step.stdin)
    except OSError as problem:
        reason = errno.errorcode.get(problem.errno or 0, "unknown")
        _note(log, f"{step.name} could not be started ({reason})")
        return model.StepResult(step.name, _CANNOT_START, None, False, 0.0)
    timed_out = not _await(group, bell, began + (step.timeout_seconds or math.inf))
    code = os.waitstatus_to_exitcode(group.end(bell, job.grace_seconds))
    exit_code, number = (code, None) if code >= 0 else (None, -code)
    seconds = round(time.monotonic() - began, 3)
    return model.StepResult(step.name, exit_code, number, timed_out, seconds)


def _await(group: groups.Group, bell: groups.Bell, deadline: float) -> bool:
    """False if a deadline passes before the step ends or somebody asks to stop."""
    while not (group.has_leader_ended() or bell.is_stopping):
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        bell.wait(min(left, _MAX_WAIT_SECONDS))
    return True


def keep_report(folder: folders.Folder, report: model.Report, bell: groups.Bell) -> None:
    """Write the report, however long there is no room for it: the work is done and must count."""
    data = records.encode_report(folder.agent_id, report)
    while True:
        try:
            folder.write(folders.EXIT, data)
        except errors.NotFound:
            # The directory has gone, and with it whoever would have read it.
            raise
        except errors.TetherError:
            bell.wait(RETRY_SECONDS)
        else:
            return


def _in_words(result: model.StepResult) -> str:
    how = f"exit {result.exit_code}" if result.signal is None else f"signal {result.signal}"
    return f"{how} after {result.seconds:.1f} s" + (", too late" if result.timed_out else "")


def _note(log: int, text: str) -> None:
    """A line between the outputs of the steps, for people."""
    now = clock.now_text(clock.SystemClock())
    # A step may have ended in the middle of a line.
    start = "\n" if os.fstat(log).st_size else ""
    with contextlib.suppress(OSError):
        system.write_all(log, f"{start}=== {now} {text}\n".encode())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
