"""What makes a task an orphan: each rule, and each single thing without which it does not apply."""

from __future__ import annotations

import pytest

from tether import clock, ids, text
from tether.vacuum import model, rules

NOW_MS = clock.parse("2026-11-30T12:00:00.000Z")
LIMITS = model.Limits()
KEY = ids.TaskKey("track", "H.1.1")
HOUR, DAY = 1.0, 24.0


def ago(hours: float) -> str:
    return clock.text(NOW_MS - round(hours * model.HOUR_MS))


def minute(hours: float) -> str:
    return text.minute(ago(hours))


NOW = ago(0)


def subject(state: str = "in_progress", done: int = 0, total: int = 0) -> model.Subject:
    return model.Subject(
        KEY, "A house", state, "H", where="plans/TRACK-H.md:7", parts_done=done, parts_total=total
    )


def sign(hours: float, what: str = "edited (claude)") -> model.Sign:
    return model.Sign(ago(hours), what, f"file:work#{hours}", "s1")


def hold(
    verdict: str, hours: float = 2, *, closed: float | None = None, outcome: str = ""
) -> model.Hold:
    return model.Hold(
        "s1",
        "ada",
        ago(hours),
        ago(closed) if closed is not None else "",
        outcome,
        verdict,
        "as it was seen",
        "claim:H.1.1/7",
    )


def visit(
    last: float,
    session: str = "s1",
    *,
    first: float | None = None,
    over: float | None = None,
    worked: float | None = None,
    compacted: float | None = None,
    ending: str = "at_rest",
    verdict: str = "",
) -> model.Visit:
    """A session that did something about the task, last so many hours ago."""
    return model.Visit(
        session,
        ago(last if first is None else first),
        ago(last),
        ago(last if worked is None else worked),
        ago(compacted) if compacted is not None else "",
        ending,
        ago(last if first is None else first),
        ago(last if over is None else over),
        verdict,
        "as it was seen",
        f"file:{session}",
    )


def clash(hours: float = 3, *, are_over: bool = False) -> model.Clash:
    verdicts = ("dead", "dead") if are_over else ("", "")
    return model.Clash(ago(hours), "s1", "s2", "conflict:4", verdicts=verdicts)


def quiet(hours: float, **more: object) -> model.Quiet:
    return model.Quiet(hours, hours)._replace(**more)  # type: ignore[arg-type]


def known(**more: object) -> model.Evidence:
    """A task that somebody began, and what else a test says of it."""
    return model.Evidence(subject(), NOW)._replace(**more)  # type: ignore[arg-type]


def judge(evidence: model.Evidence, limits: model.Limits = LIMITS) -> list[model.Finding]:
    return list(rules.judge(evidence, limits))


def types(evidence: model.Evidence, limits: model.Limits = LIMITS) -> list[str]:
    return [each.type for each in judge(evidence, limits)]


def the(kind: str, evidence: model.Evidence, limits: model.Limits = LIMITS) -> model.Finding:
    [found] = [each for each in judge(evidence, limits) if each.type == kind]
    return found


# Of which nothing is wrong


def test_of_a_task_that_nobody_began_nothing_is_wrong() -> None:
    evidence = known(subject=subject("new"))
    assert judge(evidence) == []


def test_a_task_that_was_only_edited_or_planned_was_not_begun() -> None:
    evidence = known(subject=subject("new"), last=sign(1000), quiet=quiet(1000))
    assert judge(evidence) == []
    assert types(evidence._replace(begun=True)) == ["stale_in_progress"]


def test_a_task_in_good_hands_is_fine() -> None:
    evidence = known(hold=hold("alive"), last=sign(0.1), visits=(visit(0.1),), quiet=quiet(0.1))
    assert judge(evidence) == []


@pytest.mark.parametrize("state", ["done", "cancelled"])
def test_what_is_over_is_no_orphan_however_it_looks(state: str) -> None:
    evidence = known(
        subject=subject(state, 1, 2),
        hold=hold("dead", 240),
        clashes=(clash(240, are_over=True),),
        visits=(visit(240, ending="mid_turn", verdict="dead"),),
        last=sign(240),
        finished=(sign(240),),
        claimed_at=ago(240),
        quiet=quiet(240),
    )
    assert judge(evidence) == []


@pytest.mark.parametrize("state", ["new", "assigned", "in_progress", "error"])
def test_a_task_in_any_open_state_can_be_an_orphan(state: str) -> None:
    assert "dead_claim" in types(known(subject=subject(state), hold=hold("dead")))


# dead_claim: by the process of its owner


def test_a_claim_of_a_dead_process_is_certainly_dead() -> None:
    found = the("dead_claim", known(hold=hold("dead")))
    assert (found.grade, found.percent) == ("certain", 100)
    assert found.reasons == (f"ada has it since {minute(2)} and is dead: as it was seen",)
    assert found.pointers == ("claim:H.1.1/7",)


def test_an_owner_without_a_name_is_called_by_its_session() -> None:
    found = the("dead_claim", known(hold=hold("dead")._replace(agent="", pointer="")))
    assert found.reasons[0].startswith("s1 has it since")
    assert found.pointers == ()


def test_an_owner_whose_lease_ran_out_is_only_suspect() -> None:
    found = the("dead_claim", known(hold=hold("expired"), quiet=quiet(3)))
    assert found.grade == "suspect"
    assert found.percent < LIMITS.alert_percent, "a short silence is nobody's death"


def test_an_owner_whose_transcript_ends_in_the_middle_is_likely_gone() -> None:
    torn = visit(3, ending="mid_turn")
    evidence = known(hold=hold("expired"), visits=(torn,), claimed_at=ago(4), quiet=quiet(3))
    assert the("dead_claim", evidence).percent == 90


def test_long_silence_makes_it_likelier_that_an_expired_owner_is_gone() -> None:
    found = the("dead_claim", known(hold=hold("expired", 2400), quiet=quiet(2400)))
    assert (found.grade, found.percent) == ("suspect", 93)


def test_a_claim_that_was_taken_from_a_dead_owner_is_dead_until_somebody_has_it() -> None:
    taken = hold("dead", 5, closed=2, outcome="released_stale")
    found = the("dead_claim", known(hold=taken))
    assert found.grade == "certain"
    assert found.reasons == (f"ada had it until {minute(2)} and is dead: as it was seen",)


@pytest.mark.parametrize("outcome", ["released", "failed", "done", "handed_off", "parked"])
def test_a_task_that_its_owner_gave_back_is_no_dead_claim(outcome: str) -> None:
    """Returned and handed off: its owner may be dead by now, and did its duty."""
    given_back = hold("dead", 5, closed=2, outcome=outcome)
    assert types(known(hold=given_back)) == []


@pytest.mark.parametrize("verdict", ["alive", "suspect"])
def test_an_owner_that_may_be_at_work_makes_no_dead_claim(verdict: str) -> None:
    """A process of another user cannot be looked into (EPERM), so it is there: alive."""
    assert types(known(hold=hold(verdict))) == []


def test_an_owner_that_has_ended_well_is_no_dead_one() -> None:
    assert types(known(hold=hold("ended"))) == []


def test_of_an_owner_that_nobody_can_see_nothing_is_known() -> None:
    assert types(known(hold=hold(""))) == []


def test_without_a_claim_there_is_no_dead_one() -> None:
    assert types(known(last=sign(5), quiet=quiet(5))) == []


def test_a_task_that_was_begun_again_since_has_no_dead_claim() -> None:
    taken = hold("dead", 5, closed=3, outcome="released_stale")
    assert "dead_claim" not in types(known(hold=taken, resumed_at=ago(1)))
    assert "dead_claim" in types(known(hold=taken, resumed_at=ago(4)))
    assert "dead_claim" in types(known(hold=taken, resumed_at=taken.at)), "that was its own begin"


def test_what_the_dead_owner_itself_began_again_is_no_new_hand() -> None:
    taken = hold("dead", 5, closed=3, outcome="released_stale")
    again = known(hold=taken, resumed_at=ago(1), resumed_by="s1")
    assert "dead_claim" in types(again)
    assert "dead_claim" not in types(again._replace(resumed_by="s2"))


def test_a_task_on_which_another_session_worked_since_has_no_dead_claim() -> None:
    taken = hold("dead", 5, closed=3, outcome="released_stale")
    assert "dead_claim" not in types(known(hold=taken, visits=(visit(1, "s2", first=2),)))


@pytest.mark.parametrize(
    "nothing_since",
    [
        visit(1, "s1", first=2),  # the dead owner itself
        visit(4, "s2", first=4.5),  # before it was taken from its owner
        visit(1, "s2", first=9, worked=8),  # talked about it, and worked on it before
        visit(1, "s2", first=2)._replace(worked_at=""),  # only talked about it
    ],
)
def test_what_others_did_before_or_only_said_does_not_revive_it(nothing_since: model.Visit) -> None:
    taken = hold("dead", 5, closed=3, outcome="released_stale")
    assert "dead_claim" in types(known(hold=taken, visits=(nothing_since,)))


# dead_claim: by a transcript that ends in the middle


def torn(**more: object) -> model.Evidence:
    """Somebody claimed it, and its transcript ends in the middle of something."""
    return known(claimed_at=ago(6), last=sign(5), visits=(visit(5, ending="mid_turn"),))._replace(
        **more  # type: ignore[arg-type]
    )


def test_a_transcript_that_ends_in_the_middle_makes_a_claim_suspect() -> None:
    found = the("dead_claim", torn())
    assert (found.grade, found.percent) == ("suspect", 90)
    assert found.reasons == (f"session s1 stopped in the middle at {minute(5)}",)
    assert found.pointers == ("file:s1",)


def test_a_torn_transcript_of_a_dead_process_is_certain() -> None:
    found = the("dead_claim", torn(visits=(visit(5, ending="mid_turn", verdict="dead"),)))
    assert found.grade == "certain"
    assert found.reasons[-1] == "and is dead: as it was seen"


def test_a_torn_transcript_counts_where_nobody_can_see_the_owner() -> None:
    assert the("dead_claim", torn(hold=hold(""))).percent == 90


@pytest.mark.parametrize("verdict", ["alive", "suspect"])
def test_a_session_that_may_be_at_work_is_not_torn(verdict: str) -> None:
    assert types(torn(visits=(visit(5, ending="mid_turn", verdict=verdict),))) == []


@pytest.mark.parametrize("verdict", ["alive", "suspect"])
def test_an_owner_that_may_be_at_work_counts_more_than_a_torn_transcript(verdict: str) -> None:
    assert "dead_claim" not in types(torn(hold=hold(verdict)))


@pytest.mark.parametrize("ending", ["at_rest", "ended", "limited", ""])
def test_a_transcript_that_ends_otherwise_makes_no_dead_claim(ending: str) -> None:
    assert "dead_claim" not in types(torn(visits=(visit(5, ending=ending),)))


def test_a_torn_transcript_of_what_nobody_claimed_is_no_dead_claim() -> None:
    assert types(torn(claimed_at="")) == ["context_lost"]


def test_a_transcript_that_just_ended_may_go_on() -> None:
    assert types(torn(visits=(visit(0.9, ending="mid_turn"),), last=sign(0.9))) == []
    assert "dead_claim" in types(torn(visits=(visit(1.1, ending="mid_turn"),), last=sign(1.1)))


def test_a_session_that_goes_on_with_something_else_is_not_torn_yet() -> None:
    busy = visit(5, over=0.5, ending="mid_turn")
    assert "dead_claim" not in types(torn(visits=(busy,)))


def test_a_handoff_since_then_makes_a_torn_transcript_harmless() -> None:
    assert types(torn(handed_off_at=ago(4))) == []
    assert "dead_claim" in types(torn(handed_off_at=ago(6))), "it went on after that"


def test_a_handoff_may_be_the_last_deed_of_its_session() -> None:
    assert types(torn(handed_off_at=ago(5))) == []


def test_the_last_session_that_did_something_counts() -> None:
    first, last = visit(8, "s1", ending="mid_turn"), visit(5, "s2")
    assert types(torn(visits=(first, last))) == []
    assert "dead_claim" in types(torn(visits=(last._replace(last_at=ago(9)), first)))


def test_a_session_that_stepped_aside_does_not_count_as_the_last() -> None:
    """Of two in each other's way the first one named came later; it tried once, and let it be."""
    first, aside = visit(8, "s2", ending="mid_turn"), visit(5, "s1")
    found = the("dead_claim", torn(visits=(first, aside), clashes=(clash(6),)))
    assert found.reasons == (f"session s2 stopped in the middle at {minute(8)}",)
    worked = visit(5, "s1", first=7)
    assert "dead_claim" not in types(torn(visits=(first, worked), clashes=(clash(6),)))


# long_claim


def test_a_claim_of_more_than_a_day_is_long() -> None:
    found = the("long_claim", known(hold=hold("alive", 25), quiet=quiet(25)))
    assert found.grade == "suspect"
    assert found.reasons == ("ada has had it for 25 h (alive: as it was seen)",)
    assert found.pointers == ("claim:H.1.1/7",)


def test_a_claim_of_a_day_is_not_long_yet() -> None:
    assert types(known(hold=hold("alive", 24))) == []


def test_how_long_is_too_long_is_a_setting() -> None:
    short = LIMITS._replace(long_claim_ms=model.HOUR_MS)
    assert types(known(hold=hold("alive", 1)), short) == []
    assert types(known(hold=hold("alive", 1.1)), short) == ["long_claim"]


def test_a_claim_that_is_closed_is_not_long() -> None:
    assert types(known(hold=hold("alive", 48, closed=1, outcome="released"))) == []


@pytest.mark.parametrize("verdict", ["dead", "expired"])
def test_a_claim_of_somebody_who_is_gone_is_dead_and_not_long(verdict: str) -> None:
    assert types(known(hold=hold(verdict, 48))) == ["dead_claim"]


@pytest.mark.parametrize("verdict", ["", "ended", "suspect"])
def test_an_owner_that_nobody_can_see_may_have_it_for_long(verdict: str) -> None:
    assert "long_claim" in types(known(hold=hold(verdict, 48)))


def test_a_long_claim_of_which_nothing_else_is_known_is_told_all_the_same() -> None:
    found = the("long_claim", known(hold=hold("", 48)))
    assert (found.percent, found.reasons) == (0, ("ada has had it for 2 days",))


# conflict_abandoned


def test_a_conflict_that_nobody_finished_is_abandoned() -> None:
    found = the("conflict_abandoned", known(clashes=(clash(),)))
    assert (found.grade, found.percent) == ("suspect", 88)
    assert found.reasons == (f"s1 and s2 both wanted it at {minute(3)}, and neither finished it",)
    assert found.pointers == ("conflict:4",)


def test_a_conflict_of_two_that_are_gone_is_certainly_abandoned() -> None:
    found = the("conflict_abandoned", known(clashes=(clash(are_over=True),)))
    assert found.grade == "certain"
    assert found.reasons[0].endswith("; both are gone")


def test_a_conflict_with_somebody_unknown_names_no_name() -> None:
    nameless = clash()._replace(other="")
    found = the("conflict_abandoned", known(clashes=(nameless,)))
    assert found.reasons[0].startswith("s1 and another session both wanted it")


def test_the_last_of_several_conflicts_counts() -> None:
    both = (clash(9, are_over=True), clash(3))
    assert the("conflict_abandoned", known(clashes=both)).grade == "suspect"


def test_without_a_conflict_none_is_abandoned() -> None:
    assert "conflict_abandoned" not in types(known(last=sign(3)))


@pytest.mark.parametrize("verdict", ["alive", "suspect"])
def test_a_conflict_is_not_abandoned_while_somebody_has_the_task(verdict: str) -> None:
    assert types(known(clashes=(clash(are_over=True),), hold=hold(verdict))) == []


def test_a_conflict_of_just_now_may_still_be_settled() -> None:
    assert types(known(clashes=(clash(0.9),))) == []
    assert types(known(clashes=(clash(3),), last=sign(0.9))) == []
    assert types(known(clashes=(clash(3),), last=sign(1.1))) == ["conflict_abandoned"]


def test_who_takes_a_task_up_after_a_conflict_settles_it() -> None:
    assert types(known(clashes=(clash(3),), resumed_at=ago(2))) == []
    assert types(known(clashes=(clash(3),), resumed_at=ago(4))) == ["conflict_abandoned"]


@pytest.mark.parametrize(
    ("other", "is_settled"),
    [
        (visit(2, "s3"), True),
        (visit(2, "s2"), False),  # one of the two
        (visit(2, "s3", first=4), False),  # was there before
        (visit(2, "s3")._replace(worked_at=""), False),  # did nothing
        (visit(2, "s3")._replace(began_at=""), True),  # nobody knows when it began
    ],
)
def test_a_session_that_worked_on_it_afterwards_settles_a_conflict(
    other: model.Visit, *, is_settled: bool
) -> None:
    found = types(known(clashes=(clash(3),), visits=(other,)))
    assert ("conflict_abandoned" not in found) is is_settled


# context_lost


def compacted(**more: object) -> model.Evidence:
    """Its session compacted after the last thing that it did about the task."""
    return known(last=sign(5), visits=(visit(5, compacted=4, over=3, verdict="alive"),))._replace(
        **more  # type: ignore[arg-type]
    )


def test_a_session_that_compacted_has_forgotten_its_task() -> None:
    found = the("context_lost", compacted())
    assert (found.grade, found.percent) == ("suspect", 88)
    assert found.reasons == (f"session s1 compacted at {minute(4)} and forgot it",)
    assert found.pointers == ("file:s1",)


def test_a_session_that_went_on_after_its_compaction_has_not_forgotten_it() -> None:
    assert types(compacted(visits=(visit(5, compacted=6, verdict="alive"),))) == []


@pytest.mark.parametrize(
    ("ending", "percent", "how"),
    [("mid_turn", 90, "stopped in the middle"), ("limited", 88, "reached a usage limit")],
)
def test_a_session_that_was_cut_short_has_lost_its_task(
    ending: str, percent: int, how: str
) -> None:
    found = the("context_lost", compacted(visits=(visit(5, ending=ending),)))
    assert (found.grade, found.percent) == ("suspect", percent)
    assert found.reasons == (f"session s1 {how} at {minute(5)} and left no handoff",)


def test_a_session_that_died_has_lost_its_task() -> None:
    assert types(compacted(visits=(visit(5, verdict="dead"),))) == ["context_lost"]


@pytest.mark.parametrize("ending", ["at_rest", "ended", ""])
def test_a_session_that_came_to_its_end_has_lost_nothing(ending: str) -> None:
    assert types(compacted(visits=(visit(5, ending=ending),))) == []


@pytest.mark.parametrize("verdict", ["alive", "suspect"])
def test_a_session_that_may_be_at_work_was_not_cut_short(verdict: str) -> None:
    assert types(compacted(visits=(visit(5, ending="limited", verdict=verdict),))) == []


@pytest.mark.parametrize("handed", [5, 4])
def test_a_handoff_keeps_the_context(handed: float) -> None:
    assert types(compacted(handed_off_at=ago(handed))) == []


def test_a_handoff_of_before_does_not_tell_of_the_work_since() -> None:
    assert types(compacted(handed_off_at=ago(6))) == ["context_lost"]


def test_a_context_of_which_something_was_just_heard_is_not_lost() -> None:
    assert types(compacted(last=sign(0.9))) == []


def test_nobody_lost_the_context_of_a_task_that_somebody_else_has() -> None:
    other = hold("alive")._replace(session="s2")
    assert types(compacted(hold=other)) == []
    assert types(compacted(hold=hold("alive"))) == [], "it still has it, and can be reminded"
    assert types(compacted(hold=other._replace(verdict=""))) == ["context_lost"]


def test_without_a_session_no_context_is_lost() -> None:
    assert types(compacted(visits=())) == []


def test_a_session_that_only_talked_of_a_task_lost_nothing() -> None:
    assert types(compacted(subject=subject("new"), last=None)) == []


# stale_in_progress


def stale(hours: float, **more: object) -> model.Evidence:
    return known(last=sign(hours), quiet=quiet(hours))._replace(**more)  # type: ignore[arg-type]


def test_a_task_that_is_silent_for_a_week_is_stale() -> None:
    found = the("stale_in_progress", stale(168))
    assert (found.grade, found.percent) == ("suspect", 84)
    assert found.reasons == (f"nothing of its own since {minute(168)}, for 7 days",)
    assert found.pointers == ("file:work#168",)


@pytest.mark.parametrize("days", [0, 1, 3, 6])
def test_what_somebody_touched_within_the_week_is_not_stale(days: int) -> None:
    """The seed compares the wrong way round, and calls exactly these stale."""
    assert types(stale(days * DAY)) == []


@pytest.mark.parametrize("days", [7, 8, 30, 3650])
def test_what_nobody_touched_for_longer_is_stale(days: int) -> None:
    assert types(stale(days * DAY)) == ["stale_in_progress"]


def test_silence_alone_is_never_certain() -> None:
    found = the("stale_in_progress", stale(3650 * DAY))
    assert (found.grade, found.percent) == ("suspect", 93)


def test_after_how_much_silence_a_task_is_stale_is_a_setting() -> None:
    assert types(stale(25), LIMITS._replace(stale_ms=model.DAY_MS)) == ["stale_in_progress"]
    assert types(stale(200), LIMITS._replace(stale_ms=14 * model.DAY_MS)) == []


def test_how_sure_one_must_be_is_a_setting() -> None:
    assert types(stale(100), LIMITS._replace(alert_percent=60)) == ["stale_in_progress"]
    assert types(stale(200), LIMITS._replace(alert_percent=90)) == []


def test_what_makes_silence_telling_is_told() -> None:
    loud = quiet(130, has_work=False, touched_together=40, project_touches=200)
    assert the("stale_in_progress", stale(130, quiet=loud)).reasons[1:] == (
        "its last touch was a change of 40 tasks at once",
        "no trace of work on it",
        "others were touched 200 times in a week",
    )


def test_a_task_that_nobody_began_is_not_stale() -> None:
    assert types(stale(1000, subject=subject("new"), last=None)) == []


def test_a_task_of_which_no_touch_is_known_is_not_stale() -> None:
    assert types(stale(1000, quiet=None)) == []


def test_a_task_that_is_marked_or_was_claimed_may_be_stale_without_a_trace() -> None:
    found = the("stale_in_progress", stale(1000, last=None, claimed_at=ago(1000)))
    assert found.reasons[0].startswith(f"nothing of its own since {minute(1000)}")
    assert found.pointers == ()


@pytest.mark.parametrize("verdict", ["alive", "suspect"])
def test_a_task_that_somebody_alive_has_is_not_stale(verdict: str) -> None:
    assert types(stale(1000, hold=hold(verdict))) == []


@pytest.mark.parametrize(
    "nobody",
    [hold("", 1000), hold("ended", 1000), hold("alive", 1000, closed=900, outcome="released")],
)
def test_a_claim_of_nobody_does_not_keep_a_task_fresh(nobody: model.Hold) -> None:
    assert "stale_in_progress" in types(stale(1000, hold=nobody))


# partially_completed


def half(hours: float = 48, done: int = 1, total: int = 3, **more: object) -> model.Evidence:
    parts = subject("new", done, total)
    return known(subject=parts, family_at=ago(hours))._replace(**more)  # type: ignore[arg-type]


def test_a_task_with_some_parts_done_is_partially_completed() -> None:
    found = the("partially_completed", half())
    assert found.grade == "suspect"
    assert found.reasons == (f"1 of 3 parts are done, and nothing since {minute(48)}",)


@pytest.mark.parametrize(("done", "total"), [(0, 0), (0, 3), (3, 3)])
def test_without_parts_or_with_all_or_none_done_it_is_not_partial(done: int, total: int) -> None:
    assert "partially_completed" not in types(half(done=done, total=total))


def test_parts_that_were_touched_within_a_day_are_being_worked_on() -> None:
    assert types(half(24)) == []
    assert types(half(25)) == ["partially_completed"]


def test_what_was_done_about_the_task_itself_counts_too() -> None:
    assert types(half(48, last=sign(5))) == []
    both = half(100, last=sign(48))
    assert the("partially_completed", both).reasons[0].endswith(minute(48))
    assert the("partially_completed", both).pointers == ("file:work#48",)


def test_parts_of_which_nobody_knows_when_they_were_done_say_nothing() -> None:
    assert types(half(family_at="")) == []


@pytest.mark.parametrize("verdict", ["alive", "suspect"])
def test_a_part_of_a_task_that_somebody_has_is_on_its_way(verdict: str) -> None:
    assert "partially_completed" not in types(half(hold=hold(verdict, 2)))


def test_the_older_a_half_done_task_the_likelier_it_was_dropped() -> None:
    percents = [the("partially_completed", half(hours)).percent for hours in (25, 100, 200, 9999)]
    assert percents == sorted(percents)
    assert percents[-1] == 93


def worked_on(hours: float, **more: object) -> model.Evidence:
    """A session worked on it, and a commit names it."""
    commit = sign(hours, "committed (git)")._replace(pointer="commit:abc")
    evidence = known(last=commit, committed=commit, visits=(visit(hours),), begun=True)
    return evidence._replace(**more)  # type: ignore[arg-type]


def test_a_task_with_a_commit_in_its_name_is_partially_completed() -> None:
    found = the("partially_completed", worked_on(200))
    assert found.grade == "suspect"
    assert found.reasons == (f"a commit names it, and nothing since {minute(200)}",)
    assert found.pointers == ("commit:abc",)
    later = worked_on(300, last=sign(180))
    assert the("partially_completed", later).reasons[0].endswith(minute(180))
    assert "partially_completed" not in types(worked_on(48)), "it is in progress"
    assert "partially_completed" not in types(later._replace(hold=hold("alive")))


def test_a_task_without_parts_of_its_own_has_no_part_that_was_touched() -> None:
    assert "partially_completed" in types(worked_on(200, family_at=ago(1)))


def test_of_what_only_commits_tell_the_rest_may_be_nothing() -> None:
    assert "partially_completed" not in types(committed(400))


# done_unmarked


def said_done(**more: object) -> model.Evidence:
    evidence = known(last=sign(5), finished=(sign(5, "completed (coditect)"),))
    return evidence._replace(**more)  # type: ignore[arg-type]


def test_what_somebody_said_to_be_done_lacks_its_mark() -> None:
    found = the("done_unmarked", said_done())
    assert (found.grade, found.percent) == ("suspect", 90)
    assert found.reasons == (f"it is said to be done: completed (coditect), {minute(5)}",)
    assert found.pointers == ("file:work#5",)


def test_the_last_three_signs_are_told() -> None:
    signs = tuple(sign(hours, f"said {hours}") for hours in (9, 8, 7, 6))
    found = the("done_unmarked", said_done(finished=signs))
    assert [each.partition(": ")[2][:6] for each in found.reasons] == ["said 8", "said 7", "said 6"]


def test_a_commit_that_says_so_is_named() -> None:
    commit = sign(5, "committed (git)")._replace(pointer="commit:0123456789abcdef")
    [reason] = the("done_unmarked", said_done(finished=(commit,))).reasons
    assert reason == f"commit 0123456789ab says that it is done, {minute(5)}"


def test_what_was_begun_again_since_is_not_done() -> None:
    assert types(said_done(resumed_at=ago(4))) == []
    assert types(said_done(resumed_at=ago(6))) == ["done_unmarked"]


def test_what_a_later_session_worked_on_is_not_done() -> None:
    assert types(said_done(visits=(visit(3, "s2"),))) == []
    assert types(said_done(visits=(visit(3, "s2")._replace(worked_at=""),))) == ["done_unmarked"]


def test_what_its_own_session_still_tidied_up_is_done() -> None:
    """A last look takes minutes; who goes on for an hour was not done."""
    moment = said_done(visits=(visit(4.9, first=6),))
    assert types(moment) == ["done_unmarked"]
    assert types(said_done(visits=(visit(4, first=6),))) == []


@pytest.mark.parametrize("verdict", ["alive", "suspect"])
def test_somebody_who_has_it_will_mark_it(verdict: str) -> None:
    assert types(said_done(hold=hold(verdict))) == []


def test_a_task_of_which_all_parts_are_done_lacks_its_mark() -> None:
    found = the("done_unmarked", known(subject=subject(done=3, total=3)))
    assert (found.percent, found.reasons) == (84, ("all of its 3 parts are done",))
    assert found.pointers == ("plans/TRACK-H.md:7",)


def test_all_parts_are_less_than_a_word_and_do_not_silence_the_orphan() -> None:
    evidence = known(subject=subject(done=3, total=3), last=sign(400), quiet=quiet(400))
    assert types(evidence) == ["stale_in_progress", "done_unmarked"]


def test_a_task_of_which_nobody_did_anything_is_not_done_with_its_parts() -> None:
    assert types(known(subject=subject("new", 3, 3))) == []


def committed(hours: float = 48, **more: object) -> model.Evidence:
    commit = sign(hours, "committed (git)")._replace(pointer="commit:abc")
    evidence = known(last=commit, committed=commit, quiet=quiet(hours), begun=True)
    return evidence._replace(**more)  # type: ignore[arg-type]


def test_a_commit_in_its_name_and_nothing_since_may_have_finished_it() -> None:
    found = the("done_unmarked", committed())
    assert found.grade == "suspect"
    assert found.percent < LIMITS.alert_percent, "it may be the first of several"
    assert the("done_unmarked", committed(170)).percent == LIMITS.alert_percent
    assert the("done_unmarked", committed(4000)).percent == 89, "not as good as a word"
    assert found.reasons == ("commit abc is in its name, and nothing came since",)
    assert found.pointers == ("commit:abc",)


@pytest.mark.parametrize(
    "more",
    [
        {"visits": (visit(48),)},
        {"hold": hold("", 48, closed=40, outcome="released")},
        {"claimed_at": ago(50)},
        {"resumed_at": ago(47)},
        {"committed": None},
    ],
)
def test_where_more_than_git_tells_of_a_task_a_commit_is_no_end(more: dict[str, object]) -> None:
    assert "done_unmarked" not in types(committed()._replace(**more))  # type: ignore[arg-type]


def test_a_commit_of_today_may_have_a_second_one() -> None:
    assert types(committed(24)) == []
    assert types(committed(25)) == ["done_unmarked"]


def test_what_is_done_is_nobodys_orphan() -> None:
    evidence = said_done(
        subject=subject(done=1, total=3),
        hold=hold("expired", 240),
        clashes=(clash(240),),
        visits=(visit(240, first=241, ending="mid_turn"),),
        last=sign(240),
        finished=(sign(239),),
        claimed_at=ago(240),
        quiet=quiet(240),
    )
    assert types(evidence) == ["done_unmarked"]
    assert types(evidence._replace(finished=())) == [
        "dead_claim",
        "conflict_abandoned",
        "context_lost",
        "stale_in_progress",
        "partially_completed",
    ]


def test_who_is_dead_for_certain_is_told_of_whatever_was_said() -> None:
    evidence = said_done(hold=hold("dead", 240))
    assert types(evidence) == ["dead_claim", "done_unmarked"]


def test_of_what_only_commits_tell_a_commit_is_how_it_ends() -> None:
    new = committed(400, subject=subject("new"), begun=True)
    assert types(new) == ["done_unmarked"]
    started = committed(400, begun=True)
    assert types(started) == ["stale_in_progress", "done_unmarked"], "its list says that it began"
    assert types(new._replace(subject=subject("new", 1, 3))) == [
        "stale_in_progress",
        "partially_completed",
    ]


def test_a_claim_that_stays_open_for_days_is_told_although_the_task_is_done() -> None:
    assert types(said_done(hold=hold("", 48))) == ["done_unmarked", "long_claim"]


# done_unproven


def ticked(**more: object) -> model.Evidence:
    tick = model.Sign(ago(500), "ticked (git)", "commit:abc")
    return known(subject=subject("done"), ticked=tick, last=tick)._replace(**more)  # type: ignore[arg-type]


def test_a_tick_without_any_work_is_unproven() -> None:
    found = the("done_unproven", ticked())
    assert (found.grade, found.percent) == ("suspect", 50)
    assert found.reasons == (f"marked done at {minute(500)}, and nothing shows work on it",)
    assert found.pointers == ("commit:abc",)


def test_a_tick_among_many_is_told_as_such() -> None:
    [reason] = the("done_unproven", ticked(ticked_together=31)).reasons
    assert "together with 30 others" in reason


def test_a_tick_that_nobody_saw_needs_no_proof() -> None:
    assert types(ticked(ticked=None)) == []


@pytest.mark.parametrize(
    "proof",
    [
        {"worked": sign(501)},
        {"finished": (sign(501),)},
        {"visits": (visit(501),)},
        {"hold": hold("dead", 501, closed=500, outcome="done")},
    ],
)
def test_any_trace_of_work_proves_a_tick(proof: dict[str, object]) -> None:
    assert types(ticked(**proof)) == []


@pytest.mark.parametrize("state", ["new", "in_progress", "cancelled"])
def test_only_what_is_marked_done_needs_a_proof(state: str) -> None:
    assert "done_unproven" not in types(ticked(subject=subject(state)))


# All at once


def test_a_dead_claim_of_ten_days_is_also_stale() -> None:
    """The seed asks for staleness first, and never comes to the dead claim."""
    old = known(hold=hold("dead", 240), last=sign(240), claimed_at=ago(240), quiet=quiet(240))
    assert [(each.type, each.grade) for each in judge(old)] == [
        ("dead_claim", "certain"),
        ("stale_in_progress", "suspect"),
    ]


def test_findings_come_in_the_order_of_their_urgency() -> None:
    found = judge(
        known(
            subject=subject(done=1, total=3),
            hold=hold("", 240),
            clashes=(clash(240),),
            visits=(visit(239, "s3", first=241, ending="mid_turn"),),
            last=sign(239),
            claimed_at=ago(240),
            quiet=quiet(239),
        )
    )
    assert [each.type for each in found] == [
        "dead_claim",
        "conflict_abandoned",
        "context_lost",
        "stale_in_progress",
        "partially_completed",
        "long_claim",
    ]
    assert [each.rank for each in found] == sorted(each.rank for each in found)
    assert {each.grade for each in found} == {"suspect"}, "nobody saw a process"


@pytest.mark.parametrize("verdict", ["alive", "suspect"])
def test_a_live_owner_makes_nothing_an_orphan(verdict: str) -> None:
    evidence = known(
        subject=subject(done=1, total=3),
        hold=hold(verdict, 240),
        clashes=(clash(240, are_over=True),),
        visits=(visit(240, ending="mid_turn", verdict=verdict),),
        last=sign(240),
        finished=(sign(240),),
        committed=sign(240),
        claimed_at=ago(240),
        family_at=ago(240),
        quiet=quiet(240),
    )
    assert types(evidence) == ["long_claim"]


def test_every_rule_is_asked() -> None:
    names = {rule.__name__ for rule in rules.RULES}
    assert names == set(model.TYPES) - {model.NEVER_STARTED, model.PARKED_PROJECT}


def test_a_clock_that_went_back_is_no_silence() -> None:
    ahead = sign(-48)
    evidence = known(last=ahead, hold=hold("alive", -48), family_at=ago(-48), quiet=quiet(-48))
    assert judge(evidence) == []
