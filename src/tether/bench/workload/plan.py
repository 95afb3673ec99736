"""The tracks and their tasks: which there are, and which of them end done. Pure."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator

from tether.bench.workload import laws, model, words
from tether.hints import NamedTuple

# (open, done) of the fourteen tracks of the pilot.
_PILOT = {
    "A": (104, 180), "B": (96, 160), "C": (45, 43), "D": (88, 130), "E": (80, 110), "F": (8, 65),
    "G": (64, 90), "H": (256, 320), "I": (72, 90), "J": (145, 653), "K": (75, 27), "L": (72, 80),
    "M": (64, 60), "N": (47, 105),
}  # fmt: skip
_EXTENSIONS = 30
_EXTENSION_TASKS = 800
_NAMES = {
    "A": ("BACKEND-API", "senior-architect"),
    "B": ("FRONTEND-UI", "frontend-react-typescript-expert"),
    "C": ("DEVOPS", "devops-engineer"),
    "D": ("SECURITY", "security-specialist"),
    "E": ("TESTING", "testing-specialist"),
    "F": ("DOCUMENTATION", "codi-documentation-writer"),
    "G": ("AI-AGENTS", "prompt-analyzer-specialist"),
    "H": ("FRAMEWORK-AUTONOMY", "senior-architect"),
    "I": ("USER-INTERFACE", "frontend-react-typescript-expert"),
    "J": ("MEMORY-INTELLIGENCE", "database-architect"),
    "K": ("WORKFLOW-AUTOMATION", "devops-engineer"),
    "L": ("EXTENDED-TESTING", "testing-specialist"),
    "M": ("EXTENDED-SECURITY", "security-specialist"),
    "N": ("GO-TO-MARKET", "product-strategist"),
}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PILOT_DIRECTORY = "internal/project/plans/pilot-tracks"
EXTENSION_DIRECTORY = "plans/tracks"
_LEAST = 8
_LEAST_OF_H = 24
# Their tasks had other ids once.
CONSOLIDATED = ("A", 7, 11)


class Entry(NamedTuple):
    """One line of a track: a heading, or a box."""

    depth: int
    id: str
    title: str
    task: model.Task | None = None


@dataclasses.dataclass(slots=True)
class Track:
    """One list."""

    code: str
    path: str
    name: str
    agent: str
    project: str = model.MAIN
    entries: list[Entry] = dataclasses.field(default_factory=list)

    @property
    def tasks(self) -> list[model.Task]:
        return [entry.task for entry in self.entries if entry.task]

    @property
    def families(self) -> list[list[model.Task]]:
        """Tasks with the tasks that they consist of, these after them."""
        found: dict[str, list[model.Task]] = {}
        for task in self.tasks:
            found.setdefault(task.parent or task.id, []).append(task)
        return list(found.values())


class Plan(NamedTuple):
    """All lists of both projects."""

    tracks: list[Track]
    partial: list[list[model.Task]]
    """The families of which some tasks end done and some do not."""

    @property
    def pilot(self) -> list[Track]:
        return [
            track
            for track in self.tracks
            if track.path.startswith(PILOT_DIRECTORY) and track.project == model.MAIN
        ]

    @property
    def extensions(self) -> list[Track]:
        return [t for t in self.tracks if t.path.startswith(EXTENSION_DIRECTORY)]

    def track(self, code: str, project: str = model.MAIN) -> Track:
        return next(t for t in self.tracks if t.code == code and t.project == project)


def make(rng: random.Random, size: model.Size, partial: int) -> Plan:
    """All tracks, with so many tasks that end half done."""
    tracks = [*_pilot(rng, size), *_extensions(rng, size)]
    families = _choose_families(rng, tracks, partial)
    for track, (_, done) in zip(tracks, _counts(size), strict=False):
        _settle(rng, track, done)
    return Plan([*tracks, _second(rng, size)], families)


def _pilot(rng: random.Random, size: model.Size) -> Iterator[Track]:
    for number, (opened, done) in enumerate(_counts(size)):
        letter = _LETTERS[number % len(_PILOT)]
        code = _pilot_code(number)
        name, agent = _NAMES[letter]
        track = Track(code, f"{PILOT_DIRECTORY}/TRACK-{code}-{name}.md", name, agent)
        _fill(rng, track, opened + done)
        yield track


def _counts(size: model.Size) -> list[tuple[int, int]]:
    """(open, done) of each pilot track: more of them above 1x, smaller ones below."""
    replicas = size.of(len(_PILOT), len(_PILOT))
    part = model.Size(min(1.0, size.scale))
    found = []
    for number in range(replicas):
        letter = _LETTERS[number % len(_PILOT)]
        opened, done = _PILOT[letter]
        least = _LEAST_OF_H if letter == "H" else _LEAST
        found.append((part.of(opened, least), part.of(done, _LEAST)))
    return found


def _pilot_code(number: int) -> str:
    if number < len(_LETTERS):
        return _LETTERS[number]
    first, second = divmod(number - len(_LETTERS), 26)
    return _LETTERS[12 + first] + _LETTERS[second]


def _extensions(rng: random.Random, size: model.Size) -> Iterator[Track]:
    count = size.of(_EXTENSIONS, 4)
    tasks = laws.spread(size.of(_EXTENSION_TASKS, 8 * count), [1.0] * count)
    for number in range(count):
        code = _LETTERS[number // 26] + _LETTERS[number % 26]
        name = words.title(rng).lower().replace(" ", "-")
        path = f"{EXTENSION_DIRECTORY}/track-{code.lower()}-{name}.md"
        track = Track(code, path, name, "business-analyst")
        _fill(rng, track, tasks[number])
        yield track


def _second(rng: random.Random, size: model.Size) -> Track:
    """The only track of another project, with ids that the first one has too."""
    path = f"{PILOT_DIRECTORY}/TRACK-H-FRAMEWORK-AUTONOMY.md"
    track = Track("H", path, "FRAMEWORK-AUTONOMY", "senior-architect", model.SECOND_PROJECT)
    _fill(rng, track, size.of(80, 14))
    return track


# Sections


def _fill(rng: random.Random, track: Track, count: int) -> None:
    """Sections of three kinds: parts below tasks, plain, and with headings of their own."""
    number, left = 0, count
    while left > 0:
        number += 1
        if (track.code, number) == CONSOLIDATED[:2]:
            number += 1
        size = min(left, rng.randrange(8, 15))
        if track.code == CONSOLIDATED[0] and left == size:
            number = max(number, CONSOLIDATED[2])
        section = f"{track.code}.{number}"
        track.entries.append(Entry(0, section, words.title(rng)))
        if track.code == "H" and number == 1:
            size = _near(rng, track, section)
        elif number % 3 == 1:
            _nested(rng, track, section, size)
        elif number % 3 == 2:
            _plain(rng, track, section, size)
        else:
            _deep(rng, track, section, size)
        left -= size


def _add(rng: random.Random, track: Track, task_id: str, depth: int, parent: str = "") -> None:
    task = model.Task(task_id, track.code, words.title(rng), track.project, parent)
    track.entries.append(Entry(depth, task_id, task.title, task))


def _near(rng: random.Random, track: Track, section: str) -> int:
    """H.1.1, H.1.1.1 and H.1.10: none of them is another."""
    _add(rng, track, f"{section}.1", 2)
    _add(rng, track, f"{section}.1.1", 3, f"{section}.1")
    for number in range(2, 11):
        _add(rng, track, f"{section}.{number}", 2)
    return 11


def _plain(rng: random.Random, track: Track, section: str, size: int) -> None:
    for number in range(1, size + 1):
        _add(rng, track, f"{section}.{number}", 2)


def _nested(rng: random.Random, track: Track, section: str, size: int) -> None:
    number, left = 0, size
    while left > 0:
        number += 1
        parts = min(left - 1, rng.randrange(2, 4)) if number % 2 and left > 3 else 0
        task_id = f"{section}.{number}"
        _add(rng, track, task_id, 2)
        for part in range(1, parts + 1):
            _add(rng, track, f"{task_id}.{part}", 3, task_id)
        left -= parts + 1


def _deep(rng: random.Random, track: Track, section: str, size: int) -> None:
    number, left = 0, size
    while left > 0:
        number += 1
        heading = f"{section}.{number}"
        track.entries.append(Entry(1, heading, words.title(rng)))
        below = min(left, rng.randrange(3, 8))
        for each in range(1, below + 1):
            _add(rng, track, f"{heading}.{each}", 2)
        left -= below


# Which are done


def _choose_families(rng: random.Random, tracks: list[Track], count: int) -> list[list[model.Task]]:
    """Families that end with some tasks done and some open."""
    candidates = [
        family
        for track in tracks
        if track.path.startswith(PILOT_DIRECTORY)
        for family in track.families
        if len(family) > 2
    ]
    chosen = rng.sample(candidates, min(count, len(candidates)))
    for family in chosen:
        for part in family[1 : 1 + len(family) // 2]:
            part.is_done = part.was_open = True
        for task in family:
            task.is_reserved = True
    return chosen


def _settle(rng: random.Random, track: Track, done: int) -> None:
    """Mark as many tasks done as are wanted, rather early ones; families as a whole."""
    left = done - sum(task.is_done for task in track.tasks)
    if track.code == "H":
        _reserve(track)
    free = [f for f in track.families if not any(t.is_reserved for t in f)]
    order = sorted(range(len(free)), key=lambda n: n / len(free) + rng.random() * 0.8)
    for number in order:
        family = free[number]
        if len(family) <= left:
            left -= len(family)
            for task in family:
                task.is_done = True


def _reserve(track: Track) -> None:
    """What must stay untouched: two near ids, and a whole section that is only talked about."""
    sections = [entry.id for entry in track.entries if entry.depth == 0]
    for task in track.tasks:
        if task.id in ("H.1.1", "H.1.1.1") or task.id.startswith(f"{sections[-1]}."):
            task.is_reserved = True
