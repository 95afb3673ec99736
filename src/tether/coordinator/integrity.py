"""Is a state whole, and does it agree with its plan and with Git?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from tether import git, text
from tether.coordinator import checkouts
from tether.coordinator.state import DEVELOPER, Outlook, State
from tether.git import merging

_MAX_SHOWN = 100


def problems(state: State, outlook: Outlook) -> list[str]:
    """What is wrong with a state by itself. Pure."""
    return [*_positions(state, outlook), *_agents(state), *_blockers(state, outlook)]


def rebuild_blocked(state: State, outlook: Outlook) -> dict[str, dict[str, None]]:
    """What waits for what, from the plan and what is completed alone. Pure."""
    begun = state.in_progress.keys() | state.pending_audit.keys() | state.failed.keys()
    return {
        task_id: blockers
        for task_id in outlook.tasks
        if task_id not in state.completed
        and task_id not in begun
        and (blockers := outlook.blockers(task_id, state.completed))
    }


def verified(state: State, outlook: Outlook) -> int:
    """How many of the completed tasks the plan knows."""
    return sum(task_id in outlook.tasks for task_id in state.completed)


def contradictions(
    state: State, outlook: Outlook, repository: git.Git, top: str | None
) -> list[str]:
    """What Git and the disk say against the run: completed tasks without their commit or files."""
    shas = {t: c.commit_sha for t, c in state.completed.items() if git.Oid.is_valid(c.commit_sha)}
    missing = repository.missing({git.Oid(sha) for sha in shas.values()}) if shas else set()
    found = []
    for task_id, sha in shas.items():
        branch = state.completed[task_id].branch
        if sha in missing:
            found.append(f"{task_id} is completed, but its commit {sha[:12]} is not here")
        elif branch and not _is_anywhere(repository, branch, git.Oid(sha)):
            name = text.one_line(branch, 120)
            found.append(f"{task_id} is completed, but {name} does not have {sha[:12]}")
    return [*found, *_absent_files(state, outlook, top)][:_MAX_SHOWN]


def unmerged(state: State, outlook: Outlook, repository: git.Git) -> list[str]:
    """The branches that together have everything: the last ones, and what these do not have."""
    done = {t: c for t, c in state.completed.items() if c.branch and git.Oid.is_valid(c.commit_sha)}
    needed = {each for task in outlook.plan.tasks for each in task.blocked_by}
    last = [task_id for task_id in done if task_id not in needed]
    rest = {git.Oid(c.commit_sha): c.branch for t, c in done.items() if t not in last}
    tips = [git.Oid(done[task_id].commit_sha) for task_id in last]
    gone = repository.missing([*rest, *tips])
    outside = repository.log(
        [oid for oid in rest if oid not in gone], exclude=[oid for oid in tips if oid not in gone]
    )
    missed = {commit.oid for commit in outside}
    return [done[t].branch for t in last] + [b for oid, b in rest.items() if oid in missed]


def _is_anywhere(repository: git.Git, branch: str, oid: git.Oid) -> bool:
    """On its branch, or merged into what is checked out: then the branch may go."""
    head = repository.head()
    is_merged = head is not None and merging.is_ancestor(repository, oid, head)
    return is_merged or checkouts.is_there(repository, f"refs/heads/{branch}", oid)


def _absent_files(state: State, outlook: Outlook, top: str | None) -> Iterator[str]:
    """Files that completed tasks were to make, and that the checkout does not have.

    A branch of its own keeps them until it is merged.
    """
    for task_id, each in state.completed.items():
        task = outlook.tasks.get(task_id)
        if task is None or each.branch or top is None:
            continue
        for path in task.files:
            if not set(path) & set("*?[") and not os.path.lexists(os.path.join(top, path)):
                yield f"{task_id} is completed, but {text.one_line(path, 120)} is not here"


def _positions(state: State, outlook: Outlook) -> list[str]:
    places: Counter[str] = Counter()
    for each in (
        state.completed,
        state.in_progress,
        state.pending_audit,
        state.available,
        state.blocked,
        state.failed,
    ):
        places.update(each.keys())
    found = [f"{task_id} is in {n} positions" for task_id, n in places.items() if n > 1]
    found += [f"{task_id} is in no position" for task_id in outlook.tasks if task_id not in places]
    return found


def _agents(state: State) -> list[str]:
    working = {a.task_id: key for key, a in state.active_agents.items() if a.type == DEVELOPER}
    return [
        f"{task_id} is in progress without a worker"
        for task_id, agent_id in state.in_progress.items()
        if working.get(task_id) != agent_id
    ]


def _blockers(state: State, outlook: Outlook) -> list[str]:
    rebuilt = rebuild_blocked(state, outlook)
    return [
        f"{task_id} waits for something else than the plan says"
        for task_id in rebuilt.keys() | state.blocked.keys()
        if task_id in outlook.tasks
        and set(rebuilt.get(task_id, ())) != set(state.blocked.get(task_id, ()))
    ]
