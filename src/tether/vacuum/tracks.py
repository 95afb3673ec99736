"""Where things stand by track: what is parked, what is active, and the project as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tether import clock
from tether.hints import NamedTuple
from tether.tasks import states
from tether.vacuum import deferring, gathering, model, parking, subjects

_MAX_ACTIVE = 200


class Active(NamedTuple):
    """A section, or a list, in which something happened lately."""

    source: str
    track: str
    name: str
    done: int
    total: int
    last_at: str
    session: str

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 0


def all_of(
    known: subjects.Subjects, ground: gathering.Ground, judged: Iterable[model.Judged]
) -> Iterator[parking.Track]:
    """Every track, with what is open, begun and alive of it."""
    last: dict[tuple[str, str], int] = {}
    opened: dict[tuple[str, str], int] = {}
    begun: dict[tuple[str, str], int] = {}
    born: dict[tuple[str, str], int] = {}
    for key, subject in known.tasks.items():
        name = (key.source, subject.track)
        last[name] = max(last.get(name, 0), ground.last_touch(key))
        opened[name] = opened.get(name, 0) + (subject.state in model.OPEN)
        if subject.state in model.OPEN:
            born[name] = max(born.get(name, 0), _born(ground, subject))
    live = set()
    for each in judged:
        name = (each.subject.key.source, each.subject.track)
        begun[name] = begun.get(name, 0) + (each.subject.state in model.OPEN)
        if each.evidence.hold is not None and each.evidence.hold.is_live:
            live.add(name)
    for track in known.tracks:
        name = (track.source, track.name)
        at = last.get(name, 0)
        yield parking.Track(
            *track,
            opened.get(name, 0),
            clock.text(at) if at else "",
            name in live,
            begun.get(name, 0),
            clock.text(born[name]) if born.get(name) else "",
        )


def _born(ground: gathering.Ground, subject: model.Subject) -> int:
    """When a task was written down; 0 if nobody knows."""
    created = clock.parse(subject.created_at) if subject.created_at else 0
    return max(created, ground.moments.listed_at.get(subject.key, 0))


def whole(
    known: subjects.Subjects, project: str, last_at: str, judged: Iterable[model.Judged]
) -> parking.Track:
    """The project as one thing that is parked."""
    tracks = known.tracks
    done, total = sum(each.done for each in tracks), sum(each.total for each in tracks)
    begun = sum(each.subject.state in model.OPEN for each in judged)
    return parking.Track(
        deferring.PROJECT,
        project,
        project,
        done,
        total,
        known.unchecked,
        last_at,
        False,
        begun,
    )


def active(
    known: subjects.Subjects, ground: gathering.Ground, limits: model.Limits
) -> Iterator[Active]:
    """Where something happened lately, newest first."""
    since = clock.parse(ground.now) - limits.stale_ms
    found: dict[tuple[str, str, str], list[int]] = {}
    last: dict[tuple[str, str, str], tuple[int, str]] = {}
    for key, subject in known.tasks.items():
        name = (key.source, subject.track, subject.section)
        count = found.setdefault(name, [0, 0])
        if subject.state != "cancelled":
            count[0] += subject.state == states.DONE
            count[1] += 1
        touched = ground.last_touch(key)
        if touched >= since:
            by = ground.moments.by.get(key, "")
            last[name] = max(last.get(name, (0, "")), (touched, by))
    recent = sorted(last.items(), key=lambda each: (-each[1][0], each[0]))
    for (source, track, section), (at, session) in recent[:_MAX_ACTIVE]:
        done, total = found[source, track, section]
        yield Active(source, track, section or track, done, total, clock.text(at), session)
