"""`tether validate`: the task files against the rules, and their repair."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable

import click

from tether import clock, errors, text
from tether.cli import answers, claim, cold, context
from tether.hints import Any, NamedTuple
from tether.tasks import checking, fixing, workdir
from tether.tasks import validate as rules

_GRADES = ("skipped", "backwards", "unknown", "wrong")


@click.command()
@click.option(
    "--rules",
    "reading",
    type=click.Choice(list(rules.READINGS)),
    default=rules.OURS.name,
    show_default=True,
    help="How to read the rules: as the lifecycle's decision record says (literal), with every"
    " directory (full), with all that real files do (lenient), or as Tether keeps them.",
)
@click.option("--fix", is_flag=True, help="Repair what is unambiguous: shows a diff, and asks.")
@click.option("--yes", is_flag=True, help="With --fix: repair without asking.")
@click.option("--dry-run", is_flag=True, help="With --fix: only show what it would do.")
@click.option(
    "--staged", is_flag=True, help="Look at what would be committed instead of the files."
)
@click.option(
    "--fail-on",
    metavar="WHAT",
    multiple=True,
    help="End with code 6 on findings of this rule or grade (skipped, backwards, unknown, wrong),"
    " or on `any`; may be repeated. Without it findings are no failure.",
)
@click.option("--root", metavar="DIR", help="Look here instead of the configured work directory.")
@click.argument("paths", nargs=-1)
@cold.answering
@cold.pass_call
def validate(
    call: context.Context,
    reading: str,
    fix: bool,
    yes: bool,
    dry_run: bool,
    staged: bool,
    fail_on: tuple[str, ...],
    root: str | None,
    paths: tuple[str, ...],
) -> answers.Answer:
    """Check the task files, and repair them.

    PATHS narrow the findings to some files, as a pre-commit hook names them.
    """
    _require_known(fail_on)
    if (yes or dry_run) and not fix:
        raise errors.UsageError("--yes and --dry-run belong to --fix. Nothing was changed.")
    if fix and (reading != rules.OURS.name or staged):
        raise errors.UsageError(
            "Only files, by Tether's own rules, have repairs. Nothing was changed."
        )
    work = _workdir(call, root)
    wanted = {_named(call, work, path) for path in paths}

    def look() -> checking.Checked:
        return _narrowed(_check(call, work, reading, staged=staged), wanted)

    changes = fix and not dry_run
    repaired = _repaired(call, work, look, yes=yes) if changes else Repaired(look())
    planned = repaired.checked if fix and dry_run else None
    return answers.Answer(
        "validate",
        _answer(reading, repaired, planned),
        lambda: answers.told(
            _page(repaired, planned, yes=yes), source="task files", for_agent=call.is_agent
        ),
        failure=_failure(repaired.checked.findings, fail_on),
    )


class Repaired(NamedTuple):
    """What is there now, and what was done about it."""

    checked: checking.Checked
    done: tuple[fixing.Repair, ...] = ()
    left: tuple[fixing.Repair, ...] = ()
    made: tuple[str, ...] = ()


def _repaired(
    call: context.Context,
    work: workdir.Workdir,
    look: Callable[[], checking.Checked],
    *,
    yes: bool,
) -> Repaired:
    checked = look()
    if not checked.repairs and not checked.keeps:
        return Repaired(checked)
    if not yes:
        _ask(checked)
    done, left = checking.apply(call.desk()._replace(work=work), checked)
    return Repaired(look(), tuple(done), tuple(left), tuple(checked.keeps))


def _answer(reading: str, repaired: Repaired, planned: checking.Checked | None) -> dict[str, Any]:
    checked = repaired.checked
    return {
        "rules": reading,
        "files": checked.files,
        "findings": [_value(each) for each in checked.findings],
        "counts": _counts(checked.findings),
        "fixed": [_repair_value(each) for each in repaired.done],
        "made": list(repaired.made),
        "left": [_repair_value(each) for each in repaired.left],
        "planned": [_repair_value(each) for each in planned.repairs] if planned else [],
    }


def _page(repaired: Repaired, planned: checking.Checked | None, *, yes: bool) -> str:
    if planned is not None:
        return f"{_plan(planned) or 'Nothing to repair.'}\n\nNothing was changed (--dry-run)."
    # Who was asked has seen the repairs already.
    return _text(repaired, repaired.done if yes else ())


def _workdir(call: context.Context, root: str | None) -> workdir.Workdir:
    """The work directory to look at; one that is named must be there."""
    work = call.work
    is_named = root is not None or call.settings.origins["tasks.root"] != "default"
    if root is not None:
        named = os.path.relpath(os.path.join(os.getcwd(), root), work.top)
        work = workdir.Workdir(work.top, named, work.leave_out)
    if is_named and not os.path.isdir(os.path.join(work.top, work.root)):
        raise errors.NotFound(
            f"There is no directory {text.one_line(work.root, 80)} in this checkout.",
            hint="It is named by --root, or by the setting tasks.root.",
        )
    return work


def _named(call: context.Context, work: workdir.Workdir, path: str) -> str:
    """A file that was named; a typo must not pass for a file in order."""
    named = claim.from_top(call, path)
    if not os.path.lexists(os.path.join(work.top, named)):
        raise errors.NotFound("There is no such file. Nothing was changed.")
    return named


def _check(
    call: context.Context, work: workdir.Workdir, reading: str, *, staged: bool = False
) -> checking.Checked:
    if staged:
        return checking.check_staged(call.workspace, work, rules.READINGS[reading])
    return checking.check(
        work,
        rules.READINGS[reading],
        place=call.workspace,
        store=call.store,
        now=clock.now_text(clock.SystemClock()),
        by=call.actor,
    )


def _require_known(names: tuple[str, ...]) -> None:
    known = {"any", *rules.RULES, *_GRADES}
    for name in names:
        if name not in known:
            raise errors.UsageError(
                "--fail-on names no rule and no grade. Nothing was changed.",
                hint=f"Use any, {', '.join((*rules.RULES, *_GRADES))}.",
            )


def _narrowed(checked: checking.Checked, wanted: set[str]) -> checking.Checked:
    """Only what is about the files that were named."""
    if not wanted:
        return checked
    tasks = {each.task_id for each in checked.repairs if each.path in wanted}
    return checking.Checked(
        len(wanted),
        [each for each in checked.findings if each.path in wanted],
        [each for each in checked.repairs if each.task_id in tasks],
        [each for each in checked.keeps if each in wanted],
    )


def _failure(found: list[rules.Finding], fail_on: tuple[str, ...]) -> errors.FindingsFound | None:
    bad = [e for e in found if "any" in fail_on or e.rule in fail_on or e.grade in fail_on]
    if not bad:
        return None
    return errors.FindingsFound(f"{len(bad)} of the findings are of a kind to fail on.")


def _ask(checked: checking.Checked) -> None:
    if not sys.stdin.isatty():
        raise errors.ConfirmationNeeded(
            "Repairs change files, and nobody could be asked. Nothing was changed.",
            hint="See what it would do with `tether validate`, or add --yes.",
        )
    sys.stderr.write(text.clean(_plan(checked)) + "\n\n")
    if not click.confirm("Go on?", err=True):
        raise errors.Declined


def _plan(checked: checking.Checked) -> str:
    lines = [f"make {path}" for path in checked.keeps]
    for repair in checked.repairs:
        lines += _diff(repair)
    return "\n".join(lines)


def _diff(repair: fixing.Repair) -> list[str]:
    """One repair as people read changes."""
    reasons = "; ".join(repair.reasons)
    if repair.after is None:
        return [f"remove {repair.path}", f"    {text.one_line(reasons)}"]
    head = [f"{'move' if repair.after == repair.before else 'change'} {repair.path}"]
    if repair.target != repair.path:
        head[0] += f"\n    to {repair.target}"
    changed = difflib.unified_diff(
        repair.before.splitlines(), repair.after.splitlines(), lineterm="", n=1
    )
    body = [f"    {line}" for line in changed if not line.startswith(("---", "+++"))]
    return [*head, f"    {text.one_line(reasons)}", *body]


def _value(each: rules.Finding) -> dict[str, Any]:
    return {
        "rule": each.rule,
        "task": text.clean(each.task) or None,
        "path": text.clean(each.path) or None,
        "detail": text.clean(each.detail),
        "grade": each.grade,
        "line": each.line or None,
        "fixable": each.can_be_fixed,
    }


def _repair_value(each: fixing.Repair) -> dict[str, Any]:
    return {
        "task": each.task_id,
        "path": each.path,
        "target": None if each.after is None else each.target,
        "reasons": [text.one_line(reason) for reason in each.reasons],
    }


def _counts(found: list[rules.Finding]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in found:
        counts[each.rule] = counts.get(each.rule, 0) + 1
    return counts


def _text(repaired: Repaired, told: tuple[fixing.Repair, ...]) -> str:
    checked, found, done = repaired.checked, repaired.checked.findings, len(repaired.done)
    lines = [f"made {path}" for path in repaired.made]
    for repair in told:
        lines += _diff(repair)
    lines += [
        f"left alone, because it has changed meanwhile: {each.path}" for each in repaired.left
    ]
    if done:
        lines.append(f"Repaired: {text.counted(done, 'file')}.")
    if lines:
        lines.append("")
    for each in found:
        where = text.one_line(each.path or each.task)
        line = f":{each.line}" if each.line else ""
        fixable = "  [--fix]" if each.can_be_fixed else ""
        lines.append(f"{where}{line}: {each.rule}: {text.one_line(_said(each))}{fixable}")
    files = text.counted(checked.files, "file")
    if not found:
        return "\n".join([*lines, f"{files}: all in order." if checked.files else "No task files."])
    counts = ", ".join(f"{number} {rule}" for rule, number in _counts(found).items())
    number = text.counted(len(found), "finding")
    lines += ["", f"{files}, {number}: {counts}."]
    if any(each.can_be_fixed for each in found):
        lines.append("`tether validate --fix` repairs those with [--fix].")
    return "\n".join(lines)


def _said(each: rules.Finding) -> str:
    """A finding in words; `detail` is for programs."""
    detail = each.detail
    if each.rule == rules.DIRECTORY:
        place, _, status = detail.partition(":")
        said = "it has no status" if status == "None" else f"its status is {status}"
        return f"{said}, but it is in {place}/ ({each.grade})"
    if each.rule == rules.STATUS:
        return "it has no status" if detail == "None" else f"{detail} is no state"
    if each.rule == rules.OWNER and detail.startswith("dir="):
        folder, _, agent = detail.removeprefix("dir=").partition(" agent=")
        return f"it is in assigned/{folder}/, but its agent is {agent}"
    if each.rule in (rules.REQUIRED, rules.TIMES) and " " not in detail:
        return f"{detail} is missing"
    if each.rule == rules.PRIORITY:
        return f"{detail} is no priority"
    return detail
