"""How much of a function stands where it is called, before it was taken out or after it went in.

Two signs: statements of its body stand there, read with the arguments of the call for its
parameters and whatever its variables are called; or the call stands where an expression of it is.
Pure, over the statements of one function and of the other.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from tether.lineage import calls, evidence, likeness, sources

_WORD = re.compile(rb"[\w$\x80-\xff]+")
_CALLED = re.compile(rb"([\w$\x80-\xff]+)(?:<[^<>()]*>)?\s*(\(?)")
_MAKING = re.compile(rb"(?<![\w$.])([A-Z][\w$]*)(?:\.[A-Z][\w$]*)*(?:<[^<>()]*>)?\(")
# What is no variable: what is called, what belongs to something, what is written in capitals.
_FIXED = re.compile(
    rb"(?<=\.)[\w$\x80-\xff]+|(?<![\w$\x80-\xff])[\w$\x80-\xff]+(?=\s*\()"
    rb"|\b[A-Z][\w$]*|\b\d[\w.]*"
)
_ON_ANOTHER = rb"(?<!\bthis)(?<!\bself)(?:\.|::)\s*"
Bag = Counter[bytes]
# So much of a statement must be found in one that was taken away for it to be the same.
_SAME_STATEMENT = 0.75
# So much of what a call stands for must be in the function, or the other way round.
_SAME_EXPRESSION = 0.6
# So much of a statement that has the call must be left of the one that had the expression.
_SAME_REST = 0.6
_FEW_PARTS = 2
_SHORT = 2
# So much of a function must be in another file than its own.
_MUCH = 0.2
_KEYWORDS = frozenset(
    b"return new final var let const this self null None true false if else for in not and or "
    b"throw throws static public private protected await async def function val".split()
)
_SAYING_NOTHING = _KEYWORDS - {b"this", b"self"}


class Part:
    """A function that may have been taken out of others, or put into them."""

    def __init__(self, source: sources.Source, number: int) -> None:
        symbol = source.symbols[number]
        self.path = source.path
        self.around = frozenset(symbol.container.encode().split(b"."))
        self._is_constructor = symbol.name == symbol.container.rpartition(".")[2]
        # Other constructors of its class call it so; whoever else makes one has taken out nothing.
        self.name = b"this" if self._is_constructor else symbol.name.encode()
        self._source = source
        self._number = number

    @functools.cached_property
    def _parameters(self) -> list[bytes]:
        return calls.parameters(self._source.symbols[self._number].signature.encode())

    @functools.cached_property
    def _statements(self) -> list[bytes]:
        found = calls.statements(self._source.own_body(self._number))
        if any(map(_words, found)):
            return found
        return calls.statements(self._source.whole_body(self._number))  # it only holds others

    @functools.cached_property
    def _own(self) -> list[Bag]:
        return [self._own_words(each) for each in self._statements]

    @functools.cached_property
    def _is_open(self) -> bool:
        """Whether calls can have other numbers of arguments than it has parameters."""
        symbol = self._source.symbols[self._number]
        others = (each for each in self._source.symbols if each != symbol)
        # Only where there are others of its name do calls tell by their arguments which is meant.
        if not any(each.name == symbol.name for each in others):
            return True
        return _is_open(symbol.signature.encode(), len(self._parameters))

    @property
    def is_long(self) -> bool:
        """Whether it has so many statements that all of them are hardly elsewhere by chance."""
        return len(self._telling) > _SHORT

    @property
    def is_telling(self) -> bool:
        """Whether it has so many words that all of them are hardly elsewhere by chance."""
        words = sum(_words(each).total() for each in self._telling)
        return self.is_long or (len(self._telling) == _SHORT and 2 * words > evidence.FEW_WORDS)

    @functools.cached_property
    def _telling(self) -> list[bytes]:
        return [each for each in self._statements if _words(each).total() > 1]

    def found_in(
        self, instead: list[bytes], calling: list[bytes], *, is_near: bool = True
    ) -> float:
        """How much of it stands in some statements in place of others that call it.

        In another file many a call stands where another call stood, and nothing was taken out.
        """
        using = [each for each in calling if self._is_used_in(each)]
        if not instead or not using:
            return 0.0
        bodies = list(self._as_called(using))
        best = max((self._share(each, instead, is_near=is_near) for each in bodies), default=0.0)
        there = instead if is_near else [each for each in instead if self._makes_as(each, using)]
        if there and best < _SAME_EXPRESSION:
            is_one = any(self._stands_for(each, using, there) for each in bodies)
            best = _SAME_EXPRESSION if is_one else best
        return best if is_near or best >= _MUCH else 0.0

    def content_in(self, instead: list[bytes]) -> float:
        """How much of it stands word for word in some statements, whoever calls it."""
        there = {_in_order(each) for each in instead}
        return _share(self._statements, [_in_order(each) in there for each in self._statements])

    def is_meant(self, other: sources.Source, calling: list[bytes]) -> bool:
        """Whether calls in another file can be calls of it."""
        if other.path == self.path:
            return True
        if self._is_constructor:
            return False
        is_own = any(symbol.name.encode() == self.name for symbol in other.symbols)
        on_another = re.compile(_ON_ANOTHER + re.escape(self.name) + rb"\b")
        return not is_own or any(on_another.search(each) for each in calling)

    def _as_called(self, using: list[bytes]) -> Iterator[list[bytes]]:
        """Its statements, also with the arguments of each call that it can be called with."""
        told = list(calls.arguments(b"\n".join(using), self.name))
        fitting = [values for values in told if self._can_take(len(values))]
        if fitting or not told:
            yield self._statements
        for values in fitting:
            yield [calls.applied(each, self._parameters, values) for each in self._statements]

    def _is_used_in(self, statement: bytes) -> bool:
        if self._is_constructor:
            return any(True for _ in calls.arguments(statement, self.name))
        return self.name in _words(statement)

    def _makes_as(self, statement: bytes, using: list[bytes]) -> bool:
        """Whether all it does is to make what a statement makes and those that call it do not."""
        telling = [each for each in self._statements if _words(each)]
        if len(telling) != 1:
            return False
        made = _made(telling[0]) & _made(statement)
        return any(not any(each in _made(line) for line in using) for each in made)

    def _can_take(self, count: int) -> bool:
        return self._is_open or count == len(self._parameters)

    def _own_words(self, statement: bytes) -> Bag:
        """What a statement says whatever it is called with; what it calls has its bracket."""
        blanks = [b""] * len(self._parameters)
        own = _said(calls.applied(statement, self._parameters, blanks))
        return Counter({word: count for word, count in own.items() if word not in _SAYING_NOTHING})

    def _share(self, statements: list[bytes], places: list[bytes], *, is_near: bool) -> float:
        """How much of its statements, as they are called, stands in one of some places.

        What is given to a call stands there before and after, and tells nothing of it. In another
        file one word more does not either, unless it is called.
        """
        found, said = [], Counter[bytes]()
        for statement, own in zip(statements, self._own, strict=True):
            near = (place for place in places if not own.keys().isdisjoint(_said(place)))
            shared = max(
                (own & _said(place) for place in near if _is_same(statement, place)),
                key=Counter.total,
                default=Counter[bytes](),
            )
            if not is_near:  # where `this` is another one
                del shared[b"this"], shared[b"self"]
            found.append(shared.total() > 0)
            said += shared
        is_telling = is_near or said.total() > 1 or any(word.endswith(b"(") for word in said)
        return _share(statements, found) if is_telling else 0.0

    def _stands_for(self, body: list[bytes], using: list[bytes], instead: list[bytes]) -> bool:
        """Whether a call of it stands where an expression like its body stood."""
        own = _parts(word for each in body for word in _words(each).elements())
        for statement in using:
            for before, inside, after in calls.around(statement, self.name):
                rest = _words(before + b" " + after)
                given = _parts(_words(inside))
                for other in instead:
                    # Where nothing stands around the call, any statement could be the one.
                    needed = _FEW_PARTS if rest else 2 * _FEW_PARTS
                    needed = 1 if self._makes_as(other, using) else needed
                    if _is_like(_words(other), rest, given, own, needed):
                        return True
        return False


def _is_open(signature: bytes, count: int) -> bool:
    """Whether it can be called with more or fewer than its parameters, as far as one can see."""
    is_typed = len(_WORD.findall(signature)) > count
    return not is_typed or b"=" in signature or b"..." in signature or b"*" in signature


def _is_like(there: Bag, rest: Bag, given: Bag, own: Bag, needed: int) -> bool:
    """Whether a statement is a call's with an expression for the call that is like the function."""
    if likeness.shared(there, rest) < _SAME_REST * rest.total():
        return False
    expression = _parts(there - rest)
    # One word is the name of many things, and what is given to the call tells nothing of it.
    if likeness.shared(expression - given, own) < needed:
        return False
    smaller = min(expression.total(), own.total())
    return likeness.shared(expression, own) >= _SAME_EXPRESSION * smaller


def _share(statements: list[bytes], found: list[bool]) -> float:
    """The share of words that are in the statements which were found."""
    sizes = [_words(each).total() for each in statements]
    # One word is the name of many things.
    there = sum(size for size, is_found in zip(sizes, found, strict=True) if is_found and size > 1)
    return there / sum(sizes) if any(sizes) else 0.0


def _in_order(statement: bytes) -> tuple[bytes, ...]:
    return tuple(_WORD.findall(statement))


def _is_same(statement: bytes, place: bytes) -> bool:
    words = _words(statement)
    if likeness.shared(words, _words(place)) >= _SAME_STATEMENT * words.total():
        return True
    fixed, other = _fixed(statement), _fixed(place)
    # The same numbers stand in many statements.
    is_telling = fixed.total() > 1 and not all(word[:1].isdigit() for word in fixed)
    return is_telling and likeness.of_bags(fixed, other) >= _SAME_STATEMENT


@functools.lru_cache(maxsize=4096)
def _words(statement: bytes) -> Counter[bytes]:
    return Counter(word for word in _WORD.findall(statement) if word != b"return")


def _made(statement: bytes) -> frozenset[bytes]:
    """The names of the classes that a statement makes something of."""
    return frozenset(_MAKING.findall(statement))


@functools.lru_cache(maxsize=4096)
def _said(statement: bytes) -> Counter[bytes]:
    """The words of a statement, those that are called with their brackets."""
    return Counter(word + bracket for word, bracket in _CALLED.findall(statement))


@functools.lru_cache(maxsize=4096)
def _fixed(statement: bytes) -> Counter[bytes]:
    """The words of a statement that are not the names of variables."""
    return Counter(word for word in _FIXED.findall(statement) if word not in _KEYWORDS)


def _parts(words: Iterable[bytes]) -> Bag:
    """Words, and of types what their names are made of: where code is taken out they may change."""
    found: Bag = Counter()
    for word in words:
        if word[:1].isupper():
            found.update(likeness.parts(word.decode(errors="replace")).keys())
        elif word not in _KEYWORDS:
            found[word] += 1
    return found
