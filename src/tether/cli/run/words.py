"""The words around a run: checkpoints, questions and answers, pauses, compactions."""

from __future__ import annotations

import click

from tether import errors
from tether.cli import answers, cold, context
from tether.cli.run import finding, status
from tether.coordinator import (
    checkpoints,
    compaction,
    limits,
    outputs,
    pausing,
    questions,
    runs,
    settling,
)
from tether.coordinator.gauges import model as gauges
from tether.coordinator.state import USER_STOP
from tether.store import run_events

_STATUSES = ("implementing", "testing", "awaiting-verification")


@click.command()
@click.argument("said", metavar="TEXT")
@click.option("--task", metavar="ID", help="Of which task; a worker's own otherwise.")
@click.option("--status", "how", type=click.Choice(_STATUSES), default=_STATUSES[0])
@finding.named
@cold.answering
@cold.pass_call
def checkpoint(
    call: context.Context, said: str, task: str | None, how: str, name: str | None
) -> answers.Answer:
    """Say how far a task has come: what is done, what is left.

    Whoever takes the task up again is told the last one.
    """
    run = finding.opened(call, name)
    task_id, agent_id = _task(call, run, task)
    if not agent_id:
        raise errors.NotAllowed(
            f"Nobody works on {task_id}, so there is nothing to keep. Nothing was changed.",
            hint="See who works on what with `tether run status`.",
        )
    checkpoints.note(run, task_id, agent_id, questions.checked(said, "The checkpoint"), how)
    kept = run.state.checkpoints.get(task_id)
    return answers.Answer(
        "checkpoint",
        {"run": run.name, "task_id": task_id, "at": kept.at if kept else None},
        lambda: f"The checkpoint of {task_id} is kept.",
    )


@click.command()
@click.argument("question", metavar="QUESTION")
@click.option("--option", "choices", multiple=True, metavar="TEXT", help="A possible answer.")
@click.option("--task", metavar="ID", help="About which task; a worker's own otherwise.")
@finding.named
@cold.answering
@cold.pass_call
def ask(
    call: context.Context,
    question: str,
    choices: tuple[str, ...],
    task: str | None,
    name: str | None,
) -> answers.Answer:
    """Ask a person what only a person can decide.

    It holds up its task and what depends on it, nothing else. A worker that has asked may end: its
    task is given out again with the answer.
    """
    run = finding.opened(call, name)
    task_id, agent_id = _task(call, run, task)
    # Named, whoever asks: only the coordinator's own questions have answers that decide something.
    asked = questions.ask(run, task_id, agent_id or run.actor, question, choices)
    return answers.Answer(
        "question",
        {"id": asked.id, "task_id": task_id, "run": run.name},
        lambda: f"Question {asked.id} about {task_id} waits for a person.",
    )


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="[QUESTION] ANSWER")
@finding.named
@cold.answering
@cold.pass_call
def answer(call: context.Context, words: tuple[str, ...], name: str | None) -> answers.Answer:
    """Answer a question of a run.

    QUESTION is its number or its task; with one open question it may be left out. An answer that is
    none of the options is told to whoever works on the task next.
    """
    if call.is_agent or finding.is_below_worker(call):
        raise errors.NotAllowed(
            "Questions of a run are for people to answer. Nothing was changed.",
            hint="Ask the person you work for; they run `tether run answer`.",
        )
    run = finding.opened(call, name)
    names = {name for each in run.state.open_questions for name in (str(each.id), each.task_id)}
    is_named = len(words) > 1 and (words[0] in names or words[0].isdigit())
    which, said = (words[0], words[1:]) if is_named else ("", words)
    question = questions.find(run, which)
    questions.answer(run, question, " ".join(said))
    return answers.Answer(
        "question",
        {"id": question.id, "task_id": question.task_id, "run": run.name},
        lambda: f"Question {question.id} is answered.",
    )


@click.command()
@finding.named
@cold.answering
@cold.pass_call
def pause(call: context.Context, name: str | None) -> answers.Answer:
    """Stop giving out work, and save everything.

    Workers leave a checkpoint and are ended; `tether run resume` gives their tasks out again.
    """
    run = finding.opened(call, name)
    if run.state.ended:
        raise errors.NotAllowed(f"Run {run.name} is over. Nothing was changed.")
    if run.state.paused_at:
        return status.answer(run, f"Run {run.name} is paused since {run.state.paused_at}.")
    if run.coordinator():
        run.log(run_events.PAUSE_REQUESTED, by=run.actor)
        return status.answer(run, f"The coordinator of {run.name} pauses it.")
    with run.held(wait_seconds=2.0):
        settler = settling.Settler(finding.hands(call, run))
        pausing.pause(settler, USER_STOP)
    return status.answer(run, outputs.paused(run.state, run.state_file, ""))


@click.command()
@click.option(
    "--context-remaining",
    "percent",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="How much context is left, if the agent's own records do not tell.",
)
@click.option("--if-needed", is_flag=True, help="Only at or under the threshold.")
@finding.named
@cold.answering
@cold.pass_call
def compact(
    call: context.Context, percent: float | None, if_needed: bool, name: str | None
) -> answers.Answer:
    """Save everything before the coordinator's context is compacted.

    Then compact (`/compact`), and run `tether run resume --once`. Meanwhile nothing new is given
    out. Hooks call both.
    """
    run = finding.opened(call, name)
    if finding.is_worker(call):
        return status.answer(run, "A worker of the run may compact: its checkpoint is kept.")
    found = limits.of(call.settings)
    known = finding.context_of(call) if percent is None else gauges.Context(percent, "said", None)
    left = known.remaining if known else None
    if if_needed and not compaction.is_needed(known, run.state, found):
        told = "unknown" if left is None else f"{round(left, 1):g}%"
        return status.answer(run, f"Context left: {told}. There is no need to compact.")
    if run.state.ended or run.state.paused_at:
        return status.answer(run, f"Run {run.name} is not running: its state is saved.")
    compaction.persist(finding.hands(call, run), left)
    shown = found.context_percent if left is None else left
    return status.answer(run, outputs.before_compaction(run.state, shown, run.state_file))


def _task(call: context.Context, run: runs.Run, named: str | None) -> tuple[str, str]:
    """The task that is meant, and the agent that has it."""
    task_id = named or call.environ.get(finding.TASK_VARIABLE, "")
    if not task_id:
        raise errors.UsageError("Which task? Nothing was changed.", hint="Name it with --task ID.")
    if run.state.position(task_id) is None:
        raise errors.NotFound(
            f"Run {run.name} has no such task. Nothing was changed.",
            hint="See its tasks with `tether run status --json`.",
        )
    own = call.environ.get("TETHER_SESSION", "")
    return task_id, own if own in run.state.active_agents else run.state.in_progress.get(
        task_id, ""
    )
