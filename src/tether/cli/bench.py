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


@bench.command()
@click.option("--rounds", default=100, show_default=True, type=click.IntRange(1, 10_000))
@click.option("--processes", default=32, show_default=True, type=click.IntRange(1, 256))
@click.option(
    "--url", metavar="URL", help="Measure this PostgreSQL too; the schema tether_benchmark stays."
)
@cold.answering
def claims(rounds: int, processes: int, url: str | None) -> answers.Answer:
    """What a claim costs alone and in a crowd, and what a heartbeat and a sweep cost."""
    from tether.bench import claims as harness

    result = harness.measure(rounds, processes, url)
    return answers.Answer("claims", result, lambda: _claims_table(result))


def _claims_table(result: dict[str, Any]) -> str:
    lines = []
    for store, found in result["stores"].items():
        lines += [f"{store}, {result['agents']} agents, medians of {result['rounds']} rounds", ""]
        for name, cost in found["alone"].items():
            lines.append(f"{name:<20} {cost['ratio']:>8.3f}x {cost['ms']:>9.3f} ms")
        crowd = found["crowd"]
        lines += [
            "",
            (
                f"claim and close by {result['processes']} processes: p50 {crowd['p50_ms']} ms,"
                f" p99 {crowd['p99_ms']} ms, {crowd['per_second']} in a second;"
            ),
            (
                f"against {result['processes']} times as long as alone: p50"
                f" {crowd['p50_ratio']:.2f}x, p99 {crowd['p99_ratio']:.2f}x"
            ),
            "",
        ]
    return "\n".join(lines).rstrip()


def _table(result: dict[str, Any]) -> str:
    lines = [f"against {result['floor']}, {result['rounds']} rounds", ""]
    lines.append(f"{'command':<16} {'CPU':>7} {'wall':>7} {'CPU ms':>8} {'wall ms':>8}")
    for name, cost in result["commands"].items():
        lines.append(
            f"{name:<16} {cost['cpu_ratio']:>6.2f}x {cost['wall_ratio']:>6.2f}x"
            f" {cost['cpu_ms']:>8.1f} {cost['wall_ms']:>8.1f}"
        )
    return "\n".join(lines)
