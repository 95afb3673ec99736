"""The tables of `bench/README.md` and of `docs/explanation/accuracy.md` about lineage."""

from __future__ import annotations

from typing import Any

Figures = dict[str, Any]

_STEPS = {
    "reading every content once": ("floors", "read"),
    "parsing it": ("floors", "parse"),
    "its outline": ("floors", "outline"),
    "files and symbols followed": ("identities",),
    "edges": ("edges",),
    "the first index": ("both",),
}
_PAIRS = {
    "all": "all",
    "named in subject or trailer": "named in subject or trailer",
    "named in the body only": "named in the body only",
    "without a rename": "no rename between",
    "beyond a rename": "beyond a rename",
    "before it was added again": "before the file was deleted and added again",
    "without following renames": "what a log finds that follows no renames",
}


def costs(run: Figures) -> list[str]:
    """What `tether bench lineage` measured."""
    lines = [
        "",
        "## Lineage",
        "",
        "The first index of a history (`tether lineage rebuild`): all files and symbols of all",
        "commits are followed, and what they have to do with tasks is found. Against parsing each",
        "content of code once, by the parser alone; CPU of all processes, best of",
        f"{run['times']} times. It is also killed in its midst and goes on. One new commit, and",
        f"`tether why` for {_asked(run)}, in a process that goes on (warm) and",
        "as a command (cold); then again with made-up tasks in the index. The aims are 2x of",
        "parsing, 150 ms for a commit that was made, and for `why` 60 ms warm and 300 ms cold.",
    ]
    for each in run["repositories"]:
        lines += _repository(each)
    return lines


def _asked(run: Figures) -> str:
    most = max(run["repositories"], key=lambda each: each["why"]["symbols"])["why"]
    return f"{most['symbols']} symbols and {most['files']} files"


def _repository(each: Figures) -> list[str]:
    counts, kill = each["counts"], each["kill"]
    edges = counts["task_edges"] + counts["code_edges"]
    size, blobs = each["index_bytes"] / 1e6, f"{each['blobs']:,} contents of code"
    lines = [
        "",
        f"### {each['name']}",
        "",
        (
            f"{counts['commits']:,} commits, {blobs} ({each['bytes'] / 1e6:.0f} MB),"
            f" {counts['events']:,} events, {edges:,} edges; an index of {size:.0f} MB."
        ),
        "",
        "| step | CPU s | s | of parsing |",
        "|---|---|---|---|",
    ]
    floor = each["floors"]["parse"]["cpu_seconds"]
    for title, names in _STEPS.items():
        cost = each
        for name in names:
            cost = cost[name]
        lines.append(
            f"| {title} | {cost['cpu_seconds']:.2f} | {cost['wall_seconds']:.2f}"
            f" | {cost['cpu_seconds'] / max(floor, 0.001):.2f}x |"
        )
    same = "the same" if kill["is_same"] else "**not** the same"
    more = kill["more_than_without"]
    cost = f", with {more:+.0%} of CPU" if more is not None else ""
    lines += [
        "",
        f"Killed after {kill['after_share_of_time']:.0%} of its time it goes on to {same}{cost}.",
        "",
        "| question | p50 ms | p95 ms |",
        "|---|---|---|",
        *(f"| {name} | {at['p50_ms']:.1f} | {at['p95_ms']:.1f} |" for name, at in _times(each)),
    ]
    return lines


def _times(each: Figures) -> list[tuple[str, Figures]]:
    new = each["new_commit"]
    found = [("`why`, warm", each["why"]["warm"]), ("`why`, cold", each["why"]["cold"])]
    if new["commits"]:
        found += [("one new commit", new["warm"]), ("the same, as a command", new["process"])]
    crowded = each["crowded"]
    if crowded:
        there = f"{crowded['edges']:,} edges"
        found += [
            (f"`why`, warm, {there}", crowded["warm"]),
            (f"`why`, cold, {there}", crowded["cold"]),
            *((f"`{name}`, warm, {there}", cost) for name, cost in crowded["closures"].items()),
        ]
    return found


def found(run: Figures) -> list[str]:
    """What `tether bench attributions` found."""
    every = run["repositories"]
    told = [
        (
            f"{each['name']}: {each['files']:,} files, {each['tasks']:,} tasks,"
            f" {each['commits_naming_tasks']:,} commits that name one"
        )
        for each in every
    ]
    lines = [
        f"{'; '.join(told)}.",
        "",
        f"| pairs of file and task | {' | '.join(each['name'] for each in every)} |",
        f"|---|{'---|' * len(every)}",
    ]
    for name, title in _PAIRS.items():
        cells = [_share(each[name]) for each in every]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    cells = [_share(each["said_by_commits"]) for each in every]
    lines.append(f"| of those that are said, Git has | {' | '.join(cells)} |")
    return lines


def _share(found: Figures) -> str:
    if not found["of"]:
        return "none"
    return f"{found['share']:.4f} ({found['found']:,} of {found['of']:,})"
