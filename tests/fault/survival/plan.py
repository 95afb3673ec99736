"""A plan with dependencies, and what each try at each of its tasks does: the same for one seed."""

from __future__ import annotations

import random

# What one try does (`worker`). `forget` leaves no checkpoint, `deaf` hangs and ignores the request
# to end, `lie` says that it is done, `vanish` loses its wrapper and goes on all the same.
GOOD = ("succeed", "tell", "forget")
BAD = ("fail", "hang", "deaf", "die", "vanish", "lie")
# Each of these waits three seconds until it is found out.
_SLOW = ("hang", "deaf")


def task_ids(tasks: int) -> list[str]:
    return [f"T{number:02d}" for number in range(1, tasks + 1)]


def blockers(tasks: int, dice: random.Random) -> dict[str, list[str]]:
    """Which tasks each one waits for: none to three of those before it."""
    names = task_ids(tasks)
    found = {
        name: sorted(dice.sample(names[:number], min(number, dice.choice((0, 1, 1, 2, 3)))))
        for number, name in enumerate(names)
    }
    # One that waits for whatever nothing else waits for: the run has an end.
    waited_for = {each for some in found.values() for each in some}
    found[names[-1]] = [name for name in names[:-1] if name not in waited_for]
    return found


def script(tasks: int, dice: random.Random) -> dict[str, list[str]]:
    """What the tries at each task do, one after another; whoever comes after those succeeds."""
    names = task_ids(tasks)
    bad = [*BAD, *(dice.choice(BAD) for _ in range(len(names) - len(BAD)))]
    dice.shuffle(bad)
    found = {}
    for name, first in zip(names, bad, strict=False):
        again = [dice.choice(("fail", "die", "lie"))] if dice.random() < 0.25 else []
        tries = [] if dice.random() < 0.2 and first not in _SLOW else [first, *again]
        found[name] = [*tries, dice.choice(GOOD)]
    # The last one waits for the harness, which has its kills to do until then.
    found[names[-1]] = ["fail", "succeed"]
    return found


def markdown(waits: dict[str, list[str]]) -> str:
    """The plan as a person writes it; its commands look at what was made, and change nothing."""
    parts = ["# Survive"]
    for name, blocked_by in waits.items():
        parts.append(
            f"## Task {name}: Make {name}\n\n"
            f"**Acceptance Criteria**:\n- run: `{command(name)}`\n\n"
            f"**Blocked By**: {', '.join(blocked_by) or 'none'}\n"
            f"**Files**: out/{name}"
        )
    return "\n\n".join(parts) + "\n"


def command(name: str) -> str:
    """What must succeed when a task is completed."""
    return f"grep -qx '{name} is made' out/{name}"
