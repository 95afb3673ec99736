"""What only a person can decide: asking, answering, and what an answer does."""

from __future__ import annotations

from tether import errors, redaction, text
from tether.coordinator import runs
from tether.coordinator.state import Question
from tether.store import run_events

_MAX_CHARS = 4000
_MAX_OPTIONS = 10
CRITERIA = "criteria "
"""How the context begins of a question about what is executed."""


def checked(said: str, what: str) -> str:
    """A question or an answer as it is kept: without secrets, and not endless."""
    kept = text.storable(redaction.redact(said.strip()))[:_MAX_CHARS]
    if not kept:
        raise errors.UsageError(f"{what} is empty. Nothing was changed.")
    return kept


def ask(
    run: runs.Run, task_id: str, agent_id: str, question: str, options: tuple[str, ...] = ()
) -> Question:
    """Ask a person something about a task."""
    if run.state.position(task_id) in (None, "completed", "removed"):
        raise errors.NotAllowed(f"{task_id} is not open in {run.name}. Nothing was changed.")
    if len(options) > _MAX_OPTIONS:
        raise errors.UsageError(f"At most {_MAX_OPTIONS} options. Nothing was changed.")
    before = set(run.state.questions)
    run.log(
        run_events.AGENT_SEEKS_GUIDANCE,
        task_id=task_id,
        agent_id=agent_id or None,
        question=checked(question, "The question"),
        options=[checked(each, "An option") for each in options],
        context="",
    )
    [new] = [each for key, each in run.state.questions.items() if key not in before][-1:]
    return new


def find(run: runs.Run, which: str) -> Question:
    """The open question of a number or of a task; the only one if nothing is named."""
    waiting = run.state.open_questions
    if which:
        waiting = [each for each in waiting if which in (str(each.id), each.task_id)]
    if len(waiting) == 1:
        return waiting[0]
    if not waiting:
        raise errors.NotFound(
            "There is no such open question. Nothing was changed.",
            hint="See the open ones with `tether run status`.",
        )
    shown = ", ".join(f"{each.id} ({each.task_id or 'the plan'})" for each in waiting[:5])
    raise errors.UsageError(
        f"{len(waiting)} questions are open: {shown}. Nothing was changed.",
        hint="Name one of them.",
    )


def answer(run: runs.Run, question: Question, response: str) -> None:
    """Answer a question. The one who was first counts."""
    said = checked(response, "The answer")
    # One of the options, however it is capitalised.
    said = next((each for each in question.options if each.lower() == said.lower()), said)
    if question.context.startswith(CRITERIA) and said not in question.options:
        # Only a plain word lets a command run that was not there at the start.
        raise errors.UsageError(
            f"The answer is one of {', '.join(question.options)}. Nothing was changed."
        )
    run.log(
        run_events.DIVINE_RESPONSE_RECEIVED,
        question=question.id,
        task_id=question.task_id,
        response=said,
    )
    kept = run.state.questions[question.id].response
    if kept != said:
        raise errors.Taken("Somebody else has answered this question. That answer counts.")
