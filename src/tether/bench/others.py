"""Other programs that keep tasks with the code, measured side by side if they are installed.

Each in a repository of its own with as many tasks; what goes wrong there is told, not raised.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping

from tether import demo, text
from tether.bench import processes, sample
from tether.hints import Any, NamedTuple
from tether.tasks import states

NOT_INSTALLED = "not installed"
_WAIT_SECONDS = 60.0
_ROUNDS = 5


class Other(NamedTuple):
    """Another program that keeps tasks with the code."""

    command: str
    fill: Callable[[sample.Sample, str], None]
    """Write tasks where they are read from."""
    before: tuple[tuple[str, ...], ...]
    """What must be called once."""
    commands: tuple[tuple[str, ...], ...]


def _fill_bd(tasks: sample.Sample, place: str) -> None:
    """Lines for its import."""
    lines = []
    for number, is_open in _each(tasks):
        at = f"2026-01-01T{number % 24:02d}:00:00Z"
        issue = {
            "id": f"bench-{number + 1}",
            "title": tasks.title(number),
            "description": "Readings come in twice when the line is bad.",
            "status": "open" if is_open else "closed",
            "priority": number % 5,
            "issue_type": "task",
            "created_at": at,
            "updated_at": at,
        }
        lines.append(json.dumps(issue if is_open else {**issue, "closed_at": at}))
    sample.write(os.path.join(place, "tasks.jsonl"), "\n".join([*lines, ""]).encode())


def _fill_backlog(tasks: sample.Sample, place: str) -> None:
    directory = os.path.join(place, "backlog", "tasks")
    os.makedirs(directory)
    settings = (
        'project_name: "bench"\ndefault_status: "To Do"\n'
        'statuses: ["To Do", "In Progress", "Done"]\nremote_operations: false\n'
    )
    sample.write(os.path.join(place, "backlog", "config.yml"), settings.encode())
    for number, is_open in _each(tasks):
        name = f"task-{number + 1}"
        fields = (
            f"id: {name}\ntitle: {tasks.title(number)}\nstatus: {'To Do' if is_open else 'Done'}\n"
            "assignee: []\ncreated_date: '2026-01-01'\nlabels: []\ndependencies: []\n"
        )
        body = "## Description\n\nReadings come in twice when the line is bad.\n"
        path = os.path.join(directory, f"{name} - {tasks.title(number).replace(' ', '-')}.md")
        sample.write(path, f"---\n{fields}---\n\n{body}".encode())


def _fill_tk(tasks: sample.Sample, place: str) -> None:
    directory = os.path.join(place, ".tickets")
    os.makedirs(directory)
    for number, is_open in _each(tasks):
        name = f"bench-{number + 1}"
        fields = (
            f"id: {name}\nstatus: {'open' if is_open else 'closed'}\ndeps: []\nlinks: []\n"
            f"created: 2026-01-01T00:00:00Z\ntype: task\npriority: {number % 5}\n"
        )
        body = f"# {tasks.title(number)}\n\nReadings come in twice when the line is bad.\n"
        sample.write(os.path.join(directory, f"{name}.md"), f"---\n{fields}---\n{body}".encode())


def _each(tasks: sample.Sample) -> Iterator[tuple[int, bool]]:
    for number in range(tasks.count):
        yield number, tasks.state(number) in states.OPEN


OTHERS = (
    Other(
        "bd",
        _fill_bd,
        (("init", "--quiet", "--prefix", "bench"), ("import", "-i", "tasks.jsonl")),
        (("list",), ("ready",), ("show", "bench-1")),
    ),
    Other("backlog", _fill_backlog, (), (("task", "list", "--plain"),)),
    Other("tk", _fill_tk, (), (("ls",), ("ready",), ("show", "bench-1"))),
)
_FOR_OTHERS = {
    # None of them may ask a person, nor leave a daemon behind.
    "BD_NON_INTERACTIVE": "1",
    "BEADS_NO_DAEMON": "1",
    "BEADS_AUTO_START_DAEMON": "false",
    "GIT_AUTHOR_NAME": "Grace",
    "GIT_AUTHOR_EMAIL": "grace@example.com",
    "GIT_COMMITTER_NAME": "Grace",
    "GIT_COMMITTER_EMAIL": "grace@example.com",
}


def measured(
    other: Other, tasks: sample.Sample, rounds: int, directory: str, environ: Mapping[str, str]
) -> str | dict[str, Any]:
    program = shutil.which(other.command, path=environ.get("PATH"))
    if program is None:
        return NOT_INSTALLED
    place = os.path.join(directory, other.command)
    ground = processes.Ground(place, {**environ, **_FOR_OTHERS}, _WAIT_SECONDS)
    patient = ground._replace(wait_seconds=processes.WAIT_SECONDS)
    try:
        demo.make_repository(place)
        other.fill(tasks, place)
        for words in other.before:
            processes.run(patient, (program, *words))
    except (processes.Failed, OSError) as problem:
        return {"error": text.one_line(f"cannot be set up: {problem}", 200)}
    found: dict[str, Any] = {}
    for words in other.commands:
        name = " ".join((other.command, *words))
        try:
            pairs = [
                processes.Pair(
                    processes.run(ground, processes.FLOOR), processes.run(ground, (program, *words))
                )
                for _ in range(min(rounds, _ROUNDS) + 1)
            ]
        except (processes.Failed, OSError) as problem:
            found[name] = {"error": text.one_line(str(problem), 200)}
        else:
            found[name] = processes.told(pairs[1:])
    return found
