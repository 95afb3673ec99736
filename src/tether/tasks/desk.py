"""One task on the desk: under its lock, read, put right, and written back.

Every verb works through here. In the file the new content comes first, in place, then the rename
into the new directory; so whatever dies in between leaves one complete file, and who comes next
carries the move through (`states.settle`).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping

from tether import errors, files, ids, text, workspace
from tether.agents import claims, lookout
from tether.agents import model as agents
from tether.hints import Any, NamedTuple
from tether.store import events, port
from tether.tasks import document, home, model, states, workdir

_LOCKS = 251
REMOVE = document.REMOVE


class Caller(NamedTuple):
    """Who uses a verb."""

    agent: agents.Agent
    is_human: bool
    place: agents.Place = agents.NOWHERE

    @property
    def name(self) -> str:
        return self.agent.agent_name

    @property
    def session_id(self) -> str:
        return self.agent.session_id


class Desk(NamedTuple):
    """What a verb works with: the task files of a checkout, the store, and who acts when."""

    place: workspace.Workspace
    work: workdir.Workdir
    store: port.Store
    spot: lookout.Lookout
    caller: Caller
    now: str


class Case(NamedTuple):
    """One task, its file and its open claim. The lock is held."""

    key: ids.TaskKey
    task: model.Task
    document: document.Document
    claim: agents.Claim | None
    touched: tuple[str, ...] = ()
    """Paths that have changed on the disk."""

    @property
    def state(self) -> str:
        return self.task.standing(is_claimed=self.claim is not None).state


class Moved(NamedTuple):
    """What a verb did."""

    verb: str
    before: str
    task: model.Task
    touched: tuple[str, ...]
    claim: agents.Claim | None = None
    notes: tuple[str, ...] = ()
    follow_up: model.Task | None = None
    is_repeat: bool = False
    """Everything was as wanted already."""


@contextlib.contextmanager
def locked(desk: Desk, task_id: str) -> Iterator[None]:
    """One verb at a time for a task, on this machine. The lock ends with its process."""
    # Some hundred locks for all tasks: one each would leave a file for every task there ever was.
    number = int.from_bytes(task_id.lower().encode(), "big") % _LOCKS
    directory = os.path.join(desk.place.store_dir, "locks")
    try:
        if not os.path.isdir(directory):
            files.make_directory_like(directory, like=_like(desk.place.store_dir))
        lock = files.Lock(
            os.path.join(directory, f"task-{number:03}"), "task", desk.store.wait_seconds
        )
        lock.acquire()
    except errors.NotWritable as problem:
        raise errors.StoreReadOnly from problem
    except errors.LockBusy as busy:
        message = busy.message.replace("The lock", "The task", 1)
        raise errors.LockBusy(message, hint="Repeat the command.") from busy
    try:
        with honest(desk):
            yield
    finally:
        lock.release()


@contextlib.contextmanager
def honest(desk: Desk) -> Iterator[None]:
    """Who fails after a file has changed does not say that nothing was changed."""
    before = desk.work.changes
    try:
        yield
    except (errors.FileError, errors.StoreError) as problem:
        if desk.work.changes != before:
            message = problem.message
            for promise in (" Nothing was changed.", " The old content is unchanged."):
                message = message.removesuffix(promise)
            problem.message = (
                f"{message} The task's file has changed already; the same command goes on from"
                " there."
            )
        raise


def look(desk: Desk, task_id: str, *, tidies: bool = False) -> Case | None:
    """The task as it is; None if this checkout has no file of it."""
    found = one_of(desk.work, task_id, tidies=tidies)
    if found is None:
        return None
    loaded = desk.work.load(found)
    key = ids.TaskKey(ids.OWN_SOURCE, loaded.task.id)
    return Case(key, *loaded, claims.open_of(desk.store.rows, key))


def take_up(desk: Desk, task_id: str) -> Case:
    """The task, with whatever was begun carried through. The lock is held."""
    case = look(desk, task_id, tidies=True)
    if case is None:
        raise missing(desk, task_id)
    require_readable(case.task)
    return close_rest(desk, put_right(desk, case))


def close_rest(desk: Desk, case: Case) -> Case:
    """Close the caller's claim of what the caller let go of in the file, before it died."""
    claim = case.claim
    if claim is None or not is_held_by_caller(desk, case):
        return case
    outcome = let_go_outcome(case)
    if not outcome:
        return case
    desk.store.write(
        "carry through",
        lambda transaction: claims.close_one(
            transaction, claim.session_id, case.key, claim.epoch, outcome, desk.caller.place
        ),
    )
    return case._replace(claim=None)


def let_go_outcome(case: Case) -> str:
    """What a file that was let go of says of its claim; empty for one that was not."""
    if case.claim is not None and case.state == states.NEW:
        is_returned = case.task.fresh_at >= case.claim.claimed_at
        return claims.RELEASED if is_returned else ""
    if case.claim is not None and "" < _ended_at(case) < case.claim.claimed_at:
        return ""  # it ended, here or on another branch, before this claim was taken
    if case.task.is_cancelled:
        return states.CANCELLED
    outcomes = {states.DONE: claims.DONE, states.ARCHIVED: claims.DONE, states.ERROR: claims.FAILED}
    return outcomes.get(case.state, "")


def _ended_at(case: Case) -> str:
    error, cancelled = case.document.fields.get("error"), case.document.fields.get("cancelled")
    if case.task.is_cancelled and isinstance(cancelled, dict):
        return model.stamp(cancelled.get("at"))
    if case.state == states.ERROR and isinstance(error, dict):
        return model.stamp(error.get("timestamp"))
    return case.task.completed_at


def put_right(desk: Desk, case: Case) -> Case:
    """Carry a move through that died between content and rename, or follow a person's `mv`."""
    holder = case.claim.agent_name if case.claim else ""
    there = home.home(case.task, case.document.fields, holder)
    return rewrite(desk, case, there.changes, there.place, there.folder)


def rewrite(
    desk: Desk, case: Case, changes: Mapping[str, Any], place: str = "", folder: str | None = None
) -> Case:
    """Give the file other fields, then another directory; only what differs is touched."""
    task = case.task
    place = place or task.place
    folder = task.folder if folder is None else folder
    changes = _differing(case.document.fields, changes)
    raw, touched = None, list(case.touched)
    if changes:
        # Its patterns take a while to compile, and who only looks does not need them.
        from tether.tasks import splicing

        raw = splicing.edit(case.document, changes)
        if len(raw) > document.MAX_BYTES:
            raise errors.FileTooLarge(
                f"The file of {task.id} would have more than {document.MAX_BYTES // 1024} KiB, and"
                " nothing could read it then. Nothing was changed.",
                hint="Put long texts into files of their own, and name those in the task.",
            )
        desk.work.write(task.path, raw)
        touched.append(task.path)
    path = task.path
    if (place, folder) != (task.place, task.folder) or not path.endswith(workdir.SUFFIX):
        path = desk.work.move(task.path, task.id, place, folder)
        keep = f"{os.path.dirname(path)}/{workdir.KEEP}"
        touched += [task.path, path, keep]
    if path == task.path and raw is None:
        return case
    found = workdir.Found(path, place, folder, os.path.basename(path), None)
    raw = case.document.text.encode() if raw is None else raw
    loaded = workdir.parsed(found, raw)
    return case._replace(
        task=loaded.task, document=loaded.document, touched=tuple(dict.fromkeys(touched))
    )


def one_of(work: workdir.Workdir, task_id: str, *, tidies: bool = False) -> workdir.Found | None:
    """The file of a task. Two that differ are for `validate` to settle."""
    found = work.find(task_id)
    if len(found) < 2:
        return found[0] if found else None
    loaded = [work.load(each) for each in found]
    if len({each.document.text for each in loaded}) == 1 and not loaded[0].task.problem:
        # One file under two names: a move that died half-way where renames cannot be exclusive.
        best = max(found, key=lambda each: _belongs(each, loaded[0].document))
        for each in found:
            if tidies and each is not best:
                work.files.remove(each.path)
        return best
    where = " and ".join(each.path for each in found[:3])
    raise errors.TaskError(
        f"There are {len(found)} files of this task: {text.one_line(where)}. Nothing was changed.",
        hint="Let `tether validate --fix` settle it: it shows what it would do, and asks.",
    )


def require_readable(task: model.Task) -> None:
    if task.problem:
        line = f" (line {task.line})" if task.line else ""
        # A parser's complaint may quote the file.
        is_ours = not set(task.problem) & set("'\"`")
        why = f": {task.problem}" if is_ours else ""
        raise errors.TaskUnreadable(
            f"The file of {task.id} cannot be read{line}{why}. Nothing was changed.",
            details={"path": task.path, "line": task.line or None, "problem": task.problem},
        )


def require_editable(case: Case) -> None:
    """Refuse, before a claim is committed, a file that could not follow it."""
    from tether.tasks import splicing

    splicing.edit(case.document, {"status": states.IN_PROGRESS, "agent": "x" * 64})


def require_allowed(desk: Desk, case: Case, verb: str, extra_roles: tuple[str, ...] = ()) -> None:
    """Refuse what the table does not allow."""
    answer = states.check(verb, case.state, (*roles(desk, case), *extra_roles))
    if isinstance(answer, states.Breach):
        raise breach(case.key, answer)


def breach(key: ids.TaskKey, answer: states.Breach) -> errors.NotAllowed:
    hints = {
        states.ERROR: "It failed; a person decides: `tether task retry`, `complete` or `cancel`.",
        states.DONE: "It is done; a person can `tether task reopen` it.",
        states.ARCHIVED: "It was put away; a person can `tether task reopen` it.",
    }
    return errors.NotAllowed(
        f"{key.label} stays as it is: {answer.rule}. Nothing was changed.",
        hint=hints.get(answer.state, f"See it with `tether task show {key.label}`."),
        details={"rule": answer.rule, "verb": answer.verb, "state": answer.state},
    )


def roles(desk: Desk, case: Case) -> list[str]:
    """What the caller is to this task."""
    caller = desk.caller
    found = [states.HUMAN if caller.is_human else states.AGENT]
    if is_held_by_caller(desk, case):
        found.append(states.HOLDER)
    if case.task.owner == caller.name:
        found.append(states.ASSIGNEE)
    return found


def is_held_by_caller(desk: Desk, case: Case) -> bool:
    """Does the caller have its open claim?"""
    return case.claim is not None and case.claim.session_id == desk.caller.session_id


def say_moved(
    transaction: port.Transaction,
    desk: Desk,
    key: ids.TaskKey,
    verb: str,
    before: str,
    after: str,
    why: str = "",
) -> None:
    """Log what a verb did to the file."""
    transaction.event(
        events.TASK_MOVED,
        actor=desk.caller.name,
        session=desk.caller.session_id,
        source=key.source,
        task=key.id,
        data={
            "verb": verb,
            "from": before,
            "to": after,
            "branch": desk.caller.place.columns["branch"],
            "why": text.storable(why)[:500],
        },
    )


def log_moved(
    desk: Desk, key: ids.TaskKey, verb: str, before: str, after: str, why: str = ""
) -> None:
    desk.store.write(
        verb, lambda transaction: say_moved(transaction, desk, key, verb, before, after, why)
    )


def missing(desk: Desk, task_id: str) -> errors.NotFound:
    """There is no file of this task, though the claims may know it."""
    key = ids.TaskKey(ids.OWN_SOURCE, task_id)
    if claims.last_of(desk.store.rows, key) is not None:
        return lost(task_id)
    return nothing_there(desk.work, task_id)


def lost(task_id: str) -> errors.NotFound:
    """There was a task of this name."""
    return errors.NotFound(
        f"The file of {task_id} is not in this checkout. Nothing was changed.",
        hint=f"If it was lost, `tether task restore {task_id}` brings it back.",
    )


def nothing_there(work: workdir.Workdir, task_id: str) -> errors.NotFound:
    """There is no file of a task; what may have been meant."""
    import difflib

    names = [found.task_id for found in work.scan()]
    near = difflib.get_close_matches(task_id, names, n=3, cutoff=0.75)
    hint = "See the tasks with `tether task list`."
    if near:
        hint = f"Did you mean {' or '.join(near)}?"
    return errors.NotFound(
        f"There is no task {task_id} in this checkout. Nothing was changed.", hint=hint
    )


def entry(desk: Desk, what: str, **more: Any) -> dict[str, Any]:
    """A line of a task's own history."""
    return {
        "at": desk.now,
        "by": desk.caller.name,
        "what": what,
        **{k: v for k, v in more.items() if v},
    }


def with_entry(case: Case, new: Mapping[str, Any]) -> list[Any]:
    """The history of a file with one entry more. Whatever stood there instead is kept in it."""
    old = case.document.fields.get("history")
    if old is None or old == "":
        return [dict(new)]
    return [*(old if isinstance(old, list) else [old]), dict(new)]


def _differing(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in changes.items()
        if (name in fields if value is REMOVE else name not in fields or fields[name] != value)
    }


def _belongs(found: workdir.Found, read: document.Document) -> bool:
    task = model.task(found.task_id, found.path, found.place, found.folder, read.fields)
    return task.standing().place == found.place


def _like(store_dir: str) -> str:
    return store_dir if os.path.isdir(store_dir) else os.path.dirname(store_dir)
