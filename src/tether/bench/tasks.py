"""What tasks cost: every command of the lifecycle, as a whole process, where there are many tasks.

Before each run of a command the floor of start-up is run, `python -I -S -c "import sqlite3, json"`,
so that a busy machine slows both alike; the ratio is of medians. Looking is measured once every
file has been at rest and the index is settled, moving on tasks that nothing has touched before.
Other task lists are measured beside it, if their commands are here, each in a repository of its own
with as many tasks; what goes wrong there is told, not raised.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tether import clock, demo, errors, index, text
from tether.bench import startup
from tether.records import NamedTuple
from tether.tasks import document, states, workdir

NOT_INSTALLED = "not installed"
_FLOOR = (sys.executable, "-I", "-S", "-c", "import sqlite3, json")
_AGENT = {"TETHER_SESSION": "bench", "TETHER_AGENT": "bench"}
# With a name, so that git need not be asked for one.
_PERSON = {"TETHER_AGENT": "grace"}
_DAY_MS = 86_400_000
_SETTLE_SECONDS = 60.0
_WAIT_SECONDS = 900.0
_WAIT_FOR_OTHERS_SECONDS = 60.0
_ROUNDS_OF_OTHERS = 5
_TASKS_OF_A_ROUND = 3


class Failed(Exception):
    """A command did not do what it was measured for."""


class Pair(NamedTuple):
    """One run, and the run of the floor before it."""

    floor: startup.Cost
    own: startup.Cost


class Step(NamedTuple):
    """One command to measure."""

    name: str
    words: tuple[str, ...]
    who: Mapping[str, str]


class Ground(NamedTuple):
    """Where commands are run."""

    place: str
    environ: Mapping[str, str]
    wait_seconds: float = _WAIT_SECONDS


def measure(counts: Iterable[int], rounds: int, *, all_open: bool = False) -> dict[str, Any]:
    """The ratios for repositories with so many tasks, with the times that they come from."""
    wanted = list(dict.fromkeys(counts))
    for count in wanted:
        _require_enough(count, rounds, all_open=all_open)
    return {
        "rounds": rounds,
        "floor": "python -I -S -c 'import sqlite3, json'",
        "all_open": all_open,
        "sizes": [_measured(count, rounds, all_open=all_open) for count in wanted],
    }


def _measured(count: int, rounds: int, *, all_open: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        environ = _environ(directory)
        own = Ground(os.path.join(directory, "tether"), environ)
        tasks = Sample(count, all_open=all_open)
        demo.make_repository(own.place)
        _tether(own, "init", "--yes")
        tasks.write(own.place)
        cold = {name: _cold(own, words) for name, words in _LISTS.items()}
        _tether(own, "beat", who=_AGENT)
        _settle(own)
        untouched = tasks.untouched
        pairs = _alternate(own, rounds, lambda _: _looking(untouched[0]))
        pairs |= _alternate(own, rounds, lambda number: _moving(untouched, number))
        return {
            "tasks": count,
            "open": sum(tasks.state(number) in states.OPEN for number in range(count)),
            "cold_index_seconds": cold,
            "commands": _summary(pairs),
            "others": {
                other.command: _measured_other(other, tasks, rounds, directory, environ)
                for other in OTHERS
            },
        }


def _environ(directory: str) -> dict[str, str]:
    """As in the shell of a user whose home is empty: no settings, and no agent around."""
    home = os.path.join(directory, "home")
    os.mkdir(home)
    kept = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, "HOME": home}


# The tasks


class Sample:
    """Tasks as a repository has them after a year: the same ones for the same count."""

    def __init__(self, count: int, *, all_open: bool) -> None:
        self.count = count
        self.all_open = all_open
        self._now_ms = clock.parse(clock.now_text(clock.SystemClock()))

    def state(self, number: int) -> str:
        """Three in ten are open, most of them new; half of all are archived."""
        part = 0 if self.all_open else number % 100
        for limit, state in _MIX:
            if part < limit:
                return state
        return states.ARCHIVED

    def task_id(self, number: int) -> str:
        return f"T20260101-{number:06d}"

    def title(self, number: int) -> str:
        doing = ("Show", "Test", "Write down", "Speed up", "Repair", "Remove", "Translate")
        things = ("the thermometer", "a frost alarm", "the daily report", "old readings", "the map")
        return f"{doing[number % len(doing)]} {things[number % len(things)]} of station {number}"

    def depends_on(self, number: int) -> list[str]:
        """One in eight open ones depends on another; every second of these is done by now."""
        if number % 8 != 5 or self.state(number) not in states.OPEN:
            return []
        needed = number - 1 if number % 16 == 5 else number - number % 100 + 60
        return [self.task_id(needed)] if needed < self.count else []

    @property
    def untouched(self) -> list[str]:
        """New tasks that wait for nothing, in the inbox."""
        return [
            self.task_id(number)
            for number in range(self.count)
            if self.state(number) == states.NEW and not self.depends_on(number)
        ]

    def write(self, place: str) -> None:
        """Put the files where their states belong."""
        work = workdir.Workdir(place)
        work.prepare()
        made = set()
        for number in range(self.count):
            fields = self._fields(number)
            home, folder = self._home(number, fields)
            if (home, folder) not in made:
                work.make_place(home, folder)
                made.add((home, folder))
            path = work.path_of(self.task_id(number), home, folder)
            _write(os.path.join(place, path), document.compose(fields))

    def _home(self, number: int, fields: Mapping[str, Any]) -> tuple[str, str]:
        state = self.state(number)
        if state == states.ARCHIVED:
            return states.ARCHIVE, fields["completed_at"][:7]
        home = states.HOME[state]
        return home, fields["agent"] if home == states.ASSIGNED else ""

    def _fields(self, number: int) -> dict[str, Any]:
        state = self.state(number)
        days = 31 + number % 330 if state == states.ARCHIVED else number % 29
        ended = self._ago(days)
        fields: dict[str, Any] = {
            "id": self.task_id(number),
            "title": self.title(number),
            "agent": "" if state == states.NEW else f"agent-{number % 8}",
            "status": states.DONE if state == states.ARCHIVED else state,
            "priority": ("normal", "high", "low", "normal", "critical")[number % 5],
            "created_at": self._ago(days + 3 + number % 40),
            "created_by": "grace",
            "depends_on": self.depends_on(number),
            "artefacts": [f"src/station_{number % 90}.py", f"docs/station_{number % 90}.md"],
            "description": "Readings come in twice when the line is bad.\n"
            f"Station {number} shows it best: see the log of its first day.\n",
            "acceptance": ["each reading is there once", "a test shows it"],
        }
        if state != states.NEW:
            fields["assigned_at"] = self._ago(days + 2)
        if state not in (states.NEW, states.ASSIGNED):
            fields["started_at"] = self._ago(days + 1)
        if state == states.IN_PROGRESS:
            # Not stalled, else `list` would say little else.
            fields["timeout_at"] = self._ago(-30)
        if state in (states.DONE, states.ARCHIVED):
            made = fields["artefacts"]
            result = {"summary": "Done as planned.", "artefacts": made, "completed_at": ended}
            fields |= {"completed_at": ended, "result": result}
        if state == states.ERROR:
            fields["error"] = {
                "message": "The line was down.",
                "timestamp": ended,
                "agent": fields["agent"],
                "retry_count": 0,
            }
        return fields

    def _ago(self, days: int) -> str:
        return clock.text(self._now_ms - days * _DAY_MS)


_MIX = (
    (24, states.NEW),
    (27, states.ASSIGNED),
    (29, states.IN_PROGRESS),
    (30, states.ERROR),
    (50, states.DONE),
)


def _write(path: str, content: bytes) -> None:
    # A sample need not survive a crash, so nothing is synced.
    with open(path, "wb") as file:
        file.write(content)


def _require_enough(count: int, rounds: int, *, all_open: bool) -> None:
    """Every round moves tasks that no other has touched."""
    if len(Sample(count, all_open=all_open).untouched) < _TASKS_OF_A_ROUND * (rounds + 1):
        raise errors.UsageError(
            f"{count} tasks are too few for {rounds} rounds. Nothing was measured.",
            hint="Ask for more tasks, or for fewer rounds.",
        )


# The commands

_LISTS = {"task list": ("task", "list"), "task list --all": ("task", "list", "--all")}


def _looking(task_id: str) -> list[Step]:
    return [
        Step("task show", ("task", "show", task_id), _AGENT),
        *(Step(name, words, _AGENT) for name, words in _LISTS.items()),
        Step("next", ("next",), _AGENT),
    ]


def _moving(untouched: list[str], number: int) -> list[Step]:
    """Every transition once, in an order that makes each legal."""
    start = number * _TASKS_OF_A_ROUND
    first, second, third = untouched[start : start + _TASKS_OF_A_ROUND]
    return [
        Step("task new", ("task", "new", f"Round {number}"), _AGENT),
        Step("task new --id", ("task", "new", "Named", "--id", f"round-{number}"), _AGENT),
        Step("task assign", ("task", "assign", first, _AGENT["TETHER_AGENT"]), _PERSON),
        Step("task start", ("task", "start", first), _AGENT),
        Step("finish", ("finish", first, "--summary", "Done."), _AGENT),
        Step("task archive", ("task", "archive", first), _PERSON),
        Step("task reopen", ("task", "reopen", first), _PERSON),
        Step("claim", ("claim", second), _AGENT),
        Step("task extend", ("task", "extend", second), _PERSON),
        Step("fail", ("fail", second, "--message", "The line was down."), _AGENT),
        Step("task retry", ("task", "retry", second), _PERSON),
        Step("task return", ("task", "return", second), _AGENT),
        Step("task cancel", ("task", "cancel", second, "--why", "Not wanted."), _PERSON),
        Step("task complete", ("task", "complete", third, "--summary", "It is there."), _PERSON),
        # The files of this round have just changed, so the index cannot vouch for them yet.
        Step("task list, after these", ("task", "list"), _AGENT),
    ]


def _tether(ground: Ground, *words: str, who: Mapping[str, str] = _PERSON) -> startup.Cost:
    """The console script if it is installed beside the interpreter, as users start it."""
    script = os.path.join(os.path.dirname(sys.executable), "tether")
    command = [script] if os.path.exists(script) else [sys.executable, "-m", "tether"]
    try:
        return _run(ground._replace(environ={**ground.environ, **who}), [*command, *words])
    except Failed as problem:
        raise Failed(f"`tether {' '.join(words)}`: {problem}") from None


def _cold(ground: Ground, words: tuple[str, ...]) -> float:
    """Seconds of a listing that makes the index first."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(_index_path(ground))
    return round(_tether(ground, *words).wall / 1000, 2)


def _settle(ground: Ground) -> None:
    """Wait until a listing leaves the index as it is: then all files have been at rest."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    before = ""
    while time.monotonic() < deadline:
        _tether(ground, *_LISTS["task list --all"])
        after = index.stamp(os.stat(_index_path(ground)))
        if after == before:
            return
        before = after
    raise Failed("The index does not settle: every listing writes to it.")


def _index_path(ground: Ground) -> str:
    return os.path.join(ground.place, ".git", "tether", index.FILE_NAME)


def _alternate(
    ground: Ground, rounds: int, steps: Callable[[int], list[Step]]
) -> dict[str, list[Pair]]:
    pairs: dict[str, list[Pair]] = {}
    for number in range(rounds + 1):
        for step in steps(number):
            floor = _run(ground, _FLOOR)
            pair = Pair(floor, _tether(ground, *step.words, who=step.who))
            if number:  # the first round warms the caches
                pairs.setdefault(step.name, []).append(pair)
    return pairs


def _run(ground: Ground, words: Iterable[str]) -> startup.Cost:
    """One process from start to end. Whoever does not end well has failed."""
    with tempfile.TemporaryFile() as said:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        process = subprocess.Popen(
            list(words),
            cwd=ground.place,
            env=ground.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
        # A wait with a limit looks every now and then only, which would be measured too.
        limit = threading.Timer(ground.wait_seconds, _end, [process])
        limit.start()
        try:
            code = process.wait()
        finally:
            limit.cancel()
            _end(process)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if wall > ground.wait_seconds:
            raise Failed(f"took more than {ground.wait_seconds:.0f} s")
        if code:
            said.seek(0)
            why = text.one_line(said.read(2000).decode("utf-8", "replace"), 200)
            raise Failed(f"exit code {code}: {why or 'without a word'}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return startup.Cost(cpu * 1000, wall * 1000)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what still runs, with what it has started: it must not outlive its directory."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


# Other task lists


class Other(NamedTuple):
    """Another program that keeps tasks with the code."""

    command: str
    fill: Callable[[Sample, str], None]
    """Write tasks where they are read from."""
    before: tuple[tuple[str, ...], ...]
    """What must be called once."""
    commands: tuple[tuple[str, ...], ...]


def _fill_bd(tasks: Sample, place: str) -> None:
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
    _write(os.path.join(place, "tasks.jsonl"), "\n".join([*lines, ""]).encode())


def _fill_backlog(tasks: Sample, place: str) -> None:
    directory = os.path.join(place, "backlog", "tasks")
    os.makedirs(directory)
    settings = (
        'project_name: "bench"\ndefault_status: "To Do"\n'
        'statuses: ["To Do", "In Progress", "Done"]\nremote_operations: false\n'
    )
    _write(os.path.join(place, "backlog", "config.yml"), settings.encode())
    for number, is_open in _each(tasks):
        name = f"task-{number + 1}"
        fields = (
            f"id: {name}\ntitle: {tasks.title(number)}\nstatus: {'To Do' if is_open else 'Done'}\n"
            "assignee: []\ncreated_date: '2026-01-01'\nlabels: []\ndependencies: []\n"
        )
        body = "## Description\n\nReadings come in twice when the line is bad.\n"
        path = os.path.join(directory, f"{name} - {tasks.title(number).replace(' ', '-')}.md")
        _write(path, f"---\n{fields}---\n\n{body}".encode())


def _fill_tk(tasks: Sample, place: str) -> None:
    directory = os.path.join(place, ".tickets")
    os.makedirs(directory)
    for number, is_open in _each(tasks):
        name = f"bench-{number + 1}"
        fields = (
            f"id: {name}\nstatus: {'open' if is_open else 'closed'}\ndeps: []\nlinks: []\n"
            f"created: 2026-01-01T00:00:00Z\ntype: task\npriority: {number % 5}\n"
        )
        body = f"# {tasks.title(number)}\n\nReadings come in twice when the line is bad.\n"
        _write(os.path.join(directory, f"{name}.md"), f"---\n{fields}---\n{body}".encode())


def _each(tasks: Sample) -> Iterator[tuple[int, bool]]:
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


def _measured_other(
    other: Other, tasks: Sample, rounds: int, directory: str, environ: Mapping[str, str]
) -> str | dict[str, Any]:
    program = shutil.which(other.command, path=environ.get("PATH"))
    if program is None:
        return NOT_INSTALLED
    place = os.path.join(directory, other.command)
    ground = Ground(place, {**environ, **_FOR_OTHERS}, _WAIT_FOR_OTHERS_SECONDS)
    patient = ground._replace(wait_seconds=_WAIT_SECONDS)
    try:
        demo.make_repository(place)
        other.fill(tasks, place)
        for words in other.before:
            _run(patient, (program, *words))
    except (Failed, OSError) as problem:
        return {"error": text.one_line(f"cannot be set up: {problem}", 200)}
    found: dict[str, Any] = {}
    for words in other.commands:
        name = " ".join((other.command, *words))
        try:
            pairs = [
                Pair(_run(ground, _FLOOR), _run(ground, (program, *words)))
                for _ in range(min(rounds, _ROUNDS_OF_OTHERS) + 1)
            ]
        except (Failed, OSError) as problem:
            found[name] = {"error": text.one_line(str(problem), 200)}
        else:
            found[name] = _told(pairs[1:])
    return found


# Telling


def _summary(pairs: Mapping[str, list[Pair]]) -> dict[str, Any]:
    floors = [pair.floor for each in pairs.values() for pair in each]
    floor = [Pair(cost, cost) for cost in floors]
    return {name: _told(each) for name, each in {"floor": floor, **pairs}.items()}


def _told(pairs: list[Pair]) -> dict[str, float]:
    floor = _medians(pair.floor for pair in pairs)
    own = _medians(pair.own for pair in pairs)
    return {
        "cpu_ratio": round(own.cpu / floor.cpu, 2),
        "wall_ratio": round(own.wall / floor.wall, 2),
        "cpu_ms": round(own.cpu, 1),
        "wall_ms": round(own.wall, 1),
    }


def _medians(costs: Iterable[startup.Cost]) -> startup.Cost:
    cpu, wall = zip(*costs, strict=True)
    return startup.Cost(statistics.median(cpu), statistics.median(wall))
