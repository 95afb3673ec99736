"""Every call of saving and loading a run's state fails once, in every way; then life goes on.

Whatever happens, what is found afterwards is the state before or the state after and never a third,
what was damaged is still there under some name, and a second look finds what the first one found.

`python -m tests.fault.test_run_snapshots DIRECTORY SCENARIO` prints how many points were tried and
what was found broken.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.fault import boundary
from tests.figures import Figures
from tests.ledger import DIAMOND, RUN, START, Ledger
from tests.scale import SCALE
from tether import errors, files, workspace
from tether.coordinator import copies, documents, options, runs, snapshots, starting
from tether.coordinator.plans import reading
from tether.coordinator.state import State
from tether.store import port, run_events, sqlite

TORN, DAMAGED = b'{"checksum":"', b"\0\0 not a snapshot \0\0"
STATE, PREVIOUS = snapshots.STATE_FILE, snapshots.PREVIOUS_FILE
TEMP = f"{files.TEMP_PREFIX}of-somebody-who-died"
PLAN = """\
# House

## Task T1: Dig

**Work**: Dig.

## Task T2: Build

**Work**: Build.
**Blocked By**: T1
"""


class Stand(boundary.Boundary):
    """Also the calls that only look: a disk that fails does not wait until it is written."""

    def install(self) -> None:
        really_stat = os.stat
        super().install()
        for name in ("read", "stat", "fstat", "listdir"):
            setattr(os, name, self._disturbed(name, getattr(os, name)))
        disturbed_stat = os.stat

        def stat(path: Any, **more: Any) -> os.stat_result:
            # By a directory that is open: the store looks at its own file by its path.
            return (disturbed_stat if more.get("dir_fd") is not None else really_stat)(path, **more)

        setattr(os, "stat", stat)  # noqa: B010 - a stand-in on purpose


# What is saved


def states() -> tuple[State, State, State, State]:
    """A run at four moments, one after the other."""
    ledger = Ledger(DIAMOND)
    found = []
    for step in (
        lambda: ledger.work("T1", "a1"),
        lambda: ledger.tell(run_events.DEVELOPER_CHECKPOINT, checkpoint="x" * 5000),
        lambda: ledger.complete("T1"),
        lambda: ledger.work("T2", "a2"),
    ):
        step()
        found.append(documents.state_of(documents.plain(ledger.state), RUN))
    one, two, three, four = found
    return one, two, three, four


FIRST, OLD, NEW, NEXT = states()


def save(root: files.Root, state: State) -> None:
    snapshots.save(root, state, session_id="s1", now=START)


def load(root: files.Root, *, tidies: bool) -> State | None:
    return snapshots.load(root, RUN, START, tidies=tidies).state


def on_disk(root: files.Root) -> dict[str, bytes]:
    names = [name for name in os.listdir(root.path) if Path(root.path, name).is_file()]
    return {name: Path(root.path, name).read_bytes() for name in names}


def write(root: files.Root, name: str, content: bytes) -> None:
    Path(root.path, name).write_bytes(content)


# The scenarios


class Scenario(NamedTuple):
    """An action, what was there before it, and what may be found after it."""

    prepare: Callable[[files.Root], None]
    act: Callable[[files.Root], None]
    may_be: tuple[State | None, ...]
    """What a look may find; the last one is what is found if nothing fails."""
    kept: tuple[bytes, ...] = ()
    """What must never be lost."""


def prepare_nothing(_: files.Root) -> None:
    pass


def prepare_saved(root: files.Root) -> None:
    save(root, FIRST)
    save(root, OLD)


def prepare_torn(root: files.Root) -> None:
    prepare_saved(root)
    write(root, TEMP, TORN)


def prepare_damaged(root: files.Root) -> None:
    prepare_torn(root)
    write(root, STATE, DAMAGED)


def prepare_all_damaged(root: files.Root) -> None:
    prepare_damaged(root)
    write(root, PREVIOUS, DAMAGED + b"2")


def tidy(root: files.Root) -> None:
    load(root, tidies=True)


def tidy_and_save(root: files.Root) -> None:
    load(root, tidies=True)
    save(root, NEW)


def save_in_place(root: files.Root) -> None:
    """The control: what `open(..., "w")` does."""
    raw = documents.encode(NEW, session_id="s1", saved_at=START, reason="progress")
    fd = os.open(os.path.join(root.path, STATE), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(fd, raw)
    os.close(fd)


def save_after_moving_away(root: files.Root) -> None:
    """The control: for a moment there is only the one before, and then nothing of it is kept."""
    os.unlink(os.path.join(root.path, PREVIOUS))
    os.rename(os.path.join(root.path, STATE), os.path.join(root.path, "gone"))
    save(root, NEW)


def delete_what_is_damaged(root: files.Root) -> None:
    """The control: loading that throws away what it cannot read."""
    if load(root, tidies=False) != OLD:
        os.unlink(os.path.join(root.path, STATE))


SCENARIOS = {
    "the first save": Scenario(prepare_nothing, lambda root: save(root, NEW), (None, NEW)),
    "a save": Scenario(prepare_saved, lambda root: save(root, NEW), (OLD, NEW)),
    "a save beside a torn one": Scenario(prepare_torn, lambda root: save(root, NEW), (OLD, NEW)),
    "a load": Scenario(prepare_torn, tidy, (OLD,)),
    "a load of what is damaged": Scenario(prepare_damaged, tidy, (FIRST,), (DAMAGED,)),
    "a load with nothing whole": Scenario(
        prepare_all_damaged, tidy, (None,), (DAMAGED, DAMAGED + b"2")
    ),
    "a load and a save": Scenario(prepare_damaged, tidy_and_save, (FIRST, NEW), (DAMAGED,)),
    "control: a save in place": Scenario(prepare_saved, save_in_place, (OLD, NEW)),
    "control: a save by moving away": Scenario(prepare_saved, save_after_moving_away, (OLD, NEW)),
    "control: damage is deleted": Scenario(
        prepare_damaged, delete_what_is_damaged, (FIRST,), (DAMAGED,)
    ),
}


def complaints(scenario: Scenario, fault: boundary.Fault, directory: str) -> list[str]:
    root = files.Root(tempfile.mkdtemp(dir=directory))
    scenario.prepare(root)
    before = on_disk(root)
    outcome = boundary.in_child(lambda: scenario.act(root), fault, Stand)
    problems = complaints_of_words(fault, outcome)
    try:
        problems += complaints_of_look(scenario, root, outcome, before)
        problems += complaints_of_going_on(scenario, root)
    except errors.TetherError as problem:
        problems.append(f"no way on: {problem.message}")
    return [f"{fault.mode} at {fault.at}: {problem}" for problem in problems]


def complaints_of_words(fault: boundary.Fault, outcome: boundary.Outcome) -> list[str]:
    if fault.mode == "kill before":
        allowed: tuple[str, ...] = ("killed",)
    elif fault.mode == "kill after":
        allowed = ("killed", "ok")  # a call that finds nothing has no after
    elif fault.mode == "short":
        allowed = ("ok",)
    else:
        # `ok` where the call was not needed: an owner that could not be given, a leftover.
        allowed = ("ok", "file_failed", "disk_full")
    return [] if outcome.word in allowed else [f"ended with {outcome.word}: {outcome.message}"]


def complaints_of_look(
    scenario: Scenario, root: files.Root, outcome: boundary.Outcome, before: dict[str, bytes]
) -> list[str]:
    problems = []
    found = load(root, tidies=False)
    if found not in scenario.may_be:
        problems.append("a third state")
    if outcome.word == "ok" and found != scenario.may_be[-1]:
        problems.append("acknowledged but not done")
    left = on_disk(root)
    problems += [f"lost: {each!r}" for each in scenario.kept if each not in left.values()]
    if found == NEW and STATE in before and before[STATE] not in (*left.values(),):
        problems.append("the one before is not kept")
    for name in {STATE, PREVIOUS} & left.keys():
        if left[name] not in before.values() and is_torn(left[name]):
            problems.append(f"torn: {name}")
    return problems


def is_torn(raw: bytes) -> bool:
    try:
        documents.decode(raw, RUN)
    except documents.SnapshotDamaged:
        return True
    return False


def complaints_of_going_on(scenario: Scenario, root: files.Root) -> list[str]:
    """Whoever has the lock next finds the same, twice, leaves nothing torn, and can save."""
    problems = []
    looked = load(root, tidies=False)
    once, tidied = load(root, tidies=True), on_disk(root)
    twice = load(root, tidies=True)
    if not looked == once == twice or on_disk(root) != tidied:
        problems.append("loading twice is not loading once")
    if [name for name in tidied if name.startswith(files.TEMP_PREFIX)]:
        problems.append("a torn file is left")
    problems += [f"lost: {each!r}" for each in scenario.kept if each not in tidied.values()]
    save(root, NEXT)
    if load(root, tidies=True) != NEXT:
        problems.append("the next save is not found")
    os.unlink(os.path.join(root.path, STATE))
    if load(root, tidies=True) != once:
        problems.append("the one before the next save is not kept")
    return problems


def calls_of(act: Callable[[], None]) -> list[str]:
    outcome = boundary.in_child(act, None, Stand)
    assert outcome.word == "ok", outcome
    return outcome.calls


def faults_of(calls: list[str]) -> list[boundary.Fault]:
    """Every call in every way; for a small scale each call in some, others for each."""
    found = [
        boundary.Fault(at, mode)
        for at, call in enumerate(calls)
        for mode in boundary.MODES
        if mode != "short" or call == "write"
    ]
    return found if SCALE >= 1 else found[:: 3 if len(calls) < 35 else 5]


def sweep(directory: str, name: str) -> dict[str, object]:
    if name in RUNS:
        return sweep_run(directory, name)
    scenario = SCENARIOS[name]
    root = files.Root(tempfile.mkdtemp(dir=directory))
    scenario.prepare(root)
    calls = calls_of(lambda: scenario.act(root))
    faults = faults_of(calls)
    found = [line for fault in faults for line in complaints(scenario, fault, directory)]
    return {"calls": calls, "points": len(faults), "complaints": found}


# A whole run: its snapshots, its copy of the plan, and its log


class House(NamedTuple):
    """A run in a directory of its own, with a store."""

    place: workspace.Workspace
    kept: str

    @classmethod
    def build(cls, directory: str) -> House:
        top = f"{tempfile.mkdtemp(dir=directory)}/top"
        own = f"{top}/store"
        os.makedirs(own)
        house = cls(workspace.Workspace(top, own, own, f"{own}/tether"), f"{top}.kept")
        Path(top, "plan.md").write_text(PLAN)
        run = house.run()
        run.make()
        plan, problems = reading.read(top, "plan.md")
        assert not problems
        starting.begin(run, plan, options.Options())
        for number in range(3):
            run.log(run_events.PAUSE_REQUESTED, by=f"ada {number}")
            run.save()
        run.log(
            run_events.DEVELOPER_DISPATCHED,
            task_id="T1",
            agent_id="a1",
            blocked_by=[],
            resumed=False,
        )
        run.store.close()
        return house

    def keep(self) -> None:
        shutil.copytree(self.place.place, self.kept)

    def bring_back(self) -> None:
        shutil.rmtree(self.place.place)
        shutil.copytree(self.kept, self.place.place)

    def store(self) -> port.Store:
        return sqlite.SqliteStore(self.place, wait_seconds=10)

    def run(self) -> runs.Run:
        return runs.Run(self.store(), self.place, runs.RunId(RUN), session_id="s1")

    @property
    def root(self) -> files.Root:
        return files.Root(runs.directory(self.place, RUN))

    def found(self, *, tidies: bool) -> tuple[State, str]:
        """The state, and the work of a task as the plan that counts has it."""
        run = self.run()
        try:
            run.open(tidies=tidies)
            return run.state, run.outlook.tasks["T2"].work
        finally:
            run.store.close()

    def rebuild(self) -> None:
        run = self.run()
        try:
            run.open(tidies=True)
            run.save("recovery")
        finally:
            run.store.close()


def damage_snapshots(house: House) -> None:
    write(house.root, STATE, DAMAGED)
    write(house.root, PREVIOUS, DAMAGED + b"2")


def damage_plan(house: House) -> None:
    damage_snapshots(house)
    for path in Path(house.root.path, "plans").iterdir():
        path.write_bytes(path.read_bytes()[:-20])


def keep_plan(house: House) -> None:
    plan, _ = reading.read(house.place.root or "", "plan.md")
    copies.keep(house.root, plan)


RUNS: dict[str, tuple[Callable[[House], None], Callable[[House], None]]] = {
    "rebuilding from the events and the plan": (damage_snapshots, House.rebuild),
    "rebuilding with a damaged copy of the plan": (damage_plan, House.rebuild),
    "keeping a copy of the plan": (damage_plan, keep_plan),
}


def sweep_run(directory: str, name: str) -> dict[str, object]:
    damage, act = RUNS[name]
    house = House.build(directory)
    known = house.found(tidies=False)
    damage(house)
    house.keep()
    calls = calls_of(lambda: act(house))
    faults = faults_of(calls)
    found = []
    for fault in faults:
        house.bring_back()
        outcome = boundary.in_child(lambda: act(house), fault, Stand)
        problems = complaints_of_run(house, known, outcome)
        found += [f"{fault.mode} at {fault.at}: {problem}" for problem in problems]
    return {"calls": calls, "points": len(faults), "complaints": found}


def complaints_of_run(
    house: House, known: tuple[State, str], outcome: boundary.Outcome
) -> list[str]:
    problems = []
    if outcome.word not in ("ok", "killed", "file_failed", "disk_full"):
        problems.append(f"ended with {outcome.word}: {outcome.message}")
    try:
        looked = house.found(tidies=False)
        house.rebuild()
        once, twice = house.found(tidies=True), house.found(tidies=True)
    except errors.TetherError as problem:
        return [*problems, f"no way on: {problem.message}"]
    if not looked == once == twice == known:
        problems.append("it is not what it was")
    left = on_disk(house.root).values()
    problems += [f"lost: {each!r}" for each in (DAMAGED, DAMAGED + b"2") if each not in left]
    return problems


# The tests

REAL = [*(name for name in SCENARIOS if not name.startswith("control")), *RUNS]
CONTROLS = [name for name in SCENARIOS if name.startswith("control")]


@pytest.mark.proof(room="coordinator")
@pytest.mark.parametrize("name", REAL)
def test_no_failing_call_gives_a_third_state_in(
    tmp_path: Path, name: str, figures: Figures
) -> None:
    report = boundary.run_alone("test_run_snapshots", str(tmp_path), name)
    figures.add(
        f"every call of {name} killed or failed",
        calls=len(report["calls"]),
        points=report["points"],
        complaints=len(report["complaints"]),
    )
    assert report["complaints"] == []
    assert report["points"] >= len(report["calls"]) > 0


@pytest.mark.parametrize("name", CONTROLS)
def test_the_check_catches(tmp_path: Path, name: str) -> None:
    assert boundary.run_alone("test_run_snapshots", str(tmp_path), name)["complaints"]


# What disks and editors do to a snapshot

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "nothing is left": lambda _: b"",
    "the end is gone": lambda raw: raw[: len(raw) // 2],
    "the last byte is gone": lambda raw: raw[:-1],
    "the beginning is gone": lambda raw: raw[100:],
    "zeros": lambda raw: b"\0" * len(raw),
    "a block of zeros": lambda raw: raw[:512] + b"\0" * 512 + raw[1024:],
    "a flipped bit": lambda raw: raw[:400] + bytes([raw[400] ^ 4]) + raw[401:],
    "two snapshots spliced": lambda raw: raw[:300] + raw[:300] + raw[600:],
    "CRLF": lambda raw: raw.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda raw: b"\xef\xbb\xbf" + raw,
    "a NUL": lambda raw: raw + b"\0",
    "formatted": lambda raw: json.dumps(json.loads(raw), indent=2).encode(),
    "of another run": lambda raw: raw.replace(b'"run":"house"', b'"run":"other"'),
    "no JSON": lambda _: b"# House\n",
    "too deep": lambda _: b"[" * 200_000,
}


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("how_many", [1, 2])
def test_a_damaged_snapshot_is_set_aside_and_made_again(
    tmp_path: Path, name: str, how_many: int
) -> None:
    house = House.build(str(tmp_path))
    known = house.found(tidies=False)
    damaged = []
    for each in (STATE, PREVIOUS)[:how_many]:
        damaged.append(DAMAGES[name](house.root.read_bytes(each)))
        write(house.root, each, damaged[-1])
    assert house.found(tidies=False) == known
    house.rebuild()
    assert house.found(tidies=True) == known
    left = on_disk(house.root)
    assert [each for each in damaged if each not in left.values()] == []
    assert len([each for each in left if ".corrupted." in each]) == how_many


@pytest.mark.parametrize("byte", range(0, 2000, 97))
def test_no_flipped_byte_changes_what_is_found(tmp_path: Path, byte: int) -> None:
    root = files.Root(str(tmp_path))
    prepare_saved(root)
    raw = root.read_bytes(STATE)
    at = byte % len(raw)
    write(root, STATE, raw[:at] + bytes([raw[at] ^ 0x10]) + raw[at + 1 :])
    assert load(root, tidies=False) == FIRST
    assert load(root, tidies=True) == FIRST
    assert raw not in on_disk(root).values()


def test_a_hundred_damaged_ones_are_each_kept(tmp_path: Path) -> None:
    root = files.Root(str(tmp_path))
    for number in range(99):
        write(root, STATE, DAMAGED + bytes([number]))
        assert load(root, tidies=True) is None
    assert sorted(on_disk(root).values()) == [DAMAGED + bytes([n]) for n in range(99)]


def test_a_link_in_the_place_of_a_snapshot_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    root = files.Root(str(tmp_path / "run"))
    prepare_saved(root)
    raw = root.read_bytes(STATE)
    (tmp_path / "outside").write_bytes(raw)
    os.unlink(tmp_path / "run" / STATE)
    os.symlink(tmp_path / "outside", tmp_path / "run" / STATE)
    assert load(root, tidies=False) == FIRST
    with pytest.raises(errors.LinkRefused):
        load(root, tidies=True)
    assert (tmp_path / "outside").read_bytes() == raw


if __name__ == "__main__":
    print(json.dumps(sweep(sys.argv[1], sys.argv[2])))
