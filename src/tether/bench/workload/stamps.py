"""Times as text, quickly: half a million lines have one each."""

from __future__ import annotations

from tether import clock
from tether.bench.workload import model

_minutes: dict[int, str] = {}
_MANY = 100_000


def millis(ms: int) -> str:
    """`2026-10-01T08:30:00.123Z`"""
    minute, rest = divmod(ms, model.MINUTE)
    known = _minutes.get(minute)
    if known is None:
        if len(_minutes) > _MANY:
            _minutes.clear()
        known = _minutes[minute] = clock.text(minute * model.MINUTE)[:17]
    return f"{known}{rest // 1000:02d}.{rest % 1000:03d}Z"
