"""What a biography is told from, and what it comes to. Plain values; no index, no Git, no clock."""

from __future__ import annotations

from tether.hints import Any, Literal, NamedTuple

Role = Literal["created", "changed", "removed"]


class Source(NamedTuple):
    """What opens the evidence of a line."""

    kind: str
    """commit, task, decision, edge, file, event."""
    pointer: str
    """`commit:OID`, `file:PATH#line=7`, …"""


class Record(NamedTuple):
    """What is written of a task or a decision: texts as they stand there, cleaned of nothing."""

    key: str
    """`task:work:T1`, `decision:0021`."""
    id: str
    """As people call it."""
    title: str = ""
    status: str = ""
    """new, in_progress, done, error, cancelled, archived; of a decision: accepted, superseded, …"""
    agent: str = ""
    created_at: str = ""
    closed_at: str = ""
    sentence: str = ""
    """One sentence of it, word for word: of its result, its plan or its description."""
    sentence_field: str = ""
    """Which field that is from."""
    notes: tuple[str, ...] = ()
    """Risks that it names and that were not settled since, word for word."""
    pointer: str = ""
    """Where it stands: `file:work/done/T1.yaml`; empty for a task that only commits know."""


class Commit(NamedTuple):
    """A commit as far as the story needs it."""

    oid: str
    at: str
    """When it was written, RFC 3339 in UTC."""
    author: str
    subject: str
    files: int
    """How many files it changed."""


class Step(NamedTuple):
    """What one commit did to the code that is asked for."""

    commit: Commit
    kinds: tuple[str, ...]
    """introduced, body, signature, rename, move, container, documentation, comment, formatting,
    annotation, deleted; of a section, heading for signature."""
    tasks: tuple[tuple[str, float], ...] = ()
    """Keys of the tasks that it was work on, with how sure that is."""
    before: str = ""
    """`a.py#run`, if it was called or placed otherwise."""
    after: str = ""
    added: int = 0
    removed: int = 0
    undoes: tuple[str, ...] = ()
    """The commits whose change of this code it took back."""
    origin: str = ""
    """`split from a.py#run`, `took in b.py#go`: in words."""
    is_ancestor: bool = False
    """Whether it happened to what this was split from, before that."""
    named: tuple[str, ...] = ()
    """Those of them that the commit as a whole is surely for, however little that says of this."""


class Relation(NamedTuple):
    """An edge between two records of the story, or from one of them to another."""

    subject: str
    type: str
    object: str
    confidence: float
    at: str
    source: str
    """The deriver."""
    pointer: str
    id: int = 0
    """Of the edge in the index: what feedback names."""


class Mention(NamedTuple):
    """A document that describes the code."""

    path: str
    line: int
    section: str = ""
    name: str = ""
    """As it stands there."""


class Story(NamedTuple):
    """Everything that is known of a piece of code, oldest first."""

    selector: str
    name: str
    """`function run`, `file src/a.py`."""
    place: str
    """`src/a.py:10-40`; where it last stood, if it is gone."""
    node: str
    steps: tuple[Step, ...]
    records: tuple[Record, ...] = ()
    """Of every task and decision that is named below; one that is not here has none."""
    relations: tuple[Relation, ...] = ()
    governed: tuple[Relation, ...] = ()
    """By which decisions."""
    mentions: tuple[Mention, ...] = ()
    gaps: tuple[str, ...] = ()
    """What may be missing, in words: a shallow clone, a version that could not be read."""
    fallback: str = ""
    """Why the file's story is told instead of the symbol's; empty if it is not."""
    as_of: str = ""
    knows_records: bool = True
    """Whether records were looked for at all; if not, that there is none says nothing."""


class Line(NamedTuple):
    """One line of a biography."""

    text: str
    sources: tuple[Source, ...]


class Biography(NamedTuple):
    """What is shown."""

    lines: tuple[Line, ...]
    is_truncated: bool
    dropped_count: int
    """How many lines had no room."""

    @property
    def prose(self) -> str:
        return "\n".join(each.text for each in self.lines)


Payload = dict[str, Any]
