"""Where plans come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tether import errors
from tether.coordinator.plans import reading

MARKDOWN = "# P\n\n## Task T1: One\n"
YAML = "title: P\ntasks:\n  - id: T1\n    title: One\n"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    path = tmp_path / "checkout"
    (path / "plans").mkdir(parents=True)
    return path


@pytest.mark.parametrize("name", ["p.md", "p.markdown", "p.MD", "plans/p.md"])
def test_markdown_is_read(top: Path, name: str) -> None:
    (top / name).write_text(MARKDOWN)
    plan, problems = reading.read(str(top), name)
    assert (plan.file, plan.title, [t.id for t in plan.tasks], problems) == (name, "P", ["T1"], [])


@pytest.mark.parametrize("name", ["p.yaml", "p.yml"])
def test_yaml_is_read(top: Path, name: str) -> None:
    (top / name).write_text(YAML)
    plan, problems = reading.read(str(top), name)
    assert (plan.file, plan.title, [t.id for t in plan.tasks], problems) == (name, "P", ["T1"], [])


def test_a_full_path_in_the_checkout_is_told_from_its_top(top: Path) -> None:
    (top / "plans" / "p.md").write_text(MARKDOWN)
    linked = top.parent / "link"
    linked.symlink_to(top)
    for place in (top, linked):
        plan, _ = reading.read(str(top), str(place / "plans" / "p.md"))
        assert plan.file == "plans/p.md"


def test_a_full_path_may_lead_out_of_the_checkout(top: Path) -> None:
    outside = top.parent / "p.md"
    outside.write_text(MARKDOWN)
    assert reading.read(str(top), str(outside))[0].file == str(outside)
    with pytest.raises(errors.OutsideRoot):
        reading.read(str(top), "../p.md")


def test_a_link_is_not_followed(top: Path) -> None:
    (top.parent / "p.md").write_text(MARKDOWN)
    (top / "p.md").symlink_to(top.parent / "p.md")
    with pytest.raises(errors.LinkRefused):
        reading.read(str(top), "p.md")


def test_what_is_not_there_or_no_plan_or_too_large_is_refused(top: Path) -> None:
    with pytest.raises(errors.NotFound):
        reading.read(str(top), "p.md")
    with pytest.raises(errors.UsageError):
        reading.read(str(top), "p.txt")
    (top / "p.md").write_bytes(b"x" * (reading.MAX_BYTES + 1))
    with pytest.raises(errors.FileTooLarge):
        reading.read(str(top), "p.md")
    (top / "d.md").mkdir()
    with pytest.raises(errors.FileError):
        reading.read(str(top), "d.md")


def test_both_forms_say_the_same() -> None:
    one, _ = reading.parse("p.md", MARKDOWN.encode())
    other, _ = reading.parse("p.yaml", YAML.encode())
    same = one._replace(file=other.file)
    assert reading.digest(same) == reading.digest(other)
