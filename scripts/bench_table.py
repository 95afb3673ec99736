"""Write the published figures of `bench/` as a page: the last step of `make bench`."""

from __future__ import annotations

import json
import platform
import sqlite3
from pathlib import Path

DIRECTORY = Path(__file__).parents[1] / "bench"


def main() -> None:
    startup = json.loads((DIRECTORY / "startup.json").read_text())["startup"]
    versions = f"Python {platform.python_version()} and SQLite {sqlite3.sqlite_version}"
    lines = [
        "# Benchmarks",
        "",
        "Made by `make bench`. Ratios are to something measured in the same run on the same",
        f"machine, here with {versions}. Times are for orientation only.",
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
    (DIRECTORY / "README.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
