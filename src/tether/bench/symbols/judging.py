"""What a commit is said to have done, held against the rows of an oracle of pairs. Pure.

Found is a row of which one match says the same. Wrong are known mistakes that are said all the
same, and partners of a symbol of which no row knows. What no row mentions at all is only counted:
nobody says that the rows are complete.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from tether.bench.counting import Count
from tether.bench.symbols import agreement, oracle, said
from tether.hints import Literal, NamedTuple

Group = Literal["rename_move", "extract_inline"]
GROUPS: tuple[Group, ...] = ("rename_move", "extract_inline")
_SAME = frozenset({"same"})
_SPLIT = frozenset({"split_from"})
_JOINED = frozenset({"inlined_into", "merged_into"})
_ACROSS = _SAME | _SPLIT | _JOINED
_CHANGED_PLACE = frozenset({"rename", "move", "container"})
# Which relations say what a row of the type says.
RELATIONS: dict[str, tuple[Group, frozenset[str]]] = {
    **dict.fromkeys(
        (
            *("Rename Method", "Move Method", "Move And Rename Method"),
            *("Rename Class", "Move Class", "Move And Rename Class"),
            *("Rename def", "Move def", "Rename class", "Move class"),
        ),
        ("rename_move", _SAME),
    ),
    **dict.fromkeys(("Extract Method", "Extract And Move Method"), ("extract_inline", _SPLIT)),
    **dict.fromkeys(("Inline Method", "Move And Inline Method"), ("extract_inline", _JOINED)),
    **dict.fromkeys(("Pull Up Method", "Push Down Method"), ("extract_inline", _ACROSS)),
}
_WORD = re.compile(r"[^\W\d][\w$]*")


class Wrong(NamedTuple):
    """Something that was said and is not so."""

    group: Group
    why: Literal["known_mistake", "other_partner"]
    match: said.Match
    pair: oracle.Pair
    """The row that says so, or one of a symbol whose partner is another."""


class Verdict(NamedTuple):
    """What came of one commit."""

    found: tuple[oracle.Pair, ...] = ()
    missed: tuple[oracle.Pair, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    not_asked: int = 0
    unlisted: int = 0
    """Matches of functions that no row mentions."""

    def counted(self, group: Group | None = None) -> Count:
        return Count(
            sum(group in (None, group_of(each)) for each in self.found),
            sum(group in (None, each.group) for each in self.wrong),
            sum(group in (None, group_of(each)) for each in self.missed),
        )


def is_asked(pair: oracle.Pair) -> bool:
    """Whether a row decides which symbol is which, and names both."""
    return bool(pair.is_identity and pair.type in RELATIONS and pair.before and pair.after)


def group_of(pair: oracle.Pair) -> Group:
    return RELATIONS[pair.type][0]


def judge(rows: Sequence[oracle.Pair], matches: Sequence[said.Match]) -> Verdict:
    """What is right, missing and wrong of what is said about one commit."""
    case = _Case(rows, matches)
    right = [row for row in case.asked if row.is_right]
    confirmed = {number for row in right for number in case.saying(row)}
    return Verdict(
        found=tuple(row for row in right if case.saying(row)),
        missed=tuple(row for row in right if not case.saying(row)),
        wrong=(*case.known_mistakes(confirmed), *case.other_partners(right, confirmed)),
        not_asked=sum(row.is_identity for row in rows) - len(case.asked),
        unlisted=case.unlisted(confirmed),
    )


class _Case:
    """The rows and matches of one commit."""

    def __init__(self, rows: Sequence[oracle.Pair], matches: Sequence[said.Match]) -> None:
        self.rows = rows
        self.asked = [row for row in rows if is_asked(row)]
        self.matches = matches
        self.files = paired_files(matches)
        self._words = [set(_WORD.findall(row.description)) for row in rows]
        self._befores = {each.before for each in matches if each.before}
        self._afters = {each.after for each in matches if each.after}
        self._new_classes = {
            (each.before.path, each.before.qualified): each.after
            for each in matches
            if each.relation == "same" and each.before and each.after
        }
        self._renamed = {
            (_full_name(row, row.before), _full_name(row, row.after))
            for row in self.asked
            if row.is_right and group_of(row) == "rename_move"
        }
        self._sides: dict[tuple[oracle.Side, bool], set[said.Spot]] = {}

    def saying(self, row: oracle.Pair) -> list[int]:
        """The numbers of the matches that say what a row says."""
        if row.before and row.after and agreement.is_module(row.before):
            return self._moving_file(row.before, row.after)
        _, relations = RELATIONS[row.type]
        befores, afters = self.befores(row), self.afters(row)
        return [
            number
            for number, each in enumerate(self.matches)
            if each.relation in relations and each.before in befores and each.after in afters
        ]

    def befores(self, row: oracle.Pair) -> set[said.Spot]:
        """The symbols that a row means by what was before."""
        return self._spots(row, row.before, self._befores, is_before=True)

    def afters(self, row: oracle.Pair) -> set[said.Spot]:
        """The symbols that a row means by what is after."""
        return self._spots(row, row.after, self._afters, is_before=False)

    def known_mistakes(self, confirmed: set[int]) -> list[Wrong]:
        """Rows that are known to be mistakes, and are said."""
        found = []
        for row in self.asked:
            if row.is_right or self._is_carried(row):
                continue
            said_so = [n for n in self.saying(row) if n not in confirmed]
            if said_so:
                match = self.matches[said_so[0]]
                found.append(Wrong(group_of(row), "known_mistake", match, row))
        return found

    def _is_carried(self, row: oracle.Pair) -> bool:
        """Whether a right row says that what it stands in became what it stands in afterwards.

        Then the mistake is to call it a move of its own. It is the same symbol all the same.
        """
        if group_of(row) != "rename_move":
            return False
        was, now = (_full_name(row, side).split(".") for side in (row.before, row.after))
        return any(
            was[-length:] == now[-length:]
            and (".".join(was[:-length]), ".".join(now[:-length])) in self._renamed
            for length in range(1, min(len(was), len(now)))
        )

    def other_partners(self, right: Sequence[oracle.Pair], confirmed: set[int]) -> list[Wrong]:
        """Matches of a symbol that a row pairs with another, with one that no row mentions."""
        found = []
        for number, match in enumerate(self.matches):
            group = _group_said(match)
            if number in confirmed or not group:
                continue
            rows = (row for row in right if group_of(row) == group and self._parts(row, match))
            if row := next(rows, None):
                found.append(Wrong(group, "other_partner", match, row))
        return found

    def unlisted(self, confirmed: set[int]) -> int:
        """How many matches no row mentions, of functions whose class or file stayed what it was."""
        return sum(
            bool(_group_said(match))
            and number not in confirmed
            and _is_of_functions(match)
            and not self._is_taken_along(match)
            and not self._is_before_mentioned(match)
            and not self._is_after_mentioned(match)
            for number, match in enumerate(self.matches)
        )

    def _parts(self, row: oracle.Pair, match: said.Match) -> bool:
        """Whether a match gives a symbol of a right row to one of which nobody speaks."""
        if match.before in self.befores(row):
            return not self._is_after_mentioned(match)
        return match.after in self.afters(row) and not self._is_before_mentioned(match)

    def _is_before_mentioned(self, match: said.Match) -> bool:
        return any(match.before in self.befores(row) for row in self.rows) or self._is_told(
            match.before
        )

    def _is_after_mentioned(self, match: said.Match) -> bool:
        return any(match.after in self.afters(row) for row in self.rows) or self._is_told(
            match.after
        )

    def _is_told(self, spot: said.Spot | None) -> bool:
        """Whether the text of a row has its name, together with its class or file."""
        if spot is None:
            return False
        stem = posixpath.basename(spot.path).partition(".")[0]
        around = {spot.container.rpartition(".")[2], stem}
        return any(spot.name in words and words & around for words in self._words)

    def _is_taken_along(self, match: said.Match) -> bool:
        """Whether its class or its file was renamed or moved, so that nobody lists it."""
        before, after = match.before, match.after
        if before is None or after is None:
            return False
        if before.path != after.path and self.files.get(before.path) == after.path:
            return True
        return any(
            each.before is not None
            and each.before.kind == "class"
            and each.before.path == before.path
            and f"{before.container}.".startswith(f"{each.before.qualified}.")
            and each.kinds & _CHANGED_PLACE
            for each in self.matches
        )

    def _where_it_went(self, spot: said.Spot) -> said.Spot:
        """The symbol in its class or file as that is called afterwards: some rows say only this."""
        new = self._new_classes.get((spot.path, spot.container))
        if new is None:
            return spot._replace(path=self.files.get(spot.path, spot.path))
        return spot._replace(path=new.path, qualified=f"{new.qualified}.{spot.name}")

    def _moving_file(self, before: oracle.Side, after: oracle.Side) -> list[int]:
        return [
            number
            for number, each in enumerate(self.matches)
            if each.relation == "same"
            and each.before
            and each.after
            and self.files.get(each.before.path) == each.after.path
            and agreement.is_file(before, each.before.path)
            and agreement.is_file(after, each.after.path)
        ]

    def _spots(
        self,
        row: oracle.Pair,
        side: oracle.Side | None,
        spots: set[said.Spot],
        *,
        is_before: bool,
    ) -> set[said.Spot]:
        if side is None:
            return set()
        key = (side, is_before)
        if key not in self._sides:
            is_class = row.type.lower().endswith("class")
            found = agreement.spots_of(side, spots, row.language, is_class=is_class)
            if is_before and not found and not side.path:
                renamed = {self._where_it_went(each): each for each in spots}
                told = agreement.spots_of(side, renamed, row.language, is_class=is_class)
                found = {renamed[each] for each in told}
            self._sides[key] = found
        return self._sides[key]


def paired_files(matches: Iterable[said.Match]) -> dict[str, str]:
    """Where most of the symbols of each file are afterwards."""
    went: dict[str, Counter[str]] = {}
    for each in matches:
        if each.relation == "same" and each.before and each.after:
            went.setdefault(each.before.path, Counter())[each.after.path] += 1
    most = {path: counts.most_common(1)[0] for path, counts in went.items()}
    return {path: to for path, (to, count) in most.items() if count * 2 > went[path].total()}


def _full_name(row: oracle.Pair, side: oracle.Side | None) -> str:
    """A name with what it stands in."""
    if side is None:
        return ""
    is_full = row.type.lower().endswith("class") or not side.container
    return side.name if is_full else f"{side.container}.{side.name}"


def _group_said(match: said.Match) -> Group | None:
    """What kind of row could say the same; None if the match is of a symbol that stayed."""
    if match.before is None or match.after is None:
        return None
    if match.relation != "same":
        return "extract_inline"
    return "rename_move" if match.kinds & _CHANGED_PLACE else None


def _is_of_functions(match: said.Match) -> bool:
    kinds = {each.kind for each in (match.before, match.after) if each}
    return kinds <= {"function", "method"}
