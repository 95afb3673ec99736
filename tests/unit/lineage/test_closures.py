"""Questions about code, tasks and decisions: what they find, leave out, and where they stop."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import weaving
from tests.weaving import Web, day, decision, task
from tether.lineage.closures import (
    decisions,
    differences,
    features,
    related,
    reversals,
    risks,
    shared,
)
from tether.lineage.edges import model, view
from tether.store import sql

DIRECTORY = Path(features.__file__).parent
STATEMENTS = sql.Queries("closures", str(DIRECTORY)).all()


@pytest.fixture
def web() -> Web:
    return Web()


def reached(found: related.Closure) -> list[model.Key]:
    return [each.task for each in found.tasks]


# Feature


def test_a_feature_tells_its_tasks_as_they_happened(web: Web) -> None:
    web.touch(2, "a.py#run", day_number=5)
    web.touch(1, "a.py#run", verb="created", day_number=1)
    web.touch(3, "a.py#run", verb="deleted", day_number=9)
    web.touch(4, "a.py#other", day_number=2)
    found = features.feature(web.view(), web.code("a.py#run"))
    told = [(each.key, each.at, each.attributions[0].edge.type) for each in found.tasks]
    assert told == [
        (task(1), day(1), "created"),
        (task(2), day(5), "touched"),
        (task(3), day(9), "deleted"),
    ]
    assert not found.is_truncated


def test_a_task_of_an_unknown_time_comes_last(web: Web) -> None:
    web.say("T1", web.edge(task(1), "declared", web.name("a.py")), deriver="declared")
    web.touch(2, "a.py", day_number=5)
    found = features.feature(web.view(), web.code("a.py"))
    assert [each.key for each in found.tasks] == [task(2), task(1)]


def test_a_feature_of_several_nodes_tells_each_task_once(web: Web) -> None:
    web.touch(1, "a.py", "a.py#run", day_number=1)
    [told] = features.feature(web.view(), web.code("a.py", "a.py#run")).tasks
    assert {each.edge.object for each in told.attributions} == {
        web.name("a.py"),
        web.name("a.py#run"),
    }


def test_the_evidence_of_a_feature_is_commits_and_lines(web: Web) -> None:
    for number in range(12):
        pointer = f"commit:{weaving.oid(str(number))}"
        edge = web.edge(
            task(1), "touched", web.name("a.py"), 0.9, day(number), pointer, added=number
        )
        web.say(pointer, edge, deriver="kg-attribution")
    [told] = features.feature(web.view(), web.code("a.py")).tasks
    [attribution] = told.attributions
    assert attribution.evidence_count == 12
    assert [each.detail["added"] for each in attribution.evidence] == list(range(2, 12))
    assert attribution.evidence[-1].pointer == f"commit:{weaving.oid('11')}"


def test_a_feature_tells_how_its_tasks_hang_together(web: Web) -> None:
    for number in (1, 2, 3):
        web.touch(number, "a.py", day_number=number)
    web.say(
        "x",
        web.edge(task(2), "extends", task(1), at=day(2)),
        web.edge(task(3), "reverts", task(2), at=day(3)),
        web.edge(task(3), "references", task(1), at=day(3)),
        web.edge(task(3), "supersedes", task(9), at=day(3)),
    )
    found = features.feature(web.view(), web.code("a.py"))
    assert [(each.subject, each.type, each.object) for each in found.edges] == [
        (task(2), "extends", task(1)),
        (task(3), "reverts", task(2)),
    ]


def test_of_too_many_tasks_the_first_maker_and_the_newest_are_kept(web: Web) -> None:
    web.touch(1, "a.py", verb="created", day_number=1)
    for number in range(2, 9):
        web.touch(number, "a.py", day_number=number)
    found = features.feature(web.view(), web.code("a.py"), limit=3)
    assert [each.key for each in found.tasks] == [task(1), task(7), task(8)]
    assert found.is_truncated


def test_decisions_and_documents_are_no_tasks_of_a_feature(web: Web) -> None:
    web.say("0001", web.edge(decision(1), "governs", web.name("a.py")))
    web.say("README.md", web.edge(web.name("README.md#Usage"), "describes", web.name("a.py")))
    assert features.feature(web.view(), web.code("a.py")).tasks == ()


def test_code_that_no_task_explains_has_no_story(web: Web) -> None:
    assert features.feature(web.view(), web.code("a.py")) == features.Feature(
        (), (), is_truncated=False
    )
    assert features.feature(web.view(), []).tasks == ()


# Closure


def test_a_closure_goes_over_edges_in_both_directions(web: Web) -> None:
    web.say("x", web.edge(task(2), "extends", task(1)), web.edge(task(3), "reverts", task(2)))
    found = related.closure(web.view(), task(2))
    assert set(reached(found)) == {task(1), task(3)}
    assert {each.path[0].type for each in found.tasks} == {"extends", "reverted_by"}
    assert found.stop == "exhausted"


def test_a_way_is_as_sure_as_the_product_of_its_steps(web: Web) -> None:
    web.say("x", web.edge(task(2), "extends", task(1), 0.8), web.edge(task(3), "extends", task(2)))
    near, far = related.closure(web.view(), task(3)).tasks
    assert (near.task, far.task) == (task(2), task(1))
    assert far.score < near.score < 0.8
    assert [(each.type, each.node) for each in far.path] == [
        ("extends", task(2)),
        ("extends", task(1)),
    ]


def test_of_two_ways_the_surer_one_is_told(web: Web) -> None:
    web.say(
        "x",
        web.edge(task(3), "extends", task(1), 0.5),
        web.edge(task(3), "extends", task(2), 1.0),
        web.edge(task(2), "extends", task(1), 1.0),
    )
    found = {each.task: each for each in related.closure(web.view(), task(3)).tasks}
    assert [each.node for each in found[task(1)].path] == [task(2), task(1)]


def test_a_closure_goes_over_code_that_both_changed(web: Web) -> None:
    web.touch(1, "a.py", "a.py#run")
    web.touch(2, "a.py", "a.py#run")
    web.touch(3, "a.py")
    found = related.closure(web.view(), task(1))
    assert reached(found) == [task(2), task(3)]
    assert found.tasks[0].path == (
        related.Step("co-touches-symbol", web.name("a.py#run"), task(2)),
    )
    assert found.tasks[1].path == (related.Step("co-touches", web.name("a.py"), task(3)),)


def test_the_code_of_a_step_is_of_the_kind_that_the_step_says(web: Web) -> None:
    """Also where a file weighs more than the symbols in it."""
    web.touch(1, "a.py", "b.py", "b.py#run")
    web.touch(2, "a.py", "b.py", "b.py#run")
    web.touch(3, "b.py#run")
    [both, _] = related.closure(web.view(), task(1), depth=1).tasks
    assert both.path == (related.Step("co-touches-symbol", web.name("b.py#run"), task(2)),)


def test_code_that_few_changed_counts_for_more(web: Web) -> None:
    web.touch(1, "rare.py", "usual.py")
    web.touch(2, "rare.py")
    for number in range(3, 9):
        web.touch(number, "usual.py")
    found = related.closure(web.view(), task(1), depth=1)
    assert reached(found)[0] == task(2)
    assert found.tasks[0].score > 2 * found.tasks[1].score


def test_code_that_everybody_changes_connects_nobody(web: Web) -> None:
    for number in range(shared.COMMON + 1):
        web.touch(number, "CHANGELOG.md")
    assert related.closure(web.view(), task(1)).tasks == ()
    assert shared.co_touches(web.view(), task(1)).found == ()


def test_cycles_end(web: Web) -> None:
    web.say("x", *(web.edge(task(each), "extends", task((each + 1) % 4), 1.0) for each in range(4)))
    found = related.closure(web.view(), task(0), depth=6, least=0)
    assert sorted(reached(found)) == [task(1), task(2), task(3)]
    assert found.stop == "exhausted"


def test_a_closure_goes_no_further_than_asked(web: Web) -> None:
    web.say("x", *(web.edge(task(each + 1), "extends", task(each), 1.0) for each in range(9)))
    found = related.closure(web.view(), task(0), depth=2, least=0)
    assert reached(found) == [task(1), task(2)]
    assert found.stop == "depth"


def test_a_ring_that_adds_little_is_the_last_one(web: Web) -> None:
    near = [web.edge(task(each), "extends", task(0), 1.0) for each in range(1, 11)]
    far = [web.edge(task(each + 1), "extends", task(each), 0.6) for each in range(10, 14)]
    web.say("x", *near, *far)
    found = related.closure(web.view(), task(0))
    assert found.stop == "diminishing"
    assert task(11) in reached(found)
    assert task(12) not in reached(found)
    assert task(12) in reached(related.closure(web.view(), task(0), least=0))


def test_steps_from_long_ago_are_not_taken(web: Web) -> None:
    web.say(
        "x",
        web.edge(task(2), "extends", task(1), at=day(1)),
        web.edge(task(2), "reverts", task(3), at=day(8)),
        web.edge(task(2), "references", task(4)),
    )
    web.touch(2, "a.py", day_number=9)
    web.touch(5, "a.py", day_number=2)
    web.touch(6, "a.py", day_number=7)
    found = related.closure(web.view(), task(2), since=day(5))
    assert set(reached(found)) == {task(3), task(4), task(6)}


def test_a_closure_passes_decisions_but_does_not_list_them(web: Web) -> None:
    web.say(
        "x",
        web.edge(decision(1), "motivates", task(1), 1.0),
        web.edge(decision(1), "motivates", task(2), 1.0),
    )
    [found] = related.closure(web.view(), task(1)).tasks
    assert [(each.type, each.node) for each in found.path] == [
        ("motivated_by", decision(1)),
        ("motivates", task(2)),
    ]


def test_a_closure_has_a_limit_and_says_so(web: Web) -> None:
    web.say("x", *(web.edge(task(each), "extends", task(0)) for each in range(1, 9)))
    assert not related.closure(web.view(), task(0), limit=8).is_truncated
    found = related.closure(web.view(), task(0), limit=7)
    assert (len(found.tasks), found.is_truncated) == (7, True)


def test_a_task_that_changed_very_much_is_still_answered(web: Web) -> None:
    web.touch(1, *(f"src/{number}.py" for number in range(1_500)))
    for number in range(2, 40):
        web.touch(number, *(f"src/{each}.py" for each in range(number * 20, number * 20 + 5)))
    found = related.closure(web.view(), task(1))
    assert len(found.tasks) > 5
    assert all(len(each.files) <= 10 for each in found.tasks)


def test_a_closure_says_which_files_matter(web: Web) -> None:
    web.say("x", web.edge(task(2), "extends", task(1), 1.0))
    web.touch(2, "rare.py", "usual.py", "usual.py#run")
    for number in range(3, 9):
        web.touch(number, "usual.py")
    found = related.closure(web.view(), task(1), depth=1)
    [told] = found.tasks
    assert [each.node for each in told.files] == [web.name("rare.py"), web.name("usual.py")]
    assert told.files[0].weight > told.files[1].weight
    assert [each.node for each in related.files(found)] == [
        web.name("rare.py"),
        web.name("usual.py"),
    ]


def test_a_task_that_nobody_spoke_of_has_no_closure(web: Web) -> None:
    assert related.closure(web.view(), task(1)) == related.Closure(
        task(1), (), "exhausted", is_truncated=False
    )


def test_a_closure_of_then_knows_nothing_of_later(web: Web) -> None:
    begin = web.commit("begin")
    after = web.commit("go on", "begin", day_number=5)
    for number, pointer in ((1, begin), (2, begin), (3, after)):
        web.say(f"T{number}", web.edge(task(number), "touched", web.name("a.py"), 0.9, "", pointer))
    then = web.view(as_of=view.AsOf(weaving.oid("begin")))
    assert reached(related.closure(then, task(1))) == [task(2)]
    both = related.closure(web.view(), task(1))
    assert sorted(reached(both)) == [task(2), task(3)]


# Shared code


def test_sharing_symbols_and_sharing_files_are_told_apart(web: Web) -> None:
    web.touch(1, "a.py", "a.py#run", "b.py")
    web.touch(2, "a.py", "a.py#run", "b.py")
    found = {each.type: each for each in shared.co_touches(web.view(), task(1)).found}
    assert found["co-touches-symbol"].nodes == (web.name("a.py#run"),)
    assert found["co-touches"].shared == 2
    assert found["co-touches"].weight > found["co-touches-symbol"].weight


def test_a_limit_counts_what_was_asked_for_alone(web: Web) -> None:
    for number in range(1, 5):
        web.touch(number, "a.py", "a.py#run", "a.py#stop")
    found = shared.co_touches(web.view(), task(1), types=["co-touches"], limit=2)
    assert [each.type for each in found.found] == ["co-touches"] * 2
    assert found.is_truncated
    for name in ("co-touches", "co-touches-symbol"):
        found = shared.co_touches(web.view(), task(1), types=[name], limit=3)
        assert [each.type for each in found.found] == [name] * 3
        assert not found.is_truncated


def test_declared_context_counts_as_shared(web: Web) -> None:
    for number in (1, 2):
        web.say(f"T{number}", web.edge(task(number), "declared", web.name("a.py"), 1.0))
    [found] = shared.co_touches(web.view(), task(1)).found
    assert (found.type, found.task) == ("co-touches", task(2))


def test_shared_code_has_a_limit_and_says_so(web: Web) -> None:
    for number in range(6):
        web.touch(number, "a.py")
    found = shared.co_touches(web.view(), task(0), limit=4)
    assert (len(found.found), found.is_truncated) == (4, True)
    assert not shared.co_touches(web.view(), task(0), limit=5).is_truncated


# Decisions


def test_a_decision_tells_code_tasks_and_what_became_of_it(web: Web) -> None:
    web.say(
        "docs",
        web.edge(decision(2), "supersedes", decision(1)),
        web.edge(decision(3), "supersedes", decision(2)),
        web.edge(decision(4), "supersedes", decision(3)),
        web.edge(decision(5), "references", decision(2)),
        web.edge(decision(2), "governs", web.name("a.py")),
        web.edge(decision(2), "motivates", task(1)),
        web.edge(task(2), "references", decision(2)),
        web.edge(task(3), "supersedes", decision(2)),
    )
    found = decisions.decision(web.view(), decision(2))
    assert [each.object for each in found.governed] == [web.name("a.py")]
    assert sorted((each.type, each.other) for each in found.tasks) == [
        ("motivates", task(1)),
        ("referenced_by", task(2)),
        ("superseded_by", task(3)),
    ]
    assert ("referenced_by", decision(5)) in {(each.type, each.other) for each in found.decisions}
    assert found.newer == (decision(3), task(3), decision(4))
    assert found.older == (decision(1),)
    assert len(found.chain) == 4
    assert not found.is_truncated


def test_decisions_that_replace_each_other_end(web: Web) -> None:
    web.say(
        "docs",
        web.edge(decision(1), "supersedes", decision(2)),
        web.edge(decision(2), "supersedes", decision(1)),
    )
    found = decisions.decision(web.view(), decision(1))
    assert found.newer == found.older == (decision(2),)


def test_a_very_long_succession_is_cut_and_that_is_said(web: Web) -> None:
    web.say(
        "docs",
        *(web.edge(decision(each + 1), "supersedes", decision(each)) for each in range(60)),
    )
    found = decisions.decision(web.view(), decision(0))
    assert found.newer[:2] == (decision(1), decision(2))
    assert found.is_truncated


# Reversals


def test_a_reversal_tells_the_whole_chain(web: Web) -> None:
    web.touch(1, "a.py")
    web.say(
        "x",
        web.edge(task(2), "reverts", task(1), at=day(2)),
        web.edge(task(3), "reverts", task(2), at=day(3)),
        web.edge(decision(1), "contradicts", task(3), 0.5, at=day(4)),
        web.edge(task(9), "reverts", task(8), at=day(1)),
        web.edge(task(3), "extends", task(7), at=day(3)),
    )
    for found in (
        reversals.reversal(web.view(), web.code("a.py")),
        reversals.reversal(web.view(), task=task(3)),
    ):
        [chain] = found.chains
        assert [each.type for each in chain.edges] == ["reverts", "reverts", "contradicts"]
        assert set(chain.nodes) == {task(1), task(2), task(3), decision(1)}
        assert not found.is_truncated


def test_chains_that_have_nothing_in_common_are_told_apart(web: Web) -> None:
    web.touch(1, "a.py")
    web.touch(5, "a.py")
    web.say(
        "x",
        web.edge(task(6), "supersedes", task(5), at=day(2)),
        web.edge(task(2), "reverts", task(1), at=day(1)),
    )
    found = reversals.reversal(web.view(), web.code("a.py"))
    assert [chain.nodes for chain in found.chains] == [(task(1), task(2)), (task(5), task(6))]


def test_tasks_that_revert_each_other_end(web: Web) -> None:
    web.say("x", web.edge(task(1), "reverts", task(2)), web.edge(task(2), "reverts", task(1)))
    [chain] = reversals.reversal(web.view(), task=task(1)).chains
    assert len(chain.edges) == 2


def test_too_many_reversals_are_cut_and_that_is_said(web: Web) -> None:
    web.say("x", *(web.edge(task(each), "reverts", task(0)) for each in range(1, 6)))
    found = reversals.reversal(web.view(), task=task(0), limit=4)
    assert (len(found.chains[0].edges), found.is_truncated) == (4, True)


def test_a_task_without_reversals_has_no_chain(web: Web) -> None:
    web.touch(1, "a.py")
    for found in (
        reversals.reversal(web.view(), web.code("a.py"), task(1)),
        reversals.reversal(web.view(), task=task(17)),
    ):
        assert found == reversals.Reversal((), (), is_truncated=False)


# Risk


def test_what_changes_with_the_code_is_told_by_weight(web: Web) -> None:
    web.commit("1", changed=["a.py", "a.py#run", "b.py", "b.py#stop"])
    web.commit("2", "1", changed=["a.py", "a.py#run", "b.py", "b.py#stop"])
    web.commit("3", "2", changed=["a.py", "a.py#run", "c.py", "c.py#log"])
    for number in range(4, 9):
        web.commit(str(number), changed=["c.py", "c.py#log"])
    first, second = risks.risk(web.view(), web.code("a.py#run"), {}).co_changed
    assert (first.node, first.times, first.changes) == (web.name("b.py#stop"), 2, 2)
    assert first.pointer == f"commit:{weaving.oid('2')}"
    assert (second.node, second.times, second.changes) == (web.name("c.py#log"), 1, 6)
    assert first.weight > 10 * second.weight


def test_a_commit_of_many_files_says_little(web: Web) -> None:
    many = [f"src/{number}.py" for number in range(30)]
    web.commit("sweep", changed=["a.py", "a.py#run", "far.py#old", *many])
    web.commit("work", changed=["a.py", "a.py#run", "near.py#new"])
    web.commit("vendor", changed=["a.py", "a.py#run", "else.py#x", *many, *map(str, range(30))])
    found = risks.risk(web.view(), web.code("a.py#run"), {}).co_changed
    assert [each.node for each in found] == [web.name("near.py#new"), web.name("far.py#old")]
    assert found[0].weight > 5 * found[1].weight


def test_what_is_gone_does_not_change_with_the_code(web: Web) -> None:
    web.commit("1", changed=["a.py#run", "b.py#stop"])
    web.commit("2", "1")
    web.change("2", "b.py#stop", is_deleted=True)
    assert risks.risk(web.view(), web.code("a.py#run"), {}).co_changed == ()
    then = web.view(as_of=view.AsOf(weaving.oid("1")))
    assert len(risks.risk(then, web.code("a.py#run"), {}).co_changed) == 1


def test_work_that_was_undone_nearby_is_told(web: Web) -> None:
    web.commit("1", changed=["a.py#run", "b.py#stop"])
    web.touch(1, "b.py#stop")
    web.touch(2, "far.py#else")
    web.say("x", web.edge(task(3), "reverts", task(1)), web.edge(task(4), "reverts", task(2)))
    [undone] = risks.risk(web.view(), web.code("a.py#run"), {}).undone
    assert undone.node == web.name("b.py#stop")
    assert (undone.edge.subject, undone.edge.object) == (task(3), task(1))


def test_dropped_tasks_on_the_code_are_told(web: Web) -> None:
    web.touch(1, "a.py#run")
    web.touch(2, "a.py#run")
    web.touch(3, "b.py#stop")
    orphans = {task(1): "stale_in_progress", task(3): "dead_claim", task(99): "never_started"}
    [dropped] = risks.risk(web.view(), web.code("a.py#run"), orphans).dropped
    assert dropped == risks.Dropped(task(1), web.name("a.py#run"), "touched", "stale_in_progress")


def test_documents_that_describe_the_code_are_told(web: Web) -> None:
    section = web.name("README.md#Usage")
    pointer = "file:README.md#line=27"
    web.say("README.md", web.edge(section, "describes", web.name("a.py#run"), 0.7, "", pointer))
    [described] = risks.risk(web.view(), web.code("a.py#run"), {}).described
    assert (described.subject, described.pointer) == (section, pointer)


def test_code_without_a_past_has_no_risk(web: Web) -> None:
    found = risks.risk(web.view(), web.code("a.py#run"), {task(1): "dead_claim"})
    assert found == risks.Risk((), (), (), (), (), is_truncated=False)


def test_risks_have_a_limit_and_say_so(web: Web) -> None:
    web.commit("1", changed=["a.py#run", *(f"b.py#f{number}" for number in range(6))])
    found = risks.risk(web.view(), web.code("a.py#run"), {}, limit=5)
    assert (len(found.co_changed), found.is_truncated) == (5, True)
    assert not risks.risk(web.view(), web.code("a.py#run"), {}, limit=6).is_truncated


# Differences


def test_a_difference_tells_what_came_went_and_changed(web: Web) -> None:
    web.say("x", web.edge(task(1), "extends", task(0)), web.edge(task(2), "extends", task(0)))
    before = related.closure(web.view(), task(0))
    web.say("x", web.edge(task(1), "extends", task(0), 0.9), web.edge(task(3), "reverts", task(0)))
    after = related.closure(web.view(), task(0))
    found = differences.diff(before, after)
    assert [each.task for each in found.gone] == [task(2)]
    assert [each.task for each in found.new] == [task(3)]
    [changed] = found.changed
    assert changed.task == task(1)
    assert changed.after.score > changed.before.score
    assert not found.is_truncated


def test_nothing_differs_from_itself(web: Web) -> None:
    web.say("x", web.edge(task(1), "extends", task(0)))
    found = related.closure(web.view(), task(0))
    assert differences.diff(found, found) == differences.Difference((), (), (), is_truncated=False)
    cut = found._replace(is_truncated=True)
    assert differences.diff(found, cut).is_truncated


# Statements


@pytest.mark.parametrize("as_of", [view.NOW, view.AsOf(at=day(1))], ids=["now", "then"])
@pytest.mark.parametrize("query", STATEMENTS, ids=lambda query: query.name)
def test_no_closure_reads_a_large_table_as_a_whole(
    web: Web, query: sql.Query, as_of: view.AsOf
) -> None:
    statement = web.view(as_of=as_of).statement(query)
    assert weaving.scanned(web.connection, statement) & weaving.LARGE == set()


def test_control_a_closure_that_reads_a_large_table_is_found(web: Web) -> None:
    planted = sql.Query("x", "", "SELECT max(e.at) FROM shown_code_edges AS e WHERE e.at > '2026'")
    assert weaving.scanned(web.connection, web.view().statement(planted)) == {"task_code_edges"}


@pytest.mark.parametrize("query", STATEMENTS, ids=lambda query: query.name)
def test_every_closure_says_what_it_is_for_and_is_one_statement(query: sql.Query) -> None:
    assert re.fullmatch(r"[A-Z].{8,100}\.", query.purpose)
    assert ";" not in re.sub(r"--.*", "", query.text)
    assert query.text.startswith(("SELECT", "WITH RECURSIVE\n"))


def test_every_block_of_the_closures_is_found() -> None:
    content = (DIRECTORY / "closures.sql").read_text(encoding="utf-8")
    headers = re.findall(r"(?m)^-- name:\s*(\S+)", content)
    assert headers == [query.name.partition(".")[2] for query in STATEMENTS]
