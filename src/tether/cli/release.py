"""`tether release`: let go of a task."""

from __future__ import annotations

from tether import ids
from tether.agents import claims, model, roll
from tether.cli import answers, claim, context, verbs


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    key = ids.TaskKey.parse(values["task"])
    outcome = ids.Outcome(values["outcome"])
    named = values["session"]
    session_id = call.session.session_id if named is None else ids.SessionId(named)
    if named is not None:
        roll.require(call.store.rows, session_id)
    epoch = values["epoch"]
    if epoch is None:
        held = claims.open_of(call.store.rows, key)
        if held is None or held.session_id != session_id:
            raise claim.refusal(claims.refused(call.store.rows, call.spot, key))
        epoch = held.epoch
    place = call.place if session_id == call.session.session_id else model.NOWHERE
    closed = claims.close(call.store, call.spot, session_id, key, epoch, outcome, place)
    if isinstance(closed, claims.Refused):
        raise claim.refusal(closed, session_id)
    return answers.Answer(
        "claim", claim.shown(closed), lambda: f"{key.label} is free: {closed.outcome}."
    )


VERB = verbs.Verb(
    name="release",
    help="Let go of a task.",
    notes="Exit code 4 means that it is not yours any more; the answer says whose it is.",
    options=(
        verbs.Option("--outcome", "What became of it: released, done, failed.", "WORD", "released"),
        verbs.Option("--epoch", "Only if the claim has still this epoch.", "N", is_number=True),
        verbs.Option("--session", "Another session than the caller's.", "ID"),
    ),
    arguments=(verbs.Argument("task", "The task's id, or source:id."),),
    run=_run,
)
