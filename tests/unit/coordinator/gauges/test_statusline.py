"""What is kept of what Claude Code tells its status line."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import parts, transcripts
from tether import clock, errors, ids
from tether.coordinator.gauges import model, statusline

SESSION = ids.SessionId("bc6290c4-f05c-44ae-98e8-cec6d5703c45")
OTHER = ids.SessionId("other")
# Between the second and the third of the real records.
NOW_MS = 1_794_724_410_000
NOW = clock.text(NOW_MS)


def real() -> list[bytes]:
    return transcripts.corpus("claude_statusline.jsonl").splitlines()


def told(**more: Any) -> bytes:
    return json.dumps({"session_id": SESSION, "cwd": "/home/dev/proj", **more}).encode()


def full(context: float | None = 58, used: float = 42, resets_at: int = 1794728006) -> bytes:
    return told(
        context_window={"remaining_percentage": context},
        rate_limits={"five_hour": {"used_percentage": used, "resets_at": resets_at}},
    )


def record(raw: bytes, now_ms: int = NOW_MS) -> statusline.Record:
    seen = statusline.read(raw, now_ms)
    assert seen
    return seen.record


def keep(store: Path, raw: bytes, now_ms: int = NOW_MS) -> bool:
    return statusline.keep(str(store), record(raw, now_ms))


def kept(store: Path) -> list[str]:
    return sorted(path.name for path in (store / "statusline").iterdir())


# Reading


def test_the_real_records() -> None:
    before, after, compacted = (record(raw) for raw in real())
    assert before == statusline.Record(SESSION, NOW, None, {})
    assert after.context_remaining == 99
    assert after.windows == {
        "five_hour": model.Window(42, "2026-11-15T07:33:26.000Z"),
        "seven_day": model.Window(11, "2026-11-19T10:33:26.000Z"),
    }
    assert compacted.context_remaining == 100


def test_where_the_session_works_is_told() -> None:
    seen = statusline.read(told(workspace={"current_dir": "/inner"}), NOW_MS)
    assert seen
    assert seen.directory == "/inner"
    outer = statusline.read(told(workspace={"current_dir": 7}), NOW_MS)
    assert outer
    assert outer.directory == "/home/dev/proj"


def test_what_is_left_follows_from_what_is_used() -> None:
    assert record(told(context_window={"used_percentage": 30})).context_remaining == 70
    assert record(told(context_window={"used_percentage": None})).context_remaining is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"session_id": 7}',
        b'{"session_id": "../../etc/passwd"}',
        b'{"session_id": ""}',
        b'{"session_id": "a", "cwd": "/x"',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"session_id": "a", "n": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_record_is_passed_over(raw: bytes) -> None:
    assert statusline.read(raw, NOW_MS) is None


@pytest.mark.parametrize(
    "more",
    [
        {"context_window": 7, "rate_limits": [], "workspace": "x", "cwd": 3},
        {"context_window": {"remaining_percentage": "42"}, "rate_limits": {"five_hour": 7}},
        {"rate_limits": {"five_hour": {"used_percentage": True, "resets_at": []}}},
    ],
)
def test_fields_of_the_wrong_kind_count_as_missing(more: dict[str, Any]) -> None:
    assert record(told(**more)) == statusline.Record(SESSION, NOW, None, {})


@given(st.binary() | st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from([
            "session_id", "context_window", "remaining_percentage", "used_percentage",
            "rate_limits", "five_hour", "resets_at", "workspace", "cwd",
        ]), inner),
).map(lambda value: json.dumps(value).encode()))  # fmt: skip
def test_no_input_is_too_strange(raw: bytes) -> None:
    statusline.read(raw, NOW_MS)


@given(st.binary(max_size=200), st.integers(-(10**15), 10**15))
def test_no_kept_file_is_too_strange(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, now_ms: int
) -> None:
    store = tmp_path_factory.mktemp("store")
    (store / "statusline").mkdir()
    (store / "statusline" / f"{SESSION}.json").write_bytes(content)
    assert statusline.context(str(store), SESSION) is None
    assert statusline.usage(str(store), None, now_ms) is None
    assert keep(store, full())
    assert statusline.context(str(store), SESSION) == model.Context(58, "claude:statusline", NOW)


# Keeping


def test_numbers_are_kept_and_nothing_else(tmp_path: Path) -> None:
    assert keep(tmp_path, real()[1])
    [name] = kept(tmp_path)
    assert json.loads((tmp_path / "statusline" / name).read_bytes()) == {
        "session": SESSION,
        "at": NOW,
        "context_remaining": 99.0,
        "windows": {
            "five_hour": {"used": 42.0, "resets_at": "2026-11-15T07:33:26.000Z"},
            "seven_day": {"used": 11.0, "resets_at": "2026-11-19T10:33:26.000Z"},
        },
    }


@pytest.mark.parametrize(
    ("raw", "after_ms", "expected"),
    [
        (full(), 300, False),
        (full(context=57.5, used=42.9, resets_at=1794728015), 59_000, False),
        (full(), 60_000, True),
        (full(), -60_000, True),  # the clock was set back
        (full(context=57), 300, True),
        (full(context=None), 300, True),
        (full(used=43), 300, True),
        (told(context_window={"remaining_percentage": 58}), 300, True),
    ],
)
def test_the_disk_is_written_to_only_for_news(
    raw: bytes, after_ms: int, expected: bool, tmp_path: Path
) -> None:
    assert keep(tmp_path, full())
    assert keep(tmp_path, raw, NOW_MS + after_ms) is expected


def test_many_small_steps_are_news_in_the_end(tmp_path: Path) -> None:
    steps = [keep(tmp_path, full(used=42 + step / 4), NOW_MS + step) for step in range(9)]
    assert steps == [True, False, False, False, True, False, False, False, True]


def test_a_new_session_removes_what_is_older_than_a_day(tmp_path: Path) -> None:
    keep(tmp_path, full())
    keep(tmp_path, full().replace(SESSION.encode(), b"recent"), NOW_MS + 3_600_000)
    (tmp_path / "statusline" / "damaged.json").write_bytes(b"\0")
    (tmp_path / "statusline" / "directory").mkdir()
    keep(tmp_path, full().replace(SESSION.encode(), b"new"), NOW_MS + 86_400_001)
    assert kept(tmp_path) == ["directory", "new.json", "recent.json"]


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFound):
        keep(tmp_path / "none", full())
    assert not (tmp_path / "none").exists()


def test_a_store_of_somebody_else_is_an_error_like_others() -> None:
    parts.need(os.geteuid() == 0, "root, to become another user")
    with tempfile.TemporaryDirectory(prefix="tether-gauges-") as store:
        Path(store).chmod(0o755)
        child = os.fork()
        if not child:
            os.setuid(65534)
            try:
                keep(Path(store), full())
            except errors.NotWritable:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert os.listdir(store) == []


def test_a_link_in_the_place_of_a_record_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "store" / "statusline").mkdir(parents=True)
    (tmp_path / "target").write_text("mine")
    (tmp_path / "store" / "statusline" / f"{SESSION}.json").symlink_to(tmp_path / "target")
    with pytest.raises(errors.LinkRefused):
        keep(tmp_path / "store", full())
    assert (tmp_path / "target").read_text() == "mine"


# Asking


def test_nothing_is_known_of_a_session_that_was_not_seen(tmp_path: Path) -> None:
    assert statusline.context(str(tmp_path), SESSION) is None
    assert statusline.usage(str(tmp_path), SESSION, NOW_MS) is None
    assert statusline.usage(str(tmp_path / "none"), None, NOW_MS) is None
    keep(tmp_path, told())
    assert statusline.context(str(tmp_path), SESSION) is None
    assert statusline.usage(str(tmp_path), None, NOW_MS) is None


def test_the_least_that_is_left_of_the_real_windows(tmp_path: Path) -> None:
    keep(tmp_path, real()[1])
    reset = "2026-11-15T07:33:26.000Z"
    expected = model.Usage(58, 42, reset, "claude:statusline", NOW)
    assert statusline.usage(str(tmp_path), SESSION, NOW_MS) == expected
    after = statusline.usage(str(tmp_path), SESSION, clock.parse(reset))
    assert after
    assert after.utilisation == 11, "five hours have begun anew, the week goes on"


def test_without_a_session_the_newest_tells_that_knows_of_limits(tmp_path: Path) -> None:
    keep(tmp_path, full(used=42))
    keep(tmp_path, full(used=50).replace(SESSION.encode(), b"other"), NOW_MS + 1000)
    keep(tmp_path, told(session_id="silent"), NOW_MS + 2000)
    newest = statusline.usage(str(tmp_path), None, NOW_MS)
    assert newest
    assert newest.utilisation == 50
    assert newest == statusline.usage(str(tmp_path), OTHER, NOW_MS)
