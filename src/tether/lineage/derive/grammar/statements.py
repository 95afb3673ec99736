"""A statement as a row of words, as those see it who look for what its verbs are bound to."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tether.hints import NamedTuple
from tether.lineage.derive.grammar import vocabulary
from tether.lineage.edges.model import Key


class Statement(NamedTuple):
    """Words, and the tasks that are named among them."""

    words: Sequence[str]
    keys: dict[int, Key]
    """The task that each `ID` is, by the place of the word."""
    own: Key
    """Who speaks: `this`, `we`, or nobody named."""

    def word(self, at: int) -> str:
        """Nothing before the first and behind the last."""
        return self.words[at] if 0 <= at < len(self.words) else ""

    def is_first(self, at: int) -> bool:
        """Whether the statement begins there, but for a label before a colon."""
        return at == 0 or self.word(at - 1) == ":"

    def follows(self, at: int, words: tuple[str, ...]) -> bool:
        return tuple(self.words[at : at + len(words)]) == words

    def behind(self, at: int, words: Collection[str], most: int) -> int:
        """The first place that holds none of some words."""
        end = at
        while self.word(end) in words and end - at < most:
            end += 1
        return end

    def before(self, at: int, words: Collection[str]) -> int:
        """The last place before that holds none of some words, and no adverb in `-ly`."""
        while self.word(at) in words or self.word(at).endswith("ly"):
            at -= 1
        return at

    def is_own(self, at: int) -> bool:
        """`this`, `this task`, `us`: who speaks."""
        if self.word(at) not in ("this", "us", "our", "these"):
            return False
        noun = self.word(at + 1)
        return not noun.isalpha() or noun in vocabulary.WORK | vocabulary.PROBLEMS | {"one"}

    def filed(self, at: int) -> list[Key]:
        """`… filed as X`."""
        is_filed = self.word(at) in vocabulary.FILED and self.word(at + 1) in ("as", "in", "under")
        return [self.keys[at + 2]] if is_filed and at + 2 in self.keys else []
