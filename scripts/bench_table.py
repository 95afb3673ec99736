"""Write the published figures of `bench/` as a page: the last step of `make bench`."""

from __future__ import annotations

import json
import platform
import sqlite3
from pathlib import Path
from typing import Any

import bench_lineage

DIRECTORY = Path(__file__).parents[1] / "bench"


def main() -> None:
    versions = f"Python {platform.python_version()} and SQLite {sqlite3.sqlite_version}"
    lines = [
        "# Benchmarks",
        "",
        "Made by `make bench`. Ratios are to something measured in the same run on the same",
        f"machine, here with {versions}. Times are for orientation only.",
        *_startup(_read("startup")),
        *_claims(_read("claims")),
        *_tasks(_read("tasks")),
        *_tasks(_read("tasks-all-open")),
        *_evidence([_read(name) for name in ("evidence", "evidence-10x") if _is_there(name)]),
        *_coordinator(_read("coordinator")),
        *(bench_lineage.costs(_read("lineage")) if _is_there("lineage") else []),
    ]
    (DIRECTORY / "README.md").write_text("\n".join(lines) + "\n")


def _read(name: str) -> dict[str, Any]:
    told = json.loads((DIRECTORY / f"{name}.json").read_text())
    found: dict[str, Any] = told[name.partition("-")[0]]
    return found


def _is_there(name: str) -> bool:
    """Has it been measured? A workload of ten times the size takes a while."""
    return (DIRECTORY / f"{name}.json").exists()


def _startup(startup: dict[str, Any]) -> list[str]:
    return [
        "",
        "## Start-up",
        "",
        f"Against `{startup['floor']}`,",
        f"medians of {startup['rounds']} alternating rounds. The aim is 2x for hot commands.",
        "",
        *_costs(startup["commands"]),
    ]


def _evidence(runs: list[dict[str, Any]]) -> list[str]:
    if not runs:
        return []
    lines = [
        "",
        "## Evidence",
        "",
        "A workload of `tether bench make-workload` (TRACK files, transcripts of Claude Code",
        "and Codex, session logs, two databases, commits), read for the first time, again with",
        "one new session of 512 lines, and again with nothing new; each in a process of its",
        "own, best round. The floors read the same bytes and parse as JSON only the lines in",
        "which an id stands: line by line with the pattern of an id, and file by file with the",
        "quick search that Tether itself uses. The aim is 3x for the files, 0.2 s of CPU for a",
        "new session, and 500 MB at ten times the size.",
    ]
    for run in runs:
        counts = run["counts"]
        names = ("tasks", "sessions", "messages", "commits")
        sizes = ", ".join(f"{counts[name]:,} {name}" for name in names)
        lines += [
            "",
            f"{sizes}; {run['rounds']} rounds:",
            "",
            "| step | CPU s | peak MB |",
            "|---|---|---|",
        ]
        read = run["read"]
        steps = {
            "floor, line by line": run["floors"]["floor_by_line"],
            "floor, file by file": run["floors"]["floor_by_file"],
            "first full read": read,
            "one new session": run["new_session"],
            "nothing new": run["nothing_new"],
            "a timeline": run["timeline"],
        }
        for name, cost in steps.items():
            lines.append(f"| {name} | {cost['cpu_seconds']:.3f} | {cost['peak_mb']} |")
        parts = {
            part: read[f"{key}_cpu_seconds"]
            for part, key in (("files", "files"), ("Git", "git"), ("the store's copy", "store"))
        }
        told = ", ".join(f"{part} {seconds:.2f} s" for part, seconds in parts.items())
        ratios = read["ratios"]
        lines += [
            "",
            f"Of the first full read: {told}.",
            f"The files are {ratios['floor_by_line']:.2f}x of the floor line by line,",
            f"and {ratios['floor_by_file']:.2f}x of the floor file by file.",
        ]
    return lines


def _coordinator(run: dict[str, Any]) -> list[str]:
    lines = [
        "",
        "## Coordinator",
        "",
        "A run whose coordinator died with ten agents at work, taken over by `tether run recover`:",
        "with the last snapshot, five events behind; with one that is a thousand events behind;",
        "with a damaged one, so that the one before it counts; and with none, from the whole log",
        "and the plan. Each leaves the state that the log gives when it is replayed from its",
        "start, finds the agents that are gone, and the one task whose commit is missing. Against",
        f"`{run['floor']}`, medians of {run['rounds']} rounds.",
        "The aim at 10,000 tasks and 100,000 events is 2 s of CPU.",
        "",
        f"| tasks | events | {' | '.join(_COORDINATOR.values())} |",
        "|---" * (len(_COORDINATOR) + 2) + "|",
    ]
    for size in run["sizes"]:
        costs = [size["commands"][name] for name in _COORDINATOR]
        cells = " | ".join(f"{c['cpu_ratio']:.1f}x, {c['cpu_ms'] / 1000:.2f} s" for c in costs)
        lines.append(f"| {size['tasks']:,} | {size['events']:,} | {cells} |")
    told = ", ".join(f"{_COORDINATOR[name]} {each:.2f}x" for name, each in run["growth"].items())
    lines += [
        "",
        "In the first two rows as many tasks are completed, in half as many events in the second.",
        f"The first against the second: {told}.",
        "",
        "In the coordinator itself, CPU: what one cycle costs while everybody is at work, one",
        "save, and choosing what is given out next, now and when nothing was done yet.",
        "",
        f"| tasks | events | {' | '.join(_INSIDE)} |",
        "|---" * (len(_INSIDE) + 2) + "|",
    ]
    for size in run["sizes"]:
        costs = [size["inside"][name] for name in _INSIDE]
        cells = " | ".join(f"{c['cpu_ratio']:.2f}x, {c['cpu_ms']:.1f} ms" for c in costs)
        lines.append(f"| {size['tasks']:,} | {size['events']:,} | {cells} |")
    return lines


_COORDINATOR = {
    "run recover": "recover",
    "run recover, far behind": "far behind",
    "run recover, damaged": "damaged",
    "run recover, no snapshot": "no snapshot",
    "run status --json": "status",
}
_INSIDE = ("first cycle", "idle cycle", "save", "choice", "first choice")


def _costs(commands: dict[str, Any]) -> list[str]:
    """A table of processes against the floor."""
    lines = ["| command | CPU | wall | CPU ms | wall ms |", "|---|---|---|---|---|"]
    for name, cost in commands.items():
        if "error" in cost:
            lines.append(f"| `{name}` | {_cell(cost['error'])} | | | |")
            continue
        lines.append(
            f"| `{name}` | {cost['cpu_ratio']:.2f}x | {cost['wall_ratio']:.2f}x"
            f" | {cost['cpu_ms']:.1f} | {cost['wall_ms']:.1f} |"
        )
    return lines


def _cell(said: str) -> str:
    """What another program said, harmless in a table."""
    return "".join(letter if letter not in "|`[]<>" else " " for letter in said)


def _claims(claims: dict[str, Any]) -> list[str]:
    processes = claims["processes"]
    lines = [
        "",
        "## Claims",
        "",
        f"With {claims['agents']:,} registered agents, medians of {claims['rounds']} rounds,",
        "against one durable write of one row to the same store.",
        "",
        "| store | one process | ratio | ms |",
        "|---|---|---|---|",
    ]
    for store, found in claims["stores"].items():
        for name, cost in found["alone"].items():
            lines.append(f"| {store} | {name} | {cost['ratio']:.3f}x | {cost['ms']:.3f} |")
    lines += [
        "",
        (
            f"{processes} processes that claim and close at the same time, {claims['rounds']} times"
            f" each, against {processes}"
        ),
        "times the median of one process: what each would wait if all were served in turn.",
        "",
        (
            f"| store | p50 / {processes}x alone | p99 / {processes}x alone | p50 ms | p99 ms"
            " | per second |"
        ),
        "|---|---|---|---|---|---|",
    ]
    for store, found in claims["stores"].items():
        crowd = found["crowd"]
        lines.append(
            f"| {store} | {crowd['p50_ratio']:.2f}x | {crowd['p99_ratio']:.2f}x"
            f" | {crowd['p50_ms']:.1f} | {crowd['p99_ms']:.1f} | {crowd['per_second']} |"
        )
    return lines


def _tasks(tasks: dict[str, Any]) -> list[str]:
    kind = "all of them new" if tasks["all_open"] else "three in ten open"
    lines = [
        "",
        "## Tasks, all open" if tasks["all_open"] else "## Tasks",
        "",
        f"Against `{tasks['floor']}`,",
        f"medians of {tasks['rounds']} rounds, in a repository with this many tasks, {kind}. The",
        "aim at 10,000 is 3x for `show` and every transition, 6x for `list` and `next`.",
        "From run to run a single figure may differ by some tenths.",
    ]
    for size in tasks["sizes"]:
        count = f"{size['tasks']:,}"
        cold = [f"`{name}` {each} s" for name, each in size["cold_index_seconds"].items()]
        absent = [name for name, found in size["others"].items() if isinstance(found, str)]
        broken = {
            name: found["error"]
            for name, found in size["others"].items()
            if isinstance(found, dict) and "error" in found
        }
        others = {
            name: cost
            for command, found in size["others"].items()
            if isinstance(found, dict) and command not in broken
            for name, cost in found.items()
        }
        lines += [
            "",
            f"### {count} tasks",
            "",
            *_costs({**size["commands"], **others}),
            "",
            f"Without an index, the first time: {', '.join(cold)}.",
        ]
        lines += [f"`{name}`: {_cell(why)}." for name, why in broken.items()]
        if absent:
            lines.append(f"Not installed, so not measured: {', '.join(absent)}.")
    return lines


if __name__ == "__main__":
    main()
