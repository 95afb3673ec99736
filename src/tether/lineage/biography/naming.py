"""What tasks and decisions are called in a story. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from tether import text
from tether.lineage.biography import wording
from tether.lineage.biography.model import Record, Relation, Source
from tether.lineage.edges import model as edges

_OPEN = frozenset(("", "accepted", "active", "adopted"))
_MOST_NAMED = 4


class Names:
    """The names of everybody in a story, and where they are written."""

    def __init__(
        self, records: Iterable[Record], told: Collection[str], relations: Iterable[Relation]
    ) -> None:
        self._records = {each.key: each for each in records}
        self._told = frozenset(told)
        keys = self._records.keys() | self._told
        self._shared = {id_ for id_, n in Counter(map(self._id, keys)).items() if n > 1}
        self._replaced = {
            each.object: each
            for each in relations
            if each.type == "supersedes" and is_decision(each.object)
        }

    def record(self, key: str) -> Record | None:
        return self._records.get(key)

    def title(self, key: str) -> str:
        """The title of a task or decision in quotes; empty if it has none."""
        record = self._records.get(key)
        said = wording.quoted(record.title, wording.TITLE) if record else ""
        return "" if said == "“”" else said

    def bare(self, key: str) -> str:
        """The id; with the list that it is from, if another one has the same."""
        named = self._id(key)
        task = edges.task_of(key)
        if task is not None and named in self._shared:
            return wording.task_id(f"{task.source}:{named}")
        if not is_decision(key):
            return wording.task_id(named)
        word = wording.task_id(named)
        return word if word[:1].isalpha() else f"decision {word}"

    def called(self, key: str) -> str:
        """The id, and who has no line of their own is introduced by their title."""
        title = "" if key in self._told else self.title(key)
        return " ".join(filter(None, [self.bare(key), title]))

    def all_called(self, keys: Iterable[str]) -> str:
        return wording.some([self.called(each) for each in keys], _MOST_NAMED)

    def standing(self, key: str) -> str:
        """`decision 0020 (superseded by decision 0021)`: what is said of one that governs."""
        return " ".join(filter(None, [self.called(key), self._fate(key)]))

    def sources(self, key: str) -> tuple[Source, ...]:
        """Where a task or decision is written; nowhere if only commits know it."""
        record = self._records.get(key)
        if record is None or not record.pointer:
            return ()
        return (Source("decision" if is_decision(key) else "task", record.pointer),)

    def _id(self, key: str) -> str:
        record = self._records.get(key)
        return record.id if record and record.id else edges.label(key)

    def _fate(self, key: str) -> str:
        """What became of a decision; nothing if it holds."""
        newer = self._replaced.get(key)
        if newer is not None:
            return f"(superseded by {self.bare(newer.subject)})"
        record = self._records.get(key)
        status = text.one_line(record.status).lower() if record else ""
        return "" if status in _OPEN else f"({wording.word(status)})"


def is_decision(key: str) -> bool:
    return key.startswith("decision:")


def evidence(relations: Iterable[Relation]) -> tuple[Source, ...]:
    """What opens edges: what they are called in the index (`t12`, `c7`), and what they stand on."""
    found = []
    for each in relations:
        if each.id:
            letter = "c" if each.type in edges.OF_CODE else "t"
            found.append(Source("edge", f"edge:{letter}{each.id}"))
        if each.pointer or not each.id:
            found.append(Source("edge", each.pointer or f"edge:{each.subject} {each.type}"))
    return tuple(dict.fromkeys(found))
