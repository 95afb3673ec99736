"""`tether task archive` and `restore`."""

from __future__ import annotations

import os
import sys

import click

from tether import clock, errors, ids, text
from tether.cli import answers, cold, context, lookup
from tether.cli.task import move, shown
from tether.hints import Any, NamedTuple
from tether.tasks import committing, desk, keeping, model


@click.command()
@click.option(
    "--older-than",
    metavar="TIME",
    default=f"{keeping.RETENTION_DAYS}d",
    show_default=True,
    help="What was completed longer ago than this.",
)
@click.option("--compress", is_flag=True, help="Pack the closed months, one file each.")
@click.option(
    "--cold",
    "cold_dir",
    metavar="DIR",
    help="Move the packs to another place; they are not shown any more.",
)
@click.option(
    "--purge-older-than", "purge", metavar="TIME", help="Remove what is archived longer than this."
)
@click.option("--dry-run", is_flag=True, help="Only say what it would do.")
@click.option("--yes", is_flag=True, help="Purge without asking.")
@click.option("--commit", "commits", is_flag=True, help=move.COMMIT.help)
@click.argument("task", required=False)
@cold.answering
@cold.pass_call
def archive(
    call: context.Context,
    older_than: str,
    compress: bool,
    cold_dir: str | None,
    purge: str | None,
    dry_run: bool,
    yes: bool,
    commits: bool,
    task: str | None,
) -> answers.Answer:
    """Put done tasks away, by the month in which they were completed.

    With TASK that one, and nothing else; without it all that are old enough. Packs stay readable by
    `task show` and `task history`.
    """
    if task is not None:
        if compress or cold_dir or purge or dry_run:
            raise errors.UsageError(
                "With a task only that one is put away. Nothing was changed.",
                hint="Leave the task out to clean up.",
            )
        return move.VERBS["archive"].run(call, {"task": task, "commit": commits})
    if commits:
        committing.require_branch(call.workspace)
    at = call.desk()
    wanted = CleanUp(
        keeping.due(call.work, at.now, _duration(older_than)),
        compress,
        os.path.abspath(cold_dir) if cold_dir is not None else None,
        keeping.purgeable(call.work, at.now, _duration(purge)) if purge else [],
    )
    if dry_run:
        value = _planned(at, wanted)
    else:
        # Asked before anything moves.
        _require_yes(call, at, wanted.purged, yes=yes)
        value = _done(at, wanted, commits=commits)
    return answers.Answer("archive", value, lambda: _text(value))


class CleanUp(NamedTuple):
    """What a clean-up is to do."""

    due: list[model.Task]
    compresses: bool
    cold_dir: str | None
    purged: list[keeping.Candidate]


def _planned(at: desk.Desk, wanted: CleanUp) -> dict[str, Any]:
    return {
        "archived": [task.id for task in wanted.due],
        "left": [],
        "packed": keeping.closed_months(at.work, at.now) if wanted.compresses else [],
        "moved_away": [],
        "purged": [each.path for each in wanted.purged],
        "dry_run": True,
        "commit": None,
    }


def _done(at: desk.Desk, wanted: CleanUp, *, commits: bool) -> dict[str, Any]:
    done, left = keeping.archive(at, wanted.due)
    touched = [path for moved in done for path in moved.touched]
    packed, moved_away = [], []
    for month in keeping.closed_months(at.work, at.now) if wanted.compresses else []:
        changed = keeping.compress(at, month)
        packed.append(changed[0])
        touched += changed
    if wanted.cold_dir is not None:
        for each in keeping.old_packs(at.work):
            moved_away.append(keeping.move_away(at.work, each, wanted.cold_dir))
            touched.append(each.path)
    keeping.purge(at.work, wanted.purged)
    purged = [each.path for each in wanted.purged]
    touched += purged
    commit = None
    if commits:
        message = "tasks: archive what is done\n"
        commit = committing.commit_paths(at, dict.fromkeys(touched), message)
    return {
        "archived": [moved.task.id for moved in done],
        "left": left,
        "packed": packed,
        "moved_away": moved_away,
        "purged": purged,
        "dry_run": False,
        "commit": commit,
    }


def _duration(value: str) -> int:
    try:
        return clock.duration(value)
    except ValueError:
        raise errors.UsageError(
            "This is no length of time. Nothing was changed.", hint="Write 30d, 4w or 1y."
        ) from None


def _require_yes(
    call: context.Context, at: desk.Desk, found: list[keeping.Candidate], *, yes: bool
) -> None:
    """Say what a purge would remove, and go on only after a yes."""
    if not found:
        return
    if call.is_agent:
        raise errors.NotAllowed("Only a person purges the archive. Nothing was purged.")
    if yes:
        return
    lost = {each.path for each in keeping.uncommitted(at, found)}
    told = f"{text.counted(len(found), 'archived file')}, {len(lost)} of which no commit has"
    if not sys.stdin.isatty():
        raise errors.ConfirmationNeeded(
            f"This would remove {told}, and nobody could be asked. Nothing was purged."
        )
    listed = "\n".join(
        f"  {each.path}  {each.size} bytes{'  NOT IN GIT' if each.path in lost else ''}"
        for each in found
    )
    sys.stderr.write(
        "These go from the checkout. What is committed stays in Git; the rest is gone for"
        f" good:\n{text.clean(listed)}\n"
    )
    if not click.confirm(f"Remove {told}?", err=True):
        raise errors.Declined("You did not say yes. Nothing was purged.")


def _text(value: dict[str, Any]) -> str:
    would = "would be " if value["dry_run"] else ""
    lines = []
    for name, words in (
        ("archived", "archived"),
        ("packed", "packed"),
        ("moved_away", "moved away"),
        ("purged", "removed"),
    ):
        lines += [f"{would}{words}: {text.one_line(each)}" for each in value[name]]
    lines += [f"left: {text.one_line(each)}" for each in value["left"]]
    if value["commit"]:
        lines.append(f"Committed as {value['commit'][:12]}.")
    return "\n".join(lines) or "Nothing is due."


@click.command()
@click.option("--commit", "commits", is_flag=True, help=move.COMMIT.help)
@click.argument("task")
@cold.answering
@cold.pass_call
def restore(call: context.Context, commits: bool, task: str) -> answers.Answer:
    """Bring back the file of a task that Git or the claims know."""
    if commits:
        committing.require_branch(call.workspace)
    at = call.desk()
    try:
        moved, source = keeping.restore(at, shown.own_id(ids.TaskKey.parse(task), "restore"))
    except errors.NotFound:
        shown.own_id(lookup.key_of(call, task), "restore")
        raise
    commit = committing.commit(at, moved) if commits else None
    answer = shown.moved_answer(moved, source=source, commit=commit)
    return answer._replace(
        plain=lambda: f"{moved.task.id} is back from {source}: {moved.task.path}"
    )
