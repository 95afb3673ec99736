"""A repository's worth of tasks, to measure on."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tether import clock
from tether.hints import Any
from tether.tasks import document, states, workdir

_DAY_MS = 86_400_000


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
            write(os.path.join(place, path), document.compose(fields))

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


def write(path: str, content: bytes) -> None:
    """Write one file."""
    # A sample need not survive a crash, so nothing is synced.
    with open(path, "wb") as file:
        file.write(content)
