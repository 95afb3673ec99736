"""A task while its plan is being read: whatever the form, its parts mean the same here.

Nothing raises. What cannot be used is left out, with a problem and the line that it is about; no
text of the plan is repeated in a message but for ids, which are valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tether import errors, ids, text
from tether.agents import paths
from tether.coordinator.plans import criteria, model
from tether.tasks import model as tasks_model
from tether.tasks.sources import notes

WORK = "work"
CRITERIA = "criteria"
BLOCKED_BY = "blocked_by"
READING = "reading"
FILES = "files"
ENVIRONMENT = "environment"
PRIORITY = "priority"
# What people write above a part, in small letters and with blanks between its words. A dependency
# under another name must not get lost: its task would begin too early.
LABELS = {
    "work": WORK,
    "acceptance criteria": CRITERIA,
    "acceptance": CRITERIA,
    "blocked by": BLOCKED_BY,
    "depends on": BLOCKED_BY,
    "dependencies": BLOCKED_BY,
    "required reading": READING,
    "reading": READING,
    "files": FILES,
    "environment": ENVIRONMENT,
    "priority": PRIORITY,
}
# Words of labels that are about waiting, and which way round only their author knows.
_WAITING = re.compile(r"(?i:\b(?:block|depend|prerequisite)[a-z]{0,10}\b)")
_NOTHING = frozenset(["", "-", "\u2013", "\u2014", "none", "nothing", "n/a", "na"])
_REMARK = re.compile(r"\([^()]{0,200}\)")
_BETWEEN = re.compile(r"[,;\n]|[ \t]and[ \t]")
_TASK_WORD = re.compile(r"(?i:tasks?)[ \t]{1,4}")
_SET_OFF = re.compile(r":[ \t]|[ \t][\u2013\u2014-][ \t]")
_SPAN = re.compile(r"`([^`]{1,400})`|\]\(([^()\s]{1,400})\)")
_NO_ID = "what it is blocked by is no list of task ids with commas between them"
_NO_PATH = "a path in its files does not lie below the top of the repository"
_NO_PRIORITY = f"its priority is none of {', '.join(tasks_model.PRIORITIES)}; it counts as normal"


def field(label: str) -> str:
    """The part that a label names; empty if it names none."""
    words = label.replace("-", " ").replace("_", " ").lower().split()
    return LABELS.get(" ".join(words), "")


def is_about_waiting(label: str) -> bool:
    """Does a label that names no part sound as if a dependency stood behind it?"""
    return not field(label) and _WAITING.search(label) is not None


class Draft:
    """One task, as far as it was read."""

    def __init__(self, task_id: str, line: int, *, source: str = "") -> None:
        self.id = task_id if ids.TaskId.is_valid(task_id) else ""
        self.line = line
        self.source = source
        self.title = self.phase = ""
        self.problems: list[model.Problem] = []
        self._work: list[str] = []
        self._environment: list[str] = []
        self._criteria: list[model.Criterion] = []
        self._blocked_by: dict[str, None] = {}
        self._blocked_by_line = 0
        self._reading: dict[str, None] = {}
        self._files: dict[str, None] = {}
        self._priority = "normal"
        if not self.id:
            self.say(line, f"this is not a valid task id. {ids.TaskId.hint}")

    def say(self, line: int, message: str, *, is_error: bool = True) -> None:
        """Something is wrong, or should be looked at."""
        self.problems.append(model.Problem(line, message, self.id, is_error))

    def add(self, part: str, written: str, line: int) -> None:
        """Take in what stands in a part."""
        if part == WORK:
            self._work.append(written)
        elif part == CRITERIA:
            self.add_criterion(criteria.read(written, line))
        elif part == BLOCKED_BY:
            self.add_blockers(written, line)
        elif part == READING:
            self.add_reading(_named_paths(written))
        elif part == FILES:
            self.add_files(_named_paths(written), line)
        elif part == ENVIRONMENT:
            self._environment.append(written.strip())
        elif part == PRIORITY:
            self._set_priority(written, line)

    def add_criterion(self, read: tuple[model.Criterion, str]) -> None:
        criterion, problem = read
        if criterion.text:
            self._criteria.append(criterion)
        if problem:
            self.say(criterion.line, problem)

    def add_blockers(self, written: str, line: int) -> None:
        self._blocked_by_line = self._blocked_by_line or line
        for piece in _BETWEEN.split(_REMARK.sub("", written)):
            name = _SET_OFF.split(piece.strip("`*. \t"), 1)[0]
            name = _TASK_WORD.sub("", name, count=1).strip("`*. \t")
            if name.lower() in _NOTHING:
                continue
            if ids.TaskId.is_valid(name):
                self._blocked_by[name] = None
            else:
                self.say(line, _NO_ID)

    def add_reading(self, named: Iterable[str]) -> None:
        self._reading |= dict.fromkeys(text.one_line(each) for each in named)

    def add_files(self, named: Iterable[str], line: int, *, is_error: bool = True) -> None:
        for each in named:
            try:
                self._files[paths.parse(each)] = None
            except errors.UsageError:
                self.say(line, _NO_PATH, is_error=is_error)

    def _set_priority(self, written: str, line: int) -> None:
        word = written.strip("`*. \t\n")
        known = notes.PRIORITIES.get(word.upper()) or tasks_model.known_priority(word)
        self._priority = known or "normal"
        if known is None and word:
            self.say(line, _NO_PRIORITY, is_error=False)

    def task(self) -> model.PlanTask | None:
        """The task; None if it has no id that can be used."""
        if not self.id:
            return None
        return model.PlanTask(
            id=self.id,
            title=text.one_line(self.title),
            work=text.clean("\n".join(self._work)).strip("\n"),
            criteria=tuple(self._criteria),
            blocked_by=tuple(self._blocked_by),
            reading=tuple(self._reading),
            files=tuple(self._files),
            environment=text.clean("\n".join(self._environment)).strip(),
            phase=text.one_line(self.phase),
            priority=self._priority,
            line=self.line,
            source=self.source,
            blocked_by_line=self._blocked_by_line,
        )


def finished(drafts: Iterable[Draft]) -> tuple[tuple[model.PlanTask, ...], list[model.Problem]]:
    """The tasks that can be used, and what is wrong with any of them."""
    tasks: list[model.PlanTask] = []
    problems: list[model.Problem] = []
    for draft in drafts:
        problems += draft.problems
        if (task := draft.task()) is not None:
            tasks.append(task)
    return tuple(tasks), problems


def _named_paths(written: str) -> list[str]:
    """The paths in a text, between commas: in backticks, as a link, or up to a remark."""
    said = _REMARK.sub(_kept_link, written)
    marked = _SPAN.search(said)
    if marked and said[marked.end() :].lstrip()[:1] in (":", "-", "\u2013", "\u2014"):
        # What follows is about the path, with commas of its own.
        return [(each[1] or each[2]).strip() for each in _SPAN.finditer(said)]
    found = []
    for piece in said.replace("\n", ",").split(","):
        span = _SPAN.search(piece)
        bare = _SET_OFF.split(piece.strip(), 1)[0].strip("* \t")
        name = (span[1] or span[2]).strip() if span else bare
        if name.lower().rstrip(".") not in _NOTHING:
            found.append(name)
    return found


def _kept_link(remark: re.Match[str]) -> str:
    """A remark goes, but for the target of a link."""
    is_link = remark.string[remark.start() - 1 : remark.start()] == "]"
    return remark[0] if is_link else ""
