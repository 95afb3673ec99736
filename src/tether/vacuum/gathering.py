"""What is known of a task, put together for the rules: from its timeline, claims and conflicts."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from tether import clock, ids
from tether.agents import model as agents
from tether.evidence import claimed, finished, timeline
from tether.evidence import model as evidence
from tether.hints import NamedTuple
from tether.store import port, sql
from tether.tasks import states
from tether.vacuum import model, moments, presence

_SQL = sql.Queries("vacuum")
_CODE = (
    "SELECT 1 FROM activities"
    " WHERE file = (SELECT id FROM evidence_files WHERE path = 'git:commit')"
    " AND start BETWEEN ? AND ? AND record = ? AND kind = 'worked'"
)
_COMMITS = "git:commit"
_LISTS = "git:list"
_MESSAGES = "coditect:messaging"
_EVENTS = "tether:event"
_LOGS = ("coditect:log", "specstory:history")
_MANY = 3
_CREATED_MS = 60_000
# Their transcripts say what was run, and not for which task.
_TELLING_NO_TASK = ("codex:", "gemini:", "cursor:")
_SAYING = ("said", "committed", "reverted", "named", "logged", "merged")
_FINISHED = ("completed", "status completed", "let go: done", "finish: done", "complete: done")
# Whoever does one of these has taken it up, or opened it again.
_RESUMED = ("claimed", "started", "adopted", "reopened", "error", "retry: assigned", "reopen: new")
_BEGUN = (
    *("claimed", "started", "adopted", "locked", "logged", "merged", "ticked", "marked done"),
    *("completed", "failed", "error", "status in_progress", "status completed"),
)
_CLAIMING = ("claimed", "started", "adopted")
_REVERT = re.compile(r"Revert \"")
_TICKED = "ticked"
_HANDED = "handed off"


class Ground(NamedTuple):
    """What all tasks are judged before."""

    connection: sqlite3.Connection
    store: port.Store
    around: claimed.Around
    moments: moments.Moments
    presence: presence.Presence
    claims: dict[ids.TaskKey, agents.Claim]
    """The last claim of each task."""
    conflicts: dict[ids.TaskKey, list[port.Row]]
    ticked_together: dict[str, int]
    now: str
    named: Mapping[ids.TaskKey, list[evidence.Activity]] = MappingProxyType({})
    """The commits that name a task whose id may be any word."""

    def last_touch(self, key: ids.TaskKey) -> int:
        return self.moments.last_at.get(key, 0)


def claims(store: port.Store) -> dict[ids.TaskKey, agents.Claim]:
    """The last claim of every task that was ever claimed."""
    found = map(agents.claim, store.rows(_SQL.last_claims))
    return {each.key: each for each in found}


def conflicts(store: port.Store) -> dict[ids.TaskKey, list[port.Row]]:
    """What stood between sessions, by task, as far as no finish has settled it."""
    found: dict[ids.TaskKey, list[port.Row]] = {}
    for row in store.rows(_SQL.conflicts):
        found.setdefault(ids.TaskKey(row["source"], row["task"]), []).append(row)
    return found


def gather(
    ground: Ground, subject: model.Subject, family: Iterable[ids.TaskKey] = ()
) -> model.Evidence:
    """Everything that is known of one task."""
    key = subject.key
    names = (key.id, *subject.aliases)
    told, sessions = _told(ground, subject, names)
    moving = [each for each in told if each.kind in evidence.MOVING]
    hold = _hold(ground, key, ground.claims.get(key))
    claimed_at = max((e.at for e in moving if e.what in _CLAIMING), default="")
    ticked = _last(told, lambda each: each.source == _LISTS and each.what == _TICKED)
    record = next((e.record for e in reversed(told) if ticked and _sign(e) == ticked), "")
    worked = _last(told, lambda each: each.kind == evidence.WORKED)
    if worked is None and ticked is not None and _has_code(ground.connection, record, ticked.at):
        worked = ticked  # what ticked the box brought the work along
    visited = tuple(visits(ground.presence, told, sessions))
    resumed_at, resumed_by = max(
        ((e.at, e.session) for e in told if _is_resumption(e)), default=("", "")
    )
    return model.Evidence(
        subject,
        ground.now,
        hold,
        visits=visited,
        clashes=tuple(_clashes(ground, key, told)),
        last=_last(moving, lambda _: True),
        finished=tuple(_sign(e) for e in told if e.at >= resumed_at and _is_finish(e, names)),
        resumed_at=resumed_at,
        resumed_by=resumed_by,
        ticked=ticked,
        ticked_together=ground.ticked_together.get(record, 1),
        worked=worked,
        committed=_last(moving, lambda each: each.source == _COMMITS),
        broadcast=_last(moving, lambda each: each.source == _MESSAGES),
        logged=_last(told, lambda each: each.kind != evidence.LISTED and _is_log(each)),
        claimed_at=max(claimed_at, hold.at if hold is not None else ""),
        handed_off_at=max((e.at for e in told if e.what == _HANDED), default=""),
        quiet=_quiet(ground, subject, moving),
        begun=bool(visited) or any(map(_is_beginning, told)),
        family_at=_family_at(ground, family),
    )


def _told(
    ground: Ground, subject: model.Subject, names: tuple[str, ...]
) -> tuple[list[evidence.Activity], tuple[evidence.Session, ...]]:
    """What happened to a task until now, and the sessions of it, each by one name."""
    # Whose commits those are that name no task is asked only where somebody held it.
    around = ground.around if subject.key in ground.claims else claimed.NOTHING
    also = ground.named.get(subject.key, ())
    line = timeline.read(ground.connection, ground.store, subject.key, names, around, also)
    since = _born(subject)
    told = [each for each in line.activities if since <= each.at <= ground.now and each.at]
    same = names_of(ground.presence, told, line.sessions)
    return [e._replace(session=same.get(e.session, e.session)) for e in told], line.sessions


def _born(subject: model.Subject) -> str:
    """Before this another task had its id: lists give ids anew."""
    if not subject.created_at:
        return ""
    return clock.text(clock.parse(subject.created_at) - _CREATED_MS)


def _quiet(
    ground: Ground, subject: model.Subject, moving: list[evidence.Activity]
) -> model.Quiet | None:
    """How silent it is, also by what was done under a claim and names no task."""
    now_ms = clock.parse(ground.now)
    created_ms = clock.parse(subject.created_at) if subject.created_at else 0
    found = ground.moments.quiet(subject.key, now_ms, created_ms)
    own = [each for each in moving if each.kind == evidence.WORKED or each.source == _EVENTS]
    if not own:
        return found or _marked_since(ground, subject, now_ms)
    hours = (now_ms - max(created_ms, *(clock.parse(each.at) for each in own))) / model.HOUR_MS
    has_work = any(each.kind == evidence.WORKED for each in own)
    if found is None:
        return model.Quiet(hours, hours, has_work)
    return found._replace(
        touched_hours=min(hours, found.touched_hours),
        alone_hours=min(hours, found.alone_hours),
        has_work=has_work or found.has_work,
    )


def _marked_since(ground: Ground, subject: model.Subject, now_ms: int) -> model.Quiet | None:
    """The silence of a task of which only its list says that somebody began it."""
    listed_ms = ground.moments.listed_at.get(subject.key, 0)
    told = [each for each in (subject.updated_at, subject.created_at) if each]
    at_ms = max([listed_ms, *map(clock.parse, told)])
    if subject.state not in (states.ASSIGNED, states.IN_PROGRESS) or not at_ms:
        return None
    hours = max(0, now_ms - at_ms) / model.HOUR_MS
    return model.Quiet(hours, hours, has_work=False)


def visits(
    known: presence.Presence,
    told: Iterable[evidence.Activity],
    sessions: Iterable[evidence.Session],
) -> Iterator[model.Visit]:
    """What each session did with a task, by when it last did; a subagent counts for its parent.

    A session that only mentioned the task did nothing with it, unless its agent's transcripts never
    say for what a tool is run.
    """
    facts = {known.name(session.session): session for session in sessions}
    found: dict[str, list[evidence.Activity]] = {}
    for each in told:
        if each.session and each.kind != evidence.LISTED and each.source != _EVENTS:
            name = known.name(_parent(each.session, facts))
            found.setdefault(name, []).append(each)
    made = [_visit(known, name, done, facts.get(name)) for name, done in found.items()]
    doing = [each for each, done in zip(made, found.values(), strict=True) if _is_doing(done)]
    yield from sorted(doing, key=lambda visit: (visit.last_at, visit.session))


def names_of(
    known: presence.Presence,
    told: Iterable[evidence.Activity],
    sessions: Iterable[evidence.Session],
) -> dict[str, str]:
    """Which transcripts the sessions have that another tool calls `vendor-pid`, where one fits."""
    found: dict[str, str] = {}
    candidates = list(sessions)
    for each in told:
        vendor, _, number = each.session.rpartition("-")
        if each.session in found or known.name(each.session) != each.session:
            continue
        if each.source == _MESSAGES and vendor and number.isdigit():
            fitting = {
                session.session
                for session in candidates
                if session.source.startswith(f"{vendor}:")
                and session.started_at <= each.at <= session.last_at
            }
            if len(fitting) == 1:
                found[each.session] = fitting.pop()
    return found


def _is_doing(done: list[evidence.Activity]) -> bool:
    if any(each.kind in evidence.MOVING for each in done):
        return True
    # To be asked for it, or to speak of it again and again, is more than to mention it.
    told = [each for each in done if each.source.startswith(_TELLING_NO_TASK)]
    return len(told) >= _MANY or any(each.what == "asked" for each in done)


def _visit(
    known: presence.Presence,
    name: str,
    done: list[evidence.Activity],
    facts: evidence.Session | None,
) -> model.Visit:
    worked_at = max((each.at for each in done if each.kind in evidence.MOVING), default="")
    last_at = max(each.at for each in done)
    verdict = known.of(name)
    return model.Visit(
        name,
        min(each.at for each in done),
        last_at,
        worked_at,
        facts.compacted_at if facts else "",
        facts.ending if facts else "",
        facts.started_at if facts else "",
        max(facts.last_at if facts else "", last_at),
        verdict.state,
        verdict.reason,
        done[-1].pointer,
    )


def _parent(session: str, facts: dict[str, evidence.Session]) -> str:
    own = facts.get(session)
    if own is not None and own.parent:
        return own.parent
    before, dot, _ = session.partition(".")
    return before if dot and before in facts else session


def _hold(ground: Ground, key: ids.TaskKey, claim: agents.Claim | None) -> model.Hold | None:
    foreign = ground.presence.foreign.get((key.source, key.id))
    is_later = foreign is not None and claim is not None and foreign.claimed_at > claim.claimed_at
    if claim is not None and (claim.closed_at is None or not is_later):
        verdict = ground.presence.of(claim.session_id)
        return model.Hold(
            claim.session_id,
            claim.agent_name,
            claim.claimed_at,
            claim.closed_at or "",
            claim.outcome or "",
            verdict.state,
            verdict.reason,
            f"claim:{claim.key.label}/{claim.epoch}",
        )
    if foreign is None:
        return None
    session = ground.presence.name(foreign.session)
    verdict = ground.presence.of(session)
    return model.Hold(
        session,
        foreign.session,
        foreign.claimed_at,
        verdict=verdict.state,
        reason=verdict.reason,
        pointer=foreign.pointer,
    )


def _clashes(
    ground: Ground, key: ids.TaskKey, told: list[evidence.Activity]
) -> Iterator[model.Clash]:
    for row in ground.conflicts.get(key, ()):
        yield model.clash(row, lambda session: ground.presence.of(session).state)
    for each in told:
        if each.source == _MESSAGES and each.what == "conflict":
            before = [e for e in told if e.at <= each.at and e.session and e.what in _CLAIMING]
            holder = next((e.session for e in reversed(before) if e.session != each.session), "")
            names = (ground.presence.name(each.session), ground.presence.name(holder))
            first, second = (ground.presence.of(name).state for name in names)
            yield model.Clash(each.at, *names, each.pointer, verdicts=(first, second))


def _is_finish(each: evidence.Activity, names: tuple[str, ...]) -> bool:
    """Does this say that the task is done?"""
    if each.kind == evidence.LISTED or _REVERT.match(each.text):
        return False
    if each.what in _FINISHED:
        return True
    if each.what not in _SAYING:
        return False
    if each.source == _COMMITS or each.what == "logged":
        return finished.is_committed_as(each.text, names)
    return finished.is_said(each.text, names)


def _is_resumption(each: evidence.Activity) -> bool:
    if each.kind == evidence.LISTED:
        return False
    return each.what in _RESUMED or (each.source == _COMMITS and bool(_REVERT.match(each.text)))


def _is_beginning(each: evidence.Activity) -> bool:
    """Does it show that somebody took the task up? To edit or to plan one is not to begin it."""
    return each.kind == evidence.WORKED or (each.kind == evidence.STATED and each.what in _BEGUN)


def _has_code(connection: sqlite3.Connection, oid: str, at: str) -> bool:
    """Does a commit change more than task lists?"""
    start = clock.parse(at) // 1000 * 1000
    return connection.execute(_CODE, (start, start + 999, oid)).fetchone() is not None


def _is_log(each: evidence.Activity) -> bool:
    return each.source in _LOGS or ":transcript" in each.source or ":rollout" in each.source


def _last(
    found: Iterable[evidence.Activity], wanted: Callable[[evidence.Activity], bool]
) -> model.Sign | None:
    chosen = [each for each in found if wanted(each)]
    return _sign(max(chosen, key=lambda each: each.at)) if chosen else None


def _sign(each: evidence.Activity) -> model.Sign:
    source = each.source.partition(":")[0]
    return model.Sign(each.at, f"{each.what} ({source})", each.pointer, each.session)


def _family_at(ground: Ground, family: Iterable[ids.TaskKey]) -> str:
    last = max((ground.last_touch(each) for each in family), default=0)
    return clock.text(last) if last else ""
