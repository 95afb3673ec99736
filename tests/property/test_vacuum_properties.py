"""What holds for every task, whatever is known of it: findings are sorted, and rarely certain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import hypothesis
from hypothesis import strategies as st

from tests import scale
from tether import clock, ids
from tether.vacuum import model, parking, rules, silence

NOW_MS = clock.parse("2026-11-30T12:00:00.000Z")
YEAR_MS = 365 * model.DAY_MS
T = TypeVar("T")
VERDICTS = ("", "alive", "suspect", "expired", "dead", "ended")

many = hypothesis.settings(max_examples=scale.count(1_000, 30))

# Moments near each other, so that equal ones and every order of them occur; a few in the future.
moments = st.one_of(
    st.sampled_from([0, 1, 30, 59, 60, 61, 24 * 60, 8 * 24 * 60, 40 * 24 * 60]).map(
        lambda minutes: clock.text(NOW_MS - minutes * 60_000)
    ),
    st.integers(-model.DAY_MS, YEAR_MS).map(lambda ms: clock.text(NOW_MS - ms)),
)
maybe = st.just("") | moments
sessions = st.sampled_from(["s1", "s2", "s3"])
verdicts = st.sampled_from(VERDICTS)
texts = st.text(max_size=8)
signs = st.builds(model.Sign, moments, texts, texts, sessions)
hours = st.floats(-100, 1e6, allow_nan=False)
quiets = st.builds(
    model.Quiet, hours, hours, st.booleans(), st.integers(1, 500), st.integers(0, 500)
)
limits = st.builds(
    model.Limits,
    stale_ms=st.integers(1, 60).map(lambda days: days * model.DAY_MS),
    long_claim_ms=st.integers(1, 200).map(lambda hours: hours * model.HOUR_MS),
    alert_percent=st.integers(1, 100),
)
subjects = st.builds(
    model.Subject,
    st.just(ids.TaskKey("track", "H.1.1")),
    texts,
    st.sampled_from(["new", "assigned", "in_progress", "done", "error", "cancelled"]),
    parts_done=st.integers(0, 3),
    parts_total=st.integers(0, 3),
)
holds = st.builds(
    model.Hold,
    sessions,
    texts,
    moments,
    maybe,
    st.sampled_from(["", "released", "released_stale", "done", "failed"]),
    verdicts,
    texts,
    texts,
)
visits = st.builds(
    model.Visit,
    sessions,
    moments,
    moments,
    maybe,
    maybe,
    st.sampled_from(["", "at_rest", "mid_turn", "limited", "ended"]),
    maybe,
    maybe,
    verdicts,
    texts,
    texts,
)
clashes = st.builds(
    model.Clash,
    moments,
    sessions,
    sessions | st.just(""),
    texts,
    st.booleans(),
    st.tuples(verdicts, verdicts),
)


def few(strategy: st.SearchStrategy[T]) -> st.SearchStrategy[tuple[T, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


facts: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "subject": subjects,
        "now": st.just(clock.text(NOW_MS)),
        "hold": st.none() | holds,
        "visits": few(visits),
        "clashes": few(clashes),
        "last": st.none() | signs,
        "finished": few(signs),
        "resumed_at": maybe,
        "resumed_by": st.just("") | sessions,
        "ticked": st.none() | signs,
        "ticked_together": st.integers(1, 50),
        "worked": st.none() | signs,
        "committed": st.none() | signs,
        "claimed_at": maybe,
        "handed_off_at": maybe,
        "quiet": st.none() | quiets,
        "begun": st.booleans(),
        "family_at": maybe,
    }
)
evidences = facts.map(lambda known: model.Evidence(**known))


@many
@hypothesis.given(evidences, limits)
def test_every_task_is_judged(known: model.Evidence, patience: model.Limits) -> None:
    found = rules.judge(known, patience)
    assert len({each.type for each in found}) == len(found), "each type at most once"
    assert [each.rank for each in found] == sorted(each.rank for each in found)
    for each in found:
        assert each.type in model.TYPES
        assert 0 <= each.percent <= 100
        assert (each.grade == model.CERTAIN) == (each.percent == 100)
        assert each.reasons
        assert all(each.reasons)
        assert all(each.pointers)


def is_seen_gone(known: model.Evidence) -> bool:
    verdicts = {each.verdict for each in known.visits}
    if known.hold is not None:
        verdicts.add(known.hold.verdict)
    return "dead" in verdicts or any(each.are_dead for each in known.clashes)


def is_sure_of_too_much(known: model.Evidence, found: Iterable[model.Finding]) -> bool:
    """Is something called certain although nobody was seen to be gone?"""
    is_certain = any(each.grade == model.CERTAIN for each in found)
    return is_certain and not is_seen_gone(known)


@many
@hypothesis.given(evidences, limits)
def test_only_what_was_seen_to_be_gone_is_certain(
    known: model.Evidence, patience: model.Limits
) -> None:
    assert not is_sure_of_too_much(known, rules.judge(known, patience))


def test_control_a_judge_that_believes_in_silence_is_found() -> None:
    """What a rule would say that took an expired lease for a death."""

    def believes(known: model.Evidence) -> bool:
        found = rules.judge(known, model.Limits())
        sure = [each._replace(grade=model.CERTAIN) for each in found if each.percent >= 90]
        return is_sure_of_too_much(known, sure)

    seeking = hypothesis.settings(
        max_examples=5_000, phases=[hypothesis.Phase.generate], derandomize=True, database=None
    )
    assert believes(hypothesis.find(evidences, believes, settings=seeking))


@many
@hypothesis.given(evidences, holds, st.sampled_from(["alive", "suspect"]), limits)
def test_a_live_owner_makes_nothing_an_orphan_but_what_it_forgot(
    known: model.Evidence, hold: model.Hold, verdict: str, patience: model.Limits
) -> None:
    live = known._replace(hold=hold._replace(closed_at="", outcome="", verdict=verdict))
    found = {each.type for each in rules.judge(live, patience)}
    assert found & set(model.ORPHANED) <= {model.CONTEXT_LOST}


@many
@hypothesis.given(evidences, st.sampled_from(["done", "cancelled"]), limits)
def test_what_is_over_is_at_most_unproven(
    known: model.Evidence, state: str, patience: model.Limits
) -> None:
    over = known._replace(subject=known.subject._replace(state=state))
    assert {each.type for each in rules.judge(over, patience)} <= {model.DONE_UNPROVEN}


@many
@hypothesis.given(subjects, quiets, maybe, limits)
def test_what_was_never_started_is_at_most_half_done(
    subject: model.Subject, quiet: model.Quiet, family_at: str, patience: model.Limits
) -> None:
    """Nobody touched the task itself: only its parts may tell of it."""
    new = subject._replace(state="new")
    known = model.Evidence(new, clock.text(NOW_MS), quiet=quiet, family_at=family_at)
    found = {each.type for each in rules.judge(known, patience)}
    assert found <= {model.PARTIALLY_COMPLETED}


@many
@hypothesis.given(evidences, limits)
def test_folding_leaves_what_is_certain_and_what_is_no_orphan(
    known: model.Evidence, patience: model.Limits
) -> None:
    found = rules.judge(known, patience)
    rest = parking.folded(found)
    gone = [each for each in found if each not in rest]
    assert list(rest) == [each for each in found if each not in gone]
    assert all(e.grade == model.SUSPECT and e.type in model.ORPHANED for e in gone)
    assert parking.folded(rest) == rest


@many
@hypothesis.given(quiets, st.floats(0, 1e5), st.floats(1, 1e4))
def test_more_silence_never_lowers_the_probability(
    quiet: model.Quiet, more: float, stale_hours: float
) -> None:
    later = quiet._replace(
        touched_hours=quiet.touched_hours + more, alone_hours=quiet.alone_hours + more
    )
    before = silence.probability(quiet, stale_hours)
    assert 0 < before <= silence.probability(later, stale_hours) < 1


@many
@hypothesis.given(quiets, st.floats(1, 1e4), st.floats(0, 1e4))
def test_more_patience_never_raises_the_probability(
    quiet: model.Quiet, stale_hours: float, more: float
) -> None:
    patient = silence.probability(quiet, stale_hours + more)
    assert patient <= silence.probability(quiet, stale_hours)


@many
@hypothesis.given(quiets)
def test_what_makes_silence_telling_never_lowers_the_probability(quiet: model.Quiet) -> None:
    plain = quiet._replace(has_work=True, project_touches=0)
    assert silence.probability(plain) <= silence.probability(quiet)
    busy = quiet._replace(has_work=False, project_touches=500)
    assert silence.probability(quiet) <= silence.probability(busy)
