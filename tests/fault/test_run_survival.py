"""A run comes to its end whatever is killed on the way: coordinators, recoveries, workers.

Nothing is lost and nothing is done twice, also with a full disk, damaged snapshots, a pause and
compactions on the way. The controls plant what the same checks must find.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import scale
from tests.fault.survival import checks, harness, site
from tests.fault.survival.site import RUN, Site, until
from tests.fault.test_files_disk_full import may_mount
from tests.figures import Figures
from tests.parts import need
from tether import files
from tether.coordinator import applying, documents, options, runs, snapshots, starting
from tether.coordinator.plans import reading
from tether.store import events, port, run_events

FULL = harness.Counts()
FIGURES = (
    "kills",
    "kills_in_recovery",
    "kills_in_pauses",
    "worker_kills",
    "wrappers_killed",
    "steps_killed",
    "pauses",
    "compactions",
    "full_disks",
    "corruptions",
    "corruptions_of_both",
    "snapshots_looked_at",
    "recoveries_twice",
    "questions_answered",
)
MOUNT = 'mount -t tmpfs -o size=128m tmpfs "$0" && exec "$@"'


def survive(base: Path, counts: harness.Counts) -> dict[str, Any]:
    """What the harness says, with a small disk of its own if it can be filled."""
    words = json.dumps(counts._asdict())
    command = [sys.executable, "-m", "tests.fault.survival.harness", str(base), words]
    if counts.full_disks:
        command = ["unshare", "--mount", "sh", "-c", MOUNT, str(base / "disk"), *command]
    top = Path(__file__).parents[2]
    ended = subprocess.run(command, cwd=top, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.mark.proof(room="coordinator")
def test_a_run_survives_whatever_is_killed(tmp_path: Path, figures: Figures) -> None:
    need(sys.platform == "linux", "a system that shows the parents of processes")
    disk = tmp_path / "run" / "disk"
    disk.mkdir(parents=True)
    counts = harness.Counts(
        tasks=scale.count(FULL.tasks, 8),
        kills=scale.count(FULL.kills, 6),
        in_recovery=scale.count(FULL.in_recovery, 2),
        worker_kills=scale.count(FULL.worker_kills, 3),
        compactions=scale.count(FULL.compactions),
        full_disks=int(may_mount(disk)),
        corruptions=scale.count(FULL.corruptions),
        recoveries=scale.count(FULL.recoveries),
    )

    found = survive(disk.parent, counts)

    assert found["faults"] == []
    did, told = found["did"], found["told"]
    assert did["kills"] >= counts.kills
    assert did["kills_in_recovery"] >= counts.in_recovery
    assert did["worker_kills"] >= counts.worker_kills
    exactly = ("compactions", "pauses", "full_disks", "corruptions")
    assert [did.get(name, 0) for name in exactly] == [getattr(counts, name) for name in exactly]
    assert did["recoveries_twice"] == counts.recoveries
    assert told["task_complete"] == counts.tasks
    figures.add(
        f"a run of {counts.tasks} tasks with dependencies, killed at random moments",
        **{name: did[name] for name in FIGURES if name in did},
        tries=found["tries"],
        orphans=told.get("orphan_agent_detected", 0),
        stalled=told.get("agent_stalled", 0),
        completed=told["task_complete"],
        events_replayed=found["events"],
        faults=0,
    )


# Controls: a run that went well, with a fault planted in what it left


class Story:
    """A run of two tasks that went well, as its log tells it; its workers are the real ones."""

    def __init__(self, place: Site, store: port.Store) -> None:
        self.site = place
        self.store = store
        self.run = runs.Run(store, place.place, RUN)
        self.run.make()
        read, _ = reading.read(str(place.repo), "plan.md")
        starting.begin(self.run, read, options.Options(worker="true"))

    def log(self, kind: events.EventType, **data: object) -> None:
        self.run.log(kind, **data)

    def dispatch(self, task_id: str, agent_id: str) -> None:
        self.log(
            run_events.DEVELOPER_DISPATCHED,
            task_id=task_id,
            agent_id=agent_id,
            blocked_by=[],
            resumed=False,
        )

    def orphan(self, task_id: str, agent_id: str) -> None:
        self.log(
            run_events.ORPHAN_AGENT_DETECTED, agent_id=agent_id, task_id=task_id, type="developer"
        )

    def complete(self, task_id: str, agent_id: str) -> None:
        self.log(
            run_events.TASK_COMPLETE,
            task_id=task_id,
            agent_id=agent_id,
            evidence_summary="",
            commit_sha=None,
            branch=None,
        )

    def made(self, task_id: str) -> None:
        """One worker is lost, the next one makes it, an auditor passes it."""
        lost, worker, auditor = (f"{task_id}.{name}" for name in ("lost", "worker", "auditor"))
        self.dispatch(task_id, lost)
        self.orphan(task_id, lost)
        self.dispatch(task_id, worker)
        assert self.work(task_id, worker).wait(60) == 0
        self.log(
            run_events.DEVELOPER_READY_FOR_REVIEW,
            task_id=task_id,
            agent_id=worker,
            files_modified=[],
        )
        self.log(
            run_events.AUDITOR_DISPATCHED, task_id=task_id, agent_id=auditor, files_to_audit=[]
        )
        self.complete(task_id, auditor)

    def end(self) -> None:
        self.log(run_events.WORKFLOW_COMPLETE, total_tasks=2, compactions=0, session_resumes=0)
        self.run.save()

    def work(self, task_id: str, agent_id: str) -> subprocess.Popen[bytes]:
        """The worker, at work on a task."""
        environ = {
            "TETHER_TASK": task_id,
            "TETHER_SESSION": agent_id,
            "TETHER_CHECKPOINT_FILE": str(self.site.base / f"{agent_id}.md"),
        }
        command = [sys.executable, "-I", "-S", str(site.WORKER), str(self.site.files)]
        return subprocess.Popen(command, cwd=self.site.repo, env=environ)

    def faults(self) -> list[str]:
        return checks.faults(self.site.evidence(self.store, []))


@pytest.fixture
def story(tmp_path: Path) -> Story:
    place = Site(tmp_path)
    place.make(2, seed=1)
    (place.files / "table.json").write_text("{}")
    place.open_gate(9)
    return Story(place, place.open_store())


@pytest.fixture
def ended(story: Story) -> Story:
    for task_id in story.site.tasks:
        story.made(task_id)
    story.end()
    return story


def test_a_run_that_went_well_has_no_faults(ended: Story) -> None:
    assert ended.faults() == []


def test_what_is_completed_twice_is_seen(ended: Story) -> None:
    ended.complete("T01", "T01.auditor")
    ended.run.save()
    found = ended.faults()
    assert "T01 was completed 2 times" in found
    assert any("T01 was completed when it was completed" in each for each in found)


def test_who_is_put_back_twice_is_seen(ended: Story) -> None:
    ended.orphan("T01", "T01.lost")
    ended.run.save()
    assert "T01.lost was put back 2 times" in ended.faults()
    assert "T01.lost came to 2 ends" in ended.faults()


def test_who_comes_to_no_end_is_seen(story: Story) -> None:
    story.made("T01")
    story.dispatch("T02", "T02.lost")
    story.run.save()
    assert "T02.lost came to 0 ends" in story.faults()
    assert any("has not ended" in each for each in story.faults())


def test_a_replay_that_loses_a_task_is_seen(ended: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """The put-back of an orphan is forgotten: its task is nowhere."""

    def forgets(fold: applying.Fold, event: events.Event) -> None:
        agent = fold.state.active_agents.pop(str(event.data["agent_id"]))
        fold.state.take_out(agent.task_id)

    monkeypatch.setitem(applying._HANDLERS, "orphan_agent_detected", forgets)
    assert any("T01 is in no position" in each for each in ended.faults())


def test_a_task_in_two_positions_is_seen(ended: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    real = applying._HANDLERS["task_complete"]

    def keeps(fold: applying.Fold, event: events.Event) -> None:
        real(fold, event)
        fold.state.pending_audit[str(event.data["task_id"])] = None

    monkeypatch.setitem(applying._HANDLERS, "task_complete", keeps)
    assert any("T01 is in 2 positions" in each for each in ended.faults())


def test_a_snapshot_that_lost_a_task_is_seen_behind_its_checksum(ended: Story) -> None:
    state = ended.run.state
    del state.completed["T02"]
    ended.run.save()
    assert ended.site.snapshot() is not None, "its checksum is right"
    found = ended.faults()
    assert any("completed_tasks differs from the snapshot" in each for each in found)
    opened = runs.Run(ended.store, ended.site.place, RUN).open()
    assert checks.whole(opened.fold) == ["T02 is in no position"]


def test_a_snapshot_of_another_past_is_seen(ended: Story) -> None:
    state, _ = documents.decode(Path(ended.run.state_file).read_bytes(), RUN)
    state.tally("T01").deaths += 1
    now = ended.run.now()
    snapshots.save(ended.run.root, state, session_id="", now=now)
    assert any("task_attempts differs" in each for each in ended.faults())


def test_two_workers_at_once_are_seen(ended: Story) -> None:
    ended.site.open_gate(0)
    (ended.site.files / "table.json").write_text(json.dumps({"T01": ["hang"] * 9}))
    first = ended.work("T01", "T01.first")
    ledger = ended.site.files / "ledger" / "T01"
    until(lambda: "T01.first" in ledger.read_text(), "the first one is at work")
    try:
        assert ended.work("T01", "T01.second").wait(60) == 1
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
    found = ended.faults()
    assert "two at once: T01.T01.second" in found
    assert "T01.first worked on T01 unasked" in found


def test_what_is_not_satisfied_or_still_there_is_seen(ended: Story) -> None:
    (ended.site.out / "T02").write_text("half of it")
    directory = f"{os.path.realpath(ended.run.root.path)}/agents/somebody"
    alive = subprocess.Popen(["sleep", "60"], env={"TETHER_JOB_DIR": directory})
    try:
        assert ended.faults() == ["not satisfied: T02", f"still alive: {alive.pid}"]
    finally:
        alive.kill()
        alive.wait()


# A control from end to end: a coordinator that forgets what a dead wrapper left behind

CARELESS = """
from tether.coordinator import crew
from tether.coordinator.jobs import looking
crew.Crew.give_up = lambda self, agent_id: looking.abandon(self.run.root, agent_id)
from tether.cli import main
main.run()
"""


def test_a_coordinator_that_does_not_end_orphans_is_caught(tmp_path: Path) -> None:
    place = Site(tmp_path)
    place.make(2, seed=1)
    (place.files / "table.json").write_text(json.dumps({"T01": ["vanish"]}))
    command = [sys.executable, "-c", CARELESS, *place.command("start")[3:]]
    careless = subprocess.Popen(
        command, cwd=place.repo, env=place.environ, stderr=subprocess.DEVNULL
    )
    try:
        until(lambda: os.listdir(place.files / "collisions"), "two are at work at once")
    finally:
        careless.kill()
        careless.wait()
        store = place.open_store()
        found = checks.faults(place.evidence(store, []))
        for pid in place.processes():
            os.kill(pid, signal.SIGKILL)
    assert any("two at once: T01." in each for each in found)
    assert files.holder(place.lock) is None


# Recovery twice is recovery once


def news(story: Story, last: int) -> list[str]:
    return [event.type for event in events.of_run(story.store, RUN, last)]


def recover(story: Story) -> None:
    ended = story.site.tether("run", "recover")
    assert ended.returncode == 0, ended.stderr
    story.run.catch_up()


def test_a_recovery_that_died_after_its_commit_has_happened(story: Story) -> None:
    story.dispatch("T01", "T01.lost")
    state = Path(story.run.state_file)
    before = state.read_bytes()
    last = story.run.state.last_applied_event

    recover(story)
    assert news(story, last) == [
        "orphan_agent_detected",
        "state_reconciled",
        "coordinator_recovered",
    ]
    last = story.run.state.last_applied_event
    # Killed before it saved: the snapshot is the old one.
    state.write_bytes(before)
    recover(story)
    assert news(story, last) == []


def test_a_pause_that_its_coordinator_did_not_survive_holds_nothing_up(story: Story) -> None:
    story.log(run_events.ASSIGNMENTS_PAUSED, reason="usage_limit")
    story.run.save()
    recover(story)
    assert story.run.state.assignments_paused_at == ""
    last = story.run.state.last_applied_event
    recover(story)
    assert news(story, last) == []


def test_a_recovery_leaves_a_compaction_to_whoever_began_it(story: Story) -> None:
    story.log(run_events.COMPACTION_START, compaction_number=1, context_remaining=8)
    story.run.save()
    recover(story)
    assert story.run.state.is_compacting
    assert story.run.state.assignments_paused_at
