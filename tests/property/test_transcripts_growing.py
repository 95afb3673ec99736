"""What is known of a transcript depends on its bytes, and not on when it was looked at.

Transcripts of every agent, with records of all sizes and lines that are broken, grow by pieces that
may end anywhere. Limits are small, so that there is something on both sides of each.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from tests import growing, scale
from tests.figures import Figures
from tests.growing import Step
from tether.evidence import lines, model, readers
from tether.evidence.transcripts import adapter

KIB = 1024
SOURCES = list(growing.AGENTS)

sizes = st.sampled_from([10, 700, 9 * KIB, 40 * KIB, 99 * KIB, 118 * KIB, 150 * KIB])
words = st.sampled_from(["ask", "say", "call", "print", "break"])
steps = st.one_of(
    st.builds(Step, words, sizes, st.just(1)),
    st.builds(Step, words, st.just(700), st.integers(2, 30)),
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "TAIL_BYTES", 4 * KIB)
    monkeypatch.setattr(lines, "CHUNK_BYTES", 20 * KIB)
    monkeypatch.setattr(lines, "MAX_TAIL_BYTES", 100 * KIB)
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 120 * KIB)


def check(source: str, plan: list[Step], cuts: list[float]) -> int:
    with tempfile.TemporaryDirectory(prefix="tether-growing-") as base:
        desk = growing.Desk(Path(base), source)
        data = desk.agent.data(plan)
        piecemeal = desk.piecemeal(data, [int(cut * len(data)) for cut in cuts])
        assert piecemeal == desk.look("fresh")
        return len(data)


@pytest.mark.proof(room="evidence")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.usefixtures("small")
def test_a_transcript_is_known_by_its_bytes(figures: Figures, source: str) -> None:
    done: list[int] = []

    @hypothesis.settings(
        max_examples=scale.count(1000, 30),
        suppress_health_check=list(hypothesis.HealthCheck),
        deadline=None,
        derandomize=True,
    )
    @hypothesis.given(
        st.lists(steps, max_size=12), st.lists(st.floats(0, 1), min_size=1, max_size=5)
    )
    def run(plan: list[Step], cuts: list[float]) -> None:
        done.append(check(source, plan, cuts))

    run()
    figures.add(
        f"growing transcripts of {source} read piecemeal and at once",
        transcripts=len(done),
        bytes=sum(done),
        differences=0,
    )


OFTEN = [each / 10 for each in range(10)]
LONG = [
    [Step("ask"), Step("say"), Step("call"), Step("print", 600_000)],
    [Step("ask"), Step("say"), Step("call"), Step("print", 2000, times=55)],
]


@pytest.mark.parametrize("plan", LONG)
@pytest.mark.parametrize("source", SOURCES)
def test_records_of_usual_limits_are_known_by_their_bytes(source: str, plan: list[Step]) -> None:
    check(source, plan, OFTEN)


@pytest.mark.parametrize("plan", LONG)
@pytest.mark.parametrize("source", SOURCES)
def test_a_tail_of_one_size_that_leaves_what_was_known_is_caught(
    monkeypatch: pytest.MonkeyPatch, source: str, plan: list[Step]
) -> None:
    grown = lines.tails
    monkeypatch.setattr(lines, "tails", lambda *each: list(grown(*each))[:1])

    def merged(facts: model.Session, tail: model.Session) -> model.Session:
        return facts._replace(
            last_at=tail.last_at or facts.last_at,
            ending=tail.ending or facts.ending,
            last_said=tail.last_said or facts.last_said,
        )

    monkeypatch.setattr(readers, "_with_tail", merged)
    monkeypatch.setattr(
        readers, "_FROM_REST", (*readers._FROM_REST, "last_at", "ending", "last_said")
    )
    with pytest.raises(AssertionError):
        check(source, plan, [0.001, *OFTEN])


TOO_LONG = [Step("break"), Step("print", 150 * KIB), Step("break", 700, times=80)]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.usefixtures("small")
def test_the_first_problems_by_their_place_are_kept_and_the_rest_is_counted(
    tmp_path: Path, source: str
) -> None:
    desk = growing.Desk(tmp_path, source)
    data = desk.agent.data(TOO_LONG)
    known = desk.piecemeal(data, [len(data) * each // 100 for each in range(1, 100)])
    assert known == desk.look("fresh")
    *first, last = known.problems
    places = [int(each.where.removeprefix("byte ")) for each in first]
    assert places == sorted(places)
    assert len(places) == readers.MAX_PROBLEMS
    assert "passed over" in first[1].message
    assert last == model.Problem(str(desk.file), "", "and 32 more problems")


@pytest.mark.usefixtures("small")
def test_problems_in_the_order_of_their_telling_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readers, "_place", lambda _: 0)
    with pytest.raises(AssertionError):
        check("claude:transcript", TOO_LONG, OFTEN)
