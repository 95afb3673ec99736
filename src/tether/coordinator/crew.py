"""Workers and auditors: giving them a task, and learning what became of them.

First the log says that a task is given out, together with the session and its claim; then the
process starts. So a crash in between leaves an agent without a process, which is put back, and
never a process that nobody knows of.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tether import errors, git, host, ids, redaction, text
from tether.agents import claims, lookout, registry, roll
from tether.agents import model as agents
from tether.coordinator import asking, assignments, checkouts, options, runs, taskfiles
from tether.coordinator.jobs import folder, looking, starting, stopping
from tether.coordinator.jobs import model as jobs
from tether.coordinator.limits import Limits
from tether.coordinator.plans.model import PlanTask
from tether.coordinator.state import AUDITOR, DEVELOPER, ActiveAgent
from tether.git import checkouts as git_checkouts
from tether.store import port, run_events

CHECKPOINT_FILE = "checkpoint.md"
PROMPT_FILE = "prompt.md"
_MAX_CHECKPOINT_BYTES = 16 * 1024
_MAX_PROMPT_ARGUMENT = 100_000
_TAIL_BYTES = 4096


class Held(Exception):
    """Somebody else has the task."""


class Assigned(NamedTuple):
    """A task that was given out."""

    agent_id: str
    place: agents.Place
    prompt: str


class Crew:
    """The agents of one run."""

    def __init__(
        self,
        run: runs.Run,
        chosen: options.Options,
        limits: Limits,
        spot: lookout.Lookout,
        environ: Mapping[str, str],
        keeper: taskfiles.Keeper,
    ) -> None:
        self.run = run
        self.options = chosen
        self.limits = limits
        self.spot = spot
        self._environ = environ
        self.keeper = keeper
        self.git = git.Git(run.place.place)

    @property
    def has_worktrees(self) -> bool:
        """Has each task a branch and a checkout of its own?"""
        return bool(self.run.state.base)

    # Giving out

    def give_to_developer(self, task_id: str) -> str | asking.Asked:
        """Give a task to a worker; the worker's id, or what a person must be asked first."""
        given = self.assign(task_id)
        if isinstance(given, asking.Asked):
            return given
        command, allowed_ms = self.options.worker, self.limits.worker_ms
        step = self._step("worker", command, given.agent_id, given.prompt, allowed_ms)
        self._start(self.run.outlook.tasks[task_id], given.agent_id, given.place, (step,))
        return given.agent_id

    def assign(self, task_id: str) -> Assigned | asking.Asked:
        """Write down that a task is given out: what its worker is told, and where it works."""
        task = self.run.outlook.tasks[task_id]
        place = self._checkout(task)
        if isinstance(place, asking.Asked):
            return place
        state = self.run.state
        # Only looked up: what is not in the log must not come into the state.
        tally = state.tallies.get(task_id)
        resumed = task_id in state.checkpoints or bool(tally and tally.attempts)
        agent_id = self._enlist(
            task,
            DEVELOPER,
            place,
            lambda transaction, agent_id: self.run.event(
                transaction,
                run_events.DEVELOPER_DISPATCHED,
                task_id=task_id,
                agent_id=agent_id,
                blocked_by=list(task.blocked_by),
                resumed=resumed,
            ),
        )
        prompt = assignments.for_developer(
            task,
            checkpoint=state.checkpoints.get(task_id),
            fixes=state.fixes.get(task_id, ""),
            guidance=state.guidance.get(task_id, ""),
            resumed=resumed,
            has_branch=self.has_worktrees,
            checkpoint_minutes=max(1, self.limits.checkpoint_ms // 60_000),
            is_process=bool(self.options.worker),
        )
        self.keeper.take(task, agent_id, place)
        return Assigned(agent_id, place, prompt)

    def give_to_auditor(self, task_id: str) -> str | asking.Asked:
        """Let a task's result be looked at; the auditor's id, or what a person must be asked first.

        Without a command to run or to ask there is no process: whoever calls settles it at once.
        """
        task = self.task(task_id)
        place = self.place_of(task_id)
        if self.has_worktrees and place.worktree is None:
            # Never in anybody else's checkout: it is made again, with what its branch has.
            made = self._checkout(task)
            if isinstance(made, asking.Asked):
                return made
            place = made
        agent_id = self._enlist(
            task,
            AUDITOR,
            place,
            lambda transaction, agent_id: self.run.event(
                transaction,
                run_events.AUDITOR_DISPATCHED,
                task_id=task_id,
                agent_id=agent_id,
                files_to_audit=list(task.files),
            ),
        )
        seconds = self.limits.audit_ms / 1000
        steps = [
            jobs.Step(f"criterion {number}", ("/bin/sh", "-c", command), seconds)
            for number, command in enumerate(task.commands, start=1)
        ]
        if self.options.auditor:
            prompt = assignments.for_auditor(task, branch=place.branch or "")
            command = self.options.auditor
            steps.append(self._step("auditor", command, agent_id, prompt, self.limits.audit_ms))
        if steps:
            self._start(task, agent_id, place, tuple(steps))
        return agent_id

    def task(self, task_id: str) -> PlanTask:
        """A task of the run; one that the plan does not have any more has nothing to verify."""
        return self.run.outlook.tasks.get(task_id) or PlanTask(task_id)

    def has_audit(self, task_id: str) -> bool:
        """Is there anything to run or to ask about a task?"""
        return bool(self.task(task_id).commands or self.options.auditor)

    def allowed_ms(self, agent: ActiveAgent) -> int:
        """How long an agent may take."""
        if agent.type == DEVELOPER:
            return self.limits.worker_ms
        return self.limits.audit_ms * (1 + len(self.task(agent.task_id).commands))

    def _enlist(
        self,
        task: PlanTask,
        kind: str,
        place: agents.Place,
        say: Callable[[port.Transaction, str], None],
    ) -> str:
        """Register a session for an agent and log what it is given, in one transaction."""
        # Files are owned by name: all who ever have one of them here have the same.
        one = f"run-{self.run.name[:50]}" if task.source else f"{self.run.name[:30]}-{task.id[:32]}"
        name = ids.AgentName(one.rstrip("."))
        agent_id = ids.SessionId(f"{name}.{kind[:3]}.{ids.random_base32(8)}")
        parent = ids.SessionId(self.run.session_id)
        session = registry.Session(agent_id, name, "other", parent)
        needs_claim = task.id not in self.run.state.completed

        def work(transaction: port.Transaction) -> None:
            self.run.require_own(transaction)
            enlisted = registry.enter(transaction, self.spot, session, place).agent
            if needs_claim:
                key = self.run.key(task.id)
                if claims.give(transaction, self.spot, enlisted, key, task.files) is None:
                    raise Held
            say(transaction, agent_id)

        self.run.store.write("dispatch", work)
        self.run.catch_up()
        return agent_id

    def _start(
        self, task: PlanTask, agent_id: str, place: agents.Place, steps: tuple[jobs.Step, ...]
    ) -> None:
        """Start the process of an agent that is in the log."""
        self.run.save("dispatch")
        at = self.folder(agent_id)
        job = jobs.Job(
            agent_id,
            self._directory(place),
            {
                "TETHER_AGENT": roll.require(self.run.store.rows, agent_id).agent_name,
                "TETHER_KIND": "other",
                "TETHER_PARENT": self.run.session_id,
                "TETHER_RUN": self.run.name,
                "TETHER_TASK": task.id,
                "TETHER_CHECKPOINT_FILE": f"{at.path}/{CHECKPOINT_FILE}",
                "PATH": _path_with_tether(self._environ.get("PATH", os.defpath)),
            },
            steps,
            self.limits.grace_seconds,
        )
        inherited = {k: v for k, v in self._environ.items() if k != "TETHER_PID"}
        process = starting.start(self.run.root, job, inherited)
        if process is not None:
            self.introduce(agent_id, process, place)

    def _directory(self, place: agents.Place) -> str:
        """Where an agent works; with branches that is the checkout of its own and no other."""
        if place.worktree is not None:
            return place.worktree
        if self.has_worktrees:
            raise errors.GitError("The checkout of a task is gone. Its branch is as it was.")
        return self.run.place.place

    def introduce(self, agent_id: str, process: host.Process, place: agents.Place) -> None:
        """Say which process an agent is: it lives as long as that."""
        known = roll.require(self.run.store.rows, agent_id)
        session = registry.Session(
            ids.SessionId(agent_id), ids.AgentName(known.agent_name), process=process
        )
        registry.register(self.run.store, self.spot, session, place)

    def _step(
        self, name: str, command: str, agent_id: str, prompt: str, allowed_ms: int
    ) -> jobs.Step:
        at = self.folder(agent_id)
        at.make()
        at.write(PROMPT_FILE, prompt.encode("utf-8", "replace"))
        path = f"{at.path}/{PROMPT_FILE}"
        replaced = {options.PROMPT_FILE: path}
        if options.PROMPT in command:
            if len(prompt.encode()) > _MAX_PROMPT_ARGUMENT:
                raise errors.UsageError(
                    "What the worker is told is too long for an argument. Nothing was changed.",
                    hint="Use {prompt_file} instead of {prompt} in its command.",
                )
            replaced[options.PROMPT] = prompt
        argv = options.words(command, replaced)
        return jobs.Step(name, argv, allowed_ms / 1000, stdin=path)

    # Where they work

    def _checkout(self, task: PlanTask) -> agents.Place | asking.Asked:
        if not self.has_worktrees:
            return self.place_of(task.id)
        completed = self.run.state.completed
        needed = [
            (each, checkouts.branch_of(self.run.name, each))
            for each in task.blocked_by
            if each in completed and completed[each].branch
        ]
        found = checkouts.prepare(
            self.git,
            self.run.place.root or "",
            self.run.name,
            task.id,
            git.Oid(self.run.state.base),
            needed,
        )
        if isinstance(found, checkouts.Checkout):
            return agents.Place(found.path, _short(found.branch), found.head)
        return asking.about_checkout(task, found)

    def place_of(self, task_id: str) -> agents.Place:
        """Where a task is worked on."""
        if self.has_worktrees:
            branch = checkouts.branch_of(self.run.name, task_id)
            path = git_checkouts.find(self.git, branch)
            return agents.Place(path, _short(branch), self.git.tip(branch))
        here = self.git.branch()
        return agents.Place(self.run.place.root, _short(here) if here else None, self.git.head())

    # What became of them

    def folder(self, agent_id: str) -> folder.Folder:
        return folder.Folder(self.run.root, agent_id)

    def look(self, agent_id: str) -> jobs.Look:
        """What an agent is now: by its job, or by its session if it has no process of ours."""
        if self._is_helper(agent_id):
            known = roll.get(self.run.store.rows, agent_id)
            is_over = known is None or not known.is_here or self.spot.shown_verdict(known).is_over
            return jobs.Look("gone" if is_over else "running")
        return looking.look(self.run.root, agent_id)

    def _is_helper(self, agent_id: str) -> bool:
        """Is it the helper of an agent that coordinates the run itself?"""
        agent = self.run.state.active_agents.get(agent_id)
        return agent is not None and agent.type == DEVELOPER and not self.options.worker

    def give_up(self, agent_id: str) -> jobs.Look:
        """Make sure that an agent does nothing any more; what it left, if it was done after all."""
        if self._is_helper(agent_id):
            return self.look(agent_id)
        found = looking.abandon(self.run.root, agent_id)
        if found.state == "gone":
            stopping.sweep_processes(self.run.root, agent_id)
        return found

    def stop(self, agent_id: str, *, at_once: bool = False) -> jobs.Look:
        """End an agent that is at work; helpers end with whom they help."""
        if self._is_helper(agent_id):
            return self.look(agent_id)
        grace_seconds = 0 if at_once else self.limits.grace_seconds
        return stopping.stop(self.run.root, agent_id, grace_seconds)

    def dismiss(
        self, transaction: port.Transaction, agent_id: str, outcome: str = claims.RELEASED
    ) -> None:
        """End an agent's session; the claim that it still has is closed with this outcome."""
        if roll.get(transaction.rows, agent_id) is None:
            return
        for held in claims.open_ones(transaction.rows, agent_id):
            claims.close_one(transaction, agent_id, held.key, held.epoch, ids.Outcome(outcome))
        registry.leave(transaction, agent_id)

    def checkpoint_left(self, agent_id: str) -> tuple[str, int] | None:
        """What an agent has written to its file, and when, in ms; None if nothing."""
        path = f"{self.folder(agent_id).path}/{CHECKPOINT_FILE}"
        try:
            stat = os.lstat(path)
            if stat.st_size == 0:
                return None
            raw = self.run.root.read_bytes(
                f"{folder.ABOVE}/{agent_id}/{CHECKPOINT_FILE}", _MAX_CHECKPOINT_BYTES
            )
        except (OSError, errors.TetherError):
            return None
        said = text.storable(redaction.redact(raw.decode("utf-8", "replace"))).strip()
        return (said, int(stat.st_mtime * 1000)) if said else None

    def last_words(self, agent_id: str) -> str:
        """The end of what an agent printed, without secrets."""
        path = f"{self.folder(agent_id).path}/{folder.OUTPUT}"
        try:
            with open(path, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL_BYTES))
                raw = file.read(_TAIL_BYTES)
        except OSError:
            return ""
        said = text.storable(redaction.redact(text.clean(raw.decode("utf-8", "replace"))))
        # What the wrapper wrote around it says nothing new.
        return "\n".join(each for each in said.split("\n") if not each.startswith("=== ")).strip()


def _short(branch: str) -> str:
    return branch.removeprefix("refs/heads/")


def _path_with_tether(path: str) -> str:
    """The PATH, with the directory of this program at its end: workers call it too."""
    own = os.path.dirname(os.path.abspath(sys.executable))
    return path if own in path.split(os.pathsep) else f"{path}{os.pathsep}{own}"
