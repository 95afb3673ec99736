"""The numbers of a run, as the settings have them."""

from __future__ import annotations

from typing import NamedTuple

from tether import config

MINUTE_MS = 60_000


class Limits(NamedTuple):
    """How many, how long, how often."""

    slots: int = 5
    context_percent: int = 10
    session_percent: int = 10
    resume_ms: int = 5 * MINUTE_MS
    usage_ms: int = MINUTE_MS
    recent_ms: int = 60 * MINUTE_MS
    worker_ms: int = 15 * MINUTE_MS
    audit_ms: int = 10 * MINUTE_MS
    checkpoint_ms: int = 5 * MINUTE_MS
    checkpoint_wait_ms: int = 30_000
    stall_checkpoints: int = 3
    failure_limit: int = 3
    death_limit: int = 10
    reload_compactions: int = 2
    compaction_ms: int = 10 * MINUTE_MS
    grace_seconds: int = 10


def of(settings: config.Settings) -> Limits:
    """What the settings say."""

    def number(name: str, factor: int = 1) -> int:
        return settings.integer(f"run.{name}") * factor

    return Limits(
        slots=number("slots"),
        context_percent=number("context_percent"),
        session_percent=number("session_percent"),
        resume_ms=number("resume_minutes", MINUTE_MS),
        usage_ms=number("usage_seconds", 1000),
        recent_ms=number("recent_minutes", MINUTE_MS),
        worker_ms=number("worker_minutes", MINUTE_MS),
        audit_ms=number("audit_minutes", MINUTE_MS),
        checkpoint_ms=number("checkpoint_seconds", 1000),
        checkpoint_wait_ms=number("checkpoint_wait_seconds", 1000),
        stall_checkpoints=number("stall_checkpoints"),
        failure_limit=number("failure_limit"),
        death_limit=number("death_limit"),
        reload_compactions=number("reload_compactions"),
        compaction_ms=number("compaction_minutes", MINUTE_MS),
        grace_seconds=number("grace_seconds"),
    )
