"""`tether vacuum adopt, cancel, complete`: what becomes of an orphan."""

from __future__ import annotations

import sys

import click

from tether import clock, errors, ids, text
from tether.agents import claims, liveness, roll
from tether.agents import model as agents
from tether.brief import handoff as room
from tether.cli import (
    adopting,
    answers,
    claim,
    cold,
    context,
    gathering,
    lookup,
    putting_off,
    sweeping,
)
from tether.cli import elsewhere as elsewhere_tasks
from tether.cli import handoff as packets
from tether.cli.task import move, shown
from tether.hints import Any
from tether.tasks import claiming, moves, states
from tether.tasks.sources import model as sources
from tether.vacuum import model, reports, resolve

_BUDGET = 2000


@click.command()
@click.argument("task")
@click.option("--here", is_flag=True, help="Start over in this checkout, wherever it was begun.")
@click.option(
    "--budget",
    default=_BUDGET,
    show_default=True,
    metavar="TOKENS",
    type=click.IntRange(200, 200_000),
    help="At most about so much of the packet.",
)
@cold.answering
@cold.pass_call
def adopt(call: context.Context, task: str, here: bool, budget: int) -> answers.Answer:
    """Take an orphan up: it is yours, everybody is told, and you get its resume packet.

    A living owner keeps it: exit code 4 says who has it and how that is known. Of many who adopt at
    once exactly one gets it.
    """
    return _adopted(call, task, here=here, budget=budget)


@click.command()
@click.argument("task")
@click.option("--why", metavar="TEXT", default="", help="The reason; it is kept.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@cold.answering
@cold.pass_call
def cancel(call: context.Context, task: str, why: str, yes: bool) -> answers.Answer:
    """Decide that an orphan will not be done. For people; asks first.

    Its file goes to the archive, or its box gets the mark of its list. Agents are refused unless
    `vacuum.agents_may_cancel` is 1.
    """
    return _cancelled(call, task, why, asks=not yes)


@click.command()
@click.argument("task")
@click.option("--summary", metavar="TEXT", default="", help="What was done, in a sentence.")
@click.option("--evidence", metavar="COMMIT", multiple=True, help="A commit that shows the work.")
@cold.answering
@cold.pass_call
def complete(
    call: context.Context, task: str, summary: str, evidence: tuple[str, ...]
) -> answers.Answer:
    """Mark a task as done whose work is there: tick its box, or move its file.

    What the sweep found as evidence is kept with it. An agent must have adopted the task, or the
    sweep must have found that it is done, and there must be a commit.
    """
    return _completed(call, task, summary, evidence)


def act(call: context.Context, name: str, word: str) -> answers.Answer:
    """The flags of the seed: `--adopt ID`, `--defer ID`, `--cancel ID`."""
    if name == "adopt":
        return _adopted(call, word, here=False, budget=_BUDGET)
    if name == "defer":
        return putting_off.put_off(call, word, None, "", None, ends=False)
    if name == "cancel":
        return _cancelled(call, word, "", asks=True)
    return _completed(call, word, "", ())


def _task(call: context.Context, word: str) -> ids.TaskKey:
    """The task that a word means; a track is none."""
    names = {track.name.lower(): track.name for track in sweeping.subjects_of(call).tracks}
    if word.lower() in names and lookup.known(call, word) is None:
        raise errors.UsageError(
            f"{names[word.lower()]} is a track and no task. Nothing was changed.",
            hint="Of these words only `tether vacuum defer` takes tracks.",
        )
    return shown.key_of(call, word)


# Adopt


def _adopted(call: context.Context, word: str, *, here: bool, budget: int) -> answers.Answer:
    key = _task(call, word)
    now = clock.now_text(clock.SystemClock())
    named = lookup.find(call, key.label)
    if key not in elsewhere_tasks.keys(call, key.id):
        adopting.require_told_of(call, key, named)
    adopting.require_open(key, named.state)
    taken, elsewhere = adopting.take(call, key, here=here)
    if isinstance(taken, claims.Refused):
        raise claim.refusal(taken, call.session.session_id)
    adopter = call.agent
    found = reports.open_of(call.store, key)
    why = f" ({_types(found)})" if found else ""
    settled = []
    if taken.answer.is_new:
        settled = resolve.adopted(call.store, adopter, key, now, why)
    epoch = taken.answer.claim.epoch
    packet = room.packet(gathering.gather(call, lookup.find(call, key.label), epoch), budget)
    value = {
        "task": key.label,
        "claim": {**shown.claim_value(taken.answer.claim), "adopted": taken.answer.is_adopted},
        "settled": [each.orphan_type for each in settled],
        "go_on_in": elsewhere or None,
        "handoff": {"sections": packets.sections_value(packet), "left_out": packet.left_out},
        "untrusted": ["text", *shown.UNTRUSTED],
    }
    page = answers.told(
        "\n".join(packets.lines_of(packet)),
        source=f"handoff {key.label}",
        for_agent=call.is_agent,
    )
    lines = _adopted_lines(key, taken, elsewhere)

    def styled(columns: int) -> list[list[answers.Piece]]:
        return shown.pieces([*lines, ""], columns) + packets.wrapped(packet, columns)

    plain = "\n".join([*lines, "", page])
    return answers.Answer("adopt", value, lambda: plain, None if call.is_agent else styled)


def _adopted_lines(key: ids.TaskKey, taken: claiming.Taken, elsewhere: str) -> list[str]:
    answer = taken.answer
    already, told = ("", "; everybody is told") if answer.is_new else (" already", "")
    lines = [f"{key.label} is yours{already}, epoch {answer.claim.epoch}{told}."]
    if answer.is_adopted and answer.previous is not None:
        lines.append(f"Taken over from {answer.previous.agent_name} ({answer.reason}).")
    if elsewhere:
        lines.append(f"It was begun in {text.one_line(elsewhere)}: go on there, or use --here.")
    if taken.moved is not None:
        lines.append(f"{taken.moved.task.state}  {text.one_line(taken.moved.task.path)}")
    return lines


def _types(found: list[reports.Report]) -> str:
    return ", ".join(each.orphan_type.replace("_", " ") for each in found)


# Cancel


def _cancelled(call: context.Context, word: str, why: str, *, asks: bool) -> answers.Answer:
    if call.is_agent and not call.settings.integer("vacuum.agents_may_cancel"):
        raise errors.NotAllowed(
            "Only a person decides that a task will not be done. Nothing was changed.",
            hint="Say so in a note (`tether handoff TASK --note`), or defer it.",
        )
    key = _task(call, word)
    named = lookup.find(call, word)
    said = putting_off.reason(why) or "no longer needed"
    adopting.require_here(call, key, named)
    if named.item is not None:
        adopting.require_open(key, named.state, "cancel")
    if asks and not call.is_agent:
        _confirm(f"Cancel {key.label} ({text.one_line(named.title, 60)})?")
    now = clock.now_text(clock.SystemClock())
    held = claims.open_of(call.store.rows, key)
    where = ""
    if named.loaded is not None:
        at = call.desk()
        # The setting lends an agent the right of a person.
        at = at._replace(caller=at.caller._replace(is_human=True))
        moved = moves.cancel(at, key.id, why=said)
        if isinstance(moved, claims.Refused):
            raise claim.refusal(moved, at.caller.session_id)
        where = moved.task.path
    elif named.item is not None:
        where = _marked(call, named.item, sources.CANCELLED, states.CANCELLED, said)
    settled = resolve.settled(call.store, key, model.CANCELLED, now, call.actor, said)
    told = _told(call, held)
    return _answer("cancel", key, where, settled, f"{key.label} is cancelled", told)


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise errors.UsageError(
            "Nobody can be asked here. Nothing was changed.", hint="Repeat it with --yes."
        )
    if not click.confirm(question, default=False, err=True):
        raise errors.NotAllowed("It was not confirmed. Nothing was changed.", hint="")


# Complete


def _completed(
    call: context.Context, word: str, summary: str, evidence: tuple[str, ...]
) -> answers.Answer:
    key = _task(call, word)
    named = lookup.find(call, word)
    adopting.require_here(call, key, named)
    found = reports.open_of(call.store, key)
    commits = [move.commit_named(call, each) for each in evidence] or _known_commits(found)
    now = clock.now_text(clock.SystemClock())
    said = putting_off.reason(summary)
    held = claims.open_of(call.store.rows, key)
    where = ""
    if named.loaded is not None:
        at = call.desk()
        moved = moves.complete(at, key.id, summary=said or _by_evidence(found), evidence=commits)
        if isinstance(moved, claims.Refused):
            raise claim.refusal(moved, at.caller.session_id)
        where = moved.task.path
    elif named.item is not None:
        _require_evidence(call, key, found, commits)
        shown_by = f" ({', '.join(each[:12] for each in commits)})" if commits else ""
        where = _marked(call, named.item, states.DONE, claims.DONE, f"{said}{shown_by}".strip())
    settled = resolve.settled(call.store, key, model.COMPLETED, now, call.actor, said)
    answer = _answer("complete", key, where, settled, f"{key.label} is done", _told(call, held))
    answer.value["evidence"] = commits
    return answer


def _known_commits(found: list[reports.Report]) -> list[str]:
    """The commits that the sweep found as evidence."""
    known = [str(each.evidence.get("commit") or "") for each in found]
    return list(dict.fromkeys(each for each in known if each))


def _by_evidence(found: list[reports.Report]) -> str:
    reasons = [
        reason
        for each in found
        if each.orphan_type == model.DONE_UNMARKED
        for reason in each.evidence.get("reasons", ())
    ]
    return text.one_line("; ".join(map(str, reasons)), 300) or "It was done, and not marked."


def _require_evidence(
    call: context.Context, key: ids.TaskKey, found: list[reports.Report], commits: list[str]
) -> None:
    """An agent marks as done what it holds, or what a sweep has found to be done."""
    if not call.is_agent:
        return
    held = claims.open_of(call.store.rows, key)
    is_mine = held is not None and held.session_id == call.session.session_id
    least = call.settings.integer("vacuum.alert_percent")
    is_shown = any(e.orphan_type == model.DONE_UNMARKED and e.percent >= least for e in found)
    if not ((is_mine or is_shown) and commits):
        raise errors.NotAllowed(
            f"Nothing shows yet that {key.label} is done. Nothing was changed.",
            hint="Name a commit that shows it with --evidence."
            if is_mine
            else "Adopt it first, and name a commit with --evidence; or let a person mark it.",
        )


def _marked(call: context.Context, item: sources.Item, state: str, outcome: str, why: str) -> str:
    wanted = resolve.Mark(item, state, outcome, why, call.place.branch)
    top, is_person = call.workspace.root or "", not call.is_agent
    marked = resolve.mark_listed(call.store, call.spot, call.agent, wanted, top, is_person)
    if isinstance(marked, claims.Refused):
        raise claim.refusal(marked, call.session.session_id)
    return marked


def _told(call: context.Context, held: agents.Claim | None) -> list[str]:
    """Whose claim was closed by this: who may be alive has a message about it."""
    if held is None or held.session_id == call.session.session_id:
        return []
    holder = roll.get(call.store.rows, held.session_id)
    if holder is None or not holder.is_here:
        return []
    is_over = call.spot.shown_verdict(holder).state in liveness.OVER
    return [] if is_over else [holder.agent_name]


def _answer(
    verb: str,
    key: ids.TaskKey,
    where: str,
    settled: list[reports.Report],
    said: str,
    told: list[str],
) -> answers.Answer:
    value: dict[str, Any] = {
        "task": key.label,
        "path": text.clean(where),
        "settled": [each.orphan_type for each in settled],
        "told": told,
    }
    lines = [f"{said}: {text.one_line(where)}. Commit that when you are ready."]
    lines += [f"{name} had it and is told." for name in told]
    return answers.Answer(verb, value, lambda: "\n".join(lines), shown.fitted(lines))
