"""Taking up what somebody else began: where it was begun, unless it is to start over here."""

from __future__ import annotations

import os

from tether import errors, ids
from tether.agents import claims
from tether.agents import model as agents
from tether.cli import context
from tether.hints import TYPE_CHECKING, NamedTuple
from tether.tasks import claiming, states

if TYPE_CHECKING:
    from tether.cli import lookup

_OVER = (states.DONE, states.ARCHIVED, "cancelled")


class Adopted(NamedTuple):
    """What came of it, and where the work lies."""

    taken: claiming.Taken | claims.Refused
    elsewhere: str = ""
    """Another checkout, in which its files are; empty if this one is as good."""


def take(call: context.Context, key: ids.TaskKey, *, here: bool = False) -> Adopted:
    """Claim a task with a new epoch; its file follows only if it goes on in this checkout."""
    elsewhere = "" if here else _other_checkout(call, _before(call, key))
    if key.source == ids.OWN_SOURCE and call.workspace.root is not None and not elsewhere:
        at = call.desk()
        return Adopted(claiming.claim(at, key.id, news=call.news(at.caller.agent)))
    acting = call.agent
    answer = claims.take(call.store, call.spot, acting.session_id, key, news=call.news(acting))
    taken = answer if isinstance(answer, claims.Refused) else claiming.Taken(None, answer)
    return Adopted(taken, elsewhere)


def _before(call: context.Context, key: ids.TaskKey) -> agents.Claim | None:
    """The last claim of somebody else."""
    own = call.session.session_id
    history = claims.history(call.store.rows, key)
    return next((each for each in history if each.session_id != own), None)


def require_open(key: ids.TaskKey, state: str, verb: str = "take up") -> None:
    """Refuse what is over: there is nothing to do about it."""
    if state in _OVER:
        raise errors.NotAllowed(
            f"{key.label} is {state}, so there is nothing to {verb}. Nothing was changed.",
            hint="A person can open it again: with `tether task reopen`, or in its list.",
        )


def require_told_of(call: context.Context, key: ids.TaskKey, named: lookup.Named) -> None:
    """Refuse what is no task here, and of which no claim and no finding tells."""
    from tether.vacuum import reports

    is_told = claims.last_of(call.store.rows, key) or reports.of_task(call.store, key)
    if not named.is_known and not is_told:
        raise named.missing()


def require_here(call: context.Context, key: ids.TaskKey, named: lookup.Named) -> None:
    """Refuse to mark what this checkout does not have."""
    require_told_of(call, key, named)
    if not named.is_known:
        raise errors.NotFound(
            f"{key.label} is on no list of this checkout, so it cannot be marked."
            " Nothing was changed.",
            hint=f"Mark it on its branch, or say that it has time: tether vacuum defer {key.label}",
        )


def _other_checkout(call: context.Context, before: agents.Claim | None) -> str:
    """Another checkout of this machine in which the task was last worked on, if it is there."""
    if before is None or not before.worktree or before.worktree == call.workspace.root:
        return ""
    from tether.agents import leftovers

    is_there = os.path.isdir(before.worktree) and not leftovers.why_not(call.workspace, before)
    return before.worktree if is_there else ""
