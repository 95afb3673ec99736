"""The lifecycle as one table: states, verbs, and who may use them. Everything here is pure.

The validator's rules, the refusals of every verb and the page in the docs come from these rows.
"""

from __future__ import annotations

from collections.abc import Collection

from tether.hints import NamedTuple

NEW = "new"
ASSIGNED = "assigned"
IN_PROGRESS = "in_progress"
DONE = "done"
ERROR = "error"
STATES = (NEW, ASSIGNED, IN_PROGRESS, DONE, ERROR)
OPEN = (NEW, ASSIGNED, IN_PROGRESS, ERROR)

# What else is met, though no status says it: no file, one that was put away, one that is broken,
# one that will not be done.
NONE = "none"
ARCHIVED = "archived"
UNREADABLE = "unreadable"
CANCELLED = "cancelled"

INBOX = "inbox"
ARCHIVE = "archive"
# The directories, and the states that a file in them may have (seed 001, rule 1 in full).
PLACES = {
    INBOX: (NEW,),
    ASSIGNED: (ASSIGNED, IN_PROGRESS, ERROR),
    DONE: (DONE,),
    ARCHIVE: (DONE, ERROR),
}
HOME = {NEW: INBOX, ASSIGNED: ASSIGNED, IN_PROGRESS: ASSIGNED, ERROR: ASSIGNED, DONE: DONE}

# Roles: what somebody is to a task.
ANYONE = "anyone"
AGENT = "agent"
ASSIGNEE = "assignee"
HOLDER = "holder"
ADOPTER = "adopter"
COORDINATOR = "coordinator"
HUMAN = "human"
CLEANUP = "cleanup"
ROLES = {
    ANYONE: "anyone",
    AGENT: "an agent, for itself",
    ASSIGNEE: "the agent that it is assigned to",
    HOLDER: "who holds its claim",
    ADOPTER: "who has adopted it and names the evidence",
    COORDINATOR: "the coordinator of a run",
    HUMAN: "a person",
    CLEANUP: "the clean-up after the retention period",
}


class Move(NamedTuple):
    """One row of the table: a verb, where it may start, where it leads, and who may use it."""

    verb: str
    sources: tuple[str, ...]
    target: str
    """A state; empty if the state stays."""
    who: tuple[str, ...]
    meaning: str


TABLE = (
    Move("new", (NONE,), NEW, (ANYONE,), "a task is written down"),
    Move("assign", (NEW,), ASSIGNED, (COORDINATOR, HUMAN), "it is given to an agent"),
    Move("claim", (NEW,), IN_PROGRESS, (AGENT, HUMAN), "somebody takes it and starts"),
    Move("claim", (ASSIGNED,), IN_PROGRESS, (ASSIGNEE, HUMAN), "its assignee takes it and starts"),
    Move("start", (ASSIGNED,), IN_PROGRESS, (ASSIGNEE,), "its assignee starts"),
    Move("finish", (IN_PROGRESS, ASSIGNED), DONE, (HOLDER,), "it is done, with a result"),
    Move("fail", (IN_PROGRESS, ASSIGNED), ERROR, (HOLDER,), "it failed, with an error"),
    Move("complete", OPEN, DONE, (HUMAN, ADOPTER), "the work turns out to be there"),
    Move("retry", (ERROR, IN_PROGRESS), ASSIGNED, (HUMAN,), "it is tried again"),
    Move("extend", (IN_PROGRESS,), "", (HUMAN,), "it may take longer"),
    Move("return", (ASSIGNED, IN_PROGRESS), NEW, (HOLDER, COORDINATOR, HUMAN), "it is given back"),
    Move("adopt", OPEN[:3], "", (AGENT, HUMAN), "it goes on under another owner"),
    Move("cancel", OPEN, ARCHIVED, (HUMAN,), "it will not be done"),
    Move("archive", (DONE,), ARCHIVED, (CLEANUP, HUMAN), "it is put away"),
    Move("reopen", (DONE, ARCHIVED), NEW, (HUMAN,), "it is to do again"),
)
VERBS = tuple(dict.fromkeys(move.verb for move in TABLE))


class Breach(NamedTuple):
    """Why a move is not legal: the rule that it breaks."""

    verb: str
    state: str
    rule: str


def check(verb: str, state: str, roles: Collection[str]) -> Move | Breach:
    """The row that allows this, or the rule that does not."""
    rows = [move for move in TABLE if move.verb == verb]
    from_here = [move for move in rows if state in move.sources]
    for move in from_here:
        if ANYONE in move.who or not set(roles).isdisjoint(move.who):
            return move
    if not from_here:
        sources = dict.fromkeys(source for move in rows for source in move.sources)
        return Breach(verb, state, f"`{verb}` goes from {_either(sources)}, and this is {state}")
    who = dict.fromkeys(ROLES[role] for move in from_here for role in move.who)
    return Breach(verb, state, f"`{verb}` of a task that is {state} is for {_either(who)}")


def successors(state: str) -> dict[str, tuple[str, ...]]:
    """The states that may follow one, with the verbs that lead there."""
    found: dict[str, tuple[str, ...]] = {}
    for move in TABLE:
        if state in move.sources and move.target:
            found[move.target] = (*found.get(move.target, ()), move.verb)
    return found


# Aliases that real task lists use, and what they can only mean.
STATUS_ALIASES = {
    "todo": NEW, "to_do": NEW, "pending": NEW, "inbox": NEW, "open": NEW, "backlog": NEW,
    "completed": DONE, "complete": DONE, "finished": DONE, "closed": DONE,
    "failed": ERROR, "failure": ERROR,
    "started": IN_PROGRESS, "doing": IN_PROGRESS, "wip": IN_PROGRESS,
}  # fmt: skip
# How far along a state is; two files of one task are settled by this.
RANK = {NEW: 0, ASSIGNED: 1, IN_PROGRESS: 2, ERROR: 3, DONE: 4}
_FORWARD = {
    INBOX: (ASSIGNED, IN_PROGRESS, ERROR, DONE),
    ASSIGNED: (DONE,),
}


def known_status(written: str) -> str | None:
    """The state that a status means, by its case-blind name or a known alias; None if unknown."""
    word = "_".join(written.strip().lower().replace("-", " ").split())
    return word if word in RANK else STATUS_ALIASES.get(word)


class Standing(NamedTuple):
    """Where a file really is in the lifecycle, whatever it was in the middle of."""

    state: str
    place: str
    """The directory that it belongs in."""


def settle(
    place: str, written: str, *, has_agent: bool, is_cancelled: bool, is_claimed: bool = False
) -> Standing:
    """What a file's directory and status mean together.

    A status that follows its directory completes the move that was begun: content is written
    first, then the file is renamed. Otherwise the directory wins, so a person's plain `mv` counts.
    Only giving back looks like a person's `mv` out of the inbox; then the claim, which is closed
    last, tells them apart.
    """
    status = known_status(written)
    if place == ARCHIVE:
        return Standing(ARCHIVED, ARCHIVE)
    if is_cancelled:
        return Standing(ARCHIVED, ARCHIVE)
    if status in PLACES[place]:
        return Standing(status, place)
    if status in _FORWARD.get(place, ()) and (has_agent or status == DONE):
        return Standing(status, HOME[status])
    if place == ASSIGNED and status == NEW and is_claimed:
        return Standing(NEW, INBOX)
    return Standing(PLACES[place][0], place)


def grade(place: str, written: str) -> str:
    """How a file came to disagree with its directory, which a `mv` changes first.

    `skipped` if its status only lags behind, `backwards` if the file was moved back, `unknown` if
    the status is none.
    """
    status = known_status(written)
    if status is None:
        return "unknown"
    is_behind = place == ARCHIVE or RANK[status] < max(RANK[state] for state in PLACES[place])
    return "skipped" if is_behind else "backwards"


def change_grade(before: str, after: str) -> str:
    """How one state follows another in a history that only sees some of them.

    `legal` by one verb, `skipped` if verbs in a row lead there, otherwise `backwards`.
    """
    if before == after or after in successors(before):
        return "legal"
    if before not in RANK or after not in (*RANK, ARCHIVED):
        return "unknown"
    return "skipped" if after == ARCHIVED or RANK[after] > RANK[before] else "backwards"


def _either(words: Collection[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
