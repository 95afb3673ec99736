"""Which task a word means: one of the task files, or of a list that the team keeps.

Verbs that change something come here through `shown.key_of`, which knows most words at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tether import errors, ids, text
from tether.agents import claims
from tether.cli import context, elsewhere
from tether.hints import Any, NamedTuple
from tether.tasks import packs, states, workdir
from tether.tasks.sources import dialects, patterns
from tether.tasks.sources import model as lists

_MAX_NAMED = 10
_MAX_NEAR = 3
# `H.13.9.1O`, `h.13.9.10` and `H13.9.10` are near `H.13.9.10`; `H.1.3` is not near `H.1.1`.
_NEAR = 0.85


class Named(NamedTuple):
    """A task that somebody named."""

    key: ids.TaskKey
    loaded: workdir.Loaded | None = None
    """If it is one of the task files."""
    item: lists.Item | None = None
    """If it is of a list."""
    aliases: tuple[str, ...] = ()
    """Ids that it had before."""
    near: Callable[[], list[str]] = list
    """What else may have been meant, if it is not known."""

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
            hint=_did_you_mean(self.near()) or "See the tasks with `tether task list`.",
        )


def find(call: context.Context, word: str) -> Named:
    """The task that a word means to who reads: also one that only the past knows."""
    found = known(call, word)
    if found is not None:
        return found
    asked = ids.TaskKey.parse(word)
    source = asked.source if ":" in word else _source_of_old(call, asked.id)
    key = ids.TaskKey(source, patterns.canonical(source, asked.id))
    return Named(key, near=lambda: _near(asked.id, _names(call)))


def _names(call: context.Context) -> list[str]:
    """The ids of all tasks of this checkout."""
    if call.workspace.root is None:
        return []
    return [*(key.id for key in call.lists.items), *(each.task_id for each in call.work.scan())]


def key_of(call: context.Context, word: str) -> ids.TaskKey:
    """The task that a word means to who acts; NotFound if a list here should have it and has not.

    A bare id that no list has, here or elsewhere, may be claimed as it is, unless it is nearly one
    of a list: two who write one task in two ways would both hold it.
    """
    found = known(call, word)
    if found is not None:
        return found.key
    asked = ids.TaskKey.parse(word)
    key = ids.TaskKey(asked.source, patterns.canonical(asked.source, asked.id))
    is_bare = ":" not in word
    there = elsewhere.keys(call, asked.id) if is_bare or key.source in call.sources else []
    if is_bare and there:
        if len(there) > 1:
            raise _several(asked.id, there)
        return there[0]
    if key.source in call.sources and key not in there:
        raise not_listed(call, key)
    if is_bare and claims.last_of(call.store.rows, key) is None:
        _require_not_near(call, key.id)
    return key


def unclaimed(call: context.Context, key: ids.TaskKey) -> errors.NotFound:
    """The error that there is no such task here, for who asks only what became of it."""
    return errors.NotFound(
        f"There is no task {key.label} in this checkout, and nobody ever had one.",
        hint=_did_you_mean(_near(key.id, _names(call))) or "See the tasks with `tether task list`.",
    )


def not_listed(call: context.Context, key: ids.TaskKey) -> errors.NotFound:
    """The error that a task is on no list of this checkout."""
    names = [each.id for each in call.lists.items if each.source == key.source]
    see = f"See them with `tether task list --source {key.source}`."
    if key.source not in call.sources:
        see = f"Such a list is not here; `tether timeline {key.label}` tells what is known of it."
    return errors.NotFound(
        f"There is no task {key.label} in the lists of this checkout. Nothing was changed.",
        hint=_did_you_mean(_near(key.id, names)) or see,
    )


def _require_not_near(call: context.Context, task_id: str) -> None:
    """Refuse a name that is a list's id but for a slip."""
    found = _near(task_id, [key.id for key in call.lists.items])
    if found:
        name = "" if call.work.exists else f" A mere name is written `work:{task_id}`."
        raise errors.NotFound(
            f"There is no task {task_id} in the lists of this checkout. Nothing was changed.",
            hint=f"{_did_you_mean(found)}{name}",
        )


def _near(task_id: str, names: list[str]) -> list[str]:
    """Those of some ids that are nearly this one, the nearest first."""
    import difflib

    same = [name for name in names if name.casefold() == task_id.casefold()]
    return same or difflib.get_close_matches(task_id, names, _MAX_NEAR, _NEAR)


def _did_you_mean(names: list[str]) -> str:
    """What to ask whoever named a task that is not there; nothing if there is nothing to ask."""
    some = list(dict.fromkeys(names))[:_MAX_NEAR]
    return f"Did you mean {' or '.join(some)}?" if some else ""


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
    if short := known.short_names().get(key):
        aliases.append(short)
    return Named(key, item=known.items[key], aliases=tuple(aliases))
