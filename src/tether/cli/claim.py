"""`tether claim`: take a task."""

from __future__ import annotations

import os

from tether import clock, errors, ids, text
from tether.agents import claims, model
from tether.cli import answers, context, verbs
from tether.cli.task import shown as tasks
from tether.hints import TYPE_CHECKING, Any, NamedTuple
from tether.tasks import claiming, workdir

if TYPE_CHECKING:
    from tether.agents import conflicts, leftovers
    from tether.tasks.sources import model as lists


_MAX_LEFT = 3
# States of a list's task that nobody expects to be claimed.
_OVER = ("done", "cancelled")
_KINDS = ("staged", "changed", "deleted", "untracked")


class _Left(NamedTuple):
    """Somebody's earlier claim of the task, and what lies about of it."""

    claim: model.Claim
    found: leftovers.Leftovers


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    key = tasks.key_of(call, values["task"])
    if values["take_over"] and call.is_agent:
        raise errors.NotAllowed(
            "Only a person takes a task from a living agent. Nothing was changed.",
            hint="Write to its holder with `tether send`.",
        )
    patterns = [from_top(call, path) for path in values["path"]]
    commits = values["commit"]
    if key.source != ids.OWN_SOURCE or call.workspace.root is None:
        acting = call.acting(values["session"])
        answer = claims.take(
            call.store,
            call.spot,
            acting.session_id,
            key,
            patterns=patterns,
            news=call.news(acting),
            takes_over=values["take_over"],
        )
        if isinstance(answer, claims.Refused):
            raise refusal(answer)
        return answer_of(call, claiming.Taken(None, answer))
    if commits:
        from tether.tasks import committing

        committing.require_branch(call.workspace)
    at = call.desk(values["session"])
    taken = claiming.claim(
        at,
        key.id,
        patterns=patterns,
        news=call.news(at.caller.agent),
        takes_over=values["take_over"],
        starts=not values["no_start"],
    )
    if isinstance(taken, claims.Refused):
        raise refusal(taken)
    commit = None
    if commits and taken.moved is not None:
        commit = committing.commit(at, taken.moved)
    return answer_of(call, taken, commit)


def answer_of(
    call: context.Context, taken: claiming.Taken, commit: str | None = None
) -> answers.Answer:
    """What somebody who has got a task is told."""
    left = _leftovers(call, taken.answer.claim)
    item = _item(call, taken.answer.claim.key)
    value: dict[str, Any] = {
        "claim": _value(taken.answer, left),
        "task": None,
        "commit": commit,
        "untrusted": list(tasks.UNTRUSTED),
    }
    if taken.moved is not None:
        value["task"] = tasks.task_value(taken.moved.task)
    elif item is not None:
        from tether.cli.task import lists

        value["task"] = lists.item_value(item, taken.answer.claim)
    return answers.Answer("", value, lambda: _text(call, taken, left, item, commit))


def _item(call: context.Context, key: ids.TaskKey) -> lists.Item | None:
    """The task as its list has it, if that is in this checkout."""
    if key.source == ids.OWN_SOURCE or call.workspace.root is None:
        return None
    return call.list_item(key)


def refusal(answer: claims.Refused, session_id: str = "") -> errors.TetherError:
    """The error that says who has a task now."""
    label, last = answer.key.label, answer.last
    if last is None:
        return errors.NotFound(
            f"{label} was never claimed. Nothing was changed.",
            hint="Take it with `tether claim`, or see who has what with `tether claims`.",
        )
    if not answer.is_held or answer.holder is None:
        return errors.Taken(
            f"{label} is not yours: the claim of {last.agent_name} was the last, and it ended at"
            f" {last.closed_at}: {claims.in_words(last.outcome)}. Nothing was changed.",
            hint="It is over; `tether next` names other work."
            if last.outcome in ("done", "cancelled", "failed")
            else "Claim it again if you want to go on.",
            details={"last": tasks.claim_value(last)},
        )
    if last.session_id == session_id:
        return errors.Taken(
            f"{label} is yours, but with epoch {last.epoch}. Nothing was changed.",
            hint="Another call of this session has claimed it anew; use that epoch.",
            details={"holder": tasks.claim_value(last)},
        )
    where = {"verdict": answer.verdict, "reason": answer.reason, "host": answer.holder.host_name}
    holder = {**where, **tasks.claim_value(last)}
    return errors.Taken(
        f"{label} is held by {last.agent_name} since {last.claimed_at}"
        f" ({answer.verdict}: {answer.reason}). Nothing was changed.",
        hint=f'Take another task, or write to the holder: tether send {last.agent_name} "…"',
        details={"holder": holder},
    )


def _leftovers(call: context.Context, claim: model.Claim) -> list[_Left]:
    """What others left of this task in their checkouts since it was last done."""
    earlier: dict[tuple[str | None, str | None], model.Claim] = {}
    for each in claims.unfinished_before(call.store.rows, claim):
        earlier.setdefault((each.worktree, each.branch), each)
    if not earlier:
        return []
    # Asks git, so only when there is something to take up.
    from tether.agents import leftovers

    def is_bookkeeping(path: str) -> bool:
        return workdir.is_ours(path, root)

    root = call.settings.text("tasks.root")
    shown_ones = list(earlier.values())[:_MAX_LEFT]
    return [
        _Left(each, leftovers.read(call.workspace, each, is_bookkeeping)) for each in shown_ones
    ]


def _value(answer: claims.Claimed, left: list[_Left]) -> dict[str, Any]:
    return {
        **tasks.claim_value(answer.claim),
        "new": answer.is_new,
        "adopted": answer.is_adopted,
        "previous": tasks.claim_value(left[0].claim) if left else None,
        "left": [_left_value(each) for each in left],
        "overlaps": [overlap._asdict() for overlap in answer.overlaps],
    }


def _left_value(left: _Left) -> dict[str, Any]:
    stashes = [
        {"commit": s.oid, "at": clock.text(s.at_ms), "text": answers.untrusted(s.text, "stash")}
        for s in left.found.stashes
    ]
    return {"claim": tasks.claim_value(left.claim), **left.found._asdict(), "stashes": stashes}


def _text(
    call: context.Context,
    taken: claiming.Taken,
    left: list[_Left],
    item: lists.Item | None,
    commit: str | None,
) -> str:
    answer, claim = taken.answer, taken.answer.claim
    already = "" if answer.is_new else " already"
    paths = claims.reserved(call.store.rows, claim)
    reserved = f", with {', '.join(paths)}" if paths else ""
    lines = [f"{claim.key.label} is yours{already}, epoch {claim.epoch}{reserved}."]
    if answer.is_adopted and answer.previous:
        lines.append(f"Taken over from {answer.previous.agent_name} ({answer.reason}).")
    others = []
    if taken.moved is not None:
        task = taken.moved.task
        others += [f"{task.title}".strip() or task.id, f"  {task.state}  {task.path}"]
    elif item is not None:
        if item.state in _OVER:
            lines.append(f"Its list says that it is {item.state}.")
        title = text.one_line(item.text, 200)
        others += [title or item.id, f"  {item.state}  {text.one_line(item.path)}:{item.line}"]
    else:
        lines += _unlisted(call, answer)
    others += [line for each in left for line in _left(each)]
    others += [_overlap(overlap) for overlap in answer.overlaps]
    if answer.overlaps:
        others.append("Each side has a message about it.")
    if others:
        # Branches, files and patterns too are words of others.
        page = "\n".join(others)
        lines.append(answers.told(page, source=claim.key.label, for_agent=call.is_agent))
    if commit:
        lines.append(f"Committed as {commit[:12]}.")
    return "\n".join(lines)


def _unlisted(call: context.Context, answer: claims.Claimed) -> list[str]:
    """What is held if neither a file nor a list of this checkout has it."""
    source = answer.claim.source
    if not answer.is_new or call.workspace.root is None:
        return []
    if source == ids.OWN_SOURCE:
        is_name = bool(call.sources)
        return ["It has no file and is on no list: only its name is held."] if is_name else []
    from tether.tasks.sources import dialects

    if source in call.sources:
        return ["It is on no list of this checkout, only on another branch or in the past."]
    return ["Its list is not in this checkout."] if source in dialects.NAMES else []


def _left(left: _Left) -> list[str]:
    """What one before left behind: where it worked, its last words, its files."""
    before, found = left
    ended = f"{claims.in_words(before.outcome)}, {text.minute(before.closed_at or '')}"
    lines = [f"Before you: {before.agent_name}, {ended}"]
    facts = [
        ("branch", before.branch),
        ("commit", before.head[:12] if before.head else None),
        ("worktree", before.worktree),
        ("transcript", before.transcript),
        *((name, _some(getattr(found, name))) for name in _KINDS),
        *(("stashed", f"{s.oid[:12]} {clock.text(s.at_ms)}") for s in found.stashes),
    ]
    if found.why_not:
        facts.append(("files", f"not looked at: {found.why_not}"))
    elif found.is_empty:
        facts.append(("files", "nothing uncommitted, nothing stashed"))
    lines += [f"  {name:<10}  {text.one_line(fact)}" for name, fact in facts if fact]
    if before.checkpoint:
        lines.append(f"  last words, at {before.checkpoint_at}:")
        lines.append(answers.indented(before.checkpoint))
    return lines


def _some(paths: tuple[str, ...]) -> str:
    """The first few of many paths."""
    more = f" and {len(paths) - 5} more" if len(paths) > 5 else ""
    return text.one_line(", ".join(paths[:5]), 200) + more


def _overlap(overlap: conflicts.Overlap) -> str:
    other = ids.TaskKey(overlap.source, overlap.task).label
    return (
        f"Conflict: {overlap.agent_name} has reserved {overlap.reserved} for {other};"
        f" yours is {overlap.pattern}."
    )


def from_top(call: context.Context, path: str) -> str:
    """A path as typed, relative to the top of the repository."""
    from tether.agents import paths

    root = call.workspace.root
    if root is None or not path:
        return paths.parse(path)
    return paths.parse(os.path.relpath(os.path.join(os.getcwd(), path), root))


VERB = verbs.Verb(
    name="claim",
    help="Take a task, unless somebody alive has it.",
    notes="TASK is its id, or source:id. --path may be repeated. What a dead or expired session"
    " held is taken over from it. Exit code 4 means that somebody else has it.",
    options=(
        verbs.Option(
            "--path",
            "A file, directory or glob, from where you are, that the work will change.",
            "PATH",
            is_list=True,
        ),
        verbs.Option("--no-start", "Only take it; `tether task start` starts."),
        verbs.Option("--take-over", "Take it from a living agent too; for people."),
        verbs.Option("--commit", "Commit what this changes below work/, and nothing else."),
        verbs.Option("--session", "Another session than the caller's.", "ID"),
    ),
    arguments=(verbs.Argument("task", "The task's id, or source:id."),),
    run=_run,
)
