"""A plan in Markdown: headings are phases and tasks, labels name the parts of a task. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from tether import text
from tether.coordinator.plans import drafts, lines, model
from tether.tasks.sources import markdown

# A lone word behind `Task` is an id only with a digit: "Task list" is a section.
_TASK = re.compile(
    r"(?i:task)[ \t]{1,4}([^:]{1,400}?)[ \t]{0,4}(:|[ \t][\u2013\u2014-][ \t]|$)[ \t]{0,4}"
)
_DIGIT = re.compile(r"[^\s0-9]{0,64}[0-9]")
_EMPHASIS = re.compile(r"([*_]{1,3})([^*_]{1,40})\1[ \t]{0,4}")
_PLAIN = re.compile(r"([A-Za-z][A-Za-z _-]{1,30}):")
_LISTS = (drafts.BLOCKED_BY, drafts.READING, drafts.FILES, drafts.ENVIRONMENT, drafts.PRIORITY)
_NO_COLON = "a colon must stand between the id of a task and its title"
_NOT_WAITING = "this is part of the work: only **Blocked By** says what a task waits for"
# A scanner cuts what is longer, and half of a list would be lost.
_TOO_LONG = f"this line has more than {markdown.MAX_LINE_CHARS} characters; break it"
_NO_BOUND = 1 << 30


def read(content: str) -> tuple[str, tuple[model.PlanTask, ...], list[model.Problem]]:
    """The title, the tasks, and what is wrong with the text."""
    reading = _Reading()
    for line in lines.walk(content):
        reading.take(line)
    reading.end_criterion()
    return (text.one_line(reading.title), *drafts.finished(reading.drafts))


class _Label(NamedTuple):
    """The name of a part, if it is one, and what stands behind it."""

    name: str
    behind: str
    is_emphasised: bool
    has_colon: bool


class _Reading:
    """Where a pass over the lines stands."""

    def __init__(self) -> None:
        self.title = self._phase = ""
        self.drafts: list[drafts.Draft] = []
        self._task: drafts.Draft | None = None
        self._level = 0
        """Of the task's heading."""
        self._criterion: list[str] = []
        """The lines of the criterion that is being read."""
        self._criterion_at = (0, 0)
        """Its line and its indentation."""
        self._was_blank = False
        self._open(drafts.WORK)

    def _open(self, part: str, kind: int = 0, bound: int = _NO_BOUND) -> None:
        """Begin a part of a task; what stands further in than `bound` belongs to it."""
        self._part = part
        self._opened_by = kind
        self._bound = bound
        self._part_level = _NO_BOUND
        """Of the heading that opened it, if one did."""
        self._is_empty = True

    def take(self, line: lines.Line) -> None:
        if line.kind == markdown.HEADING:
            self._heading(line)
        elif self._task is not None:
            if line.kind in (lines.BLANK, lines.CODE):
                self._text(self._task, line)
            elif _is_rule(line):
                self.end_criterion()
                self._open(drafts.WORK)
            elif not self._label(line):
                self._content(self._task, line)
            if len(line.text) >= markdown.MAX_LINE_CHARS and self._part != drafts.WORK:
                self._task.say(line.number, _TOO_LONG)
        self._was_blank = line.kind == lines.BLANK

    # Headings

    def _heading(self, line: lines.Line) -> None:
        self.end_criterion()
        level, heading = line.indent, line.rest.replace("**", "").strip()
        if level > 1 and (draft := _task(heading, line.number)) is not None:
            draft.phase = self._phase
            self.drafts.append(draft)
            self._task, self._level = draft, level
            self._open(drafts.WORK)
        elif self._task is not None and level > self._level:
            self._part_heading(self._task, line)
        else:
            self._task = None
            if level == 1 and not self.title:
                self.title = heading
            else:
                self._phase = heading

    def _part_heading(self, draft: drafts.Draft, line: lines.Line) -> None:
        """A heading within a task: a label, a group of criteria, or part of the work."""
        part = drafts.field(line.rest.replace("**", "").strip(": "))
        if not part and self._part == drafts.CRITERIA and line.indent > self._part_level:
            return
        self._open(part or drafts.WORK, markdown.HEADING)
        self._part_level = line.indent
        if not part:
            draft.add(drafts.WORK, line.text, line.number)

    # Labels

    def _label(self, line: lines.Line) -> bool:
        """Does a line begin a part? Then what stands behind the label is taken in."""
        label = _labelled(line.rest)
        is_within = line.kind == markdown.BOX or line.indent > min(3, self._bound)
        if label is None or is_within or self._task is None:
            return False
        # Below a label on a line of its own, a bullet is an item unless it stands out.
        is_item = line.kind == markdown.BULLET and self._opened_by not in (0, markdown.BULLET)
        part = drafts.field(label.name)
        if not part and label.is_emphasised and label.has_colon and not is_item:
            if self._part == drafts.CRITERIA and not label.behind:
                self.end_criterion()
                return True  # only the name of a group of them
            # Something that only this plan knows: it is told to whoever does the work.
            part = drafts.WORK
            if drafts.is_about_waiting(label.name):
                self._task.say(line.number, _NOT_WAITING, is_error=False)
            label = label._replace(behind=line.text)
        elif not part or (is_item and not label.is_emphasised):
            return False
        self.end_criterion()
        self._open(part, line.kind, line.indent)
        if label.behind:
            inner = line._replace(kind=markdown.TEXT, rest=label.behind, text=label.behind)
            self._content(self._task, inner)
        return True

    # Content

    def _content(self, draft: drafts.Draft, line: lines.Line) -> None:
        is_paragraph = line.kind == markdown.TEXT and self._was_blank and not line.indent
        if self._part in _LISTS and is_paragraph and not self._is_empty:
            # The list has ended, and somebody goes on about the work.
            self._open(drafts.WORK)
        self._is_empty = False
        if self._part == drafts.WORK:
            draft.add(drafts.WORK, line.text, line.number)
        elif self._part == drafts.CRITERIA:
            self._criteria(line, is_paragraph=is_paragraph)
        else:
            draft.add(self._part, line.rest, line.number)

    def _criteria(self, line: lines.Line, *, is_paragraph: bool) -> None:
        is_text = line.kind == markdown.TEXT
        is_inside = line.indent > self._criterion_at[1] or not self._was_blank
        if self._criterion and is_text and is_inside and not is_paragraph:
            self._criterion.append(line.rest)
            return
        self.end_criterion()
        self._criterion = [line.rest]
        self._criterion_at = (line.number, line.indent)

    def _text(self, draft: drafts.Draft, line: lines.Line) -> None:
        """Code and blank lines are part of what they stand in."""
        if self._part == drafts.WORK:
            draft.add(drafts.WORK, line.text, line.number)
        elif self._criterion and line.kind == lines.CODE:
            self._criterion.append(line.text.strip())

    def end_criterion(self) -> None:
        if self._task is not None and self._criterion:
            self._task.add(drafts.CRITERIA, "\n".join(self._criterion), self._criterion_at[0])
        self._criterion = []


def _task(heading: str, number: int) -> drafts.Draft | None:
    """The task that a heading begins; None if it is the heading of a section."""
    found = _TASK.match(heading)
    if found is None:
        return None
    words = found[1].strip("`")
    has_colon = bool(found[2])
    if not has_colon and not _DIGIT.match(words):
        return None
    name, _, rest = words.partition(" ") if not has_colon else (words, "", "")
    draft = drafts.Draft(name.strip("`"), number)
    draft.title = heading[found.end() :] or rest
    if rest:
        draft.say(number, _NO_COLON)
    return draft


def _labelled(rest: str) -> _Label | None:
    """What a line begins with, if that may be a label."""
    if found := _EMPHASIS.match(rest):
        name, colon, inner = found[2].partition(":")
        behind = rest[found.end() :]
        has_colon = bool(colon) or behind.startswith(":")
        if not has_colon and len(found[1]) < 2:
            return None
        return _Label(name, f"{inner} {behind.removeprefix(':')}".strip(), True, has_colon)
    if found := _PLAIN.match(rest):
        return _Label(found[1], rest[found.end() :].strip(), False, True)
    return None


def _is_rule(line: lines.Line) -> bool:
    """A line of dashes, stars or underscores between two sections."""
    marks = line.text.replace(" ", "")
    return len(marks) >= 3 and marks in (len(marks) * "-", len(marks) * "*", len(marks) * "_")
