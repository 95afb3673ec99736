"""What else a commit did that concerns a symbol: what was split from it, and what went into it."""

from __future__ import annotations

from collections import defaultdict

from tether.lineage import commits, history, languages, library, matching, parting

# Comparing everything is worth it for commits that people made, not for those of machines.
_MOST_FILES = 300


class Links:
    """The splits and unions of one commit, by the symbols that they concern."""

    def __init__(self, matcher: matching.Matcher) -> None:
        self._before: dict[history.Place, list[history.Match]] = defaultdict(list)
        self._after: dict[history.Place, list[history.Match]] = defaultdict(list)
        for match in parting.links(matcher) if _is_anything_left(matcher) else ():
            if match.before and match.after:
                self._before[match.before].append(match)
                self._after[match.after].append(match)

    def of(
        self, before: history.Place | None, after: history.Place | None
    ) -> tuple[history.Match, ...]:
        """What concerns a symbol that was this before, and is that after."""
        found = [*self._before.get(before, ())] if before else []
        found += self._after.get(after, ()) if after else ()
        return tuple(dict.fromkeys(found))


def related(
    files: library.Library, told: history.History, *, everywhere: bool = False
) -> history.History:
    """A history with what was split off and taken in: at its introduction, or at every change."""
    changes = []
    for change in told.changes:
        is_asked = everywhere or "introduced" in change.kinds
        found = _links(files, change) if is_asked else None
        links = found.of(change.before, change.after) if found else ()
        changes.append(change._replace(related=links) if links else change)
    return told._replace(changes=tuple(changes))


def _links(files: library.Library, change: history.Change) -> Links | None:
    place = change.after or change.before
    parents = files.parents(change.commit)
    if place is None or len(parents) != 1:
        return None
    family = languages.family(place.path)
    comparison = commits.Comparison(files, parents[0], change.commit, family)
    if comparison.size > _MOST_FILES:
        return None
    return Links(comparison.matched().matcher)


def _is_anything_left(matcher: matching.Matcher) -> bool:
    return bool(matcher.left_after() or matcher.left_before())
