"""A real repository with the planned commits, through `git fast-import`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tether import git
from tether.bench.workload import commits, model, plan, telling, tracks, truth, words
from tether.git import importing
from tether.hints import NamedTuple

COMMIT_SOURCE = "git:commit"
LIST_SOURCE = "git:list"
_LINES = 60
_RECENT = 12 * model.DAY
_MAIN_REF = "refs/heads/main"
_SIDE_REF = "refs/heads/side"
_NOBODY = "0" * 40
_STATE = {" ": "new", "x": "done", "X": "done", "~": "in_progress", "-": "cancelled"}


class _Row(NamedTuple):
    """Evidence in a commit whose id is not known yet."""

    mark: int
    task: str
    kind: str
    at: int
    source: str


class History:
    """One repository, while it is written."""

    def __init__(
        self, directory: str, project: str, lists: list[plan.Track], files: list[list[str]]
    ) -> None:
        self._directory = os.path.join(directory, project)
        self._project = project
        self._documents = [tracks.Document(track, n) for n, track in enumerate(lists)]
        self._document_of = {
            task.id: document
            for track, document in zip(lists, self._documents, strict=True)
            for task in track.tasks
        }
        self._files = files
        self._rows: list[_Row] = []
        self._traps: list[tuple[int, commits.Commit, list[str]]] = []
        self._ticked: list[tuple[int, str]] = []
        self._exported: list[str] = []
        self._mark = 0
        self._parent = 0

    def write(self, planned: list[commits.Commit], note: truth.Truth) -> int:
        """Make the repository with its checkout; how many commits it has."""
        repository = git.init(self._directory)
        oids = importing.import_stream(self._directory, self._stream(planned))
        repository.runner.call("read-tree", oids[self._parent])
        self._check_out()
        for row in self._rows:
            note.note(row.task, row.kind, row.at, row.source, oids[row.mark], self._project)
        for mark, commit, tasks in self._traps:
            note.trap(commit.trap, where=oids[mark], project=self._project, tasks=tasks)
        return len(oids)

    # The stream

    def _stream(self, planned: list[commits.Commit]) -> Iterator[bytes]:
        yield from self._begin()
        sides: dict[str, int] = {}
        for commit in planned:
            if commit.form == "side":
                yield self._commit(commit, _SIDE_REF, (self._parent,))
                sides[commit.found[0][0]] = self._mark
                continue
            merged = (sides.pop(commit.found[0][0]),) if commit.form == "merge" else ()
            yield self._commit(commit, _MAIN_REF, (self._parent, *merged))
            self._parent = self._mark
        # A reset to nothing takes the branch away.
        yield f"reset {_SIDE_REF}\nfrom {_NOBODY}\n\n".encode()

    def _begin(self) -> Iterator[bytes]:
        """The first commit brings everything that was there before."""
        at = model.START + model.MINUTE
        first = commits.Commit(at, "Begin the history of the pilot")
        yield self._head(first, _MAIN_REF, ())
        for document in self._documents:
            yield _modify(document.path, document.render())
        for number, lines in enumerate(self._files):
            yield _modify(words.path(number), _joined(lines))
        yield _modify(f"{plan.PILOT_DIRECTORY}/MASTER-TRACK-INDEX.md", self._index())
        yield _modify("README.md", b"# A project\n\nWhat agents work on.\n")
        yield b"\n"
        self._parent = self._mark
        for task in self._document_of:
            self._rows.append(_Row(self._mark, task, truth.LISTED, at, LIST_SOURCE))

    def _commit(self, commit: commits.Commit, ref: str, parents: tuple[int, ...]) -> bytes:
        head = self._head(commit, ref, parents)
        pieces = [head]
        for number in commit.files:
            if commit.form != "merge":
                self._change(number)
            pieces.append(_modify(words.path(number), _joined(self._files[number])))
        boxes = commit.boxes or self._exporting(commit)
        touched = dict.fromkeys([task for task, _ in (*boxes, *commit.notes)])
        moved = [task for task, mark in boxes if self._set(commit, task, mark)]
        for task, remark in commit.notes:
            self._document_of[task].annotate(task, remark)
        changed = dict.fromkeys(self._document_of[task] for task in touched)
        pieces += [_modify(document.path, document.render()) for document in changed]
        self._tell(commit, moved)
        return b"".join([*pieces, b"\n"])

    def _head(self, commit: commits.Commit, ref: str, parents: tuple[int, ...]) -> bytes:
        self._mark += 1
        seconds = (commit.stamp or commit.at) // 1000
        offset = telling.local_offset(commit.at, commit.machine) // model.MINUTE
        when = f"{seconds} +{offset // 60:02d}{offset % 60:02d}"
        who = commits.PEOPLE[commit.person]
        message = f"{commit.subject}\n"
        if commit.body:
            message += f"\n{commit.body}"
        content = message.encode()
        links = [f"{'merge' if n else 'from'} :{mark}\n" for n, mark in enumerate(parents)]
        return (
            f"commit {ref}\nmark :{self._mark}\nauthor {who} {when}\ncommitter {who} {when}\n"
            f"data {len(content)}\n"
        ).encode() + b"".join([content, "".join(links).encode()])

    def _exporting(self, commit: commits.Commit) -> tuple[tuple[str, str], ...]:
        """What a clone that was left behind takes back, and what then has to be put right."""
        if commit.form == "export":
            recent = [task for at, task in self._ticked if at > commit.at - _RECENT]
            document = self._document_of[recent[-1]] if recent else None
            own = dict.fromkeys(t for t in recent if self._document_of[t] is document)
            self._exported = [task for task in own if self._document_of[task].mark(task) == "x"]
            return tuple((task, model.OPEN_BOX) for task in self._exported)
        if commit.form == "restore":
            return tuple((task, model.DONE_BOX) for task in self._exported)
        return ()

    def _set(self, commit: commits.Commit, task: str, mark: str) -> bool:
        """Set a box; whether that says something new."""
        document = self._document_of[task]
        before = document.mark(task)
        document.set_mark(task, mark)
        if mark == model.DONE_BOX:
            self._ticked.append((commit.at, task))
        return _STATE[before] != _STATE[mark]

    def _tell(self, commit: commits.Commit, moved: list[str]) -> None:
        at = (commit.stamp or commit.at) // 1000 * 1000
        kinds = {
            commits.SUBJECT: truth.WORKED if commit.files else truth.STATED,
            commits.BODY: truth.MENTIONED,
            commits.MERGE: truth.STATED,
        }
        for task, where in commit.found:
            self._rows.append(_Row(self._mark, task, kinds[where], at, COMMIT_SOURCE))
        for task in moved:
            self._rows.append(_Row(self._mark, task, truth.STATED, at, LIST_SOURCE))
        if commit.trap:
            named = [task for task, _ in commit.found] or moved
            self._traps.append((self._mark, commit, named))

    # Files

    def _change(self, number: int) -> None:
        """Add a line, or write one anew."""
        lines = self._files[number]
        line = f"    changed_{self._mark}_{number} = {self._mark % 97}"
        if len(lines) < _LINES:
            lines.append(line)
        else:
            lines[1 + self._mark % (_LINES - 1)] = line

    def _index(self) -> bytes:
        rows = [f"- [{document.path}]({document.path})" for document in self._documents]
        return "\n".join(["# Master track index", "", *rows, ""]).encode()

    def _check_out(self) -> None:
        """Write the files as the last commit has them."""
        contents = {document.path: document.render() for document in self._documents}
        contents |= {words.path(n): _joined(lines) for n, lines in enumerate(self._files)}
        contents[f"{plan.PILOT_DIRECTORY}/MASTER-TRACK-INDEX.md"] = self._index()
        contents["README.md"] = b"# A project\n\nWhat agents work on.\n"
        for path, content in contents.items():
            full = os.path.join(self._directory, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as file:
                file.write(content)


def _joined(lines: list[str]) -> bytes:
    return "\n".join([*lines, ""]).encode()


def _modify(path: str, content: bytes) -> bytes:
    return f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"
