"""Agents on the command line, as real processes: who is here, who has what, who wrote to whom.

Sessions that only have to be there are made through the store; what is tested is typed.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import agency, crowd, parts
from tests.acceptance.test_bad_input import can_mount
from tests.conftest import Ended, Tether
from tether import config, files, ids, workspace
from tether import store as stores
from tether.agents import claims, messages, registry, upkeep
from tether.store import events, port

S1 = {"TETHER_SESSION": "s1"}
S2 = {"TETHER_SESSION": "s2"}
BY_HAND = {"TETHER_SWEEP_INTERVAL_SECONDS": "0"}
ADA = {"TETHER_AGENT": "ada"}
DEADLINE_SECONDS = 60
HAPPENED = events.EventType("test_happened", ("n",), "Something happened in a test.")


@pytest.fixture
def store(repo: Path) -> Iterator[port.Store]:
    """The store of the repository, to prepare and to look."""
    place = workspace.find(str(repo))
    opened = stores.open_store(place, config.load(place, {}))
    yield opened
    opened.close()


@pytest.fixture
def stamp(repo: Path) -> Path:
    return repo / ".git" / "tether" / upkeep.STAMP


def take(store: port.Store, session_id: str, task: str) -> claims.Claimed:
    answer = claims.take(store, agency.spot(), session_id, agency.key(task))
    assert isinstance(answer, claims.Claimed)
    return answer


def leave_for_dead(store: port.Store, session_id: str, *tasks: str) -> None:
    """A session that took tasks and was not heard from since."""
    agency.begin(store, session_id)
    for task in tasks:
        take(store, session_id, task)
    agency.silence(store, session_id, 400)


def status(store: port.Store, session_id: str) -> str:
    return agency.agent(store, session_id).status


def types(store: port.Store, session_id: str | None = None) -> list[str]:
    return [event.type for event in events.latest(store, 1000, events.Filter(session=session_id))]


def assert_refused(ended: Ended, exit_code: int, code: str) -> dict[str, Any]:
    """It failed as an error should, in JSON; what it says."""
    assert (ended.code, ended.json["ok"], ended.json["error"]["code"]) == (exit_code, False, code)
    error: dict[str, Any] = ended.json["error"]
    assert error["message"]
    return error


# Who is here


def test_registering_twice_does_no_harm(repo: Path, store: port.Store, tether: Tether) -> None:
    words = ("agent", "register", "--session", "s1", "--name", "builder", "--kind", "cursor")
    first = tether(*words, "--json", cwd=repo).json["agent"]
    second = tether(*words, cwd=repo)
    assert second.out == "builder is active: session s1, no process known.\n"
    again = agency.agent(store, "s1")
    assert (again.agent_name, again.kind) == ("builder", "cursor")
    assert again.started_at == first["started_at"]
    assert types(store) == ["agent_registered"]


def test_a_session_keeps_what_a_later_call_does_not_name(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    pid = str(os.getpid())
    words = ("agent", "register", "--session", "s1", "--name", "builder", "--pid", pid)
    tether(*words, "--transcript", "record.jsonl", cwd=repo)
    tether("agent", "register", "--session", "s1", cwd=repo)
    agent = agency.agent(store, "s1")
    assert (agent.agent_name, agent.pid) == ("builder", os.getpid())
    assert agent.transcript == str(repo / "record.jsonl")


def test_an_agent_needs_no_flags(repo: Path, store: port.Store, tether: Tether) -> None:
    pid = str(os.getpid())
    claude = {"CLAUDE_CODE_SESSION_ID": "0b54-9f3c", "CLAUDE_PID": pid}
    ended = tether("agent", "register", cwd=repo, env=claude)
    assert ended.out == f"claude-9f3c is active: session 0b54-9f3c, process {pid}.\n"
    agent = agency.agent(store, "0b54-9f3c")
    assert (agent.kind, agent.pid, agent.branch) == ("claude", os.getpid(), "main")
    assert agent.worktree == str(repo)


def test_nobody_is_here_at_first(repo: Path, tether: Tether) -> None:
    assert tether("agent", "list", cwd=repo).out == "Nobody is here.\n"
    assert tether("agent", "list", "--json", cwd=repo).json == {"ok": True, "agents": []}
    assert tether("claims", cwd=repo).out == "No claims.\n"
    assert tether("inbox", cwd=repo).out == "No messages.\n"
    assert not (repo / ".git" / "tether" / "tether.db").exists(), "looking has made something"


@pytest.fixture
def family(store: port.Store) -> None:
    """s1 started s2 and s3, and s3 started s4; s9 is nobody's."""
    agency.begin(store, "s1", kind="claude")
    agency.begin(store, "s2", parent="s1")
    agency.begin(store, "s3", parent="s1")
    agency.begin(store, "s4", parent="s3")
    agency.begin(store, "s9")
    take(store, "s3", "T1")


@pytest.mark.usefixtures("family")
def test_a_session_is_shown_with_its_family(repo: Path, tether: Tether) -> None:
    ended = tether("agent", "show", "s3", cwd=repo)
    shown = ended.out.splitlines()
    assert shown[0] == "agent-s3"
    assert "  session     s3" in shown
    assert "  claims      T1" in shown
    assert shown[shown.index("  family") :] == [
        "  family",
        "    agent-s1, active",
        "      agent-s2, active",
        "      agent-s3, active <",
        "        agent-s4, active",
    ]
    assert max(map(len, shown)) <= 80 + len(str(repo))


@pytest.mark.usefixtures("family")
def test_a_session_is_shown_to_programs(repo: Path, tether: Tether) -> None:
    agent = tether("agent", "show", "agent-s3", "--json", cwd=repo).json["agent"]
    assert (agent["session_id"], agent["key"], agent["claims"]) == ("s3", "T1", ["T1"])
    assert (agent["status"], agent["verdict"], agent["parent_id"]) == ("active", "alive", "s1")

    def node(session_id: str, *children: dict[str, Any]) -> dict[str, Any]:
        name = f"agent-{session_id}"
        return {
            "session_id": session_id, "agent_name": name, "status": "active",
            "children": list(children),
        }  # fmt: skip

    assert agent["family"] == [node("s1", node("s2"), node("s3", node("s4")))]


@pytest.mark.usefixtures("family")
def test_the_list_shows_the_last_seen_first(repo: Path, store: port.Store, tether: Tether) -> None:
    agency.silence(store, "s2", 100)
    tether("agent", "end", "--session", "s9", cwd=repo)
    shown = tether("agent", "list", cwd=repo).out.splitlines()
    assert shown[0].split() == ["NAME", "KIND", "STATUS", "SILENT", "TASK"]
    assert [line.split()[0] for line in shown[1:]][-1] == "agent-s2"
    assert len(shown) == 5
    ended = tether("agent", "list", "--status", "ended,stale", "--json", cwd=repo).json["agents"]
    assert [agent["session_id"] for agent in ended] == ["s9"]
    everybody = tether("agent", "list", "--all", "--json", cwd=repo).json["agents"]
    assert {agent["session_id"] for agent in everybody} == {"s1", "s2", "s3", "s4", "s9"}
    assert {"parent_id", "verdict", "reason", "silent_seconds"} <= set(everybody[0])


def test_the_caller_is_shown_without_a_name(repo: Path, store: port.Store, tether: Tether) -> None:
    agency.begin(store, "s1")
    assert tether("agent", "show", cwd=repo, env=S1).out.split("\n")[2] == "| agent-s1"


def test_a_name_of_several_sessions_is_not_guessed(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    for session_id in ("s1", "s2"):
        words = ("agent", "register", "--session", session_id, "--name", "twin")
        tether(*words, cwd=repo)
    error = assert_refused(tether("agent", "show", "twin", "--json", cwd=repo), 2, "usage")
    assert "s1" in error["message"]
    assert "s2" in error["message"]
    tether("agent", "end", "--session", "s1", cwd=repo)
    shown = tether("agent", "show", "twin", "--json", cwd=repo).json["agent"]
    assert shown["session_id"] == "s2", "the one that is here is meant"


def test_an_idle_session_keeps_its_claims(repo: Path, store: port.Store, tether: Tether) -> None:
    agency.begin(store, "s1")
    take(store, "s1", "T1")
    assert tether("agent", "idle", cwd=repo, env=S1).out == "agent-s1 is idle.\n"
    assert status(store, "s1") == "idle"
    assert [c.key.id for c in claims.open_ones(store.rows, "s1")] == ["T1"]
    assert tether("beat", "--json", cwd=repo, env=S1).json["beat"]["status"] == "active"


def test_an_ended_session_leaves_nothing_behind(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    agency.begin(store, "s0")
    agency.begin(store, "s1", parent="s0")
    take(store, "s1", "T1")
    ended = tether("agent", "end", cwd=repo, env=S1)
    assert ended.out == "agent-s1 has ended. It let go of T1.\n"
    [closed] = claims.history(store.rows, agency.key("T1"))
    assert (closed.outcome, closed.branch) == ("released_end", "main")
    assert tether("agent", "end", "--json", cwd=repo, env=S1).json["agent"]["released"] == []
    told = tether("inbox", "--json", cwd=repo, env={"TETHER_SESSION": "s0"}).json["messages"]
    assert [(m["type"], m["body"]["text"]) for m in told] == [
        ("session_lifecycle", "agent-s1 has ended.")
    ]


def test_an_ended_session_cannot_claim_until_it_begins_again(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    agency.begin(store, "s1")
    tether("agent", "end", cwd=repo, env=S1)
    for words in (["claim", "T1"], ["beat"], ["agent", "idle"]):
        error = assert_refused(tether(*words, "--json", cwd=repo, env=S1), 3, "not_allowed")
        assert "tether agent register" in error["hint"]
    assert claims.open_ones(store.rows) == []
    tether("agent", "register", cwd=repo, env=S1)
    assert tether("claim", "T1", cwd=repo, env=S1).code == 0


# The sweep


SWEPT = {"ok", "stale_agents", "pids_verified", "heartbeats_pruned"}
CANDIDATE = {"session_id", "agent_name", "pid", "last_seen_at", "verdict", "would_release"}


def test_a_sweep_tells_programs_what_it_did(repo: Path, store: port.Store, tether: Tether) -> None:
    leave_for_dead(store, "s1", "T1", "beads:b-2")
    agency.begin(store, "s2", pid=os.getpid())
    agency.silence(store, "s2", 400)
    swept = tether("--json", "sweep", cwd=repo).json
    assert set(swept) >= SWEPT
    assert swept["ok"] is True
    assert swept["stale_agents"] == [
        {"session_id": "s1", "agent_name": "agent-s1", "released_items": ["T1", "beads:b-2"]}
    ]
    assert swept["pids_verified"] == ["s2"]
    assert swept["heartbeats_pruned"] == 0
    assert (status(store, "s1"), status(store, "s2")) == ("stale", "active")
    assert types(store, "s1")[-2:] == ["agent_stale", "stale_locks_released"]


def test_a_sweep_tells_people_what_it_did(repo: Path, store: port.Store, tether: Tether) -> None:
    leave_for_dead(store, "s1", "T1")
    leave_for_dead(store, "s2")
    assert tether("sweep", cwd=repo).out.splitlines() == [
        "agent-s1 (s1) is over; freed T1.",
        "agent-s2 (s2) is over; it held nothing.",
    ]


def test_a_dry_run_only_looks(repo: Path, store: port.Store, tether: Tether, stamp: Path) -> None:
    leave_for_dead(store, "s1", "T1")
    before, told = agency.agent(store, "s1"), types(store)
    found = tether("sweep", "--dry-run", "--json", cwd=repo).json
    assert {name: found[name] for name in ("ok", "dry_run")} == {"ok": True, "dry_run": True}
    assert set(found) == {"ok", "dry_run", "candidates"}
    [candidate] = found["candidates"]
    assert set(candidate) - {"reason"} == CANDIDATE
    assert (candidate["session_id"], candidate["agent_name"]) == ("s1", "agent-s1")
    assert (candidate["pid"], candidate["last_seen_at"]) == (None, before.last_seen_at)
    assert (candidate["verdict"], candidate["would_release"]) == ("expired", ["T1"])
    text = tether("sweep", "--dry-run", cwd=repo).out
    assert text.startswith("expired")
    assert text.endswith("would free T1\nNothing was changed.\n")
    assert agency.agent(store, "s1")._replace(read_at="") == before._replace(read_at="")
    assert types(store) == told
    assert not stamp.exists()


def test_a_threshold_replaces_the_usual_patience(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    agency.begin(store, "s1")
    agency.silence(store, "s1", 10)
    agency.begin(store, "s2")
    assert tether("sweep", "--json", cwd=repo).json["stale_agents"] == []
    assert tether("sweep", "--threshold", "60", "--json", cwd=repo).json["stale_agents"] == []
    swept = tether("sweep", "--threshold", "5", "--json", cwd=repo).json
    assert [stale["session_id"] for stale in swept["stale_agents"]] == ["s1"]


def test_a_threshold_of_0_means_all(repo: Path, store: port.Store, tether: Tether) -> None:
    agency.begin(store, "s1")
    agency.begin(store, "s2", pid=os.getpid())
    swept = tether("sweep", "--threshold", "0", "--json", cwd=repo).json
    assert [stale["session_id"] for stale in swept["stale_agents"]] == ["s1"]
    assert swept["pids_verified"] == ["s2"]


def test_nothing_stale_is_said(repo: Path, store: port.Store, tether: Tether) -> None:
    said = "No stale agents detected.\n"
    assert tether("sweep", cwd=repo).out == said
    agency.begin(store, "s1")
    assert tether("sweep", cwd=repo).out == said
    assert tether("sweep", "--dry-run", cwd=repo).out == said


# The sweep by the way


@pytest.mark.parametrize("words", [["events"], ["claims"], ["agent", "list"], ["claim", "T9"]])
def test_any_command_sweeps_silently(
    repo: Path, store: port.Store, tether: Tether, words: list[str]
) -> None:
    leave_for_dead(store, "s1", "T1")
    ended = tether(*words, cwd=repo)
    assert (ended.code, ended.err) == (0, "")
    assert "is over" not in ended.out
    assert status(store, "s1") == "stale"


def test_the_stamp_says_when_a_sweep_is_due(
    repo: Path, store: port.Store, tether: Tether, stamp: Path
) -> None:
    tether("agent", "register", cwd=repo, env=S2)
    tether("events", cwd=repo)
    leave_for_dead(store, "s1")
    tether("events", cwd=repo)
    assert status(store, "s1") == "active", "somebody has just swept"
    then = time.time() - 61
    os.utime(stamp, (then, then))
    tether("events", cwd=repo, env=BY_HAND)
    assert status(store, "s1") == "active", "it is left to `tether sweep`"
    tether("events", cwd=repo)
    assert status(store, "s1") == "stale"
    assert time.time() - stamp.stat().st_mtime < 60


@pytest.mark.parametrize(
    "words",
    [
        ["sweep", "--dry-run"], ["doctor"], ["init", "--yes"], ["--help"], ["--version"],
        ["claim", "--help"], ["agent", "--help"], ["--json", "doctor"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_who_looks_or_sets_up_sweeps_nothing(
    repo: Path, store: port.Store, tether: Tether, stamp: Path, words: list[str]
) -> None:
    leave_for_dead(store, "s1")
    assert tether(*words, cwd=repo).code == 0
    assert status(store, "s1") == "active"
    assert not stamp.exists()


def test_a_store_that_is_busy_breaks_nothing_and_doctor_says_so(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    leave_for_dead(store, "s1")
    lock = repo / ".git" / "tether" / "tether.lock"
    with files.Lock(str(lock), purpose="test", wait_seconds=1):
        ended = tether("events", cwd=repo, env={"TETHER_STORE_WAIT_SECONDS": "1"})
    assert (ended.code, ended.err) == (0, "")
    assert "agent_registered" in ended.out
    [check] = doctor_says(tether, repo, "sweep")
    assert (check["grade"], "store_busy" in check["message"]) == ("warn", True)
    assert "tether sweep" in check["hint"]
    tether("sweep", cwd=repo)
    assert status(store, "s1") == "stale"
    assert doctor_says(tether, repo, "sweep") == []


def test_a_stamp_that_cannot_be_written_breaks_nothing(
    repo: Path, store: port.Store, tether: Tether, stamp: Path
) -> None:
    leave_for_dead(store, "s1")
    plant_directory(stamp)
    ended = tether("events", cwd=repo)
    assert (ended.code, ended.err) == (0, "")
    assert tether("sweep", "--json", cwd=repo).json["stale_agents"][0]["session_id"] == "s1"


def test_a_stamp_that_cannot_be_written_is_shown_by_doctor(
    repo: Path, store: port.Store, tether: Tether, stamp: Path
) -> None:
    leave_for_dead(store, "s1")
    plant_directory(stamp)
    tether("events", cwd=repo)
    assert doctor_says(tether, repo, "sweep")


def test_a_damaged_row_keeps_no_other_from_being_swept(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    leave_for_dead(store, "s1")
    leave_for_dead(store, "s2")
    damage(repo, "s1")
    ended = tether("events", cwd=repo)
    assert (ended.code, ended.err) == (0, "")
    assert status(store, "s2") == "stale"
    [problem] = tether("sweep", "--json", cwd=repo).json["problems"]
    assert problem["session_id"] == "s1"
    assert "skipped: s1" in tether("sweep", cwd=repo).out


def test_a_damaged_row_is_shown_by_doctor(repo: Path, store: port.Store, tether: Tether) -> None:
    leave_for_dead(store, "s1")
    damage(repo, "s1")
    tether("events", cwd=repo)
    assert doctor_says(tether, repo, "sweep")


def doctor_says(tether: Tether, repo: Path, name: str) -> list[dict[str, str]]:
    report = tether("doctor", "--json", cwd=repo).json["doctor"]
    return [check for check in report["checks"] if check["name"] == name]


def plant_directory(stamp: Path) -> None:
    """An old directory in the place of the stamp."""
    stamp.mkdir()
    os.utime(stamp, (0, 0))


def damage(repo: Path, session_id: str) -> None:
    """A time in this session's row that is none."""
    database = sqlite3.connect(repo / ".git" / "tether" / "tether.db")
    database.execute(
        "UPDATE agents SET last_beat_at = 'yesterday', lease_until = 'never' WHERE session_id = ?",
        (session_id,),
    )
    database.commit()
    database.close()


# Heartbeats


@pytest.mark.parametrize("words", [["events"], ["claims"], ["agent", "list"], ["inbox"]])
def test_any_call_of_an_agent_is_a_heartbeat(
    repo: Path, store: port.Store, tether: Tether, words: list[str]
) -> None:
    agency.begin(store, "s1")
    agency.silence(store, "s1", 20)
    before = agency.agent(store, "s1").last_beat_at
    tether(*words, cwd=repo, env=ADA)
    assert agency.agent(store, "s1").last_beat_at == before, "somebody else has called"
    assert tether(*words, cwd=repo, env=S1).code == 0
    after = agency.agent(store, "s1")
    assert after.last_beat_at > before
    assert after.branch == "main"
    assert types(store) == ["agent_registered"], "a plain heartbeat is no event"


def test_a_fresh_heartbeat_is_not_written_again(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    agency.begin(store, "s1")
    agency.silence(store, "s1", 1)
    before = agency.agent(store, "s1")
    tether("events", cwd=repo, env=S1 | BY_HAND)
    assert agency.agent(store, "s1").version == before.version
    ended = tether("beat", "--json", cwd=repo, env=S1 | BY_HAND)
    assert ended.json["beat"]["written"] is False
    assert agency.agent(store, "s1").version == before.version
    tether("events", cwd=repo, env=S1 | BY_HAND | {"TETHER_AGENTS_BEAT_SECONDS": "1"})
    assert agency.agent(store, "s1").last_beat_at > before.last_beat_at


def test_a_beat_tells_progress_and_task(repo: Path, store: port.Store, tether: Tether) -> None:
    words = ("beat", "--task", "T1", "--progress", "half of it")
    assert tether(*words, cwd=repo, env=S1).out == "other-s1 is active, on T1.\n"
    agent = tether("agent", "show", "s1", "--json", cwd=repo).json["agent"]
    progress = {"text": "half of it", "source": "progress", "trust": "untrusted"}
    assert (agent["key"], agent["progress"]) == ("T1", progress)
    assert [row["progress"] for row in agent["history"]] == [progress]
    assert types(store) == ["agent_registered", "heartbeat_received"]
    text = tether("agent", "show", "s1", cwd=repo).out
    assert "    half of it\n" in text


def test_who_only_looks_is_not_registered(repo: Path, store: port.Store, tether: Tether) -> None:
    for words in (["events"], ["claims"], ["agent", "list"], ["inbox"], ["inbox", "--peek"]):
        assert tether(*words, cwd=repo, env=S1).code == 0
    assert not store.exists()


def test_a_session_taken_for_dead_comes_back_by_calling(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    leave_for_dead(store, "s1", "T1")
    tether("sweep", cwd=repo)
    ended = tether("claims", "--json", cwd=repo, env=S1)
    assert ended.json == {"ok": True, "claims": []}
    assert ended.err == (
        "tether: note: this session had been taken for dead and is back. It no longer has T1.\n"
    )
    assert (status(store, "s1"), types(store, "s1")[-1]) == ("active", "agent_recovered")
    assert tether("claims", cwd=repo, env=S1).err == "", "said once"
    assert tether("claim", "T1", cwd=repo, env=S1).code == 0


@pytest.mark.parametrize(
    ("words", "noun"), [(["beat"], "beat"), (["agent", "register"], "agent")], ids=["beat", "agent"]
)
def test_programs_are_told_of_coming_back(
    repo: Path, store: port.Store, tether: Tether, words: list[str], noun: str
) -> None:
    leave_for_dead(store, "s1", "T1")
    tether("sweep", cwd=repo)
    assert tether(*words, "--json", cwd=repo, env=S1).json[noun]["recovered"] is True


def test_a_person_taken_for_dead_comes_back_too(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    tether("claim", "T1", cwd=repo, env=ADA)
    agency.silence(store, "human-ada", 1_000_000)
    tether("sweep", cwd=repo)
    assert status(store, "human-ada") == "stale"
    ended = tether("claim", "T1", cwd=repo, env=ADA)
    assert (ended.code, "is back" in ended.err) == (0, True)


# Claims


def test_a_claim_registers_who_makes_it(repo: Path, store: port.Store, tether: Tether) -> None:
    who = {
        "TETHER_SESSION": "s1", "TETHER_AGENT": "builder", "TETHER_KIND": "gemini",
        "TETHER_PARENT": "s0", "TETHER_PID": str(os.getpid()),
    }  # fmt: skip
    claim = tether("claim", "T1", "--json", cwd=repo, env=who).json["claim"]
    assert (claim["key"], claim["session_id"], claim["agent_name"]) == ("T1", "s1", "builder")
    assert (claim["new"], claim["adopted"], claim["previous"]) == (True, False, None)
    agent = agency.agent(store, "s1")
    assert (agent.kind, agent.parent_id, agent.pid) == ("gemini", "s0", os.getpid())
    assert types(store) == ["agent_registered", "claim_taken"]


def test_claiming_twice_does_no_harm(repo: Path, store: port.Store, tether: Tether) -> None:
    first = tether("claim", "T1", cwd=repo, env=S1).out
    [claim] = claims.open_ones(store.rows)
    assert first == f"T1 is yours, epoch {claim.epoch}.\n"
    again = tether("claim", "T1", cwd=repo, env=S1).out
    assert again == f"T1 is yours already, epoch {claim.epoch}.\n"
    assert len(claims.history(store.rows, agency.key("T1"))) == 1


def test_a_held_task_is_refused_and_says_who_has_it(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    agency.begin(store, "s1")
    epoch = take(store, "s1", "T1").claim.epoch
    error = assert_refused(tether("claim", "T1", "--json", cwd=repo, env=S2), 4, "taken")
    holder = error["holder"]
    assert (holder["session_id"], holder["agent_name"]) == ("s1", "agent-s1")
    assert (holder["epoch"], holder["verdict"], error["retryable"]) == (epoch, "alive", False)
    ended = tether("claim", "T1", cwd=repo, env=S2)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.startswith("tether: T1 is held by agent-s1 since ")
    assert "tether send" in ended.err
    assert types(store).count("claim_refused") == 1, "who asks again fills no log"


def test_letting_go_makes_a_task_free(repo: Path, store: port.Store, tether: Tether) -> None:
    agency.begin(store, "s1")
    take(store, "s1", "T1")
    ended = tether("release", "T1", "--outcome", "failed", cwd=repo, env=S1)
    assert ended.out == "T1 is free: failed.\n"
    [closed] = claims.history(store.rows, agency.key("T1"))
    assert (closed.outcome, closed.closed_by, closed.branch) == ("failed", "s1", "main")
    assert tether("release", "T1", cwd=repo, env=S1).out == "T1 is free already: failed.\n"
    error = assert_refused(tether("release", "T1", "--json", cwd=repo, env=S2), 4, "taken")
    assert error["last"]["outcome"] == "failed"
    assert_refused(tether("release", "T9", "--json", cwd=repo, env=S1), 5, "not_found")
    assert tether("claim", "T1", cwd=repo, env=S2).code == 0


def test_an_old_epoch_changes_nothing_and_says_who_has_it(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    agency.begin(store, "s1")
    old = take(store, "s1", "T1").claim.epoch
    agency.silence(store, "s1", 400)
    assert tether("claim", "T1", cwd=repo, env=S2 | BY_HAND).code == 0
    now = claims.open_of(store.rows, agency.key("T1"))
    words = ("release", "T1", "--outcome", "done", "--epoch", str(old))
    error = assert_refused(tether(*words, "--json", cwd=repo, env=S1), 4, "taken")
    assert (error["holder"]["session_id"], error["holder"]["epoch"]) == ("s2", old + 1)
    assert "other-s2" in error["message"]
    assert claims.open_of(store.rows, agency.key("T1")) == now
    # The same from its own later claim: only the epoch tells them apart.
    error = assert_refused(
        tether("release", "T1", "--epoch", str(old), "--json", cwd=repo, env=S2), 4, "taken"
    )
    assert claims.open_of(store.rows, agency.key("T1")) == now


def test_only_a_person_takes_over_from_the_living(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    agency.begin(store, "s1")
    take(store, "s1", "T1")
    refused = tether("claim", "T1", "--take-over", "--json", cwd=repo, env=S2)
    assert_refused(refused, 3, "not_allowed")
    assert tether("claim", "T1", cwd=repo, env=ADA).code == 4
    claim = tether("claim", "T1", "--take-over", "--json", cwd=repo, env=ADA).json["claim"]
    assert (claim["agent_name"], claim["adopted"]) == ("ada", True)
    assert claim["previous"]["session_id"] == "s1"
    assert types(store)[-1] == "claim_adopted"
    assert tether("release", "T1", cwd=repo, env=S1).code == 4


@pytest.fixture
def dead(repo: Path, store: port.Store, tether: Tether) -> Path:
    """A session that worked on a branch, said something and was not heard from since."""
    tether("beat", "--task", "T1", cwd=repo, env=S1)
    tether("claim", "T1", cwd=repo, env=S1)
    tether("beat", "--progress", "half done,\nsee \x1b[31mnotes\x1b[0m", cwd=repo, env=S1)
    agency.silence(store, "s1", 400)
    return repo


def test_what_the_dead_left_is_shown_to_a_person(
    dead: Path, git: Callable[..., str], tether: Tether
) -> None:
    head = git("rev-parse", "HEAD", cwd=dead)
    shown = tether("claim", "T1", cwd=dead, env=ADA | BY_HAND).out.splitlines()
    assert shown[0].startswith("T1 is yours, epoch ")
    assert "other-s1" in shown[1]
    assert "  branch      main" in shown
    assert f"  commit      {head[:12]}" in shown
    assert f"  worktree    {dead}" in shown
    [said] = [n for n, line in enumerate(shown) if line.startswith("  last words, at ")]
    assert shown[said + 1 : said + 3] == ["    half done,", "    see notes"]


def test_what_the_dead_left_is_fenced_for_an_agent(dead: Path, tether: Tether) -> None:
    shown = tether("claim", "T1", cwd=dead, env=S2).out.splitlines()
    assert "other-s1" in shown[1]
    begin, end = (n for n, line in enumerate(shown) if line.startswith("<<tether-fence "))
    assert shown[begin + 2].startswith("| Before you: other-s1, taken over, 20")
    assert shown[end - 2 : end] == ["|     half done,", "|     see notes"]
    assert not any("half done" in line for line in shown[:begin] + shown[end:])


def test_what_the_dead_left_is_marked_for_programs(dead: Path, tether: Tether) -> None:
    claim = tether("claim", "T1", "--json", cwd=dead, env=S2).json["claim"]
    assert claim["previous"]["checkpoint"] == {
        "text": "half done,\nsee notes", "source": "checkpoint_T1", "trust": "untrusted",
    }  # fmt: skip


def test_a_conflict_of_paths_is_told_to_both(repo: Path, store: port.Store, tether: Tether) -> None:
    below = repo / "src"
    below.mkdir()
    assert tether("claim", "T1", "--path", ".", cwd=below, env=S1).code == 0
    claim = tether("claim", "T2", "--path", "src/a.py", "--json", cwd=repo, env=S2).json["claim"]
    [overlap] = claim["overlaps"]
    assert (overlap["session_id"], overlap["reserved"], overlap["pattern"]) == (
        "s1", "src", "src/a.py",
    )  # fmt: skip
    for env in (S1, S2):
        [told] = tether("inbox", "--json", cwd=repo, env=env).json["messages"]
        assert (told["type"], told["priority"], told["task"]) == ("task_conflict", 2, "T2")
        assert "src/a.py" in told["body"]["text"]
    shown = tether("agent", "show", "s1", "--json", cwd=repo).json["agent"]
    assert len(shown["conflicts"]) == 1, "that its message was read does not settle it"
    tether("release", "T2", cwd=repo, env=S2)
    assert set(types(store)[-2:]) == {"claim_closed", "conflict_resolved"}


def test_claims_are_listed(repo: Path, store: port.Store, tether: Tether) -> None:
    for session_id, task in (("s1", "T1"), ("s2", "beads:b-2")):
        agency.begin(store, session_id)
        take(store, session_id, task)
    tether("release", "T1", cwd=repo, env=S1)
    tether("claim", "T1", cwd=repo, env=S2)

    def listed(*words: str) -> list[tuple[str, str, str | None]]:
        found = tether("claims", *words, "--json", cwd=repo, env=S2).json["claims"]
        return [(claim["key"], claim["session_id"], claim["outcome"]) for claim in found]

    assert listed() == [("beads:b-2", "s2", None), ("T1", "s2", None)]
    assert listed("--session", "s1") == []
    assert listed("--session", "me") == listed()
    assert listed("--task", "T1") == [("T1", "s2", None), ("T1", "s1", "released")]
    assert listed("--all", "--limit", "1") == [("T1", "s2", None)]
    head, first, second = tether("claims", cwd=repo).out.splitlines()
    assert head.split() == ["TASK", "AGENT", "SINCE", "STATE", "PATHS"]
    assert first.split()[:2] == ["beads:b-2", "agent-s2"]
    assert first.index("agent-s2") == second.index("agent-s2")


# Messages


def inbox(tether: Tether, repo: Path, env: dict[str, str], *words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tether("inbox", *words, "--json", cwd=repo, env=env).json[
        "messages"
    ]
    return found


def told(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(message["body"]["text"], message["state"]) for message in found]


@pytest.fixture
def two(store: port.Store) -> None:
    agency.begin(store, "s1")
    agency.begin(store, "s2")


@pytest.mark.usefixtures("two")
def test_a_message_is_pending_then_read(repo: Path, tether: Tether) -> None:
    ended = tether("send", "s2", "are you there?", "--type", "question", cwd=repo, env=S1)
    assert ended.out == "Sent to s2, message 1.\n"
    assert told(inbox(tether, repo, S2, "--peek")) == [("are you there?", "pending")]
    assert told(inbox(tether, repo, S1, "--sent")) == [("are you there?", "pending")]
    assert told(inbox(tether, repo, S1)) == [], "it was written to another"
    shown = tether("inbox", cwd=repo, env=S2).out
    assert "Z agent-s1 (question)\n|     are you there?\n<<tether-fence " in shown
    assert told(inbox(tether, repo, S2)) == []
    assert told(inbox(tether, repo, S2, "--all")) == [("are you there?", "read")]
    assert told(inbox(tether, repo, S1, "--sent")) == [("are you there?", "read")]


@pytest.mark.usefixtures("two")
def test_urgent_messages_come_first(repo: Path, tether: Tether) -> None:
    for priority in ("0", "3", "1", "2"):
        words = ("send", "agent-s2", f"urgency {priority}", "--priority", priority)
        assert tether(*words, cwd=repo, env=S1).code == 0
    found = inbox(tether, repo, S2, "--peek")
    assert [message["priority"] for message in found] == [3, 2, 1, 0]
    assert [m["priority"] for m in inbox(tether, repo, S2, "--peek", "--limit", "1")] == [3]
    shown = tether("inbox", "--peek", cwd=repo, env=S2).out
    assert [word in shown for word in ("critical", "high", "routine", "normal")] == [
        True, True, True, False,
    ]  # fmt: skip


@pytest.mark.usefixtures("two")
def test_a_message_may_have_a_time_to_live(repo: Path, store: port.Store, tether: Tether) -> None:
    words = ("send", "all", "soon over", "--ttl", "60", "--task", "beads:b-2")
    sent = tether(*words, "--json", cwd=repo, env=S1).json["message"]
    assert (sent["id"], sent["to"], sent["type"], sent["priority"]) == (1, "all", "note", 1)
    [found] = inbox(tether, repo, S2, "--peek")
    assert (found["source"], found["task"]) == ("beads", "b-2")
    assert found["expires_at"] > found["at"]
    database = sqlite3.connect(repo / ".git" / "tether" / "tether.db")
    database.execute("UPDATE messages SET expires_at = at")
    database.commit()
    database.close()
    assert told(inbox(tether, repo, S2)) == []
    assert told(inbox(tether, repo, S2, "--all")) == [("soon over", "pending")]
    assert "message_sent" in types(store)


@pytest.mark.usefixtures("two")
def test_a_message_is_read_from_stdin(repo: Path, tether: Tether) -> None:
    body = "first line\n\n  third line, indented: gr\u00fc\u00df dich\n"
    assert tether("send", "s2", "-", cwd=repo, env=S1, stdin=body).code == 0
    [found] = inbox(tether, repo, S2, "--peek")
    assert found["body"]["text"].rstrip("\n") == body.rstrip("\n")
    too_long = tether("send", "s2", "-", "--json", cwd=repo, env=S1, stdin="x" * 200_000)
    assert "16384" in assert_refused(too_long, 2, "usage")["message"]
    assert_refused(tether("send", "s2", "-", "--json", cwd=repo, env=S1), 2, "usage")


@pytest.mark.usefixtures("two")
def test_a_person_reads_and_writes_too(repo: Path, tether: Tether) -> None:
    tether("send", "all", "good morning", cwd=repo, env=ADA)
    assert told(inbox(tether, repo, S1)) == [("good morning", "pending")]
    tether("send", "ada", "and to you:\nall well", cwd=repo, env=S1)
    shown = tether("inbox", cwd=repo, env=ADA).out.splitlines()
    assert shown[0].endswith("agent-s1 (note)")
    assert shown[1:] == ["    and to you:", "    all well"]
    assert tether("inbox", cwd=repo, env=ADA).out == "No messages.\n"


def test_a_new_session_reads_what_was_written_to_its_name(repo: Path, tether: Tether) -> None:
    """Names are stable across sessions; this one has not registered yet."""
    tether("agent", "register", "--session", "s1", "--name", "builder", cwd=repo)
    tether("agent", "end", "--session", "s1", cwd=repo)
    tether("send", "builder", "for the next of you", cwd=repo, env=ADA)
    after = {"TETHER_SESSION": "s2", "TETHER_AGENT": "builder"}
    assert told(inbox(tether, repo, after)) == [("for the next of you", "pending")]


# What follows


class Follower:
    """A command that goes on until Ctrl-C, and the lines that it has printed."""

    # As in a shell: whoever runs the tests may have been started with Ctrl-C ignored.
    _SCRIPT = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tether.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )

    def __init__(self, words: tuple[str, ...], cwd: Path, environ: dict[str, str]) -> None:
        self.lines: list[str] = []
        self._queue: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-c", self._SCRIPT, *words],
            cwd=cwd, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._queue.put(line.rstrip("\n"))

    def read_until(self, is_enough: Callable[[list[str]], bool]) -> list[str]:
        """All lines so far, once they are enough."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not is_enough(self.lines):
            try:
                left = max(0.0, deadline - time.monotonic())
                self.lines.append(self._queue.get(timeout=left))
            except queue.Empty:
                raise AssertionError(f"only {len(self.lines)} lines: {self.lines[-3:]}") from None
        return self.lines

    def interrupt(self) -> tuple[int, str]:
        """Press Ctrl-C; the exit code, and what it said on stderr."""
        assert self._process.stderr
        self._process.send_signal(signal.SIGINT)
        said = self._process.stderr.read()
        code = self._process.wait(DEADLINE_SECONDS)
        self._reader.join()
        while not self._queue.empty():
            self.lines.append(self._queue.get())
        return code, said

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()


class Shared(NamedTuple):
    """A repository whose store others use at the same time."""

    repo: Path
    environ: dict[str, str]
    open: agency.OpenStore

    @contextmanager
    def follow(self, *words: str, env: dict[str, str] | None = None) -> Iterator[Follower]:
        follower = Follower(words, self.repo, {**self.environ, **(env or {})})
        try:
            yield follower
        finally:
            follower.close()


@pytest.fixture(params=["sqlite", "postgres"])
def shared(
    repo: Path, environ: dict[str, str], tether: Tether, request: pytest.FixtureRequest
) -> Shared:
    if request.param == "postgres":
        environ["TETHER_STORE_URL"] = request.getfixturevalue("postgres_url")
    assert tether("init", "--yes", cwd=repo).code == 0
    place = workspace.find(str(repo))
    settings = config.load(place, environ, may_cache=False)
    return Shared(repo, environ, lambda: stores.open_store(place, settings))


def write_events(open_: agency.OpenStore, writer: int, amount: int) -> None:
    store = open_()
    for n in range(amount):
        data = {"n": n}
        store.write("test", lambda t, data=data: t.event(HAPPENED, actor=f"w{writer}", data=data))  # type: ignore[misc]
    store.close()


def test_a_shared_store_is_swept_by_the_way_too(shared: Shared, tether: Tether) -> None:
    store = shared.open()
    leave_for_dead(store, "s1", "T1")
    assert tether("claim", "T1", cwd=shared.repo, env=S2).code == 0
    assert status(store, "s1") == "stale"
    assert types(store)[-1] == "claim_taken"
    store.close()


def test_following_the_log_misses_and_repeats_nothing(shared: Shared) -> None:
    """Four writers at once, while it follows."""
    with shared.follow("events", "--follow", "--json") as follower:
        follower.read_until(lambda lines: len(lines) >= 1)  # what `tether init` wrote
        crowd.run(4, lambda number: write_events(shared.open, number, 25))
        follower.read_until(lambda lines: len(lines) >= 101)
        write_events(shared.open, 4, 1)
        follower.read_until(lambda lines: len(lines) >= 102)
        assert follower.interrupt() == (130, "")
    answers = [json.loads(line) for line in follower.lines]
    assert [answer["event"]["id"] for answer in answers] == list(range(1, 103))
    assert all(answer["ok"] for answer in answers)
    assert [answer["event"]["actor"] for answer in answers].count("w2") == 25


def test_following_the_log_as_text(shared: Shared) -> None:
    store = shared.open()
    for session_id in ("s1", "s2"):
        agency.begin(store, session_id)
    with shared.follow("events", "--follow", "--session", "s2", "--limit", "1") as follower:
        follower.read_until(lambda lines: len(lines) >= 1)
        take(store, "s1", "T1")
        take(store, "s2", "T2")
        follower.read_until(lambda lines: len(lines) >= 2)
        assert follower.interrupt() == (130, "")
    first, second = follower.lines
    assert " agent_registered agent-s2 " in first
    assert " claim_taken T2 agent-s2 " in second
    store.close()


def test_following_a_log_that_does_not_exist_yet(
    repo: Path, environ: dict[str, str], tether: Tether, store: port.Store
) -> None:
    shared = Shared(repo, environ, lambda: store)
    with shared.follow("events", "--follow", "--json") as follower:
        assert not store.exists()
        tether("claim", "T1", cwd=repo, env=S1)
        lines = follower.read_until(lambda lines: len(lines) >= 2)
    assert [json.loads(line)["event"]["type"] for line in lines] == types(store)


def send_many(open_: agency.OpenStore, writer: int, amount: int) -> None:
    store = open_()
    sender = agency.agent(store, "s1")
    for n in range(amount):
        draft = messages.Draft(f"{writer}.{n}", priority=n % 4)
        messages.send(store, sender, ("s2", "agent-s2", "all")[n % 3], draft)
    store.close()


def test_following_the_inbox_shows_each_message_once(shared: Shared, tether: Tether) -> None:
    store = shared.open()
    for session_id in ("s1", "s2"):
        agency.begin(store, session_id)
    messages.send(store, agency.agent(store, "s1"), "s2", messages.Draft("first"))
    with shared.follow("inbox", "--follow", "--json", env=S2) as follower:
        follower.read_until(lambda lines: len(lines) >= 1)
        crowd.run(4, lambda number: send_many(shared.open, number, 6))
        follower.read_until(lambda lines: len(lines) >= 25)
        assert tether("send", "s2", "last", cwd=shared.repo, env=S1).code == 0
        follower.read_until(lambda lines: len(lines) >= 26)
        assert follower.interrupt() == (130, "")
    found = [json.loads(line)["message"] for line in follower.lines]
    bodies = [message["body"]["text"] for message in found]
    wanted = {f"{writer}.{n}" for writer in range(4) for n in range(6)}
    assert (bodies[0], bodies[-1]) == ("first", "last")
    assert sorted(bodies[1:-1]) == sorted(wanted)
    states = {message["state"] for message in inbox(tether, shared.repo, S2)}
    assert states <= {"delivered", "pending"}
    assert "delivered" in states, "what was shown is delivered, and stays until it is asked for"
    assert inbox(tether, shared.repo, S2) == []
    store.close()


def test_following_the_inbox_outlives_a_busy_store(
    repo: Path, environ: dict[str, str], store: port.Store
) -> None:
    for session_id in ("s1", "s2"):
        agency.begin(store, session_id)
    impatient = {**S2, "TETHER_STORE_WAIT_SECONDS": "1"}
    following = Shared(repo, environ, lambda: store).follow("inbox", "--follow", env=impatient)
    with following as it:
        messages.send(store, agency.agent(store, "s1"), "s2", messages.Draft("first"))
        it.read_until(lambda lines: any("first" in line for line in lines))
        wait_for(lambda: newest(store, "s2").state == "delivered")
        messages.send(store, agency.agent(store, "s1"), "s2", messages.Draft("second"))

        def hold(_: port.Transaction) -> None:
            it.read_until(lambda lines: any("second" in line for line in lines))
            # Longer than it waits: now it cannot write down that the message was shown.
            time.sleep(2.5)

        store.write("test", hold)
        wait_for(lambda: newest(store, "s2").state == "delivered")
        assert it.interrupt() == (130, "")


def test_following_a_full_inbox_goes_on(
    repo: Path, environ: dict[str, str], store: port.Store
) -> None:
    for session_id in ("s1", "s2"):
        agency.begin(store, session_id)

    def fill(transaction: port.Transaction) -> None:
        for n in range(1001):
            to = messages.To(session="s2")
            messages.post(transaction, "agent-s1", "s1", to, messages.Draft(str(n)))

    store.write("test", fill)
    with Shared(repo, environ, lambda: store).follow("inbox", "--follow", "--json", env=S2) as it:
        it.read_until(lambda lines: len(lines) >= 1000)
        # Shown in the same round as what is left, or in a later one.
        urgent = messages.Draft("urgent", priority=messages.CRITICAL)
        messages.send(store, agency.agent(store, "s1"), "s2", urgent)
        it.read_until(lambda lines: '"urgent"' in lines[-1])
        wait_for(lambda: newest(store, "s2").state == "delivered")
        assert it.interrupt() == (130, "")
    assert len(it.lines) == 1002


def newest(store: port.Store, session_id: str) -> messages.Message:
    [found] = messages.received(store, agency.agent(store, session_id), 1)
    return found


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it never came to that"


# Mistakes


@pytest.mark.parametrize(
    "words",
    [
        ["agent", "show", "nobody"], ["agent", "idle", "--session", "nobody"],
        ["agent", "end", "--session", "nobody"],
        ["beat", "--session", "nobody"],
        ["claim", "T1", "--session", "nobody"],
        ["release", "T1", "--session", "nobody"],
        ["claims", "--session", "nobody"], ["send", "nobody", "hello"],
        ["agent", "register", "--session", "s5", "--parent", "nobody"],
        ["agent", "register", "--session", "s5", "--pid", "4194304"],
        ["agent", "show"], ["agent", "end"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_whoever_is_unknown_is_not_found(
    repo: Path, store: port.Store, tether: Tether, words: list[str]
) -> None:
    error = assert_refused(tether(*words, "--json", cwd=repo), 5, "not_found")
    assert error["hint"]
    assert not store.exists(), "a mistake has made something"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["agnt", "list"], "tether agent"),
        (["calim", "T1"], "tether claim"),
        (["agent", "lst"], "'list'"),
        (["agent", "list", "--statu", "x"], "'--status'"),
        (["agent", "list", "--status", "dead"], "active, idle, ended, stale"),
        (["agent", "register", "--kind", "claud"], "'claude'"),
        (["agent", "register", "--pid", "0"], "1<=x"),
        (["agent", "register", "--name", "builder"], "--session"),
        (["agent", "register", "--session", "a b"], "letters, digits"),
        (["agent", "register", "--session", "s5", "--name", "a/b"], "letters, digits"),
        (["beat", "--task", "../T1"], "letters, digits"),
        (["claim"], "TASK"),
        (["claim", "T1", "--pth", "x"], "'--path'"),
        (["claim", "T1", "--path", "/etc/passwd"], "lies in the repository"),
        (["claim", "T1", "--path", "../.."], "lies in the repository"),
        (["claim", "T1", "--path", ""], "lies in the repository"),
        (["claim", ":T1"], "letters, digits"),
        (["release", "T1", "--epoch", "x"], "whole number"),
        (["release", "T1", "--outcome", "Not Done"], "small letters"),
        (["claims", "--limit", "0"], "1<=x"),
        (["sweep", "--threshold", "-1"], "0<=x"),
        (["sweep", "--thresold", "5"], "'--threshold'"),
        (["send", "all"], "MESSAGE"),
        (["send", "all", " "], "empty"),
        (["send", "all", "x", "--priority", "4"], "0<=x<=3"),
        (["send", "all", "x", "--type", "Bad Type"], "small letters"),
        (["send", "all", "x", "--ttl", "0"], "1<=x"),
        (["inbox", "--flow"], "'--follow'"),
        (["events", "--folow"], "'--follow'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_explained(
    repo: Path, store: port.Store, tether: Tether, words: list[str], hint: str
) -> None:
    error = assert_refused(tether(*words, "--json", cwd=repo), 2, _usage_code(words))
    assert hint in error["message"] + " " + error["hint"]
    assert error["hint"]
    assert not store.exists(), "a mistake has made something"


def _usage_code(words: list[str]) -> str:
    has_bad_id = {"a b", "a/b", "../T1", ":T1", "Not Done", "Bad Type"} & set(words)
    return "invalid_id" if has_bad_id else "usage"


@pytest.mark.parametrize(
    "env",
    [
        {"TETHER_SESSION": "a b"}, {"CLAUDE_CODE_SESSION_ID": "../x"},
        {**S1, "TETHER_AGENT": "a/b"}, {**S1, "TETHER_KIND": "human"},
        {**S1, "TETHER_PID": "many"}, {**S1, "TETHER_PARENT": "a b"},
        {**S1, "TETHER_PARENT": "s1"}, {"TETHER_AGENT": "a/b"},
    ],
    ids=str,
)  # fmt: skip
def test_an_identity_that_cannot_be_is_refused_before_anything_is_written(
    repo: Path, store: port.Store, tether: Tether, env: dict[str, str]
) -> None:
    ended = tether("claim", "T1", "--json", cwd=repo, env=env)
    assert (ended.code, ended.json["ok"]) == (2, False)
    assert ended.json["error"]["hint"]
    assert not store.exists()
    looked = tether("events", "--json", cwd=repo, env=env)
    assert (looked.code, looked.json["events"]) == (0, []), "who only looks need not be anybody"


def test_json_may_come_first_everywhere(repo: Path, tether: Tether) -> None:
    assert tether("--json", "agent", "list", cwd=repo).json == {"ok": True, "agents": []}


# What others wrote


HOSTILE = "see \x1b]0;evil\x07\x1b[31mred\x1b[0m\x9b2J \u202eback\r\nover"


def test_no_escape_sequence_reaches_the_output(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    agency.begin(store, "s2")
    tether("beat", "--task", "T1", "--progress", HOSTILE, cwd=repo, env=S1)
    tether("claim", "T1", cwd=repo, env=S1)
    tether("send", "all", HOSTILE, cwd=repo, env=S1)
    tether("agent", "register", "--transcript", HOSTILE, cwd=repo, env=S1)
    looks = (["events"], ["agent", "show", "s1"], ["inbox", "--peek"], ["claim", "T1"])
    calls = [(words, env) for words in looks for env in (ADA, S2)]
    calls += [([*words, "--json"], ADA) for words in looks]
    calls += [(["claim", "T1", "--take-over"], ADA)]
    for words, env in calls:
        ended = tether(*words, cwd=repo, env=env)
        shown = ended.out + ended.err
        assert shown
        assert not set(shown) & set("\x1b\x07\x9b\u202e\r"), (words, shown)
        if "--json" not in words:
            assert "evil" not in shown, (words, shown)


@pytest.mark.parametrize("words", [["send", "all"], ["beat", "--progress"]], ids=" ".join)
def test_bytes_that_are_no_text_are_no_surprise(
    repo: Path, store: port.Store, tether: Tether, words: list[str]
) -> None:
    agency.begin(store, "s1")
    ended = tether(*words, os.fsdecode(b"caf\xe9"), "--json", cwd=repo, env=S1)
    assert ended.code == 0 or ended.json["error"]["code"] == "usage"


def test_a_branch_with_a_name_in_another_encoding_can_be_worked_on(
    repo: Path, git: Callable[..., str], tether: Tether
) -> None:
    git("checkout", "-qb", os.fsdecode(b"caf\xe9"), cwd=repo)
    assert tether("claim", "T1", cwd=repo, env=S1).code == 0


# Where the store may only be read


@pytest.fixture
def read_only(repo: Path, environ: dict[str, str]) -> Callable[..., Ended]:
    """Runs a command where `.git` is read-only, as sandboxes show it to their agents."""
    parts.need(can_mount(), "mount namespaces (unshare --mount)")
    place = repo / ".git"

    def call(*words: str, env: dict[str, str]) -> Ended:
        mount = f"mount --bind {place} {place} && mount -o remount,bind,ro {place}"
        done = subprocess.run(
            ["unshare", "--mount", "bash", "-c", f'{mount} && exec "$@"', "bash",
             sys.executable, "-m", "tether", *words],
            cwd=repo, env={**environ, **env}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return Ended(done.returncode, done.stdout, done.stderr)

    return call


def test_an_agent_in_a_sandbox_can_look(
    repo: Path, store: port.Store, read_only: Callable[..., Ended]
) -> None:
    """A heartbeat and a sweep are both due, and neither can be written."""
    leave_for_dead(store, "s1", "T1")
    leave_for_dead(store, "s2")
    messages.send(store, agency.agent(store, "s2"), "s1", messages.Draft("hello"))
    before = (repo / ".git" / "tether" / "tether.db").read_bytes()
    for words, noun in (
        (["events"], "events"), (["claims"], "claims"), (["agent", "list"], "agents"),
        (["agent", "show"], "agent"), (["inbox", "--peek"], "messages"),
        (["sweep", "--dry-run"], "candidates"), (["doctor"], "doctor"),
    ):  # fmt: skip
        ended = read_only(*words, "--json", env=S1)
        assert (ended.code, ended.err) == (0, ""), words
        assert ended.json[noun], words
    for words in (["claim", "T2"], ["beat"], ["sweep"], ["send", "s2", "x"], ["agent", "end"]):
        assert_refused(read_only(*words, "--json", env=S1), 1, "store_read_only")
    assert (repo / ".git" / "tether" / "tether.db").read_bytes() == before


def test_an_agent_in_a_sandbox_can_read_its_messages(
    repo: Path, store: port.Store, read_only: Callable[..., Ended]
) -> None:
    for session_id in ("s1", "s2"):
        agency.begin(store, session_id)
    messages.send(store, agency.agent(store, "s2"), "s1", messages.Draft("hello"))
    ended = read_only("inbox", "--json", env=S1)
    assert told(ended.json["messages"]) == [("hello", "pending")]


# Who may act for whom


@pytest.mark.parametrize("marker", ["CLAUDECODE", "GEMINI_CLI", "CURSOR_AGENT"])
def test_an_agent_that_names_no_session_is_not_taken_for_a_person(
    repo: Path, store: port.Store, tether: Tether, marker: str
) -> None:
    env = {marker: "1"}
    error = assert_refused(tether("claim", "T1", "--json", cwd=repo, env=env), 3, "not_allowed")
    assert marker in error["message"]
    assert "TETHER_SESSION" in error["hint"]
    assert not store.exists()
    assert tether("agent", "list", cwd=repo, env=env).code == 0
    assert tether("init", "--yes", cwd=repo, env=env).code == 0


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    "words",
    [
        ["release", "T1", "--session", "s1"], ["agent", "end", "--session", "s1"],
        ["agent", "idle", "--session", "s1"], ["beat", "--session", "s1"],
        ["claim", "T2", "--session", "s1"], ["agent", "register", "--session", "s1"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_an_agent_does_not_act_for_another(
    repo: Path, store: port.Store, tether: Tether, words: list[str]
) -> None:
    take(store, "s1", "T1")
    before = agency.agent(store, "s1")
    assert_refused(tether(*words, "--json", cwd=repo, env=S2), 3, "not_allowed")
    assert agency.agent(store, "s1")._replace(read_at="") == before._replace(read_at="")


def test_an_agent_acts_for_those_that_it_started_and_a_person_for_all(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    assert tether("beat", cwd=repo, env=S1).code == 0
    tether("agent", "register", "--session", "child", cwd=repo, env=S1)
    assert agency.agent(store, "child").parent_id == "s1"
    assert tether("agent", "end", "--session", "child", cwd=repo, env=S1).code == 0
    assert tether("agent", "end", "--session", "s1", cwd=repo, env=ADA).code == 0


@pytest.mark.usefixtures("two")
def test_a_session_may_be_called_by_a_name_that_is_its_own(repo: Path, tether: Tether) -> None:
    ended = tether("agent", "end", "--session", "agent-s1", "--json", cwd=repo, env=ADA)
    assert ended.json["agent"]["session_id"] == "s1"


def test_a_sweep_spares_who_calls(repo: Path, store: port.Store, tether: Tether) -> None:
    agency.begin(store, "s1")
    agency.begin(store, "s2")
    found = tether("sweep", "--threshold", "0", "--json", cwd=repo, env=S1).json
    assert [stale["session_id"] for stale in found["stale_agents"]] == ["s2"]


def test_a_session_outlives_the_process_that_it_named(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    process = agency.sleeper()
    agency.begin(store, "s1", pid=process.pid)
    agency.end(process)
    ended = tether("claim", "T1", cwd=repo, env=S1)
    assert f"process {process.pid}, which this session had named, is gone" in ended.err
    assert agency.agent(store, "s1").process is None
    error = assert_refused(tether("claim", "T1", "--json", cwd=repo, env=S2), 4, "taken")
    assert error["holder"]["session_id"] == "s1"


def test_registering_again_keeps_the_name(repo: Path, store: port.Store, tether: Tether) -> None:
    tether("agent", "register", cwd=repo, env=S1 | {"TETHER_AGENT": "rita"})
    tether("agent", "register", cwd=repo, env=S1)
    assert agency.agent(store, "s1").agent_name == "rita"


def test_nobody_is_started_by_whom_it_started(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    agency.begin(store, "top")
    agency.begin(store, "low", parent="top")
    words = ("agent", "register", "--session", "top", "--parent", "low", "--json")
    assert_refused(tether(*words, cwd=repo), 2, "usage")
    assert agency.agent(store, "top").parent_id is None


@pytest.mark.usefixtures("two")
def test_a_beat_says_who_has_the_task(repo: Path, store: port.Store, tether: Tether) -> None:
    take(store, "s1", "T1")
    ended = tether("beat", "--task", "T1", "--json", cwd=repo, env=S2)
    assert ended.json["beat"]["held_by"] == "agent-s1"
    assert "T1 is held by agent-s1" in tether("beat", cwd=repo, env=S2).out


def test_what_was_left_is_shown_again_and_from_everybody(
    repo: Path, git: Callable[..., str], tmp_path: Path, store: port.Store, tether: Tether
) -> None:
    there = tmp_path / "there"
    git("worktree", "add", "-q", str(there), "-b", "feature", cwd=repo)
    (there / "half").write_text("done\n")
    assert tether("claim", "T1", cwd=there, env=S1).code == 0
    agency.silence(store, "s1", 400)
    assert tether("claim", "T1", cwd=repo, env=S2).code == 0
    agency.silence(store, "s2", 400)
    for _ in range(2):
        found = tether("claim", "T1", "--json", cwd=repo, env=ADA | BY_HAND).json["claim"]
        assert [each["claim"]["session_id"] for each in found["left"]] == ["s2", "s1"]
        assert found["left"][1]["untracked"] == ["half"]
    shown = tether("claim", "T1", cwd=repo, env=ADA | BY_HAND).out
    assert "  untracked   half\n" in shown
    git("worktree", "remove", "--force", str(there), cwd=repo)
    shown = tether("claim", "T1", cwd=repo, env=ADA | BY_HAND).out
    assert "  files       not looked at: this directory is not on this machine, or gone\n" in shown


def test_a_family_without_end_is_drawn_to_some_depth(
    repo: Path, store: port.Store, tether: Tether
) -> None:
    def work(transaction: port.Transaction) -> None:
        for n in range(1200):
            parent = ids.SessionId(f"s{n - 1}") if n else None
            own = registry.Session(ids.SessionId(f"s{n}"), ids.AgentName(f"a{n}"), "other", parent)
            registry.enter(transaction, agency.spot(), own)

    store.write("test", work)
    for words in (["s1199"], ["s1199", "--json"]):
        assert tether("agent", "show", *words, cwd=repo).code == 0
