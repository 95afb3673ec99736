"""The nouns of decisions: what a file says of each, with names of others as they are written."""

from __future__ import annotations

from tether.hints import Literal, NamedTuple

Where = Literal["header", "decision", "elsewhere"]
CONFIDENCE: dict[str, float] = {"header": 1.0, "decision": 0.8, "elsewhere": 0.5}


class Named(NamedTuple):
    """Another decision, as a text names it: which one that is, `naming.Register` knows."""

    words: str
    """`ADR-0007`, `0007`, the text of a link."""
    path: str = ""
    """The file that a link leads to, from the top of the repository."""
    anchor: str = ""
    """The heading in that file."""
    line: int = 0
    at: str = ""
    """When that happened, if it stands right behind the name."""
    is_partial: bool = False
    """Whether only a part of what was decided is meant."""


class Mentioned(NamedTuple):
    """A task that a decision names."""

    source: str
    id: str
    line: int
    verb: str = "referenced_by"
    """From the task: it motivates, supersedes, extends or is referenced_by the decision."""
    is_partial: bool = False


class Governed(NamedTuple):
    """A place in the repository that a decision names: a path, the end of one, or a pattern."""

    pattern: str
    name: str
    """Of a symbol there; empty if none is named."""
    where: Where
    line: int

    @property
    def confidence(self) -> float:
        return CONFIDENCE[self.where]


class Passage(NamedTuple):
    """A sentence that says that something is done another way now."""

    text: str
    line: int


class Decision(NamedTuple):
    """One decision, as its file tells it."""

    name: str
    """Unique in a repository, and the same when the title changes: `0021`, `log#ADR-012`."""
    id: str
    """As people cite it: `ADR-0021`."""
    title: str
    status: str
    """proposed, accepted, rejected, deprecated, superseded, or as it is written; may be empty."""
    date: str
    """RFC 3339 in UTC; empty if the file has none."""
    path: str
    line: int
    sentence: str = ""
    """One sentence of it, word for word."""
    section: str = ""
    """Where that stands: decision, context, or another."""
    prefix: str = ""
    """`ADR` of ADR-0021."""
    number: int = -1
    series: str = ""
    """Which decisions are numbered together: a directory, or the file of a log."""
    anchor: str = ""
    """Its heading, as links to it are written."""
    aliases: tuple[str, ...] = ()
    """What it was called elsewhere."""
    supersedes: tuple[Named, ...] = ()
    superseded_by: tuple[Named, ...] = ()
    amends: tuple[Named, ...] = ()
    amended_by: tuple[Named, ...] = ()
    mentions: tuple[Named, ...] = ()
    tasks: tuple[Mentioned, ...] = ()
    governs: tuple[Governed, ...] = ()
    passages: tuple[Passage, ...] = ()

    @property
    def is_in_force(self) -> bool:
        """Files without a status hold what was decided."""
        is_replaced = any(not each.is_partial for each in self.superseded_by)
        return self.status in ("accepted", "") and not is_replaced
