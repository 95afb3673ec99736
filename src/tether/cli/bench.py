"""`tether bench`: measure Tether on this machine."""

from __future__ import annotations

import click

from tether import errors
from tether.cli import answers, bench_lineage, bench_symbols, cold
from tether.hints import Any


@click.group()
def bench() -> None:
    """Measure Tether on this machine, as ratios."""


bench.add_command(bench_symbols.symbols)
bench.add_command(bench_lineage.lineage)
bench.add_command(bench_lineage.attributions)


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


@bench.command()
@click.option(
    "--tasks",
    "counts",
    default=[10_000],
    show_default="10000",
    multiple=True,
    type=click.IntRange(50, 1_000_000),
    help="In a repository with this many; may be repeated.",
)
@click.option("--rounds", default=15, show_default=True, type=click.IntRange(1, 1000))
@click.option("--all-open", is_flag=True, help="All of them new, instead of three in ten open.")
@cold.answering
def tasks(counts: tuple[int, ...], rounds: int, all_open: bool) -> answers.Answer:
    """What looking at tasks and moving them costs, against the bare interpreter.

    Beside it bd, backlog and tk, if they are installed.
    """
    from tether.bench import tasks as harness

    result = harness.measure(counts, rounds, all_open=all_open)
    return answers.Answer("tasks", result, lambda: _tasks_table(result))


@bench.command("make-workload")
@click.argument("directory", type=click.Path())
@click.option(
    "--scale",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0.001, 10),
    help="1 is 1,000 sessions with 512,000 messages.",
)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option("--no-liveness", is_flag=True, help="Say nothing about processes.")
@cold.answering
def make_workload(directory: str, scale: float, seed: int, no_liveness: bool) -> answers.Answer:
    """Write the traces of many agents at work, with the truth beside them.

    The same seed and the same DIRECTORY, which occurs in the records, give the same bytes.
    """
    from tether.bench.workload import writing

    result = writing.make(directory, scale, seed, has_liveness=not no_liveness)
    return answers.Answer("workload", result, lambda: _workload_table(result))


def _workload_table(result: dict[str, Any]) -> str:
    lines = [f"{result['directory']}: {result['bytes']:,} bytes, as of {result['now']}", ""]
    lines += [f"{name:<24} {count:>12,}" for name, count in result["counts"].items()]
    return "\n".join(lines)


@bench.command()
@click.option("--scale", default=1.0, show_default=True, type=click.FloatRange(0.001, 10))
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(1, 20))
@cold.answering
def evidence(scale: float, rounds: int) -> answers.Answer:
    """What reading transcripts, logs, databases and Git costs, on a workload that it makes."""
    from tether.bench import evidence as harness

    result = harness.measure(scale, rounds)
    return answers.Answer("evidence", result, lambda: _evidence_table(result))


def _evidence_table(result: dict[str, Any]) -> str:
    read, new, again = result["read"], result["new_session"], result["nothing_new"]
    counts = result["counts"]
    names = ("tasks", "sessions", "messages", "commits")
    sizes = ", ".join(f"{counts[name]} {name}" for name in names)
    lines = [
        f"scale {result['scale']}: {sizes}; best of {result['rounds']}",
        "",
        f"{'step':<22} {'CPU s':>8} {'peak MB':>8}",
    ]
    steps = {**result["floors"], "first full read": read, "one new session": new}
    steps |= {"nothing new": again, "a timeline": result["timeline"]}
    for name, cost in steps.items():
        lines.append(f"{name:<22} {cost['cpu_seconds']:>8.3f} {cost['peak_mb']:>8}")
    parts = ", ".join(
        f"{part} {read[f'{part}_cpu_seconds']} s" for part in ("files", "git", "store")
    )
    lines += [
        "",
        f"first full read: {parts}",
        *(f"files against {name}: {ratio}x" for name, ratio in read["ratios"].items()),
    ]
    return "\n".join(lines)


@bench.command()
@click.option(
    "--timeline",
    "timelines",
    required=True,
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="What happened to the tasks of a project; may be repeated.",
)
@click.option(
    "--labels",
    required=True,
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="What the future showed; one for each timeline, in the same order.",
)
@cold.answering
def orphans(timelines: tuple[str, ...], labels: tuple[str, ...]) -> answers.Answer:
    """How well silence tells an orphan, on real histories with labels.

    FILE has one JSON object a line and may be packed with gzip. A line of a timeline has `task`,
    `created` and `events`, each of these `t`, `kind` and perhaps `status`, `checked` and `total`;
    one of labels has `task`, `T`, `population` and `label`. Labels are only counted with.
    """
    from tether.bench import orphans as harness

    if len(timelines) != len(labels):
        raise errors.UsageError(
            f"There are {len(timelines)} timelines and {len(labels)} files of labels. Nothing was"
            " measured.",
            hint="Give one --labels FILE for each --timeline FILE, in the same order.",
        )
    result = harness.measure(zip(timelines, labels, strict=True))
    return answers.Answer("", result, lambda: _orphans_table(result))


def _orphans_table(result: dict[str, Any]) -> str:
    heading = f"{'alerts':<32} {'right':>6} {'wrong':>6} {'missed':>6} {'prec.':>6} {'recall':>6}"
    rows = {name: found["alert"] for name, found in result["projects"].items()}
    rows |= {"all": result["alert"], "all, ticked parts shown": result["with_parts"]["alert"]}
    rows |= {name: found["alert"] for name, found in result["baselines"].items()}
    lines = [heading]
    for name, found in rows.items():
        counts = f"{found['tp']:>6} {found['fp']:>6} {found['fn']:>6}"
        lines.append(f"{name[:32]:<32} {counts} {found['precision']:>6.3f} {found['recall']:>6.3f}")
    ranges = {name: result["intervals"][name] for name in ("precision", "recall")}
    told = ", ".join(f"{name} {low:.3f} to {high:.3f}" for name, (low, high) in ranges.items())
    instance = result["instance"]
    lines += [
        "",
        f"{result['intervals']['level']:.0%} interval by task: {told}",
        (
            f"of {instance['fp'] + instance['tn']} rows that are no orphans {instance['fp']} are"
            f" reported ({instance['fpr']:.3f}),"
        ),
        f"{instance['never_started_flagged']} of them never started",
    ]
    return "\n".join(lines)


@bench.command()
@click.option("--scale", default=1.0, show_default=True, type=click.FloatRange(0.001, 10))
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(1, 20))
@cold.answering
def vacuum(scale: float, rounds: int) -> answers.Answer:
    """How well sweeps find orphans and what they cost, on a workload that it makes."""
    from tether.bench import vacuum as harness

    result = harness.measure(scale, rounds)
    return answers.Answer("vacuum", result, lambda: _vacuum_table(result))


def _vacuum_table(result: dict[str, Any]) -> str:
    counts = result["counts"]
    lines = [f"scale {result['scale']}: {counts['tasks']} tasks, {counts['sessions']} sessions"]
    for name, title in (("liveness", "with liveness"), ("no_liveness", "without liveness")):
        found = result[name]
        lines += ["", f"{title:<24} {'found':>6} {'of':>6} {'said':>6} {'wrong':>6}"]
        lines += [
            f"{each:<24} {row['found']:>6} {row['of']:>6} {row['said']:>6} {row['wrong']:>6}"
            for each, row in found["classes"].items()
        ]
        parked = found["parked"]
        wrong = len(parked["wrong"])
        there = parked["of"] - len(parked["missed"])
        lines += [
            f"{'parked tracks':<24} {there:>6} {parked['of']:>6} {parked['said']:>6} {wrong:>6}",
            f"certain: {found['certain']}, of them wrong: {found['certain_wrong']}",
        ]
    lines += ["", f"{'step':<24} {'CPU s':>8} {'peak MB':>8}"]
    costs = result["cost"]
    for name in ("first_read", "standard", "deep"):
        cost = costs[name]
        lines.append(f"{name:<24} {cost['cpu_seconds']:>8.3f} {cost['peak_mb']:>8}")
    for name in ("quick", "quick_finding"):
        cost = costs[name]
        lines.append(f"{name:<24} {cost['cpu_ms'] / 1000:>8.3f} {cost['cpu_ratio']:>7.2f}x")
    same = "the same" if result["identical"] else "NOT the same"
    lines += ["", f"two sweeps say {same}, byte by byte"]
    return "\n".join(lines)


@bench.command()
@click.option(
    "--tasks",
    default=10_000,
    show_default=True,
    type=click.IntRange(100, 10_000),
    help="Of the run's plan; its file may not be larger.",
)
@click.option(
    "--events",
    "count",
    default=100_000,
    show_default=True,
    type=click.IntRange(1000, 1_000_000),
    help="Of the run's log; the store has about twice as many.",
)
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(1, 100))
@cold.answering
def coordinator(tasks: int, count: int, rounds: int) -> answers.Answer:
    """What taking over a run costs, with its snapshot, an older one, a damaged one and none.

    Also with half of the events, a tenth of them, and a tenth of the tasks: to see what grows with
    what.
    """
    from tether.bench import coordinator as harness

    result = harness.measure(tasks, count, rounds)
    return answers.Answer("coordinator", result, lambda: _coordinator_table(result))


def _coordinator_table(result: dict[str, Any]) -> str:
    lines = [f"against {result['floor']}, {result['rounds']} rounds"]
    for size in result["sizes"]:
        named = f"{size['tasks']:,} tasks, {size['completed']:,} of them completed"
        lines += ["", f"{named}, {size['events']:,} events", "", *_rows(size["commands"]), ""]
        for name, cost in size["inside"].items():
            figures = f"{cost['cpu_ms']:>9.1f} {cost['wall_ms']:>9.1f}"
            lines.append(f"{name:<26} {cost['cpu_ratio']:>7.2f}x {'':>8} {figures}")
    grown = ", ".join(f"{name} {ratio}x" for name, ratio in result["growth"].items())
    return "\n".join([*lines, "", f"with twice the events: {grown}"])


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


def _tasks_table(result: dict[str, Any]) -> str:
    lines = [f"against {result['floor']}, {result['rounds']} rounds"]
    for size in result["sizes"]:
        lines += ["", f"{size['tasks']} tasks, {size['open']} of them open", ""]
        lines += _rows(size["commands"])
        for name, seconds in size["cold_index_seconds"].items():
            lines.append(f"{name:<26} {seconds:>7.2f} s without an index")
        for command, found in size["others"].items():
            is_measured = isinstance(found, dict) and "error" not in found
            lines += ["", *_rows(found)] if is_measured else [f"{command}: {_why(found)}"]
    return "\n".join(lines)


def _table(result: dict[str, Any]) -> str:
    heading = f"against {result['floor']}, {result['rounds']} rounds"
    return "\n".join([heading, "", *_rows(result["commands"])])


def _rows(commands: dict[str, Any]) -> list[str]:
    lines = [f"{'command':<26} {'CPU':>8} {'wall':>8} {'CPU ms':>9} {'wall ms':>9}"]
    for name, cost in commands.items():
        if "error" in cost:
            lines.append(f"{name:<26} {_why(cost)}")
            continue
        lines.append(
            f"{name:<26} {cost['cpu_ratio']:>7.2f}x {cost['wall_ratio']:>7.2f}x"
            f" {cost['cpu_ms']:>9.1f} {cost['wall_ms']:>9.1f}"
        )
    return lines


def _why(found: str | dict[str, str]) -> str:
    """Why something was not measured."""
    return found if isinstance(found, str) else found["error"]
