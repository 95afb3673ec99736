"""The tables of `docs/explanation/accuracy.md` about symbols, from `bench/symbols-*.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Figures = dict[str, Any]
Read = Callable[[str], Figures | None]
HISTORIES = {
    "java-methods": "Java methods",
    "python-functions": "Python functions",
    "java-classes": "Java classes",
}
PAIRS = {
    "java-pairs": "Java",
    "python-pairs": "Python",
    "javascript-pairs": "JavaScript",
    "python-stated-renames": "Python, stated by the author",
}
GROUPS = {"rename_move": "renames and moves", "extract_inline": "extractions and inlinings"}


def lines(read: Read) -> list[str]:
    """All tables; nothing if nothing was measured."""
    histories = _measured(read, HISTORIES)
    pairs = _measured(read, PAIRS)
    if not histories or not pairs:
        return []
    return [
        "| commits | right | wrong | missed | precision | recall | F1 | interval of F1 | exact |",
        "|---" * 9 + "|",
        *(row for name, each in histories for row in _scores(name, each)),
        "",
        "| found | Tether | with places | `git log -L` |",
        "|---" * 4 + "|",
        *(row for name, each in histories for row in _found(name, each)),
        "",
        "| pairs | asked | found | recall | known mistakes | other partners | precision |",
        "|---" * 7 + "|",
        *(row for name, each in pairs for row in _pairs(name, each)),
        "",
        "| seconds | Tether, median and p90 | `git log -L` | ratio | peak |",
        "|---" * 5 + "|",
        *(_seconds(name, each) for name, each in histories),
    ]


def _measured(read: Read, names: dict[str, str]) -> list[tuple[str, Figures]]:
    found = ((title, read(f"symbols-{name}")) for name, title in names.items())
    return [(title, each) for title, each in found if each is not None]


def _scores(name: str, found: Figures) -> Iterator[str]:
    for kind in ("strict", "core"):
        yield _score(f"{name}, Tether, {kind}", found[kind])
    yield _score(f"{name}, `git log -L`", found["git"]["strict"])


def _score(name: str, found: Figures) -> str:
    counts = " | ".join(str(found[each]) for each in ("tp", "fp", "fn"))
    figures = " | ".join(f"{found[each]:.3f}" for each in ("precision", "recall", "f1"))
    low, high = found["intervals"]["f1"]
    exact = f"{found['exact']} of {found['questions']}"
    return f"| {name} | {counts} | {figures} | {low:.3f} to {high:.3f} | {exact} |"


def _found(name: str, found: Figures) -> Iterator[str]:
    git = found["git"]
    for key, title in (("origin", "origins"), ("moves", "renames and moves")):
        places = found[key].get("with_places")
        with_places = _of(places) if places else ""
        yield f"| {title}, {name} | {_of(found[key])} | {with_places} | {_of(git[key])} |"


def _of(found: Figures) -> str:
    return f"{found['found']} of {found['of']}"


def _pairs(name: str, found: Figures) -> Iterator[str]:
    for key, title in GROUPS.items():
        each = found["pairs"]["groups"].get(key)
        if each and each["tp"] + each["fn"]:
            asked = each["tp"] + each["fn"]
            mistakes = f"{each['known_mistakes']} | {each['other_partners']}"
            counts = f"{asked} | {each['tp']} | {each['recall']:.3f} | {mistakes}"
            yield f"| {title}, {name} | {counts} | {each['precision']:.3f} |"


def _seconds(name: str, found: Figures) -> str:
    each = found["seconds"]
    tether = f"{each['median']:.3f} and {each['p90']:.3f}"
    git = f"{each['git_median']:.3f} and {each['git_p90']:.3f}"
    ratio = f"{each['ratio_median']:.2f} and {each['ratio_p90']:.2f}"
    return f"| {name} | {tether} | {git} | {ratio} | {each['peak_mb']:.0f} MB |"
