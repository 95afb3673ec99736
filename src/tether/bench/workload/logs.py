"""Session logs: one Markdown file for each project, machine and day of UTC."""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Iterator

from tether import clock
from tether.bench.workload import model, story, truth, words
from tether.hints import NamedTuple

SOURCE = "coditect:log"
_HEAD = (
    "---\ntitle: Session Log {day}\ncreated: '{day}T00:00:00Z'\nupdated: '{day}T23:59:00Z'\n"
    "moe_confidence: 0.95\nmoe_classified: {day}\n---\n\n# Session Log - {day}\n"
)
_TITLES = {
    model.FINISHED: "%s finished",
    model.DEFERRED: "%s deferred until the pilot is over",
    model.CANCELLED: "%s cancelled",
    model.ADOPTED: "%s adopted",
    model.ROLLED_BACK: "%s taken back",
}
_FOCUS = 3


class Block(NamedTuple):
    """A heading of a log with what stands below it."""

    at: int
    lines: tuple[str, ...]
    found: tuple[tuple[str, str], ...] = ()
    trap: str = ""


_Key = tuple[str, int, str]


class Logs:
    """All logs, while they are gathered."""

    def __init__(self, tale: story.Story) -> None:
        self._story = tale
        self._rng = random.Random(f"logs {tale.seed}")  # noqa: S311 (chance that can be repeated)
        self._blocks: dict[_Key, list[Block]] = {}
        self._machines = [
            str(uuid.UUID(int=self._rng.getrandbits(128), version=4)) for _ in range(2)
        ]
        self._ids = [t.id for track in tale.plan.pilot for t in track.tasks]
        self._gather()

    def add(self, project: str, machine: int, block: Block) -> None:
        """Put a block into the log of its day."""
        day = clock.text(block.at)[:10]
        self._blocks.setdefault((project, machine, day), []).append(block)

    def write(self, directory: str, note: truth.Truth) -> int:
        """Write all files; how many there are."""
        for (project, machine, day), blocks in sorted(self._blocks.items()):
            place = f"home/.coditect-data/session-logs/projects/{project.upper()}"
            path = f"{place}/{self._machines[machine]}/SESSION-LOG-{day}.md"
            full = os.path.join(directory, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8", newline="\n") as file:
                file.write(_HEAD.format(day=day))
                for block in sorted(blocks, key=lambda each: each.at):
                    file.write("\n" + "\n".join(block.lines) + "\n")
                    _tell(note, block, path, project)
        return len(self._blocks)

    def _gather(self) -> None:
        for session in self._story.sessions:
            # Who is killed rarely comes to write the log.
            chance = 0.4 if session.ending == model.KILLED else 0.8
            if self._rng.random() < chance:
                for block in self._of(session):
                    self.add(session.project, session.machine, block)
        self._gather_days()

    def _gather_days(self) -> None:
        """An entry for each day; before the other traces begin, of what was done then."""
        before = [
            task.id
            for track in self._story.plan.pilot
            for task in track.tasks
            if task.fate == model.DONE_BEFORE
        ]
        for number in range(1, model.LOG_DAYS + 1):
            for machine in range(2):
                at = model.NOW - number * model.DAY + self._rng.randrange(8, 18) * model.HOUR
                is_before = at < model.START and before
                focus = [self._rng.choice(before)] if is_before else []
                self.add(model.MAIN, machine, self._entry(at, "", focus))

    def _of(self, session: model.Session) -> Iterator[Block]:
        opened = [a.task for a in session.acts if a.what in (model.CLAIMED, model.ADOPTED)]
        focus = list(dict.fromkeys(opened))[:_FOCUS]
        yield self._entry(session.start, session.uuid, focus)
        day = session.start // model.DAY
        for act in session.acts:
            title = _TITLES.get(act.what)
            if title and act.at // model.DAY == day and self._rng.random() < 0.6:
                yield self._report(act.at, title % act.task, ((act.task, truth.STATED),))
        chance = self._rng.random()
        at = min(session.end, (day + 1) * model.DAY - model.MINUTE)
        if chance < 0.12:
            yield self._dashboard(at)
        elif chance < 0.3:
            yield self._next(at)

    def _entry(self, at: int, session: str, focus: list[str]) -> Block:
        name = session or str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
        about = ", ".join(focus) or words.title(self._rng)
        lines = (
            f"## {model.iso(at)} - Session Entry",
            f"**Session ID:** `{name}`",
            f"**Focus:** {about}",
        )
        return Block(at, lines, tuple((task, truth.STATED) for task in focus))

    def _report(self, at: int, title: str, found: tuple[tuple[str, str], ...]) -> Block:
        rng = self._rng
        related: tuple[tuple[str, str], ...] = ()
        fix = words.prose(rng, 14)
        if rng.random() < 0.25:
            other = rng.choice(self._ids)
            if other not in [task for task, _ in found]:
                related = ((other, truth.MENTIONED),)
                fix += f" See also {other}."
        lines = (
            f"### {model.iso(at)} - {title}",
            f"- **Issue:** {words.prose(rng, 12)}",
            f"- **Root Cause:** {words.prose(rng, 10)}",
            f"- **Fix:** {fix}",
            f"- **Files Modified:** `{words.path(rng.randrange(300))}`",
        )
        return Block(at, lines, (*found, *related))

    def _dashboard(self, at: int) -> Block:
        named = self._rng.sample(self._ids, min(len(self._ids), self._rng.randrange(6, 25)))
        return dashboard(at, named)

    def _next(self, at: int) -> Block:
        named = self._rng.sample(self._ids, min(len(self._ids), self._rng.randrange(2, 5)))
        return upcoming(at, named)


def dashboard(at: int, named: list[str], trap: str = "") -> Block:
    """What /session-status appends: everything that is claimed, whoever works on it."""
    rows = (f"| {task} | claude-{20_000 + n} | {n} min |" for n, task in enumerate(named))
    lines = (
        f"### {model.iso(at)} - Session Status Dashboard",
        "| Task | Session | Since |",
        "|---|---|---|",
        *rows,
    )
    return Block(at, lines, tuple((task, truth.LISTED) for task in named), trap)


def upcoming(at: int, named: list[str], trap: str = "") -> Block:
    """What somebody thinks should come next."""
    lines = (f"### {model.iso(at)} - Handover", f"**Next:** {', '.join(named)}")
    return Block(at, lines, tuple((task, truth.LISTED) for task in named), trap)


def _tell(note: truth.Truth, block: Block, path: str, project: str) -> None:
    at = block.at // 1000 * 1000
    for task, kind in block.found:
        note.note(task, kind, at, SOURCE, path, project)
    if block.trap:
        note.trap(block.trap, where=path, tasks=[task for task, _ in block.found])
