"""A plan in YAML: a title and a list of tasks, each a mapping. Pure.

A field that nobody knows is an error: behind a typo in `blocked_by` a task would begin too early.
"""

from __future__ import annotations

from typing import Any

from tether import text
from tether.coordinator.plans import criteria, drafts, model, positions
from tether.tasks import document

_TOP = ("title", "tasks")
_OWN = ("id", "title", "phase")
_RUN = "run"
_TEXTS = "is neither a text nor a list of texts; put numbers with a point into quotes"


def read(raw: bytes) -> tuple[str, tuple[model.PlanTask, ...], list[model.Problem]]:
    """The title, the tasks, and what is wrong with the text."""
    found = document.read(raw)
    if found.problem:
        # A parser is past the last line at its end, and knows line ends that no editor has.
        line = max(1, min(found.line, raw.count(b"\n") + 1))
        return "", (), [model.Problem(line, f"it cannot be read: {found.problem}")]
    reading = _Reading(found)
    return (text.one_line(reading.title), *reading.finished())


class _Reading:
    """A document, and where its parts stand."""

    def __init__(self, found: document.Document) -> None:
        self._fields = found.fields
        self._lines = positions.split(found.text)
        self._line_of = positions.keys(self._lines, 1, len(self._lines), 0)
        self._problems: list[model.Problem] = []
        title = found.fields.get("title", "")
        self.title = title if isinstance(title, str) else ""
        if not isinstance(title, str):
            self._say("its title is no text", "title")
        for name in found.fields:
            if name not in _TOP:
                self._say(_unknown(name), str(name))

    def _say(self, message: str, name: str) -> None:
        line = self._line_of.get(positions.usual(name), 1)
        self._problems.append(model.Problem(line, message))

    def finished(self) -> tuple[tuple[model.PlanTask, ...], list[model.Problem]]:
        """The tasks and everything that is wrong."""
        listed = self._fields.get("tasks") or []
        above = self._line_of.get("tasks", 1)
        if not isinstance(listed, list):
            self._say("its tasks are no list", "tasks")
            listed = []
        end = len(self._lines)
        found = positions.entries(self._lines, above, end, len(listed))
        read = []
        for n, (value, first) in enumerate(zip(listed, found, strict=True), 1):
            last = found[n] - 1 if n < len(found) else end
            if isinstance(value, dict):
                read.append(_Task(value, self._lines, first, last, above).draft)
            else:
                problem = "a task is a mapping with an id"
                self._problems.append(model.Problem(first or above, problem))
        tasks, problems = drafts.finished(read)
        return tasks, [*self._problems, *problems]


class _Task:
    """One entry of the list."""

    def __init__(
        self, fields: dict[Any, Any], lines: list[str], first: int, last: int, above: int
    ) -> None:
        self._lines, self._last = lines, last
        margin = positions.column(lines[first - 1]) if first else 0
        self._line_of = positions.keys(lines, first, last, margin) if first else {}
        named = fields.get("id")
        # A number with a point is not what was written: 1.10 has become 1.1.
        is_name = isinstance(named, (str, int)) and not isinstance(named, bool)
        self.draft = drafts.Draft(str(named).strip() if is_name else "", first or above)
        for name, value in fields.items():
            self._take(name, value)

    def _take(self, name: Any, value: Any) -> None:
        part = drafts.field(name) if isinstance(name, str) else ""
        line = self._line_of.get(positions.usual(str(name)), self.draft.line)
        if name == "id":
            return
        if part == drafts.CRITERIA:
            self._criteria(value, line)
        elif name not in _OWN and not part:
            self.draft.say(line, _unknown(name))
        elif (texts := _texts(value)) is None:
            self.draft.say(line, f"its {text.one_line(str(name), 40)} {_TEXTS}")
        elif name == "title":
            self.draft.title = " ".join(texts)
        elif name == "phase":
            self.draft.phase = " ".join(texts)
        else:
            for each in texts:
                self.draft.add(part, each, line)

    def _criteria(self, value: Any, line: int) -> None:
        listed = value if isinstance(value, list) else [] if value is None else [value]
        above = line if isinstance(value, list) else 0
        found = positions.entries(self._lines, above, self._last, len(listed))
        for each, number in zip(listed, found, strict=True):
            self._criterion(each, number or line)

    def _criterion(self, value: Any, line: int) -> None:
        if isinstance(value, str):
            self.draft.add_criterion(criteria.read(value, line))
        elif not isinstance(value, dict):
            self.draft.say(line, "a criterion is a text, or a command: `run: …`")
        elif list(value) != [_RUN]:
            self.draft.say(line, "beside `run` nothing can stand in a criterion")
        elif not isinstance(value[_RUN], str):
            # `true` is a command too, and something else to YAML.
            self.draft.say(line, "the command is no text; put it into quotes")
        else:
            self.draft.add_criterion(criteria.from_command(value[_RUN], line))


def _texts(value: Any) -> list[str] | None:
    """A text or a list of them; None if it is something else."""
    listed = value if isinstance(value, list) else [] if value is None else [value]
    is_good = all(isinstance(e, (str, int)) and not isinstance(e, bool) for e in listed)
    return [str(each) for each in listed] if is_good else None


def _unknown(name: Any) -> str:
    if not isinstance(name, str):
        return "the name of a field is no text"
    return f"a plan has no field {text.one_line(name, 40)!a}"
