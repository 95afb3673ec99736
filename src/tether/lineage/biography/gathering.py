"""Gathers the story of a piece of code from the index: what happened, for which tasks, and why.

Commits are read from Git, everything else was derived before. What is told of them is decided in
`telling`.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from tether import clock, errors
from tether.git import Git, Oid
from tether.hints import NamedTuple
from tether.lineage import kept, targets
from tether.lineage.biography import folders, model, records, stepping
from tether.lineage.derive import documents
from tether.lineage.edges import model as graph
from tether.lineage.edges import reading, view

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
_NO_CHECKOUT = "no checkout is here, so what is written of tasks and decisions is left out"
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
    """What happened before that to what it was split from, or to files elsewhere that came."""
    is_whole: bool
    folder: folders.Folder | None = None
    """Of a directory, what happened to it as a whole."""


def story(
    seen: view.View, git: Git, target: targets.Target, line: kept.Line, *, as_of: str = ""
) -> model.Story:
    """Everything that is known of a target; `line` leads to the commit that is asked about."""
    connection = seen.connection
    found = _of_folder(seen, git, target, line) if target.kind == "dir" else _events(seen, target)
    target = _as_it_was(target, found)
    if not found.events:
        raise errors.NotFound(
            "This code was not there yet as of then.",
            hint="Ask without --as-of, or of a later time.",
        )
    told = _steps(connection, git, found)
    around = _around(seen, told)
    code = _code(connection, target, line)
    governing = _governing(seen, code)
    describing = _mentions(seen, code)
    if as_of:
        describing = tuple(_as_they_were(connection, git, line, describing))
    named = {key for step in told for key, _ in step.tasks}
    named |= {key for each in (*around, *governing) for key in (each.subject, each.object)}
    gaps = list(dict.fromkeys(why for each in found.events for why in each.unknown))
    if not found.is_whole:
        gaps.append(f"only the last {_MAX_EVENTS} changes were looked at")
    if not any(seen.scopes):
        gaps.append(_NO_CHECKOUT)
    known = records.read(connection, seen.scopes, named)
    if as_of:
        known = {key: _as_it_stood(each, seen.until) for key, each in known.items()}
    return model.Story(
        selector=target.selector,
        name=target.name,
        place=target.place,
        node=target.key,
        steps=told,
        records=tuple(known.values()),
        relations=around,
        governed=governing,
        mentions=describing,
        gaps=tuple(gaps),
        fallback=target.fallback,
        as_of=as_of,
        knows_records=any(seen.scopes),
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


def _of_folder(seen: view.View, git: Git, target: targets.Target, line: kept.Line) -> Events:
    """What happened to all files that are or were in a directory."""
    gone = folders.gone(seen.connection, line, target.path)
    events, is_whole = _counted(seen, (*target.events, *gone))
    inside, outside, folder = folders.parted(seen.connection, git, target.path, events)
    return Events(inside, outside, is_whole, folder)


def _events(seen: view.View, target: targets.Target) -> Events:
    connection = seen.connection
    events, is_whole = _counted(seen, target.events)
    found = {each.number for each in events}
    ancestors: dict[int, kept.Event] = {}
    waiting = [*_same(seen, target.key, events)] if target.key else []
    if target.kind == "symbol":
        waiting.append(_split_from(connection, events))
    for more in itertools.islice(filter(None, waiting), _MAX_ANCESTORS):
        ancestors |= {each.number: each for each in more if each.number not in found}
        waiting.append(_split_from(connection, more))
    told = tuple(sorted(ancestors.values(), key=lambda each: -each.number))
    return Events(tuple(events), told, is_whole)


def _counted(seen: view.View, lasts: Iterable[int]) -> tuple[list[kept.Event], bool]:
    """Some events and those before them as far as they count, the newest first; whether all."""
    found: dict[int, kept.Event] = {}
    for last in lasts:
        if len(found) >= _MAX_EVENTS:
            break
        for each in kept.chain(seen.connection, last):
            found[each.number] = each
            if len(found) >= _MAX_EVENTS:
                break
    counted = seen.counted(each.commit_no for each in found.values())
    every = (each for each in found.values() if each.commit_no in counted)
    return sorted(every, key=lambda each: -each.number), len(found) < _MAX_EVENTS


def _same(
    seen: view.View, key: graph.Key, events: Sequence[kept.Event]
) -> Iterator[list[kept.Event]]:
    """What happened to that which people say this was, before this began.

    Of two that each were the other one before, only the older one was.
    """
    sides = reading.around(seen, key, types=["same_as"], limit=_MAX_ANCESTORS).sides
    if not sides or not events:
        return
    before = kept.past(seen.connection, events[-1].commit_no) - {events[-1].commit_no}
    for side in sides:
        [(last,)] = seen.connection.execute(_LAST_OF, (side.other,)).fetchall()
        if last is not None:
            chain = kept.chain(seen.connection, int(last))
            yield [each for each in chain if each.commit_no in before]


def _split_from(connection: sqlite3.Connection, events: Sequence[kept.Event]) -> list[kept.Event]:
    """What happened to that which something was split from, before the split."""
    first = events[-1] if events else None
    if first is None or "introduced" not in first.change.kinds:
        return []
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
                return [] if previous is None else list(kept.chain(connection, int(previous)))
    return []


def _steps(connection: sqlite3.Connection, git: Git, found: Events) -> tuple[model.Step, ...]:
    every = (*found.events, *found.ancestors)
    oids = list(dict.fromkeys(each.change.commit for each in every))
    known = stepping.known(connection, {each.commit_no for each in every}, commits_of(git, oids))
    told = stepping.of_events(found.ancestors, known, is_ancestor=True)
    own = stepping.of_events(found.events, known)
    if found.folder is not None:
        told = folders.summed(told, known, folders.NOWHERE)
        own = folders.summed(own, known, found.folder)
    return (*told, *own)


def commits_of(git: Git, oids: Iterable[Oid]) -> dict[Oid, model.Commit]:
    """What Git says of commits; of one that is not here any more, nothing."""
    wanted = list(oids)
    return {
        each.oid: model.Commit(
            each.oid, clock.text(each.authored_ms), each.author_name, each.subject, 0
        )
        for each in git.commits(wanted)
    }


def _around(seen: view.View, told: Iterable[model.Step]) -> tuple[model.Relation, ...]:
    """The edges of the tasks of a story with each other and with others."""
    tasks = dict.fromkeys(
        key for step in told for key, sure in step.tasks if sure >= graph.DEFAULT_CONFIDENCE
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
