"""The nouns of this room, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tether import config, ids
from tether.hints import Any, NamedTuple
from tether.tasks import states

# What may be wrong with a task, the most urgent first: the order of reports and of `next`.
DEAD_CLAIM = "dead_claim"
CONFLICT_ABANDONED = "conflict_abandoned"
CONTEXT_LOST = "context_lost"
STALE_IN_PROGRESS = "stale_in_progress"
PARTIALLY_COMPLETED = "partially_completed"
DONE_UNMARKED = "done_unmarked"
LONG_CLAIM = "long_claim"
DONE_UNPROVEN = "done_unproven"
NEVER_STARTED = "never_started"
PARKED_PROJECT = "parked_project"
TYPES = (
    DEAD_CLAIM,
    CONFLICT_ABANDONED,
    CONTEXT_LOST,
    STALE_IN_PROGRESS,
    PARTIALLY_COMPLETED,
    DONE_UNMARKED,
    LONG_CLAIM,
    DONE_UNPROVEN,
    PARKED_PROJECT,
    NEVER_STARTED,
)
# Somebody began it, and nobody carries it on: these are taken up again.
ORPHANED = TYPES[:5]
# What the store alone can tell, so every sweep sees it.
OF_STORE = (DEAD_CLAIM, CONFLICT_ABANDONED, LONG_CLAIM)
# What a type is called where findings are counted or listed in a sentence.
IN_WORDS = {
    CONFLICT_ABANDONED: "conflict",
    CONTEXT_LOST: "lost context",
    STALE_IN_PROGRESS: "stale",
    PARTIALLY_COMPLETED: "partial",
}

CERTAIN = "certain"
SUSPECT = "suspect"

QUICK = "quick"
STANDARD = "standard"
DEEP = "deep"
# What a sweep sees, one that stands further right sees too.
SWEEPS = (QUICK, STANDARD, DEEP)

ADOPTED = "adopted"
COMPLETED = "completed"
DEFERRED = "deferred"
CANCELLED = "cancelled"
CLEARED = "cleared"
"""It does not hold any more, and nobody had to do anything about it."""

# States of a task that somebody may still have to do something about.
OPEN = (states.NEW, states.ASSIGNED, states.IN_PROGRESS, states.ERROR)

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def in_words(kind: str) -> str:
    """`dead claim`, `stale`."""
    return IN_WORDS.get(kind, kind.replace("_", " "))


def counted(kind: str, number: int) -> str:
    """`2 dead claims`, `2 stale`."""
    is_noun = kind in OF_STORE
    return f"{number} {in_words(kind)}{'s' if is_noun and number != 1 else ''}"


class Limits(NamedTuple):
    """How long is too long; each has a setting."""

    stale_ms: int = 7 * DAY_MS
    long_claim_ms: int = DAY_MS
    parked_ms: int = 30 * DAY_MS
    window_ms: int = 30 * DAY_MS
    """How far back a standard sweep looks in logs and transcripts."""
    silent_ms: int = HOUR_MS
    """Before that, nobody can say that a session without a known process is over."""
    alert_percent: int = 84
    """What is less probable is not reported as an orphan unless it is asked for."""


def limits(settings: config.Settings) -> Limits:
    """What the settings say."""

    def ms(name: str, unit: int) -> int:
        return settings.integer(f"vacuum.{name}") * unit

    return Limits(
        stale_ms=ms("stale_days", DAY_MS),
        long_claim_ms=ms("long_claim_hours", HOUR_MS),
        parked_ms=ms("parked_days", DAY_MS),
        window_ms=ms("window_days", DAY_MS),
        alert_percent=settings.integer("vacuum.alert_percent"),
    )


class Sign(NamedTuple):
    """One piece of evidence, and what opens it."""

    at: str
    what: str
    pointer: str
    session: str = ""


class Subject(NamedTuple):
    """A task as its file or its list has it."""

    key: ids.TaskKey
    title: str
    state: str
    """new, assigned, in_progress, done, error or cancelled."""
    track: str = ""
    """The list that it counts for."""
    section: str = ""
    """The heading above it."""
    owner: str = ""
    priority: str = "normal"
    where: str = ""
    parts_done: int = 0
    parts_total: int = 0
    created_at: str = ""
    updated_at: str = ""
    """When its list says that it was last changed."""
    put_off: str = ""
    """What its list says of it if somebody put it off: a remark, or a status."""
    aliases: tuple[str, ...] = ()
    """Ids that it had before."""


class Hold(NamedTuple):
    """The last claim of a task, whoever wrote it down, and how its owner is."""

    session: str
    agent: str
    at: str
    closed_at: str = ""
    """Empty while it is open."""
    outcome: str = ""
    verdict: str = ""
    """alive, suspect, expired or dead; empty if nobody can tell."""
    reason: str = ""
    pointer: str = ""

    @property
    def is_open(self) -> bool:
        return not self.closed_at

    @property
    def was_taken(self) -> bool:
        """Did a sweep free it because its owner was gone?"""
        return self.outcome == "released_stale"

    @property
    def is_live(self) -> bool:
        """Does somebody have it who may well be at work?"""
        return self.is_open and self.verdict in ("alive", "suspect")


class Visit(NamedTuple):
    """What one session did with a task, and how that session went on."""

    session: str
    first_at: str
    last_at: str
    """When it last did or said something about it."""
    worked_at: str = ""
    """When it last worked on it, or declared something."""
    compacted_at: str = ""
    ending: str = ""
    """How its transcript ends: at_rest, mid_turn, limited, ended."""
    began_at: str = ""
    """When the session itself began; empty if nobody knows."""
    over_at: str = ""
    """When the session was last heard of at all."""
    verdict: str = ""
    reason: str = ""
    pointer: str = ""


class Clash(NamedTuple):
    """Two sessions in each other's way."""

    at: str
    session: str
    other: str
    pointer: str
    is_open: bool = True
    """Nobody has let go of it since."""
    verdicts: tuple[str, str] = ("", "")
    """How the two sessions are."""
    agents: tuple[str, str] = ("", "")
    """What they call themselves."""

    @property
    def names(self) -> tuple[str, str]:
        """How people know the two."""
        first, second = self.agents
        return first or self.session, second or self.other or "another session"

    @property
    def living(self) -> int:
        """How many of the two may be at work."""
        return sum(each in ("alive", "suspect") for each in self.verdicts)

    @property
    def are_dead(self) -> bool:
        """Are both gone for certain?"""
        return self.verdicts == ("dead", "dead")


class Quiet(NamedTuple):
    """How silent it is about a task, and around it."""

    touched_hours: float
    """Since somebody last did or declared something about it."""
    alone_hours: float
    """The same, but for what was declared of many tasks at once."""
    has_work: bool = True
    """Is there any trace of work itself?"""
    touched_together: int = 1
    """How many tasks something was declared of when this one was last touched."""
    project_touches: int = 0
    """How often tasks were touched in the last week, each at most once an hour."""


class Evidence(NamedTuple):
    """Everything that is known of one task."""

    subject: Subject
    now: str
    hold: Hold | None = None
    visits: tuple[Visit, ...] = ()
    """By when they ended."""
    clashes: tuple[Clash, ...] = ()
    last: Sign | None = None
    """When somebody last did or declared something about it."""
    finished: tuple[Sign, ...] = ()
    """What says that it is done, since it was last begun or opened again, oldest first."""
    resumed_at: str = ""
    """When it was last begun or opened again."""
    resumed_by: str = ""
    ticked: Sign | None = None
    """When its list was last seen to say that it is done."""
    ticked_together: int = 1
    worked: Sign | None = None
    """The last trace of work itself."""
    committed: Sign | None = None
    broadcast: Sign | None = None
    logged: Sign | None = None
    claimed_at: str = ""
    handed_off_at: str = ""
    quiet: Quiet | None = None
    begun: bool = False
    """Did anybody take it up: a claim, a state, work itself? An edited task is only a plan."""
    family_at: str = ""
    """When somebody last did something about one of its parts."""

    @property
    def last_at(self) -> str:
        return self.last.at if self.last is not None else ""

    @property
    def touched_at(self) -> str:
        """When anything was last done about it, or about a part of it; empty if nothing was."""
        return max(self.last_at, self.family_at) or self.claimed_at

    @property
    def last_session(self) -> str:
        """The session that last touched it: by a visit, or by its claim; empty if none did."""
        hold, visit = self.hold, self.visits[-1] if self.visits else None
        if hold is not None and (visit is None or hold.at > visit.last_at):
            return hold.session
        return visit.session if visit is not None else ""

    @property
    def last_owner(self) -> str:
        """Who has it by a claim, or had it until a sweep found that they are gone."""
        hold = self.hold
        if hold is None or not (hold.is_open or hold.was_taken):
            return ""
        return hold.agent or hold.session


class Finding(NamedTuple):
    """What is wrong with a task, why that is thought, and how sure it is."""

    type: str
    grade: str
    percent: int
    """100 if it is certain."""
    reasons: tuple[str, ...]
    pointers: tuple[str, ...]
    """What opens the evidence."""

    @property
    def rank(self) -> tuple[int, int]:
        return TYPES.index(self.type), -self.percent


class Judged(NamedTuple):
    """A task with all that is wrong with it, the most urgent first."""

    evidence: Evidence
    findings: tuple[Finding, ...]

    @property
    def subject(self) -> Subject:
        return self.evidence.subject


def clash(row: Mapping[str, Any], verdict_of: Callable[[str], str]) -> Clash:
    """A row of `conflicts`, with what its two sessions are called."""
    first, second = row["session_id"], row["other_session_id"]
    return Clash(
        row["raised_at"],
        first,
        second,
        f"conflict:{row['id']}",
        row["resolved_at"] is None,
        (verdict_of(first), verdict_of(second)),
        (row["agent_name"] or "", row["other_agent_name"] or ""),
    )


def deferral(row: Mapping[str, Any]) -> Deferral:
    """A row of `deferrals`."""
    return Deferral(*(row[name] or "" for name in Deferral._fields))


class Deferral(NamedTuple):
    """Somebody decided that a task, a track or the whole project has time."""

    scope: str
    source: str
    name: str
    deferred_at: str
    deferred_by: str
    until: str = ""
    why: str = ""
    ended_at: str = ""
    ended_why: str = ""
