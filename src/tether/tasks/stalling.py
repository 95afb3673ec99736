"""What has been in progress for too long, and the log that people read about it."""

from __future__ import annotations

from collections.abc import Iterable

from tether import clock, errors, text
from tether.tasks import model, states, workdir

LOG_NAME = "WORKFLOW_LOG.md"
_MAX_LOG_BYTES = 4 * 1024 * 1024


def is_stalled(task: model.Task, now: str, stalled_ms: int) -> bool:
    """In progress for longer than it may: until its own `timeout_at`, or for so long."""
    if task.state != states.IN_PROGRESS or task.problem:
        return False
    if task.timeout_at:
        return now > task.timeout_at
    began = task.started_at or task.assigned_at or task.created_at
    return bool(began) and clock.parse(now) - clock.parse(began) > stalled_ms


def stalled(tasks: Iterable[model.Task], now: str, stalled_ms: int) -> list[model.Task]:
    """Those that are stalled, the longest first."""
    found = [task for task in tasks if is_stalled(task, now, stalled_ms)]
    return sorted(found, key=lambda task: task.started_at or task.assigned_at)


def log(work: workdir.Workdir, path: str, tasks: Iterable[model.Task], now: str) -> list[str]:
    """Add a line for each to the log, once for each start; the lines that are new."""
    path = path or f"{work.root}/{LOG_NAME}"
    if not path.endswith((".md", ".txt")):
        # The setting comes with the repository; it must not make us write into a program.
        raise errors.ConfigError("tasks.log must be a .md or .txt file. Nothing was written.")
    try:
        known = work.files.read_bytes(path, _MAX_LOG_BYTES).decode("utf-8", "replace")
    except errors.NotFound:
        known = ""
    except errors.FileTooLarge:
        # Then it may be said twice; a log that nobody reads to the end does not mind.
        known = ""
    lines = []
    for task in tasks:
        message = _message(task)
        if message not in known:
            line = f"**{now[:10]} {now[11:19]} UTC** - {message}"
            work.files.append(path, f"{line}\n".encode())
            lines.append(line)
    return lines


def _message(task: model.Task) -> str:
    since = task.started_at or task.assigned_at or task.created_at
    due = f", due {task.timeout_at}" if task.timeout_at else ""
    owner = text.one_line(task.owner, 64) or "nobody"
    return f"{task.id} is stalled: in progress with {owner} since {since}{due}"
