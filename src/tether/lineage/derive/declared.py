"""What people declare: relations in task files and in `work/lineage.yaml`. Pure; it never raises.

A task file may have

    context_files: [src/a.py, "src/b.py#run"]
    depends_on: [T1]                      # T1 comes before this task
    parent: T1                            # this task follows T1 up
    relations:
      - {type: supersedes, task: T1, why: "…"}
      - supersedes T1, T2
      - superseded_by: T3

and `relations` may be one mapping, too (`supersedes: [T1, T2]`). The file of the repository has
what belongs to no one task:

    relations:
      - {subject: T2, type: supersedes, object: T1, why: "…"}
      - {subject: "decision:0021", type: governs, object: "src/a.py#run"}
    same_as:
      - {from: "src/a.py#old", to: "src/b.py#new", at: 1f2e3d4c, why: "…"}

A node is the id of a task, a decision (`decision:0021`), code (`src/a.py`, `src/a.py#run`) or a
node of the index (`node:…`). Types may be named from either end (`references.type_of`). What cannot
be used is a problem that says where it stands, and everything else counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tether.hints import Any, NamedTuple
from tether.lineage.derive import fields as written
from tether.lineage.derive import references
from tether.lineage.derive.references import Code, Reference, Resolve, Word
from tether.lineage.edges import model as graph
from tether.lineage.edges.model import Edge, Key
from tether.tasks import document, model

FILE = "work/lineage.yaml"
_TYPE = ("type", "kind", "relation", "verb")
_SUBJECT = ("subject", "from", "source")
_OBJECT = ("task", "to", "id", "target", "object", "decision")
_RELATION = (*_TYPE, *_SUBJECT, *_OBJECT, *written.WHY)
_BEFORE, _AFTER, _COMMIT = ("from", "before"), ("to", "after"), ("at", "commit")
_SAME = (*_BEFORE, *_AFTER, *_COMMIT, *written.WHY)
_PATH = ("path", "file")
_HASH = re.compile(r"[0-9a-fA-F]{4,64}")
_NOBODY = "no task or decision is called so"
_NO_TYPE = "this is no type of relation"


class Declared(NamedTuple):
    """What was declared, and what was not understood."""

    edges: tuple[Edge, ...]
    problems: tuple[str, ...]


class Relation(NamedTuple):
    """An entry of `relations` in the file of the repository, as it stands there."""

    subject: Reference
    type: str
    object: Reference
    why: str
    place: str
    """`relations[0]`."""


class Same(NamedTuple):
    """Two pieces of code that are one."""

    before: Reference
    after: Reference
    at: str
    """The commit that made the one into the other; empty if none is named."""
    why: str
    place: str


class DeclaredFile(NamedTuple):
    """What the file of the repository says."""

    relations: tuple[Relation, ...]
    same_as: tuple[Same, ...]
    problems: tuple[str, ...]


class _Edges:
    """The edges found so far, each once."""

    def __init__(self, path: str, at: str) -> None:
        self._path, self._at = path, at
        self._found: dict[tuple[Key, str, Key, str], Edge] = {}

    def add(self, subject: Key, kind: str, target: Key, place: str, detail: dict[str, Any]) -> None:
        begin, name, end = graph.stored(subject, kind, target)
        pointer = f"file:{self._path}#field={place}"
        edge = Edge(begin, name, end, 1.0, self._at, pointer, detail)
        self._found.setdefault((begin, name, end, str(detail.get("name", ""))), edge)

    def all(self) -> tuple[Edge, ...]:
        return tuple(self._found.values())


# Task files


def task(
    fields: dict[str, Any], own: Key, resolve: Resolve, *, path: str = "", at: str = ""
) -> Declared:
    """The edges that a task's own file declares; `at` is when, and else when it was created."""
    reader = _TaskReader(own, resolve, path, at or model.stamp(fields.get("created_at")))
    reader.context(fields.get("context_files"))
    reader.links("depends_on", "blocked_by", fields.get("depends_on"))
    reader.links("parent", "follows-up", fields.get("parent"))
    reader.relations(fields.get("relations"))
    return Declared(reader.edges.all(), reader.problems.all())


class _TaskReader:
    """Collects what one task's file declares."""

    def __init__(self, own: Key, resolve: Resolve, path: str, at: str) -> None:
        self._own, self._resolve = own, resolve
        self.edges = _Edges(path, at)
        self.problems = written.Problems()

    def context(self, value: object) -> None:
        """The paths that belong to the task; a pattern or a directory stays as it is written."""
        for place, item in written.items(self.problems, "context_files", value):
            words = item
            if isinstance(item, dict):
                words = written.one_of(self.problems, place, item, _PATH)
                written.unknown(self.problems, place, item, (*_PATH, *written.WHY))
            found = references.reference(words) if isinstance(words, str) else None
            found = references.code(found.text) if isinstance(found, Word) else found
            if found is None:
                self.problems.add(place, "this is no path in the repository", words)
            else:
                detail = {**_detail(found), **written.why(item)}
                self.edges.add(self._own, "declared", _key_of_code(found), place, detail)

    def links(self, field: str, kind: str, value: object) -> None:
        """A field whose name says how its tasks stand to this one."""
        for place, item in written.items(self.problems, field, value):
            self._link(place, kind, item)

    def relations(self, value: object) -> None:
        """The field `relations`, in any of its forms."""
        if isinstance(value, dict) and not _has_type(value):
            self._by_type("relations", value)
            return
        for place, item in written.items(self.problems, "relations", value):
            if isinstance(item, str):
                self._said(place, item)
            elif not isinstance(item, dict):
                self.problems.add(place, "this is no relation", item)
            elif _has_type(item):
                self._one(place, item)
            else:
                self._by_type(place, item)

    def _by_type(self, place: str, relations: dict[Any, Any]) -> None:
        """`{supersedes: [T1, T2], contradicts: T3}`."""
        reason = written.why(relations)
        for name, value in relations.items():
            kind = references.type_of(str(name))
            if kind is not None:
                for at, item in written.items(self.problems, f"{place}.{kind}", value):
                    self._link(at, kind, item, reason)
            elif name not in written.WHY:
                self.problems.add(place, _NO_TYPE, str(name))

    def _said(self, place: str, words: str) -> None:
        """`supersedes T1`."""
        said = references.statement(words)
        if said is None:
            self.problems.add(place, f"{_NO_TYPE} with a task behind it", words)
            return
        for each in said.objects:
            self._link(place, said.type, each)

    def _one(self, place: str, item: dict[Any, Any]) -> None:
        """`{type: supersedes, task: T1, why: "…"}`."""
        written.unknown(self.problems, place, item, _RELATION)
        kind = _type(self.problems, place, item)
        target = written.one_of(self.problems, place, item, _OBJECT)
        subject = written.one_of(self.problems, place, item, _SUBJECT)
        if kind is None:
            return
        if target is None:
            self.problems.add(place, "it does not say which task it is about")
        elif subject is not None and self._known(written.scalar(subject)) != self._own:
            self.problems.add(place, f"what others do stands in their files or in {FILE}", subject)
        else:
            for at, each in written.items(self.problems, place, target):
                self._link(at, kind, each, written.why(item))

    def _link(
        self, place: str, kind: str, item: object, reason: dict[str, Any] | None = None
    ) -> None:
        """An edge between this task and what an entry names."""
        reason = {**(reason or {}), **written.why(item)}
        words = item
        if isinstance(item, dict):
            words = written.one_of(self.problems, place, item, _OBJECT)
            written.unknown(self.problems, place, item, (*_OBJECT, *written.WHY))
        name = written.scalar(words)
        if kind in graph.OF_CODE:
            found = references.reference(name)
            if found is None or isinstance(found, Word):
                self.problems.add(place, f"'{kind}' is about code", words)
            else:
                detail = {**_detail(found), **reason}
                self.edges.add(self._own, kind, _key_of_code(found), place, detail)
            return
        target = self._known(name)
        if target is None:
            self.problems.add(place, _NOBODY, words)
        elif target == self._own:
            self.problems.add(place, "a task has no relation to itself", words)
        else:
            self.edges.add(self._own, kind, target, place, reason)

    def _known(self, name: str) -> Key | None:
        found = references.reference(name)
        return None if found is None else references.key_of(Word(name), self._resolve)


# The file of the repository


def file(content: bytes) -> DeclaredFile:
    """What `work/lineage.yaml` declares, as words."""
    problems = written.Problems()
    fields = _fields(content, problems)
    written.unknown(problems, FILE, fields, ("relations", "same_as", "version"))
    relations = [
        relation
        for place, item in written.items(problems, "relations", fields.get("relations"))
        for relation in _relation(problems, place, item)
    ]
    same = [
        found
        for place, item in written.items(problems, "same_as", fields.get("same_as"))
        if (found := _same(problems, place, item))
    ]
    return DeclaredFile(tuple(relations), tuple(same), problems.all())


def edges(declared: DeclaredFile, resolve: Resolve, *, path: str = FILE, at: str = "") -> Declared:
    """The edges that the file of the repository declares, with what its words mean by now."""
    problems = written.Problems()
    found = _Edges(path, at)
    for each in declared.relations:
        subject, target = _node(each.subject, resolve), _node(each.object, resolve)
        if subject is None or target is None:
            wrong = each.subject if subject is None else each.object
            problems.add(each.place, _NOBODY, wrong.text if isinstance(wrong, Word) else None)
            continue
        begin, kind, end = graph.stored(subject, each.type, target)
        if reason := _unfit(begin, kind, end):
            problems.add(each.place, reason)
            continue
        detail = _detail(each.object if end == target else each.subject)
        found.add(begin, kind, end, each.place, {**detail, **written.why({"why": each.why})})
    return Declared(found.all(), problems.all())


def _fields(content: bytes, problems: written.Problems) -> dict[str, Any]:
    if len(content) > document.MAX_BYTES:
        problems.add(FILE, f"it is larger than {document.MAX_BYTES // 1024} KiB and was not read")
        return {}
    if not content.strip():
        return {}
    read = document.read(content)
    if read.problem:
        problems.add(f"line {read.line}" if read.line else FILE, read.problem)
    return read.fields


def _relation(problems: written.Problems, place: str, item: object) -> Iterator[Relation]:
    """The relations of one entry: it may have a list of objects."""
    kind, subject, objects = _stated(problems, place, item)
    if kind is None:
        return
    begin = references.reference(subject)
    if begin is None or not objects:
        problems.add(place, "it does not say what it is about", subject)
        return
    reason = str(written.why(item).get("why", ""))
    for each in objects:
        end = references.reference(each)
        if end is None:
            problems.add(place, "this names nothing", each)
        elif end == begin:
            problems.add(place, "nothing has a relation to itself", each)
        else:
            yield Relation(begin, kind, end, reason, place)


def _stated(
    problems: written.Problems, place: str, item: object
) -> tuple[str | None, str, list[str]]:
    """The type, the subject and the objects of an entry: a mapping, or `T2 supersedes T1`."""
    if isinstance(item, dict):
        written.unknown(problems, place, item, _RELATION)
        subject = written.scalar(written.one_of(problems, place, item, _SUBJECT))
        given = written.one_of(problems, place, item, _OBJECT[1:])
        objects = [written.scalar(each) for _, each in written.items(problems, place, given)]
        return _type(problems, place, item), subject, objects
    subject, _, rest = item.strip().partition(" ") if isinstance(item, str) else ("", "", "")
    said = references.statement(rest)
    if said is None:
        problems.add(place, "this is no relation", item)
        return None, "", []
    return said.type, subject, list(said.objects)


def _same(problems: written.Problems, place: str, item: object) -> Same | None:
    if not isinstance(item, dict):
        problems.add(place, "this is no pair of 'from' and 'to'", item)
        return None
    written.unknown(problems, place, item, _SAME)
    pair = [written.one_of(problems, place, item, names) for names in (_BEFORE, _AFTER)]
    before, after = (references.reference(written.scalar(each)) for each in pair)
    if before is None or after is None or isinstance(before, Word) or isinstance(after, Word):
        is_first = before is None or isinstance(before, Word)
        problems.add(place, "this is no code: write PATH#NAME or node:ID", pair[not is_first])
        return None
    if before == after:
        problems.add(place, "both are the same place")
        return None
    commit = written.scalar(written.one_of(problems, place, item, _COMMIT)).lower()
    if commit and _HASH.fullmatch(commit) is None:
        problems.add(place, "'at' names no commit by its hash", commit)
        return None
    return Same(before, after, commit, str(written.why(item).get("why", "")), place)


# What both have


def _has_type(item: dict[Any, Any]) -> bool:
    return any(item.get(name) is not None for name in _TYPE)


def _type(problems: written.Problems, place: str, item: dict[Any, Any]) -> str | None:
    name = written.one_of(problems, place, item, _TYPE)
    kind = references.type_of(name) if isinstance(name, str) else None
    if kind is None:
        problems.add(place, _NO_TYPE, name)
    return kind


def _node(reference: Reference, resolve: Resolve) -> Key | None:
    if isinstance(reference, Word):
        return references.key_of(reference, resolve)
    if isinstance(reference, Code) and not reference.name and "/" not in reference.path:
        # Some ids have an ending like that of a file.
        return resolve(reference.path) or _key_of_code(reference)
    return _key_of_code(reference)


def _key_of_code(reference: Reference) -> Key:
    return graph.path_key(reference.path) if isinstance(reference, Code) else str(reference)


def _detail(reference: Reference) -> dict[str, Any]:
    """What the key of a place does not say: the symbol there, and whether it is a pattern."""
    if not isinstance(reference, Code):
        return {}
    detail: dict[str, Any] = {"name": reference.name} if reference.name else {}
    if any(sign in reference.path for sign in "*?{"):
        detail["is_pattern"] = True
    return detail


def _unfit(subject: Key, kind: str, target: Key) -> str:
    """Why two nodes cannot have an edge of this type; empty if they can."""
    is_code, has_code = (not key.startswith(("task:", "decision:")) for key in (subject, target))
    if kind in graph.OF_CODE:
        if not has_code:
            return f"'{kind}' is about code"
        return f"code has no '{kind}'" if is_code and kind != "describes" else ""
    if is_code and has_code:
        return "between two pieces of code only 'same_as' holds"
    return f"'{kind}' is between tasks and decisions" if is_code or has_code else ""
