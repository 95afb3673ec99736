"""What transcripts and rollouts say of limits and of the context."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import transcripts
from tether import clock, ids
from tether.coordinator.gauges import claude, codex, model, tail

NOW_MS = clock.parse("2026-11-15T07:16:00.000Z")
SESSION = ids.SessionId("01a1de0e-77d5-7192-9538-77395d4118cf")


def backwards(*records: object) -> list[bytes]:
    return transcripts.jsonl(*records).splitlines()[::-1]


# The last lines


@pytest.mark.parametrize("content", [b"", b"torn", b"a\n", b"a\nb\n", b"a\nb\ntorn", b"\n\n"])
def test_whole_lines_come_last_one_first(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(content)
    expected = content.split(b"\n")[:-1][::-1]
    assert list(tail.last_lines(str(tmp_path / "f"), 100)) == expected


@given(
    lines=st.lists(st.binary(max_size=12).map(lambda raw: raw.replace(b"\n", b""))),
    torn=st.sampled_from([b"", b"t", b"torn and long"]),
    piece=st.integers(1, 9),
    limit=st.integers(0, 200),
)
def test_pieces_of_any_size_give_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[bytes],
    torn: bytes,
    piece: int,
    limit: int,
) -> None:
    path = tmp_path_factory.mktemp("tail") / "f"
    content = b"".join(line + b"\n" for line in lines) + torn
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tail, "_PIECE_BYTES", piece)
        found = list(tail.last_lines(str(path), limit))
    assert found == lines[::-1][: len(found)]
    # As many as fit whole behind the line end before them.
    sizes = [len(torn) + sum(len(each) + 1 for each in lines[n:]) for n in range(len(lines))]
    assert len(found) == sum(size < limit or size == len(content) <= limit for size in sizes)


def test_what_is_no_file_has_no_lines(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "real").write_bytes(b"a\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name in ("none", "pipe", "link", ".", "nul\0"):
        assert list(tail.last_lines(f"{tmp_path}/{name}", 100)) == []


# Claude Code


LIMIT = {
    "type": "assistant",
    "timestamp": "2026-11-15T07:15:55.370Z",
    "isApiErrorMessage": True,
    "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "limit"}]},
    "apiError": "usage_limit_reached",
    "apiErrorParams": {"rate_limit_info": {"resetsAt": 1794730555}},
}
ANSWER = {"type": "assistant", "message": {"model": "claude", "content": []}}
ASKED = {"type": "user", "message": {"content": "go on"}}


def test_the_real_limit() -> None:
    lines = transcripts.corpus("claude_usage_limit.jsonl").splitlines()[::-1]
    assert claude.usage_limit(lines) == model.Usage(
        0.0, 100.0, "2026-11-15T08:15:55.000Z", "claude:transcript", "2026-11-15T07:15:55.370Z"
    )


def test_transcripts_without_a_limit_tell_of_none() -> None:
    for name in ("claude_interactive_killed.jsonl", "claude_tasks_compact_resume.jsonl"):
        assert claude.usage_limit(transcripts.corpus(name).splitlines()[::-1]) is None


def test_a_limit_stands_until_the_model_answers_again() -> None:
    other_error = {**ANSWER, "isApiErrorMessage": True}
    interrupted = {"type": "assistant", "message": {"model": "<synthetic>", "content": []}}
    assert claude.usage_limit(backwards(ANSWER, LIMIT, ASKED, other_error, interrupted))
    assert claude.usage_limit(backwards(LIMIT, ASKED, ANSWER, ASKED)) is None


@pytest.mark.parametrize("resets_at", [None, "soon", [], 10**30, "2026-02-31T00:00:00.000Z"])
def test_a_limit_of_unknown_end_is_still_one(resets_at: object) -> None:
    record = {**LIMIT, "apiErrorParams": {"rate_limit_info": {"resetsAt": resets_at}}}
    found = claude.usage_limit(backwards(record))
    assert found
    assert found.resets_at is None


def test_a_transcript_is_found_wherever_it_was_started(tmp_path: Path) -> None:
    path = tmp_path / "b" / "projects" / "-home-dev-proj" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    (tmp_path / "b" / "projects" / "file").touch()
    bases = (str(tmp_path / "a"), str(tmp_path / "b"))
    assert claude.transcript(bases, SESSION) is None
    path.touch()
    assert claude.transcript(bases, SESSION) == str(path)


# Codex


def count(
    total: object = 64_600, used: object = 37.5, resets_at: object = 1794730453, **limits: Any
) -> dict[str, Any]:
    return {
        "timestamp": "2026-11-15T07:14:13.919Z",
        "type": "event_msg",
        "payload": {
            "type": "token_count",
            "info": {"last_token_usage": {"total_tokens": total}, "model_context_window": 258_400},
            "rate_limits": {"primary": {"used_percent": used, "resets_at": resets_at}, **limits},
        },
    }


def test_the_real_rollout() -> None:
    lines = transcripts.corpus("codex_simple.jsonl").splitlines()[::-1]
    at = "2026-11-15T07:14:13.919Z"
    left = 100 * (258_400 - 4050) / 258_400
    assert codex.context(lines) == model.Context(left, "codex:rollout", at)
    reset = "2026-11-15T08:14:13.000Z"
    assert codex.usage(lines, NOW_MS) == model.Usage(62.5, 37.5, reset, "codex:rollout", at)
    after = codex.usage(lines, clock.parse(reset))
    assert after
    assert after.utilisation == 12.0, "the week goes on"


def test_the_real_rollout_just_after_a_compaction() -> None:
    lines = transcripts.corpus("codex_compacted.jsonl").splitlines()
    compacted = next(n for n, raw in enumerate(lines) if json.loads(raw)["type"] == "compacted")
    assert codex.context(lines[: compacted + 1][::-1]) is None, "not counted again yet"
    after = next(n for n in range(compacted, len(lines)) if b'"token_count"' in lines[n])
    found = codex.context(lines[: after + 1][::-1])
    assert found
    assert found.remaining == pytest.approx(100 * (258_400 - 6785) / 258_400)


def test_a_count_without_numbers_leaves_the_one_before() -> None:
    """Codex tells of limits before it has counted anything."""
    bare = count()
    bare["payload"] |= {"info": None, "rate_limits": None}
    lines = backwards(count(), bare)
    assert codex.context(lines) == model.Context(75.0, "codex:rollout", bare["timestamp"])
    assert codex.usage(lines, NOW_MS)


def test_a_context_that_is_more_than_full_has_nothing_left() -> None:
    found = codex.context(backwards(count(total=300_000)))
    assert found
    assert found.remaining == 0


def test_a_limit_that_was_reached_counts_whatever_the_percentages_say() -> None:
    reached = count(used=99, rate_limit_reached_type="rate_limit_reached")
    found = codex.usage(backwards(reached), NOW_MS)
    assert found
    assert (found.remaining, found.resets_at) == (0.0, "2026-11-15T08:14:13.000Z")
    after = codex.usage(backwards(reached), clock.parse("2026-11-15T08:14:13.000Z"))
    assert after
    assert after.remaining == 100


@pytest.mark.parametrize("total", [None, True, "4050", -1, 10**400, 1.5, {}])
def test_what_is_no_number_of_tokens_tells_nothing(total: object) -> None:
    assert codex.context(backwards(count(total=total))) is None


def test_lines_that_only_speak_of_counts_are_passed_over() -> None:
    said = {"type": "response_item", "payload": {"content": "token_count", "type": "token_count"}}
    text = b'{"type": "event_msg", "payload": "token_count", "x": "token_count"}'
    lines = [b'{"token_count"', text, *backwards(said), *backwards(count())]
    assert codex.context(lines)


def rollout(base: Path, day: str, name: str) -> Path:
    path = base / "sessions" / day / f"rollout-{day.replace('/', '-')}T07-14-12-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_rollouts_are_found_newest_first(tmp_path: Path) -> None:
    days = ["2025/12/31", "2026/02/01", "2026/11/09", "2026/11/15"]
    paths = [str(rollout(tmp_path, day, SESSION)) for day in days]
    rollout(tmp_path, "2026/11/15", "another")
    (tmp_path / "sessions" / "2026" / "notes").mkdir()
    (tmp_path / "sessions" / "9999").touch()
    bases = (str(tmp_path / "none"), str(tmp_path))
    assert list(codex.rollouts(bases, SESSION)) == paths[::-1]
    assert len(list(codex.rollouts(bases, None))) == 5
    assert list(codex.rollouts(bases, ids.SessionId("395d4118cf"))) == []


def test_years_of_rollouts_are_not_opened_for_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for month in range(1, 13):
        rollout(tmp_path, f"2026/{month:02}/01", f"s{month}")
    opened: list[str] = []
    listdir = os.listdir

    def noting(path: str) -> list[str]:
        opened.append(path)
        return listdir(path)

    monkeypatch.setattr(os, "listdir", noting)
    assert next(codex.rollouts((str(tmp_path),), ids.SessionId("s12")))
    assert len(opened) == 4, "sessions, the year, the month, the day"
    opened.clear()
    monkeypatch.setattr(codex, "_MAX_DAYS", 2)
    assert list(codex.rollouts((str(tmp_path),), ids.SessionId("s1"))) == []
    assert len(opened) == 2 + 2 * 2


# Damage


@given(st.lists(st.binary() | st.sampled_from([b'"token_count"', b'"compacted"', b"[" * 9999])))
def test_no_line_is_too_strange(lines: list[bytes]) -> None:
    assert claude.usage_limit(lines) is None
    assert codex.context(lines) is None
    assert codex.usage(lines, NOW_MS) is None


@given(st.data(), transcripts.json_values)
def test_no_value_in_any_place_is_too_strange(data: st.DataObject, value: object) -> None:
    """Of a limit and of a count; the moment of asking is after what some of them say."""
    records = [LIMIT, count(rate_limit_reached_type="rate_limit_reached")]
    way = data.draw(st.sampled_from(list(transcripts.places(records))))
    lines = backwards(*transcripts.replaced(records, way, value))
    limit = claude.usage_limit(lines)
    if limit:
        model.has_ended(model.Window(100, limit.resets_at), limit.at, NOW_MS)
    room = codex.context(lines)
    assert room is None or 0 <= room.remaining <= 100
    usage = codex.usage(lines, NOW_MS)
    assert usage is None or 0 <= usage.remaining <= 100
