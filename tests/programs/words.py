"""The words that generated programs are made of: many, so that two functions rarely look alike."""

from __future__ import annotations

import random
from collections.abc import Callable


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


VERBS = _listed("""
    load store parse render merge fetch encode decode verify append collect compute deliver
    enqueue expand filter gather hash inspect join limit measure notify observe publish query
    reduce sample schedule select send settle shift sort split trace trim update validate visit
    wrap write""")
NOUNS = _listed("""
    account address amount answer basket batch border bucket budget buffer cache channel
    client cluster column contract counter cursor customer device digest document domain driver
    edge envelope episode event factor feature fence field folder frame gateway grammar graph
    handle header image invoice journal kernel label layer ledger lesson limit market member
    message mirror module notice number object offer order outline owner packet page palette
    parcel pattern payment period pixel planet player pocket policy portal price profile project
    quota receipt record region report request reserve result river route sample schema score
    sector sensor server session shard shelf signal socket station stream summary supplier
    surface symbol table target tenant ticket token tower track transfer tunnel vector vendor
    version vessel visitor volume voucher warehouse window worker zone""")
ADJECTIVES = _listed("""
    active ancient blank brief broad calm clean cold common dense early empty extra
    fast final fresh global grand hidden inner joint large late local lost main narrow nested
    new old open outer pale partial plain prime quick quiet rare raw recent remote safe shared
    sharp short simple slow solid spare stale steady strict tall thin tidy total valid vivid
    warm wide""")
# What many functions have in common, as in any program.
COMMON_CALLS = ("log", "len", "append", "sum", "check", "sorted")
COMMON_NAMES = ("close", "reset", "describe", "run", "build")
TYPES = ("Amount", "Buffer", "Clock", "Config", "Flags", "Graph", "Handle", "Matrix", "Session")


class Words:
    """Gives words and names, and never a name twice."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._taken: set[str] = set()
        self._ids = 0

    def id(self) -> int:
        self._ids += 1
        return self._ids

    def variable(self) -> str:
        pick = self._chance.choice
        return pick(NOUNS) if self._chance.random() < 0.3 else f"{pick(ADJECTIVES)}_{pick(NOUNS)}"

    def callee(self) -> str:
        pick = self._chance.choice
        if self._chance.random() < 0.25:
            return pick(COMMON_CALLS)
        return f"{pick(VERBS)}_{pick(NOUNS)}"

    def argument(self) -> str:
        kind = self._chance.random()
        if kind < 0.6:
            return self.variable()
        return str(self._chance.randrange(2, 9999)) if kind < 0.8 else self.text(2)

    def text(self, count: int) -> str:
        return f'"{self.sentence(count)}"'

    def sentence(self, count: int) -> str:
        pool = (*NOUNS, *ADJECTIVES)
        return " ".join(self._chance.choice(pool) for _ in range(count))

    def function_name(self) -> str:
        pick = self._chance.choice
        return self._fresh(lambda: f"{pick(VERBS)}_{pick(ADJECTIVES)}_{pick(NOUNS)}")

    def kindred_name(self, name: str) -> str:
        """Another name that has some of the same words."""
        kept = name.split("_")[:-1] or [name]
        return self._fresh(lambda: "_".join((*kept, self._chance.choice(NOUNS))))

    def class_name(self) -> str:
        pick = self._chance.choice
        return self._fresh(lambda: pick(ADJECTIVES).title() + pick(NOUNS).title())

    def constant_name(self) -> str:
        pick = self._chance.choice
        return self._fresh(lambda: "_".join((pick(ADJECTIVES), pick(NOUNS))).upper())

    def path(self, folder: str) -> str:
        pick = self._chance.choice
        return self._fresh(lambda: f"{folder}/{pick(ADJECTIVES)}_{pick(NOUNS)}")

    def folder(self) -> str:
        return self._fresh(lambda: f"src/{self._chance.choice(NOUNS)}")

    def _fresh(self, make: Callable[[], str]) -> str:
        while (name := make()) in self._taken:
            pass
        self._taken.add(name)
        return name
