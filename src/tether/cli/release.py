"""`tether release`: let go of a task."""

from __future__ import annotations

from tether import errors, ids
from tether.agents import claims, model
from tether.cli import answers, claim, context, verbs
from tether.cli.task import shown


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    key, outcome = shown.key_of(call, values["task"]), ids.Outcome(values["outcome"])
    _require_no_file(call, key)
    session_id = _session_id(call, values["session"])
    epoch = values["epoch"]
    if epoch is None:
        held = claims.open_of(call.store.rows, key)
        if held is None or held.session_id != session_id:
            return _not_held(call, key, session_id)
        epoch = held.epoch
    place = call.place if session_id == call.session.session_id else model.NOWHERE
    closed = claims.close(call.store, call.spot, session_id, key, epoch, outcome, place)
    if isinstance(closed, claims.Refused):
        raise claim.refusal(closed, session_id)
    return answers.Answer(
        "claim", shown.claim_value(closed), lambda: f"{key.label} is free: {_said(closed)}."
    )


def _require_no_file(call: context.Context, key: ids.TaskKey) -> None:
    """A file would go on saying that somebody works on it."""
    if key.source == ids.OWN_SOURCE and call.workspace.root and call.work.find(key.id):
        raise errors.NotAllowed(
            f"{key.label} has a file, which tells what became of it. Nothing was changed.",
            hint="Use `tether finish`, `tether fail` or `tether task return`.",
        )


def _session_id(call: context.Context, named: str | None) -> str:
    if named is None:
        return call.session.session_id
    return call.acting(named).session_id


def _not_held(call: context.Context, key: ids.TaskKey, session_id: str) -> answers.Answer:
    """Who lets go twice has let go; everybody else learns whose it is."""
    answer = claims.refused(call.store.rows, call.spot, key)
    last = answer.last
    let_go = last is not None and last.closed_at is not None and last.closed_by == session_id
    if last is None or not let_go:
        raise claim.refusal(answer, session_id)
    return answers.Answer(
        "claim", shown.claim_value(last), lambda: f"{key.label} is free already: {_said(last)}."
    )


def _said(closed: model.Claim) -> str:
    return claims.in_words(closed.outcome)


VERB = verbs.Verb(
    name="release",
    help="Let go of a task that has no file.",
    notes="Exit code 4 means that it is not yours any more; the answer says whose it is.",
    options=(
        verbs.Option("--outcome", "What became of it: released, done, failed.", "WORD", "released"),
        verbs.Option("--epoch", "Only if the claim has still this epoch.", "N", is_number=True),
        verbs.Option("--session", "Another session than the caller's.", "ID"),
    ),
    arguments=(verbs.Argument("task", "The task's id, or source:id."),),
    run=_run,
)
