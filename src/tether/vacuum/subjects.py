"""All tasks of a checkout, with a file or on a list, as the rules see them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tether import ids
from tether.hints import TYPE_CHECKING, NamedTuple
from tether.tasks import model as tasks
from tether.tasks import states
from tether.tasks.sources import model as lists
from tether.vacuum import model

if TYPE_CHECKING:
    from tether.tasks.sources import finding

# `*(deferred 2026-10-22)*` behind a task.
_PUT_OFF = re.compile(
    r"\((?:deferred|postponed|on hold|parked|someday)\b[^()\n]{0,60}\)", re.IGNORECASE
)
_OFF_STATUSES = ("deferred", "postponed", "on hold", "on-hold", "parked", "someday", "icebox")
_WORDS = re.compile(r"[\s_]{1,9}")


class Track(NamedTuple):
    """A list of tasks, as much of it as is done."""

    source: str
    name: str
    title: str
    done: int
    total: int


class Subjects(NamedTuple):
    """Every task of a checkout, and the lists that they stand on."""

    tasks: dict[ids.TaskKey, model.Subject]
    tracks: tuple[Track, ...]
    families: dict[ids.TaskKey, tuple[ids.TaskKey, ...]]
    """The parts of a task that are tasks themselves."""

    @property
    def names(self) -> dict[ids.TaskKey, ids.TaskKey]:
        """Which task an id means that is not in use any more."""
        return {
            ids.TaskKey(key.source, name): key
            for key, subject in self.tasks.items()
            for name in subject.aliases
        }

    @property
    def unchecked(self) -> int:
        """How many are neither done nor cancelled."""
        return sum(each.state in model.OPEN for each in self.tasks.values())


def read(files: Iterable[tasks.Task], listed: finding.Lists) -> Subjects:
    """The tasks of a checkout, from its task files and from what its lists say."""
    found = {each.key: each for each in map(of_file, files) if each is not None}
    families: dict[ids.TaskKey, list[ids.TaskKey]] = {}
    for key, item in listed.items.items():
        parent = ids.TaskKey(key.source, item.parent)
        if item.parent and parent in listed.items:
            families.setdefault(parent, []).append(key)
    aliases: dict[ids.TaskKey, list[str]] = {}
    for old in listed.aliases:
        aliases.setdefault(listed.resolve(old), []).append(old.id)
    for key, name in listed.short_names().items():
        aliases.setdefault(key, []).append(name)
    for key, item in listed.items.items():
        parts = [listed.items[each] for each in families.get(key, ())]
        found[key] = of_item(item, parts, tuple(sorted(aliases.get(key, ()))))
    own = [each for each in found.values() if each.key.source == ids.OWN_SOURCE]
    tracks = [*_own_track(own), *_tracks(listed)]
    return Subjects(found, tuple(tracks), {key: tuple(each) for key, each in families.items()})


def of_file(task: tasks.Task) -> model.Subject | None:
    """A task that has a file; None if it cannot be read, which `validate` tells."""
    if task.problem or not ids.TaskId.is_valid(task.id):
        return None
    state = "cancelled" if task.is_cancelled else task.state
    return model.Subject(
        ids.TaskKey(ids.OWN_SOURCE, task.id),
        task.title,
        states.DONE if state == states.ARCHIVED else state,
        ids.OWN_SOURCE,
        "",
        task.owner,
        task.priority,
        task.path,
        created_at=task.created_at,
        updated_at=max(task.started_at, task.assigned_at),
    )


def put_off(item: lists.Item) -> str:
    """What a list says of a task that somebody put off; empty if it says nothing of the kind."""
    if _WORDS.sub(" ", item.status.lower()).strip() in _OFF_STATUSES:
        return item.status
    remark = _PUT_OFF.search(item.text)
    return remark[0].strip("()") if remark else ""


def of_item(
    item: lists.Item, parts: Iterable[lists.Item] = (), aliases: tuple[str, ...] = ()
) -> model.Subject:
    """A task of a list, with the parts of it that are tasks themselves."""
    counted = [each for each in parts if each.state != lists.CANCELLED]
    done = item.parts_done + sum(each.state == states.DONE for each in counted)
    done += sum(is_met for is_met, _ in item.acceptance)
    total = item.parts_total + len(counted) + len(item.acceptance)
    return model.Subject(
        item.key,
        item.text,
        item.state,
        item.track,
        item.section,
        item.owner,
        item.priority,
        f"{item.path}:{item.line}",
        done,
        total,
        item.created_at,
        item.updated_at,
        put_off(item),
        aliases,
    )


def _own_track(own: list[model.Subject]) -> Iterator[Track]:
    counted = [each for each in own if each.state != "cancelled"]
    if counted:
        done = sum(each.state == states.DONE for each in counted)
        yield Track(ids.OWN_SOURCE, ids.OWN_SOURCE, "the task files", done, len(counted))


def _tracks(listed: finding.Lists) -> Iterator[Track]:
    whole = {(p.source, p.track): p for p in listed.progress if not p.section}
    for (source, name), progress in whole.items():
        title = progress.path.rsplit("/", 1)[-1].removesuffix(".md")
        if title in ("tasks", "plan"):
            title = ""  # every list of its kind is called so
        yield Track(source, name, title, progress.done, progress.total)
    # Lists without such lines are counted.
    counts: dict[tuple[str, str], list[int]] = {}
    for item in listed.items.values():
        if (item.source, item.track) not in whole and item.state != lists.CANCELLED:
            count = counts.setdefault((item.source, item.track), [0, 0])
            count[0] += item.state == states.DONE
            count[1] += 1
    for (source, name), (done, total) in counts.items():
        yield Track(source, name, name or source, done, total)
