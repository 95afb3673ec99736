"""Real parts that a test needs: missing ones fail in CI and are a named skip elsewhere."""

from __future__ import annotations

import os

import pytest


def need(condition: bool, part: str) -> None:
    """Go on only if the part is there."""
    if condition:
        return
    reason = f"needs {part}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
