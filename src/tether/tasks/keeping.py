"""Putting done tasks away, packing and purging the archive, and bringing back what was lost."""

from __future__ import annotations

import os

from tether import clock, errors, files, git, ids
from tether.agents import claims
from tether.hints import NamedTuple
from tether.tasks import desk, document, home, model, moves, packs, states, workdir

RETENTION_DAYS = 30
"""What was completed longer ago than this is put away, unless somebody says otherwise."""


class Candidate(NamedTuple):
    """A file of the archive, or a pack, that a clean-up is about."""

    path: str
    month: str
    size: int


def due(work: workdir.Workdir, now: str, older_than_ms: int) -> list[model.Task]:
    """The done tasks that were completed longer ago than this, oldest first."""
    limit = clock.text(clock.parse(now) - older_than_ms)
    found = []
    for each in work.scan([states.DONE]):
        task = work.read(each)
        ended = task.completed_at or task.created_at
        if not task.problem and task.state == states.DONE and ended and ended < limit:
            found.append(task)
    return sorted(found, key=lambda task: (task.completed_at, task.id))


def archive(at: desk.Desk, tasks: list[model.Task]) -> tuple[list[desk.Moved], list[str]]:
    """Put tasks away; what was done, and why some were left."""
    done, left = [], []
    for task in tasks:
        try:
            done.append(moves.archive(at, task.id))
        except (errors.NotAllowed, errors.NotFound, errors.Taken, errors.TaskError) as problem:
            left.append(f"{task.id}: {problem.message}")
    return done, left


def closed_months(work: workdir.Workdir, now: str) -> list[str]:
    """The months of the archive before this one that still have files."""
    months = {each.folder.partition("/")[0] for each in work.scan([states.ARCHIVE])}
    return sorted(month for month in months if _is_month(month) and month < now[:7])


def compress(at: desk.Desk, month: str) -> list[str]:
    """Pack a month of the archive; the paths that changed, the pack first."""
    path, packed = packs.pack(at.work, month)
    gone = []
    for found, raw in packed:
        with desk.locked(at, found.task_id):
            if at.work.files.exists(found.path) and at.work.raw(found) == raw:
                at.work.files.remove(found.path)
                gone.append(found.path)
            else:
                # Somebody has changed it meanwhile: its file counts.
                packs.take_out(at.work, found._replace(path=path, folder=month))
    if len(gone) == len(packed):
        keep = f"{at.work.directory(states.ARCHIVE, month)}/{workdir.KEEP}"
        gone += [keep] if at.work.files.remove(keep) else []
    return [path, *gone]


def old_packs(work: workdir.Workdir) -> list[Candidate]:
    """The packs in this checkout, but for those that open tasks still need."""
    needed = _needed(work)
    return [
        _candidate(work, path)
        for path in packs.names(work)
        if needed.isdisjoint(packs.ids_in(work, path))
    ]


def _needed(work: workdir.Workdir) -> set[str]:
    """What open tasks depend on: a dependency is met only by what is here."""
    found = [work.read(each) for each in work.scan([states.INBOX, states.ASSIGNED])]
    return {each for task in found for each in task.depends_on}


def move_away(work: workdir.Workdir, pack: Candidate, directory: str) -> str:
    """Carry a pack to another place: copied, compared, then removed here."""
    target = os.path.join(directory, os.path.basename(pack.path))
    raw = work.files.read_bytes(pack.path, max_bytes=pack.size + 1)
    try:
        os.makedirs(directory, exist_ok=True)
        if os.path.samefile(directory, os.path.join(work.top, os.path.dirname(pack.path))):
            raise errors.UsageError("The packs are in that place already. Nothing was changed.")
        cold = files.Root(directory)
        if cold.exists(os.path.basename(target)):
            if cold.read_bytes(os.path.basename(target), max_bytes=pack.size + 1) != raw:
                raise errors.AlreadyThere(
                    f"There is another {os.path.basename(target)} in that place. Both are kept."
                )
        else:
            cold.write_atomic(os.path.basename(target), raw, replace=False)
    except OSError as problem:
        raise errors.FileError(
            f"The pack could not be moved away: {problem.strerror}. It is where it was."
        ) from problem
    work.files.remove(pack.path)
    return target


def purgeable(work: workdir.Workdir, now: str, older_than_ms: int) -> list[Candidate]:
    """What a purge would remove: months and packs that ended longer ago than this."""
    limit = clock.text(clock.parse(now) - older_than_ms)[:7]
    found = [each for each in old_packs(work) if _is_month(each.month) and each.month < limit]
    needed = _needed(work)
    for each in work.scan([states.ARCHIVE]):
        month = each.folder.partition("/")[0]
        is_old = _is_month(month) and month < limit
        if is_old and each.seen is not None and each.task_id not in needed:
            found.append(Candidate(each.path, month, each.seen.st_size))
    return sorted(found, key=lambda candidate: candidate.path)


def uncommitted(at: desk.Desk, candidates: list[Candidate]) -> list[Candidate]:
    """Those that no commit of this branch has: once removed, nothing brings them back."""
    repository = git.Git(at.place.place)
    known = repository.entries(repository.head(), [each.path for each in candidates])
    return [each for each in candidates if known[each.path] is None]


def purge(work: workdir.Workdir, candidates: list[Candidate]) -> None:
    for each in candidates:
        work.files.remove(each.path)


def restore(at: desk.Desk, task_id: str) -> tuple[desk.Moved, str]:
    """Bring back the file of a task that Git or the claims know; where it came from."""
    wanted = ids.TaskId(task_id)
    with desk.locked(at, wanted):
        if found_here := at.work.find(wanted):
            raise errors.AlreadyThere(
                f"{wanted} has a file: {found_here[0].path}. Nothing was changed.",
                hint="There is nothing to restore; `tether task show` shows it.",
            )
        if packs.load(at.work, wanted) is not None:
            raise errors.AlreadyThere(
                f"{wanted} is packed in the archive, and not lost. Nothing was changed.",
                hint="`tether task show` shows it; `tether task reopen` makes it new again.",
            )
        known = _from_git(at, wanted)
        if known is not None:
            found, raw, source = known
        else:
            found, raw, source = _from_claims(at, wanted)
        loaded = workdir.parsed(found, raw)
        place, folder = found.place, found.folder
        if not loaded.task.problem:
            place, folder, _ = home.home(loaded.task, loaded.document.fields)
        path = at.work.create(wanted, raw, place, folder)
        task = loaded.task._replace(path=path, place=place, folder=folder)
        key = ids.TaskKey(ids.OWN_SOURCE, wanted)
        desk.log_moved(at, key, "restore", states.NONE, task.state, source)
        return desk.Moved("restore", states.NONE, task, (path,)), source


def _from_git(at: desk.Desk, task_id: str) -> tuple[workdir.Found, bytes, str] | None:
    """The last version that any branch has had."""
    repository = git.Git(at.place.place)
    tips = list(dict.fromkeys(oid for _, oid in repository.refs()))
    head = repository.head()
    if head is not None:
        # This checkout's own history counts first.
        tips = [head, *(tip for tip in tips if tip != head)]
    # Along the first parents a merge tells what it brought, and what was settled in it.
    for group, is_own in (([head] if head else [], True), (tips, False)):
        for commit in repository.log(group, paths=[at.work.root], first_parent=is_own):
            for change in commit.changes:
                found = workdir.located(change.path, at.work.root)
                if found is None or found.task_id != task_id or change.new_oid.is_null:
                    continue
                blob = next(repository.blobs([change.new_oid], max_bytes=document.MAX_BYTES))
                if blob.data is not None:
                    return found, blob.data, f"commit {commit.oid[:12]}"
    return None


def _from_claims(at: desk.Desk, task_id: str) -> tuple[workdir.Found, bytes, str]:
    """A file from what the claims say, for a task that was never committed."""
    key = ids.TaskKey(ids.OWN_SOURCE, task_id)
    known = claims.history(at.store.rows, key)
    if not known:
        raise errors.NotFound(
            f"Neither Git nor the claims know a task {task_id}. Nothing was changed.",
            hint="See the tasks with `tether task list --all`.",
        )
    first, last = known[-1], known[0]
    is_held = last.closed_at is None
    fields = {
        "id": task_id,
        "title": f"{task_id} (restored)",
        "agent": last.agent_name if is_held else "",
        "status": states.IN_PROGRESS if is_held else states.NEW,
        "priority": "normal",
        "created_at": first.claimed_at,
        **({"assigned_at": last.claimed_at, "started_at": last.claimed_at} if is_held else {}),
        "artefacts": [],
    }
    if last.checkpoint:
        fields["description"] = f"The last words of {last.agent_name}:\n{last.checkpoint}\n"
    place = states.ASSIGNED if is_held else states.INBOX
    folder = last.agent_name if is_held else ""
    name = f"{task_id}{workdir.SUFFIX}"
    found = workdir.Found(f"{at.work.directory(place, folder)}/{name}", place, folder, name, None)
    return found, document.compose(fields), "its claims; the text was never committed"


def _candidate(work: workdir.Workdir, path: str) -> Candidate:
    size = os.stat(os.path.join(work.top, path)).st_size
    return Candidate(path, os.path.basename(path).removesuffix(packs.SUFFIX), size)


def _is_month(name: str) -> bool:
    return len(name) == 7 and name[4] == "-" and (name[:4] + name[5:]).isdigit()
