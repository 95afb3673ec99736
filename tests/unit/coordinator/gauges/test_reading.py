"""Which source answers, in which order, and what is too old to count."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests import transcripts
from tether import clock, ids
from tether.coordinator.gauges import command, model, reading, statusline
from tether.evidence import places

CLAUDE = ids.SessionId("11111111-2222-4333-8444-777777777777")
CODEX = ids.SessionId("01a1de0e-77d5-7192-9538-77395d4118cf")
# A minute after the last of the real records.
NOW_MS = clock.parse("2026-11-15T07:16:55.000Z")
MINUTE_MS = 60_000


@pytest.fixture
def sources(tmp_path: Path) -> reading.Sources:
    """Homes of both agents, and a store, with nothing in them."""
    for name in ("store", "claude/projects/-home-dev-proj", "codex/sessions/2026/11/15"):
        (tmp_path / name).mkdir(parents=True)
    found = places.Places(claude=(f"{tmp_path}/claude",), codex=(f"{tmp_path}/codex",))
    return reading.Sources(f"{tmp_path}/store", found, {"PATH": os.environ["PATH"]})


def drawn(
    sources: reading.Sources, session: str = CLAUDE, at_ms: int = NOW_MS, used: int = 42
) -> None:
    """A status line that was drawn then."""
    raw = {
        "session_id": session,
        "context_window": {"remaining_percentage": 12},
        "rate_limits": {"five_hour": {"used_percentage": used, "resets_at": 1794730555}},
    }
    seen = statusline.read(json.dumps(raw).encode(), at_ms)
    assert seen
    statusline.keep(sources.store_dir, seen.record)


def refuse(sources: reading.Sources) -> None:
    """A Claude session whose limit was reached."""
    [base] = sources.places.claude
    path = Path(base, "projects", "-home-dev-proj", f"{CLAUDE}.jsonl")
    path.write_bytes(transcripts.corpus("claude_usage_limit.jsonl"))


def roll(sources: reading.Sources, session: str = CODEX, name: str = "codex_simple.jsonl") -> None:
    [base] = sources.places.codex
    path = Path(base, "sessions/2026/11/15", f"rollout-2026-11-15T07-14-12-{session}.jsonl")
    path.write_bytes(transcripts.corpus(name) if name else b"")


@pytest.mark.parametrize("kind", ["claude", "codex", "gemini", "other"])
def test_where_nobody_knows_nothing_is_said(kind: str, sources: reading.Sources) -> None:
    assert reading.context_of(kind, CLAUDE, sources, NOW_MS) is None
    assert reading.usage_of(kind, CLAUDE, sources, NOW_MS) is None
    assert reading.usage_of(kind, None, sources, NOW_MS) is None


# Context


def test_context_of_claude_is_in_its_status_line(sources: reading.Sources) -> None:
    drawn(sources)
    found = reading.context_of("claude", CLAUDE, sources, NOW_MS)
    assert found == model.Context(12, "claude:statusline", clock.text(NOW_MS))
    assert reading.context_of("claude", CODEX, sources, NOW_MS) is None, "of that session alone"


def test_context_of_codex_is_in_its_rollout(sources: reading.Sources) -> None:
    roll(sources)
    found = reading.context_of("codex", CODEX, sources, NOW_MS)
    assert found
    assert found.source == "codex:rollout"
    assert found.remaining == pytest.approx(98.43, abs=0.01)


def test_what_was_said_half_an_hour_ago_is_no_context(sources: reading.Sources) -> None:
    drawn(sources)
    assert reading.context_of("claude", CLAUDE, sources, NOW_MS + 30 * MINUTE_MS)
    assert not reading.context_of("claude", CLAUDE, sources, NOW_MS + 30 * MINUTE_MS + 1)
    roll(sources)
    assert not reading.context_of("codex", CODEX, sources, NOW_MS + 30 * MINUTE_MS)


# Usage


def test_a_refusal_counts_before_a_status_line(sources: reading.Sources) -> None:
    drawn(sources)
    refuse(sources)
    found = reading.usage_of("claude", CLAUDE, sources, NOW_MS)
    assert found
    assert (found.source, found.remaining) == ("claude:transcript", 0)
    assert found.resets_at == "2026-11-15T08:15:55.000Z"


def test_a_refusal_is_over_when_its_limit_has_ended(sources: reading.Sources) -> None:
    refuse(sources)
    reset_ms = clock.parse("2026-11-15T08:15:55.000Z")
    assert reading.usage_of("claude", CLAUDE, sources, reset_ms - 1)
    assert reading.usage_of("claude", CLAUDE, sources, reset_ms) is None


def test_the_own_status_line_counts_before_others(sources: reading.Sources) -> None:
    drawn(sources, used=42)
    drawn(sources, "other", NOW_MS + 1, used=60)
    own = reading.usage_of("claude", CLAUDE, sources, NOW_MS)
    newest = reading.usage_of("claude", None, sources, NOW_MS)
    headless = reading.usage_of("claude", CODEX, sources, NOW_MS)
    assert own
    assert newest
    assert (own.utilisation, newest.utilisation) == (42, 60)
    assert headless == newest, "all sessions of an account share its limits"


def test_usage_stays_known_for_as_long_as_its_window_lasts(sources: reading.Sources) -> None:
    """Within a window it only grows, so an old number is a lower bound."""
    drawn(sources, used=95)
    found = reading.usage_of("claude", CLAUDE, sources, NOW_MS + 50 * MINUTE_MS)
    assert found
    assert model.is_low(found.remaining, 10)


def test_usage_of_codex_is_in_its_rollout(sources: reading.Sources) -> None:
    roll(sources)
    found = reading.usage_of("codex", CODEX, sources, NOW_MS)
    assert found
    assert (found.source, found.remaining) == ("codex:rollout", 62.5)
    assert reading.usage_of("codex", CLAUDE, sources, NOW_MS) is None


def test_without_a_session_the_newest_rollout_that_has_counted_tells(
    sources: reading.Sources,
) -> None:
    roll(sources)
    roll(sources, "ffffffff", name="")
    found = reading.usage_of("codex", None, sources, NOW_MS)
    assert found
    assert found.remaining == 62.5


def test_the_command_of_the_user_comes_first(sources: reading.Sources) -> None:
    drawn(sources)
    asking = sources._replace(command=("echo", "remaining: 3%"))
    for kind in ("claude", "codex", "other"):
        found = reading.usage_of(kind, CLAUDE, asking, NOW_MS)
        assert found
        assert (found.source, found.remaining) == ("command", 3)


def test_a_command_that_fails_is_not_passed_over_in_silence(sources: reading.Sources) -> None:
    drawn(sources)
    with pytest.raises(command.UsageUnknown):
        reading.usage_of("claude", CLAUDE, sources._replace(command=("false",)), NOW_MS)
