"""Whose work it was: what a session did counts for the task that it held at that time. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from tether.agents import model as agents
from tether.evidence import model


def held_at(claims: Iterable[agents.Claim], at: str) -> agents.Claim | None:
    """The claim that was open at a time; of several the one that was taken last."""
    open_then = [
        claim
        for claim in claims
        if claim.claimed_at <= at and (claim.closed_at is None or at <= claim.closed_at)
    ]
    return max(open_then, key=lambda claim: (claim.claimed_at, claim.epoch), default=None)


def attributed(
    done: Iterable[model.Activity], claims: Iterable[agents.Claim], wanted: tuple[str, str]
) -> list[model.Activity]:
    """What was done under a claim of this task, out of what a session or a checkout did."""
    claims = list(claims)
    found = []
    for each in done:
        claim = held_at(claims, each.at) if each.at else None
        if claim is not None and (claim.source, claim.task) == wanted:
            session = each.session or claim.session_id
            found.append(each._replace(task_source=claim.source, task=claim.task, session=session))
    return found
