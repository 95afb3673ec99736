"""The ids behind a verb to which it is bound: `replaces the approach of X and Y`. Pure."""

from __future__ import annotations

from collections.abc import Collection

from tether.hints import NamedTuple
from tether.lineage.derive.grammar import verbs, vocabulary
from tether.lineage.derive.grammar.statements import Statement
from tether.lineage.derive.grammar.verbs import Verb
from tether.lineage.derive.grammar.vocabulary import ID

_MAX_GAP = 8
_MAX_PART = 9
_MAX_LIST = 50
_MAX_INSIDE = 12
_SEPARATORS = (
    (",", "and"), (",", "as", "well", "as"), ("as", "well", "as"), (",",), ("and",), ("&",),
    ("/",), ("+",), ("plus",),
)  # fmt: skip
# In a list: `X and (in part) Y`.
_LIST_GAP = vocabulary.GAP | {")"}


class Objects(NamedTuple):
    """Ids that a verb is bound to."""

    places: list[int]
    end: int
    """The word behind them."""
    rule: str = ""
    """If they are bound in a way of its own."""


def behind(
    statement: Statement,
    at: int,
    gap: Collection[str] = vocabulary.GAP,
    owned: Collection[str] = vocabulary.WORK,
) -> Objects:
    """The ids at which a verb ends; none if that is in doubt."""
    at = end = statement.behind(at, gap, _MAX_GAP)
    found: list[int] = []
    while at in statement.keys and len(found) < _MAX_LIST and is_task(statement, at, owned):
        if found and _begins_a_clause(statement, at):
            break
        found.append(at)
        end = _end(statement, at)
        if statement.word(end) in ("or", "nor"):
            return Objects([], end)
        step = next((len(each) for each in _SEPARATORS if statement.follows(end, each)), 0)
        if not step:
            break
        at = statement.behind(end + step, _LIST_GAP, 5)
    return Objects(found, end)


def part(statement: Statement, verb: Verb) -> Objects:
    """A part of what a task did: `the loop that X added`, `the loop (X)`."""
    if verb.type not in ("supersedes", "reverts", "extends"):
        return Objects([], verb.end)
    for at in range(verb.end, verb.end + _MAX_PART):
        word = statement.word(at)
        if word == "(" and at + 1 in statement.keys and statement.word(at + 2) == ")":
            return Objects([at + 1], at + 3, "apposition")
        # To replace a part of what a task did is not to replace the task.
        if verb.type != "supersedes" and (found := _added(statement, verb, at)).places:
            return found
        is_target = word == "to" and verb.type == "reverts" and at > verb.end
        if not word.isalpha() or (word in vocabulary.NO_PART and not is_target):
            break
    return Objects([], verb.end)


def _added(statement: Statement, verb: Verb, at: int) -> Objects:
    """`that X added`, `introduced in X`, `from X`."""
    word, following = statement.word(at), statement.word(at + 1)
    if word == ID:
        later = at + 1 + (following in vocabulary.HAVE)
        is_added = at > verb.end and statement.word(later) in vocabulary.ADDED
        return Objects([at] if is_added else [], later + 1, "part")
    is_added = (word in vocabulary.ADDED or word == "came") and following in vocabulary.CARRIED
    if is_added or (word == "from" and at > verb.end):
        gap = vocabulary.GAP | vocabulary.CARRIED
        return behind(statement, at + 1, gap)._replace(rule="part")
    return Objects([], at)


def is_task(statement: Statement, at: int, owned: Collection[str] = vocabulary.WORK) -> bool:
    """Whether an id stands for its task, and not for a thing of it: `X's tests`."""
    following = statement.word(at + 1)
    if following == "'s":
        return any(word in owned for word in statement.words[at + 2 : at + 4])
    if following == "-" or following in vocabulary.THINGS:
        return False
    is_adjective = statement.word(at - 1) in vocabulary.ARTICLES and following.isalpha()
    return not is_adjective or following in vocabulary.WORK | vocabulary.BEHIND


def _begins_a_clause(statement: Statement, at: int) -> bool:
    """`replaces X and Y stays`."""
    following = statement.word(at + 1)
    if following == "by" or following in vocabulary.FINITE:
        return True
    verb = verbs.at(statement.words, at + 1) if following else None
    return verb is not None and verb.form != "noun"


def _end(statement: Statement, at: int) -> int:
    """Behind an id, and what belongs to it: `X's approach (the old one)`."""
    end = at + 1
    if statement.word(end) == "'s":
        nouns = vocabulary.WORK | vocabulary.ROOTS
        end += next((n for n in (2, 3) if statement.word(at + n) in nouns), 1)
    if statement.word(end) == "(":
        inside = range(end, end + _MAX_INSIDE)
        end = next((each + 1 for each in inside if statement.word(each) == ")"), end)
    return end
