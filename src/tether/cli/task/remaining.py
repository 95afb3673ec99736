"""What the lists that a team keeps still have to do, in figures."""

from __future__ import annotations

from tether import text
from tether.agents import claims
from tether.brief import choosing
from tether.cli import context
from tether.hints import Any


def look(call: context.Context) -> dict[str, choosing.Open]:
    """The open tasks of each list of this checkout; of those that have none, nothing."""
    if not call.sources:
        return {}
    held = {each.key for each in claims.open_ones(call.store.rows)}
    return choosing.open_in(call.lists, held)


def value(found: dict[str, choosing.Open]) -> dict[str, Any]:
    """The figures for programs."""
    return {source: each._asdict() for source, each in found.items()}


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
