"""What a task's state is, all things considered: one pure table, printed in the docs.

The file says where the task is in this checkout. Its open claim says who has it, in whatever
checkout. Without one, the outcome of its last claim says what became of it there, and holds while
the branch that it names still has the file to show for it.
"""

from __future__ import annotations

from tether.hints import NamedTuple
from tether.tasks import states

ABSENT = "absent"
UNREADABLE = states.UNREADABLE
MINE, ALIVE, SUSPECT, OVER = "mine", "alive", "suspect", "over"
"""Who holds the open claim: the one who asks, or somebody alive, perhaps gone, or gone."""
ENDED = ("done", "failed")
CANCELLED = states.CANCELLED

# What is said on top of a state.
HELD = "held"
HELD_BY_ME = "held_by_me"
HELD_BY_SUSPECT = "held_by_suspect"
HOLDER_GONE = "holder_gone"
DROPPED = "dropped"
WAITING_FOR_MERGE = "waiting_for_merge"
LOST = "lost"
ASSIGNED_TO_OTHER = "assigned_to_other"
UNCLAIMED = "unclaimed"
STILL_HELD = "still_held"
NEEDS_HUMAN = "needs_human"
OVERLAYS = {
    HELD: "{holder} has it",
    HELD_BY_ME: "you have it",
    HELD_BY_SUSPECT: "{holder} has it, and may be gone",
    HOLDER_GONE: "{holder} had it and is gone; a claim takes it over",
    DROPPED: "{holder} let go of it",
    WAITING_FOR_MERGE: "{outcome} on {branch}, waiting for a merge",
    LOST: "{outcome} on {branch} once, but lost there",
    ASSIGNED_TO_OTHER: "assigned to {owner}",
    UNCLAIMED: "{owner} works on it without a claim in this store",
    STILL_HELD: "{holder} still holds it",
    NEEDS_HUMAN: "a person decides",
}


class File(NamedTuple):
    """The task's file in this checkout."""

    state: str
    """A state, `archived`, `absent` or `unreadable`."""
    is_mine: bool = False
    """Does it name the one who asks as its agent?"""


class Outcome(NamedTuple):
    """What became of the last claim, if none is open."""

    kind: str = ""
    """`done`, `failed`, or any other word for letting go; empty if there was no claim."""
    is_here: bool = False
    """Was it closed on the branch of this checkout, where the file itself tells more?"""


class Effective(NamedTuple):
    """What is shown, and whether the task is offered to the one who asks."""

    state: str
    is_offered: bool
    overlay: str = ""


class Row(NamedTuple):
    """One line of the table; `*` matches anything."""

    file: str
    claim: str
    outcome: str
    there: str
    result: Effective


def _row(
    file: str, claim: str, outcome: str, there: str, state: str, offered: bool, overlay: str = ""
) -> Row:
    return Row(file, claim, outcome, there, Effective(state, offered, overlay))


_NEW, _ASSIGNED, _WORK, _DONE, _ERROR = states.STATES
_GONE = states.ARCHIVED

# Columns: file here, open claim, outcome of the last claim elsewhere, file where that was; then the
# state that is shown, whether it is offered, and what is said on top. The first row that fits
# counts. `open` is any open claim, `-` is none; `ended` is done or failed, `reverted` the same on
# this branch though the file is in progress, `let_go` anything else.
TABLE = (
    _row(UNREADABLE, "*", "*", "*", UNREADABLE, False, NEEDS_HUMAN),
    _row(_DONE, "open", "*", "*", _DONE, False, STILL_HELD),
    _row(_DONE, "-", "*", "*", _DONE, False),
    _row(_GONE, "open", "*", "*", _GONE, False, STILL_HELD),
    _row(_GONE, "-", "*", "*", _GONE, False),
    _row(_ERROR, MINE, "*", "*", _ERROR, False, HELD_BY_ME),
    _row("*", MINE, "*", "*", "held", True, HELD_BY_ME),
    _row("*", ALIVE, "*", "*", "held", False, HELD),
    _row("*", SUSPECT, "*", "*", "held", False, HELD_BY_SUSPECT),
    _row(_ERROR, "*", "*", "*", _ERROR, False, NEEDS_HUMAN),
    _row("*", OVER, "*", _DONE, _DONE, False, WAITING_FOR_MERGE),
    _row("*", OVER, "*", CANCELLED, _GONE, False, WAITING_FOR_MERGE),
    _row("*", OVER, "*", "*", "held", True, HOLDER_GONE),
    _row("*", "-", "ended", _DONE, _DONE, False, WAITING_FOR_MERGE),
    _row("*", "-", "let_go", _DONE, _DONE, False, WAITING_FOR_MERGE),
    _row("*", "-", "ended", CANCELLED, _GONE, False, WAITING_FOR_MERGE),
    _row("*", "-", "let_go", CANCELLED, _GONE, False, WAITING_FOR_MERGE),
    _row("*", "-", "failed", _ERROR, _ERROR, False, WAITING_FOR_MERGE),
    _row(ABSENT, "-", "ended", "*", ABSENT, False, LOST),
    _row(ABSENT, "-", "*", "*", ABSENT, False),
    _row(_NEW, "-", "ended", "*", _NEW, True, LOST),
    _row(_NEW, "-", "let_go", "*", _NEW, True, DROPPED),
    _row(_NEW, "-", "-", "*", _NEW, True),
    _row("assigned, mine", "-", "ended", "*", _ASSIGNED, True, LOST),
    _row("assigned, mine", "-", "*", "*", _ASSIGNED, True),
    _row(_ASSIGNED, "-", "*", "*", _ASSIGNED, False, ASSIGNED_TO_OTHER),
    _row(_WORK, "-", "ended", "*", _WORK, True, LOST),
    _row("in_progress, mine", "-", "*", "*", _WORK, True),
    _row(_WORK, "-", "reverted", "*", _WORK, True, DROPPED),
    _row(_WORK, "-", "let_go", "*", _WORK, True, DROPPED),
    _row(_WORK, "-", "-", "*", _WORK, False, UNCLAIMED),
)


def effective(
    file_here: File, open_claim: str, last_outcome: Outcome, file_there: str
) -> Effective:
    """The first row that fits. `file_there` is the file's state on the outcome's branch."""
    outcomes = _outcomes(file_here, last_outcome)
    claims = {open_claim, "open"} if open_claim else {"-"}
    for row in TABLE:
        if (
            _fits_file(row.file, file_here)
            and (row.claim == "*" or row.claim in claims)
            and (row.outcome == "*" or row.outcome in outcomes)
            and row.there in ("*", file_there)
        ):
            return _filled(row.result, file_here)
    raise ValueError(f"no row for {file_here}")


def _outcomes(file: File, last: Outcome) -> set[str]:
    """The words that the table has for an outcome."""
    if last.kind in ENDED and last.is_here:
        # Here the file itself says what became of it; if it says less, the end was reverted.
        return {"reverted"} if file.state == states.IN_PROGRESS else {"-"}
    return {last.kind, "ended" if last.kind in ENDED else "let_go"} if last.kind else {"-"}


def _fits_file(wanted: str, file: File) -> bool:
    name, _, mine = wanted.partition(", ")
    return wanted == "*" or (name == file.state and (file.is_mine or not mine))


def _filled(result: Effective, file: File) -> Effective:
    """`held` is at least in progress, unless it is only assigned."""
    if result.state == "held":
        is_told = file.state in (states.ASSIGNED, states.ERROR)
        return result._replace(state=file.state if is_told else states.IN_PROGRESS)
    return result
