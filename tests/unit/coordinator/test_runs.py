"""How a run is called."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st

from tether.coordinator import runs


@pytest.mark.parametrize(
    ("plan_file", "name"),
    [
        ("plan.md", "plan"),
        ("docs/My_Plan.md", "my-plan"),
        ("/a/b/Phase 2.yaml", "phase-2"),
        ("v1.2.md", "v1.2"),
        ("work", "run-work"),
        ("Track.md", "run-track"),
        ("specs/kiro.yaml", "run-kiro"),
        ("homework.md", "homework"),
        ("häuser.md", "h-user"),
        ("___.md", "run"),
        ("...", "run"),
        ("", "run"),
        ("CON.md", "run-con"),
        ("x" * 60 + ".md", "x" * 48),
        ("x" * 47 + ".y.md", "x" * 47),
    ],
)
def test_a_run_is_called_like_its_plan(plan_file: str, name: str) -> None:
    assert runs.slug(plan_file) == name


@hypothesis.given(st.text())
def test_every_plan_gives_a_name_that_a_run_can_have(plan_file: str) -> None:
    assert runs.RunId.is_valid(runs.slug(plan_file))
    assert runs.RunId.is_valid(f"{runs.slug(plan_file)}-99")
