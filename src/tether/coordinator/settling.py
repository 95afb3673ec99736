"""What follows once a worker or an auditor is done, has failed, or is gone.

Each agent's end is one transaction: its events, its session, its claim. Whoever is killed before it
finds the agent's result again, and whoever is killed after it finds nothing left to do.
"""

from __future__ import annotations

from tether import git, text
from tether.agents import claims
from tether.agents import model as agents
from tether.coordinator import asking, checkouts, choosing, crew, judging
from tether.coordinator.judging import Verdict
from tether.coordinator.state import AUDITOR, ActiveAgent
from tether.store import port, run_events

_MAX_REASON = 3000
_MAX_FILES = 200
RETRY, SKIP, COMPLETE = "retry", "skip", "complete"


class Settler:
    """Writes down what became of agents."""

    def __init__(self, hands: crew.Crew) -> None:
        self.crew = hands
        self.run = hands.run

    def settle(self, agent_id: str, agent: ActiveAgent, verdict: Verdict) -> None:
        """Take the end of an agent into account."""
        if verdict.fate in ("timeout", "stalled", "gone"):
            verdict = self._end(agent_id, verdict)
        if verdict.fate == "gone":
            self._orphaned(agent_id, agent)
        elif verdict.fate in ("timeout", "stalled"):
            self._too_long(agent_id, agent, verdict)
        elif verdict.fate == "stopped":
            self.restart(agent_id, agent, verdict.reason)
        elif agent.type == AUDITOR:
            self._audited(agent_id, agent, verdict)
        elif verdict.fate == "done":
            self._ready(agent_id, agent)
        else:
            self._gave_up(agent_id, agent, verdict.reason)
        self._escalate(agent.task_id)

    def _end(self, agent_id: str, verdict: Verdict) -> Verdict:
        """Make sure that nothing of an agent goes on; it may have been done after all."""
        is_gone = verdict.fate == "gone"
        report = (self.crew.give_up if is_gone else self.crew.stop)(agent_id).report
        return Verdict("done") if report is not None and report.is_success else verdict

    # Workers

    def _ready(self, agent_id: str, agent: ActiveAgent) -> None:
        task_id = agent.task_id
        modified: tuple[str, ...] = ()
        if self.crew.has_worktrees:
            missing = self._not_committed(task_id)
            if missing:
                self._gave_up(agent_id, agent, missing)
                return
            modified = self._modified(task_id)

        def work(transaction: port.Transaction) -> None:
            self.run.event(
                transaction,
                run_events.DEVELOPER_READY_FOR_REVIEW,
                task_id=task_id,
                agent_id=agent_id,
                files_modified=list(modified),
            )
            self.crew.dismiss(transaction, agent_id)

        self.run.write(work)

    def _gave_up(self, agent_id: str, agent: ActiveAgent, reason: str) -> None:
        number = self.run.state.tally(agent.task_id).incomplete + 1
        words = self.crew.last_words(agent_id)
        said = f"{reason}\n{words}" if words else reason

        def work(transaction: port.Transaction) -> None:
            self.run.event(
                transaction,
                run_events.DEVELOPER_INCOMPLETE,
                task_id=agent.task_id,
                agent_id=agent_id,
                blocker=said[-_MAX_REASON:],
                attempt_number=number,
                escalate=number >= self.crew.limits.failure_limit,
            )
            self.crew.dismiss(transaction, agent_id)

        self.run.write(work)

    def _too_long(self, agent_id: str, agent: ActiveAgent, verdict: Verdict) -> None:
        tally = self.run.state.tally(agent.task_id)
        limits = self.crew.limits

        def work(transaction: port.Transaction) -> None:
            named = {"task_id": agent.task_id, "agent_id": agent_id}
            if verdict.fate == "stalled":
                missed = judging.missed_checkpoints(agent, self.run.now(), limits)
                self.run.event(
                    transaction, run_events.AGENT_STALLED, **named, missed_checkpoints=missed
                )
            else:
                self.run.event(
                    transaction,
                    run_events.AGENT_TIMEOUT,
                    **named,
                    timeout_ms=self.crew.allowed_ms(agent),
                    attempt_number=tally.timeouts + 1,
                )
            self.crew.dismiss(transaction, agent_id)

        self.run.write(work)

    def _orphaned(self, agent_id: str, agent: ActiveAgent) -> None:
        self.run.write(lambda transaction: self.put_back(transaction, agent_id, agent))

    def put_back(self, transaction: port.Transaction, agent_id: str, agent: ActiveAgent) -> None:
        """An agent is gone without a result: its task waits again."""
        self.run.event(
            transaction,
            run_events.ORPHAN_AGENT_DETECTED,
            agent_id=agent_id,
            task_id=agent.task_id,
            type=agent.type,
        )
        self.crew.dismiss(transaction, agent_id)

    def restart(self, agent_id: str, agent: ActiveAgent, reason: str) -> None:
        """An agent was ended on purpose, by a pause: its task is given out again."""

        def work(transaction: port.Transaction) -> None:
            self.run.event(
                transaction,
                run_events.TASK_RESTARTED_ON_RESUME,
                task_id=agent.task_id,
                agent_id=agent_id,
                previous_status=agent.type,
                reason=reason,
            )
            self.crew.dismiss(transaction, agent_id)

        self.run.write(work)

    # Audits

    def _audited(self, agent_id: str, agent: ActiveAgent, verdict: Verdict) -> None:
        task_id = agent.task_id
        if verdict.fate == "done" and agent.validates:
            self.revalidated(task_id, agent_id, self._evidence(task_id))
        elif verdict.fate == "done":
            self.complete(task_id, agent_id, self._evidence(task_id))
        else:
            words = self.crew.last_words(agent_id)
            self._did_not_pass(task_id, agent_id, verdict.reason, words)

    def _did_not_pass(self, task_id: str, agent_id: str, failures: str, words: str) -> None:
        def work(transaction: port.Transaction) -> None:
            self.run.event(
                transaction,
                run_events.AUDITOR_FAIL,
                task_id=task_id,
                agent_id=agent_id,
                failures=failures,
                required_fixes=f"{failures}\n{words}"[-_MAX_REASON:],
            )
            self.crew.dismiss(transaction, agent_id)

        self.run.write(work)

    def complete(self, task_id: str, agent_id: str, evidence: str) -> None:
        """A task is completed: in the workspace first, if that keeps it, then in the log."""
        place = self.crew.place_of(task_id)
        task = self.crew.task(task_id)
        if task.source and agent_id:
            commits = self.crew.has_worktrees
            self.crew.keeper.finish(task, agent_id, place, evidence, commits=commits)
            place = self.crew.place_of(task_id)

        def work(transaction: port.Transaction) -> None:
            self._say_complete(transaction, task_id, agent_id, evidence, place)
            if agent_id:
                self.crew.dismiss(transaction, agent_id, claims.DONE)

        self.run.write(work)

    def _say_complete(
        self,
        transaction: port.Transaction,
        task_id: str,
        agent_id: str,
        evidence: str,
        place: agents.Place,
    ) -> None:
        self.run.event(
            transaction,
            run_events.TASK_COMPLETE,
            task_id=task_id,
            agent_id=agent_id or None,
            evidence_summary=evidence,
            commit_sha=place.head,
            branch=place.branch if self.crew.has_worktrees else None,
        )

    def revalidated(self, task_id: str, agent_id: str, evidence: str) -> None:
        """A completed task still passes."""

        def work(transaction: port.Transaction) -> None:
            self.run.event(
                transaction,
                run_events.TASK_REVERIFIED,
                task_id=task_id,
                agent_id=agent_id,
                evidence_summary=evidence,
            )
            if agent_id:
                self.crew.dismiss(transaction, agent_id)

        self.run.write(work)

    def end_if_complete(self) -> bool:
        """Say that the run is over, if everything is completed and validated."""
        state = self.run.state
        if not choosing.is_complete(state):
            return False
        self.run.log(
            run_events.WORKFLOW_COMPLETE,
            total_tasks=state.total_tasks,
            compactions=state.compaction_count,
            session_resumes=state.session_resume_count,
        )
        return True

    # People

    def _escalate(self, task_id: str) -> None:
        """Ask a person about a task that went wrong as often as it may."""
        state = self.run.state
        why = judging.is_once_too_often(state, task_id, self.crew.limits)
        position = state.position(task_id)
        may_fail = position in ("available", "blocked", "pending_audit")
        # One that is completed and can never be validated would hold up everything else.
        if not why or not (may_fail or task_id in state.pending_validation):
            return
        if task_id in state.waiting():
            return
        last = text.one_line(state.fixes.get(task_id, ""), 200)
        asked = asking.Asked(
            f"{task_id} stopped: {why}{f' ({last})' if last else ''}. Try again, leave it out, or"
            " call it complete? Any other answer is told to the next worker.",
            (RETRY, SKIP, COMPLETE),
            state.fixes.get(task_id, ""),
        )

        def work(transaction: port.Transaction) -> None:
            tally = state.tally(task_id)
            self.run.event(
                transaction,
                run_events.TASK_FAILED,
                task_id=task_id,
                failures=tally.incomplete + tally.audit_failures + tally.timeouts + tally.deaths,
                reason=why,
            )
            self.say_asked(transaction, task_id, asked)

        self.run.write(work)

    def ask(self, task_id: str, asked: asking.Asked) -> None:
        """Ask a person something about a task, unless that is being asked already."""
        if task_id not in self.run.state.waiting():
            self.run.write(lambda transaction: self.say_asked(transaction, task_id, asked))

    def say_asked(
        self, transaction: port.Transaction, task_id: str, asked: asking.Asked, agent_id: str = ""
    ) -> None:
        self.run.event(
            transaction,
            run_events.AGENT_SEEKS_GUIDANCE,
            task_id=task_id,
            agent_id=agent_id or None,
            question=asked.question,
            options=list(asked.options),
            context=asked.context[-_MAX_REASON:],
        )

    # What Git says

    def _evidence(self, task_id: str) -> str:
        commands = len(self.crew.task(task_id).commands)
        said = [f"{text.counted(commands, 'command')} succeeded"] if commands else []
        said += ["the auditor passed it"] if self.crew.options.auditor else []
        return ", ".join(said) or "its worker ended with status 0; there was nothing to run"

    def _not_committed(self, task_id: str) -> str:
        """What a worker must still do so that its branch has its work; empty if nothing."""
        place = self.crew.place_of(task_id)
        if place.worktree is None:
            return (
                f"Your branch {place.branch} is not checked out any more; your work belongs there."
            )
        # What the workspace keeps of the task itself is committed when it is finished.
        own = self.crew.keeper.paths(self.crew.task(task_id), place)
        left = checkouts.left_behind(git.Git(place.worktree))
        rest = [path for path in left if not path.startswith(own)]
        shown = text.one_line(", ".join(rest[:10]), 500)
        return f"Commit what you changed; not committed: {shown}" if rest else ""

    def _modified(self, task_id: str) -> tuple[str, ...]:
        head = self.crew.place_of(task_id).head
        if head is None:
            return ()
        log = self.crew.git.log([git.Oid(head)], exclude=[git.Oid(self.run.state.base)])
        found = {change.path for commit in log for change in commit.changes}
        return tuple(sorted(found)[:_MAX_FILES])
