"""What was before the claim of the one who asks: to take a task up is no work on it. Pure.

Who has taken a task wants to know of those before. The log tells of the taking itself as well, in
several events, and each of them would be the last thing that happened.
"""

from __future__ import annotations

from collections.abc import Iterable

from tether.agents import claims
from tether.agents import model as agents
from tether.evidence import model, timeline
from tether.store import events

_TAKING = (events.CLAIM_TAKEN.name, events.CLAIM_ADOPTED.name)
# The file of a task follows its claim, and messages tell others of it.
_FOLLOWING = ("claim", "start")
_MESSAGES = ("task_adopted", "task_conflict")


def without_taking(
    line: timeline.Timeline, found: Iterable[events.Event], own: agents.Claim
) -> timeline.Timeline:
    """The timeline of a task without what only tells that this claim was taken."""
    telling = {f"event:{each.id}" for each in found if _only_tells_of(each, own)}
    return line._replace(
        activities=tuple(each for each in line.activities if each.pointer not in telling)
    )


def without_talk(line: timeline.Timeline, taker: str) -> timeline.Timeline:
    """The same without what the one who takes it up has only said of it."""
    return line._replace(
        activities=tuple(
            each for each in line.activities if each.session != taker or each.kind in model.MOVING
        )
    )


def _only_tells_of(event: events.Event, own: agents.Claim) -> bool:
    data = event.data
    if event.type == events.CLAIM_CLOSED.name:
        # The claim before this one: its holder did nothing then.
        is_taken_over = data.get("outcome") == claims.ADOPTED
        return is_taken_over and data.get("by") == own.session_id and event.at >= own.claimed_at
    if event.session != own.session_id:
        return False
    if event.type in _TAKING:
        return data.get("epoch") == own.epoch
    if event.at < own.claimed_at:
        return False
    if event.type == events.TASK_MOVED.name:
        return data.get("verb") in _FOLLOWING
    return event.type == events.MESSAGE_SENT.name and data.get("type") in _MESSAGES


def has_begun(line: timeline.Timeline, own: agents.Claim) -> bool:
    """Does anything show work since this claim? `line` is without what only tells of it."""
    shown = (each.at for each in line.activities if each.kind in model.MOVING)
    return bool(own.checkpoint) or any(at >= own.claimed_at for at in shown)
