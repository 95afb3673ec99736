"""A repository with a run of many tasks and a long log, whose coordinator and agents are gone."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Iterator

from tether import clock, git, host, ids, workspace
from tether.agents import claims, lookout, registry
from tether.bench import run_story
from tether.coordinator import copies, options, runs
from tether.coordinator.plans import model, reading
from tether.git import importing
from tether.hints import NamedTuple
from tether.store import events, port, sql, sqlite

NAME = runs.RunId("stations")
EARLIER = runs.RunId("earlier")
BEHIND, FAR_BEHIND = 5, 1000
"""How many events the snapshots lack."""
_APART = 20
"""By how many events a snapshot is older than the one that replaced it."""
_EARLIER_TASKS, _EARLIER_EVENTS = 100, 1000
_LAYERS = 12
_DIRECTORIES = 100
_MISSING = "f" * 40
_WEEKS_MS = 60 * 86_400_000
_STORE = sql.Queries("store")
_INSERT = sql.Query(
    "bench.event",
    "One event of the past.",
    "INSERT INTO events (id, at, type, actor, session, source, task, run, data)"
    " VALUES (:id, :at, :type, :actor, :session, :source, :task, :run, :data)",
)


class Made(NamedTuple):
    """What there is to find."""

    orphans: frozenset[str]
    """The agents that were at work."""
    contradicted: str
    """The task that was completed with a commit that is not here."""
    completed: int
    store_events: int
    near: tuple[bytes, bytes]
    """The last snapshot and the one before it."""
    far: tuple[bytes, bytes]
    """The same, long ago."""


@contextlib.contextmanager
def opened(place: str, name: runs.RunId = NAME) -> Iterator[runs.Run]:
    """A run of a repository, before its state is looked for."""
    here = workspace.find(place)
    with contextlib.closing(sqlite.SqliteStore(here, wait_seconds=10)) as store:
        yield runs.Run(store, here, name)


def make(place: str, tasks: int, count: int) -> Made:
    """Put a run with so many tasks and events into a repository that has a store."""
    now_ms = clock.SystemClock().now_ms()
    with opened(place, EARLIER) as run:
        _write(run, _EARLIER_TASKS, _EARLIER_EVENTS, now_ms - _WEEKS_MS)
    with opened(place) as run:
        story = _write(run, tasks, count, now_ms)
        _hold(run, story)
        far = min(FAR_BEHIND, count // 2)
        saved = [story.snapshots[count - n] for n in _saved_behind(far)]
        return Made(
            frozenset(story.state.active_agents),
            next(iter(story.state.completed)),
            len(story.state.completed),
            events.newest_id(run.store),
            (saved[0], saved[1]),
            (saved[2], saved[3]),
        )


def _saved_behind(far: int) -> tuple[int, ...]:
    return (BEHIND, BEHIND + _APART, far, far + _APART)


def _write(run: runs.Run, tasks: int, count: int, end_ms: int) -> run_story.Story:
    run.make()
    options.save(run.root, options.Options(worker="true", slots=run_story.SLOTS))
    top = run.place.root or ""
    name = f"{run.name}.md"
    plans = [_plan(top, name, plan_text(tasks, edition)) for edition in (1, 2)]
    for each in plans:
        copies.keep(run.root, each)
    shas = [_MISSING, *_commit(top, run.name, tasks)]
    cast = run_story.Cast(run.name, (plans[0], plans[1]), shas)
    story = run_story.Story(cast, count, events.newest_id(run.store) + 1, end_ms)
    story.tell(_saved_behind(min(FAR_BEHIND, count // 2)))
    run.store.write("bench", lambda transaction: _append(transaction, story))
    run.root.write_atomic("state.json", story.snapshots[count - BEHIND])
    return story


def _append(transaction: port.Transaction, story: run_story.Story) -> None:
    transaction.many(_INSERT, story.rows)
    transaction.rows(_STORE.count_up, name="events", amount=len(story.rows))


def _hold(run: runs.Run, story: run_story.Story) -> None:
    """Those who were at work have sessions, and claims on their tasks."""
    spot = lookout.Lookout(host.here())

    def work(transaction: port.Transaction) -> None:
        for agent_id, agent in story.state.active_agents.items():
            session = registry.Session(ids.SessionId(agent_id), ids.AgentName(agent_id[:64]))
            entered = registry.enter(transaction, spot, session).agent
            claims.give(transaction, spot, entered, ids.TaskKey(run.name, agent.task_id))

    run.store.write("bench", work)


# The plan


def plan_text(tasks: int, edition: int = 1) -> str:
    """A plan in layers: a task waits for one to three of the layer before it."""
    rng = random.Random(f"plan {tasks}")  # noqa: S311 (chance that can be repeated)
    size = -(-tasks // _LAYERS)
    parts = ["# Stations\n"]
    for number in range(tasks):
        first = number - number % size - size
        wanted = sorted(rng.sample(range(size), rng.randint(1, min(3, size))))
        blockers = ", ".join(_task_id(first + each) for each in wanted) if first >= 0 else "none"
        is_last = number == tasks - 1
        parts.append(
            f"## Task {_task_id(number)}: Repair the report of station {number}\n"
            "Readings come in twice when the line is bad: keep the first one of each minute"
            f"{' of the day' if is_last and edition > 1 else ''}.\n"
            f"**Files**: {_path(number)}\n"
            "**Acceptance Criteria**:\n"
            f"- run: `test -s {_path(number)}`\n"
            "- Each reading is in the report once\n"
            f"**Blocked By**: {blockers}\n"
        )
    return "\n".join(parts)


def _task_id(number: int) -> str:
    return f"S{number:05d}"


def _path(number: int) -> str:
    return f"src/{number % _DIRECTORIES:02d}/station_{number}.py"


def _plan(top: str, name: str, content: str) -> model.Plan:
    """The plan as it is read, from a file that stays there."""
    with open(os.path.join(top, name), "w", encoding="utf-8") as file:
        file.write(content)
    plan, problems = reading.read(top, name)
    wrong = [each for each in reading.together(plan, problems, top) if each.is_error]
    if wrong:
        raise ValueError(f"line {wrong[0].line}: {wrong[0].message}")
    return plan


# What was made


def _commit(top: str, run: str, tasks: int) -> list[git.Oid]:
    """A commit for each task, and its file in the checkout."""
    for number in range(tasks):
        path = os.path.join(top, _path(number))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(_content(number))
    marks = importing.import_stream(top, _commits(run, tasks))
    return [marks[number + 1] for number in range(tasks)]


def _content(number: int) -> bytes:
    return f"STATION = {number}\n".encode()


def _commits(run: str, tasks: int) -> Iterator[bytes]:
    who = "Ada Example <ada@example.com> 1767225600 +0000"
    for number in range(tasks):
        message, content = f"Repair the report of station {number}\n".encode(), _content(number)
        yield (
            f"commit refs/heads/{run}\nmark :{number + 1}\ncommitter {who}\ndata {len(message)}\n"
        ).encode() + message
        yield f"M 100644 inline {_path(number)}\ndata {len(content)}\n".encode() + content
