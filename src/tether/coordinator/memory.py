"""What a coordinator that is an agent must have in mind again: after a compaction, or anew.

In the order of seed 004: questions first, then the work that was in progress with its checkpoints,
then what waits for an audit, then what could be given out. Pure.
"""

from __future__ import annotations

from tether.coordinator import assignments, choosing, narrating, runs

_MAX_ASSIGNMENTS = 10
_MAX_LISTED = 20


def parts(run: runs.Run, *, has_workers: bool) -> list[str]:
    """Paragraphs to be told; who has a loop that works for it needs only the questions."""
    state, outlook = run.state, run.outlook
    found = [narrating.question(each) for each in state.open_questions]
    if has_workers:
        return found
    for task_id in list(state.in_progress)[:_MAX_ASSIGNMENTS]:
        task = outlook.tasks.get(task_id)
        if task is not None:
            found.append(
                assignments.for_developer(
                    task,
                    checkpoint=state.checkpoints.get(task_id),
                    fixes=state.fixes.get(task_id, ""),
                    guidance=state.guidance.get(task_id, ""),
                    resumed=True,
                    has_branch=False,
                    checkpoint_minutes=5,
                    is_process=False,
                ).rstrip()
            )
    if state.pending_audit:
        found.append(f"Audit with `tether run done`: {_listed(state.pending_audit)}")
    ready = choosing.by_urgency(state, outlook, {})
    if ready:
        found.append(f"Give out with `tether run assign`: {_listed(ready)}")
    return found


def _listed(task_ids: list[str] | dict[str, None]) -> str:
    names = list(task_ids)
    more = len(names) - _MAX_LISTED
    return ", ".join(names[:_MAX_LISTED]) + (f" and {more} more" if more > 0 else "")
