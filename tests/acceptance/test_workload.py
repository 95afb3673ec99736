"""`tether bench make-workload`: the same bytes each time, every trap, and a truth that is true."""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import os
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Tether
from tether import errors, git
from tether.bench.workload import commits, model, plan, story, traps, writing
from tether.git import importing

SCALE = 0.01
_ID = re.compile(r"(?<![A-Za-z0-9._])[A-Z]{1,2}(?:\.[1-9][0-9]*){1,4}(?![A-Za-z0-9_])(?!\.[0-9])")
_MOVING = ("worked", "stated")
_CONTEXT = "home/.coditect-data/context-storage"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small workload. It is only looked at."""
    place = tmp_path_factory.mktemp("workload") / "one"
    writing.make(str(place), SCALE)
    return place


@pytest.fixture(scope="module")
def truth(made: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (made / "truth.jsonl").read_text().splitlines()]


def _evidence(truth: list[dict[str, Any]], source: str) -> list[dict[str, Any]]:
    return [row for row in truth if row.get("source") == source and "task" in row]


def _transcripts(made: Path) -> list[Path]:
    return sorted((made / "home" / ".claude" / "projects").rglob("*.jsonl"))


def _rollouts(made: Path) -> list[Path]:
    return sorted((made / "home" / ".codex").rglob("*.jsonl"))


# The same bytes


def _tree(place: Path) -> dict[str, bytes]:
    """Every file below a directory, with its own path taken out of names and contents."""
    words = (str(place), re.sub(r"[^A-Za-z0-9]", "-", str(place)))
    found = {}
    for path in sorted(place.rglob("*")):
        if path.is_file():
            name, content = str(path.relative_to(place)), path.read_bytes()
            for word in words:
                name, content = name.replace(word, "@"), content.replace(word.encode(), b"@")
            found[name] = content
    return found


def test_the_same_seed_gives_the_same_bytes(made: Path) -> None:
    other = made.parent / "two"
    writing.make(str(other), SCALE)
    first, second = _tree(made), _tree(other)
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_another_seed_gives_another_history(made: Path, tmp_path: Path) -> None:
    writing.make(str(tmp_path / "workload"), SCALE, seed=2)
    refs = "repo/.git/refs/heads/main"
    assert (tmp_path / "workload" / refs).read_bytes() != (made / refs).read_bytes()


# What is written can be read


def test_every_line_is_json_but_the_torn_ones(made: Path, truth: list[dict[str, Any]]) -> None:
    torn = {row["where"] for row in truth if row.get("trap") == "truncated_line"}
    for path in [*_transcripts(made), *_rollouts(made)]:
        *lines, rest = path.read_text(encoding="ascii").split("\n")
        assert (rest != "") == (str(path.relative_to(made)) in torn)
        if rest:
            with pytest.raises(json.JSONDecodeError):
                json.loads(rest)
        for line in lines:
            assert isinstance(json.loads(line), dict)


def test_every_tool_result_answers_a_call(made: Path) -> None:
    for path in _transcripts(made):
        called: set[str] = set()
        for record in _records(path):
            content = record.get("message", {}).get("content", "")
            for block in content if isinstance(content, list) else ():
                if block["type"] == "tool_use":
                    called.add(block["id"])
                elif block["type"] == "tool_result":
                    assert block["tool_use_id"] in called


def test_the_repositories_are_sound_and_checked_out(made: Path) -> None:
    for name in ("repo", "repo-two"):
        assert _git(made / name, "fsck", "--strict", "--no-dangling") == ""
        assert _git(made / name, "status", "--porcelain") == ""
        assert _git(made / name, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_the_databases_are_whole_and_can_be_searched(made: Path) -> None:
    for name in ("messaging.db", "messaging-v1.db", "sessions.db"):
        with _opened(made / _CONTEXT / name) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with _opened(made / _CONTEXT / "sessions.db") as database:
        [found] = database.execute(
            "SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'done'"
        ).fetchone()
        assert found > 0
    with _opened(made / _CONTEXT / "messaging.db") as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        [pending] = database.execute(
            "SELECT count(*) FROM session_messages"
            " WHERE message_type = 'task_conflict' AND status = 'pending'"
        ).fetchone()
        assert pending == 4


# Truth


def test_every_trap_is_there(made: Path, truth: list[dict[str, Any]]) -> None:
    assert {row["trap"] for row in truth if "trap" in row} == set(traps.NAMES)
    for row in truth:
        where = row.get("where", "") if "trap" in row else ""
        if where.startswith("home/"):
            assert (made / where).is_file()
        elif where.startswith("internal/"):
            assert (made / "repo" / where).is_file()
        elif where and not where.startswith("plans/"):
            assert _git(made / row["project"], "cat-file", "-t", where) == "commit"
    exported = [row["tasks"] for row in truth if row.get("trap") == "stale_clone_reexport"]
    assert exported[0] == exported[1] != []


def test_every_fate_is_there(truth: list[dict[str, Any]]) -> None:
    fates = {row["fate"] for row in truth if "fate" in row}
    assert fates == {
        *model.ORPHANS, model.DONE, model.DONE_BEFORE, model.BULK_CLOSED, model.ROLLBACK,
        model.RESURRECTED, model.FATE_ADOPTED, model.FATE_DEFERRED, model.DEFERRED_TOUCHED,
        model.FATE_CANCELLED, model.ACTIVE, model.PARKED, model.NEVER_STARTED,
    }  # fmt: skip
    parked = [row for row in truth if row.get("parked") and row["injected"]]
    assert {(row["project"], row["parked"]) for row in parked} == {
        ("repo", "AB"),
        ("repo", "AC"),
        ("repo-two", "H"),
    }


def test_fates_agree_with_the_evidence(truth: list[dict[str, Any]]) -> None:
    last: dict[tuple[str, str], str] = {}
    for row in truth:
        if row.get("kind") in _MOVING:
            key = (row.get("project", "repo"), row["task"])
            last[key] = max(last.get(key, ""), row["at"])
    week_ago = "2026-11-08"
    for row in truth:
        if "fate" not in row:
            continue
        found = last.get((row["project"], row["id"]), "")
        assert row.get("last_worked_at", "") == found
        assert (found == "") == (row["fate"] == model.NEVER_STARTED) or row["done"]
        if row["fate"] in (model.STALE, model.PARTIAL):
            assert found < week_ago
        if row["orphan"]:
            assert row["pointers"]
            assert not row["done"]
            assert row["latent_at"] >= found


def test_claude_says_of_tasks_what_truth_says(made: Path, truth: list[dict[str, Any]]) -> None:
    # A record that stands in two files is one.
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for path in _transcripts(made):
        for record in _records(path):
            named = frozenset(_ID.findall(_said(record)))
            if record["type"] in ("user", "assistant") and 0 < len(named) <= 50:
                found[record["uuid"]] = (record["timestamp"], named)
    expected = collections.Counter(
        (row["at"], row["task"]) for row in _evidence(truth, "claude:transcript")
    )
    assert collections.Counter((at, task) for at, ids in found.values() for task in ids) == expected


def test_codex_says_of_tasks_what_truth_says(made: Path, truth: list[dict[str, Any]]) -> None:
    found = set()
    for path in _rollouts(made):
        for record in _records(path):
            named = set(_ID.findall("\n".join(_strings(record["payload"]))))
            where = str(path.relative_to(made))
            if len(named) <= 50:
                found |= {(record["timestamp"], task, where) for task in named}
    rows = _evidence(truth, "codex:rollout")
    assert found == {(row["at"], row["task"], row["where"]) for row in rows}


def test_commits_say_of_tasks_what_truth_says(made: Path, truth: list[dict[str, Any]]) -> None:
    found = set()
    for name in ("repo", "repo-two"):
        for entry in _git(made / name, "log", "-z", "--format=%H%n%B").split("\0"):
            oid, _, message = entry.strip().partition("\n")
            found |= {(oid, task) for task in _ID.findall(message)}
    assert found == {(row["where"], row["task"]) for row in _evidence(truth, "git:commit")}


def test_ticks_are_where_truth_says(made: Path, truth: list[dict[str, Any]]) -> None:
    box = re.compile(r"^\+ *[-*] \[[xX~ -]\] (?:\*\*)?([A-Z]{1,2}(?:\.[0-9]+)+)", re.MULTILINE)
    rows = collections.defaultdict(set)
    for row in _evidence(truth, "git:list"):
        rows[row["where"]].add(row["task"])
    # A remark changes the line of a task but not its state; in a code block there are none.
    beside = {row["id"] for row in truth if "deferred" in row.get("fate", "")}
    beside |= {"C.99.1", "C.99.2"}
    entries = _git(made / "repo", "log", "-p", "--unified=0", "--format=%x01%H").split("\x01")[1:]
    for oid, _, diff in (entry.strip().partition("\n") for entry in entries):
        assert set(box.findall(diff)) - beside == rows[oid] - beside


def test_logs_say_of_tasks_what_truth_says(made: Path, truth: list[dict[str, Any]]) -> None:
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    base = made / "home" / ".coditect-data" / "session-logs"
    for path in base.rglob("*.md"):
        where = str(path.relative_to(made))
        for block in re.split(r"\n(?=##)", path.read_text()):
            found.update({(where, task): 1 for task in set(_ID.findall(block))})
    rows = _evidence(truth, "coditect:log")
    assert found == collections.Counter((row["where"], row["task"]) for row in rows)


def test_messages_say_of_tasks_what_truth_says(made: Path, truth: list[dict[str, Any]]) -> None:
    found: collections.Counter[tuple[str, str]] = collections.Counter()
    queries = {
        "messaging.db": ("SELECT payload FROM session_messages", "SELECT task_id FROM task_claims"),
        "messaging-v1.db": ("SELECT payload FROM inter_session_messages",),
    }
    for name, wanted in queries.items():
        with _opened(made / _CONTEXT / name) as database:
            for query in wanted:
                for [text] in database.execute(query):
                    found.update({(f"{_CONTEXT}/{name}", task): 1 for task in _ID.findall(text)})
    rows = _evidence(truth, "coditect:messaging")
    assert found == collections.Counter((row["where"], row["task"]) for row in rows)


# Numbers


@functools.cache
def _tale(scale: float) -> story.Story:
    return story.tell(1, model.Size(scale), has_liveness=True)


def test_the_numbers_at_one_are_those_of_the_measured_project() -> None:
    tale = _tale(1)
    counts = {
        track.code: (
            sum(not task.is_done for task in track.tasks),
            sum(task.is_done for task in track.tasks),
        )
        for track in tale.plan.pilot
    }
    assert sum(opened for opened, _ in counts.values()) == 1216
    assert counts["H"] == (256, 320)
    assert counts["J"] == (145, 653)
    assert counts["K"] == (75, 27)
    assert len(tale.plan.pilot) == 14
    extensions = [task for track in tale.plan.extensions for task in track.tasks]
    assert (len(tale.plan.extensions), len(extensions)) == (30, 800)
    assert not any(task.is_done for task in extensions)
    assert len(tale.sessions) == 1000
    assert sum(session.messages for session in tale.sessions) == 512_000
    assert len(tale.conflicts) == 37
    planned = commits.Planner(tale).plan([])
    assert len(planned) == 3999  # and one that brings what was there before
    assert 0.59 < sum(bool(commit.found) for commit in planned) / len(planned) < 0.61


def test_claims_follow_the_measured_laws() -> None:
    claims = _tale(1).claims
    hours = sorted((claim.end - claim.start) / model.HOUR for claim in claims)
    assert 0.1 <= hours[len(hours) // 2] <= 0.25
    assert 1.5 <= hours[len(hours) * 9 // 10] <= 9
    assert 0.005 <= sum(each > 7 * 24 for each in hours) / len(hours) <= 0.02
    outcomes = collections.Counter(claim.outcome for claim in claims)
    assert 0.69 <= outcomes["done"] / len(claims) <= 0.77
    assert 0.10 <= outcomes["orphaned"] / len(claims) <= 0.14


def test_counts_scale() -> None:
    tale = _tale(10)
    assert len(tale.plan.tracks) == 440 + 1
    assert len({track.code for track in tale.plan.tracks}) == 440
    tasks = sum(len(track.tasks) for track in tale.plan.tracks if track.project == model.MAIN)
    assert 41_000 <= tasks <= 41_500
    assert len(tale.sessions) == 10_000
    assert sum(session.messages for session in tale.sessions) == 5_120_000


def test_made_up_prose_names_no_task(made: Path) -> None:
    for path in (made / "repo" / "src").rglob("*"):
        if path.is_file():
            assert _ID.findall(path.read_text()) == []


def test_a_broken_stream_is_told_as_git_tells_it(tmp_path: Path) -> None:
    git.init(tmp_path / "repo")
    for stream in ([b"nonsense\n"], [b"nonsense\n"] * 100_000):
        with pytest.raises(errors.GitError, match="nonsense"):
            importing.import_stream(tmp_path / "repo", stream)


# The command


def test_the_command_answers_with_counts(tmp_path: Path, tether: Tether) -> None:
    place = tmp_path / "workload"
    ended = tether(
        "bench", "make-workload", str(place), "--scale", "0.01", "--no-liveness", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    workload = ended.json["workload"]
    assert workload == json.loads((place / "workload.json").read_text())
    assert workload["now"] == "2026-11-15T00:00:00.000Z"
    assert workload["counts"]["messages"] >= 5120
    assert 0.1 <= workload["counts"]["share_with_id"] <= 0.2
    assert set(workload["traps"]) == set(traps.NAMES) - set(traps.OF_LIVENESS)
    assert not (place / "processes.json").exists()
    with _opened(place / _CONTEXT / "messaging.db") as database:
        assert database.execute("SELECT max(pid) FROM session_registry").fetchone() == (None,)


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path, tether: Tether) -> None:
    (tmp_path / "mine").write_text("mine")
    for place in (tmp_path, tmp_path / "mine"):
        ended = tether("bench", "make-workload", str(place), cwd=tmp_path)
        assert ended.code == 1
        assert "Nothing was written" in ended.err
    assert (tmp_path / "mine").read_text() == "mine"


def test_every_track_has_its_file(made: Path) -> None:
    pilot = made / "repo" / plan.PILOT_DIRECTORY
    assert len(list(pilot.glob("TRACK-[A-N]-*.md"))) == 14
    extensions = made / "repo" / plan.EXTENSION_DIRECTORY
    assert next(extensions.glob("track-aa-*.md"), None) is not None


# Looking


def _records(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text().split("\n")[:-1]:
        yield json.loads(line)


def _said(record: dict[str, Any]) -> str:
    return "\n".join(_strings(record.get("message", {}).get("content", "")))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, dict) else ():
        yield from _strings(each)
    for each in value if isinstance(value, list) else ():
        yield from _strings(each)


def _git(directory: Path, *words: str) -> str:
    environ = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"}
    done = subprocess.run(
        ["git", *words], cwd=directory, env=environ, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        yield database
