"""The verbs that move a task on once somebody has it, and those of the people who look after it.

Letting go (finish, fail, return): the file first, then the claim is closed. A crash in between
leaves the claim open beside a file that says what became of it; the same verb again closes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from tether import errors, ids
from tether.agents import claims
from tether.agents import model as agents
from tether.hints import Any, NamedTuple
from tether.store import port
from tether.tasks import claiming, desk, document, home, model, stalling, states, workdir

REMOVE = document.REMOVE
# Names from files are repeated only if they cannot be taken for words of ours.
_PLAIN = re.compile(r"[A-Za-z0-9_./@+-]{1,200}")
# What ends with the work of one owner.
_OF_ONE_OWNER = ("assigned_at", "started_at", "timeout_at")


class Partial(NamedTuple):
    """What a finished task did not bring about."""

    missing: tuple[str, ...]
    why: str


def finish(
    at: desk.Desk,
    task_id: str,
    *,
    summary: str,
    artefacts: Iterable[str] = (),
    partial: Partial | None = None,
    epoch: int | None = None,
) -> desk.Moved | claims.Refused:
    """The holder is done, with a result; what is missing becomes a task of its own."""
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        if repeated := _repeated(at, case, "finish", claims.DONE, states.DONE):
            told = (summary or partial) and "It was finished before; what you say now is not used."
            return repeated._replace(notes=(told,)) if told else repeated
        held = _held(at, case, epoch)
        if isinstance(held, claims.Refused):
            return held
        _require_begun(at, case, "finish")
        named = list(dict.fromkeys(artefacts)) or list(case.task.artefacts)
        missing = set(partial.missing) if partial else set()
        made = [name for name in named if name not in missing]
        result: dict[str, Any] = {"summary": summary, "artefacts": made}
        follow_up = None
        if partial is not None:
            follow_up = _follow_up(at, case, partial)
            result["artefacts_not_created"] = [
                {"name": name, "rationale": partial.why} for name in partial.missing
            ]
            result |= {"partial": True, "follow_up": follow_up.id}
        changes = {
            "status": states.DONE,
            **_started(case, at.now),
            "completed_at": at.now,
            "result": {**result, "completed_at": at.now},
        }
        moved = _let_go(at, case, held, "finish", changes, states.DONE, claims.DONE, summary)
        if isinstance(moved, claims.Refused):
            if follow_up is not None and follow_up.created_at == at.now:
                at.work.files.remove(follow_up.path)
            return moved
        touched = (*moved.touched, follow_up.path) if follow_up else moved.touched
        return moved._replace(
            notes=_absent_artefacts(at, made), follow_up=follow_up, touched=touched
        )


def fail(
    at: desk.Desk, task_id: str, *, message: str, epoch: int | None = None
) -> desk.Moved | claims.Refused:
    """The holder gives up; a person decides what comes next."""
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        if repeated := _repeated(at, case, "fail", claims.FAILED, states.ERROR):
            return repeated
        held = _held(at, case, epoch)
        if isinstance(held, claims.Refused):
            return held
        _require_begun(at, case, "fail")
        history = case.document.fields.get("history")
        tries = [e for e in history if _is_retry(e)] if isinstance(history, list) else []
        changes = {
            "status": states.ERROR,
            **_started(case, at.now),
            "error": {
                "message": message,
                "timestamp": at.now,
                "agent": at.caller.name,
                "retry_count": len(tries),
            },
        }
        return _let_go(at, case, held, "fail", changes, states.ASSIGNED, claims.FAILED, message)


def give_back(
    at: desk.Desk, task_id: str, *, why: str = "", epoch: int | None = None
) -> desk.Moved | claims.Refused:
    """`return`: the task is free again; whoever gives it back, its holder is told."""
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        if repeated := _repeated(at, case, "return", claims.RELEASED, states.NEW):
            return repeated
        if epoch is not None and _epoch_differs(case, epoch):
            return claims.refused(at.store.rows, at.spot, case.key)
        is_of_another = case.claim is not None and not desk.is_held_by_caller(at, case)
        if is_of_another and not at.caller.is_human:
            return claims.refused(at.store.rows, at.spot, case.key)
        if is_of_another and desk.let_go_outcome(case) == claims.RELEASED:
            return _close_rest(at, case, "return", claims.RELEASED)
        if not (case.state == states.NEW and case.claim is not None):
            desk.require_allowed(at, case, "return")
        entry = desk.entry(at, "returned", agent=case.task.owner, why=why)
        changes = {
            "status": states.NEW,
            "agent": "",
            **dict.fromkeys(_OF_ONE_OWNER, REMOVE),
            "history": desk.with_entry(case, entry),
        }
        return _let_go(at, case, case.claim, "return", changes, states.INBOX, claims.RELEASED, why)


def complete(
    at: desk.Desk,
    task_id: str,
    *,
    summary: str,
    evidence: Iterable[str] = (),
    artefacts: Iterable[str] = (),
) -> desk.Moved | claims.Refused:
    """A person, or an adopter with evidence, says that the work is there."""
    shown = list(dict.fromkeys(evidence))
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        if case.state == states.DONE and case.claim is not None and at.caller.is_human:
            return _close_rest(at, case, "complete", claims.DONE)
        has_adopted = _has_adopted(at, case) and bool(shown)
        desk.require_allowed(at, case, "complete", (states.ADOPTER,) if has_adopted else ())
        made = list(dict.fromkeys(artefacts)) or list(case.task.artefacts)
        result: dict[str, Any] = {"summary": summary, "artefacts": made}
        if shown:
            result["evidence"] = shown
        changes: dict[str, Any] = {
            "status": states.DONE,
            "completed_at": at.now,
            "result": {**result, "completed_at": at.now},
        }
        if not case.task.agent:
            changes["agent"] = at.caller.name
        if error := case.document.fields.get("error"):
            entry = desk.entry(at, "completed", error=error)
            changes |= {"error": REMOVE, "history": desk.with_entry(case, entry)}
        moved = _let_go(
            at, case, case.claim, "complete", changes, states.DONE, claims.DONE, summary
        )
        if isinstance(moved, claims.Refused):
            return moved
        return moved._replace(notes=_absent_artefacts(at, made))


def retry(
    at: desk.Desk, task_id: str, *, to: str | None = None, why: str = "", stalled_ms: int
) -> desk.Moved:
    """Try again what failed or got stuck; the error goes into the task's history."""
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        desk.require_allowed(at, case, "retry")
        _require_stalled(at, case, stalled_ms)
        name = ids.AgentName(to or case.task.owner or at.caller.name)
        entry = desk.entry(
            at, "retried", agent=case.task.owner, why=why, error=case.document.fields.get("error")
        )
        changes = {
            "status": states.ASSIGNED,
            "agent": str(name),
            "assigned_at": at.now,
            **dict.fromkeys(("started_at", "timeout_at", "completed_at", "error"), REMOVE),
            "history": desk.with_entry(case, entry),
        }
        return claiming.hand_over(at, case, "retry", changes, name, why, case.claim)


def extend(at: desk.Desk, task_id: str, *, until: str) -> desk.Moved:
    """Let a task in progress take longer."""
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        desk.require_allowed(at, case, "extend")
        before = case.state
        case = desk.rewrite(at, case, {"timeout_at": until})
        desk.log_moved(at, case.key, "extend", before, before, f"until {until}")
        return desk.Moved("extend", before, case.task, case.touched, case.claim)


def cancel(at: desk.Desk, task_id: str, *, why: str) -> desk.Moved | claims.Refused:
    """A person decides that it will not be done. Its status stays, and says how far it was."""
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        is_cancelled = case.state == states.ARCHIVED and case.task.is_cancelled
        if is_cancelled and (case.claim is None or at.caller.is_human):
            return _close_rest(at, case, "cancel", states.CANCELLED)
        desk.require_allowed(at, case, "cancel")
        changes = {states.CANCELLED: {"at": at.now, "by": at.caller.name, "why": why}}
        return _let_go(
            at,
            case,
            case.claim,
            "cancel",
            changes,
            states.ARCHIVE,
            states.CANCELLED,
            why,
            at.now[:7],
        )


def archive(at: desk.Desk, task_id: str) -> desk.Moved:
    """Put a done task away, by the month in which it was completed."""
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        before = case.state
        if before == states.ARCHIVED:
            return desk.Moved("archive", before, case.task, case.touched, is_repeat=True)
        desk.require_allowed(at, case, "archive", (states.CLEANUP,))
        month = home.month_of(case.task, case.document.fields)
        case = desk.rewrite(at, case, {}, states.ARCHIVE, month)
        desk.log_moved(at, case.key, "archive", before, states.ARCHIVED)
        return desk.Moved("archive", before, case.task, case.touched)


def reopen(at: desk.Desk, task_id: str, *, why: str = "") -> desk.Moved:
    """Make a finished task new again; its result goes into its history.

    Here the rename comes first: a crash in between leaves a done task in the inbox, which is
    carried back, so it is reopened wholly or not at all.
    """
    with desk.locked(at, task_id):
        unpacked = _unpacked(at, task_id)
        case = desk.take_up(at, task_id)
        desk.require_allowed(at, case, "reopen")
        before, fields = case.state, case.document.fields
        kept = {
            name: fields[name] for name in ("result", "error", states.CANCELLED) if name in fields
        }
        entry = desk.entry(at, "reopened", agent=case.task.agent, why=why, **kept)
        changes = {
            "status": states.NEW,
            "agent": "",
            **dict.fromkeys((*_OF_ONE_OWNER, "completed_at", *kept), REMOVE),
            "history": desk.with_entry(case, entry),
        }
        from tether.tasks import splicing

        # What could not be edited must not be moved either.
        splicing.edit(case.document, changes)
        case = desk.rewrite(at, case, {}, states.INBOX, "")
        case = desk.rewrite(at, case, changes)
        desk.log_moved(at, case.key, "reopen", before, states.NEW, why)
        return desk.Moved("reopen", before, case.task, (*case.touched, *unpacked))


def _unpacked(at: desk.Desk, task_id: str) -> tuple[str, ...]:
    """Give a packed task its file in the archive back; the paths that changed."""
    if at.work.find(task_id):
        return ()
    from tether.tasks import packs

    loaded = packs.load(at.work, task_id)
    if loaded is None:
        return ()
    # Before anything is touched: who may not reopen it must not unpack it either.
    roles = [states.HUMAN if at.caller.is_human else states.AGENT]
    answer = states.check("reopen", states.ARCHIVED, roles)
    if isinstance(answer, states.Breach):
        raise desk.breach(ids.TaskKey(ids.OWN_SOURCE, task_id), answer)
    pack = loaded.task.path
    raw = loaded.document.text.encode()
    path = at.work.create(task_id, raw, states.ARCHIVE, loaded.task.folder)
    name = f"{task_id}{workdir.SUFFIX}"
    packs.take_out(at.work, workdir.Found(pack, states.ARCHIVE, loaded.task.folder, name, None))
    return pack, path


# What they share


def _held(at: desk.Desk, case: desk.Case, epoch: int | None) -> agents.Claim | claims.Refused:
    """The caller's open claim; or who has it."""
    if case.claim is None or not desk.is_held_by_caller(at, case) or _epoch_differs(case, epoch):
        return claims.refused(at.store.rows, at.spot, case.key)
    return case.claim


def _has_adopted(at: desk.Desk, case: desk.Case) -> bool:
    """Does the caller hold what somebody else had before?"""
    if case.claim is None or not desk.is_held_by_caller(at, case):
        return False
    earlier = claims.unfinished_before(at.store.rows, case.claim)
    return any(each.session_id != at.caller.session_id for each in earlier)


def _epoch_differs(case: desk.Case, epoch: int | None) -> bool:
    return epoch is not None and (case.claim is None or case.claim.epoch != epoch)


def _require_begun(at: desk.Desk, case: desk.Case, verb: str) -> None:
    """A task whose file still lags behind its claim counts as begun; the table decides the rest."""
    if case.state != states.NEW:
        desk.require_allowed(at, case, verb)


def _started(case: desk.Case, now: str) -> dict[str, Any]:
    """Both steps are recorded, also if the first was skipped."""
    task, fields = case.task, case.document.fields
    # The claim may be older than this file: it was taken in another checkout.
    since = max(case.claim.claimed_at if case.claim else now, task.created_at)
    return {
        "agent": task.owner or (case.claim.agent_name if case.claim else ""),
        "assigned_at": fields.get("assigned_at") or since,
        "started_at": fields.get("started_at") or max(since, task.assigned_at),
    }


def _repeated(
    at: desk.Desk, case: desk.Case, verb: str, outcome: str, state: str
) -> desk.Moved | None:
    """The answer to somebody who lets go twice: it is as wanted already."""
    if case.claim is not None or case.state != state:
        return None
    last = claims.last_of(at.store.rows, case.key)
    if last is None or last.outcome != outcome or last.closed_by != at.caller.session_id:
        return None
    return desk.Moved(verb, state, case.task, case.touched, last, is_repeat=True)


def _let_go(
    at: desk.Desk,
    case: desk.Case,
    held: agents.Claim | None,
    verb: str,
    changes: Mapping[str, Any],
    place: str,
    outcome: str,
    why: str,
    folder: str | None = None,
) -> desk.Moved | claims.Refused:
    """The file, then the claim."""
    before, original = case.state, case
    if place == states.ASSIGNED:
        folder = case.task.folder if case.task.place == place else at.caller.name
    case = desk.rewrite(at, case, changes, place, folder or "")
    after = case.task.state

    def close(transaction: port.Transaction) -> agents.Claim | None:
        closed = _close(transaction, at, held, verb, outcome) if held is not None else None
        if held is None or closed is not None:
            desk.say_moved(transaction, at, case.key, verb, before, after, why)
        return closed

    closed = at.store.write(verb, close)
    if held is not None and closed is None:
        # Somebody on another machine was quicker, between our look and now.
        _put_back(at, original, case)
        return claims.refused(at.store.rows, at.spot, case.key)
    return desk.Moved(verb, before, case.task, case.touched, closed)


def _close(
    transaction: port.Transaction, at: desk.Desk, held: agents.Claim, verb: str, outcome: str
) -> agents.Claim | None:
    if held.session_id == at.caller.session_id:
        return claims.close_one(
            transaction, held.session_id, held.key, held.epoch, outcome, at.caller.place
        )
    body = f"{at.caller.name} has used `{verb}` on {held.key.label}, which you had."
    return claims.take_back(transaction, held, at.caller.agent, outcome, body)


def _close_rest(at: desk.Desk, case: desk.Case, verb: str, outcome: str) -> desk.Moved:
    """The file says it already: close what claim is left."""
    held = case.claim
    closed = None
    if held is not None:
        closed = at.store.write(
            verb, lambda transaction: _close(transaction, at, held, verb, outcome)
        )
    return desk.Moved(verb, case.state, case.task, case.touched, closed, is_repeat=True)


def _put_back(at: desk.Desk, original: desk.Case, now: desk.Case) -> None:
    """Undo what was done to the file."""
    task = original.task
    if now.task.path != task.path:
        at.work.files.rename_noreplace(now.task.path, task.path)
    at.work.write(task.path, original.document.text.encode())


def _follow_up(at: desk.Desk, case: desk.Case, partial: Partial) -> model.Task:
    """The task for what is missing. Asking twice makes no second one."""
    parent = case.task
    for number in range(1, 1000):
        if not ids.TaskId.is_valid(f"{parent.id}-{number}"):
            raise errors.NotAllowed(
                f"The id {parent.id} is too long for a follow-up. Nothing was changed.",
                hint="Make the follow-up with `tether task new --parent`, then finish.",
            )
        task_id = ids.TaskId(f"{parent.id}-{number}")
        found = at.work.find(task_id)
        if not found:
            break
        known = at.work.read(found[0])
        if known.parent == parent.id and set(known.artefacts) == set(partial.missing):
            return known
    else:
        raise errors.NotAllowed(f"{parent.id} has a thousand follow-ups. Nothing was changed.")
    fields: dict[str, Any] = {
        "id": str(task_id),
        "title": f"Rest of: {parent.title or parent.id}",
        "agent": "",
        "status": states.NEW,
        "priority": parent.priority,
        "created_at": at.now,
        "created_by": at.caller.name,
        "parent": parent.id,
        "artefacts": list(partial.missing),
        "description": f"What {parent.id} left open: {partial.why}\n",
    }
    path = at.work.create(task_id, document.compose(fields))
    desk.log_moved(at, ids.TaskKey(ids.OWN_SOURCE, task_id), "new", states.NONE, states.NEW)
    return model.task(task_id, path, states.INBOX, "", fields)


def _absent_artefacts(at: desk.Desk, names: Iterable[str]) -> tuple[str, ...]:
    """A warning for every artefact that is named and not there."""
    return tuple(
        f"The artefact {name if _PLAIN.fullmatch(name) else 'with an odd name'} is not here."
        for name in names
        if not os.path.lexists(os.path.join(at.work.top, name))
    )


def _is_retry(entry: object) -> bool:
    return isinstance(entry, dict) and entry.get("what") == "retried" and bool(entry.get("error"))


def _require_stalled(at: desk.Desk, case: desk.Case, stalled_ms: int) -> None:
    """What somebody alive works on is not tried again behind their back."""
    if case.state != states.IN_PROGRESS or stalling.is_stalled(case.task, at.now, stalled_ms):
        return
    if case.claim is None:
        return
    claiming.require_unheld(at, case, "retry")
