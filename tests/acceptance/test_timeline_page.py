"""The timeline as people read it: its heading, its table, and what is left out of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import agency
from tests.conftest import Tether
from tests.scenes import SESSION, Git, Scene, agent

# Two sessions of Codex that began in one minute.
ONE = "0199a1b2-c3d4-7aaa-8333-44445555aaaa"
OTHER = "0199a1b2-c3d4-7bbb-8333-44445555bbbb"


@pytest.fixture
def scene(repo: Path, environ: dict[str, str], git: Git, tether: Tether) -> Scene:
    scene = Scene(repo, environ, git, tether)
    scene.plan("- [ ] H.1.1 Build it", "- [ ] H.1.2 Test it")
    scene.make_store()
    return scene


def rows(scene: Scene, *words: str) -> list[list[str]]:
    """The table of a task, by its columns."""
    page = scene.done("timeline", "H.1.1", *words).out.split("\n")
    start = next(n for n, line in enumerate(page) if line.startswith("TIME "))
    table = page[start:]
    end = table.index("") if "" in table else len(table)
    return [re.split(r" {2,}", line) for line in table[:end]]


def die_holding(scene: Scene) -> None:
    process = agency.sleeper()
    who = agent("s-1", TETHER_AGENT="claude-7777", TETHER_PID=str(process.pid))
    scene.done("claim", "H.1.1", who=who)
    agency.end(process)


def test_a_holder_that_is_dead_is_said_to_be(scene: Scene) -> None:
    die_holding(scene)
    assert "Build it  (new, held by claude-7777, dead)\n" in scene.done("timeline", "H.1.1").out
    assert scene.timeline("H.1.1")["held_by"]["verdict"] == "dead"
    assert "new (held by claude-7777, dead)\n" in scene.done("task", "show", "H.1.1").out
    task = scene.done("task", "show", "H.1.1", "--json").json["task"]
    assert task["held_by"]["verdict"] == "dead"
    scene.done("claim", "H.1.1", who=agent("s-2", TETHER_AGENT="codex-1"))
    assert "(new, held by codex-1)\n" in scene.done("timeline", "H.1.1").out


def test_what_a_sweep_let_go_is_in_the_table(scene: Scene) -> None:
    die_holding(scene)
    before = scene.timeline("H.1.1")["last_worked_at"]
    scene.done("sweep", "--threshold", "0")
    last = rows(scene)[-1]
    said = "released when its holder was gone (claude-7777)"
    assert last[1:] == ["listed", "let go", "s-1", said]
    page = scene.done("timeline", "H.1.1").out
    assert "Not shown: 1 listing; " in page, "that it was written down"
    found = scene.timeline("H.1.1")
    assert found["last_worked_at"] == before, "a sweep is no work"
    assert found["activities"][-1]["what"] == "let go: released_stale", "programs get the outcome"


def test_the_table_has_a_header_and_says_who_and_which_commit(scene: Scene) -> None:
    scene.done("claim", "H.1.1", who=agent(ONE))
    oid = scene.commit("feat(H.1.1): Ring", "ring.py")
    scene.done("release", "H.1.1", who=agent(ONE))
    scene.done("claim", "H.1.1", who=agent(OTHER))
    header, *table = rows(scene)
    assert header == ["TIME", "KIND", "WHAT", "BY", "TEXT"]
    told = {(row[2], row[3]): row[4] for row in table}
    assert told["committed", "-"] == f"{oid[:7]} feat(H.1.1): Ring"
    assert ("claimed", "5555aaaa") in told, "whose beginnings are the same"
    assert ("claimed", "5555bbbb") in told
    assert told["let go", "5555aaaa"].startswith("released (")


def test_a_heartbeat_is_not_told_unless_it_is_asked_for(scene: Scene) -> None:
    scene.done("claim", "H.1.1", who=agent("s-1"))
    scene.done("beat", "--task", "H.1.1", "--progress", "Walls stand.", who=agent("s-1"))
    assert [row[2] for row in rows(scene)] == ["WHAT", "claimed"]
    assert "heartbeat received" in [row[2] for row in rows(scene, "--kind", "listed")]


def test_a_usage_limit_is_told_in_a_line_of_a_terminal(scene: Scene) -> None:
    scene.done("claim", "H.1.1", who=agent())
    talk = scene.talk()
    talk.edits("/ring.py")
    limit = {"resetsAt": 1794730555}
    talk.add(
        talk.said(
            "You've hit your 5-hour limit",
            apiError="usage_limit_reached",
            apiErrorParams={"rate_limit_info": {"status": "rejected", **limit}},
            isApiErrorMessage=True,
        )
    )
    said = f"Session {SESSION[:8]} stopped at a usage limit until 2026-11-15 08:15Z."
    assert said in scene.on_a_terminal("timeline", "H.1.1").splitlines()


def test_no_line_is_longer_than_a_terminal(scene: Scene) -> None:
    scene.plan(f"- [ ] H.1.1 {'Build the house of the ring ' * 10}")
    who = agent("a-session-with-a-long-name-and-more", TETHER_AGENT="builder-with-a-long-name")
    for _ in range(3):
        scene.done("claim", "H.1.1", who=who)
        scene.done("release", "H.1.1", "--outcome", "given_up_for_now", who=who)
    page = scene.on_a_terminal("timeline", "H.1.1", "--limit", "2").splitlines()
    assert max(map(len, page)) <= 80, page
    assert any("given up for now" in line for line in page)
    assert any(line.endswith("`--limit` shows more.") or "earlier" in line for line in page)
