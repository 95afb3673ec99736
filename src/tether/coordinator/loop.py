"""The loop of a run: look at everybody, write down what became of them, give out what is free.

One process, one thread. Whatever it knows is in the log before it acts on it, so it may be killed
between any two lines.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, NamedTuple

from tether import clock, host
from tether.agents import claims, registry
from tether.coordinator import (
    asking,
    checkpoints,
    choosing,
    compaction,
    crew,
    journal,
    judging,
    narrating,
    outputs,
    pausing,
    recovery,
    replanning,
    stopwatch,
)
from tether.coordinator.gauges import command as usage_command
from tether.coordinator.gauges import model as gauges
from tether.coordinator.notifying import Notifier
from tether.coordinator.plans import graph
from tether.coordinator.settling import COMPLETE, Settler
from tether.coordinator.state import AUDITOR, SYSTEM_ERROR, USAGE_LIMIT, USER_STOP
from tether.store import events, run_events

Ending = Literal["complete", "failed", "stopped"]
POLL_SECONDS = 0.5
_JOURNAL_SECONDS = 10.0
_STANDING_SECONDS = 10.0
_SWEEP_SECONDS = 60
_CONTEXT_SECONDS = 15
_JOURNAL_EVENTS = 500


class World(NamedTuple):
    """What the loop needs of the world around it."""

    wait: Callable[[float], object]
    """Waits, or returns early if something happened."""
    is_stopping: Callable[[], bool]
    """Has a person asked it to stop?"""
    is_impatient: Callable[[], bool]
    """Twice?"""
    usage: Callable[[], gauges.Usage | None]
    """How much of the limit is left; raises UsageUnknown if that cannot be told."""
    context: Callable[[], gauges.Context | None]
    """How much context the agent that started this has left, if an agent did."""
    tell: Callable[[str], None]
    """Shows a person what happened."""
    show: Callable[[], None]
    """Shows how far it has come."""
    sweep: Callable[[], None]
    notifier: Notifier


class Loop:
    """Coordinates one run until it is over, or until it is told to stop."""

    def __init__(self, settler: Settler, world: World) -> None:
        self._settler = settler
        self._run = settler.run
        self._crew = settler.crew
        self._world = world
        self._stopwatch = stopwatch.Stopwatch()
        self._watcher = replanning.Watcher(settler)
        self._weights: dict[str, int] = {}
        self._weighed = ""
        self._compacted = self._run.state.compaction_count
        self._told: set[int] = set()
        self._told_to = self._run.state.last_applied_event
        found = events.latest(self._run.store, _JOURNAL_EVENTS, events.Filter(run=self._run.name))
        self._lines = list(narrating.lines(found))
        self._saved = 0
        self._journal_at = self._standing_at = self._sweep_at = self._usage_at = -1e9
        self._context_at = -1e9
        self._held: dict[str, str] = {}
        self._told_held: set[str] = set()
        self._usage_problem = ""

    # Beginning

    def begin(self, *, is_new: bool, resumes_now: bool) -> None:
        """Take the run up as it is: new, paused, or left by a coordinator that died."""
        state = self._run.state
        if is_new:
            self._run.save("session_start")
        elif not (state.paused_at or state.ended):
            found = recovery.recover(self._settler, takes_over=True)
            self._world.tell(outputs.recovered(found, self._run.state))
        elif resumes_now or state.pause_reason != USAGE_LIMIT or self._may_resume():
            self._resume()
            return
        self._tell_questions()

    def work(self) -> Ending:
        """Go on until it is over or stopped."""
        ending = None
        while ending is None:
            ending = self._cycle()
            if ending is None:
                self._world.wait(POLL_SECONDS)
        return ending

    def pause_after_error(self) -> None:
        """Save what there is; whoever resumes goes on from there."""
        pausing.pause(self._settler, SYSTEM_ERROR)
        self._tell_paused("")
        self._notify("pause", "The run stopped after an error.")

    # One round

    def _cycle(self) -> Ending | None:
        self._run.catch_up()
        self._run.require_current()
        self._tell_news()
        self._reload_if_compacted()
        if self._run.state.paused_at:
            return self._wait_paused()
        if self._world.is_stopping() or self._run.state.pause_requested:
            return self._stop()
        checkpoints.gather(self._crew)
        self._answered()
        self._follow_plan()
        self._look_at_agents()
        if self._is_usage_low():
            return None
        self._compact_if_needed()
        self._look_at_workspace()
        self._give_up_waiting()
        self._give_out()
        self._keep()
        return self._ending()

    def _tell_news(self) -> None:
        """Tell people what is new in the log, whoever wrote it."""
        for line in narrating.since(self._run, self._told_to):
            self._say(line)
        self._told_to = self._run.state.last_applied_event

    def _reload_if_compacted(self) -> None:
        """Whoever coordinates with us has compacted: nothing that is only in memory counts."""
        state = self._run.state
        if not state.is_compacting and state.compaction_count != self._compacted:
            self._compacted = state.compaction_count
            self._run.save("compaction")
            self._run.reload()

    def _look_at_agents(self) -> None:
        now = self._run.now()
        self._stopwatch.tick(now, host.monotonic_ms())
        for agent_id, agent in list(self._run.state.active_agents.items()):
            look = self._crew.look(agent_id)
            allowed = self._crew.allowed_ms(agent)
            since = agent.last_checkpoint_time or agent.dispatched_at
            then = self._stopwatch.now_since(since, now)
            # What the machine slept before the last checkpoint is no time of the worker either.
            began = self._stopwatch.now_since(agent.dispatched_at, now)
            allowed += clock.parse(then) - clock.parse(began)
            verdict = judging.judge(agent, look, then, allowed, self._crew.limits)
            if verdict.fate != "working":
                # What it left last is worth more than how it ended.
                checkpoints.gather(self._crew)
                self._settler.settle(agent_id, agent, verdict)

    def _give_out(self) -> None:
        run = self._run
        slots = self._crew.options.slots or self._crew.limits.slots
        held = {*self._held, *self._backing_off()}
        for offer in choosing.choose(run.state, run.outlook, self._weigh(), slots, held):
            try:
                if offer.type == AUDITOR:
                    self._audit(offer.task_id)
                else:
                    self._dispatch(offer.task_id)
            except crew.Held:
                self._tell_held(offer.task_id)

    def _tell_held(self, task_id: str) -> None:
        """Somebody else has it; said once, and tried again after a while."""
        held = claims.open_of(self._run.store.rows, self._run.key(task_id))
        self._held[task_id] = held.session_id if held else ""
        if task_id not in self._told_held:
            self._told_held.add(task_id)
            who = held.agent_name if held else "somebody"
            self._say(f"{task_id} waits: {who} has it")

    def _backing_off(self) -> list[str]:
        state, now = self._run.state, self._run.now()
        failed = [key for key, tally in state.tallies.items() if tally.gave_up_at]
        return [key for key in failed if judging.backs_off(state.tallies[key], now)]

    def _dispatch(self, task_id: str) -> None:
        given = self._crew.give_to_developer(task_id)
        if isinstance(given, asking.Asked):
            self._settler.ask(task_id, given)

    def _audit(self, task_id: str) -> None:
        agent_id = self._crew.give_to_auditor(task_id)
        if isinstance(agent_id, asking.Asked):
            self._settler.ask(task_id, agent_id)
            return
        if not self._crew.has_audit(task_id):
            agent = self._run.state.active_agents[agent_id]
            self._settler.settle(agent_id, agent, judging.Verdict("done"))

    def _weigh(self) -> dict[str, int]:
        if self._weighed != self._run.state.plan_digest:
            self._weights = graph.dependent_counts(graph.graph(self._run.outlook.plan.tasks))
            self._weighed = self._run.state.plan_digest
        return self._weights

    # What others did

    def _answered(self) -> None:
        """A person called a task complete."""
        state = self._run.state
        for question in list(state.questions.values()):
            position = state.position(question.task_id)
            is_meant = question.response == COMPLETE and not question.agent_id
            if is_meant and position in ("available", "pending_audit"):
                self._settler.complete(question.task_id, "", "a person called it complete")

    def _follow_plan(self) -> None:
        if any(task.source for task in self._run.outlook.plan.tasks):
            return  # the tasks of the workspace are those that were there at the start
        said = self._watcher.look()
        if said:
            self._say(said)

    def _look_at_workspace(self) -> None:
        """Tasks that the workspace keeps: what somebody else finished, or has."""
        if not self._is_due("_standing_at", _STANDING_SECONDS):
            return
        if not any(task.source for task in self._run.outlook.plan.tasks):
            self._held = {}  # nobody says when they let go: it is tried again
            return
        standing = self._crew.keeper.standing(self._run.place, self._run.outlook)
        own = self._run.state.active_agents
        held = {t: s for t, s in standing.held.items() if s not in own}
        for task_id in held.keys() - self._held.keys():
            self._tell_held(task_id)
        self._held = held
        for task_id, why in standing.done.items():
            if self._run.state.position(task_id) in ("available", "blocked", "failed"):
                self._settler.complete(task_id, "", why)

    def _give_up_waiting(self) -> None:
        """Whoever was to go on after a compaction did not come back in time."""
        state, limits = self._run.state, self._crew.limits
        if not state.assignments_paused_at:
            return
        passed = clock.parse(self._run.now()) - clock.parse(state.assignments_paused_at)
        if passed > limits.compaction_ms:
            if state.is_compacting:
                self._run.log(
                    run_events.COMPACTION_COMPLETE,
                    compaction_number=state.compaction_count,
                    full_reload=False,
                )
            else:
                self._run.log(run_events.ASSIGNMENTS_RESUMED, reason="nobody came back")

    # Pausing

    def _stop(self) -> Ending:
        if self._run.state.active_agents:
            self._world.tell("Waiting for checkpoints; Ctrl-C once more ends the workers now.")
        pausing.pause(self._settler, USER_STOP, is_over=self._world.is_impatient)
        self._tell_paused("")
        self._notify("pause", "The run was stopped.")
        return "stopped"

    def _tell_paused(self, resumes_at: str) -> None:
        self._world.tell(outputs.paused(self._run.state, self._run.state_file, resumes_at))
        self._lines.append(f"{self._run.now()[11:19]} paused: {self._run.state.pause_reason}")
        self._write_journal()

    def _is_usage_low(self) -> bool:
        """Pause if too little of the usage limit is left."""
        usage = self._look_at_usage()
        if usage is None or not gauges.is_low(usage.remaining, self._crew.limits.session_percent):
            return False
        pausing.pause(self._settler, USAGE_LIMIT, usage)
        at = pausing.resumes_at(self._run.state, self._crew.limits)
        self._tell_paused(at)
        self._notify("pause", f"The usage limit is nearly reached; the run goes on at {at}.")
        return True

    def _look_at_usage(self) -> gauges.Usage | None:
        if not self._is_due("_usage_at", self._crew.limits.usage_ms / 1000):
            return None
        try:
            usage = self._world.usage()
        except usage_command.UsageUnknown as problem:
            if problem.message != self._usage_problem:
                self._say(f"The usage limit is unknown: {problem.message}")
            self._usage_problem = problem.message
            return None
        known = self._run.state.usage
        if usage is not None and usage.remaining != known.session_remaining:
            self._run.log(
                run_events.USAGE_CHECK,
                utilisation=usage.utilisation,
                remaining=usage.remaining,
                resets_at=usage.resets_at,
            )
        return usage

    def _compact_if_needed(self) -> None:
        """Save everything if the agent that runs this loop has little context left."""
        state, limits = self._run.state, self._crew.limits
        if state.is_compacting or not self._is_due("_context_at", _CONTEXT_SECONDS):
            return
        context = self._world.context()
        if context is not None and compaction.is_needed(context, state, limits):
            compaction.persist(self._crew, context.remaining)
            file = self._run.state_file
            self._say(outputs.before_compaction(self._run.state, context.remaining, file))

    def _wait_paused(self) -> Ending | None:
        """A paused run: goes on by itself when the limit is reset, or when somebody says so."""
        state = self._run.state
        if self._world.is_stopping():
            return "stopped"
        if state.pause_reason != USAGE_LIMIT and not state.resume_requested:
            return "stopped"
        if state.resume_requested or self._may_resume():
            self._resume()
        return None

    def _may_resume(self) -> bool:
        at = pausing.resumes_at(self._run.state, self._crew.limits)
        return bool(at) and self._run.now() >= at

    def _resume(self) -> None:
        self._world.tell(outputs.resumed(self._run.state))
        for problem in pausing.resume(self._settler):
            self._say(f"The state was not whole: {problem}")
        self._usage_at = -1e9
        self._tell_questions()

    # Saying

    def _tell_questions(self) -> None:
        for question in self._run.state.open_questions:
            self._world.tell(narrating.question(question))

    def _say(self, line: str) -> None:
        self._lines.append(line)
        self._world.tell(line)

    def _notify(self, what: str, message: str) -> None:
        problem = self._world.notifier.tell(what, self._run.name, message)
        if problem:
            self._world.tell(problem)

    def _keep(self) -> None:
        """Save what is new, and stay known as alive."""
        run = self._run
        self._tell_news()
        self._notify_of_questions()
        is_new = run.state.last_applied_event != self._saved
        if is_new:
            run.save()
            self._saved = run.state.last_applied_event
        if is_new or self._is_due("_journal_at", _JOURNAL_SECONDS):
            self._write_journal()
        registry.beat(run.store, self._crew.spot, run.session_id)
        if self._is_due("_sweep_at", _SWEEP_SECONDS):
            self._world.sweep()
        self._world.show()

    def _write_journal(self) -> None:
        run = self._run
        page = journal.page(run.state, run.now(), self._crew.limits, self._lines)
        journal.write(run.root, page)

    def _notify_of_questions(self) -> None:
        for question in self._run.state.open_questions:
            if question.id not in self._told:
                self._told.add(question.id)
                what = "failure" if question.task_id in self._run.state.failed else "question"
                self._notify(what, f"{question.task_id}: {question.question}")

    def _ending(self) -> Ending | None:
        state = self._run.state
        if not self._settler.end_if_complete():
            if not choosing.is_stuck(state):
                return None
            self._run.log(
                run_events.WORKFLOW_FAILED,
                reason="what is left has failed, or waits for what has",
                last_state=state.counts(),
            )
        self._keep()
        what = "end" if state.ended == "complete" else "failure"
        self._notify(what, f"The run is over: {state.ended}.")
        return "complete" if state.ended == "complete" else "failed"

    def _is_due(self, name: str, seconds: float) -> bool:
        now = time.monotonic()
        if now - float(getattr(self, name)) < seconds:
            return False
        setattr(self, name, now)
        return True
