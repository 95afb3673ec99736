"""Everything that is known of a task, asked of all rooms for its resume packet."""

from __future__ import annotations

import os
import sqlite3

from tether import config, errors, ids, text
from tether.agents import claims, leftovers, roll
from tether.agents import model as agents
from tether.brief import before as before_claim
from tether.brief import handoff as room
from tether.brief import traces
from tether.cli import context, lookup
from tether.evidence import claimed, model, recall, stretches, timeline
from tether.evidence.unfinished import lost, neighbours
from tether.evidence.unfinished import reading as unfinished
from tether.hints import Any, NamedTuple
from tether.store import events
from tether.tasks import states, workdir
from tether.tasks.sources import history as sources

_MAX_NOTES = 50
_MAX_EVENTS = 10_000


def gather(
    call: context.Context, named: lookup.Named, until_epoch: int | None = None
) -> room.Evidence:
    """Everything that is known of a task, from all rooms.

    A claim of `until_epoch` does not count, nor what came later: who has just taken a task up wants
    to know of those before. So does its holder who asks, and has not begun.
    """
    line = call.witness.timeline(named.key, named.aliases)
    history = claims.history(call.store.rows, named.key)
    told = events.latest(call.store, _MAX_EVENTS, _about(named.key))
    asker = _asker(call)
    mine = next((c for c in history if c.closed_at is None and c.session_id == asker), None)
    if mine is not None:
        line = before_claim.without_taking(line, told, mine)
        if len(history) > 1 and not before_claim.has_begun(line, mine):
            until_epoch = until_epoch or mine.epoch
    if until_epoch is not None:
        line = before_claim.without_talk(line, asker)
        history = [each for each in history if each.epoch < until_epoch]
    last = history[0] if history else None
    session = _session(line, last)
    before = claims.unfinished_before(call.store.rows, last) if last is not None else []
    own = neighbours.Own(named.key, (last, *before) if last is not None else ())
    beside = _look(call, line, history, own, session)
    why_not = leftovers.why_not(call.workspace, last) if last is not None else ""
    left, lost_ones = _unfinished(call, named, line, own, beside, is_there=not why_not)
    times = beside.times.get(session.session, ()) if session is not None else ()
    return room.Evidence(
        _subject(named),
        line,
        last,
        _verdict(call, last),
        session,
        _whose(session, history),
        times,
        _recalled(line, session, times),
        left,
        why_not,
        lost_ones,
        tuple(_notes(told)),
        beside.edits if last is None else (),
    )


def _about(key: ids.TaskKey) -> events.Filter:
    return events.Filter(task=key.id, source=key.source)


def _asker(call: context.Context) -> str:
    """The session that asks; empty for an agent that names none."""
    try:
        return call.session.session_id
    except (errors.NotAllowed, errors.InvalidId):
        return ""


class _Beside(NamedTuple):
    """What the index tells of a task besides its timeline."""

    times: dict[str, tuple[stretches.Stretch, ...]]
    """When each session was at work on it."""
    others: neighbours.Others
    edits: tuple[model.Activity, ...]
    """Of its last session while it was at work on it: without a claim nobody knows more."""


def _look(
    call: context.Context,
    line: timeline.Timeline,
    history: list[agents.Claim],
    own: neighbours.Own,
    session: model.Session | None,
) -> _Beside:
    """Ask the index once for all that needs more than the timeline."""
    host_id = call.spot.here.host_id or ""
    asker = _asker(call)
    roots = call.witness.roots()

    def times_of(connection: sqlite3.Connection, name: str) -> tuple[stretches.Stretch, ...]:
        if held := stretches.of_claims(history, name):
            return held
        others = claimed.of_session(call.store, name, host_id)
        return stretches.read(connection, call.store, line.key, line.activities, name, others)

    known = {each.session for each in traces.sessions(line)}
    known |= {session.session} if session is not None else set()
    if not known and not own.claims and not claims.open_ones(call.store.rows):
        return _Beside({}, neighbours.Others(), ())

    def work(connection: sqlite3.Connection) -> _Beside:
        times = {name: times_of(connection, name) for name in sorted(known)}
        others = neighbours.read(connection, call.store, own, roots, host_id, asker)
        found: list[model.Activity] = []
        if session is not None and times[session.session]:
            since = min(each.since for each in times[session.session])
            edits = claimed.edits_beside(connection, call.store, session.session, since, host_id)
            found = [each for each in edits if stretches.has(times[session.session], each.at)]
        return _Beside(times, others, tuple(found))

    return call.witness.ask(work)


def _unfinished(
    call: context.Context,
    named: lookup.Named,
    line: timeline.Timeline,
    own: neighbours.Own,
    beside: _Beside,
    *,
    is_there: bool,
) -> tuple[unfinished.Unfinished, tuple[lost.Lost, ...]]:
    """What is not where it should be in the end, and what is nowhere. Git is asked now."""
    root = call.settings.text("tasks.root")

    def is_bookkeeping(path: str) -> bool:
        is_list = bool(sources.source_of(path))
        return is_list or path == config.TRACKED_FILE or workdir.is_ours(path, root)

    finder = call.witness.finder
    is_named = traces.naming(finder, named.key, named.aliases)
    wanted = traces.wanted(line, own, beside.others, beside.times, is_named, is_there=is_there)
    wanted = wanted._replace(
        reserved=tuple(claims.reserved(call.store.rows, own.claims[0])) if own.claims else (),
        leaves_out=is_bookkeeping,
        is_some_task=traces.naming_any(finder),
    )
    left = unfinished.read(call.workspace, wanted)
    # What was edited on another machine is not expected here.
    here = [each for each in line.activities if each.what != "edited" or _opens(each.pointer)]
    edits = lost.edits(here, traces.directories(line), call.witness.roots())
    found = lost.candidates(edits, left, is_bookkeeping)
    return left, tuple(lost.read(call.workspace.place, found, left))


def _opens(pointer: str) -> bool:
    return os.path.isfile(_file(pointer))


def _file(pointer: str) -> str:
    return pointer.removeprefix("file:").partition("#")[0]


def _subject(named: lookup.Named) -> room.Subject:
    paragraphs: list[tuple[str, str]] = []
    unmet: list[str] = []
    if named.loaded is not None:
        fields = named.loaded.document.fields
        paragraphs = [
            (name, _told(fields[name]))
            for name in ("description", "plan", "error", "result")
            if fields.get(name)
        ]
        if named.state not in (states.DONE, states.ARCHIVED):
            unmet = [each for each in map(_told, _listed(fields.get("acceptance"))) if each]
    elif named.item is not None:
        item = named.item
        paragraphs = [("section", item.section)] if item.section else []
        paragraphs += [("description", item.description)] if item.description else []
        unmet = [said for is_met, said in item.acceptance if not is_met]
        if item.parts_total:
            paragraphs.append(("parts", f"{item.parts_done} of {item.parts_total} done"))
    state = named.state or "on no list"
    return room.Subject(
        named.key,
        text.one_line(named.title, 200),
        state,
        named.where,
        tuple(paragraphs),
        tuple(text.one_line(each, 300) for each in unmet),
        tuple(named.aliases),
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_told(item)}" for name, item in value.items())
    if isinstance(value, list):
        return "\n".join(map(_told, value))
    return str(value) if value is not None else ""


def _verdict(call: context.Context, last: agents.Claim | None) -> str:
    if last is None or last.closed_at is not None:
        return ""
    holder = roll.get(call.store.rows, last.session_id)
    if holder is None:
        return ""
    verdict = call.spot.shown_verdict(holder)
    return f"{verdict.state}: {verdict.reason}"


def _session(line: timeline.Timeline, last: agents.Claim | None) -> model.Session | None:
    """The session that had the task last, or else worked on it last, or else talked of it."""
    known = {each.session: each for each in line.sessions}
    if last is not None and last.session_id in known:
        return known[last.session_id]
    for kinds in (model.MOVING, (model.MENTIONED,)):
        told = [each for each in line.activities if each.kind in kinds and each.session in known]
        if told:
            return known[told[-1].session]
    return None


def _whose(session: model.Session | None, history: list[agents.Claim]) -> str:
    """Whose session it is, if not that of the last claim."""
    if session is None or not history or stretches.of_claims(history[:1], session.session):
        return ""
    before = [each for each in history if stretches.of_claims([each], session.session)]
    if before:
        return f"The session of {before[0].agent_name}, who had it before,"
    return f"Session {session.session}, without a claim,"


def _recalled(
    line: timeline.Timeline,
    session: model.Session | None,
    times: tuple[stretches.Stretch, ...],
) -> recall.Recalled:
    if session is None or not times:
        return recall.Recalled([], [])
    of_session = [each for each in line.activities if each.session == session.session]
    near = [each.pointer for each in of_session if stretches.has(times, each.at)]
    # Where nothing says where in the file it was, the end has to do.
    at_end = stretches.has(times, session.last_at) or not any("#bytes=" in each for each in near)
    return recall.recall(session.source, near, _file(session.pointer), times, at_end=at_end)


def _notes(told: list[events.Event]) -> list[room.Note]:
    found = [each for each in told if each.type == events.HANDOFF_LEFT.name]
    return [
        room.Note(
            each.at, each.actor, text.one_line(str(each.data["note"]), 400), f"event:{each.id}"
        )
        for each in reversed(found[-_MAX_NOTES:])
    ]
