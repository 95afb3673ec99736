"""`tether validate`: the task files against the rules, and their repair."""

from __future__ import annotations

import difflib
import sys
from typing import Any

import click

from tether import clock, errors, text
from tether.cli import answers, cold, context
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
@click.option("--yes", is_flag=True, help="Repair without asking.")
@click.option(
    "--fail-on",
    metavar="WHAT",
    multiple=True,
    help="End with code 6 on findings of this rule or grade, or on `any`; may be repeated.",
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
    fail_on: tuple[str, ...],
    root: str | None,
    paths: tuple[str, ...],
) -> answers.Answer:
    """Check the task files, and repair them.

    PATHS narrow the findings to some files, as a pre-commit hook names them.
    """
    _require_known(fail_on)
    work = call.work
    if root is not None:
        work = workdir.Workdir(work.top, root.strip("/"), work.leave_out)
    if (fix or yes) and reading != rules.OURS.name:
        raise errors.UsageError("Only Tether's own rules have repairs. Nothing was changed.")
    checked = _check(call, work, reading)
    done: list[fixing.Repair] = []
    left: list[fixing.Repair] = []
    if (fix or yes) and (checked.repairs or checked.keeps):
        if not yes:
            _ask(checked)
        at = call.desk()._replace(work=work)
        done, left = checking.apply(at, checked)
        made = checked.keeps
        checked = _check(call, work, reading)
    else:
        made = []
    found = _narrowed(checked.findings, call, paths)
    value = {
        "rules": reading,
        "files": checked.files,
        "findings": [_value(each) for each in found],
        "counts": _counts(found),
        "fixed": [_repair_value(each) for each in done],
        "made": made,
        "left": [_repair_value(each) for each in left],
    }
    return answers.Answer(
        "validate",
        value,
        lambda: answers.told(
            _text(checked, found, done, left, made), source="task files", for_agent=call.is_agent
        ),
        failure=_failure(found, fail_on),
    )


def _check(call: context.Context, work: workdir.Workdir, reading: str) -> checking.Checked:
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


def _narrowed(
    found: list[rules.Finding], call: context.Context, paths: tuple[str, ...]
) -> list[rules.Finding]:
    if not paths:
        return found
    from tether.cli import claim

    wanted = {claim.from_top(call, path) for path in paths}
    return [each for each in found if each.path in wanted]


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


def _text(
    checked: checking.Checked,
    found: list[rules.Finding],
    done: list[fixing.Repair],
    left: list[fixing.Repair],
    made: list[str],
) -> str:
    lines = [f"made {path}" for path in made]
    for repair in done:
        lines += _diff(repair)
    lines += [f"left alone, because it has changed meanwhile: {each.path}" for each in left]
    if lines:
        lines.append("")
    for each in found:
        where = text.one_line(each.path or each.task)
        line = f":{each.line}" if each.line else ""
        grade = f" ({each.grade})" if each.grade != "wrong" else ""
        fixable = "  [--fix]" if each.can_be_fixed else ""
        lines.append(f"{where}{line}: {each.rule}{grade}: {text.one_line(each.detail)}{fixable}")
    files = f"{checked.files} file{'' if checked.files == 1 else 's'}"
    if not found:
        return "\n".join([*lines, f"{files}: all in order."])
    counts = ", ".join(f"{number} {rule}" for rule, number in _counts(found).items())
    number = f"{len(found)} finding{'' if len(found) == 1 else 's'}"
    lines += ["", f"{files}, {number}: {counts}."]
    if any(each.can_be_fixed for each in found):
        lines.append("`tether validate --fix` repairs those with [--fix].")
    return "\n".join(lines)
