"""What a job is now, and giving one up so that it never begins."""

from __future__ import annotations

from tether import errors, files
from tether.coordinator.jobs import folder as folders
from tether.coordinator.jobs import model


def look(root: files.Root, agent_id: str) -> model.Look:
    """What a job is now. It costs a few system calls and disturbs nobody."""
    folder = folders.Folder(root, agent_id)
    if ended := _ended(folder):
        return ended
    if folder.exists(folders.ABANDONED):
        # Whoever has the lock now came after that and is about to find it out.
        return model.Look("gone", None, folder.process())
    return _by_lock(folder)


def abandon(root: files.Root, agent_id: str) -> model.Look:
    """Give a job up unless its wrapper runs: `gone` then means that it never begins any more.

    A job that has ended stays ended, and one that runs goes on (`stopping.stop` ends it). It may be
    called again, also after it was killed inside.
    """
    folder = folders.Folder(root, agent_id)
    folder.make()
    with folder.sharing_lock(creates=True) as is_free:
        if is_free and folder.report() is None:
            # Also if it is there: whoever wrote it may have died before the disk confirmed it.
            folder.write(folders.ABANDONED, b"")
    return look(root, agent_id)


def _ended(folder: folders.Folder) -> model.Look | None:
    report = folder.report()
    return None if report is None else model.Look("ended", report, folder.process())


def _by_lock(folder: folders.Folder) -> model.Look:
    try:
        with folder.sharing_lock() as is_free:
            if is_free:
                return _without_wrapper(folder)
    except errors.NotFound:
        # Nothing else is ever written before the lock is there.
        return model.Look("starting")
    process = folder.process()
    # It says which process it is a moment after it has taken the lock.
    has_begun = process is not None or folder.exists(folders.START)
    return model.Look("running" if has_begun else "starting", None, process)


def _without_wrapper(folder: folders.Folder) -> model.Look:
    """What it is while no wrapper can come in."""
    # One may have ended between the first look at its report and the lock.
    if ended := _ended(folder):
        return ended
    has_begun = folder.exists(folders.START) or folder.exists(folders.ABANDONED)
    return model.Look("gone" if has_begun else "starting", None, folder.process())
