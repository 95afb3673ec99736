"""How a session stands is told by the end of its transcript, however much that has to be."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from tests import growing
from tests.growing import Step
from tether.evidence import lines
from tether.evidence.transcripts import adapter

KIB = 1024
MIB = 1024 * KIB
SOURCES = list(growing.AGENTS)


@pytest.fixture(params=SOURCES)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> growing.Desk:
    return growing.Desk(tmp_path, request.param)


@pytest.mark.parametrize(
    "after",
    [
        [Step("call"), Step("print", 600_000)],
        [Step("call"), Step("print", 2000), Step("call"), Step("print", 2000)] * 20,
        [Step("call"), Step("print", 50_000, times=40)],
        [Step("call"), Step("print", 70_000, times=3), Step("break", times=3)],
        [Step("call"), Step("print", 5 * MIB)],
    ],
)
def test_who_was_stopped_within_a_turn_is_told_whatever_the_tools_printed(
    desk: growing.Desk, after: list[Step]
) -> None:
    data = desk.agent.data([Step("ask"), Step("say"), *after])
    desk.file.write_bytes(data)
    found = desk.look().facts
    assert found.last_said == "H.1.1 say 2"
    assert found.ending == "mid_turn"
    is_timed = desk.agent.source != "cursor:transcript"
    # The broken ones at the end have a number, but no time.
    number = desk.agent.number - (3 if after[-1].what == "break" else 0)
    minute, second = divmod(number if is_timed else 60, 60)
    assert found.last_at == growing.TIMES.format(minute, second)


def test_a_record_too_long_for_a_tail_is_left_out_and_what_stands_before_it_counts(
    desk: growing.Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_TAIL_BYTES", MIB)
    monkeypatch.setattr(lines, "CHUNK_BYTES", 100 * KIB)
    data = desk.agent.data([Step("ask"), Step("say"), Step("call"), Step("print", 3 * MIB)])
    desk.file.write_bytes(data)
    found = desk.look().facts
    assert (found.last_said, found.ending) == ("H.1.1 say 2", "mid_turn")


def test_what_is_further_back_than_a_tail_reaches_is_not_told_to_anybody(
    desk: growing.Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_TAIL_BYTES", MIB)
    monkeypatch.setattr(lines, "CHUNK_BYTES", 100 * KIB)
    start = desk.agent.data([Step("ask"), Step("say")])
    data = start + desk.agent.data([Step("call", 50_000, times=30)])
    known = desk.piecemeal(data, [len(start)])
    assert known.facts.last_said == ""
    assert known.facts.ending == "mid_turn"
    assert known == desk.look("fresh")


def test_usually_no_more_than_the_last_64_kib_are_read(
    desk: growing.Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [Step("ask"), Step("call"), Step("print", 2000), Step("say")] * 400
    desk.file.write_bytes(desk.agent.data(steps))
    desk.look()
    more = desk.agent.data([Step("say")])
    with desk.file.open("ab") as file:
        file.write(more)
    amounts: list[int] = []
    real = os.pread

    def counted(descriptor: int, amount: int, at: int) -> bytes:
        amounts.append(amount)
        return real(descriptor, amount, at)

    monkeypatch.setattr(os, "pread", counted)
    desk.look()
    assert sum(amounts) < adapter.TAIL_BYTES + len(more) + 8 * KIB


# The pieces


@hypothesis.settings(suppress_health_check=list(hypothesis.HealthCheck), deadline=None)
@hypothesis.given(
    st.lists(st.integers(0, 40) | st.integers(0, 400), max_size=40),
    st.integers(1, 40),
    st.integers(64, 200),  # as much as a chunk, or more
)
def test_tails_are_whole_lines_from_the_end_but_for_those_that_are_too_long(
    lengths: list[int], first: int, limit: int
) -> None:
    found = [bytes([65 + n % 26]) * length + b"\n" for n, length in enumerate(lengths)]
    data = b"".join(found)
    short = [line for line in found if len(line) <= limit]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryFile() as file:
        patch.setattr(adapter, "TAIL_BYTES", first)
        patch.setattr(lines, "MAX_TAIL_BYTES", limit)
        patch.setattr(lines, "CHUNK_BYTES", 64)
        file.write(data + b"still being written")
        file.flush()
        pieces = list(lines.tails(file.fileno(), len(data)))
    for before, piece in zip([b"", *pieces], pieces, strict=False):
        assert piece.endswith(before)
        assert b"".join(short).endswith(piece)
        assert piece.splitlines(keepends=True) == short[len(short) - piece.count(b"\n") :]
    is_all = bool(pieces) and pieces[-1] == b"".join(short)
    assert is_all or not data or len(pieces[-1]) >= limit


def test_a_line_of_100_megabytes_at_the_end_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.write(b"before\n")
        file.truncate(file.tell() + 100 * MIB)
        file.seek(0, os.SEEK_END)
        file.write(b"\nafter\n")
    with path.open("rb") as file:
        pieces = list(lines.tails(file.fileno(), path.stat().st_size))
    assert pieces == [b"after\n", b"before\nafter\n"]


def test_how_far_back_is_looked_has_an_end(tmp_path: Path) -> None:
    path = tmp_path / "long"
    with path.open("wb") as file:
        file.write(b"before\n")
        file.truncate(file.tell() + 300 * MIB)
        file.seek(0, os.SEEK_END)
        file.write(b"\n")
    with path.open("rb") as file:
        assert b"".join(lines.tails(file.fileno(), path.stat().st_size)) == b""


@pytest.mark.parametrize("before", [0, 1, 30, 63, 64, 100])
@pytest.mark.parametrize("length", [126, 127, 128, 129, 130, 190, 191, 192, 193, 300])
def test_which_lines_are_too_long_does_not_depend_on_where_reading_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int, length: int
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", 64)
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 128)
    path = tmp_path / "file"
    path.write_bytes(b"b" * before + b"\n" + b"x" * length + b"\n" + b"after x\n")
    with path.open("rb") as file:
        source = lines.Lines(file.fileno(), str(path), 0, path.stat().st_size)
        found = [line.raw for line in source.mattering((b"x",))]
    is_long = length > 128
    assert found == ([] if is_long else [b"x" * length]) + [b"after x"]
    assert [each.where for each in source.problems] == [f"byte {before + 1}"] * is_long
    assert source.offset == path.stat().st_size
