"""The documentation is true: generated pages are current, links lead somewhere, commands exist."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import Tether
from tether import __version__
from tether.cli import cold
from tether.store import schema

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bench/*.md")]
    if ".venv" not in path.parts
)


def _reference() -> dict[str, str]:
    """The pages, made in a process of their own: click remembers what other tests asked it."""
    script = "import json, runpy, sys\nprint(json.dumps(runpy.run_path(sys.argv[1])['pages']()))"
    done = subprocess.run(
        [sys.executable, "-c", script, str(ROOT / "scripts" / "reference.py")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    pages: dict[str, str] = json.loads(done.stdout)
    return pages


@pytest.mark.parametrize(
    "name", ["cli.md", "errors.md", "settings.md", "events.md", "lifecycle.md"]
)
def test_generated_pages_are_current(name: str) -> None:
    """`make docs` writes them."""
    pages = _reference()
    assert (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8") == pages[name]


def test_every_command_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference" / "cli.md").read_text()
    assert [name for name in cold.COMMANDS if f"## `tether {name}`" not in text] == []


def _anchor(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists():
            broken.append(target)
        elif anchor and there.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", there.read_text(), re.MULTILINE)
            if anchor not in map(_anchor, headings):
                broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_examples_exist(page: Path) -> None:
    """What stands after a prompt or in backticks can be typed, but for typos shown on purpose."""
    example = re.compile(r"(?:^\$ (?:\w+=\S+ )*|`)tether ([a-z][a-z-]*)", re.MULTILINE)
    called = example.findall(page.read_text())
    unknown = set(called) - set(cold.COMMANDS) - {"evnts", "d"}
    assert unknown == set()


def test_the_library_example_runs(repo: Path, tether: Tether, environ: dict[str, str]) -> None:
    tether("init", "--yes", cwd=repo)
    page = (ROOT / "docs" / "how-to" / "use-the-library.md").read_text()
    [example] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=repo, env=environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "workspace_initialised" in done.stdout


def test_figures_are_published() -> None:
    for page in ("bench/README.md", "docs/proofs/store.md", "docs/proofs/git.md"):
        assert re.search(r"[0-9]{2}", (ROOT / page).read_text()), page


def test_the_changelog_has_a_place_for_what_comes() -> None:
    assert "\n## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text()


def test_the_tutorial_shows_this_version_and_schema() -> None:
    text = (ROOT / "docs" / "tutorial" / "first-steps.md").read_text()
    assert f"tether {__version__}" in text
    assert f"schema {schema.OURS.version}," in text


def test_the_core_has_at_most_five_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert len(project["dependencies"]) <= 5
    assert set(project["optional-dependencies"]) == {"postgres", "lineage", "web", "mcp", "all"}


def test_the_lock_names_no_address_and_has_every_dependency() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert not re.search(r"https?://|file:|--index|--find-links", lock)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = list(project["project"]["dependencies"])
    for extra in project["project"]["optional-dependencies"].values():
        wanted += extra
    wanted += project["dependency-groups"]["dev"]
    named = [re.split(r"[\[<>=!;~ ]", line)[0].lower() for line in wanted]
    names = {re.sub(r"[._]", "-", name) for name in named} - {"tether"}
    found = re.findall(r"^([A-Za-z0-9_.-]+)==", lock, re.MULTILINE)
    locked = {re.sub(r"[._]", "-", match.lower()) for match in found}
    assert names - locked == set()


def test_nothing_names_a_place_of_one_machine() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("needs a Git checkout")
    pattern = re.compile(r"(?<![\w.])/(?:root|work)/[a-z]")
    own = Path(__file__).name
    found = []
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and path.name != own and pattern.search(path.read_text(errors="replace")):
            found.append(name)
    assert found == []
