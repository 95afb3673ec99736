"""`tether bench`: measure Tether on this machine."""

from __future__ import annotations

from typing import Any

import click

from tether.cli import answers, cold


@click.group()
def bench() -> None:
    """Measure Tether on this machine, as ratios."""


@bench.command()
@click.option("--rounds", default=25, show_default=True, type=click.IntRange(1, 1000))
@cold.answering
def startup(rounds: int) -> answers.Answer:
    """What a command costs to start, against the bare interpreter."""
    from tether.bench import startup as harness

    result = harness.measure(rounds)
    return answers.Answer("startup", result, lambda: _table(result))


def _table(result: dict[str, Any]) -> str:
    lines = [f"against {result['floor']}, {result['rounds']} rounds", ""]
    lines.append(f"{'command':<16} {'CPU':>7} {'wall':>7} {'CPU ms':>8} {'wall ms':>8}")
    for name, cost in result["commands"].items():
        lines.append(
            f"{name:<16} {cost['cpu_ratio']:>6.2f}x {cost['wall_ratio']:>6.2f}x"
            f" {cost['cpu_ms']:>8.1f} {cost['wall_ms']:>8.1f}"
        )
    return "\n".join(lines)
