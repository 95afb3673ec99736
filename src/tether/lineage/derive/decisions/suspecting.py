"""Decisions that seem to be replaced by a later one, though neither says so. Suggestions, no edges.

Only what several signs agree on, or one that names the earlier decision beside a word of change,
is suggested: a wrong suggestion costs a person more than a missing one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from tether.hints import NamedTuple
from tether.lineage.derive.decisions import model, naming, saying

LEAST = 0.6
_NAMED = 0.65
_TITLE_NAMED = 0.6
_TITLES = 0.45
_PLACES = 0.5
_SAME_SUBJECT = 0.25
_MAX_SUSPECTED = 200
# A word or place that so many decisions have tells none of them from the others.
_COMMON = 12
_LEAST_LIKE = 0.5
_NEAR_CHARS = 60
_CLOSE_CHARS = 25
_WORD = re.compile(r"[a-z0-9]{2,40}")
_STOP = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "how", "in", "into", "is",
        "it", "its", "not", "of", "on", "or", "over", "per", "the", "their", "this", "that", "to",
        "use", "uses", "using", "we", "what", "when", "which", "with", "without", "via", "adr",
        "decision", "record", "architecture", "new", "add", "adopt", "introduce", "support", "make",
        "keep",
    )
)  # fmt: skip
# The earlier one is what is left behind: behind these words, or before those.
_BEFORE_OLD = re.compile(
    r"\b(?:replac(?:es?|ing)|super[sc]ed(?:es?|ing)|obsoletes?|overrid(?:es?|ing)|revers(?:es|ing)"
    r"|abandons?|retires?)\b",
    re.IGNORECASE,
)
# These speak of many things, so the decision has to stand right behind them.
_CLOSE_TO_OLD = re.compile(r"\b(?:instead of|rather than|moves? away from|drops?)\b", re.IGNORECASE)
_BEHIND_OLD = re.compile(
    r"\b(?:no longer|(?:is|was|are|were|been|be) (?:now )?(?:replaced|super[sc]eded|obsoleted?"
    r"|overridden|reversed|abandoned|dropped|removed|retired))\b",
    re.IGNORECASE,
)
_TURN_OF_TITLE = re.compile(
    r"\b(?:replac(?:e|es|ing)|super[sc]ed(?:e|es|ing)|retir(?:e|es|ing)|remov(?:e|es|ing)|abandon"
    r"|revers(?:e|es|ing)|no longer|drop(?:ping)?|mov(?:e|es|ing) away from|migrat(?:e|es|ing) from"
    r"|switch(?:ing)? (?:from|to))\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:()]")
_IN_LIST = re.compile(rf"(?:{saying.ID.pattern})(?:, and|,| and)[ ]$")
_MAX_LISTED = 50
_DENIED = re.compile(r"\b(?:not|never|without|doesn't|don't|isn't|cannot|nor)\b", re.IGNORECASE)


class Suspected(NamedTuple):
    """A later decision, and an earlier one that it seems to replace."""

    later: str
    earlier: str
    score: float
    reasons: tuple[str, ...]


def suspected(decisions: Sequence[model.Decision]) -> list[Suspected]:
    """Pairs of decisions in force of which the later seems to replace the earlier, best first."""
    register = naming.Register(decisions)
    valid = [each for each in decisions if each.is_in_force]
    known = {each.name: each for each in valid}
    related = _related(decisions, register)
    signs: dict[tuple[str, str], dict[str, tuple[float, str]]] = {}
    for later, earlier, kind, score, reason in (
        *_by_passages(valid, register, known),
        *_by_titles(valid),
        *_by_places(valid),
    ):
        pair = (later.name, earlier.name)
        if frozenset(pair) in related or not _is_later(later, earlier):
            continue
        best = signs.setdefault(pair, {})
        if kind not in best or best[kind][0] < score:
            best[kind] = (score, reason)
    found = [_weighed(pair, each) for pair, each in signs.items()]
    found = [each for each in found if each.score >= LEAST]
    return sorted(found, key=lambda each: (-each.score, each.later, each.earlier))[:_MAX_SUSPECTED]


def _weighed(pair: tuple[str, str], signs: dict[str, tuple[float, str]]) -> Suspected:
    score = sum(score for score, _ in signs.values())
    reasons = tuple(reason for _, reason in sorted(signs.values(), reverse=True))
    return Suspected(pair[0], pair[1], round(min(score, 1.0), 2), reasons)


def _related(decisions: Iterable[model.Decision], register: naming.Register) -> set[frozenset[str]]:
    """Pairs that say how they stand to each other."""
    return {
        frozenset((each.name, other.name))
        for each in decisions
        for name in (*each.supersedes, *each.superseded_by, *each.amends, *each.amended_by)
        if (other := register.find(name, each)) is not None
    }


def _is_later(one: model.Decision, other: model.Decision) -> bool:
    if one.date and other.date and one.date != other.date:
        return one.date > other.date
    same_series = one.series == other.series and one.prefix == other.prefix
    if same_series and one.number >= 0 and other.number >= 0:
        return one.number > other.number
    return same_series and one.path == other.path and one.line > other.line


_Sign = tuple[model.Decision, model.Decision, str, float, str]


# What it says


def _by_passages(
    decisions: Sequence[model.Decision],
    register: naming.Register,
    known: dict[str, model.Decision],
) -> list[_Sign]:
    titles = _by_rare_word(decisions)
    found: list[_Sign] = []
    for later in decisions:
        for passage in later.passages:
            found += _named(later, passage, register, known)
            found += _titled(later, passage, titles)
    return found


def _named(
    later: model.Decision,
    passage: model.Passage,
    register: naming.Register,
    known: dict[str, model.Decision],
) -> list[_Sign]:
    """An id beside a word of change, on the side where the old thing stands."""
    found: list[_Sign] = []
    for match in saying.ID.finditer(passage.text):
        other = register.find(model.Named(match[0]), later)
        if other is None or other.name not in known:
            continue
        if _is_left_behind(passage.text, match.start(), match.end()):
            reason = f"line {passage.line} names {match[0]}: {passage.text[:160]}"
            found.append((later, other, "named", _NAMED, reason))
    return found


def _titled(
    later: model.Decision, passage: model.Passage, titles: dict[str, list[model.Decision]]
) -> list[_Sign]:
    """The whole title of an earlier one, in its own words and order."""
    words = _WORD.findall(passage.text.lower())
    candidates = {each.name: each for word in set(words) for each in titles.get(word, ())}
    found: list[_Sign] = []
    for other in candidates.values():
        title = _WORD.findall(other.title.lower())
        if other.name == later.name or len([w for w in title if w not in _STOP]) < 3:
            continue
        at = passage.text.lower().find(other.title.lower())
        if at >= 0 and _is_left_behind(passage.text, at, at + len(other.title)):
            reason = f"line {passage.line} names it by its title: {passage.text[:160]}"
            found.append((later, other, "named", _TITLE_NAMED, reason))
    return found


def _is_left_behind(sentence: str, start: int, end: int) -> bool:
    """Whether what stands there is said to be over, and that is not denied."""
    start = _begin_of_list(sentence, start)
    before = sentence[max(0, start - _NEAR_CHARS) : start]
    behind = sentence[end : end + _NEAR_CHARS]
    first = list(_BEFORE_OLD.finditer(before))
    first = first or list(_CLOSE_TO_OLD.finditer(before[-_CLOSE_CHARS:]))
    if first and not _has_break(first[-1].string[first[-1].end() :]):
        return _DENIED.search(first[-1].string[: first[-1].start()][-20:]) is None
    second = _BEHIND_OLD.search(behind)
    if second is None or _has_break(behind[: second.start()]):
        return False
    return _DENIED.search(behind[: second.start()]) is None


def _begin_of_list(sentence: str, start: int) -> int:
    """Where the list of decisions begins that one stands in."""
    for _ in range(_MAX_LISTED):
        found = _IN_LIST.search(sentence[max(0, start - 30) : start])
        if found is None:
            break
        start -= len(found[0])
    return start


def _has_break(between: str) -> bool:
    """Another clause or another decision between a word and a name."""
    return _CLAUSE.search(between) is not None or saying.ID.search(between) is not None


# What it is about


def _by_rare_word(decisions: Sequence[model.Decision]) -> dict[str, list[model.Decision]]:
    found: dict[str, list[model.Decision]] = {}
    for each in decisions:
        for word in _title_words(each):
            found.setdefault(word, []).append(each)
    return {word: each for word, each in found.items() if len(each) <= _COMMON}


def _title_words(decision: model.Decision) -> frozenset[str]:
    words = _WORD.findall(decision.title.lower()[:300])
    return frozenset(_stem(word) for word in words if word not in _STOP)


def _stem(word: str) -> str:
    for end in ("ing", "ed", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= 4:
            return word[: -len(end)]
    return word


def _by_titles(decisions: Sequence[model.Decision]) -> list[_Sign]:
    """Titles that share most of what they say, rare words counting most."""
    words = {each.name: _title_words(each) for each in decisions}
    uses: dict[str, int] = {}
    for each in words.values():
        for word in each:
            uses[word] = uses.get(word, 0) + 1
    weight = {word: math.log(1 + len(decisions) / count) for word, count in uses.items()}
    found: list[_Sign] = []
    for one, other in _pairs(_by_rare_word(decisions)):
        both = words[one.name] & words[other.name]
        either = words[one.name] | words[other.name]
        if len(both) < 2:
            continue
        like = sum(weight[w] for w in both) / sum(weight[w] for w in either)
        # Of the same title, both are the same decision, written down twice.
        if _LEAST_LIKE <= like < 1:
            reason = f"the titles share {', '.join(sorted(both))}"
            found += [(one, other, "title", _TITLES * like, reason)]
            found += [(other, one, "title", _TITLES * like, reason)]
            if _turns(one) or _turns(other):
                later, earlier = (one, other) if _turns(one) else (other, one)
                found.append(
                    (later, earlier, "turn", _SAME_SUBJECT, "its title speaks of a change")
                )
    return found


def _turns(decision: model.Decision) -> bool:
    return _TURN_OF_TITLE.search(decision.title) is not None


def _by_places(decisions: Sequence[model.Decision]) -> list[_Sign]:
    """The same places, named in a header or in the decision itself."""
    places = {
        each.name: {place.pattern for place in each.governs if place.where != "elsewhere"}
        for each in decisions
    }
    homes: dict[str, list[model.Decision]] = {}
    for each in decisions:
        for pattern in places[each.name]:
            homes.setdefault(pattern, []).append(each)
    rare = {pattern: each for pattern, each in homes.items() if len(each) <= _COMMON}
    found: list[_Sign] = []
    for one, other in _pairs(rare):
        both = places[one.name] & places[other.name]
        like = len(both) / len(places[one.name] | places[other.name])
        if like < _LEAST_LIKE:
            continue
        # One place that both name may be chance; many are not.
        score = _PLACES * like * (1.0 if len(both) > 1 else 0.75)
        reason = f"both govern {', '.join(sorted(both)[:3])}"
        found += [(one, other, "places", score, reason), (other, one, "places", score, reason)]
    return found


def _pairs(
    shared: dict[str, list[model.Decision]],
) -> list[tuple[model.Decision, model.Decision]]:
    """Every two that share something, once."""
    found: dict[tuple[str, str], tuple[model.Decision, model.Decision]] = {}
    for group in shared.values():
        for at, one in enumerate(group):
            for other in group[at + 1 :]:
                found.setdefault((one.name, other.name), (one, other))
    return list(found.values())
