"""All task files of a checkout against the rules, and their repair."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from tether import errors, git, ids, workspace
from tether.agents import claims
from tether.agents import model as agents
from tether.hints import NamedTuple
from tether.store import port
from tether.tasks import desk, document, fixing, packs, states, validate, workdir

_NOT_HERE = "Git does not have it here"


class Checked(NamedTuple):
    """What was found, and what could be done about it."""

    files: int
    findings: list[validate.Finding]
    repairs: list[fixing.Repair]
    keeps: list[str]
    """The `.gitkeep` files that are missing."""


def check(
    work: workdir.Workdir,
    reading: validate.Reading = validate.OURS,
    *,
    place: workspace.Workspace | None = None,
    store: port.Store | None = None,
    now: str = "",
    by: str = "tether",
) -> Checked:
    """Look at every file. Changes nothing."""
    texts: list[tuple[workdir.Found, str]] = []
    subjects: list[validate.Subject] = []
    for found in sorted(work.scan(), key=lambda each: each.path):
        loaded = work.load(found)
        if loaded.task.problem == workdir.VANISHED:
            continue
        # Bytes that are no text have no repair.
        if loaded.document.text:
            texts.append((found, loaded.document.text))
        subjects.append(_subject(found, loaded))
    findings = [each for subject in subjects for each in validate.judge(subject, reading)]
    if not reading.is_ours:
        return Checked(len(subjects), findings, [], [])
    packed, damaged = packs.ids(work)
    findings += validate.judge_together(subjects, packed)
    findings += [_finding(validate.PARSE, path, "this pack is damaged") for path in damaged]
    held = claims.open_ones(store.rows) if store is not None else []
    findings += _without_file(held, subjects, place)
    findings += [_finding(validate.LINK, p, "it is a link") for p in _links(work)]
    findings += [_finding(validate.PLACE, p, "nobody sees a task here") for p in strays(work)]
    keeps = missing_keeps(work)
    findings += [_finding(validate.KEEP, path, "it is missing", fixed=True) for path in keeps]
    claimed = {claim.task: claim.agent_name for claim in held if claim.source == ids.OWN_SOURCE}
    repairs = fixing.plan(texts, work.root, claimed=claimed, now=now, by=by)
    return Checked(len(subjects), _marked(findings, repairs, work), repairs, keeps)


def check_staged(
    place: workspace.Workspace, work: workdir.Workdir, reading: validate.Reading = validate.OURS
) -> Checked:
    """The same rules for what the next commit would have, whatever lies about on the disk."""
    repository = git.Git(place.place)
    staged = {}
    for entry in repository.staged(work.root):
        found = workdir.located(entry.path, work.root)
        if found is not None and not work.leaves_out(found):
            staged[found] = entry.oid
    subjects = []
    blobs = repository.blobs(staged.values(), max_bytes=document.MAX_BYTES)
    for found, blob in zip(staged, blobs, strict=True):
        if blob.data is None:
            too_large = blob.why_missing == "too_large"
            loaded = workdir.broken(found, workdir.TOO_LARGE if too_large else _NOT_HERE)
        else:
            loaded = workdir.parsed(found, blob.data)
        subjects.append(_subject(found, loaded))
    findings = [each for subject in subjects for each in validate.judge(subject, reading)]
    if reading.is_ours:
        findings += validate.judge_together(subjects, packs.ids(work)[0])
    return Checked(len(subjects), findings, [], [])


def missing_keeps(work: workdir.Workdir) -> list[str]:
    """The directories that a merge could take for renamed ones."""
    wanted = [(place, "") for place in states.PLACES]
    wanted += [(states.ASSIGNED, folder) for folder in work.folders(states.ASSIGNED)]
    directories = [work.directory(place, folder) for place, folder in wanted]
    there = [each for each in directories if os.path.isdir(os.path.join(work.top, each))]
    paths = [f"{each}/{workdir.KEEP}" for each in there]
    return [path for path in paths if not os.path.lexists(os.path.join(work.top, path))]


def strays(work: workdir.Workdir) -> list[str]:
    """Files that look like tasks and are in no directory of the lifecycle: nobody sees them."""
    return [each.path for each in work.strays() if {"id", "status"} <= set(_fields(work, each))]


def _fields(work: workdir.Workdir, found: workdir.Found) -> Mapping[str, object]:
    try:
        return document.read(work.raw(found)).fields
    except (errors.FileError, errors.NotFound):
        return {}


def apply(at: desk.Desk, checked: Checked) -> tuple[list[fixing.Repair], list[fixing.Repair]]:
    """Do the repairs; those done, and those whose file has changed meanwhile."""
    at.store.ensure_writable()
    for path in checked.keeps:
        place, _, folder = os.path.dirname(path).removeprefix(f"{at.work.root}/").partition("/")
        at.work.make_place(place, folder)
    done: list[fixing.Repair] = []
    left: list[fixing.Repair] = []
    by_task: dict[str, list[fixing.Repair]] = {}
    for repair in checked.repairs:
        by_task.setdefault(repair.task_id, []).append(repair)
    for task_id, repairs in by_task.items():
        with desk.locked(at, task_id):
            if all(_is_as_it_was(at.work, repair) for repair in repairs):
                _do(at.work, repairs)
                done += repairs
            else:
                left += repairs
    return done, left


def _is_as_it_was(work: workdir.Workdir, repair: fixing.Repair) -> bool:
    try:
        return work.files.read_bytes(repair.path) == repair.before.encode()
    except (errors.FileError, errors.NotFound):
        return False


def _do(work: workdir.Workdir, repairs: list[fixing.Repair]) -> None:
    """What is kept is written before anything goes; then there is room to move."""
    for repair in repairs:
        if repair.after is not None and repair.after != repair.before:
            work.write(repair.path, repair.after.encode())
    for repair in repairs:
        if repair.after is None:
            work.files.remove(repair.path)
    for repair in repairs:
        found = workdir.located(repair.target, work.root)
        if repair.after is not None and found is not None:
            work.move(repair.path, repair.task_id, found.place, found.folder)


def _marked(
    findings: Iterable[validate.Finding],
    repairs: list[fixing.Repair],
    work: workdir.Workdir,
) -> list[validate.Finding]:
    """Which findings the repairs would settle: those that are not there any more afterwards."""
    after: dict[str, set[tuple[str, str]]] = {}
    for repair in repairs:
        if repair.after is None:
            after[repair.path] = set()
            continue
        found = workdir.located(repair.target, work.root)
        if found is not None:
            loaded = workdir.parsed(found, repair.after.encode())
            left = validate.judge(_subject(found, loaded))
            after[repair.path] = {(each.rule, each.detail) for each in left}
    alone = {repair.task_id for repair in repairs if repair.after is None}
    return [
        each._replace(can_be_fixed=True)
        if (each.rule == validate.DUPLICATE and each.task in alone)
        or (
            each.path in after
            and each.rule not in _TOGETHER
            and (each.rule, each.detail) not in after[each.path]
        )
        else each
        for each in findings
    ]


_TOGETHER = (validate.DUPLICATE, validate.CASE, validate.DEPENDENCY)


def _subject(found: workdir.Found, loaded: workdir.Loaded) -> validate.Subject:
    task = loaded.task
    problem = "" if loaded.document.fields and not loaded.document.problem else task.problem
    return validate.Subject(
        found.task_id,
        found.path,
        found.place,
        found.folder,
        loaded.document.fields,
        problem,
        task.line,
    )


def _without_file(
    held: list[agents.Claim],
    subjects: list[validate.Subject],
    place: workspace.Workspace | None,
) -> list[validate.Finding]:
    """Claims that are worked on here and have no file here."""
    known = {subject.task_id for subject in subjects}
    return [
        validate.Finding(
            validate.NO_FILE, claim.task, "", f"{claim.agent_name} holds it, and it has no file"
        )
        for claim in held
        if place is not None
        and claim.source == ids.OWN_SOURCE
        and claim.worktree == place.root
        and claim.task not in known
    ]


def _links(work: workdir.Workdir) -> list[str]:
    return [work.directory(place) for place in states.PLACES if work.is_linked(place)]


def _finding(rule: str, path: str, detail: str, *, fixed: bool = False) -> validate.Finding:
    return validate.Finding(rule, "", path, detail, can_be_fixed=fixed)
