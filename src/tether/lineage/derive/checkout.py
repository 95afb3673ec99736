"""What a checkout says: its tasks with or without a file, what is declared, decisions, documents.

Every input is read again only if it has changed, and what it says is replaced as a whole. Each
checkout is a scope of its own: branches say different things.
"""

from __future__ import annotations

import functools
import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping

from tether import errors, ids, index, text
from tether.git import Git, Oid, TreeEntry
from tether.hints import Any, NamedTuple
from tether.lineage import languages
from tether.lineage.biography import model as story
from tether.lineage.biography import picking, records
from tether.lineage.derive import decisions, declared, documents, external, ground, sentences
from tether.lineage.derive.references import Code, Reference, Word
from tether.lineage.edges import ledger, model
from tether.tasks import model as tasks
from tether.tasks import states, workdir
from tether.tasks.sources import finding, patterns
from tether.tasks.sources import model as lists

TEXT, DECLARED, REVIEW, LINK = "task-text", "declared", "review-cite", "runtime-link"
DECISIONS, DOCUMENTS, EXTERNAL = "adr-text", "doc-mention", "external"
# Another number makes everybody read all texts again: change it with what is made of them.
_VERSION = "1"
_OF_TASKS = (TEXT, DECLARED, REVIEW, LINK)
_MAX_DOCUMENT_BYTES = 1024 * 1024
_MAX_DOCUMENTS = 5000
_MAX_EXPANDED = 100
_REVIEWED = ("review", "audit")
_TEXTS = ("description", "plan", "result", "error")


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
    links: tuple[str, ...] = ()
    """Files with links of other tools."""


class Derived(NamedTuple):
    """What reading a checkout came to."""

    read: int
    """Inputs that said something new, or are gone."""
    problems: tuple[str, ...]


class _Task(NamedTuple):
    """A task as somebody wrote it down, with a file or on a list."""

    key: model.Key
    name: str
    """Of the input."""
    stamp: str
    load: Callable[[], _Written | None]


class _Written(NamedTuple):
    """What is written of a task."""

    fields: dict[str, Any]
    path: str
    line: int
    status: str
    agent: str
    created_at: str
    changed_at: str
    reviews: tuple[str, ...] = ()


def derive(
    connection: sqlite3.Connection,
    here: Here,
    standing: ground.Ground,
    derived_at: str,
    tell: Callable[[str], None] = lambda _: None,
) -> Derived:
    """Bring forward what a checkout says."""
    found = {each.name: each for each in _tasks(here)}
    entries = {e.path: e for e in here.git.tree(here.commit) if e.kind == "blob"}
    keys = [each.key for each in found.values()]
    reader = _Reader(connection, here, standing, entries, keys, derived_at)
    count = reader.read_tasks(found, tell)
    count += reader.read_declarations()
    count += reader.read_decisions()
    count += reader.read_documents(tell)
    count += reader.read_links()
    return Derived(count, tuple(reader.problems))


def _tasks(here: Here) -> Iterator[_Task]:
    """All tasks of a checkout; of one that is there twice, the first."""
    regular, _ = here.work.look(states.PLACES)
    seen: set[model.Key] = set()
    for path, stat in sorted(regular.items()):
        found = workdir.located(path, here.work.root)
        if found is None or not ids.TaskId.is_valid(found.task_id):
            continue
        key = model.task_key(ids.TaskKey(ids.OWN_SOURCE, found.task_id))
        if key not in seen:
            seen.add(key)
            load = functools.partial(_of_file, here.work, found)
            yield _Task(key, path, f"{_VERSION} {index.stamp(stat)}", load)
    for item_key, item in here.lists.items.items():
        key = model.task_key(item_key)
        said = repr(item).encode("utf-8", "surrogatepass")
        stamp = f"{_VERSION} {hashlib.blake2b(said, digest_size=12).hexdigest()}"
        name = f"list:{item_key.source}:{item_key.id}"
        yield _Task(key, name, stamp, functools.partial(_of_item, item))


def _of_file(work: workdir.Workdir, found: workdir.Found) -> _Written | None:
    try:
        loaded = work.load(found)
    except (errors.FileError, errors.NotFound, errors.TetherError):
        return None
    task, fields = loaded.task, loaded.document.fields
    history = fields.get("history")
    entries = [e for e in history if isinstance(e, dict)] if isinstance(history, list) else []
    changed = [tasks.stamp(entry.get("at")) for entry in entries]
    status = "cancelled" if task.is_cancelled else task.state
    return _Written(
        fields,
        task.path,
        0,
        status,
        task.owner,
        task.created_at,
        max((task.completed_at, *changed, task.created_at)),
        tuple(_reviews(entries)),
    )


def _reviews(entries: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What was said of a task by those who looked at it."""
    for entry in entries:
        said = entry.get("note")
        what = str(entry.get("what", ""))
        is_review = what.startswith(_REVIEWED) or str(said).casefold().startswith(_REVIEWED)
        if isinstance(said, str) and is_review:
            yield said


def _of_item(item: lists.Item) -> _Written:
    fields: dict[str, Any] = {
        "title": item.text,
        "description": item.description,
        "depends_on": list(item.depends_on),
        "acceptance": [said for _, said in item.acceptance],
    }
    if item.parent:
        fields["parent"] = item.parent
    return _Written(
        fields, item.path, item.line, item.state, item.owner, item.created_at, item.updated_at
    )


class _Reader:
    """Reads the inputs of one checkout."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        here: Here,
        standing: ground.Ground,
        entries: Mapping[str, TreeEntry],
        keys: Iterable[model.Key],
        derived_at: str,
    ) -> None:
        self._connection = connection
        self._here = here
        self._ground = standing
        self.entries = entries
        """What the commit has."""
        self._derived_at = derived_at
        self._ids: dict[str, list[model.Key]] = {}
        for key in keys:
            self._ids.setdefault(model.label(key), []).append(key)
        self._kinds: dict[model.Key, model.Kind] = {}
        self.problems: list[str] = []

    def resolve(self, word: str) -> model.Key | None:
        """The task or decision that a word means."""
        if word.startswith("decision:"):
            return word
        source, colon, rest = word.partition(":")
        if colon and rest:
            wanted = model.task_key(ids.TaskKey(source, rest))
            return wanted if wanted in self._ids.get(rest, []) else None
        known = self._ids.get(word, [])
        if len(known) == 1:
            return known[0]
        found = self._here.find(word)
        if len(found) == 1 and len(found[0].id) == len(word):
            return model.task_key(ids.TaskKey(found[0].source, found[0].id))
        return None

    def read_tasks(self, found: Mapping[str, _Task], tell: Callable[[str], None]) -> int:
        known = ledger.known(self._connection, TEXT, self._here.scope)
        gone = [name for name in known if name not in found]
        fresh = [each for each in found.values() if known.get(each.name) != each.stamp]
        said: dict[str, list[ledger.Said]] = {deriver: [] for deriver in _OF_TASKS}
        told: dict[str, story.Record] = {}
        for count, each in enumerate(fresh):
            written = each.load()
            edges = self._of_task(each, written) if written else {}
            for deriver in _OF_TASKS:
                said[deriver].append(
                    ledger.Said(each.name, each.stamp, tuple(edges.get(deriver, ())))
                )
            if written is not None:
                told[each.key] = _record(each.key, written)
            if count % 200 == 0:
                tell(f"reading tasks: {count} of {len(fresh)}")
        for deriver in _OF_TASKS:
            self._say(deriver, said[deriver], gone)
        records.keep(self._connection, self._here.scope, told)
        records.forget(self._connection, self._here.scope, map(_key_of_input, gone))
        return len(fresh) + len(gone)

    def _of_task(self, task: _Task, written: _Written) -> dict[str, list[model.Edge]]:
        """What every deriver makes of one task."""
        found = declared.task(
            written.fields, task.key, self.resolve, path=written.path, at=written.created_at
        )
        self.problems += [f"{written.path}: {each}" for each in found.problems]
        edges: dict[str, list[model.Edge]] = {TEXT: [], DECLARED: [], REVIEW: [], LINK: []}
        for edge in found.edges:
            is_link = edge.type == "follows-up"
            some = self._expanded(edge) if edge.detail.get("is_pattern") else [edge]
            edges[LINK if is_link else DECLARED] += map(self._grounded, some)
        edges[LINK] += self._follow_up(task.key, written)
        for field in _TEXTS:
            value = _field(written.fields, field)
            edges[TEXT] += self._said(task.key, value, field, written)
        for value in written.reviews:
            edges[REVIEW] += self._said(task.key, value, "review", written)
        return edges

    def _follow_up(self, key: model.Key, written: _Written) -> Iterator[model.Edge]:
        """`T1-2` follows up T1, if that is there."""
        task = model.task_of(key)
        parent, dash, number = task.id.rpartition("-") if task else ("", "", "")
        if dash and number.isdecimal() and self._ids.get(parent):
            pointer = f"file:{written.path}"
            yield model.Edge(
                key, "follows-up", self._ids[parent][0], 1.0, written.created_at, pointer
            )

    def _said(
        self, key: model.Key, value: str, field: str, written: _Written
    ) -> Iterator[model.Edge]:
        for said in sentences.read(value, self._here.find, key, field):
            pointer = f"file:{written.path}#field={field}"
            detail = {"verb": said.verb, "line": said.line, "text": said.text}
            at = written.changed_at if field in ("result", "review", "error") else ""
            at = at or written.created_at
            yield model.Edge(
                said.subject, said.type, said.object, said.confidence, at, pointer, detail
            )

    def _expanded(self, edge: model.Edge) -> list[model.Edge]:
        """An edge to what a pattern stands for: its files, or as it is written if it is vague."""
        paths = self._tree.matching(edge.object.removeprefix("path:"))
        if not 0 < len(paths) <= _MAX_EXPANDED:
            return [edge]
        return [edge._replace(object=model.path_key(path)) for path in paths]

    @functools.cached_property
    def _tree(self) -> decisions.Tree:
        return decisions.Tree(self.entries)

    def _grounded(self, edge: model.Edge) -> model.Edge:
        """An edge to a path as one to the file or symbol that stands there."""
        if not edge.object.startswith("path:"):
            return edge
        path, name = edge.object.removeprefix("path:"), str(edge.detail.get("name", ""))
        node = self._ground.symbol(path, name) if name else None
        node = node or self._ground.file(path)
        if node is None:
            return edge
        self._kinds[node.key] = node.kind
        return edge._replace(object=node.key)

    def read_declarations(self) -> int:
        """`work/lineage.yaml`."""
        path = f"{self._here.work.root}/lineage.yaml"
        raw = self._raw(path)
        stamp = f"{_VERSION} {_digest(raw)}" if raw is not None else ""
        if not self._is_new(DECLARED, path, stamp):
            return 0
        if raw is None:
            ledger.forget(self._connection, DECLARED, self._here.scope, [path])
            return 1
        found = declared.file(raw)
        meant = declared.edges(found, self.resolve, path=path)
        self.problems += [f"{path}: {each}" for each in (*found.problems, *meant.problems)]
        edges = [self._grounded(each) for each in meant.edges]
        edges += [edge for each in found.same_as if (edge := self._same(each, path))]
        self._say(DECLARED, [ledger.Said(path, stamp, tuple(edges))], [])
        return 1

    def _same(self, each: declared.Same, path: str) -> model.Edge | None:
        """That two pieces of code are one, if both are known here."""
        before, after = self._code(each.before), self._code(each.after)
        if before is None or after is None:
            self.problems.append(f"{path}: {each.place}: this code is not known here")
            return None
        pointer, detail = f"file:{path}#field={each.place}", {"why": each.why}
        return model.Edge(after, "same_as", before, 1.0, "", pointer, detail)

    def _code(self, reference: Reference) -> model.Key | None:
        """The node of some code, standing or gone."""
        if isinstance(reference, Word):
            return None
        if not isinstance(reference, Code):
            self._kinds[reference] = "symbol"
            return reference
        path, name = reference
        node = self._ground.symbol(path, name) if name else self._ground.file(path)
        node = node or self._ground.gone(path, name)
        if node is None:
            return None
        self._kinds[node.key] = node.kind
        return node.key

    def read_decisions(self) -> int:
        """The decision files of the commit; together, because they name each other."""
        wanted = {
            path: entry.oid
            for path, entry in self.entries.items()
            if decisions.is_decision_file(path) and entry.mode.startswith("100")
        }
        stamp = f"{_VERSION} {_digest(repr(sorted(wanted.items())).encode())}"
        if not self._is_new(DECISIONS, "decisions", stamp):
            return 0
        read: list[decisions.Decision] = []
        for path, content in self._contents(wanted):
            read += decisions.read(path, content, self._here.find)
        register = decisions.Register(named := decisions.named(read))
        edges = [
            self._grounded(edge)
            for each in named
            for edge in decisions.edges(each, register, self._tree)
        ]
        said = [ledger.Said("decisions", stamp, tuple(edges))]
        self._say(DECISIONS, said, [])
        told = {model.decision_key(each.name): _decision(each) for each in named}
        before = records.keys(self._connection, self._here.scope, "decision")
        records.forget(self._connection, self._here.scope, before - told.keys())
        records.keep(self._connection, self._here.scope, told)
        return 1

    def read_documents(self, tell: Callable[[str], None]) -> int:
        """The documents of the commit that name code."""
        wanted = {
            path: entry.oid
            for path, entry in self.entries.items()
            if (language := languages.of_path(path)) is not None
            and language.name == "markdown"
            and entry.mode.startswith("100")
        }
        wanted = dict(sorted(wanted.items())[:_MAX_DOCUMENTS])
        known = ledger.known(self._connection, DOCUMENTS, self._here.scope)
        stamps = {path: f"{_VERSION} {oid}" for path, oid in wanted.items()}
        fresh = {path: oid for path, oid in wanted.items() if known.get(path) != stamps[path]}
        gone = [path for path in known if path not in wanted]
        said = []
        for count, (path, content) in enumerate(self._contents(fresh)):
            edges = tuple(self._described(path, content))
            said.append(ledger.Said(path, stamps[path], edges))
            if count % 20 == 0:
                tell(f"reading documents: {count} of {len(fresh)}")
        self._say(DOCUMENTS, said, gone)
        return len(said) + len(gone)

    def _described(self, path: str, content: str) -> Iterator[model.Edge]:
        for name in documents.names(content):
            node = self._named(name)
            section = self._ground.section(path, name.line) if node is not None else None
            if node is None or section is None or section.key == node.key:
                continue
            self._kinds[node.key], self._kinds[section.key] = node.kind, section.kind
            pointer = f"file:{path}#line={name.line}"
            detail = {"name": text.one_line(name.words, 100)}
            yield model.Edge(
                section.key, "describes", node.key, name.confidence, "", pointer, detail
            )

    def _named(self, name: documents.Name) -> ground.Node | None:
        """What a document means by a name, if only one thing is called so."""
        if not name.is_path:
            called = self._ground.called(name.words)
            return called[0][0] if len(called) == 1 else None
        pattern, _, symbol = name.words.partition("#")
        found = self._tree.matching(pattern)
        if len(found) != 1:
            return None
        node = self._ground.symbol(found[0], symbol) if symbol else None
        return node or self._ground.file(found[0])

    def read_links(self) -> int:
        """The links of other tools."""
        known = ledger.known(self._connection, EXTERNAL, self._here.scope)
        count = 0
        for path in self._here.links:
            raw = self._raw(path)
            stamp = f"{_VERSION} {_digest(raw)}" if raw is not None else ""
            if raw is None:
                self.problems.append(f"{path}: there is no such file")
                continue
            if known.get(path) == stamp:
                continue
            found = external.read(raw, path, self.resolve)
            self.problems += found.problems
            self._say(EXTERNAL, [ledger.Said(path, stamp, found.edges)], [])
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
        known = ledger.known(self._connection, deriver, self._here.scope)
        return known.get(name, "") != stamp

    def _say(self, deriver: str, said: list[ledger.Said], gone: list[str]) -> None:
        scope = self._here.scope
        if gone:
            ledger.forget(self._connection, deriver, scope, gone)
        if said:
            ledger.replace_all(
                self._connection, deriver, scope, said, self._derived_at, self._kinds
            )


def _record(key: model.Key, written: _Written) -> story.Record:
    sentence, field = picking.sentence(written.fields)
    value = "\n".join(_field(written.fields, name) for name in ("result", "error"))
    line = f"#line={written.line}" if written.line else ""
    is_over = written.status in (states.DONE, "cancelled", states.ARCHIVED)
    return story.Record(
        key=key,
        id=model.label(key),
        title=text.one_line(str(written.fields.get("title") or ""), 300),
        status=written.status,
        agent=written.agent,
        created_at=written.created_at,
        closed_at=written.changed_at if is_over else "",
        sentence=sentence,
        sentence_field=field,
        notes=picking.notes(value),
        pointer=f"file:{written.path}{line}",
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


def _field(fields: Mapping[str, Any], name: str) -> str:
    """A field as one text: of a result all that is said in words."""
    value = fields.get(name)
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(f"- {each}" for each in value if isinstance(each, str))
    if isinstance(value, dict):
        return "\n\n".join(each for each in value.values() if isinstance(each, str))
    return ""


def _key_of_input(name: str) -> model.Key:
    """The task that an input is of."""
    if name.startswith("list:"):
        return f"task:{name.removeprefix('list:')}"
    task_id = name.rpartition("/")[2].rpartition(".")[0]
    return model.task_key(ids.TaskKey(ids.OWN_SOURCE, task_id))


def _digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=12).hexdigest()
