"""How far something has come, on the last line of a terminal."""

from __future__ import annotations

import io
import itertools

import pytest

from tether.cli import progress


class Screen(io.StringIO):
    def __init__(self, *, is_seen: bool) -> None:
        super().__init__()
        self._is_seen = is_seen

    def isatty(self) -> bool:
        return self._is_seen


@pytest.fixture(autouse=True)
def _half_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(100)
    monkeypatch.setattr("time.monotonic", lambda: next(ticks) / 2)


def shown(screen: Screen) -> list[str]:
    return screen.getvalue().split("\r\x1b[K")[1:]


def test_what_is_quick_shows_nothing() -> None:
    screen = Screen(is_seen=True)
    tell = progress.Progress(screen)
    for said in ("one", "two", "", "three", ""):
        tell(said)
    assert screen.getvalue() == ""


def test_what_takes_long_is_shown_in_place_and_cleared() -> None:
    screen = Screen(is_seen=True)
    tell = progress.Progress(screen)
    for said in ("one", "two", "three", "four", ""):
        tell(said)
    assert shown(screen) == ["tether: three …", "tether: four …", ""]


def test_nothing_reaches_a_file_or_a_pipe() -> None:
    screen = Screen(is_seen=False)
    tell = progress.Progress(screen)
    for said in ("one", "two", "three", "four", ""):
        tell(said)
    assert screen.getvalue() == ""
