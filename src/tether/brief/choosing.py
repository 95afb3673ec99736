"""What to do next: what one holds, what others dropped, what is assigned, then what is most urgent.

Of the lists that a team keeps, the most urgent task that is free, where waiting makes more urgent;
of equals the one that stands first, because their order is the team's own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from tether import clock, ids, text
from tether.agents import claims
from tether.hints import TYPE_CHECKING, NamedTuple
from tether.tasks import effective, listing, ordering, states, views
from tether.tasks import model as tasks

if TYPE_CHECKING:
    from tether.agents import model as agents
    from tether.brief import orphaned
    from tether.tasks.sources import finding
    from tether.tasks.sources import model as sources

HELD = "you have it"
OPEN_IN_LISTS = (states.NEW, states.IN_PROGRESS, states.ERROR)
_DAY_MS = 86_400_000


class Open(NamedTuple):
    """How much of a list is still to do."""

    open: int
    held: int
    """How many of them somebody has."""
    total: int
    """Without those that somebody decided against."""


def offered(
    listed: listing.Listing,
    viewer: views.Viewer,
    agent_name: str,
    now: str,
    ageing_days: int,
    passed: list[views.View] | None = None,
) -> Iterator[views.View]:
    """The tasks that somebody may take up now, best first; found as they are asked for.

    Those that were looked at and are not offered are added to `passed`.
    """
    held: list[listing.Item] = []
    own: list[listing.Item] = []
    others: list[listing.Item] = []
    mine = {c.task for c in viewer.open_claims.values() if viewer.is_mine(c)}
    own_directory = f"/{states.ASSIGNED}/{agent_name}/"
    over = (states.UNREADABLE, states.DONE, states.ARCHIVED)
    for item in listed.items():
        state, _, _, task_id, path = item
        if state in over:
            continue
        if task_id in mine:
            held.append(item)
        elif own_directory in path:
            own.append(item)
        else:
            others.append(item)
    now_ms = clock.parse(now)
    for group in (held, own, others):
        for *_, path in ordering.ordered(group, now_ms, ageing_days):
            view = viewer.view(listed.task(path))
            if view.is_offered:
                yield view
            elif passed is not None:
                passed.append(view)


class Offer(NamedTuple):
    """A task that somebody may take up now, and why this one."""

    key: ids.TaskKey
    why: str
    view: views.View | None = None
    """If it has a file."""
    item: sources.Item | None = None
    """If it is of a list."""
    orphan: orphaned.Orphan | None = None
    is_held: bool = False
    """Does the one who asks have it already?"""

    @property
    def title(self) -> str:
        if self.view is not None:
            return self.view.task.title
        return self.item.text if self.item is not None else ""


def in_files(
    listed: listing.Listing,
    viewer: views.Viewer,
    agent_name: str,
    now: str,
    ageing_days: int,
    passed: list[views.View] | None = None,
) -> Iterator[Offer]:
    """The tasks with a file, as `offered`, each with its reason."""
    now_ms = clock.parse(now)
    for view in offered(listed, viewer, agent_name, now, ageing_days, passed):
        key = ids.TaskKey(ids.OWN_SOURCE, view.task.id)
        is_held = view.claim is not None and viewer.is_mine(view.claim)
        is_own = view.task.place == states.ASSIGNED and view.task.owner == agent_name
        why = HELD if is_held else "assigned to you" if is_own else ""
        waited_ms = _waited_ms(view.task.created_at, now_ms)
        said = why or why_free(view.task.priority, waited_ms, ageing_days)
        yield Offer(key, said, view, is_held=is_held)


def in_lists(
    lists: finding.Lists, taken: Collection[ids.TaskKey], now: str, ageing_days: int
) -> Iterator[Offer]:
    """The tasks of lists that nobody has and that wait for nothing, the most urgent first.

    Those age whose lists say when they were written down.

    `taken` are those that somebody has, that are deferred, or that were closed as done.
    """
    parents = {
        ids.TaskKey(each.source, each.parent)
        for each in lists.items.values()
        if each.state in OPEN_IN_LISTS
    }
    free = [
        item
        for key, item in lists.items.items()
        # Of a task with parts a part is taken up, not the whole.
        if item.state == states.NEW and key not in taken and key not in parents
    ]
    now_ms = clock.parse(now)

    def urgency(item: sources.Item) -> float:
        return ordering.urgency(item.priority, _waited_ms(item.created_at, now_ms), ageing_days)

    # Sorting keeps the order of the lists among equals.
    for item in sorted(free, key=urgency):
        if may_begin(lists, item):
            waited_ms = _waited_ms(item.created_at, now_ms)
            yield Offer(item.key, why_free(item.priority, waited_ms, ageing_days), item=item)


def why_free(priority: str, waited_ms: int, ageing_days: int) -> str:
    """Why a task comes now that nobody has: its priority, and waiting where that has lifted it."""
    said, days = f"free, priority {priority}", waited_ms // _DAY_MS
    # What is high does not rise: nothing passes what is critical.
    is_lifted = 0 < ageing_days <= days and tasks.rank(priority) > 1
    return f"{said}, waiting for {text.counted(days, 'day')}" if is_lifted else said


def _waited_ms(created_at: str, now_ms: int) -> int:
    return now_ms - clock.parse(created_at) if created_at else 0


def may_begin(lists: finding.Lists, item: sources.Item) -> bool:
    """Is it open, and is all done that it depends on? What no list has is not waited for."""
    if item.state not in OPEN_IN_LISTS:
        return False
    needed = (ids.TaskKey(item.source, each) for each in item.depends_on)
    known = [lists.items.get(lists.resolve(key)) for key in needed]
    return all(each is None or each.state == states.DONE for each in known)


def open_in(lists: finding.Lists, held: Collection[ids.TaskKey]) -> dict[str, Open]:
    """What there is to do in the lists that a team keeps, by list; none where all is done."""
    found: dict[str, Open] = {}
    for item in lists.items.values():
        is_open = item.state in OPEN_IN_LISTS
        if is_open or item.state == states.DONE:
            so_far = found.get(item.source, Open(0, 0, 0))
            found[item.source] = Open(
                so_far.open + is_open,
                so_far.held + (is_open and item.key in held),
                so_far.total + 1,
            )
    return {source: each for source, each in found.items() if each.open}


def begun_in(lists: finding.Lists, held: Collection[ids.TaskKey]) -> int:
    """How many tasks of the lists are in progress, and nobody has claimed them."""
    return sum(
        item.state == states.IN_PROGRESS and key not in held for key, item in lists.items.items()
    )


def for_merge_in(
    lists: finding.Lists, last: Mapping[ids.TaskKey, agents.Claim], branch: str | None
) -> int:
    """How many tasks of the lists are open here, and were finished on another branch."""
    open_ones = [key for key, item in lists.items.items() if item.state in OPEN_IN_LISTS]
    done = [last[key] for key in open_ones if key in last and last[key].outcome == claims.DONE]
    return sum(each.branch not in (None, branch) for each in done)


def begun(passed: Iterable[views.View]) -> int:
    """How many tasks with a file are in progress, and nobody has claimed them."""
    return sum(each.effective.overlay == effective.UNCLAIMED for each in passed)


def for_merge(passed: Iterable[views.View]) -> int:
    """How many tasks with a file wait for nothing but the merge of a branch."""
    return sum(_waits_for_merge(each) for each in passed)


def _waits_for_merge(view: views.View) -> bool:
    if not view.effective.is_offered:
        return view.effective.overlay == effective.WAITING_FOR_MERGE
    # A dependency has a note if it is done on another branch.
    return all(each.is_met or each.note for each in view.waits_for)
