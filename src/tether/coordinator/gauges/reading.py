"""One answer to each question, from whichever source has one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from tether import clock, ids
from tether.coordinator.gauges import claude, codex, command, model, statusline, tail
from tether.evidence import places
from tether.hints import NamedTuple

# Within this time an agent at work has long drawn another status line or counted its tokens again.
_MAX_CONTEXT_AGE_MS = 30 * 60_000
# The newest ones of all sessions may not have counted yet.
_MAX_ROLLOUTS = 5


class Sources(NamedTuple):
    """Where answers may come from."""

    store_dir: str
    places: places.Places
    environ: Mapping[str, str]
    """For the command."""
    command: tuple[str, ...] = ()
    """The user's usage command, if there is one."""


def context_of(
    kind: str, session: ids.SessionId, sources: Sources, now_ms: int
) -> model.Context | None:
    """How much room is left in an agent's context; None if nobody knows, or only of old."""
    found = None
    if kind == "claude":
        found = statusline.context(sources.store_dir, session)
    elif kind == "codex":
        paths = codex.rollouts(sources.places.codex, session)
        path = next(paths, None)
        found = codex.context(tail.last_lines(path, codex.TAIL_BYTES)) if path else None
    return found if found and _is_recent(found, now_ms) else None


def usage_of(
    kind: str, session: ids.SessionId | None, sources: Sources, now_ms: int
) -> model.Usage | None:
    """How much an agent's account may still use; None if nobody knows.

    The command that the user has set up comes first, and raises `command.UsageUnknown` if it fails:
    who relies on it must hear of that. Without a session, any of the same kind tells.
    """
    if sources.command:
        return command.run(sources.command, sources.environ)
    if kind == "claude":
        return _claude_usage(session, sources, now_ms)
    return _codex_usage(session, sources, now_ms) if kind == "codex" else None


def _claude_usage(
    session: ids.SessionId | None, sources: Sources, now_ms: int
) -> model.Usage | None:
    """A refusal first, which is certain; then the session's own status line, then the newest."""
    own = None
    if session is not None:
        path = claude.transcript(sources.places.claude, session)
        lines = tail.last_lines(path, claude.TAIL_BYTES) if path else ()
        limit = claude.usage_limit(lines)
        if limit and not model.has_ended(model.Window(100, limit.resets_at), limit.at, now_ms):
            return limit
        own = statusline.usage(sources.store_dir, session, now_ms)
    return own or statusline.usage(sources.store_dir, None, now_ms)


def _codex_usage(
    session: ids.SessionId | None, sources: Sources, now_ms: int
) -> model.Usage | None:
    paths = codex.rollouts(sources.places.codex, session)
    for path in itertools.islice(paths, _MAX_ROLLOUTS):
        found = codex.usage(tail.last_lines(path, codex.TAIL_BYTES), now_ms)
        if found:
            return found
    return None


def _is_recent(found: model.Context, now_ms: int) -> bool:
    return found.at is not None and now_ms - clock.parse(found.at) <= _MAX_CONTEXT_AGE_MS
