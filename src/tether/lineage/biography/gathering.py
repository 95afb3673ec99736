"""Gathers the story of a piece of code from the index: what happened, for which tasks, and why.

Commits are read from Git, everything else was derived before. What is told of them is decided in
`telling`.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from tether import clock, errors
from tether.git import Git, Oid
from tether.hints import NamedTuple
from tether.lineage import history, kept, targets
from tether.lineage.biography import model, records
from tether.lineage.derive import documents, undoing
from tether.lineage.edges import model as graph
from tether.lineage.edges import reading, view

_TASKS = """
SELECT c.commit_no, n.key, max(c.confidence) FROM commit_tasks AS c
JOIN lineage_nodes AS n ON n.id = c.task
WHERE c.commit_no IN (SELECT value FROM json_each(?)) GROUP BY c.commit_no, n.key
ORDER BY c.commit_no, 3 DESC, n.key
"""
_OF_COMMIT = "SELECT number, kinds, change FROM identity_events WHERE commit_no = ? AND number < ?"
_FILE_OF = (
    "SELECT n.id, n.key FROM identity_events AS e JOIN lineage_nodes AS n ON n.id = e.node"
    " WHERE e.number = ?"
)
_LAST_OF = (
    "SELECT max(number) FROM identity_events"
    " WHERE node = (SELECT id FROM lineage_nodes WHERE key = ?)"
)
_WIDTHS = (
    "SELECT n.key, count(*) FROM task_code_edges AS e JOIN lineage_nodes AS n ON n.id = e.from_id"
    " WHERE e.edge_type = 'governs' AND n.key IN (SELECT value FROM json_each(?)) GROUP BY n.key"
)
_MAX_GOVERNING = 3
_RELATIONS = (
    *("supersedes", "extends", "reverts", "motivates", "contradicts", "blocks", "references"),
    *("follows-up", "runtime-parent", "cited-in-review"),
)
# Why a task did something; told also if the other one has nothing to do with this code.
_OF_STORY = ("supersedes", "extends", "motivates", "contradicts")
_MAX_EVENTS = 4000
_MANY_DIGITS = 10
_MAX_ANCESTORS = 5
_MAX_DOCUMENT_BYTES = 1024 * 1024
# Fields that are written when a task ends.
_OF_END = ("result", "error")


class Events(NamedTuple):
    """What happened to some code, the newest first."""

    events: tuple[kept.Event, ...]
    ancestors: tuple[kept.Event, ...]
    """What happened to that which it was split from, before that."""
    is_whole: bool


def story(
    seen: view.View, git: Git, target: targets.Target, line: kept.Line, *, as_of: str = ""
) -> model.Story:
    """Everything that is known of a target; `line` leads to the commit that is asked about."""
    connection = seen.connection
    found = _events(seen, target)
    target = _as_it_was(target, found)
    if not found.events:
        raise errors.NotFound(
            "This code was not there yet as of then.",
            hint="Ask without --as-of, or of a later time.",
        )
    steps = _steps(connection, git, found, target)
    around = _around(seen, steps)
    code = _code(connection, target, line)
    governing = _governing(seen, code)
    describing = _mentions(seen, code)
    if as_of:
        describing = tuple(_as_they_were(connection, git, line, describing))
    named = {key for step in steps for key, _ in step.tasks}
    named |= {key for each in (*around, *governing) for key in (each.subject, each.object)}
    gaps = list(dict.fromkeys(why for each in found.events for why in each.unknown))
    if not found.is_whole:
        gaps.append(f"only the last {_MAX_EVENTS} changes were looked at")
    known = records.read(connection, seen.scopes, named)
    if as_of:
        known = {key: _as_it_stood(each, seen.until) for key, each in known.items()}
    return model.Story(
        selector=target.selector,
        name=target.name,
        place=target.place,
        node=target.key,
        steps=steps,
        records=tuple(known.values()),
        relations=around,
        governed=governing,
        mentions=describing,
        gaps=tuple(gaps),
        fallback=target.fallback,
        as_of=as_of,
    )


def _as_it_was(target: targets.Target, found: Events) -> targets.Target:
    """A symbol or file by the name and place that it had at the end of its story."""
    last = next((each.change for each in found.events if each.change.after), None)
    place = last.after if last is not None else None
    if target.kind == "dir" or place is None or len(target.events) != 1:
        return target
    if found.events[0].number == target.events[0]:
        return target
    return targets.named(target, place)


def _events(seen: view.View, target: targets.Target) -> Events:
    connection = seen.connection
    found: dict[int, kept.Event] = {}
    for last in target.events:
        for each in kept.chain(connection, last):
            found[each.number] = each
            if len(found) >= _MAX_EVENTS:
                break
    counted = seen.counted(each.commit_no for each in found.values())
    every = (each for each in found.values() if each.commit_no in counted)
    events = sorted(every, key=lambda each: -each.number)
    ancestors: dict[int, kept.Event] = {}
    waiting = [*_same(seen, target.key)] if target.key else []
    if target.kind == "symbol" and (before := _split_from(connection, events)) is not None:
        waiting.append(before)
    for last in itertools.islice(waiting, _MAX_ANCESTORS):
        more = list(kept.chain(connection, last))
        ancestors |= {each.number: each for each in more if each.number not in found}
        if (before := _split_from(connection, more)) is not None:
            waiting.append(before)
    told = tuple(sorted(ancestors.values(), key=lambda each: -each.number))
    return Events(tuple(events), told, len(found) < _MAX_EVENTS)


def _same(seen: view.View, key: graph.Key) -> Iterator[int]:
    """The last events of what people say this was before."""
    for side in reading.around(seen, key, types=["same_as"], limit=_MAX_ANCESTORS).sides:
        [(last,)] = seen.connection.execute(_LAST_OF, (side.other,)).fetchall()
        if last is not None:
            yield int(last)


def _split_from(connection: sqlite3.Connection, events: list[kept.Event]) -> int | None:
    """The last event, before the split, of what something was split from."""
    first = events[-1] if events else None
    if first is None or "introduced" not in first.change.kinds:
        return None
    for match in first.change.related:
        if match.relation != "split_from" or match.before is None:
            continue
        rows = connection.execute(_OF_COMMIT, (first.commit_no, first.number + 10**9)).fetchall()
        for number, kinds, raw in rows:
            change, _ = kept.change_in(first.change.commit, kinds, raw)
            if change.before == match.before and number != first.number:
                [(previous,)] = connection.execute(
                    "SELECT previous FROM identity_events WHERE number = ?", (number,)
                ).fetchall()
                return None if previous is None else int(previous)
    return None


def _steps(
    connection: sqlite3.Connection, git: Git, found: Events, target: targets.Target
) -> tuple[model.Step, ...]:
    numbers = {each.commit_no for each in (*found.events, *found.ancestors)}
    tasks = tasks_of(connection, numbers)
    oids = list(dict.fromkeys(e.change.commit for e in (*found.events, *found.ancestors)))
    commits = commits_of(git, oids)
    steps = list(_of_events(found.ancestors, tasks, commits, is_ancestor=True))
    if target.kind == "dir":
        steps += _summed(_of_events(found.events, tasks, commits))
    else:
        steps += _of_events(found.events, tasks, commits)
    return tuple(steps)


def _of_events(
    events: Iterable[kept.Event],
    tasks: Mapping[int, tuple[tuple[str, float], ...]],
    commits: Mapping[Oid, model.Commit],
    *,
    is_ancestor: bool = False,
) -> Iterator[model.Step]:
    """Events as steps, oldest first."""
    ordered = sorted(events, key=lambda each: each.number)
    undone: dict[int, dict[str, None]] = {}
    for by, of in undoing.of_symbol([_bare(each) for each in ordered]):
        undone.setdefault(by, {})[ordered[of].change.commit] = None
    for number, each in enumerate(ordered):
        change = each.change
        if not change.kinds:
            continue
        commit = commits.get(change.commit) or model.Commit(
            change.commit, clock.text(each.at_ms), "", "", each.files
        )
        yield model.Step(
            commit=commit._replace(files=each.files),
            kinds=change.kinds,
            tasks=tasks.get(each.commit_no, ()),
            before=called(change.before) if is_renamed(change) else "",
            after=called(change.after or change.before),
            added=each.added,
            removed=each.removed,
            undoes=tuple(undone.get(number, ())),
            origin=origin(change),
            is_ancestor=is_ancestor,
        )


def _summed(steps: Iterable[model.Step]) -> Iterator[model.Step]:
    """What each commit did to all files of a directory, as one step."""
    by_commit: dict[str, list[model.Step]] = {}
    for step in steps:
        by_commit.setdefault(step.commit.oid, []).append(step)
    for number, some in enumerate(by_commit.values()):
        kinds = dict.fromkeys(kind for each in some for kind in each.kinds)
        is_first = number == 0 and "introduced" in kinds
        yield some[0]._replace(
            kinds=("introduced",) if is_first else ("body",),
            before="",
            after="",
            added=sum(each.added for each in some),
            removed=sum(each.removed for each in some),
            undoes=(),
        )


def _bare(event: kept.Event) -> undoing.Event:
    lines = event.added + event.removed
    return undoing.Event(event.commit_no, event.change.kinds, event.digest, lines)


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


def tasks_of(
    connection: sqlite3.Connection, commits: Iterable[int]
) -> dict[int, tuple[tuple[str, float], ...]]:
    """The tasks that each commit is work on, the surest first."""
    found: dict[int, list[tuple[str, float]]] = {}
    for commit, key, confidence in connection.execute(_TASKS, (json.dumps(sorted(commits)),)):
        found.setdefault(commit, []).append((key, confidence))
    return {commit: tuple(tasks) for commit, tasks in found.items()}


def commits_of(git: Git, oids: Iterable[Oid]) -> dict[Oid, model.Commit]:
    """What Git says of commits; of one that is not here any more, nothing."""
    wanted = list(oids)
    return {
        each.oid: model.Commit(
            each.oid, clock.text(each.authored_ms), each.author_name, each.subject, 0
        )
        for each in git.commits(wanted)
    }


def _around(seen: view.View, steps: Iterable[model.Step]) -> tuple[model.Relation, ...]:
    """The edges of the tasks of a story with each other and with others."""
    tasks = dict.fromkeys(
        key for step in steps for key, sure in step.tasks if sure >= graph.DEFAULT_CONFIDENCE
    )
    types = [*_RELATIONS, *(graph.TYPES[each].inverse for each in _RELATIONS)]
    found: dict[str, model.Relation] = {}
    for key in tasks:
        for side in reading.around(seen, key, types=types, limit=50).sides:
            # What they did to each other elsewhere is no part of this story.
            if side.edge.type in _OF_STORY or side.other in tasks:
                found[side.edge.ref] = _relation(side.edge)
    return tuple(found.values())


def _relation(edge: reading.Edge) -> model.Relation:
    return model.Relation(
        edge.subject,
        edge.type,
        edge.object,
        edge.confidence,
        edge.at,
        edge.source,
        edge.pointer,
        edge.number,
    )


def _code(
    connection: sqlite3.Connection, target: targets.Target, line: kept.Line
) -> list[graph.Key]:
    """The nodes that decisions and documents may name: itself, and the file that it stands in."""
    if target.kind == "dir":
        return []
    found = [target.key]
    placed = line.placed(connection, target.path) if target.kind == "symbol" else None
    if placed is not None:
        [(_, key)] = connection.execute(_FILE_OF, (placed.file,)).fetchall()
        found.append(key)
    return found


def _governing(seen: view.View, code: Iterable[graph.Key]) -> tuple[model.Relation, ...]:
    """The decisions that govern code: those that are about little else come first.

    Of those with one title, as a decision and its copy in a log, one counts.
    """
    found: dict[str, model.Relation] = {}
    for key in code:
        for side in reading.around(seen, key, types=["governed_by"], limit=50).sides:
            if side.edge.confidence >= graph.SURE:
                found.setdefault(side.edge.subject, _relation(side.edge))
    widths = dict(seen.connection.execute(_WIDTHS, (json.dumps(list(found)),)).fetchall())
    known = records.read(seen.connection, seen.scopes, found)
    ordered = sorted(found, key=lambda key: (_is_over(known.get(key)), widths.get(key, 0), key))
    chosen: dict[str, model.Relation] = {}
    for key in ordered:
        title = known[key].title.casefold() if key in known else key
        chosen.setdefault(title, found[key])
    return tuple(itertools.islice(chosen.values(), _MAX_GOVERNING))


def _is_over(record: model.Record | None) -> bool:
    return record is not None and record.status in ("superseded", "deprecated", "rejected")


def _mentions(seen: view.View, code: list[graph.Key]) -> tuple[model.Mention, ...]:
    """The documents that describe the code itself."""
    found: dict[tuple[str, int], model.Mention] = {}
    for key in code[:1]:
        for side in reading.around(seen, key, types=["described_by"], limit=20).sides:
            for proof in reading.evidence(seen, side.edge.ref).evidence:
                path, line = placed_at(proof.pointer)
                section, name = (str(proof.detail.get(word, "")) for word in ("section", "name"))
                found.setdefault((path, line), model.Mention(path, line, section, name))
    return tuple(found[each] for each in sorted(found))


def _as_they_were(
    connection: sqlite3.Connection, git: Git, line: kept.Line, mentions: Iterable[model.Mention]
) -> Iterator[model.Mention]:
    """Those that stood in their documents then, where they stood."""
    for each in mentions:
        placed = line.placed(connection, each.path)
        if placed is None:
            continue
        [blob] = git.blobs([placed.oid], max_bytes=_MAX_DOCUMENT_BYTES)
        names = documents.names((blob.data or b"").decode("utf-8", "replace"))
        for name in names:
            if name.words == each.name:
                yield each._replace(line=name.line)


def _as_it_stood(record: model.Record, until: str) -> model.Record:
    """A record without what may have been written into it later: its state, and how it ended."""
    if record.closed_at and record.closed_at <= until:
        return record
    is_result = record.sentence_field.partition(".")[0] in _OF_END
    said = ("", "") if is_result else (record.sentence, record.sentence_field)
    return record._replace(
        status="", closed_at="", agent="", sentence=said[0], sentence_field=said[1], notes=()
    )


def placed_at(pointer: str) -> tuple[str, int]:
    """The path and line of `file:PATH#line=7`."""
    path, _, line = pointer.removeprefix("file:").rpartition("#line=")
    is_line = path and line.isdecimal() and len(line) < _MANY_DIGITS
    return (path, int(line)) if is_line else (pointer.removeprefix("file:"), 0)
