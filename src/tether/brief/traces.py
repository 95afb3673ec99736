"""Where a task's work may still be, by its timeline and its last claim. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tether import ids
from tether.agents import model as agents
from tether.evidence import model, stretches, timeline
from tether.evidence.unfinished import lost, neighbours
from tether.evidence.unfinished import reading as unfinished
from tether.tasks.sources import patterns


def naming(
    finder: patterns.Finder, key: ids.TaskKey, aliases: Iterable[str]
) -> Callable[[str], bool]:
    """Whether a text names the task: exactly, so that `H.1.10` does not name `H.1.1`."""
    names = {key.id, *aliases}

    def is_named(text: str) -> bool:
        # Many write branches in lower case.
        for said in dict.fromkeys((text, text.upper())) if _is_branch(text) else (text,):
            if any(each.source == key.source and each.id in names for each in finder.find(said)):
                return True
        # The ids of our own tasks may be any, and are not looked for within a text.
        return key.source == ids.OWN_SOURCE and key.id in text.split("/")

    return is_named


def naming_any(finder: patterns.Finder) -> Callable[[str], bool]:
    """Whether the name of a branch has the id of any task."""
    return lambda branch: any(finder.find(said) for said in (branch, branch.upper()))


def _is_branch(text: str) -> bool:
    """No branch has a space in its name, and hardly a message has none."""
    return " " not in text


def sessions(line: timeline.Timeline) -> list[model.Session]:
    """The sessions that worked on it, or else those that talked of it alone; the last one first."""
    by_kind = {kind: {e.session for e in line.activities if e.kind == kind} for kind in model.KINDS}
    worked = by_kind[model.WORKED] | by_kind[model.STATED] or by_kind[model.MENTIONED]
    chosen = [each for each in line.sessions if each.session in worked]
    return sorted(chosen, key=lambda each: (each.last_at, each.session), reverse=True)


def directories(line: timeline.Timeline) -> dict[str, str]:
    """Where each session worked."""
    return {each.session: each.cwd for each in line.sessions if each.cwd}


def stays(
    line: timeline.Timeline, times: Mapping[str, tuple[stretches.Stretch, ...]]
) -> tuple[unfinished.Stay, ...]:
    """Where the sessions that worked on it were, each for as long as it was at work on it."""
    return tuple(
        unfinished.Stay(each.cwd, each.branch, time.since, min(time.until, each.last_at))
        for each in sessions(line)
        if each.cwd
        # Where it was is looked into, even if nobody knows when.
        for time in times.get(each.session, ()) or (stretches.Stretch("9", ""),)
    )


def holds(claims: Iterable[agents.Claim]) -> tuple[unfinished.Stay, ...]:
    """Where and when something was claimed."""
    return tuple(
        unfinished.Stay(c.worktree or "", c.branch or "", c.claimed_at, c.closed_at or "9")
        for c in claims
    )


def wanted(
    line: timeline.Timeline,
    own: neighbours.Own,
    others: neighbours.Others,
    times: Mapping[str, tuple[stretches.Stretch, ...]],
    is_named: Callable[[str], bool],
    *,
    is_there: bool = True,
) -> unfinished.Wanted:
    """By what the task's work is recognised. `is_there` says that the claim's checkout is."""
    worked = [each for each in reversed(line.activities) if each.kind == model.WORKED]
    commits = [each for each in worked if each.source == "git:commit"]
    edits = [each for each in worked if each.source != "git:commit"]
    cwds = directories(line)
    return unfinished.Wanted(
        is_named,
        checkout=own.checkout if is_there else "",
        branch=(own.claims[0].branch or "") if own.claims else "",
        holds=holds(own.claims),
        stays=stays(line, times),
        commits=tuple(dict.fromkeys(each.record for each in commits)),
        edited=tuple(dict.fromkeys(path for each in edits for path in lost.absolute(each, cwds))),
        committed=tuple(dict.fromkeys(path for each in commits for path in each.files)),
        is_shared=bool(others.sessions) or others.are_in(own.checkout),
        others=holds(others.claims),
        theirs=others.edited,
        their_reserved=others.reserved,
    )
