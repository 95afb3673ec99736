"""What speaks for two symbols being one, and whether it is enough. Pure arithmetic.

The weights and thresholds are measured on published oracles of refactorings and of histories.
"""

from __future__ import annotations

from tether.hints import NamedTuple

# Symbols with fewer words than this look like many others.
FEW_WORDS = 12


class Facts(NamedTuple):
    """What is known about a symbol before and one after."""

    likeness: float
    names: float
    """How alike their names are; the same for the next one and their parameters."""
    signatures: float
    words: int
    """The size of the smaller one."""
    name_words: int
    """Of how many words the name is made."""
    is_class: bool
    is_namesake: bool
    is_lonely: bool
    """Whether each of them is the only one left with its name."""
    is_same_file: bool
    is_same_place: bool
    """Whether what they stand in is the same."""
    is_only: bool
    """Whether each of them is the only one left of its kind there."""
    is_between_same: bool
    """Whether they stand between the same neighbours."""
    is_alone: bool
    """Whether each of them is the only one left of its kind between its neighbours."""
    is_called_anew: bool
    """Whether the one is called where the other was."""


class Verdict(NamedTuple):
    """How alike, how much speaks for it, and in what words; no words if it is not enough."""

    score: float
    rank: float
    evidence: str


NONE = Verdict(0.0, 0.0, "")


def judge(facts: Facts) -> Verdict:
    """Whether two are one."""
    rank = facts.likeness + 0.2 * facts.is_namesake + 0.15 * facts.is_same_place
    rank += 0.05 * facts.is_same_file + 0.1 * facts.names + 0.2 * facts.is_called_anew
    rank += 0.1 * facts.is_between_same
    if facts.is_namesake:
        needed, evidence = _needed_of_namesakes(facts), "same name elsewhere"
    elif facts.is_same_place:
        needed, evidence = _needed_in_place(facts), "another name, same place"
    else:
        needed, evidence = _needed_elsewhere(facts), "another name and place"
    return Verdict(facts.likeness, rank, evidence if facts.likeness >= needed else "")


def _needed_of_namesakes(facts: Facts) -> float:
    """Less, if the name says much and no other has it."""
    needed = 0.4 if facts.is_same_file else 0.5
    if facts.is_lonely and facts.is_class:
        # Hardly ever does a class go and another one of the same name come for another reason.
        return 0.2 if facts.words >= FEW_WORDS else 0.5
    if facts.is_lonely:
        # Implementations of one interface have the same name and parameters in many files.
        needed -= 0.1 * max(0, min(2, facts.name_words - 1))
        needed -= 0.4 * facts.signatures if facts.is_same_file else 0
        needed = max(0.1, needed)
    if facts.words < FEW_WORDS:
        needed = max(needed, 0.85)
    # The same name does not speak against those who stay where they are.
    return min(needed, _needed_in_place(facts)) if facts.is_same_place else needed


def _needed_in_place(facts: Facts) -> float:
    # Names that share most of their words say more than those that share some.
    needed = 0.7 - 0.2 * facts.names - 0.4 * max(0.0, facts.names - 0.5)
    needed -= 0.15 * (facts.signatures > 0.85) + 0.25 * facts.is_called_anew
    needed -= 0.15 * facts.is_only + _lessened_between(facts)
    needed = max(0.1, needed)
    if facts.words >= FEW_WORDS:
        return needed
    is_backed = facts.names >= 0.5 or facts.is_called_anew or facts.is_only
    is_backed = is_backed or (facts.is_between_same and facts.is_alone)
    return max(needed, 0.5 if is_backed else 0.85)


def _lessened_between(facts: Facts) -> float:
    """Who edits a symbol in its place, name and all, leaves what stands around it."""
    if not facts.is_between_same:
        return 0.0
    if facts.is_alone:
        return 0.25
    # Which one of several it is, the name has to say.
    return 0.15 if facts.names >= 0.5 else 0.0


def _needed_elsewhere(facts: Facts) -> float:
    if facts.words < FEW_WORDS:
        return 0.95 if facts.is_class and facts.names >= 0.5 else 2.0
    if facts.is_class:
        return 0.7 - 0.2 * facts.names
    needed = 0.8 - 0.2 * facts.names - 0.2 * facts.is_called_anew
    return min(needed, 0.6) if facts.is_same_file else needed
