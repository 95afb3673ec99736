"""What a sweep says of a workload is what its truth says; every trap is stepped around.

The workload is that of `tether bench make-workload`, with its truth beside it, which a sweep never
sees. The scoring is that of `tether bench vacuum`; controls plant mistakes and see it fail. On the
histories of real projects, where there are labels instead of a truth, the bars are lower.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Tether
from tether.bench import orphans
from tether.bench import vacuum as harness
from tether.bench.workload import traps, writing
from tether.vacuum import model, presence, sweeps

SMALL = 0.01
LEAST_RECALL, MOST_WRONG = 0.98, 0.02
CORPORA = Path(os.environ.get("TETHER_CORPORA", Path(__file__).parents[3] / "shared/corpora"))
CORPUS = CORPORA / "orphans"
# They are about how texts are read: `test_evidence_truth.py`.
OF_EVIDENCE = {
    "version_strings", "bold_ids", "checkbox_in_code_fence", "naive_times", "z_times", "dst",
    "same_uuid_two_files",
}  # fmt: skip
Row = dict[str, Any]


class Workload(NamedTuple):
    """A workload, what is true of it, and what a deep sweep of it came to."""

    place: Path
    rows: list[Row]
    own: Path
    """Where stores are."""
    here: sweeps.Swept
    there: sweeps.Swept
    """The same of the project that was paused."""

    def truth(self, project: str = "repo") -> harness.Truth:
        return harness.truth(self.rows, project)

    def laid(self, trap: str) -> list[Row]:
        found = [row for row in self.rows if row.get("trap") == trap]
        assert found, f"no {trap}"
        return found

    def tasks(self, trap: str) -> list[str]:
        found = [task for row in self.laid(trap) for task in row["tasks"]]
        assert found, f"no task in {trap}"
        return found

    def said(self, task: str, swept: sweeps.Swept | None = None) -> dict[str, model.Finding]:
        """What a sweep says of a task, by type."""
        found = [each for each in (swept or self.here).judged if each.subject.key.id == task]
        return {finding.type: finding for each in found for finding in each.findings}

    def sweep(self, name: str, **more: Any) -> sweeps.Swept:
        """Another deep sweep, in a store of its own that has read everything already."""
        store = self.own.parent / f"{self.own.name} {name}"
        shutil.copytree(self.own, store)
        return harness.sweep(str(self.place), "repo", str(store), **more)


def make(place: Path, *, has_liveness: bool) -> Workload:
    writing.make(str(place), SMALL, has_liveness=has_liveness)
    lines = (place / "truth.jsonl").read_text().splitlines()
    # No sweep must find it by chance.
    (place / "truth.jsonl").rename(place.parent / f"truth of {place.name}.jsonl")
    stores = [place.parent / f"store of {place.name} {project}" for project in ("one", "two")]
    for store in stores:
        store.mkdir()
    swept = [
        harness.sweep(str(place), project, str(store))
        for project, store in zip(("repo", "repo-two"), stores, strict=True)
    ]
    return Workload(place, [json.loads(line) for line in lines], stores[0], *swept)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """A small workload with a table of its processes. It is only looked at."""
    return make(tmp_path_factory.mktemp("vacuum") / "small", has_liveness=True)


@pytest.fixture(scope="session")
def blind(tmp_path_factory: pytest.TempPathFactory) -> Workload:
    """The same, and nobody can say anything about processes."""
    return make(tmp_path_factory.mktemp("vacuum") / "blind", has_liveness=False)


# All of it


def assert_bars(found: Row) -> None:
    """What the project asks of a sweep."""
    for name, row in found["classes"].items():
        assert row["of"] >= 2, name
        assert row["recall"] >= LEAST_RECALL, (name, found["missed"])
        assert row["fdr"] <= MOST_WRONG, (name, found["wrong"])
    assert found["parked"]["missed"] == found["parked"]["wrong"] == []
    assert found["certain_wrong"] == 0, found["wrong"]


def test_every_kind_of_orphan_is_found_and_nothing_else(small: Workload) -> None:
    found = harness.score(small.here, small.truth())
    assert_bars(found)
    assert set(found["classes"]) == {*model.ORPHANED, model.DONE_UNMARKED}
    assert found["certain"] >= 2
    assert small.here.problems == ()


def test_without_liveness_nothing_certain_is_wrong(blind: Workload) -> None:
    found = harness.score(blind.here, blind.truth())
    assert found["certain_wrong"] == 0
    assert found["certain"] == 0  # nobody has seen a process that is gone
    assert_bars(found)


def test_what_was_never_begun_is_counted_and_not_reported(small: Workload) -> None:
    fates = small.truth().fates
    plans = [name for name, row in fates.items() if row["fate"] == "never_started"]
    assert len(plans) > 50
    assert [name for name in plans if small.said(name)] == []
    assert 0 < small.here.counts[model.NEVER_STARTED] <= len(plans)


def test_two_sweeps_say_the_same_to_the_byte(small: Workload, tmp_path: Path) -> None:
    first = harness.digest(small.here)
    again = harness.sweep(str(small.place), "repo", str(small.own))
    assert harness.digest(again) == first
    assert again.recorded is not None
    assert (again.recorded.new, again.recorded.settled) == (0, 0)
    # Also where everything is read anew.
    assert harness.digest(harness.sweep(str(small.place), "repo", str(tmp_path))) == first


def test_a_standard_sweep_says_nothing_that_a_deep_one_does_not(small: Workload) -> None:
    standard = small.sweep("standard", sweep_type=model.STANDARD)
    deep = {each.subject.key: each.findings for each in small.here.judged}
    assert standard.judged
    for each in standard.judged:
        assert each.findings == deep[each.subject.key]
    assert standard.older


# Controls


def alive(*_: object) -> presence.Seen:
    return presence.Seen("seen", 0)


def test_a_missed_orphan_is_seen(small: Workload) -> None:
    patient = model.Limits(stale_ms=9999 * model.DAY_MS)
    found = harness.score(small.sweep("patient", limits=patient), small.truth())
    assert found["classes"][model.STALE_IN_PROGRESS]["recall"] < LEAST_RECALL
    with pytest.raises(AssertionError):
        assert_bars(found)


def test_a_wrong_report_is_seen(small: Workload) -> None:
    hasty = model.Limits(stale_ms=1, long_claim_ms=1, silent_ms=0)
    found = harness.score(small.sweep("hasty", limits=hasty), small.truth())
    assert found["classes"][model.STALE_IN_PROGRESS]["fdr"] > MOST_WRONG
    with pytest.raises(AssertionError):
        assert_bars(found)


def test_a_wrong_certainty_is_seen(small: Workload) -> None:
    """Whoever takes a process of another user for one that is gone is certain, and wrong."""
    everybody_gone = small.sweep("gone", look=lambda *_: presence.Seen("gone"))
    found = harness.score(everybody_gone, small.truth())
    assert found["certain_wrong"] > 0
    with pytest.raises(AssertionError):
        assert_bars(found)


def test_a_track_that_is_not_parked_is_seen(small: Workload) -> None:
    found = harness.score(small.here._replace(parked=small.here.parked[1:]), small.truth())
    assert found["parked"]["missed"] != []
    with pytest.raises(AssertionError):
        assert_bars(found)


def test_another_fate_is_seen(small: Workload) -> None:
    true = small.truth()
    name = next(each.subject.key.id for each in small.here.judged)
    changed = {**true.fates, name: {**true.fates[name], "fate": "never_started", "orphan": False}}
    with pytest.raises(AssertionError):
        assert_bars(harness.score(small.here, true._replace(fates=changed)))


def test_one_finding_less_is_not_the_same(small: Workload) -> None:
    assert harness.digest(small.here) != harness.digest(
        small.here._replace(judged=small.here.judged[1:])
    )


# Traps: processes


def assert_reused_is_dead(small: Workload, swept: sweeps.Swept) -> None:
    for row in small.laid("pid_reuse"):
        for task in row["tasks"]:
            finding = small.said(task, swept)[model.DEAD_CLAIM]
            assert (finding.grade, finding.percent) == (model.CERTAIN, 100)
            assert f"process {row['pid']} is another one now" in " ".join(finding.reasons)


def test_a_process_id_that_came_again_is_a_dead_owner_for_certain(small: Workload) -> None:
    assert_reused_is_dead(small, small.here)


def test_a_table_in_which_all_are_alive_would_be_seen(small: Workload) -> None:
    """The control."""
    with pytest.raises((AssertionError, KeyError)):
        assert_reused_is_dead(small, small.sweep("alive", look=alive))


def test_a_process_of_another_user_is_alive(small: Workload) -> None:
    for task in small.tasks("eperm"):
        assert small.said(task) == {}


# Traps: what texts say


def assert_as_it_is(small: Workload, task: str, swept: sweeps.Swept | None = None) -> None:
    """Everything that is said of a task is right, and if it is an orphan, that is said."""
    true, swept = small.truth(), swept or small.here
    judged = tuple(each for each in swept.judged if each.subject.key.id == task)
    alone = true._replace(fates={task: true.fates[task]})
    found = harness.score(swept._replace(judged=judged), alone)
    assert found["wrong"] == found["missed"] == []


def test_near_ids_are_other_tasks(small: Workload) -> None:
    [row] = small.laid("near_ids")
    for task in row["untouched"]:
        assert small.said(task) == {}
    for task in row["worked"]:
        assert_as_it_is(small, task)


def test_to_mention_a_section_begins_none_of_its_tasks(small: Workload) -> None:
    [section] = set(small.tasks("section_mention_only"))
    below = [task for task in small.truth().fates if task.startswith(f"{section}.")]
    assert below
    assert [task for task in below if small.said(task)] == []


def assert_plan(small: Workload, task: str) -> None:
    """Nobody ever began it."""
    assert small.truth().fates[task]["fate"] == "never_started"
    assert small.said(task) == {}
    assert task not in {key.id for key in small.here.taken}


def test_an_id_in_a_code_block_begins_nothing(small: Workload) -> None:
    for task in small.tasks("id_in_fenced_code"):
        assert_plan(small, task)


def test_what_comes_next_is_not_begun(small: Workload) -> None:
    for task in small.tasks("next_list"):
        assert_plan(small, task)


def test_a_dashboard_is_no_claim(small: Workload) -> None:
    for task in small.tasks("dashboard"):
        if small.truth().fates[task]["fate"] == "never_started":
            assert_plan(small, task)


def test_a_list_of_everything_touches_nothing(small: Workload) -> None:
    assert len(small.laid("everything_listed")) == 2
    plans = [name for name, row in small.truth().fates.items() if row["fate"] == "never_started"]
    for task in plans:
        assert_plan(small, task)


def test_work_under_an_old_id_counts_for_the_task(small: Workload) -> None:
    rows = small.laid("consolidated_ids")
    [old] = {task for row in rows for task in row["tasks"]}
    [commit] = [row["where"] for row in rows if not row["where"].startswith("home/")]
    [found] = [each for each in small.here.judged if old in each.subject.aliases]
    assert found.evidence.committed is not None
    assert found.evidence.committed.pointer == f"commit:{commit}"
    assert found.evidence.last == found.evidence.committed
    assert old not in {each.subject.key.id for each in small.here.judged}


def test_the_same_id_in_two_projects_is_two_tasks(small: Workload) -> None:
    [row] = small.laid("same_id_two_projects")
    other = small.truth("repo-two").fates
    for task in row["tasks"]:
        assert_as_it_is(small, task)
    left = {task for task in row["tasks"] if other[task]["fate"] == "parked"}
    assert left
    # Begun there, and never begun here.
    plans = {task for task in left if small.truth().fates[task]["fate"] == "never_started"}
    assert plans
    assert {key.id for key in small.there.taken} >= plans
    assert plans.isdisjoint(key.id for key in small.here.taken)


# Traps: clocks


def of_session(small: Workload, session: str) -> list[str]:
    fates = small.truth().fates
    return [
        name
        for name, row in fates.items()
        if any(claim["session"] == session for claim in row.get("claims", ()))
    ]


def test_a_clock_that_is_ahead_orphans_nothing(small: Workload) -> None:
    for row in small.laid("clock_skew_ahead"):
        tasks = of_session(small, row["session"])
        assert tasks
        for task in tasks:
            assert small.said(task) == {}  # its owner is alive


def test_a_clock_that_is_behind_orphans_nothing(small: Workload) -> None:
    for row in small.laid("clock_skew_behind"):
        tasks = row["tasks"] if "tasks" in row else of_session(small, row["session"])
        assert tasks
        for task in tasks:
            assert_as_it_is(small, task)


# Traps: what is not written any more


def test_claims_that_were_cleaned_up_are_found_by_other_traces(small: Workload) -> None:
    for task in small.tasks("claims_deleted_by_cleanup"):
        assert small.truth().fates[task]["orphan"]
        assert small.said(task)
        assert_as_it_is(small, task)


def test_broadcasts_that_ran_out_are_not_missed(small: Workload) -> None:
    for row in small.laid("ttl_expired_broadcasts"):
        assert row["deleted"]
        for task in row["deleted"]:
            assert_as_it_is(small, task)


def test_a_torn_line_shows_that_its_session_died(small: Workload) -> None:
    tasks = [task for task in small.tasks("truncated_line") if task]
    assert tasks
    for task in tasks:
        assert_as_it_is(small, task)


def test_a_subagent_is_no_session_that_forgot_its_task(small: Workload) -> None:
    for task in small.tasks("sidechain"):
        assert small.said(task) == {}  # it was done


def test_a_track_in_small_letters_is_swept(small: Workload) -> None:
    for task in small.tasks("lower_case_files"):
        assert small.truth().fates[task]["orphan"]
        assert_as_it_is(small, task)


def test_of_odd_boxes_only_one_that_says_that_somebody_began_is_an_orphan(
    small: Workload,
) -> None:
    [row] = small.laid("odd_boxes")
    for box, task in row["boxes"].items():
        assert list(small.said(task)) == (["stale_in_progress"] if box == "~" else [])


# Traps: what is done to many at once


def test_a_project_that_paused_is_parked_and_has_no_orphans(small: Workload) -> None:
    [row] = small.laid("project_pause")
    assert [(each.source, each.name) for each in small.there.parked] == [("project", "repo-two")]
    assert small.there.judged == ()
    assert small.there.counts["orphans"] == 0
    assert small.there.counts[model.PARKED_PROJECT] == 1
    # They would be orphans, were the project at work.
    assert {each.subject.key.id for each in small.there.folded} == set(row["tasks"])


def test_a_bulk_close_is_done_and_unproven(small: Workload) -> None:
    for row in small.laid("bulk_close"):
        others = len(row["tasks"]) - 1
        assert others >= 5
        for task in row["tasks"]:
            [finding] = small.said(task).values()
            assert (finding.type, finding.grade) == (model.DONE_UNPROVEN, model.SUSPECT)
            assert f"together with {others} others" in finding.reasons[0]


def test_what_a_clone_left_behind_took_back_for_an_hour_is_done(small: Workload) -> None:
    tasks = set(small.tasks("stale_clone_reexport"))
    assert len(tasks) > 2
    for task in tasks:
        assert not set(small.said(task)) & set(model.ORPHANED)
        assert_as_it_is(small, task)


def test_a_deferral_ends_when_somebody_touches_the_task(small: Workload) -> None:
    tasks = small.tasks("deferred_then_touched")
    fates = small.truth().fates
    still = [name for name, row in fates.items() if row["fate"] == "deferred"]
    assert tasks
    assert still
    for task in [*tasks, *still]:
        assert small.said(task) == {}  # touched lately, or put off
    # Who has less patience hears of what was touched, and not of what is put off.
    hasty = small.sweep("deferrals", limits=model.Limits(stale_ms=model.HOUR_MS))
    for task in tasks:
        assert model.STALE_IN_PROGRESS in small.said(task, hasty)
    for task in still:
        assert small.said(task, hasty) == {}


def test_every_trap_has_a_test_here_or_is_one_of_evidence() -> None:
    text = Path(__file__).read_text()
    named = set(re.findall(r'\.(?:laid|tasks)\(\s*"([a-z_]+)"', text))
    assert named | OF_EVIDENCE == set(traps.NAMES)
    assert not named & OF_EVIDENCE


# The command


def test_the_command_tells_scores_and_costs(tether: Tether, tmp_path: Path) -> None:
    ended = tether("bench", "vacuum", "--scale", "0.001", "--rounds", "1", "--json", cwd=tmp_path)
    found = ended.json["vacuum"]
    assert (ended.code, found["scale"], found["identical"]) == (0, 0.001, True)
    for name in ("liveness", "no_liveness"):
        assert found[name]["certain_wrong"] == 0
        assert set(found[name]["classes"]) == {*model.ORPHANED, model.DONE_UNMARKED}
        assert found[name]["paused_project"]["said"] == 0
    assert set(found["cost"]) == {"first_read", "standard", "deep", "quick", "quick_finding"}


# Real histories


@pytest.fixture(scope="session")
def pairs() -> list[tuple[str, str]]:
    timelines = sorted(map(str, CORPUS.glob("timeline_*")))
    if not timelines:
        pytest.skip("needs the corpus of orphans beside the clone")
    return [(path, path.replace("timeline_", "labels_")) for path in timelines]


@pytest.fixture(scope="session")
def measured(pairs: list[tuple[str, str]]) -> Row:
    return orphans.measure(pairs)


def assert_published(found: Row) -> None:
    """What the project asks for on histories of real projects."""
    assert found["alert"]["precision"] >= 0.90
    assert found["alert"]["recall"] >= 0.80
    assert found["instance"]["fpr"] < 0.10
    assert found["instance"]["never_started_flagged"] == 0
    for name, project in found["projects"].items():
        assert project["alert"]["fdr"] <= 0.20, name


def test_silence_tells_orphans_of_real_projects(measured: Row) -> None:
    assert len(measured["projects"]) == 4
    assert_published(measured)


# As the corpus itself publishes them: precision and recall of each baseline.
PUBLISHED = {
    "steveyegge_beads": {
        "silent_7d": (0.83, 0.59), "silent_72h": (0.82, 0.74), "silent_24h": (0.70, 0.84),
    },
    "MrLesk_Backlog_md": {
        "silent_7d": (0.91, 0.76), "silent_72h": (0.67, 0.87), "silent_24h": (0.59, 0.98),
    },
    "sddevelopment_be_quickstart": {
        "silent_7d": (1.0, 0.32), "silent_72h": (0.63, 0.83), "silent_24h": (0.78, 1.0),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_baselines_are_about_those_of_the_corpus(
    pairs: list[tuple[str, str]], name: str
) -> None:
    """To one time of silence or two: alerts are counted as whoever made the labels counts them."""
    found = orphans.measure([pair for pair in pairs if name in pair[0]])["baselines"]
    for baseline, wanted in PUBLISHED[name].items():
        alert = found[baseline]["alert"]
        assert (alert["precision"], alert["recall"]) == pytest.approx(wanted, abs=0.025)


def test_less_patience_would_be_seen_on_real_projects(pairs: list[tuple[str, str]]) -> None:
    """The control: reporting after two days is not good enough."""
    with pytest.raises(AssertionError):
        assert_published(orphans.measure(pairs, model.Limits(stale_ms=2 * model.DAY_MS)))
