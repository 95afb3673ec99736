"""Whose work it was: what a session did counts for the task that it held at that time. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tether.agents import model as agents
from tether.agents import paths
from tether.evidence import model


def held_at(claims: Iterable[agents.Claim], at: str) -> agents.Claim | None:
    """The claim that was open at a time; of several the one that was taken last."""
    return _last(open_at(claims, at))


def open_at(claims: Iterable[agents.Claim], at: str) -> list[agents.Claim]:
    """The claims that were open at a time."""
    return [
        claim
        for claim in claims
        if claim.claimed_at <= at and (claim.closed_at is None or at <= claim.closed_at)
    ]


def committed_under(
    open_then: list[agents.Claim],
    files: Iterable[str],
    reserved: Callable[[agents.Claim], Iterable[str]],
    committers: Callable[[set[str]], set[str]],
) -> agents.Claim | None:
    """The claim that a commit in a checkout was made under; None if nobody can tell.

    One session made it. Where several held something there, the one whose reserved paths it
    changes, or which is seen to have run `git commit` then.
    """
    if len(open_then) < 2:
        return _last(open_then)
    files = list(files)
    meeting = [c for c in open_then if any(_meet(each, files) for each in reserved(c))]
    for chosen in (meeting, open_then):
        if len({claim.session_id for claim in chosen}) == 1:
            return _last(chosen)
    seen = committers({claim.session_id for claim in open_then})
    ran = [claim for claim in meeting or open_then if claim.session_id in seen]
    return _last(ran) if len({claim.session_id for claim in ran}) == 1 else None


def _meet(pattern: str, files: list[str]) -> bool:
    return any(paths.overlap(pattern, path) for path in files)


def _last(claims: Iterable[agents.Claim]) -> agents.Claim | None:
    return max(claims, key=lambda claim: (claim.claimed_at, claim.epoch), default=None)


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
