"""One scale factor for every harness: 1 gives the counts that the issues name (`make proof`)."""

from __future__ import annotations

import os

SCALE = float(os.environ.get("TETHER_SCALE", "0.02"))


def count(full: int, at_least: int = 1) -> int:
    """How often to do what a full proof does `full` times."""
    return max(at_least, round(full * SCALE))
