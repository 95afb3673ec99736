"""What there is still to do where nothing is free, in figures."""

from __future__ import annotations

from tether import text
from tether.agents import claims
from tether.brief import choosing
from tether.cli import context
from tether.hints import Any, NamedTuple
from tether.tasks import views


class Rest(NamedTuple):
    """What is open and not free."""

    lists: dict[str, choosing.Open]
    begun: int = 0
    """In progress, and nobody has claimed them."""
    for_merge: int = 0
    """Done on another branch, or waiting for what is."""
    is_parked: bool = False
    """Did the last sweep find that a track or the project rests?"""


def look(call: context.Context) -> dict[str, choosing.Open]:
    """The open tasks of each list of this checkout; of those that have none, nothing."""
    if not call.sources:
        return {}
    held = {each.key for each in claims.open_ones(call.store.rows)}
    return choosing.open_in(call.lists, held)


def rest(call: context.Context, passed: list[views.View]) -> Rest:
    """Why nothing is free. `passed` are the tasks with a file that were not offered."""
    begun, for_merge = _of_lists(call) if call.sources else (0, 0)
    return Rest(
        look(call),
        begun + choosing.begun(passed),
        for_merge + choosing.for_merge(passed),
        _is_parked(call),
    )


def _of_lists(call: context.Context) -> tuple[int, int]:
    """How many tasks of the lists were begun, and how many wait for a merge."""
    from tether.vacuum import gathering

    last = gathering.claims(call.store) if call.store.exists() else {}
    held = {key for key, each in last.items() if each.closed_at is None}
    waiting = choosing.for_merge_in(call.lists, last, call.place.branch)
    return choosing.begun_in(call.lists, held), waiting


def _is_parked(call: context.Context) -> bool:
    from tether.vacuum import model, reports

    if not call.store.exists():
        return False
    known = [reports.last_sweep(call.store, each) for each in (model.STANDARD, model.DEEP)]
    ended = [each for each in known if each is not None and each.finished_at]
    newest = max(ended, key=lambda each: each.id, default=None)
    return newest is not None and bool(newest.counts.get(model.PARKED_PROJECT))


def value(found: dict[str, choosing.Open]) -> dict[str, Any]:
    """The figures for programs."""
    return {source: each._asdict() for source, each in found.items()}


def rest_value(found: Rest) -> dict[str, int]:
    """Why nothing is free, for programs."""
    return {"begun": found.begun, "for_merge": found.for_merge}


def told(found: dict[str, choosing.Open]) -> list[str]:
    """The figures in words, and what to do about them."""
    if not found:
        return []
    number = sum(each.open for each in found.values())
    held = sum(each.held for each in found.values())
    some = f", {'all' if held == number else held} held" if held else ""
    where = ", ".join(f"{name} {each.open}" for name, each in found.items())
    said = f"The task lists have {text.counted(number, 'open task')}{some}: {where}."
    source = next(iter(found)) if len(found) == 1 else "all"
    return [said, f"`tether task list --source {source}` shows them, `tether claim ID` takes one."]


def rest_told(found: Rest, said: str) -> list[str]:
    """That nothing is free, as `said`, then why and what helps."""
    verb = "waits" if found.for_merge == 1 else "wait"
    merge = f"; {found.for_merge} {verb} for a merge" if found.for_merge else ""
    lines = [f"{said}{merge}.", *told(found.lists)]
    if found.begun or found.is_parked:
        lines.append("`tether vacuum` shows what was begun and dropped, or parked.")
    return lines
