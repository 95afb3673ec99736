"""Print how often each rule that reads edges from text is right: for `accuracy.md` in the docs.

Measured on `tests/data/lineage-text-edges.jsonl`; the scores are those of the test that holds them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.unit.lineage import test_sentences as measured  # noqa: E402 (needs the path above)
from tether.lineage.derive import sentences  # noqa: E402 (as above)

SETS = ("train", "test", "all")


def main() -> None:
    print("\n".join(lines()))


def lines() -> Iterator[str]:
    """Both tables as Markdown."""
    counts = ", ".join(f"{len(measured.rows(each))} {each}" for each in SETS)
    yield f"Labelled texts: {counts}."
    yield ""
    yield from _table("rule", {each: measured.by_rule(measured.rows(each)) for each in SETS})
    yield ""
    yield from _table("type", {each: measured.by_type(measured.rows(each)) for each in SETS})
    yield ""
    window = measured.by_rule(measured.rows(), measured.within_a_window)["window"]
    yield (
        f"For comparison, a verb within sixty characters of an id, on all texts: {_score(window)}."
    )


def _table(noun: str, tallies: Mapping[str, Mapping[str, measured.Tally]]) -> Iterator[str]:
    names = list(sentences.RULES) if noun == "rule" else list(tallies["all"])
    trust = " confidence |" if noun == "rule" else ""
    yield f"| {noun} |{trust} " + " | ".join(f"{each}: precision, recall" for each in SETS) + " |"
    yield "|---" * (len(SETS) + (2 if trust else 1)) + "|"
    for name in names:
        shown = f" {sentences.RULES[name]} |" if trust else ""
        cells = (_score(tallies[each].get(name)) for each in SETS)
        yield f"| {name} |{shown} " + " | ".join(cells) + " |"


def _score(found: measured.Tally | None) -> str:
    if found is None:
        return "not seen"
    return (
        f"{found.precision:.3f} ({found.right} of {found.said}),"
        f" {found.recall:.3f} ({found.right} of {found.expected})"
    )


if __name__ == "__main__":
    main()
