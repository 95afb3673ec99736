"""Which tasks a commit is work on: by its own words, and by the merge that brought it in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from tether.evidence import model as evidence
from tether.lineage.derive import brought, crediting
from tether.lineage.derive.crediting import Credit, Said
from tether.lineage.edges import model

ONE, TWO, THREE, FOUR = (f"task:work:T{number}" for number in (1, 2, 3, 4))


def named(*tasks: str, sure: float = crediting.NAMED) -> list[Credit]:
    return [Credit(each, sure, "named") for each in tasks]


def in_body(*tasks: str, sure: float = crediting.BY_BODY) -> list[Credit]:
    return [Credit(each, sure, "body") for each in tasks]


def credited(subject: str, *said: Credit) -> list[str]:
    return [each.task for each in of_merge(subject, said)]


def of_merge(subject: str, said: Iterable[Credit]) -> list[Credit]:
    [branch] = crediting.branches_of_merge(subject)
    return crediting.of_merge(branch, subject, said)


# What a commit says itself


def test_what_is_named_is_surer_than_what_the_body_tells() -> None:
    said = [Said(ONE, evidence.WORKED), Said(TWO, evidence.MENTIONED), Said(THREE, evidence.LISTED)]
    assert crediting.of_commit(said) == [
        Credit(ONE, crediting.NAMED, "named"),
        Credit(TWO, crediting.BY_THE_WAY, "body"),
        Credit(THREE, crediting.LISTED, "listed"),
    ]


def test_what_a_body_says_is_done_is_surer_than_what_it_tells_of() -> None:
    told = [Said(ONE, evidence.MENTIONED), Said(TWO, crediting.DONE), Said(TWO, "mentioned")]
    for said in (told, told[::-1]):
        found = {each.task: each.confidence for each in crediting.of_commit(said)}
        assert found == {ONE: crediting.BY_THE_WAY, TWO: crediting.BY_BODY}
    [alone] = crediting.of_commit(told[:1])
    assert crediting.BY_THE_WAY < alone.confidence < crediting.BY_BODY


def test_a_task_that_is_named_and_mentioned_is_named_in_any_order() -> None:
    both = [Said(ONE, evidence.MENTIONED), Said(ONE, evidence.STATED)]
    for said in (both, both[::-1]):
        assert crediting.of_commit(said) == named(ONE)


def test_many_in_one_subject_share_what_it_did() -> None:
    few = crediting.of_commit([Said(each, evidence.WORKED) for each in (ONE, TWO, THREE)])
    many = crediting.of_commit([Said(each, evidence.WORKED) for each in (ONE, TWO, THREE, FOUR)])
    assert {each.confidence for each in few} == {crediting.NAMED}
    assert max(each.confidence for each in many) < crediting.NAMED


def test_the_surest_word_on_each_task_counts() -> None:
    found = crediting.best([*in_body(ONE), *named(ONE), *in_body(TWO), *in_body(ONE)])
    assert found == [*named(ONE), *in_body(TWO)]


# What it did


@pytest.mark.parametrize(
    ("kinds", "files", "least", "most"),
    [
        (["body"], 1, 0.95, 0.95),
        (["body"], 30, 0.95, 0.95),
        (["body"], 120, 0.5, 0.5),
        (["introduced"], 1000, 0.95, 0.95),
        (["deleted"], 1000, 0.95, 0.95),
        (["formatting", "comment"], 1, 0.6, 0.65),
        (["formatting", "body"], 1, 0.95, 0.95),
        ([], 1, 0.95, 0.95),
    ],
)
def test_bulk_and_slight_changes_say_less(
    kinds: list[str], files: int, least: float, most: float
) -> None:
    [credit] = named(ONE)
    assert least <= crediting.sureness(credit, kinds, files, is_symbol=False) <= most
    assert crediting.sureness(credit, kinds, files, is_symbol=True) < most or most == 0.5


def test_what_is_unsure_gets_no_surer_by_being_slight_or_bulk() -> None:
    [credit] = in_body(ONE, sure=0.3)
    assert crediting.sureness(credit, ["comment"], 9000, is_symbol=False) == 0.3


@pytest.mark.parametrize(
    ("kinds", "verb"),
    [(["introduced", "deleted"], "created"), (["deleted"], "deleted"), (["move"], "touched")],
)
def test_what_was_done_is_named_by_its_kinds(kinds: list[str], verb: str) -> None:
    assert crediting.edge_type(kinds) == verb


# Merges


@pytest.mark.parametrize(
    ("subject", "branch"),
    [
        ("Merge branch 'T1-bell'", "T1-bell"),
        ("Merge branch 'T1-bell' into 'main'", "T1-bell"),
        ("Merge remote-tracking branch 'origin/T1' into next", "origin/T1"),
        ("Merge pull request #7 from anna/T1-bell", "anna/T1-bell"),
        ("Merge tag 'v1'", "v1"),
        ("T1: merge the bell", ""),
        ("Revert \"Merge branch 'T1'\"", ""),
        ("Merge T1 into main", ""),
        ("Merge branch '", ""),
    ],
)
def test_a_subject_says_what_was_brought_in(subject: str, branch: str) -> None:
    assert crediting.branches_of_merge(subject) == ((branch,) if branch else ())


def test_an_octopus_has_several_branches() -> None:
    subject = "Merge branches 'T1-bell', 'gong' and 'T2' into 'main'"
    assert crediting.branches_of_merge(subject) == ("T1-bell", "gong", "T2")


def test_a_branch_that_is_called_like_a_task_is_work_on_it() -> None:
    found = of_merge("Merge branch 'T1-bell'", named(ONE))
    assert found == [Credit(ONE, crediting.BROUGHT, "merge")]


def test_a_branch_that_it_went_into_is_not_what_was_brought() -> None:
    assert credited("Merge branch 'main' into T1-bell", *named(ONE)) == []
    assert credited("Merge branch 'T2' into T1-bell", *named(ONE, TWO)) == [TWO]


def test_a_branch_has_an_id_as_a_whole_only() -> None:
    ids = named(ONE, "task:work:T12", "task:work:T1.1")
    assert credited("Merge branch 'T12' into T1", *ids[:2]) == ["task:work:T12"]
    assert credited("Merge branch 'T1.1-bell' into T1", ids[0], ids[2]) == ["task:work:T1.1"]
    assert credited("Merge branch 't1-bell'", ids[0]) == [ONE]


def test_a_trailer_of_a_merge_says_it_too() -> None:
    assert credited("Merge branch 'aside'", *named(ONE)) == [ONE]


def test_the_only_task_of_a_body_is_what_was_brought_in() -> None:
    subject = "Merge pull request #7 from anna/bell"
    assert credited(subject, *in_body(ONE)) == [ONE]
    assert credited(subject, *in_body(ONE), *named(TWO)) == [TWO]


def test_it_is_never_surer_than_the_merge_itself() -> None:
    [found] = of_merge("Merge branch 'aside'", in_body(ONE, sure=0.6))
    assert found.confidence == 0.6


def test_of_several_tasks_of_a_body_none_is_surely_what_was_brought_in() -> None:
    several = crediting.of_commit([Said(o, evidence.MENTIONED) for o in (ONE, TWO, THREE)])
    found = of_merge("Merge pull request #7 from anna/batch", several)
    assert all(each.confidence < model.SURE for each in found)


# What a branch was of


def left(subject: str, *others: str, commits: int = 3) -> list[str]:
    """Whether the commits of a branch, some of them work on others, count for the first task."""
    [branch] = crediting.branches_of_merge(subject)
    meant = of_merge(subject, in_body(ONE))
    return [each.task for each in crediting.of_branch(branch, meant, others, commits)]


def test_a_short_branch_of_one_task_counts_for_it() -> None:
    subject = "Merge pull request #7 from anna/bell"
    assert left(subject) == left(subject, ONE) == left(subject, commits=30) == [ONE]


def test_a_line_on_which_everybody_works_counts_for_nobody() -> None:
    subject = "Merge pull request #7 from anna/agent-main"
    assert left(subject, TWO) == left(subject, ONE, TWO) == left(subject, commits=31) == []


def test_a_branch_that_is_called_after_a_task_is_of_it_whatever_is_in_it() -> None:
    meant = of_merge("Merge branch 'T1-bell'", named(ONE))
    assert crediting.of_branch("T1-bell", meant, [TWO, THREE], 500) == meant


# Commits that a merge brought in

HISTORY: dict[int, Sequence[int]] = {
    1: (), 2: (1,), 3: (2,), 4: (2,), 5: (4,), 6: (3, 5), 7: (6, 1), 8: (6, 7),
}  # fmt: skip


@pytest.mark.parametrize(("merge", "found"), [(6, [5, 4]), (3, []), (1, []), (7, []), (8, [7])])
def test_what_only_the_other_parent_leads_to_was_brought_in(merge: int, found: list[int]) -> None:
    assert brought.by_merge(HISTORY.__getitem__, merge) == found


def test_too_much_to_tell_is_nothing() -> None:
    chain: dict[int, Sequence[int]] = {number: (number - 1,) for number in range(2, 6001)}
    chain |= {1: (), 6001: (1,), 6002: (6001, 6000), 6003: (6001, 4000)}
    assert brought.by_merge(chain.__getitem__, 6002) == []
    assert len(brought.by_merge(chain.__getitem__, 6003)) == 3999


# 1 ── 2 ── 3 ──────── 9      each branch on its own line of first parents
#      ├── 4 ── 6 ── 7 ─┤
#      │    └── 8 ─────┤      8 was made upon 4
#      └── 5 ─┘               6 took 5 in
PARTED: dict[int, Sequence[int]] = {
    1: (), 2: (1,), 3: (2,), 4: (2,), 5: (2,), 6: (4, 5), 7: (6,), 8: (4,),
    9: (3, 7, 8), 10: (3, 7),
}  # fmt: skip


@pytest.mark.parametrize(
    ("merge", "lines"), [(9, [[7, 6], [8, 4]]), (10, [[7, 6, 4]]), (6, [[5]]), (3, []), (1, [])]
)
def test_a_branch_has_what_no_other_one_brought(merge: int, lines: list[list[int]]) -> None:
    assert brought.lines(PARTED.__getitem__, merge) == lines


@pytest.mark.parametrize(
    ("branch", "others", "commits", "counts"),
    [
        ("T1-bell", [TWO, THREE], 300, True),
        ("bell", [], 30, True),
        ("bell", [ONE], 5, True),
        ("bell", [ONE, TWO], 5, False),
        ("develop", [], 31, False),
    ],
)
def test_a_line_on_which_everybody_works_is_no_task_s_branch(
    branch: str, others: list[str], commits: int, *, counts: bool
) -> None:
    meant = [Credit(ONE, crediting.BROUGHT, "merge")]
    found = crediting.of_branch(branch, meant, others, commits)
    assert found == (meant if counts else [])
