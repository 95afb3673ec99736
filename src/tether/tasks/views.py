"""Tasks as they are shown: file, claim and what became of earlier claims, put together.

This is where `effective` gets its four values from. Reading only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tether import ids, workspace
from tether.agents import claims, liveness, lookout, roll
from tether.agents import model as agents
from tether.hints import NamedTuple
from tether.store import port
from tether.tasks import dependencies, effective, elsewhere, model, states, workdir


class View(NamedTuple):
    """One task, all things considered."""

    task: model.Task
    effective: effective.Effective
    claim: agents.Claim | None = None
    """The open claim, or the last one if it says something about the state."""
    verdict: str = ""
    """Whether the holder is alive."""
    waits_for: tuple[dependencies.Dependency, ...] = ()

    @property
    def is_offered(self) -> bool:
        """May the one who asks take it now?"""
        return self.effective.is_offered and all(each.is_met for each in self.waits_for)

    @property
    def said(self) -> str:
        """What is said on top of the state, in words."""
        if not self.effective.overlay:
            return ""
        claim, overlay = self.claim, self.effective.overlay
        if overlay == effective.DROPPED and claim is not None and claim.outcome == claims.STALE:
            return f"{claim.agent_name} had it and is gone"
        return effective.OVERLAYS[overlay].format(
            holder=claim.agent_name if claim else "",
            branch=(claim.branch or "a detached HEAD") if claim else "",
            outcome="done"
            if self.effective.state == states.DONE or claim is None
            else claim.outcome,
            owner=self.task.owner,
        )


class Viewer:
    """Looks at tasks for one session in one checkout."""

    def __init__(
        self,
        place: workspace.Workspace,
        work: workdir.Workdir,
        store: port.Store,
        spot: lookout.Lookout,
        asker: Callable[[], tuple[str, str]] = lambda: ("", ""),
    ) -> None:
        self._work = work
        self._store = store
        self._spot = spot
        # Asked only when it matters: to name a person takes a call of git.
        self._asker = asker
        remote = elsewhere.is_remote(store.rows, spot)
        self._elsewhere = elsewhere.Elsewhere(place, work, remote)
        self._open: dict[str, agents.Claim] | None = None
        self._verdicts: dict[str, str] = {}

    @property
    def open_claims(self) -> dict[str, agents.Claim]:
        """The open claim of every task that has one."""
        if self._open is None:
            found = claims.open_ones(self._store.rows)
            self._open = {c.task: c for c in found if c.source == ids.OWN_SOURCE}
        return self._open

    def is_mine(self, claim: agents.Claim) -> bool:
        """Does the one who asks hold it?"""
        return claim.session_id == self._asker()[0]

    def view(self, task: model.Task, *, asks_git: bool = True) -> View:
        """One task, all things considered."""
        claim = self.open_claims.get(task.id)
        if task.problem:
            # Its name need not be an id, nor even text: the store is not asked about it.
            unreadable = effective.File(effective.UNREADABLE)
            return View(task, effective.effective(unreadable, "", effective.Outcome(), ""), claim)
        key = ids.TaskKey(ids.OWN_SOURCE, task.id)
        waits_for = tuple(self._dependencies(task))
        file = self._file(task, claim)
        if claim is not None:
            holding, there = self._holding(claim), ""
            if holding == effective.OVER and not self._elsewhere.is_here(claim):
                # It may have died right after it was done, before it could say so.
                there = self._elsewhere.state(claim, asks_git=False)
            found = effective.effective(file, holding, effective.Outcome(), there)
            return View(task, found, claim, self._verdicts.get(claim.session_id, ""), waits_for)
        last = self._last(key, task)
        outcome = effective.Outcome()
        there = ""
        if last is not None:
            outcome = effective.Outcome(last.outcome or "released", self._elsewhere.is_here(last))
            if not outcome.is_here and task.state in (*states.OPEN, effective.ABSENT):
                is_ended = outcome.kind in (*effective.ENDED, effective.CANCELLED)
                there = self._elsewhere.state(last, asks_git=asks_git and is_ended)
        found = effective.effective(file, "", outcome, there)
        return View(task, found, last if found.overlay else None, "", waits_for)

    def absent(self, task_id: str) -> View | None:
        """A task that has no file here, if the claims know it."""
        if not claims.history(self._store.rows, ids.TaskKey(ids.OWN_SOURCE, task_id)):
            return None
        return self.view(model.Task(task_id, "", ""))

    def note_elsewhere(self, each: dependencies.Dependency) -> str:
        """Where a dependency that is not done here is done, if anywhere."""
        if each.is_met or not ids.TaskId.is_valid(each.id):
            return ""
        last = self._last(ids.TaskKey(ids.OWN_SOURCE, each.id), None)
        if last is None or last.closed_at is None or self._elsewhere.is_here(last):
            return ""
        is_there = self._elsewhere.state(last) == states.DONE
        return f"waiting for merge of {last.branch}" if is_there and last.branch else ""

    def _dependencies(self, task: model.Task) -> Iterable[dependencies.Dependency]:
        if not task.depends_on or task.state not in states.OPEN:
            return []
        from tether.tasks import claiming

        found = claiming.look_at(self._work, task.depends_on)
        return [each._replace(note=self.note_elsewhere(each)) for each in found]

    def _file(self, task: model.Task, claim: agents.Claim | None) -> effective.File:
        if task.problem:
            return effective.File(effective.UNREADABLE)
        if not task.path:
            return effective.File(effective.ABSENT)
        state = task.standing(is_claimed=claim is not None).state
        return effective.File(state, bool(task.owner) and task.owner == self._asker()[1])

    def _holding(self, claim: agents.Claim) -> str:
        if self.is_mine(claim):
            return effective.MINE
        if claim.session_id not in self._verdicts:
            holder = roll.get(self._store.rows, claim.session_id)
            is_here = holder is not None and holder.is_here
            seen = self._spot.shown_verdict(holder).state if holder and is_here else "expired"
            self._verdicts[claim.session_id] = seen
        state = self._verdicts[claim.session_id]
        if state in liveness.OVER:
            return effective.OVER
        return effective.SUSPECT if state == effective.SUSPECT else effective.ALIVE

    def _last(self, key: ids.TaskKey, task: model.Task | None) -> agents.Claim | None:
        """The last claim, unless the task began anew after it."""
        found = claims.last_of(self._store.rows, key)
        if found is None or found.closed_at is None:
            return None
        is_outdated = task is not None and task.fresh_at > found.closed_at
        return None if is_outdated else found
