"""When the plan's file changes during a run: what counts at once, and what a person decides.

Tasks may come, go and change. But a worker can edit the plan as well as a person: so a command that
was not there at the start, or is not there any more, and any criterion of a task that was started,
count only once a person has said so. Until then a task keeps its criteria, and a new one waits.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from typing import NamedTuple

from tether import errors, text
from tether.coordinator import asking, copies, questions, recovery
from tether.coordinator.plans import changes, model, reading
from tether.coordinator.settling import SKIP, Settler
from tether.coordinator.state import State
from tether.store import port, run_events

ACCEPT, KEEP = "accept", "keep"


def has_other_commands(before: model.PlanTask | None, task: model.PlanTask) -> bool:
    """Would something else be executed than a person has seen? Pure."""
    return set(task.commands) != set(before.commands if before is not None else ())


def started(state: State) -> set[str]:
    """The tasks that somebody has begun."""
    attempted = {task_id for task_id, tally in state.tallies.items() if tally.attempts}
    return attempted | state.completed.keys() | state.in_progress.keys()


class Known(NamedTuple):
    """What a run knows when its plan changes."""

    begun: Collection[str]
    """Tasks that somebody has begun."""
    gone: Collection[str] = ()
    """Tasks that were in the plan, and are not any more."""
    waiting: Collection[str] = ()
    """Tasks with an open question."""
    accepted: Collection[str] = ()
    """What a person has accepted, by context."""


def merged(old: model.Plan, new: model.Plan, known: Known) -> tuple[model.Plan, tuple[str, ...]]:
    """The plan that counts, and whose criteria wait for a person. Pure."""
    before = old.by_id
    held = tuple(task.id for task in new.tasks if _is_held(before.get(task.id), task, known))
    tasks = []
    for task in new.tasks:
        if task.id not in held:
            tasks.append(task)
        elif task.id in before:
            tasks.append(task._replace(criteria=before[task.id].criteria))
        elif task.id not in known.waiting:
            # It is there, and its own question keeps it from being given out.
            tasks.append(task)
    return new._replace(tasks=tuple(tasks)), held


def _is_held(before: model.PlanTask | None, task: model.PlanTask, known: Known) -> bool:
    if before is not None and _criteria(before) == _criteria(task):
        return False
    is_known = task.id in known.begun or task.id in known.gone
    if not (is_known or has_other_commands(before, task)):
        return False
    return before is None or _context(task) not in known.accepted


class Watcher:
    """Looks whether the plan's file says something new."""

    def __init__(self, settler: Settler) -> None:
        self._settler = settler
        self._run = settler.run
        self._seen: tuple[int, int] | None = None
        self._answers = -1

    def look(self) -> str:
        """Follow the plan's file; a line for people if something changed or is wrong with it."""
        run, state = self._run, self._run.state
        stamp = _stamp(os.path.join(run.place.root or "/", state.plan_file))
        answers = sum(q.response is not None for q in state.questions.values())
        if stamp is None or (stamp, answers) == (self._seen, self._answers):
            return ""
        self._seen, self._answers = stamp, answers
        try:
            new, problems = reading.read(run.place.root or "", state.plan_file)
            wrong = [p for p in reading.together(new, problems, run.place.root or "") if p.is_error]
        except errors.TetherError as problem:
            return f"The plan cannot be read, and stays as it was: {problem.message}"
        if wrong:
            return (
                f"The plan has changed and has mistakes, so it stays as it was: line"
                f" {wrong[0].line}: {wrong[0].message}"
            )
        return self._follow(new)

    def _follow(self, new: model.Plan) -> str:
        run, state = self._run, self._run.state
        old = run.outlook.plan
        answers = {q.context: q.response for q in state.questions.values() if q.response}
        accepted = {context for context, response in answers.items() if response == ACCEPT}
        waiting = state.waiting()
        known = Known(started(state), state.removed, waiting, accepted)
        plan, held = merged(old, new, known)
        wanted = [
            (task_id, _asked(new.by_id[task_id], is_new=task_id not in old.by_id))
            for task_id in held
            if (task_id not in old.by_id or _context(new.by_id[task_id]) not in answers)
            and task_id not in waiting
        ]
        found = changes.compare(old, plan)
        if not found and not wanted:
            return ""
        digest = copies.keep(run.root, plan) if found else ""

        def work(transaction: port.Transaction) -> None:
            if found:
                run.event(
                    transaction,
                    run_events.PLAN_CHANGED,
                    plan_digest=digest,
                    **{name: list(ids) for name, ids in found._asdict().items()},
                )
            # Together: a new task must not be there without its question.
            for task_id, asked in wanted:
                self._settler.say_asked(transaction, task_id, asked)
            # What was completed by other criteria has not shown that it meets these.
            again = [each for each in found.criteria_changed if each in state.completed]
            recovery.require_validation(transaction, run, again)

        run.write(work)
        return f"The plan has changed: {_told(found)}" if found else ""


def _told(found: changes.Changes) -> str:
    parts = (("new", found.added), ("gone", found.removed), ("changed", found.changed))
    said = "; ".join(f"{word}: {', '.join(each)}" for word, each in parts if each)
    return text.one_line(said, 300)


def _asked(task: model.PlanTask, *, is_new: bool) -> asking.Asked:
    commands = text.one_line("; ".join(task.commands) or "none", 500)
    if is_new:
        return asking.Asked(
            f"{task.id} is new in the plan. To verify it, this would be run: {commands}. Should it"
            " be done?",
            (ACCEPT, SKIP),
            _context(task),
        )
    return asking.Asked(
        f"The criteria of {task.id} have changed in the plan since the run started. Its commands"
        f" would be: {commands}. Should they count?",
        (ACCEPT, KEEP),
        _context(task),
    )


def _context(task: model.PlanTask) -> str:
    said = repr((task.id, _criteria(task))).encode("utf-8", "surrogatepass")
    return f"{questions.CRITERIA}{hashlib.sha256(said).hexdigest()[:16]}"


def _criteria(task: model.PlanTask) -> list[tuple[str, str]]:
    return [(each.text, each.command) for each in task.criteria]


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
