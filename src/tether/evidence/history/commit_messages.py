"""Which tasks a commit is about, by its message and by what it changes. Pure.

The subject and the trailers say what was worked on. The body tells a story, in which other tasks
occur. A commit that changes nothing but task lists is a statement, not work.
"""

from __future__ import annotations

import re

from tether import ids
from tether.evidence import mentions, model
from tether.hints import NamedTuple
from tether.tasks.sources import dialects, patterns

# From this many on, a subject lists tasks.
_MANY_IN_SUBJECT = 10
_TRAILER = re.compile(
    r"^(Tasks?|Task-Id|Closes|Fixes): {0,4}(.{1,500})$", re.MULTILINE | re.IGNORECASE
)
_MERGE = re.compile(r"Merge (?:(?:remote-tracking )?branch(?:es)?|pull request|tags?|commits?)\b")
# `T017-T021`, as spec-kit's tasks are named together.
_RANGE = re.compile(r"\bT([0-9]{3}) {0,2}(?:-|\u2013|\u2014|\.\.) {0,2}T([0-9]{3})\b")
_MAX_RANGE = 50
# Where a subject says what it is about: `[it] …`, `feat(it): …`, `it: …`.
_LABELS = re.compile(r"\[([^\[\]]{1,200})\]|\(([^()]{1,200})\)|^([^\s:()\[\]!]{1,100})!?:(?=\s|$)")
_DIGIT = re.compile(r"[0-9]")
_CODE = re.compile(r"[A-Z]{1,20}[0-9]{1,20}")
# What a subject begins with whatever it is about.
_TYPES = (
    *("build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "release", "revert"),
    *("style", "test", "tests", "wip"),
)


# How a body says of what task its commit is: `Closes it`, `(it)` behind what was done, `it: …`.
_VERB = re.compile(
    r"\b(?:(?:clos(?:e|es|ed|ing)|fix(?:es|ed|ing)?|resolv(?:e|es|ed|ing)|complet(?:e|es|ed|ing)"
    r"|implement(?:s|ed|ing)?|address(?:es|ed|ing)?|finish(?:es|ed|ing)?|part of|work on"
    r"|tests? for):?(?: (?:the )?(?:task|issue|ticket|bead|story))?"
    r"|(?:task|issue|ticket|bead|jira|story):) {0,2}[#\[(\"'`]{0,2}$",
    re.IGNORECASE,
)
# The same, unless the subject names the task: then these are others, to read on.
_REFERS = re.compile(
    r"\brefs?(?:erences)?:?(?: (?:the )?(?:task|issue|ticket|bead|story))?"
    r" {0,2}[#\[(\"'`]{0,2}$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[-*+\u2022\s\[(#]{0,12}")
_BESIDE = re.compile(r"[\])]{0,2}\s{0,9}(?:[,;&+]|and)\s{0,9}[\[(]{0,2}$", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S{1,300}/$")
_MAX_BEFORE = 80
NAMED, REVERTED = "named", "reverted"
# As `git revert` and the sites of forges name a commit: the quoted title is that of another one.
_REVERT = re.compile(r'(?:Revert|Reapply) "([^\n]{1,400})"')
# The same in words of one's own: `Reverting T1 patch`, `T2: back out T1`, `Reverted T1`. What comes
# behind `and` or `;` is something else again, and `Reverted rows` are rows.
_TAKING_BACK = re.compile(
    r"(?:\S{1,80}: {1,4})?"
    r"(?:(?:revert(?:s|ing)?|back(?:s|ing)? ?out|undo(?:es|ing)?)\b"
    r"|(?:reverted|undid)[^\w;]{1,8}(?=\S{0,80}[0-9]))"
    r"((?:(?!;| and )[^\n]){1,400})",
    re.IGNORECASE,
)


class About(NamedTuple):
    """A task that a commit is about."""

    source: str
    id: str
    kind: str
    what: str
    """`named` if a body speaks of it without saying that the commit is work on it; `reverted` if a
    subject has it in the title of a commit that is taken back, or applied again."""
    start: int


def read(
    finder: patterns.Finder, subject: str, body: str, *, is_merge: bool, is_work: bool
) -> list[About]:
    """The tasks that a commit names. `is_work` says that it changes more than task lists."""
    is_merging = is_merge and _MERGE.match(subject) is not None
    kind, what = (model.STATED, "merged") if is_merging else (model.WORKED, "committed")
    if not is_work and not is_merging:
        kind, what = model.STATED, "committed"
    spelt = _RANGE.sub(_spelt_out, subject)
    named = finder.find(spelt)
    quoted = _REVERT.match(spelt) or _TAKING_BACK.match(spelt)
    if len({(each.source, each.id) for each in named}) >= _MANY_IN_SUBJECT:
        kind = model.LISTED
    found = {(e.source, e.id): About(e.source, e.id, kind, what, e.start) for e in reversed(named)}
    if quoted:
        own = {(e.source, e.id) for e in named if not quoted.start(1) <= e.start < quoted.end(1)}
        found |= {
            key: each._replace(what=REVERTED) for key, each in found.items() if key not in own
        }
    own_kind = model.WORKED if is_work else model.STATED
    for key in trailers(finder, body):
        if key not in found or found[key].kind == model.LISTED or found[key].what == REVERTED:
            found[key] = About(*key, own_kind, "committed", 0)
    rest = _TRAILER.sub("", body)
    mentioned = mentions.read(finder, rest)
    done = _done(finder, rest, is_named=bool(found)) if mentioned else frozenset()
    for mention in mentioned:
        key = (mention.source, mention.id)
        found.setdefault(key, About(*key, mention.kind, "committed" if key in done else NAMED, -1))
    return list(found.values())


def _done(finder: patterns.Finder, body: str, *, is_named: bool) -> frozenset[tuple[str, str]]:
    """The tasks of which a body says that its commit is work on them.

    If the subject names one already, others have to be said so in words: an id at the start of a
    line may be of some output, and an address may be where to read on.
    """
    found = set()
    before: tuple[int, int] | None = None
    """Where the last one stands of which it says so."""
    for each in finder.find(body):
        end = each.start + len(each.id)
        line = max(body.rfind("\n", 0, each.start) + 1, each.start - _MAX_BEFORE)
        begin = max(line, before[1]) if before and before[0] >= line else line
        is_next = begin > line and _BESIDE.fullmatch(body, begin, each.start) is not None
        after = body[end : end + 2]
        if is_next or _says_done(body[line : each.start], after, is_named=is_named):
            found.add((each.source, each.id))
            before = (each.start, end)
    return frozenset(found)


def _says_done(before: str, after: str, *, is_named: bool) -> bool:
    """Whether what stands around an id says that work on it was done."""
    if _VERB.search(before):
        return True
    if is_named:
        return False
    if _REFERS.search(before) or _ADDRESS.search(before):
        return True
    if _BULLET.fullmatch(before):
        return after[:1] in ("", "\n", "\r", ":", "]", ")") or after in (" -", ": ", ". ")
    return before.endswith("(") and after.startswith(")")


def trailers(finder: patterns.Finder, body: str) -> list[tuple[str, str]]:
    """The tasks that trailers name: by ids that are known in texts, or exactly as `source:id`.

    `Task: WORD`, as the hook writes it, is one of our own tasks, whose ids may be any.
    """
    found: list[tuple[str, str]] = []
    for trailer in _TRAILER.finditer(body):
        words = re.split(r"[ ,]+", trailer[2].strip())
        is_own = trailer[1].lower() == "task" and len(words) == 1
        for word in words:
            source, colon, task = word.rpartition(":")
            if colon and source in (ids.OWN_SOURCE, *dialects.NAMES) and ids.TaskId.is_valid(task):
                found.append((source, task))
            elif named := finder.find(word):
                found += [(each.source, each.id) for each in named]
            elif is_own and ids.TaskId.is_valid(word):
                found.append((ids.OWN_SOURCE, word))
    return found


def _spelt_out(found: re.Match[str]) -> str:
    """Every id of a range, or the range as it is if it is none."""
    first, last = int(found[1]), int(found[2])
    if not first < last <= first + _MAX_RANGE:
        return found[0]
    return ", ".join(f"T{number:03}" for number in range(first, last + 1))


def labels(subject: str) -> list[str]:
    """The words by which a subject says what it is about."""
    found = []
    for match in _LABELS.finditer(subject):
        if match[3] and match[3].lower() in _TYPES:
            continue
        inner = match[1] or match[2] or match[3]
        found += [word for word in re.split(r"[,\s]+", inner) if word]
    return found


def names(subject: str, task_id: str) -> bool:
    """Does a subject name a task whose id may be any word?

    As a label; and an id that is no word of a language, anywhere.
    """
    if task_id not in subject:
        return False
    if task_id in (label.rpartition(":")[2] for label in labels(subject)):
        return True
    whole = rf"(?<![A-Za-z0-9_.-]){re.escape(task_id)}(?![A-Za-z0-9_-])(?!\.[A-Za-z0-9])"
    return _is_no_word(task_id) and re.search(whole, subject) is not None


def _is_no_word(task_id: str) -> bool:
    """Is an id what no sentence has that is not about it: `T-12`, `BUG7`; not `2`, `v2`, `e2e`?"""
    if not _DIGIT.search(task_id):
        return False
    has_sign = any(sign in task_id for sign in "._-")
    has_letter = any(sign.isalpha() for sign in task_id)
    return _CODE.fullmatch(task_id) is not None or (has_sign and has_letter)
