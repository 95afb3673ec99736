"""Taking a task: dependencies, claim and file together.

The claim is committed first, then the file follows: a crash in between leaves a claim whose file
lags behind, and the holder's next verb brings it along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tether import errors, ids, text
from tether.agents import claims, liveness, registry, roll
from tether.agents import model as agents
from tether.hints import Any, NamedTuple
from tether.store import port
from tether.tasks import dependencies, desk, model, states, workdir

# Outcomes after which a task is not simply free.
_OVER = (claims.DONE, claims.FAILED, states.CANCELLED)


class Taken(NamedTuple):
    """The caller has the task, and its file says so."""

    moved: desk.Moved | None
    """None for a task that has no file in this checkout."""
    answer: claims.Claimed


def claim(
    at: desk.Desk,
    task_id: str,
    *,
    patterns: Iterable[str] = (),
    news: registry.News = registry.NO_NEWS,
    takes_over: bool = False,
    starts: bool = True,
    verb: str = "claim",
) -> Taken | claims.Refused:
    """Take a task, or take it over from somebody who is gone."""

    def take(key: ids.TaskKey) -> claims.Claimed | claims.Refused:
        return claims.take(
            at.store,
            at.spot,
            at.caller.session_id,
            key,
            patterns=patterns,
            news=news,
            takes_over=takes_over,
        )

    with desk.locked(at, task_id):
        case = desk.look(at, task_id, tidies=True)
        if case is None:
            return _claim_without_file(at, task_id, take, takes_over=takes_over)
        desk.require_readable(case.task)
        case = desk.close_rest(at, case)
        _require_claimable(at, case, verb, takes_over=takes_over)
        if not desk.is_held_by_caller(at, case):
            require_dependencies(at, case.task)
            if not takes_over:
                _require_not_over_elsewhere(at, case.key, case.task.fresh_at)
        desk.require_editable(case)
        answer = take(case.key)
        if isinstance(answer, claims.Refused):
            return answer
        before = case.state
        case = desk.put_right(at, case._replace(claim=answer.claim))
        case = _bring_along(at, case, starts=starts)
        if not answer.is_new and case.state != before:
            # What is claimed anew is told as a claim; this one was held already.
            desk.log_moved(at, case.key, verb, before, case.state)
        return Taken(desk.Moved(verb, before, case.task, case.touched, answer.claim), answer)


def assign(at: desk.Desk, task_id: str, agent_name: str, why: str = "") -> desk.Moved:
    """Give a task to an agent. If it is here, it has the claim from now on."""
    name = ids.AgentName(agent_name)
    with desk.locked(at, task_id):
        case = desk.take_up(at, task_id)
        before = case.state
        if before == states.ASSIGNED and case.task.owner == name:
            return desk.Moved("assign", before, case.task, case.touched, case.claim, is_repeat=True)
        desk.require_allowed(at, case, "assign")
        # Given already by a call that died before the file followed: it follows now.
        if case.claim is None or case.claim.agent_name != name:
            require_unheld(at, case, "assign")
        changes = {"status": states.ASSIGNED, "agent": str(name), "assigned_at": at.now}
        return hand_over(at, case, "assign", changes, name, why)


def hand_over(
    at: desk.Desk,
    case: desk.Case,
    verb: str,
    changes: dict[str, Any],
    name: ids.AgentName,
    why: str,
    held: agents.Claim | None = None,
) -> desk.Moved:
    """Put a task into an agent's directory; if the agent is here, its session gets the claim.

    A claim that is `held` until then is taken back in the same step.
    """
    from tether.agents import messages

    desk.require_editable(case)
    before = case.state
    receiver = _only_session(at, name)

    def give(transaction: port.Transaction) -> agents.Claim | None:
        if held is not None:
            taken_back = f"{at.caller.name} has {case.key.label} tried again."
            claims.take_back(transaction, held, at.caller.agent, claims.RELEASED, taken_back)
        given = claims.give(transaction, at.spot, receiver, case.key) if receiver else None
        _require_not_overtaken(transaction, case, name, verb)
        desk.say_moved(transaction, at, case.key, verb, before, states.ASSIGNED, why)
        body = f"{case.key.label} is assigned to you."
        if name != at.caller.name:
            draft = messages.Draft(body, "task_assigned", messages.NORMAL, case.key)
            messages.post(
                transaction, at.caller.name, at.caller.session_id, messages.To(name=name), draft
            )
        return given

    given = at.store.write(verb, give)
    case = desk.rewrite(at, case, changes, states.ASSIGNED, name)
    return desk.Moved(verb, before, case.task, case.touched, given)


def _require_not_overtaken(
    transaction: port.Transaction, case: desk.Case, name: ids.AgentName, verb: str
) -> None:
    """Nobody on another machine may have taken it since the case was looked at."""
    now = claims.open_of(transaction.rows, case.key)
    known = case.claim.epoch if case.claim else 0
    if now is not None and now.agent_name != name and now.epoch != known:
        raise errors.Taken(
            f"{case.key.label} was taken by {now.agent_name} meanwhile, so `{verb}` must wait."
            " Nothing was changed.",
            hint="See it with `tether task show`, and repeat the command if it is still wanted.",
        )


def require_dependencies(at: desk.Desk, task: model.Task) -> None:
    """Refuse what waits for something."""
    unmet = [each for each in look_at(at.work, task.depends_on) if not each.is_met]
    if not unmet:
        return
    shown = ", ".join(f"{_named(each.id)} ({_why_unmet(each)})" for each in unmet[:5])
    raise errors.NotAllowed(
        f"{task.id} waits for {text.one_line(shown)}. Nothing was changed.",
        hint="What it depends on must be done in this checkout; `tether next` names what is free.",
        details={"waits_for": [each._asdict() for each in unmet]},
    )


def look_at(work: workdir.Workdir, task_ids: Iterable[str]) -> list[dependencies.Dependency]:
    """The state of each of these tasks in this checkout."""
    return [_dependency(work, task_id) for task_id in dict.fromkeys(task_ids)]


def require_unheld(at: desk.Desk, case: desk.Case, verb: str) -> None:
    """Refuse to move what somebody alive holds."""
    if case.claim is None or case.claim.session_id == at.caller.session_id:
        return
    answer = claims.refused(at.store.rows, at.spot, case.key)
    if answer.is_held and answer.verdict not in liveness.OVER:
        raise errors.Taken(
            f"{case.key.label} is held by {case.claim.agent_name} ({answer.verdict}:"
            f" {answer.reason}), so `{verb}` must wait. Nothing was changed.",
            hint="Give it back first with `tether task return`, or write to its holder.",
        )


def _dependency(work: workdir.Workdir, task_id: str) -> dependencies.Dependency:
    if not ids.TaskId.is_valid(task_id):
        return dependencies.Dependency(task_id, states.NONE)
    tasks = [work.read(each) for each in work.find(task_id)] or _packed(work, task_id)
    if not tasks:
        return dependencies.Dependency(task_id, states.NONE)
    best = max(tasks, key=lambda task: states.RANK.get(task.state, 5))
    state = states.UNREADABLE if best.problem else best.state
    return dependencies.Dependency(task_id, state, best.is_cancelled)


def _packed(work: workdir.Workdir, task_id: str) -> list[model.Task]:
    from tether.tasks import packs

    loaded = packs.load(work, task_id)
    return [loaded.task] if loaded else []


def _named(name: str) -> str:
    """A name from a file, if it is one: an error must not speak with the words of others."""
    return name if ids.TaskId.is_valid(name) else "something that is no name"


def _why_unmet(each: dependencies.Dependency) -> str:
    if each.is_cancelled:
        return "cancelled"
    return "not here" if each.state == states.NONE else each.state


def _require_claimable(at: desk.Desk, case: desk.Case, verb: str, *, takes_over: bool) -> None:
    """May the caller take it, by its file? Who else holds it is the claim's business."""
    state = case.state
    if desk.is_held_by_caller(at, case) and state in (
        states.NEW,
        states.ASSIGNED,
        states.IN_PROGRESS,
    ):
        return
    roles = desk.roles(at, case)
    answer = states.check(verb, state, roles)
    if isinstance(answer, states.Move):
        return
    adopts = states.check("adopt", state, roles)
    if isinstance(adopts, states.Breach) or verb == "start":
        raise desk.breach(case.key, answer)
    # Somebody else's by its file: theirs until they are gone, have let go, or a person says so.
    last = claims.last_of(at.store.rows, case.key)
    is_known = last is not None and case.task.fresh_at <= (last.closed_at or last.claimed_at)
    has_let_go = state == states.IN_PROGRESS and is_known
    if case.claim is None and not has_let_go and not takes_over:
        if state == states.IN_PROGRESS and case.task.owner == at.caller.name:
            return
        raise errors.NotAllowed(
            f"{case.key.label} is {state} and belongs to {_named(case.task.owner)} by its"
            " file. Nothing was changed.",
            hint="Ask its owner, or let a person take it with --take-over.",
            details={"rule": answer.rule, "verb": verb, "state": state},
        )


def _require_not_over_elsewhere(at: desk.Desk, key: ids.TaskKey, fresh_at: str = "") -> None:
    """Nobody should do again what only waits for a merge, or what a person must look at first.

    Also if its claim is still open: its holder may have died right after the file was done.
    """
    last = claims.last_of(at.store.rows, key)
    if last is None or fresh_at > (last.closed_at or last.claimed_at):
        return
    from tether.tasks import elsewhere

    remote = elsewhere.is_remote(at.store.rows, at.spot)
    others = elsewhere.Elsewhere(at.place, at.work, remote)
    if others.is_here(last):
        return
    there = others.state(last, asks_git=last.outcome in _OVER)
    where = last.branch or "another checkout"
    if there in (states.DONE, states.CANCELLED):
        raise errors.NotAllowed(
            f"{key.label} is {there} on {where} and waits for a merge. Nothing was changed.",
            hint="Merge that branch; a person who wants it done again uses --take-over.",
            details={"rule": "done elsewhere, waiting for a merge", "branch": last.branch},
        )
    if there == states.ERROR and last.outcome == claims.FAILED:
        raise errors.NotAllowed(
            f"{key.label} failed on {where}, and a person decides what comes next."
            " Nothing was changed.",
            hint="A person uses `tether task retry` there, or --take-over here.",
            details={"rule": "failed elsewhere, waiting for a person", "branch": last.branch},
        )


def _bring_along(at: desk.Desk, case: desk.Case, *, starts: bool) -> desk.Case:
    """Let the file say what the claim says."""
    task = case.task
    is_started = starts or task.state == states.IN_PROGRESS
    state = states.IN_PROGRESS if is_started else states.ASSIGNED
    changes: dict[str, Any] = {"status": state, "agent": at.caller.name}
    if not task.assigned_at:
        changes["assigned_at"] = at.now
    if is_started and not task.started_at:
        changes["started_at"] = at.now
    folder = at.caller.name
    if task.place == states.ASSIGNED and task.owner == at.caller.name:
        folder = task.folder
    return desk.rewrite(at, case, changes, states.ASSIGNED, folder)


def _claim_without_file(
    at: desk.Desk,
    task_id: str,
    take: Callable[[ids.TaskKey], claims.Claimed | claims.Refused],
    *,
    takes_over: bool,
) -> Taken | claims.Refused:
    """A task that this checkout has no file of: another one may, or no files are used at all."""
    key = ids.TaskKey(ids.OWN_SOURCE, task_id)
    last = claims.last_of(at.store.rows, key)
    if at.work.exists and last is None:
        raise desk.missing(at, task_id)
    if not takes_over and last is not None and last.session_id != at.caller.session_id:
        _require_not_over_elsewhere(at, key)
    answer = take(key)
    return answer if isinstance(answer, claims.Refused) else Taken(None, answer)


def _only_session(at: desk.Desk, name: str) -> agents.Agent | None:
    """The one session of an agent that is here; None if there is none, or more than one."""
    found = [each for each in roll.by_name(at.store.rows, name) if each.is_here]
    return found[0] if len(found) == 1 else None
