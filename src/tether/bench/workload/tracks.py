"""Track files: how a list of tasks looks in Markdown, and how its boxes change."""

from __future__ import annotations

from tether.bench.workload import model, plan

# Real lists write ids in many ways; each track has one of them.
_FORMS = (
    "- [%s] %s: %s",
    "- [%s] **%s** %s",
    "- [%s] **%s**: %s",
    "- [%s] %s — %s",
    "* [%s] %s: %s",
)
_FENCE = (
    "",
    "Boxes are written like this:",
    "",
    "```markdown",
    "- [x] C.99.1: This is an example, not a task",
    "- [ ] C.99.2: Neither is this",
    "```",
)


class Document:
    """One track file, while its boxes change."""

    def __init__(self, track: plan.Track, number: int) -> None:
        self.path = track.path
        self._form = _FORMS[number % len(_FORMS)]
        self._line_of: dict[str, int] = {}
        self._task_of: dict[str, model.Task] = {}
        self._marks: dict[str, str] = {}
        self._notes: dict[str, str] = {}
        self._lines = self._head(track)
        for entry in track.entries:
            self._lines += self._written(entry, track)
        self._lines += _tail(track)
        self._show_progress()

    def mark(self, task_id: str) -> str:
        return self._marks[task_id]

    def set_mark(self, task_id: str, mark: str) -> None:
        self._marks[task_id] = mark
        self._show(task_id)

    def annotate(self, task_id: str, note: str) -> None:
        """Write a remark behind a task; an empty one takes it away."""
        self._notes[task_id] = note
        self._show(task_id)

    def render(self) -> bytes:
        self._show_progress()
        return "\n".join([*self._lines, ""]).encode()

    def _head(self, track: plan.Track) -> list[str]:
        return [
            "---",
            f'title: "Track {track.code}: {track.name.replace("-", " ").title()}"',
            f"track: {track.code}",
            "status: active",
            f"priority: P{len(track.code) + len(track.name) % 3 - 1}",
            "progress: 0%",
            "---",
            "",
            f"# Track {track.code}: {track.name.replace('-', ' ').title()}",
        ]

    def _written(self, entry: plan.Entry, track: plan.Track) -> list[str]:
        if entry.task is None:
            marks = "##" if entry.depth == 0 else "###"
            return ["", f"{marks} {entry.id}: {entry.title}", f"**Agent:** `{track.agent}`", ""]
        task = entry.task
        is_ticked = task.is_done and not task.was_open
        self._marks[task.id] = task.odd_box or (model.DONE_BOX if is_ticked else model.OPEN_BOX)
        self._task_of[task.id] = task
        # Headings come with lines around them, so count what is there.
        self._line_of[task.id] = len(self._lines)
        return [self._line(task)]

    def _line(self, task: model.Task) -> str:
        line = self._form % (self._marks[task.id], task.id, task.title)
        note = self._notes.get(task.id, "")
        indent = "  " if task.parent else ""
        return f"{indent}{line} {note}".rstrip()

    def _show(self, task_id: str) -> None:
        self._lines[self._line_of[task_id]] = self._line(self._task_of[task_id])

    def _show_progress(self) -> None:
        done = sum(mark in "xX" for mark in self._marks.values())
        self._lines[5] = f"progress: {100 * done // max(1, len(self._marks))}%"


def _tail(track: plan.Track) -> list[str]:
    if track.project != model.MAIN:
        return []
    if track.code == "C":
        return list(_FENCE)
    if track.code != plan.CONSOLIDATED[0]:
        return []
    code, old, new = plan.CONSOLIDATED
    moved = [task.id for task in track.tasks if task.id.startswith(f"{code}.{new}.")]
    rows = [f"| {code}.{old}.{each.split('.', 2)[2]} | {each} |" for each in moved]
    return ["", "## Task Consolidation Log", "", "| Old | New |", "|---|---|", *rows]
