"""Write the published figures of `bench/` as a page: the last step of `make bench`."""

from __future__ import annotations

import json
import platform
import sqlite3
from pathlib import Path
from typing import Any

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
    ]
    (DIRECTORY / "README.md").write_text("\n".join(lines) + "\n")


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DIRECTORY / f"{name}.json").read_text())[name]
    return found


def _startup(startup: dict[str, Any]) -> list[str]:
    lines = [
        "",
        "## Start-up",
        "",
        f"Against `{startup['floor']}`,",
        f"medians of {startup['rounds']} alternating rounds. The aim is 2x for hot commands.",
        "",
        "| command | CPU | wall | CPU ms | wall ms |",
        "|---|---|---|---|---|",
    ]
    for name, cost in startup["commands"].items():
        lines.append(
            f"| `{name}` | {cost['cpu_ratio']:.2f}x | {cost['wall_ratio']:.2f}x"
            f" | {cost['cpu_ms']:.1f} | {cost['wall_ms']:.1f} |"
        )
    return lines


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


if __name__ == "__main__":
    main()
