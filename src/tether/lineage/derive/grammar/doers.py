"""Who stands before a verb: the task that speaks, one that is named, or nobody that one can tell.

Pure. What somebody else did (`Kim reverted X`) is never laid to the task that speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tether.lineage.derive.grammar import vocabulary
from tether.lineage.derive.grammar.statements import Statement
from tether.lineage.derive.grammar.verbs import Verb
from tether.lineage.derive.grammar.vocabulary import ID
from tether.lineage.edges.model import Key

_REACH = 40
_MAX_LIST = 50
_MAX_INSIDE = 12
_MAX_NOUN = 4
_JOINS = ("and", "&", "/", ",")
_LIST_BEGINS_AFTER = ("", ",", ":", "that", "—", "(", "both", "because", "so")


def before(statement: Statement, verb: Verb) -> list[Key]:
    """The subject of a verb, also where it is passive: then that is what it was done to."""
    skipped = vocabulary.ADVERBS | vocabulary.BE | vocabulary.HAVE
    if verb.form == "noun":
        skipped |= vocabulary.LIGHT
    at = statement.before(verb.start - 1, skipped)
    find = _BY_WORD.get(statement.word(at), _named)
    return find(statement, at, verb)


def _itself(statement: Statement, _at: int, _verb: Verb) -> list[Key]:
    return [statement.own]


def _listed(statement: Statement, at: int, _verb: Verb) -> list[Key]:
    """The id that ends here, and those that it is listed with."""
    first = at
    while first > 1 and statement.word(first - 1) in _JOINS and at - first < _REACH:
        step = 2 + (statement.word(first - 2) == ",")
        is_last = first == at and statement.word(at - 1) == ","
        if statement.word(first - step) != ID or is_last:
            break
        first -= step
    leading = statement.word(first - 1)
    # `a bug in X and Y reverts it`; but a list in brackets is one.
    is_loose = statement.word(at - 1) != "&"
    if first < at and is_loose and leading not in _LIST_BEGINS_AFTER:
        first, leading = at, "and"
    # `the work in X` is X; `the release after X` is not.
    is_of = leading in ("of", "in", "from")
    if is_of and statement.word(first - 2) not in vocabulary.WORK:
        return []
    if not is_of and leading in vocabulary.PREPOSITIONS:
        return []
    return [statement.keys[each] for each in range(first, at + 1) if each in statement.keys]


def _pronoun(statement: Statement, at: int, _verb: Verb) -> list[Key]:
    word = statement.word(at)
    if word in ("we", "i", "it") and statement.word(1) == ID and at <= 3:
        # `In X we replaced Y`.
        return [statement.keys[1]] if statement.word(0) in ("in", "with", "by") else []
    is_ambiguous = any(each in statement.keys for each in range(max(0, at - _REACH), at))
    return [] if word in ("it", "it's") and is_ambiguous else [statement.own]


def _relative(statement: Statement, at: int, _verb: Verb) -> list[Key]:
    """`X, which replaces Y`."""
    at -= 2 if statement.word(at - 1) == "," else 1
    return [statement.keys[at]] if at in statement.keys else []


def _opened(statement: Statement, at: int, verb: Verb) -> list[Key]:
    """`X (replaced by Y)`; and of `The old layout (replaced by Y)` one cannot tell."""
    if at - 1 in statement.keys:
        return [statement.keys[at - 1]]
    if verb.is_passive and statement.word(at - 1).isalpha():
        return _named(statement, at - 1, verb)
    return [statement.own]


def _closed(statement: Statement, at: int, verb: Verb) -> list[Key]:
    """`X (the poller) replaces Y`."""
    inside = range(at - 1, max(-1, at - _MAX_INSIDE), -1)
    opening = next((each for each in inside if statement.word(each) == "("), 0)
    is_named = opening - 1 in statement.keys
    return _listed(statement, opening - 1, verb) if is_named else []


def _labelled(statement: Statement, at: int, _verb: Verb) -> list[Key]:
    """`X: replaces Y`, and `Note: replaces Y`."""
    if at < _MAX_INSIDE and all(word in (ID, ",", "and", "&") for word in statement.words[:at]):
        return [statement.keys[each] for each in range(at) if each in statement.keys]
    return [statement.own]


def _shared(statement: Statement, at: int, verb: Verb) -> list[Key]:
    """The subject that a second verb shares with the first: the nearest that leads a clause."""
    is_participle = verb.is_passive or verb.form == "ing"
    if is_participle and statement.word(at) == "," and at - 1 in statement.keys:
        return [statement.keys[at - 1]]
    begin = at
    for begin in _clauses(statement, at):
        following = statement.word(begin + 1)
        if begin in statement.keys and following.isalpha() and following not in ("and", "or"):
            return [statement.keys[begin]]
        if statement.word(begin) in vocabulary.PRONOUNS | vocabulary.OWN:
            return [statement.own]
    if begin == 0 and statement.word(0) == ID:
        end = statement.behind(0, (ID, ",", "and", "&"), _MAX_LIST)
        return [statement.keys[each] for each in range(end) if each in statement.keys]
    is_other = statement.word(begin) in vocabulary.DETERMINERS | vocabulary.PREPOSITIONS
    return [] if is_other else [statement.own]


def _clauses(statement: Statement, at: int) -> Iterator[int]:
    """Where the clauses begin before a place, the nearest first, up to a colon or a dash."""
    lowest = max(0, at - _REACH)
    begin = at
    while begin > lowest and statement.word(begin - 1) not in (":", "—"):
        begin -= 1
        while begin > lowest and statement.word(begin - 1) not in (",", ":", "—"):
            begin -= 1
        yield begin


def _by(statement: Statement, at: int, verb: Verb) -> list[Key]:
    """`Fixed by reverting X`."""
    return _shared(statement, at, verb) if verb.form == "ing" else []


def _intended(statement: Statement, at: int, _verb: Verb) -> list[Key]:
    """`decided to revert X` was done; `to revert X by hand` was not."""
    return [statement.own] if statement.word(at - 1) in vocabulary.DECIDED else []


def _named(statement: Statement, at: int, verb: Verb) -> list[Key]:
    """Who a noun is: `this rewrite` and `the new table` are the task, `X's approach` is X."""
    word = statement.word(at)
    if word in vocabulary.WORK and statement.word(at - 1) == "'s" and at - 2 in statement.keys:
        return [statement.keys[at - 2]]
    for each in range(at - 1, max(-1, at - _MAX_NOUN - 1), -1):
        if statement.word(each) in vocabulary.OWN:
            return [statement.own]
        if statement.word(each) in vocabulary.DETERMINERS or not statement.word(each).isalpha():
            if "new" in statement.words[each:at]:
                return [statement.own]
            break
    if verb.is_passive and verb.type == "motivates" and word in vocabulary.PROBLEMS:
        return [statement.own]
    return _whole(statement)


def _whole(statement: Statement) -> list[Key]:
    """`Everything that X set up was rolled back`."""
    if statement.word(0) not in ("what", "everything", "all"):
        return []
    first = 2 if statement.word(1) == "that" else 1
    return [statement.keys[first]] if first in statement.keys else []


_BY_WORD: dict[str, Callable[[Statement, int, Verb], list[Key]]] = {
    # Nobody before the verb: `Replaces X`.
    "": _itself,
    "—": _itself,
    ID: _listed,
    **dict.fromkeys(vocabulary.PRONOUNS, _pronoun),
    **dict.fromkeys(("which", "that", "who"), _relative),
    "(": _opened,
    ")": _closed,
    ":": _labelled,
    **dict.fromkeys((",", "and", "but", "then", "or", "&", "yet", "/", "+"), _shared),
    "by": _by,
    "to": _intended,
}
