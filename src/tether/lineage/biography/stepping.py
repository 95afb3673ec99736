"""Events of the index as steps of a story: what each did, for which tasks, what it took back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tether import clock
from tether.git import Oid
from tether.hints import NamedTuple
from tether.lineage import history, kept
from tether.lineage.biography import model
from tether.lineage.derive import crediting, undoing
from tether.lineage.edges import model as graph

_TASKS = """
SELECT c.commit_no, n.key, c.confidence, c.how FROM commit_tasks AS c
JOIN lineage_nodes AS n ON n.id = c.task
WHERE c.commit_no IN (SELECT value FROM json_each(?))
ORDER BY c.commit_no, 3 DESC, n.key
"""
_UNDONE = (
    "SELECT c.oid, o.oid, u.confidence FROM commit_undone AS u"
    " JOIN identity_commits AS c ON c.number = u.commit_no"
    " JOIN identity_commits AS o ON o.number = u.of_no"
    " WHERE u.commit_no IN (SELECT value FROM json_each(?))"
)


class Known(NamedTuple):
    """What is known of the commits of a story."""

    credits: Mapping[int, list[crediting.Credit]]
    """By their numbers, the tasks that each is work on."""
    commits: Mapping[Oid, model.Commit]
    undone: Mapping[tuple[str, str], float]
    """How sure it is that one took back another one, as a whole."""


def known(
    connection: sqlite3.Connection, numbers: Iterable[int], commits: Mapping[Oid, model.Commit]
) -> Known:
    """What the index says of some commits, with what Git says."""
    wanted = json.dumps(sorted(numbers))
    rows = connection.execute(_UNDONE, (wanted,)).fetchall()
    undone = {(by, of): confidence for by, of, confidence in rows}
    return Known(_credits(connection, wanted), commits, undone)


def of_events(
    events: Iterable[kept.Event], facts: Known, *, is_ancestor: bool = False
) -> Iterator[model.Step]:
    """Events as steps, oldest first."""
    ordered = sorted(events, key=lambda each: each.number)
    undone: dict[int, dict[str, None]] = {}
    for by, of in undoing.of_symbol([_bare(each) for each in ordered]):
        if _is_meant(facts, ordered[by], ordered[of]):
            undone.setdefault(by, {})[ordered[of].change.commit] = None
    for by, of in _mirrored(ordered, facts):
        undone.setdefault(by, {})[ordered[of].change.commit] = None
    for number, each in enumerate(ordered):
        change = each.change
        if not change.kinds:
            continue
        commit = facts.commits.get(change.commit) or model.Commit(
            change.commit, clock.text(each.at_ms), "", "", each.files
        )
        given = facts.credits.get(each.commit_no, ())
        yield model.Step(
            commit=commit._replace(files=each.files),
            kinds=kinds(change),
            tasks=_tasks(given, each),
            named=tuple(sorted(e.task for e in given if e.confidence >= graph.SURE)),
            before=called(change.before) if is_renamed(change) else "",
            after=called(change.after or change.before),
            added=each.added,
            removed=each.removed,
            undoes=tuple(undone.get(number, ())),
            origin=origin(change),
            is_ancestor=is_ancestor,
        )


def _tasks(
    given: Iterable[crediting.Credit], event: kept.Event
) -> tuple[tuple[graph.Key, float], ...]:
    """The tasks that a step was work on, the surest first: as sure as the edges say."""
    change = event.change
    place = change.after or change.before
    is_symbol = place is not None and place.kind != "file"
    found = [
        (each.task, crediting.sureness(each, change.kinds, event.files, is_symbol=is_symbol))
        for each in given
    ]
    return tuple(sorted(found, key=lambda each: (-each[1], each[0])))


def _mirrored(ordered: Sequence[kept.Event], facts: Known) -> Iterator[tuple[int, int]]:
    """What a commit that took back another one did here, line by line the other way round.

    The text need not be the same again: its layout may have changed in between.
    """
    numbers = {each.change.commit: number for number, each in enumerate(ordered)}
    for (later, earlier), sure in facts.undone.items():
        if sure >= graph.SURE and later in numbers and earlier in numbers:
            by, of = numbers[Oid(later)], numbers[Oid(earlier)]
            one, other = ordered[by], ordered[of]
            if of < by and (one.added, one.removed) == (other.removed, other.added) != (0, 0):
                yield by, of


def _is_meant(facts: Known, by: kept.Event, of: kept.Event) -> bool:
    """Whether a commit took back another one, and not only a line or two, or one of its parts."""
    sure = facts.undone.get((by.change.commit, of.change.commit), 0.0)
    if "deleted" in by.change.kinds:
        return sure >= graph.SURE
    place = by.change.after
    is_file = place is not None and place.kind == "file"
    # What a file does to itself as a whole is seen, whatever is in it.
    return sure >= graph.DEFAULT_CONFIDENCE or (is_file and undoing.is_much(_bare(of)))


def _bare(event: kept.Event) -> undoing.Event:
    lines = event.added + event.removed
    return undoing.Event(event.commit_no, event.change.kinds, event.digest, lines)


def kinds(change: history.Change) -> tuple[str, ...]:
    """What a commit did, as a story says it: what a function calls its signature is a section's
    heading, and of one that was renamed that is all there is to say of it.
    """
    place = change.after or change.before
    if place is None or place.kind != "section":
        return change.kinds
    said: list[str] = [each for each in change.kinds if each != "signature"]
    is_new = "signature" in change.kinds and "rename" not in change.kinds
    return (*said, *(["heading"] if is_new else []))


def is_renamed(change: history.Change) -> bool:
    before, after = change.before, change.after
    if before is None or after is None:
        return False
    return (before.path, before.qualified) != (after.path, after.qualified)


def called(place: history.Place | None) -> str:
    if place is None:
        return ""
    return place.path if place.kind == "file" else f"{place.path}#{place.qualified}"


def origin(change: history.Change) -> str:
    """What it was split from, or took in, in words."""
    said = []
    for match in change.related:
        if match.relation == "split_from" and match.after == change.after:
            said.append(f"split from {called(match.before)}")
        elif match.relation != "split_from" and match.after == change.after:
            said.append(f"took in {called(match.before)}")
    return ", ".join(dict.fromkeys(said))


def _credits(connection: sqlite3.Connection, wanted: str) -> dict[int, list[crediting.Credit]]:
    """The tasks that each commit is work on, each by what says so most surely."""
    found: dict[int, list[crediting.Credit]] = {}
    for commit, key, confidence, how in connection.execute(_TASKS, (wanted,)):
        found.setdefault(commit, []).append(crediting.Credit(key, confidence, how))
    return {commit: crediting.best(some) for commit, some in found.items()}
