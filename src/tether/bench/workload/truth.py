"""What really happened, beside the traces: evidence, fates, tracks and traps, one JSON a line."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tether import clock
from tether.bench.workload import model, plan
from tether.hints import Any, NamedTuple, Protocol

WORKED, STATED, MENTIONED, LISTED = "worked", "stated", "mentioned", "listed"
_MOVING = (WORKED, STATED)
_KEPT = 8
# A text that names more tasks is no evidence for any of them.
TOO_MANY = 50


class Writable(Protocol):
    """Where lines go."""

    def write(self, text: str, /) -> object: ...


class Pointer(NamedTuple):
    """Where a piece of evidence is."""

    kind: str
    at: str
    source: str
    where: str


class Truth:
    """The file of truth, while the traces are written."""

    def __init__(self, file: Writable) -> None:
        self._file = file
        self._last: dict[tuple[str, str], str] = {}
        self._kept: dict[tuple[str, str], list[Pointer]] = {}
        self._traps: list[dict[str, Any]] = []
        self.evidence = 0

    def note(
        self, task: str, kind: str, at: int, source: str, where: str, project: str = model.MAIN
    ) -> None:
        """Write down a record that names a task."""
        when = clock.text(at)
        other = "" if project == model.MAIN else f',"project":"{project}"'
        self._file.write(
            f'{{"task":"{task}","kind":"{kind}","at":"{when}","source":"{source}",'
            f'"where":"{where}"{other}}}\n'
        )
        self.evidence += 1
        key = (project, task)
        if kind in _MOVING:
            self._last[key] = max(self._last.get(key, ""), when)
            kept = self._kept.setdefault(key, [])
            kept.append(Pointer(kind, when, source, where))
            if len(kept) > 2 * _KEPT:
                del kept[: len(kept) - _KEPT]

    def trap(self, name: str, **where: Any) -> None:
        """Write down, at the end, where a trap is."""
        self._traps.append({"trap": name, **where})

    @property
    def trap_names(self) -> list[str]:
        return sorted({trap["trap"] for trap in self._traps})

    def finish(
        self,
        lists: plan.Plan,
        claims: Iterable[model.Claim],
        sessions: list[model.Session],
        parked: Iterable[str],
    ) -> None:
        """Write the fates of all tasks and tracks, and the traps."""
        held: dict[tuple[str, str], list[model.Claim]] = {}
        for claim in claims:
            held.setdefault((claim.project, claim.task), []).append(claim)
        for track in lists.tracks:
            for task in track.tasks:
                self._write(self._fate(task, held.get((task.project, task.id), []), sessions))
        for track in lists.tracks:
            if row := self._parked(track, track.code in parked):
                self._write(row)
        for trap in self._traps:
            self._write(trap)

    def _fate(
        self, task: model.Task, claims: list[model.Claim], sessions: list[model.Session]
    ) -> dict[str, Any]:
        key = (task.project, task.id)
        row: dict[str, Any] = {
            "fate": task.fate,
            "id": task.id,
            "project": task.project,
            "track": task.track,
            "orphan": task.fate in model.ORPHANS,
            "done": task.is_done,
        }
        if task.odd_box:
            row["box"] = task.odd_box
        if task.parent:
            row["parent"] = task.parent
        if task.at:
            # A session may come to say a thing a little after it was planned.
            row["latent_at"] = max(clock.text(task.at), self._last.get(key, ""))
        if key in self._last:
            row["last_worked_at"] = self._last[key]
            kept = sorted(self._kept[key], key=lambda each: each.at)[-_KEPT:]
            row["pointers"] = [each._asdict() for each in kept]
        if claims:
            row["claims"] = [
                {
                    "session": sessions[claim.session].uuid,
                    "name": sessions[claim.session].name,
                    "start": clock.text(claim.start),
                    "end": clock.text(claim.end),
                    "outcome": claim.outcome,
                }
                for claim in claims
            ]
        return row

    def _parked(self, track: plan.Track, is_injected: bool) -> dict[str, Any] | None:
        """A track that nobody has worked on for a month, or ever; or one of a paused project."""
        last = max((self._last.get((t.project, t.id), "") for t in track.tasks), default="")
        is_paused = track.project != model.MAIN
        if last > clock.text(model.NOW - 30 * model.DAY) and not is_paused:
            return None
        row = {"parked": track.code, "project": track.project, "path": track.path}
        return {**row, "last_worked_at": last, "injected": is_injected or is_paused}

    def _write(self, row: dict[str, Any]) -> None:
        self._file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
