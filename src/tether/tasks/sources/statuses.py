"""The state that a team's own word for it means. Pure."""

from __future__ import annotations

import re

from tether.tasks import states
from tether.tasks.sources import model

_WORDS = re.compile(r"[a-z]+")
_APOSTROPHES = str.maketrans("", "", "'\u2019`")
# The first row with a word of the status counts: "won't do", "not started" and "waiting for review"
# come before what their last words mean, and "ready for review" does not.
_MEANINGS = (
    (
        model.CANCELLED,
        """cancelled canceled wont wontfix abandoned rejected obsolete duplicate invalid dropped
        declined tombstone deleted superseded""",
    ),
    (states.NEW, "not todo blocked waiting hold paused deferred later someday"),
    (
        states.IN_PROGRESS,
        """progress doing wip started active working review reviewing testing qa verification
        implementing hooked ongoing""",
    ),
    (states.NEW, "to new open backlog draft planned pending ready queued icebox triage pinned"),
    (
        states.DONE,
        """done complete completed closed finished resolved shipped released merged fixed deployed
        verified""",
    ),
    (states.ERROR, "failed failure error"),
)
_STATE_OF = {
    word: (rank, state) for rank, (state, words) in enumerate(_MEANINGS) for word in words.split()
}


def state_of(written: str) -> str | None:
    """The state that a status means; None if its words mean none."""
    words = _WORDS.findall(written[:100].lower().translate(_APOSTROPHES))
    found = [_STATE_OF[word] for word in words if word in _STATE_OF]
    return min(found)[1] if found else None
