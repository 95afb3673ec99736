"""Which plan counts once its file has changed, and what waits for a person."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from tests import agency
from tests.ledger import DIAMOND, Ledger, plan, task
from tether import config, errors, workspace
from tether.coordinator import (
    choosing,
    crew,
    options,
    questions,
    replanning,
    runs,
    settling,
    starting,
    taskfiles,
)
from tether.coordinator.limits import Limits
from tether.coordinator.plans import model, reading
from tether.store import run_events, sqlite


def criteria(*commands: str) -> tuple[model.Criterion, ...]:
    return tuple(model.Criterion(f"run: {each}", each) for each in commands)


OLD = plan(task("T1", criteria=criteria("make")), task("T2", criteria=criteria("make")))
EASIER = plan(task("T1", criteria=criteria("true")), task("T2", criteria=criteria("true")))


def worded(*words: str) -> tuple[model.Criterion, ...]:
    return tuple(model.Criterion(each) for each in words)


def known(begun: set[str], accepted: set[str]) -> replanning.Known:
    return replanning.Known(begun, accepted=accepted)


def test_a_command_that_nobody_has_seen_waits_whoever_has_begun() -> None:
    found, held = replanning.merged(OLD, EASIER, known({"T1"}, set()))
    assert [each.commands for each in found.tasks] == [("make",), ("make",)]
    assert held == ("T1", "T2")


def test_a_new_task_waits_with_what_it_would_run() -> None:
    new = plan(*OLD.tasks, task("T3", criteria=criteria("true")), task("T4"))
    assert replanning.merged(OLD, new, known(set(), set())) == (new, ("T3",))


def test_other_words_count_at_once_if_nobody_has_begun() -> None:
    words = task("T1", criteria=(*OLD.tasks[0].criteria, *worded("It is dry.")))
    new = plan(words, OLD.tasks[1])
    assert replanning.merged(OLD, new, known(set(), set())) == (new, ())
    found, held = replanning.merged(OLD, new, known({"T1"}, set()))
    assert (found, held) == (OLD, ("T1",))


def test_fewer_commands_wait_too() -> None:
    two = plan(task("T1", criteria=criteria("make", "make check")))
    one = plan(task("T1", criteria=criteria("make")))
    assert replanning.merged(two, one, known(set(), set())) == (two, ("T1",))


def test_a_task_that_comes_back_waits_whatever_it_says_now() -> None:
    back = plan(*OLD.tasks, task("T3"))
    gone = replanning.Known(set(), gone={"T3"})
    assert replanning.merged(OLD, back, gone) == (back, ("T3",))


def test_a_new_task_with_a_question_of_before_is_not_there_yet() -> None:
    """Whatever is answered to that one would let it go."""
    back = plan(*OLD.tasks, task("T3", criteria=criteria("true")))
    waiting = replanning.Known(set(), gone={"T3"}, waiting={"T3"})
    assert replanning.merged(OLD, back, waiting) == (OLD, ("T3",))


@pytest.mark.parametrize(
    ("before", "after", "is_other"),
    [
        (None, (), False),
        (None, ("make",), True),
        (("make",), ("make",), False),
        (("make", "true"), ("true", "make"), False),
        (("make",), ("make", "true"), True),
    ],
)
def test_whether_other_commands_would_be_executed(
    before: tuple[str, ...] | None, after: tuple[str, ...], is_other: bool
) -> None:
    known = None if before is None else task("T1", criteria=criteria(*before))
    found = replanning.has_other_commands(known, task("T1", criteria=criteria(*after)))
    assert found == is_other


def test_the_rest_of_a_started_task_changes() -> None:
    new = plan(task("T1", "T2", criteria=criteria("true"), work="More."), OLD.tasks[1])
    found, _ = replanning.merged(OLD, new, known({"T1"}, set()))
    assert found.by_id["T1"] == new.tasks[0]._replace(criteria=OLD.tasks[0].criteria)


def test_what_a_person_has_accepted_counts() -> None:
    accepted = {replanning._context(each) for each in EASIER.tasks}
    found, held = replanning.merged(OLD, EASIER, known({"T1"}, accepted))
    assert (found, held) == (EASIER, ())


def test_accepting_one_change_is_not_accepting_the_next() -> None:
    accepted = {replanning._context(EASIER.tasks[0])}
    worse = plan(task("T1", criteria=criteria(":")), OLD.tasks[1])
    _, held = replanning.merged(OLD, worse, known({"T1"}, accepted))
    assert held == ("T1",)


def test_the_same_criteria_on_other_lines_are_no_change() -> None:
    moved = [each._replace(criteria=(each.criteria[0]._replace(line=9),)) for each in OLD.tasks]
    _, held = replanning.merged(OLD, plan(*moved), known({"T1", "T2"}, set()))
    assert held == ()


def test_tasks_come_and_go_whoever_has_begun() -> None:
    new = plan(task("T3"))
    assert replanning.merged(OLD, new, known({"T1", "T2"}, set())) == (new, ())


def test_whoever_was_tried_has_begun() -> None:
    ledger = Ledger(DIAMOND)
    assert replanning.started(ledger.state) == set()
    ledger.work("T1", "a1")
    ledger.tell(run_events.ORPHAN_AGENT_DETECTED)
    assert replanning.started(ledger.state) == {"T1"}
    ledger.complete("T1", "T2")
    ledger.work("T3", "a3")
    assert replanning.started(ledger.state) == {"T1", "T2", "T3"}


def test_looking_at_a_task_is_not_beginning_it() -> None:
    ledger = Ledger(DIAMOND)
    ledger.state.tally("T1")
    assert replanning.started(ledger.state) == set()


# Following the file


class Scene:
    """A run of a plan whose file is edited while it goes on."""

    def __init__(self, base: Path) -> None:
        store = base / "store"
        store.mkdir()
        place = workspace.Workspace(str(base), str(store), str(store), f"{store}/tether")
        self.run = runs.Run(
            sqlite.SqliteStore(place, wait_seconds=10), place, runs.RunId("plan"), session_id="c1"
        )
        self.file = base / "plan.md"
        self._edits = 0
        self.write({"T1": "make"})
        self.run.make()
        starting.begin(self.run, reading.read(str(base), "plan.md")[0], options.Options("worker"))
        keeper = taskfiles.Keeper(self.run.store, agency.spot(), settings(place), no_lists)
        hands = crew.Crew(self.run, options.Options("worker"), Limits(), agency.spot(), {}, keeper)
        self.settler = settling.Settler(hands)
        self.watcher = replanning.Watcher(self.settler)
        assert self.watcher.look() == ""

    def write(self, commands: dict[str, str]) -> None:
        """Tasks and the command of each; what has none has a criterion in words."""
        said = {name: f"run: `{each}`" if each else "It is dry." for name, each in commands.items()}
        self.file.write_text(
            "".join(
                f"#### Task {name}: Make it\n**Work**: make it\n"
                f"**Acceptance Criteria**\n- [ ] {each}\n\n"
                for name, each in said.items()
            )
        )
        # However coarse the clock of the disk is.
        self._edits += 1
        os.utime(self.file, ns=(self._edits, self._edits))

    def edit(self, commands: dict[str, str]) -> str:
        self.write(commands)
        return self.watcher.look()

    def answer(self, response: str) -> None:
        [asked] = self.run.state.open_questions
        questions.answer(self.run, asked, response)
        self.watcher.look()

    def commands(self, task_id: str) -> tuple[str, ...]:
        return self.run.outlook.tasks[task_id].commands

    def offered(self) -> list[str]:
        """What would be given out now."""
        found = choosing.choose(self.run.state, self.run.outlook, {}, 9)
        return [offer.task_id for offer in found]

    def work(self, task_id: str) -> None:
        """A worker is given a task."""
        self.run.log(
            run_events.DEVELOPER_DISPATCHED,
            task_id=task_id,
            agent_id="a1",
            blocked_by=[],
            resumed=False,
        )

    def asked(self) -> list[str]:
        return [each.task_id for each in self.run.state.open_questions]


def settings(place: workspace.Workspace) -> config.Settings:
    return config.load(place, {})


def no_lists(_top: str) -> NoReturn:
    raise AssertionError("the tasks of a plan's file are on no list")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.run.store.close()


def test_a_new_task_comes_together_with_its_question(scene: Scene) -> None:
    assert scene.edit({"T1": "make", "T2": "true"}) == "The plan has changed: new: T2"
    assert (scene.asked(), scene.offered()) == (["T2"], ["T1"])
    scene.answer("accept")
    assert scene.offered() == ["T1", "T2"]


def test_there_is_no_moment_between_the_task_and_its_question(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object) -> None:
        raise OSError("killed here")

    monkeypatch.setattr(scene.settler, "say_asked", die)
    with pytest.raises(OSError, match="killed here"):
        scene.edit({"T1": "make", "T2": "true"})
    scene.run.catch_up()
    assert scene.offered() == ["T1"]
    assert "T2" not in scene.run.outlook.tasks


def test_a_new_task_that_is_left_out_is_never_given_out(scene: Scene) -> None:
    scene.edit({"T1": "make", "T2": "true"})
    scene.answer("skip")
    assert scene.offered() == ["T1"]
    assert scene.run.state.failed == {"T2": "a person left it out"}


def test_a_new_task_that_runs_nothing_counts_at_once(scene: Scene) -> None:
    scene.edit({"T1": "make", "T2": ""})
    assert (scene.asked(), scene.offered()) == ([], ["T1", "T2"])


def test_a_new_command_of_a_task_that_nobody_began_waits_and_so_does_the_task(
    scene: Scene,
) -> None:
    scene.edit({"T1": "true"})
    assert (scene.asked(), scene.offered()) == (["T1"], [])
    assert scene.commands("T1") == ("make",)
    scene.answer("accept")
    assert (scene.commands("T1"), scene.offered()) == (("true",), ["T1"])


def test_what_a_person_keeps_is_not_asked_again(scene: Scene) -> None:
    scene.edit({"T1": "true"})
    scene.answer("keep")
    assert (scene.commands("T1"), scene.asked(), scene.offered()) == (("make",), [], ["T1"])
    assert scene.run.state.guidance == {}


def test_a_file_that_nobody_touched_is_not_read_again(scene: Scene) -> None:
    scene.edit({"T1": "true"})
    before = scene.run.state.last_applied_event
    assert scene.watcher.look() == ""
    assert scene.run.state.last_applied_event == before


# What a worker could try


def test_what_was_accepted_of_one_task_was_not_accepted_of_another(scene: Scene) -> None:
    scene.edit({"T1": "make", "T2": "true"})
    scene.answer("accept")
    scene.edit({"T1": "true", "T2": "true"})
    assert (scene.commands("T1"), scene.asked()) == (("make",), ["T1"])


def test_what_was_left_out_does_not_come_back_under_another_name(scene: Scene) -> None:
    scene.edit({"T1": "make", "T2": "true"})
    scene.answer("skip")
    scene.edit({"T1": "make", "T3": "true"})
    assert (scene.asked(), scene.offered()) == (["T3"], ["T1"])


def test_what_was_left_out_does_not_come_back_by_going_away(scene: Scene) -> None:
    scene.edit({"T1": "make", "T2": "true"})
    scene.answer("skip")
    scene.edit({"T1": "make"})
    scene.edit({"T1": "make", "T2": "true"})
    assert (scene.asked(), scene.offered()) == (["T2"], ["T1"])


def test_a_started_task_does_not_get_rid_of_its_criteria_by_going_away(scene: Scene) -> None:
    scene.edit({"T1": "make", "T2": ""})
    scene.work("T1")
    scene.edit({"T2": ""})
    scene.edit({"T1": "", "T2": ""})
    assert scene.asked() == ["T1"]


def test_a_new_task_is_accepted_or_left_out_and_nothing_in_between(scene: Scene) -> None:
    scene.edit({"T1": "make", "T2": "true"})
    with pytest.raises(errors.UsageError):
        scene.answer("no, never")
    assert (scene.asked(), scene.offered()) == (["T2"], ["T1"])
