"""Brings the identities up to a commit: parsers at work ahead on all cores, then one who follows.

What is parsed and what is followed is written down piece by piece, so who is killed goes on where
it stood.
"""

from __future__ import annotations

import itertools
import os
import queue
import threading
from collections.abc import Callable, Iterator

from tether.git import Commit, Git, Oid
from tether.lineage import commits, identities, kept, sandbox

Tell = Callable[[str], None]
# So many files are parsed before their commits are followed: their outlines must not be dropped.
_WINDOW_FILES = 30_000
_CHUNK = 200
# Of fewer it is not worth it to start another process.
_FEW = 120
_MAX_PARSERS = 8


def bring(
    place: str,
    store_dir: str,
    tip: Oid,
    *,
    anew: bool = False,
    tell: Tell = lambda _: None,
    parsers: int | None = None,
    most: int | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> identities.Built:
    """Follow all files and symbols up to a commit, from what is known or from the beginning.

    With `most` only if some commits are known, and no more than so many are new. What is to be done
    `meanwhile` is done while the process that follows begins.
    """
    git = Git(place)
    known = identities.Identities(store_dir)
    count = events = 0
    is_anew = anew
    try:
        if not anew and known.knows(tip, kept.boundary_of(git.shallow())):
            return identities.Built(tip, 0, 0, is_anew=False, is_kept=True)
        refused = identities.Built(tip, 0, 0, is_anew=False, is_kept=False)
        if most is not None and not known.tips():
            return refused
        with sandbox.Sandbox(place, store_dir) as box:
            box.start()
            while True:
                window = list(_window(git, known, tip, anew=anew, most=most))
                if most is not None and count + len(window) > most:
                    return refused
                if not count:
                    meanwhile()
                files = _files(window)
                if len(files) > _FEW:
                    _prepare(place, store_dir, files, tell, parsers or _cores())
                tell(f"following {len(window)} commits")
                built = box.identify(tip, anew=anew, at_most=len(window) or None)
                count, events = count + built.commits, events + built.events
                is_anew = is_anew or built.is_anew
                if built.is_whole or not built.is_kept:
                    return built._replace(commits=count, events=events, is_anew=is_anew)
                anew = False
    finally:
        known.close()
        tell("")


def _window(
    git: Git, known: identities.Identities, tip: Oid, *, anew: bool, most: int | None
) -> Iterator[Commit]:
    """The next commits that are not known, with so many files together; one more than the most."""
    here = [] if anew else known.frontier(git)
    log = git.log([tip], exclude=here, parents_first=True, with_merges=True)
    count = 0
    for commit in itertools.islice(log, None if most is None else most + 1):
        yield commit
        count += len(commit.changes)
        if count > _WINDOW_FILES:
            break


def _files(window: list[Commit]) -> list[tuple[Oid, str]]:
    """What is in them that symbols are looked for in, each content once.

    Those of a path stand together, in their order, with those of its name elsewhere: each is much
    like the one before.
    """
    found: dict[Oid, str] = {}
    for change in itertools.chain.from_iterable(commit.changes for commit in window):
        if change.new_mode.startswith("100") and commits.code_files([change]):
            found.setdefault(change.new_oid, change.path)
    return sorted(found.items(), key=lambda each: (each[1].rpartition("/")[2], each[1]))


def _prepare(
    place: str, store_dir: str, files: list[tuple[Oid, str]], tell: Tell, parsers: int
) -> None:
    """Have files parsed by several processes at once."""
    waiting: queue.SimpleQueue[list[tuple[Oid, str]]] = queue.SimpleQueue()
    for first in range(0, len(files), _CHUNK):
        waiting.put(files[first : first + _CHUNK])
    failed: list[BaseException] = []
    done = itertools.count(1)

    def work() -> None:
        try:
            with sandbox.Sandbox(place, store_dir) as box:
                while not failed:
                    box.prepare(waiting.get_nowait())
                    tell(f"parsing: {min(next(done) * _CHUNK, len(files))} of {len(files)} files")
        except queue.Empty:
            return
        except BaseException as problem:  # noqa: BLE001 - raised again by who waits for it
            failed.append(problem)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(parsers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def _cores() -> int:
    """How many of them there are for this process."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(_MAX_PARSERS, there or 1))
