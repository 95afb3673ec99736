"""What somebody leaves for whoever takes up a task next, as an event of that task."""

from __future__ import annotations

from tether import errors, ids, redaction, text
from tether.store import events, port

MAX_CHARS = 4000


def checked(note: str) -> str:
    """A note as it is kept, without secrets; UsageError if it is empty or too long."""
    said = redaction.redact(text.clean(note)).strip()
    if not said or len(said) > MAX_CHARS:
        raise errors.UsageError(f"A note has 1 to {MAX_CHARS} characters. Nothing was changed.")
    return said


def leave(
    transaction: port.Transaction, key: ids.TaskKey, note: str, actor: str, session: str | None
) -> None:
    """Keep what somebody says of a task."""
    transaction.event(
        events.HANDOFF_LEFT,
        actor=actor,
        session=session,
        source=key.source,
        task=key.id,
        data={"note": note},
    )
