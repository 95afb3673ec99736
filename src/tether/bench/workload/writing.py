"""The whole workload, written to a directory."""

from __future__ import annotations

import json
import os

from tether import clock, errors
from tether.bench.workload import (
    archive,
    commits,
    databases,
    history,
    logs,
    model,
    processes,
    story,
    telling,
    traps,
    truth,
    words,
)
from tether.hints import Any

_FILES_OF_SECOND = 10


def make(
    directory: str, scale: float = 1.0, seed: int = 1, *, has_liveness: bool = True
) -> dict[str, Any]:
    """Write a workload into an empty directory; what is in `workload.json`."""
    place = os.path.abspath(directory)
    _require_empty(place)
    tale = story.tell(seed, model.Size(scale), has_liveness=has_liveness)
    with open(os.path.join(place, "truth.jsonl"), "w", encoding="utf-8", newline="\n") as file:
        note = truth.Truth(file)
        counts = _Writer(place, tale, note).write()
        note.finish(tale.plan, tale.claims, tale.sessions, story.PARKED_TRACKS)
    summary = {
        "now": clock.text(model.NOW),
        "seed": seed,
        "scale": scale,
        "liveness": has_liveness,
        "directory": place,
        "counts": {**counts, "evidence": note.evidence},
        "traps": note.trap_names,
        "bytes": _bytes_below(place),
    }
    with open(os.path.join(place, "workload.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(summary, indent=1) + "\n")
    return summary


def _require_empty(place: str) -> None:
    try:
        os.makedirs(place, exist_ok=True)
        if os.listdir(place):
            raise errors.AlreadyThere(
                "The directory for the workload is not empty. Nothing was written.",
                hint="Name a directory that is empty or not there yet.",
            )
    except (FileExistsError, NotADirectoryError):
        raise errors.AlreadyThere(
            "The place for the workload is a file. Nothing was written.",
            hint="Name a directory that is empty or not there yet.",
        ) from None
    except OSError as problem:
        raise errors.FileError(
            f"The directory for the workload cannot be made: {problem.strerror}."
        ) from problem


class _Writer:
    """Writes one part after another."""

    def __init__(self, directory: str, tale: story.Story, note: truth.Truth) -> None:
        self._directory = directory
        self._story = tale
        self._truth = note
        self._traps = traps.Traps(tale)

    def write(self) -> dict[str, Any]:
        self._traps.lay(self._truth)
        made = self._write_repositories()
        rows = databases.Messaging(self._story, self._directory, self._truth).write()
        if self._story.has_liveness:
            processes.write(self._story, self._directory, self._truth)
        logbook = logs.Logs(self._story)
        self._traps.in_logs(logbook)
        files = logbook.write(self._directory, self._truth)
        said = self._write_transcripts()
        tasks = [task for track in self._story.plan.tracks for task in track.tasks]
        return {
            "tracks": len(self._story.plan.tracks),
            "tasks": len(tasks),
            "tasks_done": sum(task.is_done for task in tasks),
            "sessions": len(self._story.sessions),
            "claims": len(self._story.claims),
            "logs": files,
            **made,
            **rows,
            **said,
        }

    def _write_repositories(self) -> dict[str, int]:
        lists, seed = self._story.plan, self._story.seed
        planned = commits.Planner(self._story).plan(self._traps.in_commits())
        own = [track for track in lists.tracks if track.project == model.MAIN]
        files = words.pieces(seed, self._story.size.files)
        main = history.History(self._directory, model.MAIN, own, files)
        other = [track for track in lists.tracks if track.project != model.MAIN]
        second = history.History(
            self._directory, model.SECOND_PROJECT, other, words.pieces(seed, _FILES_OF_SECOND)
        )
        named = sum(bool(commit.found) for commit in planned)
        return {
            "commits": main.write(planned, self._truth),
            "commits_with_id": named,
            "commits_of_second": second.write(_of_second(self._story), self._truth),
        }

    def _write_transcripts(self) -> dict[str, Any]:
        os.makedirs(os.path.join(self._directory, databases.PLACE), exist_ok=True)
        path = os.path.join(self._directory, databases.PLACE, "sessions.db")
        kept = archive.Archive(path)
        totals = telling.Teller(self._directory, self._story, self._truth, kept).tell_all()
        kept.finish(self._story.sessions, self._directory)
        return {
            "transcripts": totals.files,
            "subagents": totals.subagents,
            "messages": totals.messages,
            "lines": totals.lines,
            "lines_with_id": totals.tagged,
            "share_with_id": round(totals.tagged / max(1, totals.lines), 4),
            "messages_in_sessions_db": kept.messages,
        }


def _of_second(tale: story.Story) -> list[commits.Commit]:
    """The other project has a commit for every task that was begun there."""
    begun = [
        (act.at, act.task, session)
        for session in tale.sessions
        if session.project != model.MAIN
        for act in session.acts
        if act.what == model.LEFT
    ]
    return [
        commits.Commit(
            at - model.SECOND,
            f"feat({task}): a first step",
            files=(number % _FILES_OF_SECOND,),
            found=((task, commits.SUBJECT),),
            machine=session.machine,
        )
        for number, (at, task, session) in enumerate(sorted(begun, key=lambda each: each[:2]))
    ]


def _bytes_below(place: str) -> int:
    return sum(
        os.path.getsize(os.path.join(directory, name))
        for directory, _, names in os.walk(place)
        for name in names
    )
