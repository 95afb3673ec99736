"""`tether run status` and `list`: where runs stand."""

from __future__ import annotations

import click

from tether import clock, errors, git, text
from tether.cli import answers, cold, context
from tether.cli.run import finding, viewing
from tether.cli.task import shown
from tether.coordinator import (
    choosing,
    copies,
    documents,
    integrity,
    journal,
    limits,
    narrating,
    options,
    pausing,
    runs,
)
from tether.coordinator.loop import Ending
from tether.hints import Any

_UNTRUSTED = (
    "question",
    "options",
    "context",
    "response",
    "text",
    "last_checkpoint",
    "required_fixes",
    "evidence_summary",
)


@click.command()
@finding.named
@cold.answering
@cold.pass_call
def status(call: context.Context, name: str | None) -> answers.Answer:
    """Show where a run stands: what is done, who is at work, what waits for a person."""
    run = finding.opened(call, name)
    found = limits.of(call.settings)
    contradictions = integrity.contradictions(
        run.state, run.outlook, git.Git(call.workspace.place), call.workspace.root
    )
    value = {**described(run), "contradictions": contradictions}
    lines = _page(run, found, contradictions)
    return answers.Answer(
        "run",
        value,
        lambda: answers.told("\n".join(lines), source="run", for_agent=call.is_agent),
        None if call.is_agent else shown.fitted(lines),
    )


@click.command("list")
@cold.answering
@cold.pass_call
def list_(call: context.Context) -> answers.Answer:
    """Show all runs, the latest one last."""
    values, lines = [], []
    for name in runs.names(call.store, call.workspace):
        run = runs.Run(call.store, call.workspace, runs.RunId(name))
        try:
            run.open()
        except errors.NotFound:
            continue
        except copies.PlanLost as problem:
            values.append({"run": name, "state": "lost", "problem": problem.message})
            lines.append(f"{name}  lost  {problem.message}")
            continue
        values.append(_brief(run))
        lines.append(f"{run.name}  {_state(run)}  {_progress(run)}")
    value = {"runs": values}
    return answers.Answer("", value, lambda: "\n".join(lines) or "There is no run here yet.")


def described(run: runs.Run) -> dict[str, Any]:
    """Everything about a run, for programs."""
    holder = run.coordinator()
    return {
        **documents.plain(run.state),
        **_brief(run),
        "state_file": run.state_file,
        "coordinator": {"pid": holder.pid, "since": holder.since} if holder else None,
        "untrusted": list(_UNTRUSTED),
    }


def answer(run: runs.Run, said: str, **more: Any) -> answers.Answer:
    """A turning point of a run: what the seed says of it, and everything for programs."""
    return answers.Answer("", {"run": described(run), **more}, lambda: said)


def ended(run: runs.Run, ending: Ending) -> answers.Answer:
    """What is said when a coordinator ends."""
    said = {
        "complete": f"Run {run.name} is complete: {_progress(run)}.",
        "failed": f"Run {run.name} failed: {_progress(run)}.",
        "stopped": f"Run {run.name} is stopped: {_progress(run)}. `tether run resume` goes on.",
    }[ending]
    if ending == "complete" and (tips := unmerged(run)):
        said += f" To merge: {', '.join(tips)}."
    failure = None
    if ending == "failed":
        failure = errors.TetherError(
            "What is left of the run has failed, or waits for what has.",
            hint="See it with `tether run status`.",
        )
    return answers.Answer("run", described(run), lambda: said, failure=failure)


def unmerged(run: runs.Run) -> list[str]:
    """The branches that together have everything."""
    return integrity.unmerged(run.state, run.outlook, git.Git(run.place.place))


def _brief(run: runs.Run) -> dict[str, Any]:
    return {
        "run": run.name,
        "state": _state(run),
        "plan_file": text.clean(run.state.plan_file),
        "counts": run.state.counts(),
        "total_tasks": run.state.total_tasks,
    }


def _state(run: runs.Run) -> str:
    state = run.state
    if state.ended:
        return state.ended
    if state.paused_at:
        return "paused"
    if state.is_compacting:
        return "compacting"
    if run.coordinator():
        return "running"
    chosen = options.load(run.root)
    return "by hand" if chosen is not None and not chosen.worker else "left"


def _progress(run: runs.Run) -> str:
    return f"{len(run.state.completed)} of {run.state.total_tasks} tasks completed"


def _page(run: runs.Run, found: limits.Limits, contradictions: list[str]) -> list[str]:
    state = run.state
    lines = [f"Run {run.name} is {_state(run)}. Plan: {text.one_line(state.plan_file)}"]
    if state.paused_at:
        at = pausing.resumes_at(state, found) if run.coordinator() else ""
        then = f"it goes on at {at}" if at else "`tether run resume` goes on"
        lines.append(f"Paused since {state.paused_at}; {then}.")
    elif _state(run) == "left":
        lines.append("Nobody coordinates it: `tether run resume` goes on.")
    lines += viewing.progress(run)
    if ready := choosing.by_urgency(state, run.outlook, {}):
        more = f" and {len(ready) - 10} more" if len(ready) > 10 else ""
        lines.append(f"available: {', '.join(ready[:10])}{more}")
    now = run.now()
    lines += [
        f"stalled: {task} missed {n} checkpoints"
        for task, _, n in journal.stalled(state, now, found)
    ]
    for question in state.open_questions:
        lines += narrating.question(question).split("\n")
    lines += [f"failed: {task}: {text.one_line(why)}" for task, why in state.failed.items()]
    lines += [f"contradiction: {each}" for each in contradictions]
    if state.usage.session_remaining is not None:
        ago = shown.ago(state.usage.last_usage_check, clock.parse(now))
        lines.append(f"usage: {state.usage.session_remaining:g}% left, {ago} ago")
    return lines
