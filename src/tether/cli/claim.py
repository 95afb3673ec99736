"""`tether claim`: take a task."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tether import clock, errors, ids, text
from tether.agents import claims, model
from tether.cli import answers, context, verbs

if TYPE_CHECKING:
    from tether.agents import conflicts, leftovers


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    key = ids.TaskKey.parse(values["task"])
    if values["take_over"] and call.is_agent:
        raise errors.NotAllowed(
            "Only a person takes a task from a living agent. Nothing was changed.",
            hint="Write to its holder with `tether send`.",
        )
    patterns = [_from_top(call, path) for path in values["path"]]
    acting = call.acting(values["session"])
    answer = claims.take(
        call.store,
        call.spot,
        acting.session_id,
        key,
        patterns=patterns,
        news=call.news(acting),
        takes_over=values["take_over"],
    )
    if isinstance(answer, claims.Refused):
        raise refusal(answer)
    left = _leftovers(call, answer)
    return answers.Answer("claim", _value(answer, left), lambda: _text(call, answer, left))


def refusal(answer: claims.Refused, session_id: str = "") -> errors.Taken:
    """The error that says who has a task now."""
    label, last = answer.key.label, answer.last
    if last is None:
        return errors.Taken(
            f"{label} was never claimed. Nothing was changed.",
            hint="Take it with `tether claim`, or see who has what with `tether claims`.",
        )
    if not answer.is_held or answer.holder is None:
        return errors.Taken(
            f"{label} is not yours any more: the last claim, of {last.agent_name}, was closed as"
            f" {last.outcome} at {last.closed_at}. Nothing was changed.",
            hint="Claim it again if you want to go on.",
            details={"last": shown(last)},
        )
    if last.session_id == session_id:
        return errors.Taken(
            f"{label} is yours, but with epoch {last.epoch}. Nothing was changed.",
            hint="Another call of this session has claimed it anew; use that epoch.",
            details={"holder": shown(last)},
        )
    holder = {"verdict": answer.verdict, "reason": answer.reason, **shown(last)}
    return errors.Taken(
        f"{label} is held by {last.agent_name} since {last.claimed_at}"
        f" ({answer.verdict}: {answer.reason}). Nothing was changed.",
        hint="Take another task, or write to the holder with `tether send`.",
        details={"holder": holder},
    )


def shown(claim: model.Claim) -> dict[str, Any]:
    """A claim for programs."""
    value = claim._asdict()
    value["checkpoint"] = answers.untrusted(claim.checkpoint, f"checkpoint {claim.key.label}")
    return {"key": claim.key.label, **value}


def _leftovers(call: context.Context, answer: claims.Claimed) -> leftovers.Leftovers | None:
    """What the one before left in its checkout, if there was one who did not finish."""
    previous = answer.previous
    if previous is None or previous.outcome == claims.DONE:
        return None
    # Asks git, so only when there is something to take up.
    from tether.agents import leftovers

    return leftovers.read(call.workspace, previous)


def _value(answer: claims.Claimed, left: leftovers.Leftovers | None) -> dict[str, Any]:
    return {
        **shown(answer.claim),
        "new": answer.is_new,
        "adopted": answer.is_adopted,
        "previous": shown(answer.previous) if answer.previous else None,
        "left": _left_value(left) if left else None,
        "overlaps": [overlap._asdict() for overlap in answer.overlaps],
    }


def _left_value(left: leftovers.Leftovers) -> dict[str, Any]:
    stashes = [
        {"commit": s.oid, "at": clock.text(s.at_ms), "text": answers.untrusted(s.text, "stash")}
        for s in left.stashes
    ]
    return {**left._asdict(), "stashes": stashes}


def _text(call: context.Context, answer: claims.Claimed, left: leftovers.Leftovers | None) -> str:
    claim = answer.claim
    if not answer.is_new:
        lines = [f"{claim.key.label} is yours already, epoch {claim.epoch}."]
    else:
        lines = [f"{claim.key.label} is yours, epoch {claim.epoch}."]
    if answer.previous and answer.previous.outcome != claims.DONE:
        lines += _left(call, answer, answer.previous)
        lines += _left_files(left) if left else []
    lines += [_overlap(overlap) for overlap in answer.overlaps]
    if answer.overlaps:
        lines.append("Each side has a message about it.")
    return "\n".join(lines)


def _left(call: context.Context, answer: claims.Claimed, previous: model.Claim) -> list[str]:
    """What the one before left behind, as far as its rows tell."""
    if answer.is_adopted:
        lines = [f"Taken over from {previous.agent_name} ({answer.reason})."]
    else:
        lines = [f"Before you: {previous.agent_name}, {previous.outcome} {previous.closed_at}."]
    places = (
        ("branch", previous.branch),
        ("commit", previous.head),
        ("worktree", previous.worktree),
        ("transcript", previous.transcript),
    )
    lines += [f"  {name:<10}  {text.one_line(value)}" for name, value in places if value]
    if previous.checkpoint:
        lines.append(f"  last word   at {previous.checkpoint_at}:")
        lines.append(
            answers.quoted(
                previous.checkpoint,
                source=f"checkpoint {previous.key.label}",
                author=previous.agent_name,
                for_agent=call.is_agent,
            )
        )
    return lines


def _left_files(left: leftovers.Leftovers) -> list[str]:
    """Its uncommitted files and stashes, the first few of each."""
    lines = []
    for name in ("staged", "changed", "deleted", "untracked"):
        found: tuple[str, ...] = getattr(left, name)
        if found:
            more = f" and {len(found) - 5} more" if len(found) > 5 else ""
            lines.append(f"  {name:<10}  {text.one_line(', '.join(found[:5]), 200)}{more}")
    lines += [f"  {'stashed':<10}  {s.oid[:12]} at {clock.text(s.at_ms)}" for s in left.stashes]
    return lines or ["  nothing uncommitted in its worktree"]


def _overlap(overlap: conflicts.Overlap) -> str:
    other = ids.TaskKey(overlap.source, overlap.task).label
    return (
        f"Conflict: {overlap.agent_name} has reserved {overlap.reserved} for {other};"
        f" yours is {overlap.pattern}."
    )


def _from_top(call: context.Context, path: str) -> str:
    """A path as typed, relative to the top of the repository."""
    from tether.agents import paths

    root = call.workspace.root
    if root is None or not path:
        return paths.parse(path)
    return paths.parse(os.path.relpath(os.path.join(os.getcwd(), path), root))


VERB = verbs.Verb(
    name="claim",
    help="Take a task, unless somebody alive has it.",
    notes="TASK is its id, or source:id. What a dead or expired session held is taken over from"
    " it. Exit code 4 means that somebody else has it.",
    options=(
        verbs.Option(
            "--path",
            "A file, directory or glob that the work will change; may be repeated.",
            "PATH",
            is_list=True,
        ),
        verbs.Option("--take-over", "Take it from a living agent too; for people."),
        verbs.Option("--session", "Another session than the caller's.", "ID"),
    ),
    arguments=(verbs.Argument("task", "The task's id, or source:id."),),
    run=_run,
)
