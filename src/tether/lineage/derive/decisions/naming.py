"""Names for all decisions of a repository, and which decision a text means. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from tether.lineage.derive.decisions import model, places, prose, saying

# What people write before a number whatever the file is called.
_ANY = frozenset(("", "ADR", "DECISION", "RECORD"))
# `ADR-0053`, `0053-box.md`, `9. Help scripts`; not `4_decisions.md` and not `3 ways`.
_PARTS = re.compile(
    r"(?:([A-Za-z]{1,10}(?:-[A-Za-z]{1,6})?)[- _]{0,2}([0-9]{1,5})(?![0-9A-Za-z_])"
    r"|([0-9]{1,5})(?=$|-[a-z]|\.\s))"
)


def named(decisions: Iterable[model.Decision]) -> list[model.Decision]:
    """The decisions of a repository, each with a name that no other one has.

    The two files of one decision become one. Where directories number their decisions alike, the
    one nearest to the top keeps the short names and the others are called after their directories;
    so a decision is called otherwise only if a nearer directory begins to use its number.
    """
    whole = _united(decisions)
    by_series: dict[str, set[str]] = {}
    for each in whole:
        # Of logs that are called the same, nobody knows by a heading which one is meant.
        by_series.setdefault(each.series, set()).add(each.name.partition("#")[0])
    fronts = _fronts(by_series)
    return _unlike([_called(each, f"{fronts[each.series]}{each.name}") for each in whole])


def _called(decision: model.Decision, name: str) -> model.Decision:
    is_same = decision.id == decision.name
    return decision._replace(name=name, id=name if is_same and "#" in name else decision.id)


def _united(decisions: Iterable[model.Decision]) -> list[model.Decision]:
    """The text of a decision with the fields beside it, in the order of the paths."""
    found: dict[tuple[str, str], model.Decision] = {}
    for each in sorted(decisions, key=lambda one: (one.path, one.line)):
        # Only a decision with a directory of its own has two files.
        alone = "" if _has_folder(each) else f"{each.path}#{each.line}"
        key = (posixpath.dirname(each.path), alone)
        other = found.get(key)
        found[key] = each if other is None else _joined(other, each)
    return list(found.values())


def _has_folder(decision: model.Decision) -> bool:
    folder = posixpath.basename(posixpath.dirname(decision.path))
    return decision.number >= 0 and places.file_id(decision.path) == places.file_id(folder)


def _joined(one: model.Decision, other: model.Decision) -> model.Decision:
    fields, text = (one, other) if places.is_record(one.path) else (other, one)
    if not places.is_record(fields.path) or places.is_record(text.path):
        return one
    return fields._replace(
        title=fields.title or text.title,
        status=fields.status or text.status,
        date=fields.date or text.date,
        path=text.path,
        line=text.line,
        sentence=text.sentence,
        section=text.section,
        anchor=text.anchor,
        supersedes=fields.supersedes + text.supersedes,
        superseded_by=fields.superseded_by + text.superseded_by,
        amends=fields.amends + text.amends,
        amended_by=fields.amended_by + text.amended_by,
        mentions=fields.mentions + text.mentions,
        tasks=fields.tasks + text.tasks,
        governs=fields.governs + text.governs,
        passages=text.passages,
    )


def _fronts(by_series: dict[str, set[str]]) -> dict[str, str]:
    """What stands before the names of each series: nothing, or directories that tell it apart."""
    homes: dict[str, list[str]] = {}
    for series, names in by_series.items():
        for name in names:
            homes.setdefault(name, []).append(series)
    shared: set[str] = set()
    for rivals in homes.values():
        nearest = min(each.count("/") for each in rivals)
        firsts = [each for each in rivals if each.count("/") == nearest]
        keeper = firsts[0] if len(firsts) == 1 else None
        shared |= {each for each in rivals if each != keeper} if len(rivals) > 1 else set()
    ends: dict[str, list[str]] = {}
    for series in shared:
        folders = _folders(series)
        for size in range(1, len(folders) + 1):
            ends.setdefault("/".join(folders[-size:]), []).append(series)
    return {series: _front(series, ends) if series in shared else "" for series in by_series}


def _folders(series: str) -> list[str]:
    """The directories of a series: of a log, whose names hold its file already, those around it."""
    folder = posixpath.dirname(series) if places.is_log_series(series) else series
    return [each for each in folder.split("/") if each]


def _front(series: str, ends: dict[str, list[str]]) -> str:
    """The shortest end of the directories that no other one has."""
    folders = _folders(series)
    for size in range(1, len(folders) + 1):
        end = "/".join(folders[-size:])
        # `adr` and `decisions` say nothing, and `docs/adr` says little.
        if ends[end] == [series] and (size == len(folders) or not _is_plain(folders[-size])):
            return f"{end}/"
    return f"{'/'.join(folders)}/" if folders else ""


def _is_plain(folder: str) -> bool:
    return folder.lower() in ("adr", "adrs", "decisions", "docs", "doc", "architecture", "design")


def _unlike(decisions: list[model.Decision]) -> list[model.Decision]:
    """Those that are still called the same by their whole files, and then by their order."""
    counts: dict[str, int] = {}
    for each in decisions:
        counts[each.name] = counts.get(each.name, 0) + 1
    found: list[model.Decision] = []
    taken: set[str] = {name for name, count in counts.items() if count == 1}
    for each in decisions:
        name = each.name
        if counts[name] > 1:
            front = name.rpartition("/")[0]
            stem = posixpath.splitext(posixpath.basename(each.path))[0]
            name = name if "#" in name else "/".join(filter(None, (front, stem)))
            base, number = name, 1
            while name in taken:
                number += 1
                name = f"{base}~{number}"
        taken.add(name)
        found.append(_called(each, name))
    return found


class Register:
    """All decisions of a repository, found by whatever a text calls them."""

    def __init__(self, decisions: Iterable[model.Decision]) -> None:
        self._by_name: dict[str, model.Decision] = {}
        self._by_path: dict[str, list[model.Decision]] = {}
        self._by_number: dict[int, list[model.Decision]] = {}
        self._by_word: dict[str, list[model.Decision]] = {}
        for each in decisions:
            self._by_name[each.name] = each
            self._by_path.setdefault(each.path, []).append(each)
            if each.number >= 0:
                self._by_number.setdefault(each.number, []).append(each)
            stem = posixpath.splitext(posixpath.basename(each.path))[0]
            for word in {stem, each.id, *each.aliases}:
                self._by_word.setdefault(word.lower(), []).append(each)

    def called(self, words: str, near: str = "") -> model.Decision | None:
        """The decision that a person calls so: its name, its id, its number, its file.

        `near` is the series in which that is said: its own decisions come first.
        """
        bare = words.strip().strip("[]`\"'")
        found = self._by_name.get(bare)
        if found is not None and (not near or found.series == near or not _is_number(bare)):
            return found
        listed = self._by_path.get(bare, [])
        if len(listed) == 1:
            return listed[0]
        stem = posixpath.basename(bare).removesuffix(".md").lower()
        known = self._by_word.get(bare.lower()) or self._by_word.get(stem) or []
        return _one(known, near) or _one(self._numbered(stem), near) or found

    def find(self, name: model.Named, citing: model.Decision) -> model.Decision | None:
        """The decision that a text of another one means; None if it is not known or is itself."""
        found = self._linked(name)
        if found is None and len(self._by_path.get(name.path, ())) < 2:
            found = self.called(name.words, citing.series)
        return found if found is None or found.name != citing.name else None

    def _linked(self, name: model.Named) -> model.Decision | None:
        there = self._by_path.get(name.path, []) if name.path else []
        if name.path and not there:
            stem = posixpath.splitext(posixpath.basename(name.path))[0]
            there = (
                self._by_word.get(stem.lower(), []) if places.is_decision_file(name.path) else []
            )
        if len(there) > 1:
            # Tools do not agree on how a heading is written in a link; its letters they keep.
            wanted = {_letters(name.anchor), _letters(name.words)} - {""}
            by_anchor = [each for each in there if _letters(each.anchor) in wanted]
            by_title = by_anchor or [each for each in there if _letters(each.title) in wanted]
            there = by_title or [each for each in self._numbered(name.words) if each in there]
        return there[0] if len(there) == 1 else None

    def _numbered(self, words: str) -> list[model.Decision]:
        cited = saying.ID.findall(words)
        found = _PARTS.match(words) or (_PARTS.match(cited[0]) if len(cited) == 1 else None)
        if found is None:
            return []
        prefix = (found[1] or "").upper().removesuffix("S")
        known = self._by_number.get(int(found[2] or found[3]), [])
        return [each for each in known if prefix in _ANY or prefix == each.prefix.upper()]


def _letters(words: str) -> str:
    return "".join(char for char in words.lower() if char.isalnum())


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit()


def _one(decisions: list[model.Decision], near: str) -> model.Decision | None:
    """The only one, of its own series first; then the one that has the short name."""
    own = [each for each in decisions if near and each.series == near]
    if own or len(decisions) <= 1:
        chosen = own or decisions
        return chosen[0] if len(chosen) == 1 else None
    short = [each for each in decisions if "/" not in each.name]
    return short[0] if len(short) == 1 else None


def anchor_of(heading: str) -> str:
    """How links to a heading are written, as hosts of repositories do it."""
    words = prose.linked(heading).lower().replace("`", "")
    return "".join(
        "-" if char == " " else char for char in words if char.isalnum() or char in " -_"
    )
