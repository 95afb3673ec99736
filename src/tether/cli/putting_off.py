"""`tether vacuum defer`: a task, a track or the project has time."""

from __future__ import annotations

import click

from tether import clock, errors, ids, redaction, text
from tether.cli import adopting, answers, cold, context, lookup, sweeping
from tether.cli.task import shown
from tether.store import port
from tether.vacuum import deferrals, deferring, model, reports

_MAX_WHY_CHARS = 1000


@click.command()
@click.argument("name")
@click.option("--until", metavar="WHEN", help="Until a day, or for a while: 2026-12-24 or 30d.")
@click.option("--why", metavar="TEXT", default="", help="The reason.")
@click.option("--track", "scope", flag_value=deferring.TRACK, help="NAME is a track.")
@click.option("--project", "scope", flag_value=deferring.PROJECT, help="NAME is the project.")
@click.option("--end", is_flag=True, help="End its deferral.")
@cold.answering
@cold.pass_call
def defer(
    call: context.Context, name: str, until: str | None, why: str, scope: str | None, end: bool
) -> answers.Answer:
    """Say that a task, a track or the whole project has time: it is no orphan until then.

    It ends on its day, or as soon as somebody touches it.
    """
    return put_off(call, name, until, why, scope, ends=end)


def put_off(
    call: context.Context,
    name: str,
    until: str | None,
    why: str,
    scope: str | None,
    *,
    ends: bool,
) -> answers.Answer:
    """Put something off, or end that."""
    now = clock.now_text(clock.SystemClock())
    scope, source, name = _scope(call, name, scope, ends=ends)
    wanted = model.Deferral(scope, source, name, now, call.actor, _until(until, now), reason(why))
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
    return answers.Answer("defer", value, lambda: said, shown.fitted([said]))


def _ended(call: context.Context, wanted: model.Deferral, label: str, now: str) -> answers.Answer:
    def work(transaction: port.Transaction) -> bool:
        return deferrals.end(transaction, wanted, now, call.actor, "somebody said so")

    if not call.store.write("defer", work):
        raise errors.NotFound(f"{label} was not deferred. Nothing was changed.")
    value = {"scope": wanted.scope, "source": wanted.source, "name": wanted.name, "ended_at": now}
    said = f"The deferral of {label} has ended."
    return answers.Answer("defer", value, lambda: said, shown.fitted([said]))


def _scope(
    call: context.Context, name: str, scope: str | None, *, ends: bool
) -> tuple[str, str, str]:
    """What a name means: a task, a track or the project. What is over cannot have time."""
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
    adopting.require_told_of(call, key, named)
    if not ends:
        adopting.require_open(key, named.state, "defer")
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
        raise errors.UsageError(
            "This time has passed already. Nothing was changed.",
            hint="Give a day to come, or a while from now: --until 30d.",
        )
    return clock.text(when)


def reason(why: str) -> str:
    """What somebody gives as a reason, as it may be kept."""
    said = redaction.redact(text.clean(why)).strip()
    if len(said) > _MAX_WHY_CHARS:
        raise errors.UsageError(
            f"A reason has at most {_MAX_WHY_CHARS} characters. Nothing was changed."
        )
    return said
