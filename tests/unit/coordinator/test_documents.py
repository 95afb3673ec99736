"""The state of a run as a document, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.ledger import DIAMOND, RUN, Ledger, at
from tether.coordinator import documents
from tether.coordinator.state import State
from tether.store import run_events


@pytest.fixture
def state() -> State:
    """A run in which everything has happened that a state can tell of."""
    ledger = Ledger(DIAMOND, begins=False)
    ledger.tell(run_events.SESSION_START, plan_digest=next(iter(ledger.plans)), base="0123abcd")
    ledger.tell(run_events.USAGE_CHECK, utilisation=88.5, remaining=11.5, resets_at=at(300))
    ledger.complete("T1")
    ledger.tell(run_events.TASK_REVERIFICATION_REQUIRED)
    ledger.work("T2", "a2")
    ledger.tell(run_events.DEVELOPER_CHECKPOINT, task_id="T2", agent_id="a2", checkpoint="ü half")
    ledger.work("T3", "a3")
    ledger.tell(run_events.ORPHAN_AGENT_DETECTED, agent_id="a3", task_id="T3")
    ledger.tell(run_events.TASK_FAILED, task_id="T3", reason="10 times")
    ledger.answer(ledger.ask("T2", agent_id="a2", options=["A", "B"]), "A")
    ledger.ask("T3", question="And now?")
    ledger.tell(run_events.COMPACTION_START, compaction_number=2)
    ledger.tell(run_events.SESSION_PAUSE, resets_at=at(300))
    ledger.tell(run_events.SESSION_RESUME, resume_count=1)
    ledger.tell(run_events.SESSION_PAUSE, reason="user_stop")
    ledger.add("task_praised", {})
    return ledger.state


def encoded(state: State) -> bytes:
    return documents.encode(state, session_id="s1", saved_at=at(20), reason="progress")


def sealed(body: bytes) -> bytes:
    """A document with a checksum that is right, whatever it says."""
    checksum = hashlib.sha256(body).hexdigest().encode()
    return b'{"checksum":"' + checksum + b'",' + body[1:] + b"\n"


def is_refused(raw: bytes) -> bool:
    try:
        documents.decode(raw, RUN)
    except documents.SnapshotDamaged:
        return True
    return False


def test_a_state_comes_back_as_it_was(state: State) -> None:
    found, document = documents.decode(encoded(state), RUN)
    assert found == state
    assert (document["session_id"], document["saved_at"]) == ("s1", at(20))


def test_a_new_state_comes_back_too() -> None:
    assert documents.decode(encoded(State(RUN)), RUN)[0] == State(RUN)


def test_the_order_of_tasks_is_kept(state: State) -> None:
    found, _ = documents.decode(encoded(state), RUN)
    assert encoded(found) == encoded(state)


def test_it_has_the_fields_of_the_seed(state: State) -> None:
    found = json.loads(encoded(state))
    assert (found["session_id"], found["saved_at"], found["save_reason"]) == (
        "s1", at(20), "progress"
    )  # fmt: skip
    assert found["completed_tasks"] == ["T1"]
    assert found["in_progress_tasks"] == [
        {
            "task_id": "T2",
            "agent_id": "a2",
            "status": "testing",
            "dispatched_at": at(4),
            "last_checkpoint": "ü half",
            "last_checkpoint_time": at(5),
        }
    ]
    assert (found["pending_audit"], found["available_tasks"]) == ([], [])
    assert found["blocked_tasks"] == {"T4": ["T2", "T3"]}
    assert found["active_agents"]["a2"]["type"] == "developer"
    assert [each["question"] for each in found["pending_divine_questions"]] == [
        "Which?", "And now?"
    ]  # fmt: skip
    assert (found["compaction_count"], found["session_resume_count"]) == (2, 1)
    assert found["task_commits"]["T1"]["completed_at"] == at(2)
    assert (found["paused_at"], found["pending_validation"]) == (at(15), ["T1"])
    assert (found["plan_file"], found["total_tasks"]) == ("plan.md", 4)
    assert found["task_attempts"]["T3"]["deaths"] == 1
    assert (found["session_utilisation"], found["session_remaining"]) == (88.5, 11.5)
    assert found["last_usage_check"] == at(1)


def test_who_is_not_paused_has_no_time_of_it() -> None:
    assert documents.document(State(RUN))["paused_at"] is None


def test_a_task_in_progress_without_a_checkpoint_says_so() -> None:
    ledger = Ledger(DIAMOND)
    ledger.work("T1", "a1")
    [found] = documents.document(ledger.state)["in_progress_tasks"]
    assert (found["last_checkpoint"], found["status"]) == (None, "implementing")


def test_the_plain_document_is_what_json_can_say(state: State) -> None:
    plain = documents.plain(state)
    assert json.loads(json.dumps(plain)) == plain
    assert documents.state_of(json.loads(json.dumps(plain)), RUN) == state


# What is not whole


@pytest.mark.parametrize("mask", [0x01, 0x20, 0x80, 0xFF])
def test_each_changed_byte_is_noticed(state: State, mask: int) -> None:
    raw = encoded(state)
    unnoticed = [n for n in range(len(raw)) if not is_refused(_flipped(raw, n, mask))]
    assert unnoticed == []


def _flipped(raw: bytes, at: int, mask: int) -> bytes:
    return raw[:at] + bytes([raw[at] ^ mask]) + raw[at + 1 :]


def test_each_missing_end_is_noticed(state: State) -> None:
    raw = encoded(state)
    assert [n for n in range(len(raw)) if not is_refused(raw[:n])] == []


def test_each_missing_byte_is_noticed(state: State) -> None:
    raw = encoded(state)
    assert [n for n in range(len(raw)) if not is_refused(raw[:n] + raw[n + 1 :])] == []


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "zeros": lambda raw: b"\0" * len(raw),
    "a hole": lambda raw: raw[:200] + b"\0" * 100 + raw[300:],
    "CRLF": lambda raw: raw.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda raw: b"\xef\xbb\xbf" + raw,
    "a NUL at the end": lambda raw: raw + b"\0",
    "a second newline": lambda raw: raw + b"\n",
    "twice": lambda raw: raw + raw,
    "spliced": lambda raw: raw[: len(raw) // 2] + encoded(State(RUN))[len(raw) // 2 :],
    "another body": lambda raw: raw[:80] + encoded(State(RUN))[80:],
    "other spaces": lambda raw: json.dumps(json.loads(raw)).encode(),
    "in UTF-16": lambda raw: raw.decode().encode("utf-16"),
    "nothing": lambda _: b"",
    "an empty object": lambda _: b"{}\n",
    "text": lambda _: b"The disk is full.\n",
    "deep": lambda _: b"[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_disks_and_editors_do_is_noticed(state: State, damage: str) -> None:
    assert is_refused(DAMAGES[damage](encoded(state)))


@pytest.mark.parametrize(
    "body",
    [
        b"{}", b"[]", b'""', b"{", b'{"\xff": 1}', b"[" * 100_000, b'{"a":' * 100_000,
        b'{"session_id":"s","saved_at":"x","completed_tasks":[],"available_tasks":[]}',
    ],
)  # fmt: skip
def test_a_right_checksum_over_nonsense_is_refused(body: bytes) -> None:
    assert is_refused(sealed(body))


@pytest.mark.parametrize("name", documents.REQUIRED)
def test_what_every_state_has_must_be_there(state: State, name: str) -> None:
    found = json.loads(encoded(state))
    del found[name], found["checksum"]
    assert is_refused(sealed(json.dumps(found).encode()))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("completed_tasks", 5),
        ("completed_tasks", ["T9"]),
        ("in_progress_tasks", [{}]),
        ("active_agents", {"a": {"type": "developer"}}),
        ("blocked_tasks", []),
        ("pending_divine_questions", [{"id": 1}]),
        ("run", "garden"),
        ("version", 2),
    ],
)
def test_what_a_field_cannot_mean_is_refused(state: State, name: str, value: Any) -> None:
    found = {**json.loads(encoded(state)), name: value}
    del found["checksum"]
    assert is_refused(sealed(json.dumps(found).encode()))


def test_a_document_of_an_earlier_tether_lacks_what_was_thought_of_since(state: State) -> None:
    """One stands in the log after a lost store, and must be read for ever."""
    plain = documents.plain(state)
    del plain["skipped_events"], plain["task_attempts"]["T3"]["deaths"]
    found = documents.state_of(plain, RUN)
    assert (found.skipped_events, found.tallies["T3"].deaths) == (0, 0)


def test_a_document_of_a_later_tether_has_more(state: State) -> None:
    plain = documents.plain(state)
    plain["mood"] = plain["task_attempts"]["T3"]["mood"] = "good"
    assert documents.state_of(plain, RUN) == state
