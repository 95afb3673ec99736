"""What the commits of a chapter did to the code, as verbs. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tether.hints import NamedTuple
from tether.lineage.biography import phases, wording
from tether.lineage.biography.model import Step

_OF_PLACE = frozenset(("rename", "move", "container"))
_PARTS = {"signature": "its signature", "heading": "its heading"}
_CHANGES = frozenset(("body", *_PARTS, *phases.SLIGHT))
_ORIGINS = ("split from", "moved from", "copied from", "took in")
_BETWEEN = re.compile(f"[;,] (?={'|'.join(_ORIGINS)} )")


class Birth(NamedTuple):
    """How it came to be."""

    verb: str
    rest: str = ""

    @property
    def passive(self) -> str:
        """`split from a.py#run`, as what was done to it."""
        return f"{self.verb} {self.rest}".strip()

    @property
    def active(self) -> str:
        """`split it from a.py#run`, as what somebody did."""
        return f"{self.verb} it {self.rest}".strip()


def birth(step: Step) -> Birth:
    if step.undoes:
        return Birth("brought", "back")
    found = origins(step)
    for verb in (verb for verb in found if verb.endswith(" from")):
        names = wording.listed([wording.name(each) for each in found[verb]])
        return Birth(verb.removesuffix(" from"), f"from {names}")
    return Birth("created")


def origins(step: Step) -> dict[str, list[str]]:
    """Names by verbs: `split from a.py#run, took in b.py#go` has two of each."""
    found: dict[str, list[str]] = {}
    for each in filter(None, map(str.strip, _BETWEEN.split(step.origin))):
        verb = next((verb for verb in _ORIGINS if each.startswith(f"{verb} ")), "")
        found.setdefault(verb, []).append(each.removeprefix(verb).strip())
    return found


def taken_in(steps: Sequence[Step]) -> list[str]:
    """Sentences for what went into it, or what else is said of where it came from."""
    said = []
    for step in steps:
        where = wording.commit(step.commit.oid)
        for verb, each in origins(step).items():
            names = wording.listed([wording.name(name) for name in each])
            if verb == "took in":
                said.append(f"It took in {names} in {where}.")
            elif not verb:
                said.append(f"Of where it is from is said in {where}: {names}.")
            elif "introduced" not in step.kinds:
                said.append(f"It was {verb} {names} in {where}.")
    return said


def moves(steps: Sequence[Step]) -> list[str]:
    """`moved it from a.py to b.py in commit abc1234`; of several that follow from there to here.

    Of a commit of very many files their number is told.
    """
    said = []
    for way in _ways(filter(is_moved, steps)):
        kinds = dict.fromkeys(kind for each in way for kind in each.kinds)
        whole = way[-1]._replace(kinds=tuple(kinds), before=way[0].before)
        where = _commit(way[0]) if len(way) == 1 else _commits(len(way))
        said.append(f"{moved(whole)} in {where}")
    return said


def _commit(step: Step) -> str:
    among = f" of {step.commit.files:,} files" if phases.is_bulk(step) else ""
    return f"{wording.commit(step.commit.oid)}{among}"


def _ways(moving: Iterable[Step]) -> list[list[Step]]:
    """Moves of which each begins where the one before ended, unless they lead back."""
    ways: list[list[Step]] = []
    for step in moving:
        last = ways[-1] if ways else []
        if last and last[-1].after == step.before != "" and last[0].before != step.after:
            last.append(step)
        else:
            ways.append([step])
    return ways


def is_moved(step: Step) -> bool:
    return bool(_OF_PLACE & set(step.kinds))


def moved(step: Step) -> str:
    """`renamed it from run to go`."""
    (old_path, old), (new_path, new) = _parts(step.before), _parts(step.after)
    is_renamed = "rename" in step.kinds
    verb = "renamed it" if is_renamed else "moved it"
    if is_renamed and "move" in step.kinds and old != new:
        verb = "moved and renamed it"
    if old_path == new_path or not (old_path and new_path):
        shown = [old or old_path, new or new_path]
        if "move" in step.kinds:
            shown = [step.before, step.after]
    elif old == new:
        shown = [old_path, new_path]
    else:
        shown = [step.before, step.after]
    words = [
        f"{way} {wording.name(each)}"
        for way, each in zip(("from", "to"), shown, strict=True)
        if each
    ]
    return " ".join((verb, *words))


def _parts(place: str) -> tuple[str, str]:
    path, _, symbol = place.partition("#")
    return path, symbol


def change(steps: Sequence[Step], *, is_again: bool = False) -> str:
    """`changed it in 3 commits`, `changed its signature`; empty if only its place did."""
    changing = [each for each in steps if _CHANGES & set(each.kinds)]
    kinds = {kind for each in changing for kind in each.kinds}
    if not changing:
        return ""
    verb = f"changed {_changed(kinds)}{' again' if is_again else ''}"
    return verb if len(changing) == 1 else f"{verb} in {len(changing):,} commits"


def _changed(kinds: set[str]) -> str:
    parts = [words for kind, words in _PARTS.items() if kind in kinds]
    whole = ["it"] if "body" in kinds else []
    return wording.listed([*whole, *parts]) or f"only its {slight(kinds)}"


def slight(kinds: set[str]) -> str:
    """`layout and comments`."""
    return wording.listed([word for kind, word in phases.SLIGHT.items() if kind in kinds])


def summed(steps: Sequence[Step]) -> str:
    """`4 commits only changed its layout`."""
    bulky = [each for each in steps if not phases.SLIGHT.keys() >= set(each.kinds)]
    light = [each for each in steps if phases.SLIGHT.keys() >= set(each.kinds)]
    kinds = {kind for each in light for kind in each.kinds}
    said = [f"{_commits(len(light))} only changed its {slight(kinds)}"] if light else []
    if bulky:
        said.append(f"{_commits(len(bulky))} of {phases.MANY_FILES} files or more changed it")
    return ", and ".join(said)


def _commits(number: int) -> str:
    return f"{number:,} commit{'' if number == 1 else 's'}"


def size(steps: Sequence[Step]) -> str:
    return wording.lines(sum(each.added for each in steps), sum(each.removed for each in steps))
