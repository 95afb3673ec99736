"""A run is killed again and again, and must come to its end all the same.

`python -m tests.fault.survival.harness DIRECTORY COUNTS` (COUNTS as JSON) prints what was done and
what is wrong. It is a program of its own so that it may have a small disk of its own, at
`DIRECTORY/disk`, and fill it.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from tests.fault.survival import checks, site
from tests.fault.survival.site import RUN, until
from tether import files, host
from tether.coordinator import documents, runs, snapshots
from tether.coordinator.jobs import folder, signals
from tether.coordinator.state import DEVELOPER, USAGE_LIMIT, State
from tether.store import events

# From the lock to the end of a recovery, before anything was measured.
_WINDOW_SECONDS = 0.15
_LIFE_SECONDS = 3.0
_TAKEN_UP = ("session_start", "session_resume", "coordinator_recovered")


class Counts(NamedTuple):
    """How often each thing is done."""

    tasks: int = 40
    kills: int = 200
    in_recovery: int = 50
    worker_kills: int = 100
    compactions: int = 6
    pauses: int = 1
    full_disks: int = 1
    corruptions: int = 4
    recoveries: int = 10
    """Times that `tether run recover` is called twice."""
    seed: int = 7


class Coordinator(NamedTuple):
    """A process that coordinates, or is about to."""

    process: subprocess.Popen[bytes]
    errors: Path
    since: int
    """The last event before it came."""
    recovers: bool
    """Did it find a run that somebody had left?"""


class Harness:
    """Does everything to one run, and keeps what it sees."""

    def __init__(self, base: Path, counts: Counts) -> None:
        self.site = site.Site(base)
        self.counts = counts
        self.dice = random.Random(counts.seed)  # noqa: S311 (the same deeds again)
        self.did: Counter[str] = Counter()
        self.faults: list[str] = []
        self.snapshots: dict[int, checks.Document] = {}
        self.owed: Counter[str] = Counter()
        """What should have been done already, but could not at that moment."""
        self.window = _WINDOW_SECONDS
        self.starts = 0
        self.answered: set[int] = set()

    def run(self) -> dict[str, Any]:
        self.site.make(self.counts.tasks, self.counts.seed)
        self.store = self.site.open_store()
        self.fold = checks.fresh(RUN, self.site.load_plan)
        try:
            self._rounds()
            self._finish()
        finally:
            for pid in self.site.processes():
                os.kill(pid, signal.SIGKILL)
        found = self.site.evidence(self.store, list(self.snapshots.values()))
        self.faults += checks.faults(found)
        told = Counter(event.type for event in found.events)
        return {
            "did": dict(self.did),
            "faults": self.faults[:50],
            "starts": self.starts,
            "events": len(found.events),
            "told": dict(told),
            "tries": sum(len(each) for each in found.ledger.values()),
        }

    # Rounds: a coordinator lives for a while and is killed

    def _rounds(self) -> None:
        deeds = self._schedule()
        number = 0
        while number < self.counts.kills or self._missing():
            assert number < 5 * self.counts.kills, f"not everything could be done: {self.did}"
            self._open_gate(number)
            self._round(deeds.get(number, []))
            number += 1

    def _missing(self) -> bool:
        return (
            self.owed.total() > 0
            or self.did["kills_in_recovery"] < self.counts.in_recovery
            or self.did["worker_kills"] < self.counts.worker_kills
        )

    def _open_gate(self, number: int) -> None:
        """The last task stays until everything was done to the run."""
        share = min(1.0, number / self.counts.kills)
        self.site.open_gate(min(self.counts.tasks - 1, round(self.counts.tasks * share)))

    def _schedule(self) -> dict[int, list[str]]:
        """In which round what is done, apart from the kills."""
        counts, found = self.counts, dict[int, list[str]]()
        for deed, times in (
            ("compact", counts.compactions),
            ("pause", counts.pauses),
            ("fill", counts.full_disks),
            ("corrupt", counts.corruptions),
            ("recover", counts.recoveries),
        ):
            for _ in range(times):
                # Not at once: there must be something that could get lost.
                at = self.dice.randrange(counts.kills // 3, counts.kills)
                found.setdefault(at, []).append(deed)
        return found

    def _round(self, deeds: list[str]) -> None:
        self._kill_workers(self._due_workers() // 2)
        coordinator = self._start()
        if self._is_aimed(deeds):
            self._await_moment(self.window * self.dice.random())
        else:
            self._live(coordinator, _LIFE_SECONDS * self.dice.random())
            for deed in deeds:
                if deed == "compact":
                    coordinator = self._compact(coordinator)
                elif deed == "pause":
                    coordinator = self._pause(coordinator)
                elif deed == "fill":
                    self._fill_disk(coordinator)
                    coordinator = self._start()
        self._kill(coordinator)
        self.owed.update(deed for deed in deeds if deed in ("corrupt", "recover"))
        if self.owed["corrupt"]:
            self.owed["corrupt"] -= self._corrupt()
        if self.owed["recover"]:
            self.owed["recover"] -= self._recover_twice()

    def _is_aimed(self, deeds: list[str]) -> bool:
        """Should this one die while it takes the run over?"""
        left = self.counts.in_recovery - self.did["kills_in_recovery"]
        rounds = max(1, self.counts.kills - self.did["kills"])
        is_begun = bool(self.fold.state.session_started_at)
        is_free = not set(deeds) & {"compact", "pause", "fill"}
        return is_begun and is_free and self.dice.random() < 1.5 * left / rounds

    def _due_workers(self) -> int:
        """How many workers should have been killed by now and were not."""
        share = (self.did["kills"] + 1) / self.counts.kills
        return max(0, round(self.counts.worker_kills * share) - self.did["worker_kills"])

    # Coordinators

    def _start(self) -> Coordinator:
        """Start a coordinator and wait until it holds the run."""
        state = self._state()
        is_resumed = bool(state.session_started_at) and (
            self.dice.random() < 0.5 or (state.paused_at and state.pause_reason != USAGE_LIMIT)
        )
        self.starts += 1
        log = self.site.base / "logs" / f"{self.starts:04d}.log"
        log.parent.mkdir(exist_ok=True)
        with log.open("wb") as file:
            process = subprocess.Popen(
                self.site.command("resume" if is_resumed else "start"),
                cwd=self.site.repo,
                env=self.site.environ,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        was_left = bool(state.session_started_at) and not state.paused_at
        made = Coordinator(process, log, state.last_applied_event, was_left)

        def holds() -> bool:
            self._require_alive(made)
            holder = files.holder(self.site.lock)
            return holder is not None and holder.pid == process.pid

        until(holds, "a coordinator takes the run")
        return made

    def _require_alive(self, coordinator: Coordinator) -> None:
        code = coordinator.process.poll()
        said = site.said(coordinator.errors)[-1500:]
        assert code is None, f"a coordinator ended by itself with {code}:\n{said}"

    def _live(self, coordinator: Coordinator, seconds: float) -> None:
        """Let a coordinator work for a while, with workers dying and a person answering."""
        deadline = time.monotonic() + seconds
        due = self._due_workers()
        moments = sorted(deadline - seconds * self.dice.random() for _ in range(due))
        while time.monotonic() < deadline:
            self._require_alive(coordinator)
            if moments and time.monotonic() >= moments[0]:
                moments.pop(0)
                self._kill_workers(1)
            self._answer()
            self._await_moment(min(0.05, max(0.0, deadline - time.monotonic())))

    def _kill(self, coordinator: Coordinator) -> None:
        self._require_alive(coordinator)
        held = files.holder(self.site.lock)
        assert held is not None
        assert held.pid == coordinator.process.pid
        coordinator.process.kill()
        coordinator.process.wait()
        assert coordinator.process.returncode == -signal.SIGKILL
        self._read_errors(coordinator)
        self.did["kills"] += 1
        news = events.of_run(self.store, RUN, coordinator.since)
        if coordinator.recovers and not any(event.type in _TAKEN_UP for event in news):
            self.did["kills_in_recovery"] += 1
            self.window = min(2.0, self.window * 1.05)
        else:
            self.window = max(0.01, self.window * 0.95)
        self._look()

    def _read_errors(self, coordinator: Coordinator) -> None:
        said = site.said(coordinator.errors)
        if "Traceback" in said or "not whole" in said:
            self.faults.append(f"a coordinator said: {said[-1500:]}")

    def _await_moment(self, seconds: float) -> None:
        """A random moment: this is the experiment, not a wait for something."""
        time.sleep(seconds)

    # What is seen of the run

    def _state(self) -> State:
        """What the log says now, by a replay of our own."""
        for event in events.of_run(self.store, RUN, self.fold.state.last_applied_event):
            self.fold.apply(event)
        return self.fold.state

    def _is_running(self) -> bool:
        """Has the run begun, and is it not paused?"""
        state = self._state()
        return bool(state.session_started_at) and not state.paused_at

    def _look(self) -> None:
        """Is the run whole, as whoever comes next would find it?"""
        if not self._state().session_started_at:
            return
        found = runs.Run(self.store, self.site.place, RUN).open()
        wrong = checks.whole(found.fold)
        # Workers go on writing: what is compared must be of one moment.
        while self._state().last_applied_event != found.state.last_applied_event:
            found.catch_up()
        wrong += checks.differences(self.fold.state, documents.plain(found.state))
        self.faults += [f"after kill {self.did['kills']}: {each}" for each in wrong]
        for name in (snapshots.STATE_FILE, snapshots.PREVIOUS_FILE):
            if snapshot := self.site.snapshot(name):
                self.snapshots[snapshot["last_applied_event"]] = snapshot
                self.did["snapshots_looked_at"] += 1

    # Workers

    def _kill_workers(self, wanted: int) -> None:
        agents = list(self._state().active_agents.items())
        self.dice.shuffle(agents)
        for agent_id, agent in agents:
            if wanted <= 0:
                return
            if self.did["wrappers_killed"] <= self.did["steps_killed"]:
                was_killed = self._kill_wrapper(agent_id)
                self.did["wrappers_killed"] += was_killed
            else:
                # An audit whose command was killed has failed, and its task may be completed.
                was_killed = agent.type == DEVELOPER and self._kill_step(agent_id)
                self.did["steps_killed"] += was_killed
            self.did["worker_kills"] += was_killed
            wanted -= was_killed

    def _kill_wrapper(self, agent_id: str) -> bool:
        process = folder.Folder(self.site.root, agent_id).process()
        return process is not None and signals.send(process, signal.SIGKILL)

    def _kill_step(self, agent_id: str) -> bool:
        at = folder.Folder(self.site.root, agent_id)
        wrapper = at.process()
        found = host.started_with(folder.DIRECTORY_VARIABLE, at.path) or []
        return any(
            signals.send_if(
                pid,
                signal.SIGKILL,
                lambda pid: host.environment_value(pid, folder.DIRECTORY_VARIABLE) == at.path,
            )
            for pid in found
            if wrapper is not None and site.parent(pid) == wrapper.pid
        )

    def _answer(self) -> None:
        """A person wants everything to be tried again."""
        for question in list(self._state().open_questions):
            if question.id not in self.answered:
                ended = self.site.tether("run", "answer", str(question.id), "retry")
                assert ended.returncode == 0, ended.stderr
                self.answered.add(question.id)
                self.did["questions_answered"] += 1

    # Compactions, pauses, disks

    def _compact(self, coordinator: Coordinator) -> Coordinator:
        """One third with a coordinator at work, one with a dead one, one with its death inside."""
        how = ("working", "dead", "dies")[self.did["compactions"] % 3]
        until(self._is_running, "a coordinator takes the run up")
        if how == "dead":
            self._kill(coordinator)
        ended = self.site.tether("run", "compact", "--context-remaining", "8")
        assert ended.returncode == 0, ended.stderr
        self._expect("AUTO-COMPACTION" in ended.stdout, f"compact said {ended.stdout}")
        if how == "dies":
            self._kill(coordinator)
            coordinator = self._start()
        ended = self.site.tether("run", "resume", "--once")
        assert ended.returncode == 0, ended.stderr
        # A coordinator that resumes the run ends a compaction that it finds.
        said = f"{ended.stdout}{site.said(coordinator.errors) if how == 'dies' else ''}"
        self._expect("RESUMED - Compaction" in said, f"resume said {said}")
        self._expect("not whole" not in said, f"resume said {said}")
        self.did["compactions"] += 1
        return self._start() if how == "dead" else coordinator

    def _pause(self, coordinator: Coordinator) -> Coordinator:
        """The usage limit is nearly reached; a second later it is reset. The first dies of it."""
        self._await_pausing(coordinator)
        self._await_moment(self.dice.random())
        self._kill(coordinator)
        self.did["kills_in_pauses"] += 1
        coordinator = self._start()
        self._live(coordinator, _LIFE_SECONDS)
        resumes = self._state().session_resume_count
        self._await_pausing(coordinator)
        until(lambda: self._state().session_resume_count > resumes, "it pauses and goes on")
        self.did["pauses"] += 1
        return coordinator

    def _await_pausing(self, coordinator: Coordinator) -> None:
        """Until it stops to give out work, because of the usage limit."""
        before = self._state().last_applied_event
        self.site.say_usage(5, 1)

        def is_pausing() -> bool:
            self._require_alive(coordinator)
            news = events.of_run(self.store, RUN, before)
            kinds = {e.type for e in news if e.data.get("reason") == USAGE_LIMIT}
            return "assignments_paused" in kinds

        until(is_pausing, "it stops to give out work")
        self.site.say_usage(80, 0)

    def _fill_disk(self, coordinator: Coordinator) -> None:
        """No room is left; the coordinator says so and ends, and there is room again."""
        if not os.path.ismount(self.site.disk):
            self._kill(coordinator)
            return
        ballast = self.site.disk / "ballast"
        with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(64 * 1024))
        with contextlib.suppress(OSError), ballast.open("ab", buffering=0) as file:
            while True:
                file.write(b"x")
        coordinator.process.wait(site.PATIENCE_SECONDS)
        code, said = coordinator.process.returncode, site.said(coordinator.errors)
        ballast.unlink()
        self._expect(code in (0, 1), f"on a full disk it ended with {code}: {said[-1500:]}")
        self._expect("There is no room" in said, f"a full disk: {said[-1500:]}")
        self._read_errors(coordinator)
        self._look()
        self.did["full_disks"] += 1

    def _expect(self, is_so: bool, otherwise: str) -> None:
        if not is_so:
            self.faults.append(otherwise)

    # Damage

    def _corrupt(self) -> bool:
        """Bytes of the snapshot are overwritten; every other time of the one before it too."""
        both = self.did["corruptions"] % 2 == 1
        for name in (snapshots.STATE_FILE, snapshots.PREVIOUS_FILE)[: 1 + both]:
            path = Path(self.site.root.path) / name
            if not path.exists():
                return False
            with path.open("r+b") as file:
                file.seek(path.stat().st_size // 2)
                file.write(b"\0damaged\0")
        self.did["corruptions"] += 1
        self.did["corruptions_of_both"] += both
        self._look()
        return True

    def _recover_twice(self) -> bool:
        """What is recovered once stays as it is when it is recovered again."""
        for agent_id in self._state().active_agents:
            self.did["workers_lost_before_recovery"] += self._kill_wrapper(agent_id)
        for _ in range(10):
            if not self._is_running():
                return False
            first = self._recover()
            last, before = self._state().last_applied_event, documents.plain(self.fold.state)
            second = self._recover()
            after = documents.plain(self._state())
            news = events.of_run(self.store, RUN, last)
            own = [event.type for event in news if str(event.session).startswith("run-")]
            self._expect(not own, f"a second recovery wrote {own}")
            if not news:
                # Nobody else wrote meanwhile either.
                self._expect(before == after, "a second recovery changed the state")
                for name in ("orphaned", "to_validate", "events_reconciled"):
                    self._expect(not second[name], f"a second recovery found {second[name]}")
                self.did["recoveries_twice"] += 1
                self.did["orphans_recovered_once"] += len(first["orphaned"])
                return True
        return False

    def _recover(self) -> dict[str, Any]:
        ended = self.site.tether("run", "recover", "--json")
        assert ended.returncode == 0, ended.stderr
        found: dict[str, Any] = site.value(ended.stdout)["recovery"]
        return found

    # The end

    def _finish(self) -> None:
        """Let it be, and see it through."""
        self.site.open_gate(self.counts.tasks)
        coordinator = self._start()
        deadline = time.monotonic() + 10 * site.PATIENCE_SECONDS
        while coordinator.process.poll() is None and time.monotonic() < deadline:
            self._answer()
            self._await_moment(0.05)
        code, said = coordinator.process.returncode, site.said(coordinator.errors)
        self._expect(code == 0, f"the last coordinator ended with {code}: {said[-1500:]}")
        self._expect("is complete" in said, f"the last coordinator said: {said[-1500:]}")
        with contextlib.suppress(AssertionError):
            until(lambda: not self.site.processes(), "everybody has ended", 10)
        self._look()


if __name__ == "__main__":
    chosen = Counts(**json.loads(sys.argv[2]))
    print(json.dumps(Harness(Path(sys.argv[1]), chosen).run()))
