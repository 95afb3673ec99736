"""`tether run assign`, `done` and `give-up`: for a coordinator that is an agent or a person."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click

from tether import errors
from tether.cli import answers, cold, context
from tether.cli.run import finding
from tether.coordinator import asking, by_hand, runs, settling


@click.command()
@click.argument("task", metavar="TASK")
@finding.named
@cold.answering
@cold.pass_call
def assign(call: context.Context, task: str, name: str | None) -> answers.Answer:
    """Give a task out yourself, and print what its worker is to be told.

    For a run that was started without --worker. The worker's session and its claim are written
    down; `tether run done` says that it is done.
    """
    with _holding(call, name) as settler:
        given = by_hand.assign(settler.crew, task, call.session.process)
        if isinstance(given, asking.Asked):
            settler.ask(task, given)
            raise errors.NotAllowed(
                f"{task} waits for a person: {given.question}",
                hint="They answer with `tether run answer`.",
            )
        value = {
            "run": settler.run.name,
            "task_id": task,
            "agent_id": given.agent_id,
            "directory": given.place.worktree,
            "prompt": given.prompt,
        }
        return answers.Answer("assignment", value, lambda: given.prompt)


@click.command()
@click.argument("task", metavar="TASK")
@finding.named
@cold.answering
@cold.pass_call
def done(call: context.Context, task: str, name: str | None) -> answers.Answer:
    """Say that a worker of yours is done: the criteria's commands decide.

    They run as they stood in the plan when the run started, then the auditor if there is one.
    """
    with _holding(call, name) as settler:
        passed = by_hand.finish(settler, task)
        run = settler.run
        failure = None
        if not passed:
            failure = errors.TetherError(
                f"{task} did not pass. It is {run.state.position(task)} again.",
                hint="`tether run assign` gives it out with what is missing.",
            )
        settler.end_if_complete()
        value = {
            "run": run.name,
            "task_id": task,
            "position": run.state.position(task),
            "required_fixes": run.state.fixes.get(task),
            "counts": run.state.counts(),
            "untrusted": ["required_fixes"],
        }
        said = f"{task} is completed." if passed else _missing(run, task, for_agent=call.is_agent)
        return answers.Answer("task", value, lambda: said, failure=failure)


@click.command("give-up")
@click.argument("task", metavar="TASK")
@click.argument("why", metavar="WHY")
@finding.named
@cold.answering
@cold.pass_call
def give_up(call: context.Context, task: str, why: str, name: str | None) -> answers.Answer:
    """Say that a worker of yours gave up, and why.

    The task is given out again with that; after run.failure_limit times a person decides.
    """
    with _holding(call, name) as settler:
        by_hand.give_up(settler, task, why)
        position = settler.run.state.position(task)
        value = {"run": settler.run.name, "task_id": task, "position": position}
        return answers.Answer("task", value, lambda: f"{task} is {position} again.")


@contextlib.contextmanager
def _holding(call: context.Context, name: str | None) -> Iterator[settling.Settler]:
    """Hold a run for one step of whoever coordinates it."""
    run = finding.unopened(call, name, session_id=call.agent.session_id)
    run.actor = call.actor
    with run.held(wait_seconds=10.0):
        run.open(tidies=True)
        if run.state.ended or run.state.paused_at:
            state = run.state.ended or "paused"
            raise errors.NotAllowed(
                f"Run {run.name} is {state}. Nothing was changed.",
                hint="`tether run resume` goes on with one that is paused.",
            )
        yield settling.Settler(finding.hands(call, run))
        run.save()


def _missing(run: runs.Run, task: str, *, for_agent: bool) -> str:
    fixes = run.state.fixes.get(task, "")
    return answers.told(fixes, source="audit", for_agent=for_agent)
