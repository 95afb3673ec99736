"""Binds the verbs of a statement to its ids: who did what to which task, if it is said to be so.

Pure. A verb looks a bounded number of words to either side, so a statement of any length takes
time in proportion to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tether.hints import NamedTuple
from tether.lineage.derive.grammar import doers, objects, verbs, vocabulary
from tether.lineage.derive.grammar.statements import Statement
from tether.lineage.derive.grammar.verbs import Verb
from tether.lineage.derive.grammar.vocabulary import ID
from tether.lineage.edges.model import Key

_REACH = 40
"""How many words before a verb may deny it or put it in doubt."""
_NEAR = 14
"""And how many behind it."""
_MAX_LATE = 6
_ASIDES = (",", "—")
_BREAKS = frozenset((",", "but", "yet", "however", "—", ":"))
# `does not, as it stood, replace X`: what is denied in this form may stand behind a comma.
_BARE_BREAKS = _BREAKS - {","}
_EXCHANGES = {"supersedes": ("with", "by"), "reverts": ("in", "by")}


class Bound(NamedTuple):
    """What a verb says of two nodes."""

    subject: Key
    type: str
    object: Key
    rule: str
    verb: str
    at: int
    """The word that is the id which it is about."""


def bind(statement: Statement) -> Iterator[Bound]:
    """What the verbs of a statement say."""
    yield from _meanwhile(statement)
    for number in range(len(statement.words)):
        yield from _wrong(statement, number)
        yield from _follow_up(statement, number)
        verb = verbs.at(statement.words, number)
        if verb and _is_asserted(statement.words, verb):
            bound = _passive if verb.is_passive else _active
            yield from bound(statement, verb)


def _is_asserted(words: Sequence[str], verb: Verb) -> bool:
    """Whether it is neither denied nor only thought of."""
    is_near = True
    breaks = _BARE_BREAKS if verb.form == "base" else _BREAKS
    for at in range(verb.start - 1, max(-1, verb.start - _REACH), -1):
        word = words[at]
        if word in vocabulary.DOUBTS or (is_near and _denies(words, at)):
            return False
        is_break = word in breaks and not _is_not_yet(words, at)
        is_near = is_near and not is_break and not (word == "and" and verb.form == "s")
    return not (_is_missed(words, verb) or _is_parted(words, verb) or _is_conditional(words, verb))


def _is_not_yet(words: Sequence[str], at: int) -> bool:
    """`not yet`, `nobody has yet`: here `yet` begins no clause."""
    if words[at] != "yet" or at == 0:
        return False
    before = words[at - 1]
    adverbial = vocabulary.NEGATIONS | vocabulary.BE | vocabulary.HAVE | {"as", "("}
    return before in adverbial or before.endswith("n't")


def _is_missed(words: Sequence[str], verb: Verb) -> bool:
    """`was almost replaced`; but what is almost entirely replaced is replaced."""
    skipped = vocabulary.BE | vocabulary.HAVE | vocabulary.ARTICLES | vocabulary.SURELY
    return words[_before(words, verb, skipped)] in vocabulary.ALMOST


def _is_parted(words: Sequence[str], verb: Verb) -> bool:
    """`was not, however, replaced`: what is set apart takes no denial back."""
    end = _before(words, verb, vocabulary.BE | vocabulary.HAVE)
    if verb.form == "s" or words[end] not in _ASIDES:
        return False
    start = max(0, end - _NEAR)
    return any(
        words[at] == "not" and words[at + 1] in _ASIDES and at + 1 < end for at in range(start, end)
    )


def _before(words: Sequence[str], verb: Verb, skipped: Collection[str]) -> int:
    """The last place before a verb that holds none of some words, or the first of all."""
    at = max(0, verb.start - 1)
    while at > 0 and words[at] in skipped:
        at -= 1
    return at


def _is_conditional(words: Sequence[str], verb: Verb) -> bool:
    """Whether it depends on something. Until when it holds is another matter."""
    is_indicative = verb.form in ("s", "ed", "participle") or (
        verb.form == "base"
        and verb.start > 0
        and words[verb.start - 1] in vocabulary.PRONOUNS | {ID}
    )
    for at in range(verb.end, min(len(words), verb.end + _NEAR)):
        is_limit = words[at] == "until" and is_indicative and words[at - 1] != "not"
        if words[at] in vocabulary.CONDITIONS and not is_limit:
            return True
    return False


def _denies(words: Sequence[str], at: int) -> bool:
    if words[at] == "not" and words[at + 1] in ("only", "just", "merely"):
        return False
    is_short = words[at].endswith(("n't", "'ll", "'d"))
    return is_short or words[at] in vocabulary.NEGATIONS | vocabulary.MODALS


# The two voices


def _active(statement: Statement, verb: Verb) -> Iterator[Bound]:
    """`X replaces Y`: the doer stands before the verb."""
    if _is_late(statement, verb):
        late = _late_doers(statement, verb.end)
        yield from _bound(statement, verb, late, doers.before(statement, verb), "passive")
        return
    if _is_adjective(statement, verb):
        return
    found = objects.behind(statement, verb.end)
    if not found.places:
        found = objects.part(statement, verb)
    who = _exchanged(statement, verb, found.end) or doers.before(statement, verb)
    if verb.form in ("ing", "noun") and statement.word(found.end) in vocabulary.FINITE:
        # `Reverting X was rejected`: not a verb at all.
        who = statement.filed(found.end + 1)
    what = [statement.keys[at] for at in found.places]
    if not what and statement.is_own(verb.end) and statement.own not in who:
        what = [statement.own]
    yield from _bound(statement, verb, who, what, found.rule or _rule(statement, verb))


def _passive(statement: Statement, verb: Verb) -> Iterator[Bound]:
    """`Y was replaced by X`: the doer stands behind the verb."""
    gap, owned = vocabulary.GAP, vocabulary.WORK
    if verb.type == "motivates":
        gap, owned = gap | vocabulary.ROOTS, owned | vocabulary.ROOTS
    if verb.is_source:
        gap |= vocabulary.WHILE
    found = objects.behind(statement, verb.end, gap, owned)
    who = [statement.keys[at] for at in found.places]
    if not who and statement.is_own(verb.end):
        who = [statement.own]
    what = doers.before(statement, verb)
    yield from _bound(statement, verb, who, what, _rule(statement, verb))


def _is_adjective(statement: Statement, verb: Verb) -> bool:
    """`the superseded X`."""
    return verb.form == "ed" and statement.word(verb.start - 1) in vocabulary.DETERMINERS


def _is_late(statement: Statement, verb: Verb) -> bool:
    """`was undone here`: passive, and who did it stands farther behind, if anywhere."""
    if verb.form != "ed":
        return verb.form == "participle"
    return statement.word(statement.before(verb.start - 1, vocabulary.ADVERBS)) in vocabulary.BE


def _late_doers(statement: Statement, start: int) -> list[Key]:
    for at in range(start, start + _MAX_LATE):
        word = statement.word(at)
        if word == "here":
            return [statement.own]
        if word == "by":
            found = objects.behind(statement, at + 1).places
            own = [statement.own] if statement.is_own(at + 1) else []
            return [statement.keys[each] for each in found] or own
        if not word.isalpha():
            break
    return []


def _exchanged(statement: Statement, verb: Verb, end: int) -> list[Key]:
    """`replaced X with Y`, `reverted X in Y`: Y did it."""
    is_other = statement.word(end) in _EXCHANGES.get(verb.type, ()) and end + 1 in statement.keys
    return [statement.keys[end + 1]] if is_other and objects.is_task(statement, end + 1) else []


# Turns of phrase


def _wrong(statement: Statement, number: int) -> Iterator[Bound]:
    """`X is wrong about …`: contradicted by who says so."""
    if number not in statement.keys or statement.word(number - 1).isalpha():
        return
    if statement.word(number + 1) in vocabulary.BE:
        verb = Verb("contradicts", "s", is_passive=False, start=number + 1, end=number + 4)
        is_wrong = statement.follows(number + 2, ("wrong", "about"))
        if is_wrong and _is_asserted(statement.words, verb):
            what = [statement.keys[number]]
            yield from _bound(statement, verb, [statement.own], what, "contradicts")


def _meanwhile(statement: Statement) -> Iterator[Bound]:
    """`While working on X, we found …`."""
    if statement.word(0) not in ("while", "when", "during"):
        return
    found = objects.behind(statement, 1, vocabulary.WHILE | vocabulary.ROOTS)
    rest = statement.words[found.end : found.end + 2 * _NEAR]
    at = next((number for number, word in enumerate(rest) if word in vocabulary.FOUND), 0)
    verb = Verb("motivates", "ed", is_passive=True, start=at, end=at + 1)
    if found.places and at and _is_asserted(rest, verb):
        verb = verb._replace(start=found.end + at, end=found.end + at + 1)
        who = [statement.keys[each] for each in found.places]
        yield from _bound(statement, verb, who, [statement.own], "source")


def _follow_up(statement: Statement, number: int) -> Iterator[Bound]:
    """`Follow-up: X`, `opened X as a follow-up`: X extends who speaks."""
    word = statement.word(number)
    is_two = word == "follow" and statement.word(number + 1) in ("up", "ups")
    if not is_two and word not in ("followup", "followups"):
        return
    end = number + 1 + is_two
    verb = Verb("extends", "noun", is_passive=False, start=number, end=end)
    if not _is_asserted(statement.words, verb):
        return
    rule = "noun"
    if statement.word(end) == ":" and statement.is_first(number):
        found = objects.behind(statement, end + 1).places
        who, rule = [statement.keys[at] for at in found], "header"
    elif statement.word(number - 1) == "a" and statement.word(end) not in vocabulary.PREPOSITIONS:
        who = [key for key in doers.before(statement, verb) if key != statement.own]
    else:
        who = statement.filed(end + (statement.word(end) in vocabulary.BE))
    yield from _bound(statement, verb, who, [statement.own], rule)


# What comes of it


def _rule(statement: Statement, verb: Verb) -> str:
    if verb.type == "contradicts":
        return verb.type
    if statement.word(verb.end) == ":" and statement.is_first(verb.start):
        return "header"
    if verb.type == "motivates":
        return "source" if verb.is_source else verb.type
    if verb.is_passive:
        return "passive"
    return "noun" if verb.form == "noun" else verb.type


def _bound(
    statement: Statement, verb: Verb, who: Sequence[Key], what: Sequence[Key], rule: str
) -> Iterator[Bound]:
    name = " ".join(word for word in statement.words[verb.start : verb.end] if word != ID)
    for subject in who:
        for target in what:
            if subject != target:
                key = target if target != statement.own else subject
                at = _place(statement, key, verb)
                yield Bound(subject, verb.type, target, rule, name, at)


def _place(statement: Statement, key: Key, verb: Verb) -> int:
    """Where the id stands that is nearest to the verb."""
    near = range(max(0, verb.start - 2 * _REACH), verb.end + 2 * _REACH)
    places = (at for at in near if statement.keys.get(at) == key)
    return min(places, key=lambda at: abs(at - verb.start), default=next(iter(statement.keys)))
