"""The verbs that move a task: `tether finish`, `tether fail`, and those of `tether task`."""

from __future__ import annotations

from collections.abc import Callable

from tether import clock, errors, ids
from tether.agents import claims
from tether.cli import answers, context, verbs
from tether.cli.task import shown
from tether.tasks import claiming, desk, moves

COMMIT = verbs.Option("--commit", "Commit what this changes below work/, and nothing else.")
SESSION = verbs.Option("--session", "Another session than the caller's.", "ID")
EPOCH = verbs.Option("--epoch", "Only if the claim has still this epoch.", "N", is_number=True)
WHY = verbs.Option("--why", "The reason, for the task's history.", "TEXT", "")

Act = Callable[[desk.Desk, verbs.Values], "desk.Moved | claims.Refused"]


def acting(act: Act, verb: str = "") -> Callable[[context.Context, verbs.Values], answers.Answer]:
    """A command from what it does with a desk."""

    def run(call: context.Context, values: verbs.Values) -> answers.Answer:
        key = shown.key_of(call, values["task"])
        if key.source != ids.OWN_SOURCE and act in (_finish, _fail):
            from tether.cli.task import lists

            return lists.end(call, key, values, "finish" if act is _finish else "fail")
        values["task"] = shown.own_id(key, verb)
        commits = values.get("commit", False)
        if commits:
            from tether.tasks import committing

            committing.require_branch(call.workspace)
        at = call.desk(values.get("session"))
        if "artefact" in values:
            values["artefact"] = [
                shown.from_top(call.workspace, each) for each in values["artefact"]
            ]
        return shown.answered(at, act(at, values), commits=commits)

    return run


def _finish(at: desk.Desk, values: verbs.Values) -> desk.Moved | claims.Refused:
    partial = None
    if values["missing"] and not values["partial"]:
        raise errors.UsageError("--missing belongs to --partial. Nothing was changed.")
    if values["partial"]:
        if not values["missing"] or not values["why"]:
            raise errors.UsageError(
                "--partial needs --missing NAME, once or more, and --why. Nothing was changed."
            )
        partial = moves.Partial(tuple(dict.fromkeys(values["missing"])), values["why"])
    return moves.finish(
        at,
        values["task"],
        summary=values["summary"],
        artefacts=values["artefact"],
        partial=partial,
        epoch=values["epoch"],
    )


def _fail(at: desk.Desk, values: verbs.Values) -> desk.Moved | claims.Refused:
    message = values["message"].strip()
    if not message:
        raise errors.UsageError("Say with --message what went wrong. Nothing was changed.")
    return moves.fail(at, values["task"], message=message, epoch=values["epoch"])


def _start(at: desk.Desk, values: verbs.Values) -> desk.Moved | claims.Refused:
    if not at.work.find(values["task"]):
        raise desk.missing(at, values["task"])
    answer = claiming.claim(at, values["task"], verb="start")
    if isinstance(answer, claims.Refused):
        return answer
    if answer.moved is None:
        raise desk.missing(at, values["task"])
    return answer.moved


def _extend(at: desk.Desk, values: verbs.Values) -> desk.Moved:
    try:
        if values["until"]:
            until = clock.text(clock.parse(values["until"]))
        else:
            until = clock.text(clock.parse(at.now) + clock.duration(values["by"]))
    except ValueError:
        raise errors.UsageError(
            "This is no time. Nothing was changed.",
            hint="Write --by 2h, or --until 2026-12-24T18:00Z.",
        ) from None
    if until <= at.now:
        raise errors.UsageError("This time has passed already. Nothing was changed.")
    return moves.extend(at, values["task"], until=until)


def _cancel(at: desk.Desk, values: verbs.Values) -> desk.Moved | claims.Refused:
    if not values["why"].strip():
        raise errors.UsageError("Say with --why TEXT why it will not be done. Nothing was changed.")
    return moves.cancel(at, values["task"], why=values["why"])


def _retry(call: context.Context, values: verbs.Values) -> answers.Answer:
    stalled_ms = call.settings.integer("tasks.stalled_seconds") * 1000
    return acting(
        lambda at, given: moves.retry(
            at, given["task"], to=given["to"], why=given["why"], stalled_ms=stalled_ms
        )
    )(call, values)


def _complete(call: context.Context, values: verbs.Values) -> answers.Answer:
    evidence = [commit_named(call, each) for each in values["evidence"]]
    return acting(
        lambda at, given: moves.complete(
            at,
            given["task"],
            summary=given["summary"],
            evidence=evidence,
            artefacts=given["artefact"],
        )
    )(call, values)


def commit_named(call: context.Context, revision: str) -> str:
    """Evidence is a commit that exists."""
    from tether import git

    return git.Git(call.workspace.place).resolve(revision)


_SUMMARY = verbs.Option("--summary", "What was done, in a sentence or two.", "TEXT", "")
_ARTEFACT = verbs.Option("--artefact", "A file that came out of it.", "PATH", is_list=True)

VERBS = {
    "finish": verbs.Verb(
        name="finish",
        help="Say that your task is done.",
        notes="The result goes into the task's file, and the file to done/. --artefact and"
        " --missing may be repeated; without --artefact those that the task names count. With"
        " --partial a follow-up task is made for what is missing. Exit code 4 means that the task"
        " is not yours any more.",
        options=(
            _SUMMARY,
            _ARTEFACT,
            verbs.Option("--partial", "Not everything came out of it."),
            verbs.Option("--missing", "What did not.", "NAME", is_list=True),
            verbs.Option("--why", "Why not.", "TEXT", ""),
            COMMIT,
            EPOCH,
            SESSION,
        ),
        arguments=(shown.TASK,),
        run=acting(_finish),
    ),
    "fail": verbs.Verb(
        name="fail",
        help="Say that your task failed, and why.",
        notes="The task stays where it is, with its error, until a person retries or cancels it.",
        options=(
            verbs.Option("--message", "What went wrong.", "TEXT", ""),
            COMMIT,
            EPOCH,
            SESSION,
        ),
        arguments=(shown.TASK,),
        run=acting(_fail),
    ),
    "assign": verbs.Verb(
        name="assign",
        help="Give a new task to an agent.",
        notes="For people and coordinators. An agent that is here gets the claim and a message.",
        options=(WHY, COMMIT),
        arguments=(shown.TASK, verbs.Argument("agent", "The agent's name.")),
        run=acting(
            lambda at, given: claiming.assign(at, given["task"], given["agent"], given["why"])
        ),
    ),
    "start": verbs.Verb(
        name="start",
        help="Start a task that is assigned to you.",
        options=(COMMIT, SESSION),
        arguments=(shown.TASK,),
        run=acting(_start, "start"),
    ),
    "extend": verbs.Verb(
        name="extend",
        help="Let a task in progress take longer.",
        options=(
            verbs.Option("--by", "How much longer, from now.", "TIME", "2h"),
            verbs.Option("--until", "Until when, as 2026-12-24T18:00Z.", "WHEN"),
            COMMIT,
        ),
        arguments=(shown.TASK,),
        run=acting(_extend),
    ),
    "retry": verbs.Verb(
        name="retry",
        help="Have a task tried again that failed or got stuck.",
        notes="For people. The error goes into the task's history.",
        options=(verbs.Option("--to", "By another agent.", "AGENT"), WHY, COMMIT),
        arguments=(shown.TASK,),
        run=_retry,
    ),
    "return": verbs.Verb(
        name="return",
        help="Give a task back to the inbox.",
        options=(WHY, COMMIT, EPOCH, SESSION),
        arguments=(shown.TASK,),
        run=acting(
            lambda at, given: moves.give_back(
                at, given["task"], why=given["why"], epoch=given["epoch"]
            ),
            "return",
        ),
    ),
    "complete": verbs.Verb(
        name="complete",
        help="Say that the work of a task is there, whoever did it.",
        notes="For people; an agent must have adopted the task and name a commit as evidence.",
        options=(
            _SUMMARY,
            _ARTEFACT,
            verbs.Option("--evidence", "A commit that shows the work.", "COMMIT", is_list=True),
            COMMIT,
            SESSION,
        ),
        arguments=(shown.TASK,),
        run=_complete,
    ),
    "cancel": verbs.Verb(
        name="cancel",
        help="Decide that a task will not be done.",
        notes="For people. The file goes to the archive, with the reason; `reopen` brings it back.",
        options=(WHY, COMMIT),
        arguments=(shown.TASK,),
        run=acting(_cancel),
    ),
    "reopen": verbs.Verb(
        name="reopen",
        help="Make a finished or archived task new again.",
        options=(WHY, COMMIT),
        arguments=(shown.TASK,),
        run=acting(lambda at, given: moves.reopen(at, given["task"], why=given["why"])),
    ),
    "archive": verbs.Verb(
        name="archive",
        help="Put done tasks away, by the month in which they were completed.",
        options=(COMMIT,),
        arguments=(shown.TASK,),
        run=acting(lambda at, given: moves.archive(at, given["task"])),
    ),
}
