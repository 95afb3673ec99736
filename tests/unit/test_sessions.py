"""Who stopped in the middle, what wants a look, and what is due again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import agency
from tether import ids, text
from tether.agents import claims, messages, notes, sweep
from tether.brief import periodic, rescue, sessions
from tether.store import events, port
from tether.vacuum import reports

DAY_MS = 86_400_000
MINUTE_MS = 60_000
NOW = "2026-11-16T12:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[port.Store]:
    [opened] = [agency.sqlite_opener(tmp_path)()]
    yield opened
    opened.close()


def take(store: port.Store, session: str, task: str, *paths: str) -> None:
    key = agency.key(task)
    answer = claims.take(store, agency.spot(), session, key, patterns=paths)
    assert isinstance(answer, claims.Claimed)


def look(store: port.Store, *, everyone: bool = False) -> dict[str, sessions.Standing]:
    found = sessions.look(store, agency.spot(), DAY_MS, everyone=everyone)
    return {each.agent.session_id: each for each in found.standings}


def kinds(standing: sessions.Standing) -> list[str]:
    return [each.kind for each in standing.alerts]


# Standing


def test_what_a_session_holds_and_reserves_is_told(store: port.Store) -> None:
    agency.begin(store, "s1")
    take(store, "s1", "T-1", "src/**")
    standing = look(store)["s1"]
    [held] = standing.held
    assert (held.key.label, held.paths, standing.verdict) == ("T-1", ("src/**",), "alive")
    assert standing.alerts == ()


def test_a_claim_of_the_dead_is_an_alert(store: port.Store) -> None:
    process = agency.sleeper()
    agency.begin(store, "s1", pid=process.pid)
    take(store, "s1", "T-1")
    agency.end(process)
    standing = look(store)["s1"]
    assert (standing.verdict, kinds(standing)) == ("dead", [sessions.DEAD_CLAIM])


def test_a_long_claim_is_an_alert(store: port.Store) -> None:
    agency.begin(store, "s1")
    standing = look(store)["s1"]
    held = sessions.Held(agency.key("T-1"), 1, NOW, 25 * 3_600_000)
    found = sessions.alerts(standing._replace(held=(held,)), DAY_MS)
    assert found == (sessions.Alert(sessions.LONG_CLAIM, "has T-1 for 25 h"),)
    assert sessions.alerts(standing._replace(held=(held._replace(held_ms=5),)), DAY_MS) == ()


def test_conflicts_and_urgent_messages_are_alerts_of_both(store: port.Store) -> None:
    for name in ("s1", "s2"):
        agency.begin(store, name)
    take(store, "s1", "T-1", "src/**")
    take(store, "s2", "T-2", "src/a.py")
    assert {name: kinds(each) for name, each in look(store).items()} == {
        "s1": [sessions.CONFLICT, sessions.UNREAD],
        "s2": [sessions.CONFLICT, sessions.UNREAD],
    }


def test_a_usual_message_is_counted_and_no_alert(store: port.Store) -> None:
    sender = agency.begin(store, "s1")
    agency.begin(store, "s2")
    messages.send(store, sender, "s2", messages.Draft("hello"))
    standing = look(store)["s2"]
    assert (standing.unread, standing.urgent, standing.alerts) == (1, 0, ())


def test_who_went_long_ago_is_shown_only_if_asked_for(store: port.Store) -> None:
    agent = agency.begin(store, "s1")
    gone = agent._replace(status="ended", ended_at="2026-11-14T12:00:00.000Z", read_at=NOW)
    assert not sessions.is_recent(gone)
    assert sessions.is_recent(gone._replace(ended_at="2026-11-16T00:00:00.000Z"))
    assert sessions.is_recent(gone._replace(ended_at="damaged"))
    assert sessions.is_recent(agent)


def test_the_certainly_dead_are_retired_at_once_and_nobody_else(store: port.Store) -> None:
    dead, alive = agency.sleeper(), agency.sleeper()
    agency.begin(store, "dead", pid=dead.pid)
    agency.begin(store, "alive", pid=alive.pid)
    agency.begin(store, "unknown")
    take(store, "dead", "T-1")
    agency.end(dead)
    try:
        [stale] = sweep.retire_dead(store, agency.spot(), "")
        assert (stale.session_id, stale.released_items) == ("dead", ("T-1",))
        assert sweep.retire_dead(store, agency.spot(), "") == []
        status = {name: agency.agent(store, name).status for name in ("dead", "alive", "unknown")}
        assert status == {"dead": "stale", "alive": "active", "unknown": "active"}
    finally:
        agency.end(alive)


# Notes


def test_a_note_is_kept_without_secrets(store: port.Store) -> None:
    said = notes.checked(f"  The key is {'ghp_' + 'a1B2c3D4e5F6' * 3}.\x1b[31m ")
    assert "ghp_" not in said
    key = ids.TaskKey("track", "H.1.1")
    store.write("test", lambda transaction: notes.leave(transaction, key, said, "ada", None))
    [event] = events.latest(store, 10)
    assert (event.type, event.source, event.task) == ("handoff_left", "track", "H.1.1")
    assert event.data == {"note": text.clean(said)}


# Rescue


@pytest.mark.parametrize(
    ("ending", "verdict", "minutes", "expected"),
    [
        ("mid_turn", "alive", 12, rescue.HUNG),
        ("mid_turn", "alive", 9, ""),
        ("at_rest", "alive", 600, ""),
        ("limited", "alive", 600, ""),
        ("mid_turn", "dead", 0, rescue.ORPHANED),
        ("mid_turn", "expired", 0, rescue.ORPHANED),
        ("mid_turn", "ended", 0, rescue.ORPHANED),
        ("limited", "dead", 0, rescue.ORPHANED),
        ("mid_turn", "", 12, rescue.ORPHANED),
        ("mid_turn", "", 9, ""),
        ("mid_turn", "suspect", 600, ""),
        ("at_rest", "dead", 600, ""),
        ("ended", "dead", 600, ""),
        ("", "dead", 600, ""),
    ],
)
def test_who_is_hung_and_who_is_orphaned(
    ending: str, verdict: str, minutes: int, expected: str
) -> None:
    found = rescue.judge(ending, verdict, minutes * MINUTE_MS, True, 10 * MINUTE_MS)
    assert found == expected


def test_what_stopped_long_ago_is_no_case_unless_its_process_is_there() -> None:
    limit = 10 * MINUTE_MS
    assert rescue.judge("mid_turn", "dead", 8 * DAY_MS, False, limit) == ""
    assert rescue.judge("mid_turn", "alive", 8 * DAY_MS, False, limit) == rescue.HUNG


@pytest.mark.parametrize(
    ("kind", "session", "directory", "expected"),
    [
        ("claude", "0b5a-1", "/src/app", "cd /src/app && claude --resume 0b5a-1"),
        ("codex", "0199", "/src/app", "cd /src/app && codex resume 0199"),
        ("codex", "0199", "/my app", "cd '/my app' && codex resume 0199"),
        (
            "codex",
            "0199",
            "/a'; rm -r b; '",
            """cd '/a'"'"'; rm -r b; '"'"'' && codex resume 0199""",
        ),
        ("codex", "0199", "/a\nrm -r b", "codex resume 0199"),
        ("codex", "0199", "/a\x1b[2J", "codex resume 0199"),
        ("codex", "0199", "-", "codex resume 0199"),
        ("codex", "0199", "", "codex resume 0199"),
        ("gemini", "0199", "/src/app", ""),
        ("cursor", "0199", "/src/app", ""),
        ("claude", "a; rm b", "/src/app", ""),
        ("claude", "--help", "/src/app", ""),
    ],
)
def test_the_command_that_continues(kind: str, session: str, directory: str, expected: str) -> None:
    assert rescue.command(kind, session, directory) == expected


def test_a_session_was_at_what_it_holds_or_lost_or_else_named(store: port.Store) -> None:
    named = (agency.key("T-9"),)
    agency.begin(store, "s1")
    assert rescue.tasks_of(store.rows, "s1", named) == named
    take(store, "s1", "T-1")
    assert rescue.tasks_of(store.rows, "s1", named) == (agency.key("T-1"),)
    agency.silence(store, "s1", 400)
    agency.begin(store, "s2")
    take(store, "s2", "T-1")
    assert rescue.tasks_of(store.rows, "s1", named) == named


# What is periodic


@pytest.mark.parametrize(
    ("last", "days", "expected"),
    [
        ("", 7, True),
        ("", 0, False),
        ("2026-11-16T11:00:00.000Z", 7, False),
        ("2026-11-09T12:00:00.000Z", 7, True),
        ("2026-11-09T12:00:00.001Z", 7, False),
        ("2027-01-01T00:00:00.000Z", 7, True),
    ],
)
def test_what_is_due(last: str, days: int, expected: bool) -> None:
    assert periodic.is_due(last, days, NOW) is expected


def test_only_sweeps_that_came_to_their_end_count(store: port.Store) -> None:
    for kind, finished in (("deep", "2026-01"), ("quick", "2026-03"), ("deep", "")):
        number = reports.begin(store, kind, NOW, "ada", "house")
        if finished:
            recorded = reports.Recorded()
            reports.end(store, number, kind, finished, "ada", 0, {}, recorded)
    assert reports.last_finished(store, ("deep",)) == "2026-01"
    assert reports.last_finished(store, ("standard", "deep")) == "2026-01"
    assert reports.last_finished(store, ("standard",)) == ""
