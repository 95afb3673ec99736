"""The risks of a story that are still live, as its records name them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tether import text
from tether.hints import NamedTuple
from tether.lineage.biography import settling, ties
from tether.lineage.biography.model import Record, Relation
from tether.lineage.biography.outline import Outline

_BY_SUBJECT = frozenset(("extends", "follows-up", "supersedes"))


class Note(NamedTuple):
    """What somebody wrote of a risk."""

    key: str
    """The task or decision that says so."""
    text: str


def live(told: Outline) -> Iterator[Note]:
    """Those that nobody settled, of code that is there."""
    if told.is_gone:
        return
    governing = (tie.key for tie in ties.decisions(told.governing, told.names))
    for key in (*told.tasks, *governing):
        record = told.names.record(key)
        if record is None:
            continue
        noted = list(filter(None, dict.fromkeys(map(text.one_line, record.notes))))
        later = list(_later(key, told))
        for note in noted:
            if not any(_is_settled(note, record, each, len(noted) == 1) for each in later):
                yield Note(key, note)


def _later(key: str, told: Outline) -> Iterator[Record]:
    """The records of tasks that are done and came from another one, after it."""
    since = told.tasks[key].number if key in told.tasks else -1
    for other in _heirs(key, (each for some in told.relations.values() for each in some)):
        record = told.names.record(other)
        is_later = other in told.tasks and told.tasks[other].number > since
        if record is not None and is_later and record.status == "done":
            yield record


def _heirs(key: str, relations: Iterable[Relation]) -> list[str]:
    """Who built on a task, followed it up, replaced it, or came from it."""
    found: dict[str, None] = {}
    for each in relations:
        if each.type in _BY_SUBJECT and each.object == key:
            found[each.subject] = None
        elif each.type == "motivates" and each.subject == key:
            found[each.object] = None
    return list(found)


def _is_settled(note: str, record: Record, later: Record, is_only: bool) -> bool:
    """Whether a later record says so; of several notes each must be named by what it is about."""
    said = [text.one_line(each) for each in (later.title, later.sentence)]
    return any(
        settling.settles(each, note) or (is_only and settling.settles_risk_of(each, record.id))
        for each in said
    )
