"""Which task a word means: one of the task files, or of a list that the team keeps."""

from __future__ import annotations

from tether import errors, ids, text
from tether.cli import context
from tether.hints import Any, NamedTuple
from tether.tasks import workdir
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
    """The task that a word means: an id, or source:id. Several candidates are an error."""
    asked = ids.TaskKey.parse(word)
    found = {named.key: named for named in _candidates(call, asked, is_bare=":" not in word)}
    if len(found) > 1:
        labels = [f"{key.source}:{key.id}" for key in found][:_MAX_NAMED]
        raise errors.UsageError(
            f"Several tasks are called {asked.id}: {', '.join(labels)}.",
            hint=f"Say which one, as in {labels[0]}.",
        )
    if found:
        return next(iter(found.values()))
    if ":" in word:
        return Named(ids.TaskKey(asked.source, patterns.canonical(asked.source, asked.id)))
    # A task that is on no list any more still has a history, under the source its id looks like.
    looks_like = call.witness.finder.find(asked.id)
    source = looks_like[0].source if len(looks_like) == 1 else asked.source
    return Named(ids.TaskKey(source, patterns.canonical(source, asked.id)))


def _candidates(call: context.Context, asked: ids.TaskKey, *, is_bare: bool) -> list[Named]:
    found = []
    if is_bare or asked.source == ids.OWN_SOURCE:
        own = _own(call, asked.id)
        if own is not None:
            found.append(Named(ids.TaskKey(ids.OWN_SOURCE, asked.id), loaded=own))
    known = call.lists
    for source in call.sources:
        if not is_bare and source != asked.source:
            continue
        key = known.resolve(ids.TaskKey(source, patterns.canonical(source, asked.id)))
        if key in known.items:
            found.append(_of_list(call, key))
        elif is_bare:
            # `T012` for `001-login.T012`.
            ends = [k for k in known.items if k.source == source and k.id.endswith(f".{asked.id}")]
            found += [_of_list(call, each) for each in ends]
    return found


def _of_list(call: context.Context, key: ids.TaskKey) -> Named:
    known = call.lists
    aliases = [old.id for old in known.aliases if known.resolve(old) == key]
    if key.source == dialects.SPECKIT:
        # Texts say `T012`, whichever feature it is of: that is clear if only one has it.
        bare = key.id.rpartition(".")[2]
        others = [k for k in known.items if k.source == key.source and k.id.endswith(f".{bare}")]
        aliases += [bare] if len(others) == 1 else []
    return Named(key, item=known.items[key], aliases=tuple(aliases))


def _own(call: context.Context, task_id: str) -> workdir.Loaded | None:
    from tether.tasks import packs, states

    if call.workspace.root is None:
        return None
    found = call.work.find(task_id)
    if found:
        loaded = [call.work.load(each) for each in found]
        return max(loaded, key=lambda each: states.RANK.get(each.task.state, 5))
    return packs.load(call.work, task_id)
