"""`tether vacuum --quick`: what the store alone says was dropped. Hot."""

from __future__ import annotations

from collections.abc import Collection

from tether import clock, errors, ids, text
from tether.cli import answers, context, sweeping, verbs
from tether.cli.task import shown
from tether.hints import Any
from tether.vacuum import model, quick

UNTRUSTED = ["title", "reasons", "track", "name", "where", "owner"]


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    return answer(call, compact=values["compact"])


def answer(
    call: context.Context,
    *,
    compact: bool = False,
    types: Collection[str] = (),
    fail_on: Collection[str] = (),
) -> answers.Answer:
    """A quick sweep, written down if that can be, with its findings of some types or of all."""
    now = clock.now_text(clock.SystemClock())
    found = sweeping.quick_findings(call, now, model.limits(call.settings))
    if types:
        found = [each for each in found if each.finding.type in types]
    value = {
        "sweep": model.QUICK,
        "at": now,
        "project": sweeping.project_of(call),
        "orphans": [_value(each) for each in found],
        "untrusted": UNTRUSTED,
    }
    failure = failing({each.finding.type for each in found}, fail_on)

    def page() -> str:
        told = "\n".join(_lines(found, compact, shown.width()))
        return answers.told(told, source="vacuum", for_agent=call.is_agent)

    return answers.Answer("vacuum", value, page, None, failure)


def failing(types: Collection[str], fail_on: Collection[str]) -> errors.TetherError | None:
    """The failure that a call asked for, if there are findings of these types."""
    hit = sorted(types) if "any" in fail_on else sorted(set(types) & set(fail_on))
    if not hit:
        return None
    return errors.FindingsFound(
        f"There are findings that this call should fail on: {', '.join(hit)}.",
        hint="Settle them with `tether vacuum adopt`, `complete` or `defer`.",
    )


def finding_value(finding: model.Finding) -> dict[str, Any]:
    """A finding for programs."""
    return {
        "type": finding.type,
        "grade": finding.grade,
        "probability": finding.percent / 100,
        "reasons": [text.clean(each) for each in finding.reasons],
        "pointers": [text.clean(each) for each in finding.pointers],
    }


def _value(each: quick.Found) -> dict[str, Any]:
    return {
        "key": each.key.label,
        "source": each.key.source,
        "id": each.key.id,
        "findings": [finding_value(each.finding)],
        "last_activity": each.evidence.claimed_at or None,
    }


def _lines(found: list[quick.Found], compact: bool, width: int) -> list[str]:
    """Each orphan once, by the most urgent of what is wrong with it; then everything else."""
    orphans: dict[ids.TaskKey, quick.Found] = {}
    for each in found:
        if each.finding.type in model.ORPHANED:
            orphans.setdefault(each.key, each)
    first, names = list(orphans.values()), {each.name for each in orphans.values()}
    counts = _counts(first)
    head = f"Orphaned Tasks: {len(first)}" + (f" ({counts})" if counts else "")
    if compact:
        return [head]
    lines = [head, *(_row(each, width) for each in first)]
    if others := [each for each in found if each.name not in names]:
        lines += [f"Also: {_counts(others)}", *(_row(each, width) for each in others)]
    return [*lines, "Run `tether vacuum` for the full analysis."]


def _counts(found: list[quick.Found]) -> str:
    """`2 dead claims, 1 conflict`."""
    kinds = [each.finding.type for each in found]
    return ", ".join(model.counted(kind, kinds.count(kind)) for kind in dict.fromkeys(kinds))


def _row(each: quick.Found, width: int) -> str:
    reason = f"{each.finding.type.replace('_', ' ')}: {each.finding.reasons[0]}"
    return f"  {each.key.id}  {text.one_line(reason, max(24, width - 4 - len(each.key.id)))}"


VERB = verbs.Verb(
    name="vacuum",
    help="Find the tasks that were dropped, as far as the store alone can tell.",
    options=(verbs.Option("--compact", "One line."),),
    run=_run,
)
