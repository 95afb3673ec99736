"""Repairs of task files: only what is unambiguous, and never at the cost of a byte.

A plan is made of all files together and changes nothing; applying it takes each task's lock, and
leaves a file alone that is not any more as it was when the plan was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tether import errors, ids
from tether.hints import Any, NamedTuple
from tether.tasks import document, home, merging, model, splicing, states, workdir

_KEYS = {"artifacts": "artefacts", "task_id": "id"}
_SECOND = re.compile(r"(?<=\n)---[ \t]*\r?\n")


class Repair(NamedTuple):
    """What would become of one file."""

    task_id: str
    path: str
    before: str
    after: str | None
    """Its text; None if it goes, because another file has all of it."""
    target: str
    """Where it will be."""
    reasons: tuple[str, ...]


class _Draft(NamedTuple):
    """A file in the middle of being repaired."""

    found: workdir.Found
    before: str
    text: str
    reasons: tuple[str, ...] = ()
    home: str = ""
    """Where the side stood that counts, if the markers of a merge say so."""

    def said(self, text: str, reason: str) -> _Draft:
        return self._replace(text=text, reasons=(*self.reasons, reason))


def plan(
    files: Iterable[tuple[workdir.Found, str]],
    root: str,
    *,
    claimed: Mapping[str, str] | None = None,
    now: str,
    by: str,
) -> list[Repair]:
    """The repairs of these files, given as texts; `claimed` says who holds which task."""
    held = claimed or {}
    taken = {}
    by_id: dict[str, list[_Draft]] = {}
    for found, text in files:
        taken[found.path] = found
        draft = _repaired(_Draft(found, text, text), root, now, by)
        by_id.setdefault(found.task_id, []).append(draft)
    repairs = []
    for task_id, drafts in by_id.items():
        if ids.TaskId.is_valid(task_id):
            repairs += _settled(task_id, drafts, root, held.get(task_id, ""), now, by)
    moving = {repair.path for repair in repairs if repair.target != repair.path}
    return [
        repair
        for repair in repairs
        if repair.target == repair.path
        or repair.target not in taken
        or repair.target in moving
        or any(other.path == repair.target and other.after is None for other in repairs)
    ]


def _repaired(draft: _Draft, root: str, now: str, by: str) -> _Draft:
    """The text by itself: markers, documents, names, words."""
    draft = _without_markers(draft, root, now, by)
    draft = _one_document(draft)
    for old, new in _KEYS.items():
        draft = _renamed(draft, old, new)
    read = document.read(draft.text.encode())
    if read.problem:
        return draft
    for name, known in (("status", states.known_status), ("priority", model.known_priority)):
        written = read.fields.get(name)
        # Some other words for a priority real projects use on purpose.
        if not isinstance(written, str) or written in model.PRIORITY_ALIASES:
            continue
        meant = known(written)
        if meant is not None and meant != written:
            draft = _edited(draft, {name: meant}, f"{name}: {written} → {meant}")
    return draft


def _edited(draft: _Draft, changes: Mapping[str, Any], reason: str) -> _Draft:
    try:
        edited = splicing.edit(document.read(draft.text.encode()), changes)
    except errors.TaskUneditable:
        return draft
    return draft.said(edited.decode(), reason)


def _without_markers(draft: _Draft, root: str, now: str, by: str) -> _Draft:
    both = merging.sides(draft.text)
    if both is None or both.ours == draft.text:
        return draft
    places = [_named(draft.found, path, root) for path in (both.our_path, both.their_path)]
    texts = dict.fromkeys(zip((both.ours, both.theirs), places, strict=True))
    versions = [_version(found, text) for text, found in texts]
    if any(version.document.problem for version in versions):
        return draft
    winner, losers = merging.settle(versions)
    reason = f"the two sides of a merge: {winner.task.status} counts"
    text = _with_history(winner, losers, now, by)
    if text is None:
        return draft
    home = winner.task.path if places[0] != places[1] else ""
    return draft.said(text, reason)._replace(home=home)


def _named(found: workdir.Found, path: str, root: str) -> workdir.Found:
    """Where a side of a merge stood: both sides may have moved the file, each to another place."""
    there = workdir.located(path, root)
    return there if there is not None and there.task_id == found.task_id else found


def _with_history(
    winner: merging.Version, losers: list[merging.Version], now: str, by: str
) -> str | None:
    entries = merging.entries(winner, losers, now, by)
    if not entries:
        return winner.text
    old = winner.document.fields.get("history") or []
    history = [*(old if isinstance(old, list) else [old]), *(dict(each) for each in entries)]
    try:
        edited = splicing.edit(winner.document, {"history": history})
    except errors.TaskUneditable:
        return None
    # Two large texts do not fit into one file that can still be read: both stay as they are.
    return edited.decode() if len(edited) <= document.MAX_BYTES else None


def _one_document(draft: _Draft) -> _Draft:
    """A second `---` with a text behind it: the text becomes a field."""
    start = 3 if draft.text.startswith("---") else 0
    second = _SECOND.search(draft.text, start)
    if second is None:
        return draft
    first = document.read(draft.text[: second.start()].encode())
    rest = draft.text[second.end() :]
    if first.problem:
        return draft
    if not rest.strip():
        return draft.said(draft.text[: second.start()], "a second `---` with nothing behind it")
    free = [n for n in ("description", "notes", "body", "text") if n not in first.fields]
    if not free:
        return draft
    name = free[0]
    try:
        edited = splicing.edit(first, {name: rest})
    except errors.TaskUneditable:
        return draft
    return draft.said(edited.decode(), f"what stood behind a second `---` is `{name}` now")


def _renamed(draft: _Draft, old: str, new: str) -> _Draft:
    """A field under its right name, if that is free."""
    read = document.read(draft.text.encode())
    if read.problem or old not in read.fields or new in read.fields:
        return draft
    text = re.sub(rf"^{old}(?=[ \t]*:)", new, draft.text, count=1, flags=re.MULTILINE)
    wanted = {new if name == old else name: value for name, value in read.fields.items()}
    again = document.read(text.encode())
    if again.problem or again.fields != wanted:
        return draft
    return draft.said(text, f"{old} → {new}")


def _settled(
    task_id: str, drafts: list[_Draft], root: str, holder: str, now: str, by: str
) -> list[Repair]:
    """One file for the task, in its place."""
    versions = [_version(draft.found, draft.text) for draft in drafts]
    if any(version.document.problem for version in versions):
        # What cannot be read could be the better one: only texts are repaired.
        return [repair for draft in drafts if (repair := _repair(draft, draft.found.path))]
    winner, losers = merging.settle(versions)
    homes = {draft.home for draft in drafts}
    if len(homes) == 1 and len({draft.before for draft in drafts}) == 1:
        # Git wrote both sides into both files: the place of the side that counts goes with it.
        winner = next((each for each in versions if each.task.path in homes), winner)
        losers = []
    by_path = {draft.found.path: draft for draft in drafts}
    draft = by_path.pop(winner.task.path)
    others = list(by_path.values())
    if others:
        text = _with_history(winner, losers, now, by)
        if text is None:
            return []
        draft = draft.said(text, f"one of {len(drafts)} files of this task: this one counts")
    target, changes = _place(draft, root, holder)
    if changes:
        draft = _edited(draft, changes, _reason(changes))
    if target != draft.found.path:
        draft = draft._replace(reasons=(*draft.reasons, f"belongs at {target}"))
    gone = f"the same task is at {target}; its text is kept in the history there"
    repairs = [repair] if (repair := _repair(draft, target)) else []
    repairs += [
        Repair(task_id, other.found.path, other.before, None, other.found.path, (gone,))
        for other in others
    ]
    return repairs


def _place(draft: _Draft, root: str, holder: str) -> tuple[str, dict[str, Any]]:
    """Where a file belongs, and what it must say there."""
    version = _version(draft.found, draft.text)
    there = home.home(version.task, version.document.fields, holder)
    changes = dict(there.changes)
    if not version.task.status:
        changes.pop("status", None)  # a verb may fill it in; here a person should look at it
    directory = "/".join(part for part in (root, there.place, there.folder) if part)
    return f"{directory}/{version.task.id}{workdir.SUFFIX}", changes


def _reason(changes: Mapping[str, Any]) -> str:
    said = ", ".join(f"{name}: {value}" for name, value in changes.items())
    return f"{said}, as its directory says"


def _repair(draft: _Draft, target: str) -> Repair | None:
    if draft.text == draft.before and target == draft.found.path:
        return None
    found = draft.found
    return Repair(found.task_id, found.path, draft.before, draft.text, target, draft.reasons)


def _version(found: workdir.Found, text: str) -> merging.Version:
    loaded = workdir.parsed(found, text.encode())
    return merging.Version(text, loaded.document, loaded.task)
