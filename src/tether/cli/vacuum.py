"""`tether vacuum`: what was dropped, why that is thought, and what becomes of it."""

from __future__ import annotations

import click

from tether import clock, errors, files, text
from tether.cli import answers, cold, context, quick, sweeping
from tether.cli.lineage import chronicle
from tether.cli.task import shown
from tether.hints import Any
from tether.vacuum import filtering, model, parking, report, reports

_PRIORITIES = ("critical", "high", "normal", "low")
# What was never begun is counted and no finding.
_TYPES = tuple(each for each in model.TYPES if each != model.NEVER_STARTED)
_FAIL_ON = ("any", *_TYPES)
_HELP = "See `tether vacuum --help`."
_MAX_TREND = 12
_SAVE_DIR = "vacuum-reports"
COMMANDS = {
    name: cold.Entry(f"tether.cli.{module}", help_)
    for name, module, help_ in (
        ("adopt", "settling", "Take an orphan up: it is yours, and all are told."),
        ("defer", "putting_off", "Say that a task, a track or the project has time."),
        ("cancel", "settling", "Decide that an orphan will not be done."),
        ("complete", "settling", "Mark what is done as done."),
    )
}


class _Type(click.ParamType[str]):
    """A type of findings, also in short: `stale`, `dead-claim`."""

    name = "type"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = str(value).lower().replace("-", "_")
        found = [each for each in _TYPES if each == word] or [
            each for each in _TYPES if word and each.startswith(word)
        ]
        if len(found) != 1:
            self.fail(f"There is no such type. There are {', '.join(_TYPES)}.", param, ctx)
        return found[0]


class _Group(cold.LazyGroup):
    entries = COMMANDS

    def other_level(self, name: str) -> str:
        return f"tether {name}" if name in cold.COMMANDS else ""


@click.group(cls=_Group, invoke_without_command=True, subcommand_metavar="[COMMAND] [ARGS]...")
@click.option("--quick", "is_quick", is_flag=True, help="Only what the store can tell, at once.")
@click.option("--deep", "is_deep", is_flag=True, help="Everything: all logs, sessions and commits.")
@click.option("--track", "tracks", multiple=True, metavar="NAME", help="Only this track.")
@click.option("--project", "projects", multiple=True, metavar="NAME", help="Only this project.")
@click.option(
    "--type",
    "types",
    multiple=True,
    type=_Type(),
    metavar="TYPE",
    help="Only findings of this type, as dead_claim or stale_in_progress.",
)
@click.option(
    "--priority",
    "priorities",
    multiple=True,
    type=click.Choice(_PRIORITIES),
    help="Only tasks of this priority.",
)
@click.option("--age", metavar="TIME", help="Only what has been silent for so long, as 14d.")
@click.option("--all", "everything", is_flag=True, help="Also what is less probable, or parked.")
@click.option(
    "--limit",
    default=20,
    show_default=True,
    metavar="N",
    type=click.IntRange(1, 100_000),
    help="Show at most N of each kind; JSON has all.",
)
@click.option("--compact", is_flag=True, help="One line.")
@click.option("--save", is_flag=True, help="Save the report as a dated Markdown document.")
@click.option(
    "--fail-on",
    multiple=True,
    metavar="TYPE",
    help="End with code 6 on findings of this type, or on `any`; may be repeated.",
)
@click.option("--adopt", metavar="ID", help="As `tether vacuum adopt ID`.")
@click.option("--defer", metavar="NAME", help="As `tether vacuum defer NAME`.")
@click.option("--cancel", metavar="ID", help="As `tether vacuum cancel ID`.")
@click.option("--complete", metavar="ID", help="As `tether vacuum complete ID`.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_context
def vacuum(ctx: click.Context, /, as_json: bool, **values: Any) -> int | None:
    """Find the tasks that were dropped, say why that is thought, and take them up again.

    Looks at the tasks, the store, and the sessions, logs and commits of the last 30 days. What it
    finds is kept: `next` offers it first, and `orient` counts it. No task is changed.
    """
    if ctx.invoked_subcommand is not None:
        return None
    call = ctx.find_object(context.Context)
    if call is None:
        raise RuntimeError("click has no context")
    named = [name for name in COMMANDS if values[name] is not None]
    if len(named) > 1:
        raise errors.UsageError(
            f"--{named[0]} and --{named[1]} exclude each other. Nothing was changed.", hint=_HELP
        )
    if named:
        from tether.cli import settling

        return answers.show(settling.act(call, named[0], values[named[0]]), as_json=as_json)
    return answers.show(_swept(call, values), as_json=as_json)


orphans = vacuum


def _swept(call: context.Context, values: dict[str, Any]) -> answers.Answer:
    if unknown := [each for each in values["fail_on"] if each not in _FAIL_ON]:
        raise errors.UsageError(
            f"--fail-on: there is no type '{text.one_line(unknown[0], 40)}'. Nothing was changed.",
            hint=f"Use {', '.join(_FAIL_ON)}.",
        )
    if values["is_quick"] and values["is_deep"]:
        raise errors.UsageError(
            "--quick and --deep exclude each other. Nothing was changed.", hint=_HELP
        )
    _require_visible(values)
    wanted = _filter(values)
    if values["is_quick"]:
        _require_quick(values)
        named = {"compact": values["compact"], "types": wanted.types}
        return quick.answer(call, **named, fail_on=values["fail_on"])
    kind = model.DEEP if values["is_deep"] else model.STANDARD
    known = sweeping.subjects_of(call)
    _require_known(call, [track.name for track in known.tracks], wanted)
    old = chronicle.bring_forward(call)
    swept = sweeping.run_sweep(call, kind, known)
    swept = swept._replace(problems=(*swept.problems, old)) if old else swept
    chosen = filtering.choose(swept, wanted, known)
    place = call.settings.text("vacuum.save_dir")
    saved = ""
    if values["save"] or place:
        # What is kept for later is whole, whatever somebody wants to see now.
        everything = chosen if values["save"] else filtering.choose(swept, filtering.Filter())
        saved = save(call, everything, place or _SAVE_DIR)
    return answers.Answer(
        "vacuum",
        {**value_of(chosen, saved), "trend": _trend(call)},
        lambda: answers.told(
            "\n".join(_lines(chosen, saved, values, shown.width())),
            source="vacuum",
            for_agent=call.is_agent,
        ),
        None
        if call.is_agent
        else lambda width: [[_styled(line)] for line in _lines(chosen, saved, values, width)],
        quick.failing(_types(chosen), values["fail_on"]),
    )


def _require_visible(values: dict[str, Any]) -> None:
    """A check that cannot see what it should fail on would always be green."""
    seen = _TYPES
    if values["is_quick"]:
        seen = model.OF_STORE
    elif not values["is_deep"]:
        seen = tuple(each for each in _TYPES if each != model.DONE_UNPROVEN)
    hidden = [each for each in (*values["fail_on"], *values["types"]) if each not in ("any", *seen)]
    if hidden:
        raise errors.UsageError(
            f"This sweep cannot see {hidden[0]}. Nothing was changed.",
            hint="Use --deep." if hidden[0] == model.DONE_UNPROVEN else "Leave --quick out.",
        )


def _require_quick(values: dict[str, Any]) -> None:
    """The store alone knows neither tracks nor priorities."""
    names = ("tracks", "projects", "priorities", "age", "save", "everything")
    if any(values[name] for name in names):
        raise errors.UsageError(
            "--quick knows only --type, --compact and --fail-on. Nothing was changed.",
            hint="Leave --quick out to use the other filters.",
        )


def _types(chosen: filtering.Chosen) -> set[str]:
    """The types of all findings that are shown, and probable enough."""
    parked = {model.PARKED_PROJECT} if chosen.parked else set()
    least = chosen.swept.order.limits.alert_percent
    found = [each for judged in chosen.all for each in judged.findings]
    return {e.type for e in found if e.type not in model.ORPHANED or e.percent >= least} | parked


def _filter(values: dict[str, Any]) -> filtering.Filter:
    age_ms = 0
    if values["age"]:
        try:
            age_ms = clock.duration(values["age"])
        except ValueError:
            raise errors.UsageError(
                "--age is no length of time. Nothing was changed.", hint="Write --age 14d."
            ) from None
    return filtering.Filter(
        tuple(values["tracks"]),
        tuple(values["projects"]),
        tuple(values["types"]),
        tuple(values["priorities"]),
        age_ms,
        values["everything"],
    )


def _require_known(call: context.Context, tracks: list[str], wanted: filtering.Filter) -> None:
    """A name that nothing has is a typo, not an empty report."""
    known = {each.lower(): each for each in tracks}
    for name in wanted.tracks:
        if name.lower() not in known:
            import difflib

            near = difflib.get_close_matches(name.lower(), known, n=1)
            meant = (
                f"Did you mean {known[near[0]]}?"
                if near
                else "See them with `tether task list --source all`."
            )
            raise errors.NotFound(
                f"There is no track '{text.one_line(name, 40)}' here. Nothing was changed.",
                hint=meant,
            )
    for name in wanted.projects:
        if name != sweeping.project_of(call):
            raise errors.NotFound(
                f"This is the project {sweeping.project_of(call)}; there is no other one here.",
                hint="Run the command in the other repository, or with -C DIR.",
            )


# The page


def _lines(chosen: filtering.Chosen, saved: str, values: dict[str, Any], width: int) -> list[str]:
    lines = (
        [report.compact(chosen)]
        if values["compact"]
        else report.page(chosen, values["limit"], min(width, 120))
    )
    swept = chosen.swept
    if values["compact"]:
        return lines
    if swept.why_not:
        lines.append(f"Not written down: {swept.why_not}")
    if saved:
        lines.append(f"Saved as {saved}.")
    if swept.problems:
        many = text.counted(len(swept.problems), "file")
        lines.append(f"{many} could not be read whole: `tether doctor` says which, and why.")
    return lines


def _styled(line: str) -> answers.Piece:
    if line.endswith(":") and line[:1].isupper():
        return answers.Piece(line, "bold")
    return answers.Piece(line)


def save(call: context.Context, chosen: filtering.Chosen, directory: str) -> str:
    """Save a report below the top of the checkout; its path. One of the same day is replaced."""
    if call.workspace.root is None:
        raise errors.NotAllowed("A bare repository has no files, so no report was saved.")
    tasks = call.settings.text("tasks.root")
    parts = directory.split("/")
    # The setting comes with the repository: no place whose files mean something to a program.
    if any(part.startswith(".") for part in parts) or parts[: len(tasks.split("/"))] == [
        *tasks.split("/")
    ]:
        raise errors.ConfigError(
            "vacuum.save_dir must not be below the tasks or a hidden directory. Nothing was saved."
        )
    root = files.Root(call.workspace.root)
    root.make_directories(directory)
    order = chosen.swept.order
    path = f"{directory}/{order.now[:10]}-vacuum-{order.sweep_type}.md"
    root.write_atomic(path, report.document(chosen).encode())
    return path


# Values for programs


def _trend(call: context.Context) -> list[dict[str, Any]]:
    """How many orphans the last sweeps found, newest first."""
    if not call.store.exists():
        return []
    return [
        {"at": each.started_at, "sweep": each.sweep_type, "counts": each.counts}
        for each in reports.sweeps(call.store, _MAX_TREND)
        if each.finished_at
    ]


def value_of(chosen: filtering.Chosen, saved: str) -> dict[str, Any]:
    """A report for programs: everything that was found."""
    swept = chosen.swept
    return {
        "sweep": swept.order.sweep_type,
        "at": swept.order.now,
        "project": swept.order.project,
        "orphans": [judged_value(each) for each in chosen.orphans],
        "done_unmarked": [judged_value(each) for each in chosen.unmarked],
        "others": [judged_value(each) for each in chosen.others],
        "parked": [_parked_value(each) for each in chosen.parked],
        "active": [{**each._asdict(), "percent": each.percent} for each in swept.active],
        "flags": [
            {
                "key": each.subject.key.label,
                "flag": each.flag,
                "by": each.other.label,
                "percent": each.percent,
                "at": each.at or None,
            }
            for each in chosen.flags
        ],
        "counts": swept.counts,
        "unchecked": swept.unchecked,
        "left_out": chosen.left_out,
        "older": len(swept.older),
        "recorded": swept.recorded._asdict() if swept.recorded is not None else None,
        "why_not_recorded": swept.why_not or None,
        "saved": saved or None,
        "problems": [text.clean(each) for each in swept.problems],
        "untrusted": quick.UNTRUSTED,
    }


def judged_value(each: model.Judged) -> dict[str, Any]:
    """A task with what is wrong with it."""
    subject, known = each.subject, each.evidence
    kept = reports.evidence_of(known, each.findings[0])
    return {
        "key": subject.key.label,
        "source": subject.key.source,
        "id": subject.key.id,
        "title": text.clean(subject.title),
        "state": subject.state,
        "track": text.clean(subject.track) or None,
        "priority": subject.priority,
        "owner": text.clean(subject.owner or known.last_owner) or None,
        "where": text.clean(subject.where) or None,
        "last_activity": known.last_at or None,
        "last_session": known.last_session or None,
        "findings": [quick.finding_value(finding) for finding in each.findings],
        "evidence": {
            name: kept[name] for name in ("claim_at", "broadcast_at", "log_mention", "commit")
        },
    }


def _parked_value(track: parking.Track) -> dict[str, Any]:
    return {
        "source": track.source,
        "name": text.clean(track.name),
        "title": text.clean(track.title),
        "open": track.open,
        "done": track.done,
        "total": track.total,
        "percent": track.percent,
        "begun": track.begun,
        "last_activity": track.last_at or None,
    }
