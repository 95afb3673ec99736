"""What a report shows of a sweep, and in which words."""

from __future__ import annotations

import pytest

from tests.unit.test_vacuum_parking import NOW, ago
from tether import ids, text
from tether.vacuum import filtering, model, parking, report, reports, subjects, sweeps

ORDER = sweeps.Order(model.STANDARD, NOW, "ada", "house")
GONE = "cleo has it since 2026-11-15 09:31Z and is dead: there is no process 4242 any more"
POOL = parking.Track("track", "P", "TRACK-P", 0, 9, 9, ago(45))
WHOLE = parking.Track("project", "house", "house", 3, 9, 6, ago(9))


def found(kind: str = model.STALE_IN_PROGRESS, percent: int = 90, why: str = "so") -> model.Finding:
    grade = model.CERTAIN if percent == 100 else model.SUSPECT
    return model.Finding(kind, grade, percent, (why,), ())


def judged(
    task: str, *findings: model.Finding, track: str = "H", days: float = 9, priority: str = "normal"
) -> model.Judged:
    key = ids.TaskKey("track", task)
    subject = model.Subject(key, "Wall", "in_progress", track, priority=priority)
    last = model.Sign(ago(days), "worked", "file:x")
    return model.Judged(model.Evidence(subject, NOW, last=last), findings or (found(),))


def swept(
    *tasks: model.Judged,
    folded: tuple[model.Judged, ...] = (),
    parked: tuple[parking.Track, ...] = (),
) -> sweeps.Swept:
    counts = {model.NEVER_STARTED: 40}
    return sweeps.Swept(ORDER, tasks, folded, parked, (), counts, 60, {}, {}, total=70)


def known(*tasks: model.Judged) -> subjects.Subjects:
    return subjects.Subjects({each.subject.key: each.subject for each in tasks}, (), {})


def names(some: tuple[model.Judged, ...]) -> list[str]:
    return [each.subject.key.id for each in some]


def lines(one: sweeps.Swept, wanted: filtering.Filter | None = None, width: int = 80) -> list[str]:
    return report.page(filtering.choose(one, wanted or filtering.Filter()), 20, width)


# What is chosen


def test_a_task_is_told_by_the_most_urgent_finding_that_is_probable() -> None:
    """As `orient` counts it: what is less probable does not hide what is not."""
    lost = judged("H.1", found(model.DEAD_CLAIM, 41), found(model.CONTEXT_LOST, 88))
    done = judged("H.2", found(model.DEAD_CLAIM, 41), found(model.DONE_UNMARKED, 84))
    held = judged("H.3", found(model.PARTIALLY_COMPLETED, 41), found(model.LONG_CLAIM, 41))
    weak = judged("H.4", found(model.DEAD_CLAIM, 41))
    chosen = filtering.choose(swept(lost, done, held, weak), filtering.Filter())
    assert names(chosen.orphans) == ["H.1"]
    assert names(chosen.unmarked) == ["H.2"]
    assert names(chosen.others) == ["H.3"]
    assert chosen.left_out == 1
    assert report.compact(chosen) == "Orphaned Tasks: 1 (1 lost context)"
    everything = filtering.choose(swept(lost), filtering.Filter(everything=True))
    assert everything.orphans == (lost,)


def test_the_most_urgent_of_what_is_told_comes_first() -> None:
    lost = judged("H.1", found(model.DEAD_CLAIM, 41), found(model.CONTEXT_LOST, 88))
    both = judged("H.2", found(model.CONFLICT_ABANDONED, 88))
    stale = [judged("H.3", found(percent=84)), judged("H.4", found(percent=90))]
    one = swept(lost, both, *stale)
    assert names(filtering.choose(one, filtering.Filter()).orphans) == ["H.2", "H.1", "H.4", "H.3"]


def test_what_was_not_asked_for_is_not_left_out() -> None:
    weak = judged("H.1", found(model.DEAD_CLAIM, 41))
    parked = judged("P.1", track="P")
    one = swept(weak, judged("H.2"), folded=(parked,), parked=(POOL,))
    for wanted, number in [
        (filtering.Filter(), 2),
        (filtering.Filter(tracks=("h",)), 1),
        (filtering.Filter(tracks=("P",)), 1),
        (filtering.Filter(tracks=("A",)), 0),
        (filtering.Filter(types=(model.STALE_IN_PROGRESS,)), 1),
        (filtering.Filter(min_age_ms=10 * model.DAY_MS), 0),
    ]:
        chosen = filtering.choose(one, wanted)
        everything = filtering.choose(one, wanted._replace(everything=True))
        assert chosen.left_out == number, wanted
        assert len(everything.all) - len(chosen.all) == number, wanted
        assert everything.left_out == 0


def test_what_is_certain_of_a_parked_task_is_shown_and_not_left_out() -> None:
    dead, stale = found(model.DEAD_CLAIM, 100), found()
    one = swept(judged("P.1", dead), folded=(judged("P.1", dead, stale),), parked=(POOL,))
    assert filtering.choose(one, filtering.Filter()).left_out == 0


@pytest.mark.parametrize(("days", "is_shown"), [(21, True), (44, True), (46, False)])
def test_a_parked_track_is_as_old_as_its_own_silence(days: int, *, is_shown: bool) -> None:
    wanted = filtering.Filter(min_age_ms=days * model.DAY_MS)
    assert bool(filtering.choose(swept(parked=(POOL,)), wanted).parked) is is_shown
    written = POOL._replace(last_at="", born_at=ago(45))
    assert bool(filtering.choose(swept(parked=(written,)), wanted).parked) is is_shown


def test_a_track_of_which_nothing_is_known_was_always_silent() -> None:
    wanted = filtering.Filter(min_age_ms=999 * model.DAY_MS)
    assert filtering.choose(swept(parked=(POOL._replace(last_at=""),)), wanted).parked


# The summary


def test_a_summary_of_all_has_the_numbers_of_all() -> None:
    wanted = "Summary: 1 orphan, 1 parked track, 60 total unchecked, 40 never started"
    for some in (filtering.Filter(), filtering.Filter(projects=("house",), everything=True)):
        assert wanted in lines(swept(judged("H.1"), parked=(POOL,)), some)


def test_a_summary_of_some_tracks_has_their_numbers() -> None:
    tasks = [judged("H.1"), judged("H.2", track="h"), judged("P.1", track="P", priority="high")]
    one = swept(*tasks)._replace(older=frozenset(each.subject.key for each in tasks[1:]))
    for wanted, number, older in [
        (filtering.Filter(tracks=("H",)), 2, 1),
        (filtering.Filter(tracks=("P",)), 1, 1),
        (filtering.Filter(priorities=("normal",)), 2, 1),
        (filtering.Filter(tracks=("H",), priorities=("high",)), 0, 0),
    ]:
        chosen = filtering.choose(one, wanted, known(*tasks))
        [head] = [line for line in report.page(chosen, 20) if line.startswith("Summary")]
        assert head.startswith("Summary of what was asked for: ")
        assert head.endswith(f"0 parked tracks, {number} total unchecked"), wanted
        assert chosen.older == older, wanted


@pytest.mark.parametrize(
    "wanted",
    [
        filtering.Filter(types=(model.STALE_IN_PROGRESS,)),
        filtering.Filter(min_age_ms=model.DAY_MS),
        filtering.Filter(tracks=("H",), types=(model.STALE_IN_PROGRESS,)),
    ],
)
def test_what_cannot_be_told_of_some_is_left_out(wanted: filtering.Filter) -> None:
    task = judged("H.1")
    page = report.page(filtering.choose(swept(task), wanted, known(task)), 20)
    assert "Summary of what was asked for: 1 orphan, 0 parked tracks" in page


def test_a_project_that_is_parked_is_not_one_track() -> None:
    page = lines(swept(parked=(WHOLE,)))
    assert "Summary: 0 orphans, the project is parked, 60 total unchecked, 40 never started" in page
    assert "PARKED PROJECTS (no activity >7 days):" in page
    [one] = filtering.choose(swept(parked=(WHOLE,)), filtering.Filter(tracks=("H",))).parked
    assert one == WHOLE, "and so is each of its tracks"


def test_where_nothing_was_asked_for_that_is_there_the_others_are_counted() -> None:
    one = swept(judged("H.1"), judged("H.2"))
    page = lines(one, filtering.Filter(types=(model.CONTEXT_LOST,)))
    said = "Nothing of what was asked for was found. Orphans without these filters: 2."
    assert (said in page, "Nothing was dropped." in page) == (True, False)
    assert "Nothing was dropped." in lines(swept())
    assert "There are no tasks here, in no list." in lines(swept()._replace(total=0))


# A page


def test_a_reason_that_is_too_long_goes_on_below() -> None:
    page = lines(swept(judged("H.1", found(model.DEAD_CLAIM, 100, GONE))))
    at = page.index("ORPHANED TASKS (action required):")
    assert page[at + 2 : at + 5] == [
        "                certain: cleo has it since 2026-11-15 09:31Z and is dead: there",
        "                  is no process 4242 any more",
        "",
    ]
    wide = lines(swept(judged("H.1", found(model.DEAD_CLAIM, 100, GONE))), width=120)
    assert f"                certain: {GONE}" in wide


@pytest.mark.parametrize(
    ("why", "ends"),
    [("very " * 60 + "long", "…"), ("屋根" * 100, "…"), ("x" * 300, "…"), ("屋根 " * 20, "根")],
)
def test_a_reason_has_two_lines_at_most(why: str, ends: str) -> None:
    page = lines(swept(judged("H.1", found(why=why))))
    at = page.index("ORPHANED TASKS (action required):")
    reason = page[at + 2 : page.index("", at)]
    assert 1 <= len(reason) <= 2
    assert reason[-1].endswith(ends)
    assert [line for line in reason if text.cells(line) > 80] == []


# A document


def test_a_document_says_one_thing_on_each_line() -> None:
    one = swept(judged("H.1"), judged("H.2", found(model.DEAD_CLAIM, 41)))._replace(
        recorded=reports.Recorded(0, 1),
        before=reports.Sweep(1, model.STANDARD, ago(7), ago(7), "ada", "", "house", 0, {}),
        deferred=("track C", "track `P` | x"),
        older=frozenset([ids.TaskKey("track", "H.9")]),
    )
    document = report.document(filtering.choose(one, filtering.Filter()))
    assert [line for line in document.split("\n") if line.startswith("- ")][2:] == [
        "- Summary: 1 orphan, 0 parked tracks, 60 total unchecked, 40 never started",
        "- Deferred: `track C`, `track 'P' \\| x`",
        "- 0 new, 1 settled since 2026-11-23 12:00Z.",
        "- 1 less probable or of what is parked; --all shows them.",
        "- 1 task last touched more than 30 days ago; --deep looks at them too.",
    ]


# Who was last


def at_work(hold: model.Hold | None, *visits: model.Visit) -> model.Judged:
    one = judged("H.1")
    return one._replace(evidence=one.evidence._replace(hold=hold, visits=visits))


def visit(session: str, days: float) -> model.Visit:
    return model.Visit(session, ago(days), ago(days), verdict="expired")


HELD = model.Hold("s1", "cleo", ago(5), verdict="dead")
FREED = HELD._replace(closed_at=ago(3), outcome="released_stale")
GIVEN = HELD._replace(closed_at=ago(3), outcome="released")


@pytest.mark.parametrize(
    ("hold", "visits", "by"),
    [
        (HELD, (), "cleo, dead"),
        (HELD, (visit("s2", 1),), "cleo, dead"),
        (FREED, (), "cleo, dead"),
        (FREED, (visit("s1", 1),), "cleo, dead"),
        (FREED, (visit("s2", 4),), "cleo, dead"),
        (FREED, (visit("s2", 1),), "s2, expired"),
        (GIVEN, (visit("s2", 4),), "s2, expired"),
        (None, (visit("s2", 4),), "s2, expired"),
    ],
)
def test_a_page_names_who_had_it_also_when_it_was_freed(
    hold: model.Hold | None, visits: tuple[model.Visit, ...], by: str
) -> None:
    assert report.last(at_work(hold, *visits)) == f"{ago(9)[:10]} ({by})"


def test_of_what_was_given_back_nobody_is_named() -> None:
    assert report.last(at_work(GIVEN)) == ago(9)[:10]
    assert report.last(at_work(None)) == ago(9)[:10]


@pytest.mark.parametrize(
    ("hold", "owner"), [(HELD, "cleo"), (FREED, "cleo"), (GIVEN, ""), (None, "")]
)
def test_the_last_owner_has_it_or_had_it_until_it_was_freed(
    hold: model.Hold | None, owner: str
) -> None:
    assert at_work(hold).evidence.last_owner == owner


@pytest.mark.parametrize(
    ("hold", "visits", "session"),
    [
        (HELD, (visit("s0", 9), visit("s2", 6)), "s1"),
        (HELD, (visit("s2", 4),), "s2"),
        (HELD, (), "s1"),
        (None, (visit("s2", 4),), "s2"),
        (None, (), ""),
    ],
)
def test_the_last_session_is_that_of_the_last_visit_or_of_a_later_claim(
    hold: model.Hold | None, visits: tuple[model.Visit, ...], session: str
) -> None:
    one = at_work(hold, *visits)
    [row] = reports.rows_of([one])
    assert (one.evidence.last_session, row.last_session_id) == (session, session)


@pytest.mark.parametrize(
    ("kind", "number", "words"),
    [
        (model.DEAD_CLAIM, 1, "1 dead claim"),
        (model.DEAD_CLAIM, 2, "2 dead claims"),
        (model.CONFLICT_ABANDONED, 2, "2 conflicts"),
        (model.LONG_CLAIM, 0, "0 long claims"),
        (model.CONTEXT_LOST, 2, "2 lost context"),
        (model.STALE_IN_PROGRESS, 2, "2 stale"),
        (model.DONE_UNMARKED, 2, "2 done unmarked"),
    ],
)
def test_findings_are_counted_in_words(kind: str, number: int, words: str) -> None:
    assert model.counted(kind, number) == words
