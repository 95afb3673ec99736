"""A task as plain values: what its file says, read once at the border.

Files come from people, agents and other tools, so any field may be missing or have any type. What
cannot be used is left out here, and is the validator's business.
"""

from __future__ import annotations

from tether import clock, ids, text
from tether.hints import Any, NamedTuple
from tether.tasks import states

PRIORITIES = ("critical", "high", "normal", "low")
PRIORITY_ALIASES = {"medium": "normal", "urgent": "critical", "moderate": "normal"}


def rank(priority: str) -> int:
    """Where a priority stands: 0 is the most urgent one; a word that is none counts as normal."""
    return PRIORITIES.index(priority if priority in PRIORITIES else "normal")


# The order in which Tether writes fields, and the place of those that it adds.
FIELDS = (
    "id", "title", "agent", "status", "priority", "created_at", "created_by", "assigned_at",
    "started_at", "completed_at", "timeout_at", "parent", "depends_on", "relations",
    "external_refs", "context_files", "artefacts", "description", "plan", "acceptance", "result",
    "error", "cancelled", "history",
)  # fmt: skip
# Entries of `history` after which the claims of before say nothing about the task any more.
FRESH_STARTS = ("reopened", "retried", "returned")


class Task(NamedTuple):
    """One task in one checkout."""

    id: str
    """The name of its file: it never changes."""
    path: str
    """From the top of the checkout."""
    place: str
    """inbox, assigned, done or archive."""
    folder: str = ""
    """The directory below its place: an agent, a month, or whatever a team put there."""
    status: str = ""
    """As it is written."""
    state: str = states.NEW
    """Where it is in the lifecycle, as far as the file alone can say."""
    title: str = ""
    agent: str = ""
    priority: str = "normal"
    created_at: str = ""
    assigned_at: str = ""
    started_at: str = ""
    completed_at: str = ""
    timeout_at: str = ""
    parent: str = ""
    depends_on: tuple[str, ...] = ()
    artefacts: tuple[str, ...] = ()
    is_cancelled: bool = False
    is_partial: bool = False
    fresh_at: str = ""
    """When it was last reopened, retried or returned."""
    problem: str = ""
    """Why the file cannot be read; empty if it can."""
    line: int = 0
    """Where in the file, if that is known."""

    def standing(self, *, is_claimed: bool = False) -> states.Standing:
        """Where it is, and where it belongs, knowing whether a claim of it is open."""
        return states.settle(
            self.place,
            self.status,
            has_agent=ids.AgentName.is_valid(self.agent),
            is_cancelled=self.is_cancelled,
            is_claimed=is_claimed,
        )

    @property
    def owner(self) -> str:
        """Whose it is by its file: a directory of an agent wins over the field."""
        folder = self.folder.partition("/")[0] if self.place == states.ASSIGNED else ""
        return folder or self.agent


def task(task_id: str, path: str, place: str, folder: str, fields: dict[str, Any]) -> Task:
    """What the fields of a file say."""
    result, history = fields.get("result"), fields.get("history")
    result = result if isinstance(result, dict) else {}
    entries = [e for e in history if isinstance(e, dict)] if isinstance(history, list) else []
    fresh = [_word(e.get("at")) for e in entries if e.get("what") in FRESH_STARTS]
    status, agent = _word(fields.get("status")), _word(fields.get("agent"))
    # `cancelled: no` is a text in YAML 1.2, and no decision.
    is_cancelled = isinstance(fields.get("cancelled"), dict) or fields.get("cancelled") is True
    has_agent = ids.AgentName.is_valid(agent)
    standing = states.settle(place, status, has_agent=has_agent, is_cancelled=is_cancelled)
    return Task(
        id=task_id,
        path=path,
        place=place,
        folder=folder,
        status=status,
        state=standing.state,
        title=text.one_line(_word(fields.get("title"))),
        agent=agent,
        priority=known_priority(_word(fields.get("priority"))) or "normal",
        created_at=stamp(fields.get("created_at")),
        assigned_at=stamp(fields.get("assigned_at")),
        started_at=stamp(fields.get("started_at")),
        completed_at=stamp(fields.get("completed_at")) or stamp(result.get("completed_at")),
        timeout_at=stamp(fields.get("timeout_at")),
        parent=_word(fields.get("parent")),
        depends_on=words(fields.get("depends_on")),
        artefacts=words(fields.get("artefacts", fields.get("artifacts"))),
        is_cancelled=is_cancelled,
        is_partial=bool(result.get("partial")),
        fresh_at=max((stamp(at) for at in fresh), default=""),
    )


def known_priority(written: str) -> str | None:
    """The priority that a word means; None if it means none."""
    word = written.strip().lower()
    return word if word in PRIORITIES else PRIORITY_ALIASES.get(word)


def stamp(value: object) -> str:
    """A time as it sorts, or nothing."""
    if isinstance(value, str) and value:
        try:
            return clock.text(clock.parse(value))
        except (ValueError, OverflowError):
            return ""
    return ""


def words(value: object) -> tuple[str, ...]:
    """A list of texts; one text counts as a list of one, what else is in it is left out."""
    if isinstance(value, str):
        return (value,) if value else ()
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(word for item in value if (word := _word(item))))


def _word(value: object) -> str:
    """A scalar as text: ids and names may look like numbers."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return ""
