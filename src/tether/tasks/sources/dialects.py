"""How each kind of task list is written, as data: where its files are, its ids, its boxes."""

from __future__ import annotations

import re

from tether import ids
from tether.hints import NamedTuple
from tether.tasks import states
from tether.tasks.sources import model, patterns

TRACK = "track"
SPECKIT = "speckit"
KIRO = "kiro"
OPENSPEC = "openspec"
CONDUCTOR = "conductor"
BACKLOG = "backlog"
BEADS = "beads"

# Where the files are, from the top of a checkout; the first place counts first. `*` is one name:
# in a list of checkboxes, what the file is about. Tracks are found by their own names, anywhere.
PLACES = {
    TRACK: (),
    SPECKIT: ("specs/*/tasks.md", ".specify/specs/*/tasks.md"),
    KIRO: (".kiro/specs/*/tasks.md",),
    OPENSPEC: ("openspec/changes/*/tasks.md", "openspec/changes/archive/*/tasks.md"),
    CONDUCTOR: ("conductor/plan.md", "conductor/tracks/*/plan.md", "conductor/archive/*/plan.md"),
    BACKLOG: (
        "backlog/tasks/*.md",
        "backlog/completed/*.md",
        "backlog/archive/tasks/*.md",
        ".backlog/tasks/*.md",
        ".backlog/completed/*.md",
        ".backlog/archive/tasks/*.md",
    ),
    BEADS: (".beads/issues.jsonl", ".beads/beads.jsonl"),
}
NAMES = tuple(PLACES)
# Directories that hold no plans of a team, whatever is in them.
SKIPPED = frozenset(
    ["node_modules", "venv", "site-packages", "vendor", "third_party", "__pycache__", "target"]
)
MAX_DEPTH = 8
"""How many directories may be above a track."""
_TRACK_NAME = re.compile(r"(?i:track)-(?!(?i:index|template|readme)\b)([^/]{1,200})\.(?i:md)")
_TRACK_LETTERS = re.compile(r"([A-Za-z]{1,2})(?:[-_. ]|$)")
_GLOBS = tuple(
    (name, re.compile(re.escape(place).replace(r"\*", "([^/]{1,255})")))
    for name, places in PLACES.items()
    for place in places
)
# OpenSpec puts the day in front of the name of a change when it archives it.
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-(?=.)")
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_SLUG_CHARS = 40


class Dialect(NamedTuple):
    """How a list of checkboxes is written."""

    name: str
    id: re.Pattern[str] | None
    """What stands between the box and the text; None if the tasks have no ids."""
    marks: dict[str, str]
    """The state that each mark in a box means."""
    writes: dict[str, str]
    """The mark for each state that the format has."""
    has_own_ids: bool = False
    """Are ids unique without the name of what the file is about?"""
    heading_id: re.Pattern[str] | None = None
    has_notes: bool = False
    """Do agents and priorities stand beside the tasks?"""
    noise: re.Pattern[str] | None = None
    """What else may stand in front of the text."""
    log: re.Pattern[str] | None = None
    """The heading of the section that says which ids were given up for which."""


_MARKS = {
    " ": states.NEW,
    "x": states.DONE,
    "X": states.DONE,
    "~": states.IN_PROGRESS,
    "-": model.CANCELLED,
}
# Kiro writes `-` while it works, and `~` for what waits in its queue.
_KIRO_MARKS = {**_MARKS, "-": states.IN_PROGRESS, "~": states.NEW}
_OPEN_OR_DONE = {states.NEW: " ", states.DONE: "x"}
_STARTED = {**_OPEN_OR_DONE, states.IN_PROGRESS: "~"}

# Emphasis and brackets around an id, then what separates it from the text.
_BEFORE_ID = r"[*_`~(\[]{0,4}"
_AFTER_ID = (
    r"(?!_?[A-Za-z0-9])(?!\.[0-9])[*_`~)\]]{0,4}[ \t]{0,4}"
    r"(?:[:.\u2013\u2014|-][*_]{0,3}(?![^ \t])[ \t]{0,4})?"
)
_WORD = r"(?:(?:Task|TASK|task)[ \t]{1,2})?"
_SECTION_WORD = r"(?i:(?:section|phase|task|track|epic|feature|sprint)[ \t]{1,2})?"
_LETTERED = patterns.BUILT_IN[TRACK].exact
# A number alone needs a full stop, a bracket or emphasis: a text may begin with one.
_NUMBERED = r"[0-9]{1,4}(?:(?:\.[0-9]{1,4}){1,3}|(?=[.):*]))"


def _id(exact: str) -> re.Pattern[str]:
    return re.compile(f"({_BEFORE_ID}){_WORD}({exact}){_AFTER_ID}")


CHECKBOXES = {
    each.name: each
    for each in (
        Dialect(
            TRACK,
            _id(_LETTERED),
            _MARKS,
            {**_STARTED, model.CANCELLED: "-"},
            has_own_ids=True,
            heading_id=re.compile(
                rf"[^A-Za-z0-9]{{0,8}}{_SECTION_WORD}{_BEFORE_ID}({_LETTERED})"
                r"(?!_?[A-Za-z0-9])(?!\.[0-9])"
            ),
            has_notes=True,
            log=re.compile(r"(?i:consolidation[ \t]{1,4}log)"),
        ),
        Dialect(
            SPECKIT,
            _id(r"T[0-9]{2,4}[a-z]?"),
            _MARKS,
            _OPEN_OR_DONE,
            noise=re.compile(r"(?:\[(?:P|[A-Z]{2,4}[0-9]{1,4})\][ \t]{0,4}){1,6}"),
        ),
        Dialect(
            KIRO,
            _id(_NUMBERED),
            _KIRO_MARKS,
            {**_OPEN_OR_DONE, states.IN_PROGRESS: "-"},
        ),
        Dialect(OPENSPEC, _id(_NUMBERED), _MARKS, _OPEN_OR_DONE),
        Dialect(CONDUCTOR, None, _MARKS, _STARTED, noise=re.compile(r"[Tt]ask:[ \t]{1,4}")),
    )
}


def dialect_of(path: str) -> str | None:
    """The kind of list that a file is part of, by its path from the top of a checkout."""
    if not path.endswith((".md", ".jsonl", ".MD")):
        return None
    for name, pattern in _GLOBS:
        found = pattern.fullmatch(path)
        # The directory of archived changes is no change.
        if found and (name != OPENSPEC or found[1] != "archive"):
            return name
    return TRACK if is_track(path) else None


def is_track(path: str) -> bool:
    """Is this the file of a track, by its name and the directories that it is in?"""
    *above, name = path.split("/")
    return (
        _TRACK_NAME.fullmatch(name) is not None
        and len(above) <= MAX_DEPTH
        and all(is_read(directory) for directory in above)
    )


def is_read(directory: str) -> bool:
    """May there be plans of a team in a directory of this name?"""
    return directory[:1] != "." and directory not in SKIPPED


def subject(name: str, path: str) -> str:
    """What a list of checkboxes is about, by its path: a feature, a change, a track."""
    if name == TRACK:
        return _track(path.rpartition("/")[2])
    for each, pattern in _GLOBS:
        found = pattern.fullmatch(path) if each == name else None
        if found and found.groups():
            return _DAY.sub("", found[1], count=1) if "/archive/" in path else found[1]
    return path.rpartition("/")[2].removesuffix(".md") or name


def _track(name: str) -> str:
    """`H` of `TRACK-H-FRAMEWORK.md`, else the name without what all of them share."""
    found = _TRACK_NAME.fullmatch(name)
    rest = found[1] if found else name.removesuffix(".md")
    letters = _TRACK_LETTERS.match(rest)
    return letters[1].upper() if letters else rest


def slug(name: str) -> str:
    """A name as the first part of ids: itself if it can be, else a shorter one and a hash."""
    if len(name) <= _MAX_SLUG_CHARS and ids.TaskId.is_valid(f"{name}.1"):
        return name
    kept = _NOT_IN_AN_ID.sub("-", name).strip("-_")[: _MAX_SLUG_CHARS - 9].rstrip("-_")
    return f"{kept or 'x'}-{short_hash(name)}"


def short_hash(value: str) -> str:
    """Eight hexadecimal digits for a text, the same everywhere."""
    import hashlib

    return hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=4).hexdigest()
