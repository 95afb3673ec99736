"""Tasks of a run that the workspace keeps itself: in files, or in lists of the team.

Their state is the workspace's: whoever has one holds its claim, whoever is done finishes it there,
and what somebody else finished or holds is not given out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tether import clock, config, errors, files, git, ids, workspace
from tether.agents import claims, lookout, roll
from tether.agents import model as agents
from tether.coordinator.plans.model import PlanTask
from tether.coordinator.state import Outlook
from tether.store import port
from tether.tasks import claiming, committing, desk, moves, states, views, workdir
from tether.tasks.sources import finding, ticking


class Keeper(NamedTuple):
    """How the tasks of the workspace are reached."""

    store: port.Store
    spot: lookout.Lookout
    settings: config.Settings
    lists: Callable[[str], finding.Lists]
    """The lists of a checkout."""

    def take(self, task: PlanTask, agent_id: str, at: agents.Place) -> None:
        """Let the file of a task say who has it; its claim is open already."""
        if task.source == ids.OWN_SOURCE:
            # A file that cannot follow keeps nobody from working: the claim alone decides.
            answer = claiming.claim(self._desk(agent_id, at), task.id)
            if isinstance(answer, claims.Refused):
                raise errors.Taken(f"{task.id} was taken by somebody else. Nothing was changed.")

    def finish(
        self, task: PlanTask, agent_id: str, at: agents.Place, summary: str, *, commits: bool
    ) -> None:
        """Let the file or the list say that a task is done. Doing it twice does no harm."""
        if not task.source:
            return
        if task.source != ids.OWN_SOURCE:
            top = at.worktree or ""
            item = self.lists(top).items.get(ids.TaskKey(task.source, task.id))
            if item is not None and item.state != states.DONE:
                ticking.tick(top, item, states.DONE)
            if item is not None and commits:
                self._commit(top, item.path, task.id)
            return
        seat = self._desk(agent_id, at)
        moved = moves.finish(seat, task.id, summary=summary)
        if isinstance(moved, desk.Moved) and commits:
            committing.commit(seat, moved)

    def paths(self, task: PlanTask, at: agents.Place) -> tuple[str, ...]:
        """Where a checkout keeps the task itself: the beginnings of paths."""
        if task.source == ids.OWN_SOURCE:
            return (f"{self.settings.text('tasks.root')}/",)
        if not task.source:
            return ()
        item = self.lists(at.worktree or "").items.get(ids.TaskKey(task.source, task.id))
        return (item.path,) if item is not None else ()

    def _commit(self, top: str, path: str, task_id: str) -> None:
        """Commit the list that a task was ticked on."""
        repository = git.Git(top)
        branch = repository.branch()
        if branch is not None:
            edits: dict[str, bytes | None] = {path: files.Root(top).read_bytes(path)}
            identity = repository.user_identity() or git.Identity("Tether", "tether@localhost")
            message = f"tasks: finish {task_id}\n\nTask: {task_id}\n"
            repository.commit_paths(branch, edits, message, identity)

    def standing(self, place: workspace.Workspace, outlook: Outlook) -> Standing:
        """What the workspace knows of the tasks of a run."""
        own = [t for t in outlook.plan.tasks if t.source == ids.OWN_SOURCE]
        listed = [t for t in outlook.plan.tasks if t.source not in ("", ids.OWN_SOURCE)]
        done: dict[str, str] = {}
        if own and place.root:
            work = workdir.of(place.root, self.settings)
            viewer = views.Viewer(place, work, self.store, self.spot)
            for task in own:
                if why := _why_done(work, viewer, task.id):
                    done[task.id] = why
        items = self.lists(place.root or "").items if listed else {}
        for task in listed:
            item = items.get(ids.TaskKey(task.source, task.id))
            if item is not None and item.state == states.DONE:
                done[task.id] = "it is done on its list"
        holders = {c.key: c.session_id for c in claims.open_ones(self.store.rows)}
        keys = {t.id: ids.TaskKey(t.source, t.id) for t in (*own, *listed)}
        return Standing(done, {t: holders[key] for t, key in keys.items() if key in holders})

    def _desk(self, agent_id: str, at: agents.Place) -> desk.Desk:
        place = workspace.find(at.worktree or "")
        caller = desk.Caller(roll.require(self.store.rows, agent_id), is_human=False, place=at)
        work = workdir.of(place.root or "", self.settings)
        now = clock.now_text(clock.SystemClock())
        return desk.Desk(place, work, self.store, self.spot, caller, now)


class Standing(NamedTuple):
    """What the workspace knows of the tasks of a run."""

    done: dict[str, str]
    """Why each counts as done."""
    held: dict[str, str]
    """The session that holds each."""


def _why_done(work: workdir.Workdir, viewer: views.Viewer, task_id: str) -> str:
    found = work.find(task_id)
    if len(found) != 1:
        return ""
    effective = viewer.view(work.load(found[0]).task).effective
    if effective.state not in (states.DONE, states.ARCHIVED):
        return ""
    return f"its file is done{' elsewhere, waiting for a merge' if effective.overlay else ''}"
