"""`tether bench lineage` and `attributions`: what lineage costs, and how much of it is found."""

from __future__ import annotations

import click

from tether import errors
from tether.cli import answers, cold
from tether.hints import Any

_repos = click.option(
    "--repo",
    "repositories",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="A repository, also a bare one; may be repeated. Without it, that of this directory.",
)
_ids = click.option(
    "--ids",
    "templates",
    multiple=True,
    metavar="TEMPLATE",
    help="Ids of tasks that its settings do not name, as in evidence.ids: PROJ-#.",
)
_seed = click.option("--seed", default=1, show_default=True, type=click.IntRange(0))


@click.command()
@_repos
@_ids
@click.option("--rounds", default=20, show_default=True, type=click.IntRange(3, 1000))
@click.option(
    "--edges",
    default=100_000,
    show_default=True,
    type=click.IntRange(0, 5_000_000),
    help="Ask again when made-up tasks have filled the index up to so many; 0: do not.",
)
@_seed
@cold.answering
def lineage(
    repositories: tuple[str, ...], templates: tuple[str, ...], rounds: int, edges: int, seed: int
) -> answers.Answer:
    """What the index of lineage costs, what one commit adds, and what `tether why` takes.

    A repository is copied first, so nothing of it is changed. The first index is held against
    parsing every content once; it is also killed in its midst, and has to go on to the same.
    """
    from tether.bench import lineage as harness

    result = harness.measure(
        _named(repositories), rounds, edges=edges, templates=templates, seed=seed, tell=_tell
    )
    _tell("")
    return answers.Answer("lineage", result, lambda: _table(result))


@click.command()
@_repos
@_ids
@click.option(
    "--examples",
    default=0,
    show_default=True,
    metavar="N",
    type=click.IntRange(0, 1000),
    help="List so many of each kind of what is amiss.",
)
@_seed
@cold.answering
def attributions(
    repositories: tuple[str, ...], templates: tuple[str, ...], examples: int, seed: int
) -> answers.Answer:
    """How many of the pairs of file and task are found that Git implies when renames are followed.

    Git's own: the commits that changed a file of HEAD, over its renames, and the ids in their
    messages.
    """
    from tether.bench.lineage import attributions as harness

    result = harness.measure(
        _named(repositories), templates=templates, examples=examples, seed=seed, tell=_tell
    )
    _tell("")
    return answers.Answer("attributions", result, lambda: _attributions_table(result))


def _named(repositories: tuple[str, ...]) -> tuple[str, ...]:
    if repositories:
        return repositories
    from tether import workspace

    here = workspace.find(".")
    if here.root is None:
        raise errors.UsageError(
            "There is no checkout here. Nothing was measured.",
            hint="Name a repository with --repo DIR.",
        )
    return (here.root,)


def _tell(words: str) -> None:
    """What is being done; a benchmark of a large repository takes a while."""
    if words:
        click.echo(words, err=True)


def _table(result: dict[str, Any]) -> str:
    lines: list[str] = []
    for each in result["repositories"]:
        counts = each["counts"]
        lines += [
            *([""] if lines else []),
            (
                f"{each['name']}: {counts['commits']:,} commits, {each['blobs']:,} contents of code"
                f" ({each['bytes'] / 1e6:.0f} MB), {counts['events']:,} events"
            ),
            "",
            f"{'first index':<28} {'CPU s':>8} {'s':>8} {'of parsing':>11}",
        ]
        lines += [_cost(name, cost, each["floors"]["parse"]) for name, cost in _steps(each)]
        lines += [
            "",
            f"index: {each['index_bytes'] / 1e6:.1f} MB, for {_edges(counts):,} edges",
            _killed(each["kill"]),
            "",
            f"{'':<28} {'p50 ms':>8} {'p95 ms':>8}",
            *_times(each),
        ]
        if crowded := each["crowded"]:
            lines += ["", f"{'with ' + format(crowded['edges'], ',') + ' edges':<28}"]
            lines += [_time("why, warm", crowded["warm"]), _time("why, cold", crowded["cold"])]
            lines += [_time(name, cost) for name, cost in crowded["closures"].items()]
    return "\n".join(lines)


def _steps(each: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    names = {"read": "reading every content once", "parse": "parsing it", "outline": "its outline"}
    floors = [(title, each["floors"][name]) for name, title in names.items()]
    return [*floors, *((name, each[name]) for name in ("identities", "edges", "both"))]


def _cost(name: str, cost: dict[str, Any], floor: dict[str, Any]) -> str:
    ratio = cost["cpu_seconds"] / max(floor["cpu_seconds"], 0.001)
    return f"{name:<28} {cost['cpu_seconds']:>8.2f} {cost['wall_seconds']:>8.2f} {ratio:>10.2f}x"


def _edges(counts: dict[str, int]) -> int:
    return counts["task_edges"] + counts["code_edges"]


def _killed(kill: dict[str, Any]) -> str:
    same = "the same" if kill["is_same"] else "NOT the same"
    more = kill["more_than_without"]
    cost = f", {more:+.0%} of CPU" if more is not None else ""
    return f"killed after {kill['after_share_of_time']:.0%} of its time, it goes on to {same}{cost}"


def _times(each: dict[str, Any]) -> list[str]:
    new = each["new_commit"]
    rows = {"why, warm": each["why"]["warm"], "why, cold": each["why"]["cold"]}
    if new["commits"]:
        rows |= {"one new commit": new["warm"], "the same, cold": new["process"]}
    return [_time(name, cost) for name, cost in rows.items()]


def _time(name: str, cost: dict[str, Any]) -> str:
    return f"{name:<28} {cost.get('p50_ms', 0.0):>8.1f} {cost.get('p95_ms', 0.0):>8.1f}"


def _attributions_table(result: dict[str, Any]) -> str:
    lines: list[str] = []
    for each in result["repositories"]:
        lines += [
            *([""] if lines else []),
            (
                f"{each['name']}: {each['files']:,} files, {each['tasks']:,} tasks,"
                f" {each['commits_naming_tasks']:,} commits that name one"
            ),
            "",
            f"{'pairs of file and task':<32} {'found':>7} {'of':>7} {'share':>7}",
        ]
        lines += [
            f"{name:<32} {found['found']:>7} {found['of']:>7} {found['share']:>7.4f}"
            for name, found in each.items()
            if isinstance(found, dict) and "share" in found
        ]
        missed = ", ".join(f"{name} {count}" for name, count in each["missed"].items())
        lines += ["", f"missed: {missed or 'none'}"]
    return "\n".join(lines)
