"""Which task a word means: one of the task files, or of a list that the team keeps.

Verbs that change something come here through `shown.key_of`, which knows most words at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tether import errors, ids, text
from tether.cli import context
from tether.hints import Any, NamedTuple
from tether.tasks import packs, states, workdir
from tether.tasks.sources import dialects, patterns
from tether.tasks.sources import model as lists

_MAX_NAMED = 10


class Named(NamedTuple):
    """A task that somebody named."""

    key: ids.TaskKey
    loaded: workdir.Loaded | None = None
    """If it is one of the task files."""
    item: lists.Item | None = None
    """If it is of a list."""
    aliases: tuple[str, ...] = ()
    """Ids that it had before."""

    @property
    def is_known(self) -> bool:
        return self.loaded is not None or self.item is not None

    @property
    def title(self) -> str:
        if self.loaded is not None:
            return self.loaded.task.title
        return self.item.text if self.item is not None else ""

    @property
    def state(self) -> str:
        if self.loaded is not None:
            return self.loaded.task.state
        return self.item.state if self.item is not None else ""

    @property
    def where(self) -> str:
        if self.loaded is not None:
            return self.loaded.task.path
        return f"{self.item.path}:{self.item.line}" if self.item is not None else ""

    def value(self) -> dict[str, Any]:
        """The task for programs."""
        return {
            "key": self.key.label,
            "source": self.key.source,
            "id": self.key.id,
            "title": text.clean(self.title) or None,
            "state": self.state or None,
            "where": text.clean(self.where) or None,
            "aliases": list(self.aliases),
        }

    def missing(self) -> errors.NotFound:
        return errors.NotFound(
            f"There is no task {self.key.label} in this checkout, and nothing shows that there"
            " ever was one.",
            hint="See the tasks with `tether task list`.",
        )


def find(call: context.Context, word: str) -> Named:
    """The task that a word means to who reads: also one that only the past knows."""
    found = known(call, word)
    if found is not None:
        return found
    asked = ids.TaskKey.parse(word)
    source = asked.source if ":" in word else _source_of_old(call, asked.id)
    return Named(ids.TaskKey(source, patterns.canonical(source, asked.id)))


def key_of(call: context.Context, word: str) -> ids.TaskKey:
    """The task that a word means to who acts; NotFound if a list here should have it and has not.

    Without a list that has it, a bare id may be claimed as it is.
    """
    found = known(call, word)
    if found is not None:
        return found.key
    asked = ids.TaskKey.parse(word)
    key = ids.TaskKey(asked.source, patterns.canonical(asked.source, asked.id))
    if key.source in call.sources:
        raise not_listed(key)
    return key


def not_listed(key: ids.TaskKey) -> errors.NotFound:
    """The error that a task is on no list of this checkout."""
    return errors.NotFound(
        f"There is no task {key.label} in the lists of this checkout. Nothing was changed.",
        hint=f"See them with `tether task list --source {key.source}`.",
    )


def known(call: context.Context, word: str) -> Named | None:
    """The task here that a word means: an id, or source:id. Several candidates are an error."""
    asked = ids.TaskKey.parse(word)
    if call.workspace.root is None:
        return None
    is_own, is_bare = asked.source == ids.OWN_SOURCE, ":" not in word
    own = _own(call, asked.id) if is_own else None
    found = [Named(asked, loaded=own)] if own is not None else []
    if is_bare or not is_own:
        found += [_of_list(call, key) for key in _listed(call, asked, is_bare=is_bare)]
    if len(found) > 1:
        raise _several(asked.id, [each.key for each in found])
    if found:
        return found[0]
    packed = packs.load(call.work, asked.id) if is_own else None
    return Named(asked, loaded=packed) if packed is not None else None


def _own(call: context.Context, task_id: str) -> workdir.Loaded | None:
    # Of several files, as after a merge, the one that `validate --fix` would keep.
    loaded = [call.work.load(each) for each in call.work.find(task_id)]
    return max(loaded, key=lambda each: states.RANK.get(each.task.state, 5), default=None)


def _listed(call: context.Context, asked: ids.TaskKey, *, is_bare: bool) -> list[ids.TaskKey]:
    """The tasks of lists that go by an id, today or before, or else by the end of their own."""
    found = call.lists
    wanted = [
        ids.TaskKey(source, patterns.canonical(source, asked.id))
        for source in call.sources
        if is_bare or source == asked.source
    ]
    exact = dict.fromkeys(key for each in wanted if (key := found.resolve(each)) in found.items)
    return list(exact) or (list(_short(found.items.values(), asked.id)) if is_bare else [])


def _short(items: Iterable[lists.Item], word: str) -> Iterator[ids.TaskKey]:
    """`T012` for `001-login.T012`: the tasks whose id is this and the name of their file."""
    for item in items:
        dialect = dialects.CHECKBOXES.get(item.source)
        if dialect is None or dialect.has_own_ids or not item.id.endswith(f".{word}"):
            continue
        if item.id == f"{dialects.slug(dialects.subject(item.source, item.path))}.{word}":
            yield item.key


def _source_of_old(call: context.Context, task_id: str) -> str:
    """The list that a task was on which no list here has: what is told of it says which."""
    spellings = {source: patterns.canonical(source, task_id) for source in dialects.NAMES}
    told = [
        key
        for key in call.witness.told_of({task_id, *spellings.values()})
        if key.id == patterns.canonical(key.source, task_id)
    ]
    if len(told) > 1:
        raise _several(task_id, told)
    if told:
        return told[0].source
    looks_like = call.witness.finder.find(task_id)
    return looks_like[0].source if len(looks_like) == 1 else ids.OWN_SOURCE


def _several(task_id: str, keys: list[ids.TaskKey]) -> errors.UsageError:
    labels = [f"{key.source}:{key.id}" for key in keys]
    more = f" and {len(labels) - _MAX_NAMED} more" if len(labels) > _MAX_NAMED else ""
    return errors.UsageError(
        f"Several tasks are called {task_id}: {', '.join(labels[:_MAX_NAMED])}{more}."
        " Nothing was changed.",
        hint=f"Say which one, as in {labels[0]}.",
    )


def _of_list(call: context.Context, key: ids.TaskKey) -> Named:
    known = call.lists
    aliases = [old.id for old in known.aliases if known.resolve(old) == key]
    if key.source == dialects.SPECKIT:
        # Texts say `T012`, whichever feature it is of: that is clear if only one has it.
        bare = key.id.rpartition(".")[2]
        others = [k for k in known.items if k.source == key.source and k.id.endswith(f".{bare}")]
        aliases += [bare] if len(others) == 1 else []
    return Named(key, item=known.items[key], aliases=tuple(aliases))
