"""`tether bench symbols`: how well symbols are followed, on published oracles."""

from __future__ import annotations

import click

from tether.cli import answers, cold
from tether.hints import Any


@click.command()
@click.option(
    "--oracle",
    "oracles",
    required=True,
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Questions with their answers; may be repeated.",
)
@click.option(
    "--repos",
    required=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Where the repositories are: owner/name is in owner+name/repo.",
)
@click.option(
    "--core", is_flag=True, help="List errors without those of documentation, comments and layout."
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1), help="Only the first N questions or commits."
)
@click.option(
    "--git/--no-git", "has_git", default=True, show_default=True, help="Ask git log -L as well."
)
@click.option("--brief", is_flag=True, help="Without the single questions and mistakes.")
@cold.answering
def symbols(
    oracles: tuple[str, ...], repos: str, core: bool, limit: int | None, has_git: bool, brief: bool
) -> answers.Answer:
    """How well functions and classes are followed through history, on published oracles.

    FILE has one JSON object a line and may be packed with gzip. A question of history has `id`,
    `repo`, `kind`, `start_commit`, `file`, `start_line`, `end_line` and `expected`, each of these
    `commit` and `change_types`. What a single commit did has `repo`, `commit`, `language`, `type`
    and, for both sides, `name_before` and `name_after`. A repository that is not there is skipped.
    """
    from tether.bench import symbols as harness

    result = harness.measure(oracles, repos, is_core=core, limit=limit, has_git=has_git)
    shown = harness.without_details(result) if brief else result
    return answers.Answer("", shown, lambda: table(result, is_core=core))


def table(result: dict[str, Any], *, is_core: bool) -> str:
    """The figures for people."""
    heading = ("right", "wrong", "missed", "prec.", "recall", "F1")
    lines = [" ".join([f"{'':<24}", *(f"{each:>6}" for each in heading)])]
    names = ("core", "strict") if is_core else ("strict", "core")
    git = result["git"]
    for name in names:
        lines.append(_row(f"Tether, {name}", result[name]))
        lines += [_row(f"git log -L, {name}", git[name])] if git else []
    first = result[names[0]]
    low, high = first["intervals"]["f1"]
    level, by = first["intervals"]["level"], first["intervals"]["by"]
    lines += ["", f"{level:.0%} interval of F1 by {by}: {low:.3f} to {high:.3f}"]
    lines.append(f"exact: {first['exact']} of {first['questions']}")
    for name, title in (("origin", "origins found"), ("moves", "renames and moves found")):
        told = _found(result[name]) + (f" (git {_found(git[name])})" if git else "")
        lines += [f"{title}: {told}"] if result[name]["of"] else []
    lines += _pairs(result["pairs"]) if result["pairs"] else []
    lines += ["", *_seconds(result["seconds"])]
    errors = sum("error" in each for each in result["questions"])
    lines += [f"without an answer: {errors}"] if errors else []
    skipped = (f"{name} ({count})" for name, count in result["skipped"].items())
    return "\n".join([*lines, *(f"skipped, not there: {each}" for each in skipped)])


def _row(name: str, found: dict[str, Any]) -> str:
    counts = f"{found['tp']:>6} {found['fp']:>6} {found['fn']:>6}"
    shares = " ".join(f"{found[each]:>6.3f}" for each in ("precision", "recall", "f1"))
    return f"{name:<24} {counts} {shares}"


def _found(found: dict[str, Any]) -> str:
    return f"{found['found']} of {found['of']}"


def _pairs(pairs: dict[str, Any]) -> list[str]:
    lines = ["", *(_row(name, found) for name, found in pairs["groups"].items()), ""]
    for name, found in pairs["types"].items():
        lines.append(f"{name:<24} {found['found']:>6} of {found['asked']:>4} {found['recall']:.3f}")
    more = f"not asked: {pairs['not_asked']}; said of what no row mentions: {pairs['unlisted']}"
    return [*lines, "", more]


def _seconds(found: dict[str, Any]) -> list[str]:
    if found["median"] is None:
        return ["Nothing was asked."]
    lines = [f"seconds: median {found['median']:.3f}, p90 {found['p90']:.3f}"]
    if found["git_median"] is not None:
        ratios = f"{found['ratio_median']:.2f}x, p90 {found['ratio_p90']:.2f}x"
        lines += [
            f"git log -L: median {found['git_median']:.3f}, p90 {found['git_p90']:.3f}",
            f"Tether against git: median {ratios}",
        ]
    return [*lines, f"peak: {found['peak_mb']} MB"]
