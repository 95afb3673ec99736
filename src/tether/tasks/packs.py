"""Closed months of the archive as one file each, still readable by id.

A pack is a zip file `archive/<month>.zip`, with fixed times inside, so that the same tasks give the
same bytes on every machine. It is written, read back and compared before a file goes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from tether import errors
from tether.hints import TYPE_CHECKING
from tether.tasks import document, states, workdir

if TYPE_CHECKING:
    import zipfile

SUFFIX = ".zip"
_MAX_BYTES = 64 * 1024 * 1024


def names(work: workdir.Workdir) -> list[str]:
    """The packs of a checkout, newest month first: paths from its top."""
    directory = f"{work.root}/{states.ARCHIVE}"
    if work.is_linked(states.ARCHIVE):
        return []
    try:
        found = os.listdir(os.path.join(work.top, directory))
    except OSError:
        return []
    return [f"{directory}/{name}" for name in sorted(found, reverse=True) if name.endswith(SUFFIX)]


def ids(work: workdir.Workdir) -> tuple[set[str], list[str]]:
    """The ids of all packed tasks, and the packs that are damaged."""
    found: set[str] = set()
    damaged = []
    for path in names(work):
        try:
            found |= ids_in(work, path)
        except errors.TetherError:
            damaged.append(path)
    return found, damaged


def ids_in(work: workdir.Workdir, path: str) -> set[str]:
    """The ids of the tasks in one pack."""
    with _opened(work, path) as pack:
        found = [_member(path, member) for member in pack.namelist()]
    return {each.task_id for each in found if each is not None}


def load(work: workdir.Workdir, task_id: str) -> workdir.Loaded | None:
    """A task from the newest pack that has it; a damaged pack is for `validate` to tell of."""
    for path in names(work):
        try:
            opened = _opened(work, path)
        except errors.TetherError:
            continue
        with opened as pack:
            for member in pack.namelist():
                found = _member(path, member)
                if found is not None and found.task_id == task_id:
                    return workdir.parsed(found, _content(pack, member))
    return None


def members(work: workdir.Workdir, path: str) -> Iterator[tuple[workdir.Found, bytes]]:
    """Everything in a pack."""
    with _opened(work, path) as pack:
        for member in pack.namelist():
            found = _member(path, member)
            if found is not None:
                yield found, _content(pack, member)


def pack(work: workdir.Workdir, month: str) -> tuple[str, list[tuple[workdir.Found, bytes]]]:
    """Put copies of a month of the archive into its pack; its path, and what went in.

    Who calls removes the files, each under its lock and only if it is still what went in.
    """
    found = sorted(
        (each for each in work.scan([states.ARCHIVE]) if each.folder.partition("/")[0] == month),
        key=lambda each: each.path,
    )
    path = f"{work.root}/{states.ARCHIVE}/{month}{SUFFIX}"
    contents = _own(work, path) if work.files.exists(path) else {}
    packed = []
    for each in found:
        raw = work.raw(each)
        known = contents.get(each.name)
        if known is not None and known != raw:
            raise errors.TaskError(
                f"The pack of {month} has another version of a task. Nothing was changed.",
                hint="Look at its file with `tether task list --all`, and reopen or rename it.",
            )
        contents[each.name] = raw
        packed.append((each, raw))
    work.files.write_atomic(path, _zipped(month, contents))
    if _own(work, path) != contents:
        raise errors.FileError(
            f"The pack of {month} does not read back. The files are still there."
        )
    return path, packed


def take_out(work: workdir.Workdir, found: workdir.Found) -> None:
    """Remove a task from its pack: it has a file of its own again."""
    contents = _own(work, found.path)
    contents.pop(found.name, None)
    if contents:
        work.files.write_atomic(found.path, _zipped(found.folder, contents))
    else:
        work.files.remove(found.path)


def _own(work: workdir.Workdir, path: str) -> dict[str, bytes]:
    """What a pack of ours has; one with anything else in it is not written again."""
    contents = {each.name: raw for each, raw in members(work, path)}
    with _opened(work, path) as pack:
        if len(pack.namelist()) != len(contents):
            raise errors.TaskError(
                f"The pack {os.path.basename(path)} has more in it than tasks. Nothing was changed."
            )
    return contents


def _zipped(month: str, contents: dict[str, bytes]) -> bytes:
    import io
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in sorted(contents):
            about = zipfile.ZipInfo(f"{month}/{name}", (1980, 1, 1, 0, 0, 0))
            about.external_attr = (stat.S_IFREG | 0o644) << 16
            about.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(about, contents[name])
    return out.getvalue()


def _opened(work: workdir.Workdir, path: str) -> zipfile.ZipFile:
    import io
    import zipfile

    raw = work.files.read_bytes(path, _MAX_BYTES)
    try:
        return zipfile.ZipFile(io.BytesIO(raw))
    except (zipfile.BadZipFile, ValueError, OSError) as problem:
        raise errors.TaskError(
            f"The pack {os.path.basename(path)} is damaged. It was left as it is.",
            hint="Bring it back from Git.",
        ) from problem


def _content(pack: zipfile.ZipFile, member: str) -> bytes:
    try:
        # Read at most so much, whatever it says of its size: a small pack may hold a huge file.
        with pack.open(member) as file:
            raw = file.read(document.MAX_BYTES + 1)
    except Exception as problem:
        raise errors.TaskError("A pack is damaged. It was left as it is.") from problem
    if len(raw) > document.MAX_BYTES:
        raise errors.FileTooLarge("A task in a pack is too large. It was left alone.")
    return raw


def _member(path: str, member: str) -> workdir.Found | None:
    """A member is a task's file whatever directory it claims: nothing is ever unpacked there."""
    name = member.rpartition("/")[2]
    if not name.endswith(workdir.SUFFIXES):
        return None
    month = os.path.basename(path).removesuffix(SUFFIX)
    return workdir.Found(path, states.ARCHIVE, month, name, None)
