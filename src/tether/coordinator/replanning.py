"""When the plan's file changes during a run: what counts at once, and what a person decides.

Tasks may come, go and change. The criteria of a task that was started stay as they were, because
whoever works on it could have edited them, until a person says otherwise.
"""

from __future__ import annotations

import hashlib
import os

from tether import errors, text
from tether.coordinator import copies, crew
from tether.coordinator.plans import changes, model, reading
from tether.coordinator.settling import Settler
from tether.coordinator.state import State
from tether.store import run_events

ACCEPT, KEEP = "accept", "keep"
_CONTEXT = "criteria "


def started(state: State) -> set[str]:
    """The tasks that somebody has begun."""
    attempted = {task_id for task_id, tally in state.tallies.items() if tally.attempts}
    return attempted | state.completed.keys() | state.in_progress.keys()


def merged(
    old: model.Plan, new: model.Plan, begun: set[str], accepted: set[str]
) -> tuple[model.Plan, tuple[str, ...]]:
    """The plan that counts, and whose new criteria wait for a person. Pure."""
    known = old.by_id
    held: list[str] = []
    tasks = []
    for task in new.tasks:
        before = known.get(task.id)
        is_held = (
            before is not None
            and task.id in begun
            and _criteria(before) != _criteria(task)
            and _context(task) not in accepted
        )
        held += [task.id] if is_held else []
        tasks.append(task._replace(criteria=before.criteria) if before and is_held else task)
    return new._replace(tasks=tuple(tasks)), tuple(held)


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
        plan, held = merged(old, new, started(state), accepted)
        for task_id in held:
            task = new.by_id[task_id]
            if _context(task) not in answers and task_id not in state.waiting():
                self._settler.ask(task_id, _asked(task))
        found = changes.compare(old, plan)
        if not (found.added or found.removed or found.changed):
            return ""
        digest = copies.keep(run.root, plan)
        run.log(
            run_events.PLAN_CHANGED,
            plan_digest=digest,
            added=list(found.added),
            removed=list(found.removed),
            changed=list(found.changed),
            criteria_changed=list(found.criteria_changed),
        )
        return "The plan has changed: " + _told(found)


def _told(found: changes.Changes) -> str:
    parts = (("new", found.added), ("gone", found.removed), ("changed", found.changed))
    said = "; ".join(f"{word}: {', '.join(each)}" for word, each in parts if each)
    return text.one_line(said, 300)


def _asked(task: model.PlanTask) -> crew.Asked:
    commands = "; ".join(task.commands) or "none"
    return crew.Asked(
        f"The criteria of {task.id}, which was started, have changed in the plan. Its commands"
        f" would be: {text.one_line(commands, 500)}. Should they count?",
        (ACCEPT, KEEP),
        _context(task),
    )


def _context(task: model.PlanTask) -> str:
    said = repr(_criteria(task)).encode("utf-8", "surrogatepass")
    return f"{_CONTEXT}{hashlib.sha256(said).hexdigest()[:16]}"


def _criteria(task: model.PlanTask) -> list[tuple[str, str]]:
    return [(each.text, each.command) for each in task.criteria]


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
