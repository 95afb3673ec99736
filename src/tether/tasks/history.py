"""A task's whole life: from Git by the name of its file, and from the event log, in one order.

Git only sees what was committed, so a change there may skip states; that is told apart from one
that goes backwards.
"""

from __future__ import annotations

from tether import clock, git, ids, workspace
from tether.hints import NamedTuple
from tether.store import events, port
from tether.tasks import document, model, states, workdir

_MAX_EVENTS = 10_000
# They name the task, but nothing happened to it.
_OF_OTHERS = (events.MESSAGE_SENT.name, events.HEARTBEAT_RECEIVED.name, events.CLAIM_REFUSED.name)


class Step(NamedTuple):
    """One thing that happened to a task."""

    at: str
    source: str
    """`git` or `log`."""
    what: str
    by: str
    state: str = ""
    """The state after it, if that is known."""
    path: str = ""
    commit: str = ""
    grade: str = ""
    """For a change of state in Git: `legal`, `skipped`, `backwards` or `unknown`."""
    note: str = ""


def read(
    place: workspace.Workspace, work: workdir.Workdir, store: port.Store, task_id: str
) -> list[Step]:
    """Everything that is known, oldest first."""
    steps = [*from_git(place, work, task_id), *from_log(store, task_id)]
    return sorted(steps, key=lambda step: step.at)


def from_log(store: port.Store, task_id: str) -> list[Step]:
    """What the event log tells of the task."""
    wanted = events.Filter(task=task_id, source=ids.OWN_SOURCE)
    found = events.latest(store, _MAX_EVENTS, wanted)
    return [_from_event(event) for event in found if event.type not in _OF_OTHERS]


def from_git(place: workspace.Workspace, work: workdir.Workdir, task_id: str) -> list[Step]:
    """What the commits of all branches tell, by the name of the file."""
    repository = git.Git(place.place)
    tips = dict.fromkeys(oid for _, oid in repository.refs())
    head = repository.head()
    if head is not None:
        tips[head] = None
    versions: list[tuple[git.Commit, list[tuple[git.Change, workdir.Found]]]] = []
    for commit in repository.log(tips, paths=[work.root]):
        changes = []
        for change in commit.changes:
            found = workdir.located(change.path, work.root)
            if found is not None and found.task_id == task_id:
                changes.append((change, found))
        if changes:
            versions.append((commit, changes))
    versions.reverse()
    wanted = [c.new_oid for _, changes in versions for c, _ in changes if not c.new_oid.is_null]
    blobs = {
        blob.oid: blob.data
        for blob in repository.blobs(dict.fromkeys(wanted), max_bytes=document.MAX_BYTES)
    }
    steps: list[Step] = []
    before = states.NONE
    for commit, changes in versions:
        step, before = _from_commit(commit, changes, blobs, before)
        steps.append(step)
    return steps


def _from_commit(
    commit: git.Commit,
    changes: list[tuple[git.Change, workdir.Found]],
    blobs: dict[git.Oid, bytes | None],
    before: str,
) -> tuple[Step, str]:
    at = clock.text(commit.committed_ms)
    written = [(change, found) for change, found in changes if not change.new_oid.is_null]
    removed = [found for change, found in changes if change.new_oid.is_null]
    if not written:
        step = Step(at, "git", "file removed", commit.author_name, states.NONE)
        return step._replace(path=removed[-1].path, commit=commit.oid, note=commit.subject), before
    change, found = written[-1]
    task = _task(found, blobs.get(change.new_oid))
    state = "unreadable" if task.problem else task.state
    what = "file moved" if removed else "file added" if before == states.NONE else "file changed"
    grade = ""
    if state not in (before, "unreadable"):
        grade = "legal" if before == states.NONE and state == states.NEW else ""
        grade = grade or states.change_grade(states.NEW if before == states.NONE else before, state)
    step = Step(at, "git", what, commit.author_name, state, found.path, commit.oid, grade)
    step = step._replace(note=commit.subject)
    return step, before if state == "unreadable" else state


def _task(found: workdir.Found, raw: bytes | None) -> model.Task:
    if raw is None:
        return model.Task(found.task_id, found.path, found.place, problem="its text is missing")
    return workdir.parsed(found, raw).task


def _from_event(event: events.Event) -> Step:
    data = event.data
    step = Step(event.at, "log", event.type, event.actor)
    if event.type == events.TASK_MOVED.name:
        why = data.get("why") or ""
        return step._replace(what=str(data.get("verb")), state=str(data.get("to")), note=str(why))
    if event.type == events.TASK_EDITED.name:
        return step._replace(what="edit", note=", ".join(map(str, data.get("fields", []))))
    if event.type == events.CLAIM_CLOSED.name:
        return step._replace(note=str(data.get("outcome")))
    if event.type == events.CLAIM_ADOPTED.name:
        return step._replace(note=f"from {data.get('from_agent')}: {data.get('reason')}")
    return step
