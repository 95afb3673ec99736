"""No pattern of ours can be made to think for long.

`text.py` compiles its patterns when they are needed and has a test of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.security import patterns

ROOT = Path(__file__).parent.parent.parent
LIMIT_SECONDS = 20


def run(name: str, limit_seconds: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.security.patterns", name],
        cwd=ROOT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit_seconds, limit_seconds)),
        capture_output=True,
        text=True,
        check=False,
    )


def test_patterns_are_found_in_modules_and_classes() -> None:
    places = {name.partition("[")[0] for name in patterns.patterns()}
    assert places >= {
        "tether.clock:tether.clock._STAMP",
        "tether.ids:_Id.pattern",
        "tether.ids:SessionId.pattern",
        "tether.store.schema:tether.store.schema._TABLE",
    }
    assert len(places) >= 12


PLACES = Counter(name.partition(":")[0] for name in patterns.patterns())


@pytest.mark.parametrize("place", sorted(PLACES))
def test_no_text_keeps_a_pattern_busy(place: str) -> None:
    # All patterns of a module in one child: to start one for each took half of the test run.
    done = run(place, LIMIT_SECONDS * PLACES[place])
    named = done.stdout.splitlines()
    assert done.returncode == 0, f"{named[-1:]} {done.stderr}"
    assert named[-1] == "done"
    assert len(named) == PLACES[place] + 1


@pytest.mark.parametrize("name", patterns.CONTROLS)
def test_control_such_a_pattern_is_noticed(name: str) -> None:
    done = run(name, 2 if name == "catastrophic" else 60)
    assert done.returncode != 0
    assert done.stdout == f"{name}\n"
    assert name == "catastrophic" or "keeps it busy" in done.stderr
