"""What a run promises on every store: one order for all who write it, and one coordinator."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import agency
from tests.ledger import DIAMOND
from tether import errors, ids, workspace
from tether.coordinator import documents, integrity, options, questions, runs, snapshots, starting
from tether.coordinator.state import State
from tether.store import events, port, postgres, run_events
from tether.store.events import EventType

NAME = runs.RunId("house")
OpenRun = Callable[..., runs.Run]
HOLDER = """\
import sys
from tether import ids
from tether.store import postgres
store = postgres.PostgresStore(sys.argv[1], ids.WorkspaceId(sys.argv[2]), wait_seconds=10)
with store.exclusively("run house"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["sqlite", "postgres"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[agency.OpenStore]:
    yield from agency.closing(agency.opener_of(request.param, tmp_path / "store", request))


@pytest.fixture
def another(
    opener: agency.OpenStore, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[agency.OpenStore]:
    """A store of the same kind, which has never been written."""
    kind = opener().kind
    yield from agency.closing(agency.opener_of(kind, tmp_path / "another", request))


@pytest.fixture
def place(tmp_path: Path) -> workspace.Workspace:
    for name in ("store", "another", "top"):
        (tmp_path / name).mkdir()
    top, store = str(tmp_path / "top"), str(tmp_path / "store")
    return workspace.Workspace(top, store, store, f"{store}/tether")


@pytest.fixture
def run_of(opener: agency.OpenStore, place: workspace.Workspace) -> OpenRun:
    """The run as a process of its own sees it: with a session it coordinates."""

    def make(session_id: str = "", store: port.Store | None = None) -> runs.Run:
        actor = "coordinator" if session_id else "ada"
        return runs.Run(store or opener(), place, NAME, session_id=session_id, actor=actor)

    return make


@pytest.fixture
def coordinator(run_of: OpenRun) -> runs.Run:
    """A run that has just begun, of four tasks: T1 before T2 and T3, these before T4."""
    return begun(run_of("c1"))


def begun(run: runs.Run, plan_file: str = "plan.md") -> runs.Run:
    run.make()
    starting.begin(run, DIAMOND._replace(file=plan_file), options.Options())
    return run


def work(run: runs.Run, task_id: str, agent_id: str) -> None:
    run.log(
        run_events.DEVELOPER_DISPATCHED,
        task_id=task_id,
        agent_id=agent_id,
        blocked_by=[],
        resumed=False,
    )


def complete(run: runs.Run, task_id: str) -> None:
    run.log(
        run_events.TASK_COMPLETE,
        task_id=task_id,
        agent_id=None,
        evidence_summary="seen",
        commit_sha=None,
        branch=None,
    )


def take_over(run: runs.Run) -> None:
    run.log(run_events.COORDINATOR_RECOVERED, orphaned_agents=0, events_reconciled=0)


def replayed(run: runs.Run) -> State:
    """What the log alone says."""
    empty = runs.Run(run.store, run.place, run.name)
    empty.catch_up()
    return empty.state


# Opening


def test_a_run_that_has_begun_is_found(coordinator: runs.Run, run_of: OpenRun) -> None:
    found = run_of().open()
    assert found.state == coordinator.state
    assert found.loaded.origin == "snapshot"
    assert found.reconciled == []
    assert list(found.state.available) == ["T1"]


def test_there_is_no_run_before_one_has_begun(run_of: OpenRun) -> None:
    run = run_of()
    run.make()
    with pytest.raises(errors.NotFound):
        run.open()


def test_what_the_snapshot_lacks_is_reconciled(coordinator: runs.Run, run_of: OpenRun) -> None:
    work(coordinator, "T1", "a1")
    complete(coordinator, "T1")
    found = run_of().open()
    assert [event.type for event in found.reconciled] == ["developer_dispatched", "task_complete"]
    assert found.state == coordinator.state


@pytest.mark.parametrize("lost", [[], ["state.json"], ["state.json", "state.previous.json"]])
def test_the_log_and_the_plan_alone_give_the_state(
    coordinator: runs.Run, run_of: OpenRun, lost: list[str]
) -> None:
    work(coordinator, "T1", "a1")
    coordinator.save()
    complete(coordinator, "T1")
    for name in lost:
        Path(coordinator.root.path, name).unlink()
    assert run_of().open().state == coordinator.state == replayed(coordinator)


def test_damaged_snapshots_are_set_aside_by_whoever_coordinates(
    coordinator: runs.Run, run_of: OpenRun
) -> None:
    complete(coordinator, "T1")
    coordinator.save()
    for name in (snapshots.STATE_FILE, snapshots.PREVIOUS_FILE):
        Path(coordinator.root.path, name).write_bytes(b"\0" * 100)
    assert run_of().open().state == coordinator.state
    assert coordinator.root.exists("state.json"), "who only looks moves nothing"
    found = run_of("c2").open(tidies=True)
    assert found.state == coordinator.state
    assert [name.partition("corrupted")[0] for name in found.loaded.set_aside] == [
        "state.", "state.previous."
    ]  # fmt: skip
    assert not coordinator.root.exists("state.json")
    assert run_of("c2").open(tidies=True).state == coordinator.state


# Two who write


def test_a_verb_and_the_coordinator_see_the_same_in_the_same_order(
    coordinator: runs.Run, run_of: OpenRun
) -> None:
    verb = run_of().open()
    work(coordinator, "T1", "a1")
    asked = questions.ask(verb, "T1", "a1", "Which?", ("A", "B"))
    complete(coordinator, "T1")
    questions.answer(verb, asked, "a")
    coordinator.catch_up()
    assert coordinator.state == verb.state == replayed(verb)
    assert coordinator.state.questions[asked.id].response == "A"


def test_what_is_written_is_known_at_once(coordinator: runs.Run) -> None:
    work(coordinator, "T1", "a1")
    assert coordinator.state.in_progress == {"T1": "a1"}
    assert coordinator.catch_up() == []


def test_of_two_answers_the_first_one_counts(coordinator: runs.Run, run_of: OpenRun) -> None:
    asked = questions.ask(coordinator, "T1", "", "Which?", ("A", "B"))
    one, other = run_of().open(), run_of().open()
    questions.answer(one, asked, "A")
    with pytest.raises(errors.Taken):
        questions.answer(other, asked, "B")
    coordinator.catch_up()
    assert coordinator.state.questions[asked.id].response == "A"


def test_work_that_fails_leaves_nothing_in_the_log(coordinator: runs.Run) -> None:
    def fail(transaction: port.Transaction) -> None:
        coordinator.event(transaction, run_events.PAUSE_REQUESTED, by="ada")
        raise errors.NotAllowed

    before = events.newest_id(coordinator.store)
    with pytest.raises(errors.NotAllowed):
        coordinator.write(fail)
    assert events.newest_id(coordinator.store) == before


def test_an_event_tells_of_its_run_its_task_and_who_wrote_it(coordinator: runs.Run) -> None:
    work(coordinator, "T1", "a1")
    [event] = events.latest(coordinator.store, 1)
    assert (event.run, event.source, event.task) == ("house", "house", "T1")
    assert (event.actor, event.session) == ("coordinator", "c1")


def test_an_unknown_event_of_a_run_is_kept_and_skipped(
    coordinator: runs.Run, run_of: OpenRun
) -> None:
    praised = EventType("task_praised", ("task_id",), "Of a Tether to come.")
    coordinator.log(praised, task_id="T1")
    complete(coordinator, "T1")
    assert coordinator.state.skipped_events == 1
    assert run_of().open().state == coordinator.state
    assert "task_praised" in [e.type for e in events.of_run(coordinator.store, NAME, 0)]


def test_the_events_of_one_run_are_not_those_of_another(
    coordinator: runs.Run, opener: agency.OpenStore, place: workspace.Workspace
) -> None:
    other = begun(runs.Run(opener(), place, runs.RunId("garden"), session_id="c9"))
    complete(other, "T1")
    assert coordinator.catch_up() == []
    assert runs.names(coordinator.store, place) == ["house", "garden"]


# One coordinator


def test_a_coordinator_that_was_replaced_writes_nothing(
    coordinator: runs.Run, run_of: OpenRun
) -> None:
    take_over(run_of("c2").open(tidies=True))
    before = events.newest_id(coordinator.store)
    with pytest.raises(runs.Superseded):
        work(coordinator, "T1", "a1")
    assert events.newest_id(coordinator.store) == before


def test_it_still_writes_nothing_once_it_has_read_that_it_was_replaced(
    coordinator: runs.Run, run_of: OpenRun
) -> None:
    """Each round of the loop begins with reading what is new."""
    take_over(run_of("c2").open(tidies=True))
    before = events.newest_id(coordinator.store)
    coordinator.catch_up()
    with pytest.raises(runs.Superseded):
        work(coordinator, "T1", "a1")
    assert events.newest_id(coordinator.store) == before


def test_a_coordinator_is_current_until_the_log_says_otherwise(
    coordinator: runs.Run, run_of: OpenRun
) -> None:
    """A round that finds nothing to write ends as well."""
    successor = run_of("c2").open(tidies=True)
    coordinator.catch_up()
    coordinator.require_current()
    take_over(successor)
    coordinator.catch_up()
    with pytest.raises(runs.Superseded):
        coordinator.require_current()
    successor.catch_up()
    successor.require_current()


def test_what_was_taken_over_before_it_was_opened_is_no_matter(
    coordinator: runs.Run, run_of: OpenRun
) -> None:
    take_over(run_of("c2").open(tidies=True))
    third = run_of("c3").open(tidies=True)
    third.require_current()
    take_over(third)
    third.require_current()
    work(third, "T1", "a1")


def test_whoever_takes_over_may_write(coordinator: runs.Run, run_of: OpenRun) -> None:
    successor = run_of("c2").open(tidies=True)
    take_over(successor)
    successor.catch_up()
    work(successor, "T1", "a1")
    assert successor.state.in_progress == {"T1": "a1"}


def test_the_answers_of_others_do_not_replace_a_coordinator(
    coordinator: runs.Run, run_of: OpenRun
) -> None:
    run_of().open().log(run_events.PAUSE_REQUESTED, by="ada")
    work(coordinator, "T1", "a1")
    assert coordinator.state.pause_requested


def test_a_name_has_one_holder_on_whatever_machine(postgres_url: str) -> None:
    """Two connections are two machines to the server; within one the files' lock does it."""
    open_ = agency.postgres_opener(postgres_url)
    one, other = open_(), open_()
    try:
        with one.exclusively("run house"):
            with pytest.raises(errors.LockBusy), other.exclusively("run house"):
                pass
            with other.exclusively("run garden"):
                pass
        with other.exclusively("run house"):
            pass
    finally:
        one.close()
        other.close()


def test_a_name_is_free_when_its_holder_was_killed(postgres_url: str) -> None:
    own = ids.WorkspaceId.generate()
    command = [sys.executable, "-c", HOLDER, postgres_url, own]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            assert not is_free(postgres_url, own)
        finally:
            holder.kill()
        deadline = time.monotonic() + 30
        while not is_free(postgres_url, own):
            assert time.monotonic() < deadline, "the server still waits for the dead"


def is_free(url: str, own: ids.WorkspaceId) -> bool:
    store = postgres.PostgresStore(url, own, wait_seconds=10)
    try:
        with store.exclusively("run house"):
            return True
    except errors.LockBusy:
        return False
    finally:
        store.close()


# A store that was lost


def lost(run: runs.Run) -> runs.Run:
    """A run in the middle of something, with a snapshot of it."""
    complete(run, "T1")
    work(run, "T2", "a2")
    questions.ask(run, "T3", "", "Which?", ("A", "B"))
    run.save()
    return run


def told(state: State) -> dict[str, object]:
    """All that a state says, but for where in which log."""
    without = ("last_applied_event", "last_event_at", "skipped_events")
    return {k: v for k, v in documents.plain(state).items() if k not in without}


def test_nothing_is_lost_with_the_store(
    coordinator: runs.Run, run_of: OpenRun, another: agency.OpenStore
) -> None:
    before = told(lost(coordinator).state)
    found = run_of("c2", another()).open(tidies=True)
    assert told(found.state) == before == told(replayed(found))
    assert [event.type for event in events.of_run(found.store, NAME, 0)] == [
        "event_log_reconstructed", "state_checkpoint"
    ]  # fmt: skip
    assert integrity.problems(found.state, found.outlook) == []


def test_the_new_log_goes_on_from_there(
    coordinator: runs.Run, run_of: OpenRun, another: agency.OpenStore
) -> None:
    lost(coordinator)
    found = run_of("c2", another()).open(tidies=True)
    complete(found, "T2")
    found.save()
    again = run_of("c3", another()).open(tidies=True)
    assert again.state == found.state == replayed(again)
    assert "T2" in again.state.completed
    assert len(events.of_run(again.store, NAME, 0)) == 3


def test_who_only_looks_writes_nothing_to_a_new_store(
    coordinator: runs.Run, run_of: OpenRun, another: agency.OpenStore
) -> None:
    lost(coordinator)
    found = run_of("", another()).open()
    assert told(found.state) == told(coordinator.state)
    assert events.newest_id(found.store) == 0


def test_whoever_dies_before_the_snapshot_follows_has_lost_nothing(
    coordinator: runs.Run, run_of: OpenRun, another: agency.OpenStore
) -> None:
    """The log was made anew, more was written to it, and the snapshot is still the old one."""
    lost(coordinator)
    found = run_of("c2", another()).open(tidies=True)
    complete(found, "T2")
    again = run_of("c3", another()).open(tidies=True)
    assert again.state == found.state == replayed(again)


def test_what_a_verb_wrote_before_the_log_was_made_anew_counts(
    coordinator: runs.Run, run_of: OpenRun, another: agency.OpenStore
) -> None:
    [asked] = lost(coordinator).state.open_questions
    verb = run_of("", another()).open()
    questions.answer(verb, asked, "A")
    found = run_of("c2", another()).open(tidies=True)
    assert found.state.questions[asked.id].response == "A"
    assert told(found.state) == told(replayed(found))


def test_a_snapshot_of_another_run_is_not_taken_for_ones_own(
    coordinator: runs.Run, opener: agency.OpenStore, place: workspace.Workspace
) -> None:
    other = begun(runs.Run(opener(), place, runs.RunId("garden"), session_id="c9"))
    complete(other, "T1")
    other.save()
    stolen = other.root.read_bytes(snapshots.STATE_FILE)
    coordinator.root.write_atomic(snapshots.STATE_FILE, stolen)
    found = runs.Run(opener(), place, NAME, session_id="c2").open(tidies=True)
    assert found.state == coordinator.state


# Which run


def test_a_plan_whose_run_is_not_over_keeps_it(run_of: OpenRun) -> None:
    run = begun(run_of("c1"), "plans/House.md")
    assert starting.name_for(run.store, run.place, "plans/House.md") == "house"


def test_another_plan_of_the_same_name_gets_a_run_of_its_own(run_of: OpenRun) -> None:
    run = begun(run_of("c1"), "plans/House.md")
    assert starting.name_for(run.store, run.place, "old/house.md") == "house-2"
    begun(runs.Run(run.store, run.place, runs.RunId("house-2"), session_id="c2"), "old/house.md")
    assert starting.name_for(run.store, run.place, "old/house.md") == "house-2"
    assert starting.name_for(run.store, run.place, "plans/House.md") == "house"
    assert starting.name_for(run.store, run.place, "house.md") == "house-3"


def test_a_plan_whose_run_is_over_gets_a_new_one(run_of: OpenRun) -> None:
    run = begun(run_of("c1"), "house.md")
    store, place = run.store, run.place
    run.log(run_events.WORKFLOW_FAILED, reason="what is left has failed", last_state={"failed": 1})
    assert starting.name_for(store, place, "house.md") == "house-2"
    begun(runs.Run(store, place, runs.RunId("house-2"), session_id="c2"), "house.md")
    assert starting.name_for(store, place, "house.md") == "house-2"
    assert starting.latest(store, place) == "house-2"


def test_the_latest_run_is_one_that_is_not_over(run_of: OpenRun) -> None:
    run = begun(run_of("c1"))
    other = begun(runs.Run(run.store, run.place, runs.RunId("garden"), session_id="c2"))
    assert starting.latest(run.store, run.place) == "garden"
    other.log(run_events.WORKFLOW_FAILED, reason="what is left has failed", last_state={})
    assert starting.latest(run.store, run.place) == "house"
    other.log(run_events.SESSION_RESUME, resume_count=1, tasks_to_revalidate=[])
    assert starting.latest(run.store, run.place) == "garden", "it is tried again"


def test_a_run_whose_plan_is_lost_is_no_run_of_a_plan_any_more(run_of: OpenRun) -> None:
    run = begun(run_of("c1"), "house.md")
    shutil.rmtree(run.root.path)
    assert starting.name_for(run.store, run.place, "house.md") == "house-2"


def test_a_run_that_was_prepared_but_never_began_is_no_obstacle(
    coordinator: runs.Run, place: workspace.Workspace
) -> None:
    runs.Run(coordinator.store, place, runs.RunId("garden")).make()
    assert starting.name_for(coordinator.store, place, "garden.md") == "garden"
    assert starting.latest(coordinator.store, place) == "house"


def test_a_run_whose_plan_is_lost_does_not_hide_the_others(
    coordinator: runs.Run, opener: agency.OpenStore, place: workspace.Workspace
) -> None:
    shutil.rmtree(coordinator.root.path)
    begun(runs.Run(opener(), place, runs.RunId("garden"), session_id="c9"))
    assert starting.latest(coordinator.store, place) == "garden"


def test_without_a_run_there_is_no_latest(
    opener: agency.OpenStore, place: workspace.Workspace
) -> None:
    with pytest.raises(errors.NotFound):
        starting.latest(opener(), place)
