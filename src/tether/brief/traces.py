"""Where a task's work may still be, by its timeline and its last claim. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tether import ids
from tether.agents import model as agents
from tether.evidence import lost, model, timeline, unfinished
from tether.tasks.sources import patterns


def naming(
    finder: patterns.Finder, key: ids.TaskKey, aliases: Iterable[str]
) -> Callable[[str], bool]:
    """Whether a text names the task: exactly, so that `H.1.10` does not name `H.1.1`."""
    names = {key.id, *aliases}

    def is_named(text: str) -> bool:
        if any(each.source == key.source and each.id in names for each in finder.find(text)):
            return True
        # The ids of our own tasks may be any, and are not looked for within a text.
        return key.source == ids.OWN_SOURCE and key.id in text.split("/")

    return is_named


def sessions(line: timeline.Timeline) -> list[model.Session]:
    """The sessions that worked on it, or else those that talked of it alone; the last one first."""
    by_kind = {kind: {e.session for e in line.activities if e.kind == kind} for kind in model.KINDS}
    worked = by_kind[model.WORKED] | by_kind[model.STATED] or by_kind[model.MENTIONED]
    chosen = [each for each in line.sessions if each.session in worked]
    return sorted(chosen, key=lambda each: (each.last_at, each.session), reverse=True)


def directories(line: timeline.Timeline) -> dict[str, str]:
    """Where each session worked."""
    return {each.session: each.cwd for each in line.sessions if each.cwd}


def wanted(
    line: timeline.Timeline,
    claim: agents.Claim | None,
    is_named: Callable[[str], bool],
    leaves_out: Callable[[str], bool],
    *,
    is_there: bool = True,
) -> unfinished.Wanted:
    """By what the task's work is recognised. `is_there` says that the claim's checkout is."""
    worked = [each for each in reversed(line.activities) if each.kind == model.WORKED]
    commits = [each for each in worked if each.source == "git:commit"]
    others = [each for each in worked if each.source != "git:commit"]
    cwds = directories(line)
    return unfinished.Wanted(
        is_named,
        (claim.worktree or "") if claim and is_there else "",
        (claim.branch or "") if claim else "",
        claim.claimed_at if claim else "",
        tuple(
            unfinished.Stay(each.cwd, each.branch, each.started_at, each.last_at)
            for each in sessions(line)
            if each.cwd
        ),
        tuple(dict.fromkeys(each.record for each in commits)),
        tuple(dict.fromkeys(path for each in others for path in lost.absolute(each, cwds))),
        tuple(dict.fromkeys(path for each in commits for path in each.files)),
        leaves_out,
    )
