"""Write the figures of `bench/` into `docs/explanation/accuracy.md`: part of `make bench`.

Only what stands between two markers is written. What was not measured stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import accuracy_symbols
import bench_lineage

ROOT = Path(__file__).parents[1]
BENCH = ROOT / "bench"
PAGE = ROOT / "docs" / "explanation" / "accuracy.md"
Figures = dict[str, Any]


def main() -> None:
    """Write the page anew from what was measured."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def page(text: str) -> str:
    """The page with its figures."""
    for name, lines in _parts().items():
        begin, end = f"<!-- {name}: made by `make bench` -->\n", f"<!-- end of {name} -->"
        before, is_there, rest = text.partition(begin)
        _, is_ended, after = rest.partition(end)
        if not is_there or not is_ended:
            raise SystemExit(f"{PAGE.name} has no place for {name}")
        text = "\n".join([before + begin, *lines, "", end + after])
    return text


def _parts() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if (histories := _read("orphans")) is not None:
        found["histories"] = _histories(histories)
    sizes = [each["vacuum"] for name in ("vacuum", "vacuum-10x") if (each := _read(name))]
    if sizes:
        found["workload"] = [line for each in sizes for line in ("", *_workload(each))][1:]
        found["cost"] = _costs(sizes)
    if lines := accuracy_symbols.lines(_read):
        found["symbols"] = lines
    if (attributions := _read("attributions")) is not None:
        found["attributions"] = bench_lineage.found(attributions["attributions"])
    return found


def _read(name: str) -> Figures | None:
    path = BENCH / f"{name}.json"
    if not path.exists():
        return None
    found: Figures = json.loads(path.read_text(encoding="utf-8"))
    return found


def _table(heading: str, *rows: str) -> list[str]:
    columns = heading.count("|") - 1
    return [heading, "|---" * columns + "|", *rows]


# Real histories


def _histories(found: Figures) -> list[str]:
    rows = [_project(name, each) for name, each in found["projects"].items()]
    rows.append(_project("**all**", found))
    baselines = [_alerts(_plain(name), each["alert"]) for name, each in found["baselines"].items()]
    batches = found["batches"]
    return [
        *_table(
            "| project | right | wrong | missed | precision | recall | FDR"
            " | rows that are no orphan, reported |",
            *rows,
        ),
        "",
        _range("Drawn by task", found["intervals"]),
        _range("Drawn by batch (tasks last touched in the same hour)", batches["intervals"]),
        f"Never started and reported: {found['instance']['never_started_flagged']}.",
        "",
        *_table(
            "| rule | right | wrong | missed | precision | recall |",
            _alerts("Tether", found["alert"]),
            *baselines,
            _alerts("Tether, shown ticked parts", found["with_parts"]["alert"]),
            _alerts("Tether, without the largest batch", batches["without_largest"]["alert"]),
        ),
    ]


def _plain(name: str) -> str:
    """`silent_24h` in words."""
    said, _, length = name.partition("_")
    return f"{said} for more than {length[:-1]} {'days' if length.endswith('d') else 'h'}"


def _alerts(name: str, found: Figures) -> str:
    counts = " | ".join(str(found[each]) for each in ("tp", "fp", "fn"))
    return f"| {name} | {counts} | {found['precision']:.3f} | {found['recall']:.3f} |"


def _project(name: str, found: Figures) -> str:
    instance = found["instance"]
    rows = f"{instance['fp']} of {instance['fp'] + instance['tn']} ({instance['fpr']:.3f})"
    return f"{_alerts(name, found['alert'])} {found['alert']['fdr']:.3f} | {rows} |"


def _range(what: str, found: Figures) -> str:
    (low, high), (least, most) = found["precision"], found["recall"]
    return (
        f"{what}, {found['resamples']} times, nine in ten times precision is {low:.3f} to"
        f" {high:.3f} and recall {least:.3f} to {most:.3f}."
    )


# The workload


def _workload(found: Figures) -> list[str]:
    counts, with_it, without = found["counts"], found["liveness"], found["no_liveness"]
    rows = [
        f"| `{name}` | {_found(row)} | {_wrong(row)} | {_found(other)} | {_wrong(other)} |"
        for (name, row), other in zip(
            with_it["classes"].items(), without["classes"].values(), strict=True
        )
    ]
    rows.append(f"| parked tracks | {_parked(with_it)} | {_parked(without)} |")
    return [
        f"{', '.join(f'{counts[name]:,} {name}' for name in ('tasks', 'sessions', 'messages'))}:",
        "",
        *_table(
            "| finding | found | wrong | found without liveness | wrong without liveness |", *rows
        ),
        "",
        f"Called certain: {_certain(with_it)}; without liveness {_certain(without)}.",
        f"Said of the {_paused(with_it)}.",
    ]


def _found(row: Figures) -> str:
    return f"{row['found']} of {row['of']}"


def _wrong(row: Figures) -> str:
    return f"{row['wrong']} of {row['said']}"


def _parked(found: Figures) -> str:
    parked = found["parked"]
    there = parked["of"] - len(parked["missed"])
    return f"{there} of {parked['of']} | {len(parked['wrong'])} of {parked['said']}"


def _certain(found: Figures) -> str:
    return f"{found['certain']}, of them wrong {found['certain_wrong']}"


def _paused(found: Figures) -> str:
    second = found["paused_project"]
    is_parked = "that it is parked" if not second["parked"]["missed"] else "not that it is parked"
    return f"project that paused: {is_parked}, and something of {second['said']} of its tasks"


def _costs(sizes: list[Figures]) -> list[str]:
    steps: dict[str, Callable[[Figures], str]] = {
        "first read": lambda cost: _seconds(cost["first_read"]),
        "standard sweep, nothing new": lambda cost: _seconds(cost["standard"]),
        "deep sweep, nothing new": lambda cost: _seconds(cost["deep"]),
        "`tether vacuum --quick`": lambda cost: _ratio(cost["quick"]),
        "the same, with two dead owners": lambda cost: _ratio(cost["quick_finding"]),
    }
    heading = "".join(f" {each['counts']['tasks']:,} tasks |" for each in sizes)
    rows = [
        f"| {name} |" + "".join(f" {told(each['cost'])} |" for each in sizes)
        for name, told in steps.items()
    ]
    same = all(each["identical"] for each in sizes)
    return [
        *_table(f"| CPU |{heading}", *rows),
        "",
        "Sweeps with the same time say the same, byte by byte."
        if same
        else "Sweeps with the same time did NOT say the same.",
    ]


def _seconds(cost: Figures) -> str:
    return f"{cost['cpu_seconds']:.2f} s"


def _ratio(cost: Figures) -> str:
    return f"{cost['cpu_ratio']:.2f}x of the start-up floor ({cost['cpu_ms']:.0f} ms)"


if __name__ == "__main__":
    main()
