"""Which file of a commit was another one before: by content, by name and content, by content alone.

Decided group by group, so that the answer for one file needs only the files of its own name in most
cases, and is the same whether one file is asked for or all of them.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from tether.git import Change, Oid
from tether.lineage import languages

Content = Callable[[str, Oid], bytes | None]
# Half of it is still there, as Git asks for by default.
_ALIKE = 0.5
# Enough to be sure of a file that kept its name, and enough if nothing else is more alike.
_SURELY_ALIKE = 0.6
_ALIKE_WITH_SAME_NAME = 0.3
# Where more files than these are left, only those that kept their names are compared.
_MAX_LEFT = 600
_RARE_LINE = 8
# Of more pairs with the same content, as of empty files, none is better than another.
_MAX_COPIES = 10_000


def by_name(changes: Sequence[Change], content: Content, path: str) -> str | None:
    """What an added file was, if it surely had the same name or content, by changes of those only.

    The same as `Renames.before` says with all changes, or nothing.
    """
    found = Renames(changes, content)
    found.settle_name(os.path.basename(path))
    return found.known(path)


class Renames:
    """The deleted and added files of one commit, and which of them belong together."""

    def __init__(self, changes: Sequence[Change], content: Content) -> None:
        self._content = content
        deleted = {c.path: c.old_oid for c in changes if c.status == "D"}
        added = {c.path: c.new_oid for c in changes if c.status == "A"}
        self._pairs = _identical(deleted, added)
        self._befores = {new: old for old, new in self._pairs.items()}
        for old, new in self._pairs.items():
            del deleted[old], added[new]
        self._is_bulk = len(deleted) + len(added) > _MAX_LEFT
        self._deleted, self._added = deleted, added
        self._by_name = (_by_file_name(deleted), _by_file_name(added))
        self._names = self._by_name[0].keys() & self._by_name[1].keys()
        self._is_done: set[str] = set()
        self._is_all_done = False
        self._lines: dict[str, Counter[bytes]] = {}
        self._sizes: dict[str, int] = {}

    def before(self, path: str) -> str | None:
        """The path that an added file had before."""
        self.settle_name(os.path.basename(path))
        if path not in self._befores and path in self._added:
            self._settle_rest()
        return self.known(path)

    def known(self, path: str) -> str | None:
        """The same as far as it is settled."""
        return self._befores.get(path)

    def asking(self) -> list[tuple[str, Oid]]:
        """The files whose content will be asked for if one of them is not settled by its name."""
        if self._is_bulk or not self._deleted or not self._added:
            return []
        return [*self._deleted.items(), *self._added.items()]

    def pairs(self) -> dict[str, str]:
        """Every deleted file and what it became."""
        self._settle_rest()
        return dict(self._pairs)

    def settle_name(self, name: str) -> None:
        """Pair those that kept their name, only among each other."""
        if name in self._names and name not in self._is_done:
            self._is_done.add(name)
            needed = _ALIKE_WITH_SAME_NAME if self._is_bulk else _SURELY_ALIKE
            self._pair(*self._left(*(side[name] for side in self._by_name)), needed)

    def _settle_rest(self) -> None:
        if self._is_all_done:
            return
        self._is_all_done = True
        for name in sorted(self._names):
            self.settle_name(name)
        # `readme.md` may be `README.md` now.
        self._settle_folded(_ALIKE_WITH_SAME_NAME if self._is_bulk else _SURELY_ALIKE)
        if not self._is_bulk:
            self._pair(*self._left(self._deleted, self._added), _ALIKE)
            self._settle_folded(_ALIKE_WITH_SAME_NAME)

    def _settle_folded(self, needed: float) -> None:
        """Pair those that kept their name but for its case."""
        sides = [_by_file_name(side, str.lower) for side in self._left(self._deleted, self._added)]
        for name in sorted(sides[0].keys() & sides[1].keys()):
            self._pair(sides[0][name], sides[1][name], needed)

    def _left(
        self, deleted: dict[str, Oid], added: dict[str, Oid]
    ) -> tuple[dict[str, Oid], dict[str, Oid]]:
        """What has no partner yet, on both sides."""
        return (
            {path: oid for path, oid in deleted.items() if path not in self._pairs},
            {path: oid for path, oid in added.items() if path not in self._befores},
        )

    def _pair(self, deleted: dict[str, Oid], added: dict[str, Oid], needed: float) -> None:
        """The most alike first, and of those equally alike the ones with the nearest paths."""
        scored = []
        for old, new in self._candidates(deleted, added):
            if languages.family(old) != languages.family(new):
                continue
            score = self._alike(old, new)
            if score >= needed:
                scored.append((-round(score, 6), -_common_parts(old, new), old, new))
        for _, _, old, new in sorted(scored):
            if old not in self._pairs and new not in self._befores:
                self._pairs[old], self._befores[new] = new, old

    def _alike(self, old: str, new: str) -> float:
        """How much of two files is the same, by the bytes of their lines."""
        one, other = self._lines[old], self._lines[new]
        both = sum(len(line) * min(n, other[line]) for line, n in one.items() if line in other)
        total = self._sizes[old] + self._sizes[new]
        return 2 * both / total if total else 0.0

    def _candidates(self, deleted: dict[str, Oid], added: dict[str, Oid]) -> set[tuple[str, str]]:
        """Pairs that share a line that few others have."""
        if not deleted or not added:
            return set()
        sides = [self._by_line(deleted), self._by_line(added)]
        found: set[tuple[str, str]] = set()
        for line in sides[0].keys() & sides[1].keys():
            olds, news = sides[0][line], sides[1][line]
            if len(olds) <= _RARE_LINE and len(news) <= _RARE_LINE:
                found |= {(old, new) for old in olds for new in news}
        return found

    def _by_line(self, files: dict[str, Oid]) -> dict[bytes, list[str]]:
        """Which files have a line."""
        found: dict[bytes, list[str]] = defaultdict(list)
        for path, oid in files.items():
            if path not in self._lines:
                lines = self._lines[path] = _lines(self._content(path, oid) or b"")
                self._sizes[path] = sum(len(line) * n for line, n in lines.items())
            for line in self._lines[path]:
                found[line].append(path)
        return found


def _identical(deleted: dict[str, Oid], added: dict[str, Oid]) -> dict[str, str]:
    """Files with the very same content; if there are several, those with the nearest paths."""
    by_oid: dict[Oid, list[str]] = defaultdict(list)
    for path, oid in sorted(deleted.items()):
        by_oid[oid].append(path)
    pairs: dict[str, str] = {}
    scored = []
    copies = Counter(added.values())
    for new, oid in added.items():
        olds = by_oid.get(oid, ())
        if len(olds) == copies[oid] == 1:
            pairs[olds[0]] = new
        elif len(olds) * copies[oid] <= _MAX_COPIES:
            scored += [(-_common_parts(old, new), old, new) for old in olds]
    scored.sort()
    taken: set[str] = set()
    for _, old, new in scored:
        if old not in pairs and new not in taken:
            pairs[old] = new
            taken.add(new)
    return pairs


def _by_file_name(
    paths: dict[str, Oid], key: Callable[[str], str] = str
) -> dict[str, dict[str, Oid]]:
    found: dict[str, dict[str, Oid]] = defaultdict(dict)
    for path, oid in paths.items():
        found[key(os.path.basename(path))][path] = oid
    return dict(found)


def _lines(data: bytes) -> Counter[bytes]:
    counted = Counter(map(bytes.strip, data.split(b"\n")))
    return Counter({line: n for line, n in counted.items() if len(line) > 3})


def _common_parts(old: str, new: str) -> int:
    """How many directories and names two paths share, from their ends and their beginnings."""
    olds, news = old.split("/"), new.split("/")
    ends = 0
    for one, other in zip(reversed(olds), reversed(news), strict=False):
        if one != other:
            break
        ends += 1
    beginnings = 0
    for one, other in zip(olds, news, strict=False):
        if one != other:
            break
        beginnings += 1
    return 2 * ends + beginnings
