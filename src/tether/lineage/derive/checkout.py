"""What a checkout says: its tasks with or without a file, what is declared, decisions, documents.

Every input is read again only if it has changed, and what it says is replaced as a whole. Each
checkout is a scope of its own: branches say different things.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping

from tether import errors, ids, text
from tether.git import Git, Oid
from tether.hints import NamedTuple
from tether.lineage import languages
from tether.lineage.biography import model as story
from tether.lineage.biography import records
from tether.lineage.derive import (
    decisions,
    declared,
    documents,
    external,
    ground,
    hinges,
    meanings,
    sentences,
    written,
)
from tether.lineage.derive.references import Code, Reference, Word
from tether.lineage.edges import ledger, model
from tether.tasks import workdir
from tether.tasks.sources import finding, patterns

TEXT, DECLARED, REVIEW, LINK = "task-text", "declared", "review-cite", "runtime-link"
DECISIONS, DOCUMENTS, EXTERNAL = "adr-text", "doc-mention", "external"
# Another number makes everybody read all texts again: change it with what is made of them.
_VERSION = "4"
_OF_TASKS = (TEXT, DECLARED, REVIEW, LINK)
_MAX_DOCUMENT_BYTES = 1024 * 1024
_MAX_DOCUMENTS = 5000
_MAX_EXPANDED = 100
_TEXTS = ("description", "plan", "result", "error")
_RESULTS = ("result", "error")
# What a task that was cancelled meant to do to others, and did not.
_DEEDS = ("supersedes", "extends", "reverts")
_MEANT = 0.4
# A document that calls something as it was called before is not read by those who renamed it.
_FORMER = documents.LESS_SURE


Find = Callable[[str], list[patterns.Found]]


class Here(NamedTuple):
    """A checkout, and what it takes to read it."""

    scope: str
    """Its top."""
    git: Git
    commit: Oid
    work: workdir.Workdir
    lists: finding.Lists
    find: Find
    kinds: str
    """Of ids that are found: others make texts mean something else."""
    links: tuple[str, ...] = ()
    """Files with links of other tools."""


class Derived(NamedTuple):
    """What reading a checkout came to."""

    read: int
    """Inputs that said something new, or are gone."""
    problems: tuple[str, ...]


def derive(
    connection: sqlite3.Connection,
    here: Here,
    tasks: Iterable[written.Task],
    standing: ground.Ground,
    derived_at: str,
    tell: Callable[[str], None] = lambda _: None,
) -> Derived:
    """Bring forward what a checkout says."""
    found = {each.name: each for each in tasks}
    keys = [each.key for each in found.values()]
    mark = hinges.Mark(standing.line.number, tuple(sorted(keys)))
    stale = hinges.stale(connection, here.scope, mark)
    reader = _Reader(connection, here, standing, keys, stale, derived_at)
    count = reader.read_tasks(found, tell)
    count += reader.read_decisions()
    # After what it is about, which says since when it can have been so.
    count += reader.read_declarations()
    count += reader.read_documents(tell)
    count += reader.read_links()
    hinges.keep(connection, here.scope, mark)
    return Derived(count, tuple(reader.problems))


class _Reader:
    """Reads the inputs of one checkout."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        here: Here,
        standing: ground.Ground,
        keys: Iterable[model.Key],
        stale: hinges.Stale,
        derived_at: str,
    ) -> None:
        self._connection = connection
        self._here = here
        self._ground = standing
        self._entries = {e.path: e for e in here.git.tree(here.commit) if e.kind == "blob"}
        self._stale = stale
        self._notes = hinges.Notes()
        self._derived_at = derived_at
        self._ids: dict[str, list[model.Key]] = {}
        for key in keys:
            self._ids.setdefault(model.label(key), []).append(key)
        self._kinds: dict[model.Key, model.Kind] = {}
        self._meanings = meanings.Meanings(standing, self._entries, self._notes)
        self.problems: list[str] = []

    def resolve(self, word: str) -> model.Key | None:
        """The task or decision that a word means."""
        if word.startswith("decision:"):
            return word
        source, colon, rest = word.partition(":")
        self._notes.task(rest if colon and rest else word)
        if colon and rest:
            wanted = model.task_key(ids.TaskKey(source, rest))
            return wanted if wanted in self._ids.get(rest, []) else None
        known = self._ids.get(word, [])
        if len(known) == 1:
            return known[0]
        found = self._here.find(word)
        if len(found) == 1 and len(found[0].id) == len(word):
            self._notes.task(found[0].id)
            return model.task_key(ids.TaskKey(found[0].source, found[0].id))
        return None

    def read_tasks(self, found: Mapping[str, written.Task], tell: Callable[[str], None]) -> int:
        known = self._known(TEXT)
        gone = [name for name in known if name not in found]
        stamps = {name: self._stamp(each.stamp) for name, each in found.items()}
        fresh = [each for each in found.values() if known.get(each.name) != stamps[each.name]]
        said: dict[str, list[ledger.Said]] = {deriver: [] for deriver in _OF_TASKS}
        told: dict[str, story.Record] = {}
        for count, each in enumerate(fresh):
            task, known_problems = each.load(), len(self.problems)
            edges = self._of_task(each.key, task) if task else {}
            hinges_of = {TEXT: self._notes.taken()}
            stamp = self._unsettled(stamps[each.name], known_problems)
            for deriver in _OF_TASKS:
                some, words = tuple(edges.get(deriver, ())), hinges_of.get(deriver, frozenset())
                said[deriver].append(ledger.Said(each.name, stamp, some, words))
            if task is not None:
                told[each.key] = written.record(each.key, task)
            if count % 200 == 0:
                tell(f"reading tasks: {count} of {len(fresh)}")
        for deriver in _OF_TASKS:
            self._say(deriver, said[deriver], gone)
        # First what is gone: a task whose file moved is there under another name.
        records.forget(self._connection, self._here.scope, map(written.key_of_input, gone))
        records.keep(self._connection, self._here.scope, told)
        return len(fresh) + len(gone)

    def _of_task(self, key: model.Key, task: written.Written) -> dict[str, list[model.Edge]]:
        """What every deriver makes of one task."""
        found = declared.task(task.fields, key, self.resolve, path=task.path, at=task.created_at)
        self.problems += [f"{task.path}: {each}" for each in found.problems]
        edges: dict[str, list[model.Edge]] = {TEXT: [], DECLARED: [], REVIEW: [], LINK: []}
        for edge in found.edges:
            is_link = edge.type == "follows-up"
            edges[LINK if is_link else DECLARED] += map(self._grounded, self._expanded(edge))
        edges[LINK] += self._follow_up(key, task)
        for field in _TEXTS:
            value = written.field(task.fields, field)
            at = task.closed_at if field in _RESULTS else ""
            edges[TEXT] += self._said(key, value, field, task, at)
        for value, at in task.reviews:
            edges[REVIEW] += self._said(key, value, "review", task, at)
        return edges

    def _follow_up(self, key: model.Key, task: written.Written) -> Iterator[model.Edge]:
        """`T1-2` follows up T1, if that is there."""
        parent, dash, number = model.label(key).rpartition("-")
        if not (dash and number.isdecimal()):
            return
        self._notes.task(parent)
        if self._ids.get(parent):
            pointer = f"file:{task.path}"
            yield model.Edge(key, "follows-up", self._ids[parent][0], 1.0, task.created_at, pointer)

    def _said(
        self, key: model.Key, value: str, field: str, task: written.Written, at: str
    ) -> Iterator[model.Edge]:
        for said in sentences.read(value, self._here.find, key, field):
            pointer = f"file:{task.path}#field={field}"
            detail = {"verb": said.verb, "line": said.line, "text": said.text}
            is_void = task.status == "cancelled" and said.type in _DEEDS and said.subject == key
            sure = min(said.confidence, _MEANT) if is_void else said.confidence
            yield model.Edge(
                said.subject, said.type, said.object, sure, at or task.created_at, pointer, detail
            )

    def _expanded(self, edge: model.Edge) -> list[model.Edge]:
        """An edge to what a pattern stands for: its files, or as it is written if it is vague."""
        if not edge.detail.get("is_pattern"):
            return [edge]
        paths = self._meanings.files(edge.object.removeprefix("path:"))
        if not 0 < len(paths) <= _MAX_EXPANDED:
            return [edge]
        return [edge._replace(object=model.path_key(path)) for path in paths]

    def _grounded(self, edge: model.Edge) -> model.Edge:
        """An edge to a path as one to the file or symbol that stands there, or did so last."""
        if not edge.object.startswith("path:"):
            return edge
        path, name = edge.object.removeprefix("path:"), str(edge.detail.get("name", ""))
        node = self._meanings.last(path, name) or self._meanings.last(path)
        if node is None:
            return edge
        self._kinds[node.key] = node.kind
        return edge._replace(object=node.key)

    def read_declarations(self) -> int:
        """`work/lineage.yaml`."""
        path = f"{self._here.work.root}/lineage.yaml"
        raw = self._raw(path)
        if raw is None:
            if not self._is_new(DECLARED, path, ""):
                return 0
            ledger.forget(self._connection, DECLARED, self._here.scope, [path])
            return 1
        found = declared.file(raw)
        meant = declared.edges(found, self.resolve, path=path)
        dated = self._dated(meant.edges, path)
        stamp = self._stamp(_digest(raw + repr([each.at for each in dated]).encode()))
        if not self._is_new(DECLARED, path, stamp):
            self._notes.taken()
            return 0
        known_problems = len(self.problems)
        self.problems += [f"{path}: {each}" for each in (*found.problems, *meant.problems)]
        self.problems += [f"{path}: {each}" for each in self._unwritten(dated)]
        every = (each for edge in dated for each in self._expanded(edge))
        edges = [self._grounded(each) for each in every]
        edges += [edge for each in found.same_as if (edge := self._same(each, path))]
        stamp = self._unsettled(stamp, known_problems)
        self._say(DECLARED, [ledger.Said(path, stamp, tuple(edges), self._notes.taken())], [])
        return 1

    def _unwritten(self, edges: Iterable[model.Edge]) -> Iterator[str]:
        """Decisions that are named and that no file has: perhaps a slip, perhaps still to come."""
        known = records.keys(self._connection, self._here.scope, "decision")
        named = {key for each in edges for key in (each.subject, each.object)}
        for key in sorted(named - known):
            if key.startswith("decision:"):
                yield f"no decision is called {text.one_line(model.label(key), 100)} here"

    def _dated(self, edges: Iterable[model.Edge], path: str) -> list[model.Edge]:
        """Edges of which nobody wrote down when: both ends were there before.

        If nothing is known of them, then since the file that says so is there.
        """
        some = list(edges)
        own = self._ground.file(path)
        since = self._ground.since(own) if own else ""
        ends = {key for each in some for key in (each.subject, each.object)}
        known = records.read(self._connection, ("", self._here.scope), ends)
        begun = {key: each.created_at for key, each in known.items()}
        return [
            each._replace(at=max(begun.get(each.subject, ""), begun.get(each.object, "")) or since)
            for each in some
        ]

    def _same(self, each: declared.Same, path: str) -> model.Edge | None:
        """That two pieces of code are one, if both are known here."""
        before, after = self._code(each.before), self._code(each.after)
        if before is None or after is None:
            self.problems.append(f"{path}: {each.place}: this code is not known here")
            return None
        at = self._ground.made(each.at) if each.at else self._ground.since(after)
        if not at and each.at:
            self.problems.append(f"{path}: {each.place}: the commit {each.at} is not known here")
        pointer, detail = f"file:{path}#field={each.place}", {"why": each.why}
        return model.Edge(after.key, "same_as", before.key, 1.0, at, pointer, detail)

    def _code(self, reference: Reference) -> ground.Node | None:
        """The node of some code, standing or gone."""
        if isinstance(reference, Word):
            return None
        if not isinstance(reference, Code):
            node: ground.Node | None = ground.Node(reference, "symbol")
        else:
            node = self._meanings.last(*reference)
            # A slip in a name must not mean the whole file.
            if node is not None and reference.name and node.kind == "file":
                node = None
        if node is not None:
            self._kinds[node.key] = node.kind
        return node

    def read_decisions(self) -> int:
        """The decision files of the commit; together, because they name each other."""
        wanted = {
            path: entry.oid
            for path, entry in self._entries.items()
            if decisions.is_decision_file(path) and entry.mode.startswith("100")
        }
        stamp = self._stamp(_digest(repr(sorted(wanted.items())).encode()))
        if not self._is_new(DECISIONS, "decisions", stamp):
            return 0
        read: list[decisions.Decision] = []
        for path, content in self._contents(wanted):
            read += decisions.read(path, content, self._here.find)
        named = [self._since(each) for each in decisions.named(read)]
        register = decisions.Register(named)
        edges = [
            self._grounded(edge)
            for each in named
            for edge in decisions.edges(each, register, self._meanings.places)
        ]
        for each in named:
            for place in each.governs:
                self._notes.pattern(place.pattern)
        said = [ledger.Said("decisions", stamp, tuple(edges), self._notes.taken())]
        self._say(DECISIONS, said, [])
        told = {model.decision_key(each.name): _decision(each) for each in named}
        before = records.keys(self._connection, self._here.scope, "decision")
        records.forget(self._connection, self._here.scope, before - told.keys())
        records.keep(self._connection, self._here.scope, told)
        return 1

    def _since(self, decision: decisions.Decision) -> decisions.Decision:
        """A decision that says no date is as old as its file."""
        node = None if decision.date else self._ground.file(decision.path)
        return decision._replace(date=self._ground.since(node)) if node else decision

    def read_documents(self, tell: Callable[[str], None]) -> int:
        """The documents of the commit that name code."""
        wanted = {
            path: entry.oid
            for path, entry in self._entries.items()
            if (language := languages.of_path(path)) is not None
            and language.name == "markdown"
            and entry.mode.startswith("100")
        }
        wanted = dict(sorted(wanted.items())[:_MAX_DOCUMENTS])
        known = self._known(DOCUMENTS)
        stamps = {path: self._stamp(oid) for path, oid in wanted.items()}
        fresh = {path: oid for path, oid in wanted.items() if known.get(path) != stamps[path]}
        gone = [path for path in known if path not in wanted]
        said = []
        for count, (path, content) in enumerate(self._contents(fresh)):
            edges = tuple(self._described(path, content))
            said.append(ledger.Said(path, stamps[path], edges, self._notes.taken()))
            if count % 20 == 0:
                tell(f"reading documents: {count} of {len(fresh)}")
        # What is no text, or too long to be read, says nothing any more.
        told = {each.name for each in said}
        said += [ledger.Said(path, stamps[path], ()) for path in fresh if path not in told]
        self._say(DOCUMENTS, said, gone)
        return len(said) + len(gone)

    def _described(self, path: str, content: str) -> Iterator[model.Edge]:
        self._notes.path(path)
        for name in documents.names(content):
            meant = self._meanings.named(name, path)
            section = self._ground.section(path, name.line) if meant else None
            if meant is None or section is None or section.key == meant.node.key:
                continue
            node = meant.node
            self._kinds[node.key], self._kinds[section.key] = node.kind, section.kind
            pointer = f"file:{path}#line={name.line}"
            detail = {"name": text.one_line(name.words, 100)}
            # It may have been told of later: `biography` looks at what stood there then.
            since = self._ground.since(section)
            sure = min(name.confidence, _FORMER) if meant.is_former else name.confidence
            yield model.Edge(section.key, "describes", node.key, sure, since, pointer, detail)

    def read_links(self) -> int:
        """The links of other tools."""
        known = self._known(EXTERNAL)
        count = 0
        for path in self._here.links:
            raw = self._raw(path)
            if raw is None:
                self.problems.append(f"{path}: there is no such file")
                count += path in known
                ledger.forget(self._connection, EXTERNAL, self._here.scope, [path])
                continue
            stamp = self._stamp(_digest(raw))
            if known.get(path) == stamp:
                continue
            found = external.read(raw, path, self.resolve)
            known_problems = len(self.problems)
            self.problems += found.problems
            stamp = self._unsettled(stamp, known_problems)
            said = ledger.Said(path, stamp, found.edges, self._notes.taken())
            self._say(EXTERNAL, [said], [])
            count += 1
        gone = [path for path in known if path not in self._here.links]
        ledger.forget(self._connection, EXTERNAL, self._here.scope, gone)
        return count + len(gone)

    def _raw(self, path: str) -> bytes | None:
        try:
            return self._here.work.files.read_bytes(path, external.MAX_BYTES)
        except (errors.FileError, errors.NotFound):
            return None

    def _contents(self, wanted: Mapping[str, Oid]) -> Iterator[tuple[str, str]]:
        """The texts of files, without those that are none."""
        paths = list(wanted)
        blobs = self._here.git.blobs(wanted.values(), max_bytes=_MAX_DOCUMENT_BYTES)
        for path, blob in zip(paths, blobs, strict=True):
            if blob.data is not None and b"\0" not in blob.data[:8000]:
                yield path, blob.data.decode("utf-8", "replace")

    def _is_new(self, deriver: str, name: str, stamp: str) -> bool:
        return self._known(deriver).get(name, "") != stamp

    def _known(self, deriver: str) -> dict[str, str]:
        """What was read, and what it said then; it said nothing if it may mean something else."""
        known = ledger.known(self._connection, deriver, self._here.scope)
        return {
            name: "stale" if (deriver, name) in self._stale else stamp
            for name, stamp in known.items()
        }

    def _stamp(self, content: str) -> str:
        return f"{_VERSION} {self._here.kinds} {content}"

    def _unsettled(self, stamp: str, problems: int) -> str:
        """A stamp that is never met again, if there are problems: they are told until settled."""
        return f"! {stamp}" if len(self.problems) > problems else stamp

    def _say(self, deriver: str, said: list[ledger.Said], gone: list[str]) -> None:
        scope = self._here.scope
        if gone:
            ledger.forget(self._connection, deriver, scope, gone)
        if said:
            ledger.replace_all(
                self._connection, deriver, scope, said, self._derived_at, self._kinds
            )


def _decision(each: decisions.Decision) -> story.Record:
    return story.Record(
        key=model.decision_key(each.name),
        id=each.id or each.name,
        title=text.one_line(each.title, 300),
        status=each.status,
        created_at=each.date,
        sentence=each.sentence,
        sentence_field=each.section,
        pointer=f"file:{each.path}#line={each.line}",
    )


def _digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=12).hexdigest()
