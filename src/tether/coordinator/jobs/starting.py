"""Starts jobs in processes that outlive this one."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from tether import errors, files, host
from tether.coordinator.jobs import folder as folders
from tether.coordinator.jobs import model, records

_WRAPPER = ("-I", "-m", "tether.coordinator.jobs.wrapper")
# Those that this process has started and not yet reaped. It need not remember them for any other
# reason: after its death its successor knows as much.
_children: list[subprocess.Popen[Any]] = []


def start(root: files.Root, job: model.Job, environ: Mapping[str, str]) -> host.Process | None:
    """Write a job down and start its wrapper; AlreadyThere if its id was ever used.

    None if the wrapper cannot be seen (any more). Where this fails, nothing has begun; whether
    something did when this process was killed inside is what `looking` finds out.
    """
    folder = folders.Folder(root, job.agent_id)
    folder.make()
    folder.write(folders.JOB, records.encode_job(job), replace=False)
    child = _spawn(folder, job, {**environ, **folder.variables})
    reap()
    _children.append(child)
    return host.identify(child.pid)


def reap() -> int:
    """Let go of the wrappers of this process that have ended, and count those that have not."""
    _children[:] = [child for child in _children if child.poll() is None]
    return len(_children)


def _spawn(
    folder: folders.Folder, job: model.Job, environ: dict[str, str]
) -> subprocess.Popen[Any]:
    log = folder.open_log(folders.WRAPPER_LOG)
    try:
        # In a session of its own, so that neither a terminal nor the end of ours concerns it.
        return subprocess.Popen(
            [sys.executable, *_WRAPPER, folder.path],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=job.directory if os.path.isdir(job.directory) else folder.path,
            env=environ,
            start_new_session=True,
        )
    except OSError as problem:
        reason = errno.errorcode.get(problem.errno or 0, "unknown")
        raise errors.TetherError(
            f"The process for {folder.agent_id} could not be started ({reason}). It did no work."
        ) from problem
    finally:
        os.close(log)
