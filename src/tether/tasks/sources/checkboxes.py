"""Lists of checkboxes: one parser for every dialect of them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tether import text
from tether.tasks import document, states
from tether.tasks import model as tasks_model
from tether.tasks.sources import consolidation, markdown, model, notes, steps
from tether.tasks.sources.dialects import Dialect, subject

MAX_PROBLEMS = 100
# What looks like the id of a track but is none: six levels, a zero, a letter behind it.
_NEAR_ID = re.compile(r"[*_`(\[]{0,4}[A-Z]{1,2}\.[0-9]")
_LETTERS = re.compile(r"(?:[Tt]rack[ \t-]{1,3})?([A-Za-z]{1,2})(?:[ \t:\u2013\u2014-].{0,200})?")
# A box has no dates, dependencies, criteria and so on. All fields at once are quicker to fill in.
_NOTHING_MORE = ((), "", "", (), "", "")
_PERCENT = re.compile(r"([0-9]{1,3})(?:\.[0-9]{1,4})?[ \t]{0,2}%?")


def parse(content: str, dialect: Dialect, path: str) -> model.Listing:
    """What a list says."""
    return _Reading(content, dialect, path).listing()


class _Section:
    """A heading and what is counted below it."""

    __slots__ = ("done", "has_own", "id", "level", "line", "owner", "priority", "title", "total")

    def __init__(self, level: int, line: int, title: str) -> None:
        self.level = level
        self.line = line
        self.title = title
        self.id = self.owner = self.priority = ""
        self.done = self.total = 0
        self.has_own = False


class _Entry:
    """A task while its list is being read."""

    __slots__ = ("line", "owner", "parent", "parts", "priority", "section", "state", "text")

    def __init__(self, step: steps.Step, state: str, section: _Section) -> None:
        _, self.line, _, _, self.text, _, self.parent = step
        self.state = state
        self.section = section
        self.parts = [0, 0]
        self.owner = self.priority = ""


class _Reading:
    """One pass over a list."""

    def __init__(self, content: str, dialect: Dialect, path: str) -> None:
        self._content = content
        self._dialect = dialect
        self._path = path
        self._about = subject(dialect.name, path)
        # Everything is below the whole file, which is a section without a title.
        self._open = [_Section(0, 1, "")]
        self._sections = self._open[:]
        self._entries: dict[str, _Entry] = {}
        self._aliases: dict[str, str] = {}
        self._problems: list[model.Problem] = []
        self._stated_percent = -1
        self._has_boxes = False

    def listing(self) -> model.Listing:
        yaml, skip = markdown.front(self._content)
        if yaml and self._dialect.has_notes:
            self._read_front(yaml)
        for step in steps.walk(self._content, self._dialect, self._about, skip):
            kind = step[0]
            if kind == markdown.BOX:
                self._box(step)
            elif kind == markdown.HEADING:
                self._heading(step)
            elif kind == steps.LOG:
                for old, new in consolidation.read(step[4]):
                    self._aliases.setdefault(old, new)
            elif self._dialect.has_notes:
                self._note(step)
        return model.Listing(
            tuple(self._items()),
            tuple(self._progress()),
            tuple(self._aliases.items()),
            tuple(self._problems),
        )

    # Lines

    def _read_front(self, yaml: str) -> None:
        read = document.read(yaml.encode("utf-8", "replace"))
        if read.problem:
            self._say(read.line + 1, f"what stands in front cannot be read: {read.problem}")
        whole = self._open[0]
        if letters := _LETTERS.fullmatch(str(read.fields.get("track", "")).strip()):
            self._about = letters[1].upper()
        priority = str(read.fields.get("priority", "")).strip()
        whole.priority = (
            notes.PRIORITIES.get(priority.upper()[:2]) or tasks_model.known_priority(priority) or ""
        )
        agent = read.fields.get("agent", "")
        whole.owner = text.one_line(agent[:64]) if isinstance(agent, str) else ""
        if percent := _PERCENT.fullmatch(str(read.fields.get("progress", "")).strip()):
            self._stated_percent = min(100, int(percent[1]))

    def _heading(self, step: steps.Step) -> None:
        _, number, level, _, title, _, _ = step
        while self._open[-1].level >= level:
            self._open.pop()
        section = _Section(level, number, notes.title(title))
        if self._dialect.has_notes:
            _, section.owner, section.priority = notes.read(title)
        section.owner = section.owner or self._open[-1].owner
        section.priority = section.priority or self._open[-1].priority
        if self._dialect.heading_id and (found := self._dialect.heading_id.match(title)):
            section.id = found[1]
        self._open.append(section)
        self._sections.append(section)

    def _note(self, step: steps.Step) -> None:
        """An agent or a priority on a line of its own, of the task or the section above it."""
        _, _, _, _, rest, _, parent = step
        if ":" not in rest:
            return
        owner, priority = notes.labelled(rest)
        if owner or priority:
            about = self._entries.get(parent) or self._open[-1]
            about.owner = owner or about.owner
            about.priority = priority or about.priority

    def _box(self, step: steps.Step) -> None:
        _, number, _, mark, rest, task_id, parent = step
        state = self._dialect.marks.get(mark)
        if state is None:
            if not task_id and not steps.is_box(mark, self._dialect):
                return
            self._say(number, "the mark in this box is unknown; it counts as open")
            state = states.NEW
        self._has_boxes = True
        section = self._open[-1]
        if task_id:
            known = self._entries.get(task_id)
            if known is not None:
                self._say(number, f"{task_id} is also on line {known.line}, and that one counts")
                return
            self._entries[task_id] = _Entry(step, state, section)
        elif self._dialect.has_own_ids and _NEAR_ID.match(rest):
            self._say(number, "its id is not one of a track: a letter or two, then numbers")
        if parent and not task_id:
            parts = self._entries[parent].parts
            parts[0] += state == states.DONE
            parts[1] += state != model.CANCELLED
            return
        section.has_own = True
        section.done += state == states.DONE
        section.total += state != model.CANCELLED

    def _say(self, line: int, message: str) -> None:
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(model.Problem(self._path, line, message))

    # What comes of them

    def _items(self) -> Iterator[model.Item]:
        known = {section.id for section in self._sections if section.id}
        known.update(self._entries)
        dialect = self._dialect
        for task_id, entry in self._entries.items():
            about = entry.section
            said, owner, priority = self._said(entry.text)
            yield model.Item(
                dialect.name,
                task_id,
                self._path,
                entry.line,
                entry.state,
                notes.title(said),
                owner or entry.owner or about.owner,
                priority or entry.priority or about.priority or "normal",
                entry.parent or _prefix(task_id, known),
                about.title,
                self._about,
                entry.parts[0],
                entry.parts[1],
                *_NOTHING_MORE,
            )

    def _said(self, written: str) -> tuple[str, str, str]:
        """The text, the owner and the priority of a task."""
        if self._dialect.has_notes:
            return notes.read(written)
        noise = self._dialect.noise
        found = noise.match(written) if noise else None
        return notes.without_commit(written[found.end() :] if found else written), "", ""

    def _progress(self) -> Iterator[model.Progress]:
        if not self._has_boxes:
            return
        totals = _cumulated(self._sections)
        source, path = self._dialect.name, self._path
        for section, (done, total) in zip(self._sections, totals, strict=True):
            if section.level == 0:
                stated = self._stated_percent
                yield model.Progress(source, self._about, "", path, 1, done, total, stated)
            elif section.has_own or (section.id and total):
                title, line = section.title, section.line
                yield model.Progress(source, self._about, title, path, line, done, total)


def _prefix(task_id: str, known: set[str]) -> str:
    """The longest id above this one that there is."""
    above = task_id.rpartition(".")[0]
    while above and above not in known:
        above = above.rpartition(".")[0]
    return above


def _cumulated(sections: list[_Section]) -> list[tuple[int, int]]:
    """What is done and to do in each section together with those below it."""
    totals: list[tuple[int, int]] = []
    waiting: list[tuple[int, int, int]] = []
    for section in reversed(sections):
        done, total = section.done, section.total
        while waiting and waiting[-1][0] > section.level:
            _, more_done, more_total = waiting.pop()
            done, total = done + more_done, total + more_total
        waiting.append((section.level, done, total))
        totals.append((done, total))
    return totals[::-1]
