"""`tether vacuum adopt, defer, cancel, complete`: what becomes of an orphan."""

from __future__ import annotations

import sys

import click

from tether import clock, errors, ids, redaction, text
from tether.agents import claims
from tether.brief import handoff as room
from tether.cli import adopting, answers, claim, cold, context, gathering, lookup, sweeping
from tether.cli import handoff as packets
from tether.cli.task import move, shown
from tether.hints import Any
from tether.store import port
from tether.tasks import claiming, moves, states
from tether.tasks.sources import model as sources
from tether.vacuum import deferrals, deferring, model, reports, resolve

_MAX_WHY_CHARS = 1000
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
@click.argument("name")
@click.option("--until", metavar="WHEN", help="Until a day, or for a while: 2026-12-24 or 30d.")
@click.option("--why", metavar="TEXT", default="", help="The reason.")
@click.option("--track", "scope", flag_value=deferring.TRACK, help="NAME is a track.")
@click.option("--project", "scope", flag_value=deferring.PROJECT, help="NAME is the project.")
@click.option("--end", is_flag=True, help="It has no time any more.")
@cold.answering
@cold.pass_call
def defer(
    call: context.Context, name: str, until: str | None, why: str, scope: str | None, end: bool
) -> answers.Answer:
    """Say that a task, a track or the whole project has time: it is no orphan until then.

    It ends on its day, or as soon as somebody touches it.
    """
    return _deferred(call, name, until, why, scope, ends=end)


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
        return _deferred(call, word, None, "", None, ends=False)
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
    return answers.Answer("adopt", value, lambda: "\n".join([*lines, "", page]))


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


# Defer


def _deferred(
    call: context.Context,
    name: str,
    until: str | None,
    why: str,
    scope: str | None,
    *,
    ends: bool,
) -> answers.Answer:
    now = clock.now_text(clock.SystemClock())
    scope, source, name = _scope(call, name, scope)
    wanted = model.Deferral(scope, source, name, now, call.actor, _until(until, now), _said(why))
    label = ids.TaskKey(source, name).label if scope == deferring.TASK else f"{scope} {name}"
    if ends:
        return _ended(call, wanted, label, now)
    session = call.agent.session_id

    def work(transaction: port.Transaction) -> list[reports.Report]:
        return deferrals.put_off(transaction, wanted, session)

    settled = call.store.write("defer", work)
    value = {**wanted._asdict(), "settled": len(settled), "untrusted": ["why", "name"]}
    when = f" until {text.minute(wanted.until)}" if wanted.until else ""
    number = text.counted(len(settled), "finding")
    until_then = f"{when}, or until somebody touches it" if when else " until somebody touches it"
    said = f"{label} has time{until_then}; {number} settled."
    return answers.Answer("defer", value, lambda: said)


def _ended(call: context.Context, wanted: model.Deferral, label: str, now: str) -> answers.Answer:
    def work(transaction: port.Transaction) -> bool:
        return deferrals.end(transaction, wanted, now, call.actor, "somebody said so")

    if not call.store.write("defer", work):
        raise errors.NotFound(f"{label} was not deferred. Nothing was changed.")
    value = {"scope": wanted.scope, "source": wanted.source, "name": wanted.name, "ended_at": now}
    return answers.Answer("defer", value, lambda: f"{label} has no time any more.")


def _scope(call: context.Context, name: str, scope: str | None) -> tuple[str, str, str]:
    """What a name means: a task, a track or the project."""
    project = sweeping.project_of(call)
    tracks = [
        track for track in sweeping.subjects_of(call).tracks if track.name.lower() == name.lower()
    ]
    if scope == deferring.PROJECT:
        if name != project:
            raise errors.NotFound(
                f"This is the project {project}. Nothing was changed.",
                hint="Use its name, or -C DIR for another repository.",
            )
        return deferring.PROJECT, deferring.PROJECT, project
    if scope == deferring.TRACK or (tracks and lookup.known(call, name) is None):
        if not tracks:
            raise errors.NotFound(
                f"There is no track '{text.one_line(name, 40)}'. Nothing was changed.",
                hint="See the tracks with `tether task list --source all`.",
            )
        return deferring.TRACK, tracks[0].source, tracks[0].name
    if name == project and lookup.known(call, name) is None:
        return deferring.PROJECT, deferring.PROJECT, project
    key = shown.key_of(call, name)
    named = lookup.find(call, key.label)
    is_told = claims.last_of(call.store.rows, key) or reports.of_task(call.store, key)
    if not named.is_known and not is_told:
        raise named.missing()
    return deferring.TASK, key.source, key.id


def _until(until: str | None, now: str) -> str:
    if not until:
        return ""
    try:
        if len(until) == 10 and until[4:5] == "-":
            when = clock.parse(f"{until}T00:00:00Z")
        elif "T" in until:
            when = clock.parse(until)
        else:
            when = clock.parse(now) + clock.duration(until)
    except ValueError:
        raise errors.UsageError(
            "This is no time. Nothing was changed.", hint="Write --until 2026-12-24, or 30d."
        ) from None
    if clock.text(when) <= now:
        raise errors.UsageError("This time has passed already. Nothing was changed.")
    return clock.text(when)


def _said(why: str) -> str:
    said = redaction.redact(text.clean(why)).strip()
    if len(said) > _MAX_WHY_CHARS:
        raise errors.UsageError(
            f"A reason has at most {_MAX_WHY_CHARS} characters. Nothing was changed."
        )
    return said


# Cancel


def _cancelled(call: context.Context, word: str, why: str, *, asks: bool) -> answers.Answer:
    if call.is_agent and not call.settings.integer("vacuum.agents_may_cancel"):
        raise errors.NotAllowed(
            "Only a person decides that a task will not be done. Nothing was changed.",
            hint="Say so in a note (`tether handoff TASK --note`), or defer it.",
        )
    key = _task(call, word)
    named = lookup.find(call, word)
    said = _said(why) or "no longer needed"
    if not named.is_known:
        raise named.missing()
    if named.item is not None:
        adopting.require_open(key, named.state, "cancel")
    if asks and not call.is_agent:
        _confirm(f"Cancel {key.label} ({text.one_line(named.title, 60)})?")
    now = clock.now_text(clock.SystemClock())
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
    return _answer("cancel", key, where, settled, f"{key.label} is cancelled")


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
    found = reports.open_of(call.store, key)
    commits = [move.commit_named(call, each) for each in evidence] or _known_commits(found)
    now = clock.now_text(clock.SystemClock())
    said = _said(summary)
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
    else:
        raise named.missing()
    settled = resolve.settled(call.store, key, model.COMPLETED, now, call.actor, said)
    answer = _answer("complete", key, where, settled, f"{key.label} is done")
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


def _answer(
    verb: str, key: ids.TaskKey, where: str, settled: list[reports.Report], said: str
) -> answers.Answer:
    value: dict[str, Any] = {
        "task": key.label,
        "path": text.clean(where),
        "settled": [each.orphan_type for each in settled],
    }
    line = f"{said}: {text.one_line(where)}. Commit that when you are ready."
    return answers.Answer(verb, value, lambda: line)
