"""Hot commands stay light: which modules they may import is pinned here."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import agency
from tests.conftest import Tether

# Each costs more than a hot command's whole work, or drags something in that does.
HEAVY = {
    "argparse", "asyncio", "click", "ctypes", "dataclasses", "difflib", "hashlib",
    "importlib.metadata", "inspect", "logging", "mcp", "msgspec", "pathlib",
    "psycopg", "pydantic", "random", "rich",
    "shutil", "subprocess", "tempfile", "threading", "tomllib", "unicodedata", "urllib", "uuid",
}  # fmt: skip

OWN = {
    "tether", "tether.agents", "tether.agents.upkeep",
    "tether.cli", "tether.cli.answers", "tether.cli.context", "tether.cli.events",
    "tether.cli.main", "tether.cli.verbs", "tether.clock", "tether.config", "tether.errors",
    "tether.files", "tether.files.locks", "tether.files.root", "tether.files.system",
    "tether.host", "tether.ids", "tether.hints", "tether.store", "tether.store.events",
    "tether.store.port", "tether.store.schema", "tether.store.sql", "tether.store.sqlite",
    "tether.store.sqlite_file", "tether.text", "tether.workspace",
}  # fmt: skip

AGENT = {"TETHER_SESSION": "s1"}
# Who calls, and its heartbeat: every call of an agent needs this.
CALLER = {
    "tether.agents.identity", "tether.agents.liveness", "tether.agents.lookout",
    "tether.agents.model", "tether.agents.registry", "tether.agents.roll",
    "tether.agents.settling",
}  # fmt: skip

# What every verb on a task's file needs, and what only the reading ones do.
TASKS = {
    "tether.agents.claims", "tether.tasks", "tether.tasks.desk", "tether.tasks.document",
    "tether.tasks.home", "tether.tasks.model", "tether.tasks.states", "tether.tasks.workdir",
}  # fmt: skip
MOVING = TASKS | {"tether.tasks.claiming", "tether.tasks.dependencies"}
STALLED = {"tether.tasks.stalling"}
WRITING = {"tether.tasks.scalars", "tether.tasks.splicing"}
SHOWN = {"tether.cli.task", "tether.cli.task.shown"}
VIEWED = SHOWN | {
    "tether.tasks.dependencies", "tether.tasks.effective", "tether.tasks.elsewhere",
    "tether.tasks.views",
}  # fmt: skip
LISTING = {
    "tether.index", "tether.index.database", "tether.index.parsed", "tether.tasks.listing",
    "tether.tasks.ordering",
}  # fmt: skip

# The edges of a task, from what the index has.
TIED = {
    "tether.cli.task.tied", "tether.index", "tether.index.database", "tether.index.parsed",
    "tether.lineage", "tether.lineage.edges", "tether.lineage.edges.brief",
    "tether.lineage.edges.model",
}  # fmt: skip

# The quick sweep.
VACUUM = {
    "tether.agents.standing", "tether.brief.orphaned", "tether.cli.adopting", "tether.cli.sweeping",
    "tether.vacuum", "tether.vacuum.deferring", "tether.vacuum.model", "tether.vacuum.quick",
    "tether.vacuum.rules", "tether.vacuum.silence",
}  # fmt: skip

SCRIPT = """
import sys
from tether.cli.main import main
code = main(sys.argv[1:])
print(code, *sorted(sys.modules))
"""


@pytest.fixture
def settled(repo: Path, tether: Tether) -> Path:
    """A repository whose settings are cached: not so while its tether.toml has just changed."""
    tether("init", "--yes", cwd=repo)
    cache = repo / ".git" / "tether" / "cache" / "settings.main.json"
    cache.unlink(missing_ok=True)  # of the time before there was a tether.toml
    for _ in range(1000):
        if cache.exists():
            return repo
        tether("events", cwd=repo)
    raise AssertionError("the settings were never cached")


def modules(repo: Path, environ: dict[str, str], *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        cwd=repo,
        env=environ,
        check=True,
        capture_output=True,
        text=True,
    )
    code, *names = done.stdout.splitlines()[-1].split()
    assert code == "0"
    return set(names)


def test_events_imports_nothing_heavy(settled: Path, environ: dict[str, str]) -> None:
    imported = modules(settled, environ, "events", "--json")
    assert heavy(imported) == set()
    assert own(imported) == OWN


def heavy(imported: set[str]) -> set[str]:
    """What should not be there. Who reads YAML has `typing` from that."""
    return imported & (HEAVY if "ryaml" in imported else HEAVY | {"typing"})


def own(imported: set[str]) -> set[str]:
    return {name for name in imported if name.partition(".")[0] == "tether"}


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["events"], {"tether.cli.events"}),
        (["beat"], {"tether.cli.beat", "tether.agents.claims"}),
        (["beat", "--task", "T1"], {"tether.cli.beat", "tether.agents.claims"}),
        (["claim", "T2"], {"tether.cli.claim"} | MOVING | WRITING | SHOWN),
        (
            ["finish", "T1"],
            {"tether.cli.task.move", "tether.tasks.moves"} | STALLED | MOVING | WRITING | SHOWN,
        ),
        (["release", "T0"], {"tether.cli.release", "tether.cli.claim"} | SHOWN | MOVING),
        (["task", "show", "T1"], {"tether.cli.task.show"} | VIEWED | TASKS | TIED),
        (["task", "list"], {"tether.cli.task.listing"} | STALLED | VIEWED | LISTING | TASKS),
        (
            ["next"],
            {"tether.cli.next", "tether.cli.offering", "tether.brief", "tether.brief.choosing"}
            | VACUUM
            | VIEWED
            | LISTING
            | MOVING,
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_agents_call_often_imports_nothing_heavy(
    settled: Path, environ: dict[str, str], tether: Tether, words: list[str], more: set[str]
) -> None:
    tether("claim", "T0", cwd=settled, env=AGENT)
    for task in ("T1", "T2"):
        tether("task", "new", "A task", "--id", task, cwd=settled)
    tether("claim", "T1", cwd=settled, env=AGENT)
    imported = modules(settled, environ | AGENT, *words, "--json")
    if words[0] in ("next", "task"):
        # Files that have just changed are read and hashed again, until they have been at rest.
        deadline = time.monotonic() + 10
        while "hashlib" in imported and time.monotonic() < deadline:
            imported = modules(settled, environ | AGENT, *words, "--json")
    assert heavy(imported) == set()
    assert own(imported) == (OWN - {"tether.cli.events"}) | CALLER | more


def test_a_heartbeat_that_is_due_imports_nothing_heavy(
    settled: Path, environ: dict[str, str], tether: Tether
) -> None:
    tether("claim", "T1", cwd=settled, env=AGENT)
    due = {**AGENT, "TETHER_AGENTS_BEAT_SECONDS": "0"}
    assert heavy(modules(settled, environ | due, "events", "--json")) == set()


def test_a_quick_sweep_that_finds_something_loads_no_parser_of_lists(
    settled: Path, environ: dict[str, str]
) -> None:
    """The tasks that come up are looked up in the index, not in the lists."""
    (settled / "plans").mkdir()
    (settled / "plans/TRACK-H.md").write_text("- [ ] H.1.1 One\n- [ ] H.1.2 Two\n")
    process = agency.sleeper()
    who = environ | AGENT | {"TETHER_PID": str(process.pid)}
    words = ("vacuum", "--quick", "--fail-on", "dead_claim")
    assert modules(settled, who, "claim", "H.1.1", "--json")
    assert _code(settled, environ, *words) == 0
    agency.end(process)
    assert _code(settled, environ, *words) == 6
    # The first one has read the list, and a file at rest is trusted.
    deadline = time.monotonic() + 10
    imported = {"hashlib"}
    while "hashlib" in imported and time.monotonic() < deadline:
        imported = modules(settled, environ, "vacuum", "--quick", "--json")
    assert heavy(imported) == set()
    lists = {name for name in own(imported) if name.startswith("tether.tasks.sources")}
    modules_of_lists = {"tether.tasks.sources", "tether.tasks.sources.kept"}
    assert lists == modules_of_lists | {"tether.tasks.sources.model"}


def _code(repo: Path, environ: dict[str, str], *words: str) -> int:
    command = [sys.executable, "-m", "tether", *words]
    done = subprocess.run(command, check=False, cwd=repo, env=environ, capture_output=True)
    return done.returncode


def test_the_check_would_notice_a_heavy_module(settled: Path, environ: dict[str, str]) -> None:
    """The control: a command that is not hot imports what hot ones must not."""
    assert modules(settled, environ, "doctor", "--json") & HEAVY


def test_help_and_typos_of_hot_commands_go_to_click(settled: Path, tether: Tether) -> None:
    assert "Usage: tether events" in tether("events", "--help", cwd=settled).out
    assert "--limit" in tether("events", "--lmit", "3", cwd=settled).err
