"""What tasks cost: every command of the lifecycle, as a whole process, where there are many tasks.

Before each run of a command the floor of start-up is run, `python -I -S -c "import sqlite3, json"`,
so that a busy machine slows both alike; the ratio is of medians. Looking is measured once every
file has been at rest and the index is settled, moving on tasks that nothing has touched before.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping

from tether import demo, errors, index
from tether.bench import others, processes, sample, startup
from tether.hints import Any, NamedTuple
from tether.tasks import states

_AGENT = {"TETHER_SESSION": "bench", "TETHER_AGENT": "bench"}
# With a name, so that git need not be asked for one.
_PERSON = {"TETHER_AGENT": "grace"}
_SETTLE_SECONDS = 60.0
_TASKS_OF_A_ROUND = 3


class Step(NamedTuple):
    """One command to measure."""

    name: str
    words: tuple[str, ...]
    who: Mapping[str, str]


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
        own = processes.Ground(os.path.join(directory, "tether"), environ)
        tasks = sample.Sample(count, all_open=all_open)
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
                other.command: others.measured(other, tasks, rounds, directory, environ)
                for other in others.OTHERS
            },
        }


def _environ(directory: str) -> dict[str, str]:
    """As in the shell of a user whose home is empty: no settings, and no agent around."""
    home = os.path.join(directory, "home")
    os.mkdir(home)
    kept = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR")
    return {**{name: os.environ[name] for name in kept if name in os.environ}, "HOME": home}


def _require_enough(count: int, rounds: int, *, all_open: bool) -> None:
    """Every round moves tasks that no other has touched."""
    if len(sample.Sample(count, all_open=all_open).untouched) < _TASKS_OF_A_ROUND * (rounds + 1):
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


def _tether(
    ground: processes.Ground, *words: str, who: Mapping[str, str] = _PERSON
) -> startup.Cost:
    try:
        return processes.run(
            ground._replace(environ={**ground.environ, **who}), [*startup.console_script(), *words]
        )
    except processes.Failed as problem:
        raise processes.Failed(f"`tether {' '.join(words)}`: {problem}") from None


def _cold(ground: processes.Ground, words: tuple[str, ...]) -> float:
    """Seconds of a listing that makes the index first."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(_index_path(ground))
    return round(_tether(ground, *words).wall / 1000, 2)


def _settle(ground: processes.Ground) -> None:
    """Wait until a listing leaves the index as it is: then all files have been at rest."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    before = ""
    while time.monotonic() < deadline:
        _tether(ground, *_LISTS["task list --all"])
        after = index.stamp(os.stat(_index_path(ground)))
        if after == before:
            return
        before = after
    raise processes.Failed("The index does not settle: every listing writes to it.")


def _index_path(ground: processes.Ground) -> str:
    return os.path.join(ground.place, ".git", "tether", index.FILE_NAME)


def _alternate(
    ground: processes.Ground, rounds: int, steps: Callable[[int], list[Step]]
) -> dict[str, list[processes.Pair]]:
    pairs: dict[str, list[processes.Pair]] = {}
    for number in range(rounds + 1):
        for step in steps(number):
            floor = processes.run(ground, processes.FLOOR)
            pair = processes.Pair(floor, _tether(ground, *step.words, who=step.who))
            if number:  # the first round warms the caches
                pairs.setdefault(step.name, []).append(pair)
    return pairs


def _summary(pairs: Mapping[str, list[processes.Pair]]) -> dict[str, Any]:
    floors = [pair.floor for each in pairs.values() for pair in each]
    floor = [processes.Pair(cost, cost) for cost in floors]
    return {name: processes.told(each) for name, each in {"floor": floor, **pairs}.items()}
