"""What a biography says, word for word, and what it leaves out when there is no room."""

from __future__ import annotations

import re

import pytest

from tether.lineage.biography import fitting
from tether.lineage.biography.model import (
    Biography,
    Commit,
    Mention,
    Record,
    Relation,
    Source,
    Step,
    Story,
)
from tether.lineage.biography.telling import tell
from tether.lineage.edges import model as edges

# The stories of a freezer's bell. A commit is called by one sign, a task by its id.


def oid(sign: str) -> str:
    return sign * 40


def commit(
    sign: str, day: str, author: str = "Ann", subject: str = "Ring the bell", files: int = 2
) -> Commit:
    return Commit(oid(sign), f"{day}T10:00:00.000Z", author, subject, files)


def key(name: str) -> str:
    if ":" in name:
        return name
    return f"decision:{name}" if name.isdigit() else f"task:work:{name}"


def step(made: Commit, kinds: str, *tasks: str, sure: float = 0.95, **more: object) -> Step:
    known = Step(made, tuple(kinds.split()), tuple((key(each), sure) for each in tasks))
    return known._replace(**more)  # type: ignore[arg-type]


def record(name: str, title: str = "", closed: str = "", **more: object) -> Record:
    at = f"{closed}T18:00:00.000Z" if closed else ""
    place = f"docs/decisions/{name}.md" if name.isdigit() else f"work/done/{name}.yaml"
    known = Record(key(name), name, title, "done", "anna", "", at, pointer=f"file:{place}")
    return known._replace(**more)  # type: ignore[arg-type]


def edge(subject: str, kind: str, target: str, sure: float = 1.0, number: int = 0) -> Relation:
    pointer = f"file:work/done/{subject}.yaml#line=7"
    return Relation(key(subject), kind, key(target), sure, "", "task-text", pointer, number)


def story(*steps: Step, **more: object) -> Story:
    known = Story("src/bell.py#ring", "function ring", "src/bell.py:10-40", "node:b1", tuple(steps))
    return known._replace(**more)  # type: ignore[arg-type]


def lines(told: Story, *, budget: int = 2000, min_confidence: float = edges.SURE) -> list[str]:
    return [each.text for each in tell(told, budget=budget, min_confidence=min_confidence).lines]


def pointers(told: Biography, beginning: str) -> list[str]:
    [line] = [each for each in told.lines if each.text.startswith(beginning)]
    return [each.pointer for each in line.sources]


BORN = step(commit("1", "2026-03-02"), "introduced", "T1", added=30)
BELL = record(
    "T1",
    "Ring when it freezes",
    "2026-03-02",
    sentence="The freezer must ring before the food is lost.",
    sentence_field="plan",
)
CREATED = (
    "It was created by T1 “Ring when it freezes” (done, 2026-03-02, anna)."
    " Its plan says: “The freezer must ring before the food is lost.”"
)
HEAD = "Function ring stands in src/bell.py:10-40: "
LATER = step(commit("2", "2026-03-05"), "body", "T2", added=4, removed=1)


# Whole stories.


def test_a_task_that_created_it_is_told_with_its_sentence() -> None:
    assert lines(story(BORN, records=(BELL,))) == [
        f"{HEAD}1 task and 1 commit since 2026-03-02.",
        CREATED,
    ]


def test_commits_of_one_task_that_follow_each_other_are_one_line() -> None:
    told = story(
        BORN,
        step(commit("2", "2026-03-05"), "body", "T2", added=30, removed=2),
        step(commit("3", "2026-03-07"), "body signature", "T2", added=8, removed=10),
        step(commit("4", "2026-03-09"), "comment", "T2", added=2),
        records=(BELL, record("T2", "Ring twice", "2026-03-10", agent="bo")),
    )
    assert lines(told)[2:] == [
        (
            "T2 “Ring twice” (done, 2026-03-10, bo) changed it and its signature in 3 commits,"
            " +40 −12 lines, 2026-03-05 to 2026-03-09."
        )
    ]


def test_code_that_no_task_explains_says_so_with_its_commits() -> None:
    told = story(
        step(commit("1", "2026-01-02", subject="Add the bell."), "introduced", added=30),
        step(commit("2", "2026-01-05", "Bo Li", "Ring louder"), "body", added=3, removed=1),
    )
    assert lines(told) == [
        f"{HEAD}2 commits since 2026-01-02.",
        "No task explains it. Its commits:",
        "Commit 1111111 (2026-01-02, Ann) created it: “Add the bell.”",
        "Commit 2222222 (2026-01-05, Bo Li) changed it, +3 −1 lines: “Ring louder”.",
    ]


def test_a_task_without_a_record_is_told_from_its_commits() -> None:
    told = story(step(commit("1", "2026-01-02", subject="T9: add the bell"), "introduced", "T9"))
    assert lines(told)[1:] == [
        "It was created on 2026-01-02 by T9 (no record, Ann): “add the bell”."
    ]


def test_what_is_without_a_record_is_said_once() -> None:
    told = story(
        step(commit("1", "2026-01-02", subject="[T9] Add the bell"), "introduced", "T9"),
        step(commit("2", "2026-01-05", "Bo", "T8.patch"), "body", "T8", added=3),
        step(commit("3", "2026-01-07", "Bo", "T8: louder, see T9"), "body", "T8", added=1),
    )
    assert lines(told) == [
        f"{HEAD}2 tasks without a record and 3 commits since 2026-01-02.",
        "It was created on 2026-01-02 by T9 (Ann): “Add the bell”.",
        (
            "T8 (Bo) changed it in 2 commits, +4 lines, 2026-01-05 to 2026-01-07."
            " Commit 2222222 says: “T8.patch”."
        ),
    ]


def test_where_records_were_not_looked_for_nothing_is_said_of_them() -> None:
    one = story(step(commit("1", "2026-01-02", subject="T9: add the bell"), "introduced", "T9"))
    two = story(*one.steps, step(commit("2", "2026-01-05", "Bo", "T8: louder"), "body", "T8"))
    for told in (one, two):
        assert "record" in " ".join(lines(told))
        assert "record" not in " ".join(lines(told._replace(knows_records=False)))
    assert lines(one._replace(knows_records=False))[1].startswith(
        "It was created on 2026-01-02 by T9 (Ann): "
    )


def test_moves_that_follow_from_there_to_here_are_one() -> None:
    places = ["a/bell.py#ring", "b/bell.py#ring", "c/bell.py#ring", "b/bell.py#ring"]
    moving = [
        step(commit(sign, "2026-03-05"), "move", "T2", before=before, after=after)
        for sign, before, after in zip("234", places, places[1:], strict=False)
    ]
    assert lines(story(BORN, *moving[:2]))[2].startswith(
        "T2 (Ann) moved it from a/bell.py to c/bell.py in 2 commits, all on 2026-03-05."
    )
    back = moving[1:]
    assert lines(story(BORN, *back))[2].startswith(
        "T2 (Ann) moved it from b/bell.py to c/bell.py in commit 3333333"
        " and moved it from c/bell.py to b/bell.py in commit 4444444, all on 2026-03-05."
    )


def test_phases_come_in_their_order_and_each_is_chronological() -> None:
    told = story(
        BORN,
        step(commit("2", "2026-03-03"), "body", "T2"),
        step(commit("3", "2026-03-04"), "body", "T3", undoes=(oid("2"),)),
        step(commit("4", "2026-03-05"), "body", "T4"),
        step(commit("5", "2026-03-06"), "body", "T5"),
        step(commit("6", "2026-03-07"), "deleted", "T6"),
        records=tuple(record(f"T{n}", "Bell") for n in range(1, 7)),
        relations=(edge("T4", "supersedes", "T2"),),
    )
    assert lines(told) == [
        (
            "Function ring last stood in src/bell.py:10-40 and was removed on 2026-03-07:"
            " 6 tasks and 6 commits since 2026-03-02."
        ),
        "It was created on 2026-03-02 by T1 “Bell” (done, anna).",
        "T2 “Bell” (done, anna) changed it on 2026-03-03. This was undone by T3 on 2026-03-04.",
        "T5 “Bell” (done, anna) changed it on 2026-03-06.",
        "T3 “Bell” (done, anna) undid T2's change of 2026-03-03 on 2026-03-04.",
        "T4 “Bell” (done, anna) replaced T2's approach and changed it on 2026-03-05.",
        "It was removed on 2026-03-07 by T6 “Bell” (done, anna).",
    ]


def test_a_change_that_was_undone_and_applied_again_is_told_on_all_three_lines() -> None:
    told = story(
        BORN,
        LATER,
        step(commit("3", "2026-03-06"), "body", "T3", undoes=(oid("2"),), removed=3),
        step(commit("4", "2026-03-08"), "body", "T4", undoes=(oid("3"),), added=3),
        records=tuple(record(f"T{n}", "Bell") for n in range(1, 5)),
    )
    assert lines(told)[2:] == [
        (
            "T2 “Bell” (done, anna) changed it on 2026-03-05, +4 −1 lines."
            " This was undone by T3 on 2026-03-06 and applied again by T4 on 2026-03-08."
        ),
        (
            "T3 “Bell” (done, anna) undid T2's change of 2026-03-05 on 2026-03-06, −3 lines."
            " This was undone by T4 on 2026-03-08."
        ),
        "T4 “Bell” (done, anna) applied T2's change of 2026-03-05 again on 2026-03-08, +3 lines.",
    ]


def test_what_it_was_split_from_is_told_before_it_up_to_that_point() -> None:
    told = story(
        step(commit("1", "2026-01-02"), "introduced", "T1", is_ancestor=True),
        step(
            *(commit("2", "2026-01-04"), "rename", "T2"),
            before="src/box.py#go",
            after="src/box.py#run",
            is_ancestor=True,
        ),
        step(commit("3", "2026-01-05"), "body", "T8", is_ancestor=True, added=1),
        step(commit("4", "2026-03-02"), "introduced", "T4", origin="split from src/box.py#run"),
        records=(record("T1", "Box"), record("T2", "Names"), record("T4", "Split", "2026-03-02")),
    )
    assert lines(told) == [
        (
            "Function ring stands in src/bell.py:10-40, split from src/box.py#run on 2026-03-02:"
            " 4 tasks and 4 commits since 2026-01-02."
        ),
        "Before that, as src/box.py#go: it was created on 2026-01-02 by T1 “Box” (done, anna).",
        (
            "As src/box.py#run: T2 “Names” (done, anna) renamed it from go to run in commit 2222222"
            " on 2026-01-04."
        ),
        "As run: T8 (no record, Ann) changed it on 2026-01-05, +1 line: “Ring the bell”.",
        "It was split from src/box.py#run by T4 “Split” (done, 2026-03-02, anna).",
    ]


def test_code_that_was_removed_and_brought_back_has_two_lives() -> None:
    told = story(
        step(commit("1", "2026-01-02"), "introduced", "T1"),
        step(commit("2", "2026-01-03"), "deleted", "T2"),
        step(
            commit("3", "2026-01-04", subject='Revert "Drop it"'), "introduced", undoes=(oid("2"),)
        ),
        step(commit("4", "2026-01-05"), "body", "T1", added=1),
        records=(record("T1", "Bell"), record("T2", "Drop it")),
    )
    assert lines(told) == [
        f"{HEAD}2 tasks and 4 commits since 2026-01-02.",
        "It was created on 2026-01-02 by T1 “Bell” (done, anna).",
        (
            "It was removed on 2026-01-03 by T2 “Drop it” (done, anna)."
            " This was undone by commit 3333333 on 2026-01-04."
        ),
        'Commit 3333333 (2026-01-04, Ann) brought it back: “Revert "Drop it"”.',
        "T1 “Bell” (done, anna) changed it on 2026-01-05, +1 line.",
    ]


def test_a_file_is_told_like_a_symbol() -> None:
    told = story(
        step(commit("1", "2026-01-02", files=1333), "introduced", "T1"),
        step(commit("2", "2026-01-03"), "move", "T2", before="bell.py", after="src/bell.py"),
        records=(record("T1", "Begin"), record("T2", "Tidy")),
        name="file src/bell.py",
        place="src/bell.py",
    )
    assert lines(told) == [
        "File src/bell.py: 2 tasks and 2 commits since 2026-01-02.",
        "It was created on 2026-01-02 in a commit of 1,333 files by T1 “Begin” (done, anna).",
        (
            "T2 “Tidy” (done, anna) moved it from bell.py to src/bell.py in commit 2222222"
            " on 2026-01-03."
        ),
    ]


def test_a_commit_that_moved_very_many_files_is_told_once() -> None:
    told = story(
        step(commit("1", "2026-01-02"), "introduced", "T1"),
        step(commit("2", "2026-01-03", files=1333), "move", "T2", before="a.py", after="b.py"),
        records=(record("T1", "Begin"), record("T2", "Tidy")),
        name="file b.py",
        place="b.py",
    )
    assert lines(told)[-1] == (
        "T2 “Tidy” (done, anna) moved it from a.py to b.py in commit 2222222 of 1,333 files"
        " on 2026-01-03."
    )


def test_decisions_stand_in_the_lines_that_they_govern() -> None:
    told = story(
        BORN,
        LATER,
        records=(
            BELL,
            record("T2", "Ring twice"),
            record("0021", "The same function", status="accepted"),
            record("0020", "One name, one function", status="superseded"),
        ),
        relations=(edge("0021", "supersedes", "0020"), edge("0021", "governs", "T2")),
        governed=(edge("0020", "governs", "node:b1"),),
    )
    assert lines(told) == [
        (
            "Function ring stands in src/bell.py:10-40 under decision 0020 “One name, one function”"
            " (superseded by decision 0021): 2 tasks and 2 commits since 2026-03-02."
        ),
        CREATED,
        (
            "Under decision 0021 “The same function”, T2 “Ring twice” (done, anna) changed it"
            " on 2026-03-05, +4 −1 lines."
        ),
    ]


def test_what_is_not_known_is_said() -> None:
    told = story(
        LATER,
        records=(record("T2", "Ring twice"),),
        fallback="its language has no grammar",
        gaps=("the history ends at abc1234, because it is shallow",),
        as_of="2026-04-01",
    )
    assert lines(told) == [
        (
            "As of 2026-04-01, function ring stands in src/bell.py:10-40:"
            " 1 task and 1 commit since 2026-03-05."
        ),
        (
            "The symbol's own history is not available (its language has no grammar):"
            " this is the history of its file."
        ),
        "T2 “Ring twice” (done, anna) changed it on 2026-03-05, +4 −1 lines.",
        "May be incomplete: the history ends at abc1234, because it is shallow.",
    ]


def test_notes_and_documents_come_behind_the_changes() -> None:
    noted = BELL._replace(notes=("The bell is not yet heard\nat night.", "Risk: ice"))
    told = story(
        BORN,
        records=(noted,),
        mentions=(Mention("README.md", 27), Mention("docs/bell.md", 3, "The bell")),
    )
    assert lines(told)[2:] == [
        "Note: T1 says “The bell is not yet heard at night.”",
        "Note: T1 says “Risk: ice”.",
        "Also described in README.md:27 and docs/bell.md:3 “The bell”.",
    ]


RISK = "Risk: the frost sensor is not heated at night."
HEATED = record(
    "T2",
    "Heat the sensor",
    "2026-03-06",
    sentence="Fixed the frost sensor, it is heated at night.",
)
NOTED = story(
    BORN,
    LATER,
    records=(BELL._replace(notes=(RISK,)), HEATED),
    relations=(edge("T2", "follows-up", "T1"),),
)


def notes_of(told: Story) -> list[str]:
    return [each for each in lines(told) if each.startswith("Note: ")]


@pytest.mark.parametrize("kind", ["extends", "follows-up", "supersedes"])
def test_a_note_that_a_later_task_settled_is_not_told(kind: str) -> None:
    assert notes_of(NOTED._replace(relations=(edge("T2", kind, "T1"),))) == []
    assert notes_of(NOTED._replace(relations=(edge("T1", "motivates", "T2"),))) == []


@pytest.mark.parametrize(
    "told",
    [
        NOTED._replace(relations=()),
        NOTED._replace(relations=(edge("T2", "references", "T1"),)),
        NOTED._replace(relations=(edge("T2", "follows-up", "T1", 0.5),)),
        NOTED._replace(relations=(edge("T1", "follows-up", "T2"),)),
        NOTED._replace(steps=(LATER._replace(kinds=("introduced",)), BORN)),
        NOTED._replace(steps=(BORN,)),
        NOTED._replace(records=(NOTED.records[0], HEATED._replace(status="in_progress"))),
        NOTED._replace(records=(NOTED.records[0], HEATED._replace(status="cancelled"))),
        NOTED._replace(records=(NOTED.records[0], HEATED._replace(sentence="Fixed the bell."))),
        NOTED._replace(records=NOTED.records[:1]),
    ],
)
def test_in_doubt_a_note_stays(told: Story) -> None:
    assert notes_of(told) == [f"Note: T1 says “{RISK}”"]


def test_a_task_that_settled_the_risk_of_another_one_settled_its_only_note() -> None:
    said = HEATED._replace(sentence="It fixes the risk that T1 named.")
    one = NOTED.records[0]
    assert notes_of(NOTED._replace(records=(one, said))) == []
    two = one._replace(notes=(RISK, "TODO: a cover."))
    assert len(notes_of(NOTED._replace(records=(two, said)))) == 2


def test_code_that_is_gone_has_no_notes() -> None:
    gone = step(commit("3", "2026-03-07"), "deleted", "T3")
    assert notes_of(NOTED._replace(steps=(BORN, gone))) == []


def test_a_story_without_commits_says_so() -> None:
    assert lines(story()) == [f"{HEAD}no commit tells of it."]


# Days, tasks and agents.


def test_a_day_is_said_once_if_the_task_was_closed_on_it() -> None:
    assert (
        "It was created by T1 “Ring when it freezes” (done, 2026-03-02, anna)."
        in lines(story(BORN, records=(BELL,)))[1]
    )


def test_the_day_of_a_change_is_no_day_on_which_its_task_was_closed() -> None:
    told = lines(story(BORN, records=(record("T1", "Bell", "2026-04-01"),)))[1]
    assert told == "It was created on 2026-03-02 by T1 “Bell” (done, 2026-04-01, anna)."


def test_an_open_task_has_its_status_alone() -> None:
    told = lines(story(BORN, records=(record("T1", "Bell", status="in_progress", agent=""),)))[1]
    assert told == "It was created on 2026-03-02 by T1 “Bell” (in progress)."


def test_changes_of_the_task_that_created_it_stand_in_the_same_line() -> None:
    after = step(commit("2", "2026-03-05"), "body", "T1", added=4, removed=1)
    last = step(commit("3", "2026-03-09"), "body", "T1", added=4)
    bell = record("T1", "Bell")
    assert lines(story(BORN, after, records=(bell,)))[1:] == [
        (
            "It was created on 2026-03-02 by T1 “Bell” (done, anna), which then changed it,"
            " +4 −1 lines, on 2026-03-05."
        )
    ]
    assert lines(story(BORN, after, last, records=(bell,)))[1:] == [
        (
            "It was created on 2026-03-02 by T1 “Bell” (done, anna), which then changed it"
            " in 2 commits, +8 −1 lines, until 2026-03-09."
        )
    ]


def test_a_task_that_comes_back_after_another_one_changed_it_again() -> None:
    told = story(
        LATER,
        step(commit("3", "2026-03-06"), "body", "T3"),
        step(commit("4", "2026-03-07"), "body", "T2"),
        step(commit("5", "2026-03-07"), "body", "T2"),
        records=(record("T2", "Ring twice", sentence="One ring is missed."), record("T3", "Wire")),
    )
    assert lines(told)[1:] == [
        (
            "T2 “Ring twice” (done, anna) changed it on 2026-03-05, +4 −1 lines."
            " Its record says: “One ring is missed.”"
        ),
        "T3 “Wire” (done, anna) changed it on 2026-03-06.",
        "T2 “Ring twice” (done, anna) changed it again in 2 commits, all on 2026-03-07.",
    ]


def test_a_step_of_several_tasks_names_all_of_them_in_one_line() -> None:
    told = story(
        step(commit("2", "2026-03-05"), "signature", "T2", "T3"),
        records=(
            record("T2", "Ring twice", sentence="One ring is missed.", sentence_field="plan"),
            record("T3", "Wire"),
        ),
        relations=(edge("T3", "extends", "T0"), edge("T2", "extends", "T3")),
    )
    assert lines(told)[1:] == [
        (
            "T2 “Ring twice” (done, anna) and T3 “Wire” (done, anna) changed its signature"
            " on 2026-03-05. T2 built on T3. T3 built on T0. T2's plan says: “One ring is missed.”"
        )
    ]


def test_of_very_many_tasks_all_are_named() -> None:
    names = [f"T{number}" for number in range(30)]
    told = story(step(commit("2", "2026-03-05"), "body", *names))
    assert re.findall(r"\bT[0-9]+\b", lines(told)[1].split(" changed")[0]) == names


def test_a_task_that_is_not_sure_explains_nothing() -> None:
    perhaps = step(commit("1", "2026-03-05", subject="Tune"), "body", "T9", sure=0.6)
    hardly = step(commit("2", "2026-03-06", subject="Tune"), "body", "T9", sure=0.4)
    assert lines(story(perhaps, hardly)) == [
        f"{HEAD}2 commits since 2026-03-05.",
        "No task explains it for sure. Its commits:",
        "Commit 1111111 (2026-03-05, Ann, perhaps for T9) changed it: “Tune”.",
        "Commit 2222222 (2026-03-06, Ann) changed it: “Tune”.",
    ]
    assert lines(story(perhaps), min_confidence=0.5)[1].startswith("T9 (no record, Ann) changed it")


def test_a_large_commit_is_for_the_task_that_it_names() -> None:
    large = commit("1", "2026-03-05", subject="T9: move", files=300)
    moved = step(large, "move", "T9", "T8", sure=0.5, named=("task:work:T9",))
    assert "(2026-03-05, Ann, for T9, perhaps for T8, 300 files)" in lines(story(moved))[2]


def test_a_claim_of_creation_needs_a_commit_that_introduced_it() -> None:
    assert not any("created" in each for each in lines(story(LATER)))


def test_tasks_of_two_lists_with_one_id_are_told_apart() -> None:
    told = story(step(commit("2", "2026-03-05"), "body", "task:work:T2", "task:beads:T2"))
    assert "work:T2 (Ann) and beads:T2 (Ann) changed it" in lines(told)[1]


def test_a_title_that_a_record_lacks_is_replaced_by_a_commit() -> None:
    told = story(LATER, records=(record("T2"),))
    assert lines(told)[1].endswith("+4 −1 lines: “Ring the bell”.")


# Edges.


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("supersedes", "replaced T1's approach"),
        ("reverts", "undid part of T1's change"),
        ("extends", "built on T1"),
        ("follows-up", "followed up T1"),
    ],
)
def test_an_edge_is_the_verb_of_the_later_task(kind: str, words: str) -> None:
    told = story(
        BORN, LATER, records=(BELL, record("T2", "Twice")), relations=(edge("T2", kind, "T1"),)
    )
    assert f"T2 “Twice” (done, anna) {words} and changed it" in lines(told)[2]
    assert lines(told)[1] == CREATED


def test_a_task_that_another_one_led_to_came_from_it() -> None:
    told = story(BORN, LATER, relations=(edge("T1", "motivates", "T2"),))
    assert "T2 (Ann) came from T1 and changed it" in lines(told)[2]


def test_edges_of_one_kind_are_one_verb() -> None:
    relations = (edge("T2", "extends", "T8"), edge("T2", "extends", "T1"))
    told = story(BORN, LATER, relations=relations, records=(BELL, record("T8", "Wire the box")))
    assert "built on T8 “Wire the box” and T1 and changed it" in lines(told)[2]


def test_two_derivers_that_found_one_edge_make_one_verb() -> None:
    relations = (edge("T2", "extends", "T1"), edge("T2", "extends", "T1", 0.8, 5))
    told = lines(story(BORN, LATER, relations=relations))[2]
    assert told.count("built on") == 1


def test_the_task_that_created_it_has_its_edges_behind_its_name() -> None:
    told = story(BORN, records=(BELL,), relations=(edge("T1", "extends", "T0"),))
    assert "(done, 2026-03-02, anna), which built on T0." in lines(told)[1]


def test_a_task_that_is_not_in_the_story_is_told_by_the_one_that_is() -> None:
    told = story(
        BORN,
        records=(BELL, record("T9", "Ring by wire")),
        relations=(edge("T9", "supersedes", "T1"),),
    )
    assert " T1 was replaced by T9 “Ring by wire”." in lines(told)[1]


def test_a_decision_that_was_replaced_is_no_approach() -> None:
    told = story(LATER, relations=(edge("T2", "supersedes", "0020"),))
    assert "replaced decision 0020 and changed it" in lines(told)[1]


def test_a_contradiction_is_a_sentence_of_its_own() -> None:
    told = story(BORN, LATER, relations=(edge("T2", "contradicts", "T1"),))
    assert " T2 contradicts T1." in lines(told)[2]


def test_an_edge_that_is_not_sure_is_not_told() -> None:
    relations = (edge("T2", "extends", "T1", 0.6),)
    assert "built on" not in lines(story(BORN, LATER, relations=relations))[2]
    assert "built on" in lines(story(BORN, LATER, relations=relations), min_confidence=0.6)[2]


def test_a_reversal_that_commits_show_is_not_told_from_text_again() -> None:
    undoing = step(commit("3", "2026-03-06"), "body", "T3", undoes=(oid("2"),))
    told = lines(story(BORN, LATER, undoing, relations=(edge("T3", "reverts", "T2"),)))[3]
    assert told.count("undid") == 1


def test_an_edge_of_a_type_that_nobody_knows_is_not_told() -> None:
    relations = (edge("T2", "envies", "T1"), edge("T2", "touched", "T1"))
    assert lines(story(LATER, relations=relations)) == lines(story(LATER))


def test_a_mention_is_a_sentence_that_goes_first() -> None:
    told = story(BORN, LATER, relations=(edge("T2", "references", "T1"),))
    assert " T2 mentions T1." in lines(told)[2]
    assert " T2 mentions T1." not in lines(told, budget=5)[2]


# What commits did.


def test_only_the_last_step_of_a_moving_task_is_where_it_stands() -> None:
    told = story(
        step(
            *(commit("2", "2026-03-05"), "move rename body", "T2"),
            before="a.py#run",
            after="b.py#go",
        ),
        step(commit("3", "2026-03-06"), "container", "T2", before="b.py#A.go", after="b.py#B.go"),
        records=(record("T2", "Tidy"),),
    )
    assert lines(told)[1] == (
        "T2 “Tidy” (done, anna) moved and renamed it from a.py#run to b.py#go in commit 2222222,"
        " moved it from A.go to B.go in commit 3333333 and changed it, 2026-03-05 to 2026-03-06."
    )


def test_a_rename_has_its_names_and_a_move_its_places() -> None:
    renamed = step(commit("2", "2026-03-05"), "rename", before="a.py#run", after="a.py#go")
    moved = step(commit("3", "2026-03-05"), "move", before="a.py#go", after="b.py#go")
    unsaid = step(commit("4", "2026-03-05"), "move", before="b.py#go")
    told = lines(story(renamed, moved, unsaid))
    assert " renamed it from run to go: " in told[2]
    assert " moved it from a.py to b.py: " in told[3]
    assert " moved it from b.py#go: " in told[4]


def test_what_it_took_in_is_said() -> None:
    told = story(LATER._replace(origin="took in box.py#shake"), records=(record("T2", "Tidy"),))
    assert lines(told)[1].endswith(" It took in box.py#shake in commit 2222222.")


def test_what_came_from_several_places_names_them() -> None:
    origin = "split from a.py#go, split from b.py#do, took in c.py#x, took in c.py#y z"
    told = lines(story(BORN._replace(origin=origin), records=(BELL,)))[1]
    assert told.startswith("It was split from a.py#go and b.py#do by T1 “Ring when it freezes”")
    assert " It took in c.py#x and “c.py#y z” in commit 1111111." in told


def test_what_changed_in_it_is_said_as_far_as_that_is_known() -> None:
    said = [
        lines(story(step(commit("2", "2026-03-05"), kinds, "T2")))[1].split("Ann) ")[1]
        for kinds in ("body", "signature", "body signature", "comment formatting", "annotation")
    ]
    assert [each.partition(" on ")[0] for each in said] == [
        "changed it",
        "changed its signature",
        "changed it and its signature",
        "changed only its layout and comments",
        "changed only its annotations",
    ]


def test_what_changed_in_a_section_is_its_heading() -> None:
    told = lines(story(step(commit("2", "2026-03-05"), "heading"), name="section Bell"))
    assert " changed its heading: " in told[2]


def test_runs_of_slight_commits_are_summed_up() -> None:
    told = story(
        BORN,
        step(commit("2", "2026-03-05"), "formatting"),
        step(commit("3", "2026-03-06"), "formatting"),
        step(commit("4", "2026-03-07"), "body", "T4"),
        step(commit("5", "2026-03-08"), "documentation"),
        step(commit("6", "2026-03-09", files=400), "body"),
        records=(BELL, record("T4", "Wire")),
    )
    assert lines(told)[2:] == [
        "2 commits only changed its layout, 2026-03-05 to 2026-03-06.",
        "T4 “Wire” (done, anna) changed it on 2026-03-07.",
        (
            "1 commit only changed its documentation, and 1 commit of 100 files or more changed it,"
            " 2026-03-08 to 2026-03-09."
        ),
    ]


def test_slight_commits_do_not_part_the_commits_of_a_task() -> None:
    told = story(
        LATER,
        step(commit("3", "2026-03-06"), "formatting"),
        step(commit("4", "2026-03-07"), "body", "T2"),
        step(commit("5", "2026-03-08"), "formatting"),
    )
    assert "changed it in 2 commits" in lines(told)[1]
    assert lines(told)[2].startswith("2 commits only changed its layout")


def test_a_large_commit_that_moved_it_is_told() -> None:
    moved = step(commit("2", "2026-03-05", files=400), "move", before="a.py#go", after="b.py#go")
    assert lines(story(moved))[2] == (
        "Commit 2222222 (2026-03-05, Ann, 400 files) moved it from a.py to b.py: “Ring the bell”."
    )


def test_steps_that_did_nothing_are_not_told() -> None:
    merge = step(commit("5", "2026-03-09", subject="Merge branch 'b'"), "")
    assert lines(story(BORN, merge)) == lines(story(BORN))


# Reversals.


def test_a_commit_without_a_task_can_undo_too() -> None:
    undoing = step(
        commit("3", "2026-03-06", subject='Revert "Ring"'), "body", undoes=(oid("2"),), removed=3
    )
    told = lines(story(LATER, undoing))
    assert " This was undone by commit 3333333 on 2026-03-06." in told[1]
    assert told[2] == (
        "Commit 3333333 (2026-03-06, Ann) undid T2's change of 2026-03-05, −3 lines:"
        ' “Revert "Ring"”.'
    )


def test_what_a_task_undid_of_its_own_is_said() -> None:
    undoing = step(commit("3", "2026-03-06"), "body", "T2", undoes=(oid("2"),))
    assert " undid its own change of 2026-03-05 on 2026-03-06: “" in lines(story(LATER, undoing))[2]


def test_an_undone_commit_that_the_story_lacks_is_named() -> None:
    told = story(step(commit("3", "2026-03-06"), "body", "T2", undoes=(oid("9"),)))
    assert "undid commit 9999999 on 2026-03-06" in lines(told)[1]


def test_a_change_among_several_that_was_undone_is_named() -> None:
    told = story(
        LATER,
        step(commit("3", "2026-03-06"), "body", "T2"),
        step(commit("4", "2026-03-07"), "body", "T4", undoes=(oid("3"),)),
    )
    assert (
        " The change of 2026-03-06 (commit 3333333) was undone by T4 on 2026-03-07."
        in lines(told)[1]
    )


def test_a_removal_that_undid_the_creation_says_so() -> None:
    gone = step(commit("3", "2026-03-06"), "deleted", "T3", undoes=(oid("1"),))
    told = lines(story(BORN, gone, records=(BELL, record("T3", "Drop it"))))
    assert " This was undone by T3 on 2026-03-06." in told[1]
    assert told[2] == (
        "It was removed on 2026-03-06 by T3 “Drop it” (done, anna),"
        " which undid T1's change of 2026-03-02."
    )


def test_reversals_in_a_circle_have_an_end() -> None:
    first = step(commit("1", "2026-03-05"), "body", "T1", undoes=(oid("2"),))
    second = step(commit("2", "2026-03-06"), "body", "T2", undoes=(oid("1"),))
    assert "undid commit 2222222" in lines(story(first, second))[1]


# What others wrote.


def test_a_title_cannot_be_taken_for_words_of_the_biography() -> None:
    sly = record("T1", "Bell”. It was removed by T2 “Drop\nit\x1b[31m", sentence="Say “no”.\n\nNo.")
    assert lines(story(BORN, records=(sly,)))[1] == (
        "It was created on 2026-03-02 by T1 “Bell’. It was removed by T2 ‘Drop it” (done, anna)."
        " Its record says: “Say ‘no’. No.”"
    )


def test_a_path_that_could_speak_is_quoted() -> None:
    told = story(name="file a. It was removed", place="a. It was removed")
    assert lines(told) == ["File “a. It was removed”: no commit tells of it."]


def test_an_author_that_could_speak_is_quoted() -> None:
    told = story(step(commit("1", "2026-03-05", "Ann) removed it. (Bo"), "body"))
    assert "(2026-03-05, “Ann) removed it. (Bo”) changed it" in lines(told)[2]


def test_long_titles_and_sentences_are_cut() -> None:
    long = record("T1", "bell " * 50, sentence="ring " * 100)
    told = lines(story(BORN, records=(long,)))[1]
    assert "bell…” (done" in told
    assert told.endswith("ring…”")
    assert len(told) < 450


def test_a_day_that_is_none_is_not_told() -> None:
    odd = Commit(oid("1"), "soon\nIt was removed", "", "", 1)
    assert lines(story(Step(odd, ("body",)))) == [
        f"{HEAD}1 commit.",
        "No task explains it. Its commit:",
        "Commit 1111111 changed it.",
    ]


# Sources.


def test_every_line_has_what_it_stands_on() -> None:
    told = tell(
        story(
            BORN,
            LATER,
            step(commit("3", "2026-03-06"), "body", "T3", undoes=(oid("2"),)),
            records=(BELL, record("T2", "Twice")),
            relations=(edge("T2", "extends", "T0", 1.0, 17),),
            mentions=(Mention("README.md", 27),),
        )
    )
    assert pointers(told, "It was created") == [
        f"commit:{oid('1')}",
        "file:work/done/T1.yaml",
    ]
    assert pointers(told, "T2 “Twice”") == [
        f"commit:{oid('2')}",
        "file:work/done/T2.yaml",
        "edge:t17",
        "file:work/done/T2.yaml#line=7",
        f"commit:{oid('3')}",
    ]
    assert pointers(told, "Function ring") == [
        f"commit:{oid('1')}",
        f"commit:{oid('3')}",
        "file:src/bell.py#line=10",
    ]
    assert pointers(told, "Also described") == ["file:README.md#line=27"]
    assert Source("task", "file:work/done/T1.yaml") in told.lines[1].sources


# Budgets.


def long_story() -> Story:
    """Thirty tasks, ten commits without, one reversal, and a document."""
    steps = [BORN]
    for number in range(30):
        made = Commit(
            f"a{number:02d}" + "0" * 37, f"2026-04-{number + 1:02d}T10:00:00Z", "Ann", "Do", 2
        )
        steps.append(step(made, "body", f"A{number}", added=1))
        if number % 3 == 0:
            other = made._replace(oid=f"c{number:02d}" + "0" * 37, subject="By the way")
            steps.append(step(other, "body", added=1))
    steps.insert(9, step(commit("e", "2026-04-05"), "body", "R1", undoes=(steps[1].commit.oid,)))
    names = [f"A{number}" for number in range(30)]
    return story(
        *steps,
        records=(
            BELL,
            *(record(each, "Do it", sentence="It was needed because of ice.") for each in names),
        ),
        relations=tuple(edge(each, "references", "T1") for each in names),
        mentions=(Mention("README.md", 27),),
        gaps=("the history is shallow",),
    )


def test_without_room_what_matters_stays() -> None:
    told = tell(long_story(), budget=0)
    assert told.is_truncated
    assert [each.text.split(" (")[0].split(" says")[0] for each in told.lines] == [
        f"{HEAD}32 tasks and 42 commits since 2026-03-02.",
        "It was created by T1 “Ring when it freezes”",
        "A29 “Do it”",
        "R1",
        "May be incomplete: the history is shallow.",
        "40 more lines had no room and 2 were shortened; --budget 1214 shows all.",
    ]
    assert told.dropped_count == 40


@pytest.mark.parametrize("kind", ["reverts", "supersedes"])
def test_a_reversal_that_an_edge_tells_stays_too(kind: str) -> None:
    known = long_story()
    told = known._replace(relations=(*known.relations, edge("A7", kind, "A3")))
    kept = tell(told, budget=0).prose
    assert "\nA7 “Do it”" in kept
    assert "\nA8 “Do it”" not in kept


MARKS = ("mentions T1", "By the way", "because of ice", "“Do it”", "README.md")
"""What each rank of the long story can be told by, the weakest first."""


def marked(told: Biography) -> list[int]:
    return [told.prose.count(mark) for mark in MARKS]


def test_nothing_goes_while_something_weaker_is_left() -> None:
    least, most = (marked(tell(long_story(), budget=n)) for n in (0, 100_000))
    assert all(one < other for one, other in zip(least, most, strict=True))
    for budget in range(0, 2000, 10):
        found = marked(tell(long_story(), budget=budget))
        going = [place for place in range(len(MARKS)) if least[place] < found[place] < most[place]]
        assert len(going) <= 1
        for place in range(len(MARKS) - 1):
            assert found[place] == least[place] or found[place + 1] == most[place + 1]


def test_of_lines_that_matter_the_same_the_oldest_go_first() -> None:
    some = tell(long_story(), budget=500).prose
    kept = [number for number in range(30) if f"A{number} “Do it”" in some]
    assert 1 < len(kept) < 30
    assert kept == list(range(kept[0], 30))


def test_a_budget_is_kept() -> None:
    for budget in range(300, 2500, 100):
        assert len(tell(long_story(), budget=budget).prose) <= budget * 4


def test_the_last_line_counts_what_had_no_room() -> None:
    drafts = [fitting.Draft((fitting.Part("x" * 99, fitting.TASK), fitting.Part("y", 0)))] * 3
    assert fitting.fit(drafts, 50).lines[-1].text == (
        "2 more lines had no room and 1 was shortened; --budget 77 shows all."
    )
    assert fitting.fit(drafts[:1], 0).lines[-1].text == (
        "1 more line had no room; --budget 26 shows all."
    )
    few = [fitting.Draft((fitting.Part("x", fitting.KEPT), fitting.Part("y" * 99, 0)))]
    assert fitting.fit(few, 5).lines[-1].text == "1 line was shortened; --budget 26 shows all."
    assert fitting.fit(few, 5).dropped_count == 0
