"""How a run looks to whoever started it: lines as things happen, and where it stands below them."""

from __future__ import annotations

import shutil
from typing import TextIO

from tether import clock, text
from tether.coordinator import runs
from tether.coordinator.state import DEVELOPER

_MAX_AGENTS = 12
_BAR = 24


class View:
    """Writes lines, and on a terminal keeps a few lines of progress below them up to date."""

    def __init__(self, stream: TextIO, run: runs.Run) -> None:
        self._stream = stream
        self._run = run
        self._is_terminal = stream.isatty()
        self._shown: list[str] = []

    def tell(self, line: str) -> None:
        """Something happened."""
        self._clear()
        self._stream.write(text.clean(line).rstrip("\n") + "\n")
        self._draw(self._shown)
        self._stream.flush()

    def show(self) -> None:
        """Show how far it has come."""
        if not self._is_terminal:
            return
        columns = max(40, shutil.get_terminal_size().columns) - 1
        lines = [_cut(line, columns) for line in progress(self._run)]
        if lines != self._shown:
            self._clear()
            self._draw(lines)
            self._stream.flush()

    def close(self) -> None:
        """Take the progress away: what comes now is the end."""
        self._clear()
        self._shown = []
        self._stream.flush()

    def _clear(self) -> None:
        if self._shown:
            self._stream.write(f"\x1b[{len(self._shown)}F\x1b[J")

    def _draw(self, lines: list[str]) -> None:
        self._shown = lines
        if self._is_terminal:
            self._stream.writelines(line + "\n" for line in lines)


def _cut(line: str, columns: int) -> str:
    """A line that fits; its indentation stays."""
    said = line.lstrip()
    indent = len(line) - len(said)
    return " " * indent + text.one_line(said, columns - indent)


def progress(run: runs.Run) -> list[str]:
    """Where a run stands, in a few lines."""
    state = run.state
    done, total = len(state.completed), max(1, state.total_tasks)
    filled = _BAR * done // total
    counts = [f"{n} {name.replace('_', ' ')}" for name, n in state.counts().items() if n]
    lines = [
        f"[{'#' * filled}{'.' * (_BAR - filled)}] {done}/{state.total_tasks}  {', '.join(counts)}"
    ]
    now_ms = clock.parse(run.now())
    for agent in list(state.active_agents.values())[:_MAX_AGENTS]:
        seconds = max(0, now_ms - clock.parse(agent.dispatched_at)) // 1000
        since = "paused" if state.paused_at else f"{seconds // 60}:{seconds % 60:02}"
        said = state.checkpoints.get(agent.task_id) if agent.type == DEVELOPER else None
        last = f"  {said.text}" if said else ""
        lines.append(f"  {agent.task_id}  {agent.type} {since}{last}")
    rest = len(state.active_agents) - _MAX_AGENTS
    if rest > 0:
        lines.append(f"  and {rest} more")
    waiting = len(state.open_questions)
    if waiting:
        lines.append(f"  {text.counted(waiting, 'question')} open: tether run status")
    return lines
