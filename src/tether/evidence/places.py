"""Where the evidence of a repository is: in the places of the agents that worked in its checkouts.

A file in such a place counts only if it says itself that it was written in one of the checkouts.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator

from tether import index, text, workspace
from tether.evidence import model
from tether.hints import NamedTuple

_NOT_IN_SLUG = re.compile(r"[^A-Za-z0-9]")
# Claude Code cuts longer names and adds a hash.
_SLUG_CHARS = 200
_LOG_NAME = re.compile(r"SESSION-LOG-[0-9]{4}-[0-9]{2}-[0-9]{2}\.md")


class Places(NamedTuple):
    """The directories of agents and tools, several of each kind."""

    claude: tuple[str, ...] = ()
    """With `projects` in it."""
    codex: tuple[str, ...] = ()
    """With `sessions` in it."""
    gemini: tuple[str, ...] = ()
    """With `tmp` in it."""
    cursor: tuple[str, ...] = ()
    """With `projects` in it."""
    coditect: tuple[str, ...] = ()
    """With `session-logs` and `context-storage` in it."""


class Found(NamedTuple):
    """A file that may hold evidence."""

    source: str
    path: str
    stamp: os.stat_result
    beside: str = ""
    """Of what a database has written beside its file and not into it yet."""

    @property
    def marks(self) -> str:
        """What is different if the file has changed."""
        return index.stamp(self.stamp) + self.beside


def checkouts(here: workspace.Workspace, more: Iterable[str] = ()) -> tuple[str, ...]:
    """The tops of all checkouts, as Git's own files name them, and of others that were known."""
    roots = [here.root] if here.root else []
    if os.path.basename(here.common_dir) == ".git":
        roots.append(os.path.dirname(here.common_dir))
    linked = os.path.join(here.common_dir, "worktrees")
    for name in sorted(os.listdir(linked)) if os.path.isdir(linked) else []:
        pointer = workspace.first_line(os.path.join(linked, name, "gitdir"))
        if pointer:
            roots.append(os.path.dirname(os.path.join(linked, name, pointer)))
    return tuple(dict.fromkeys([*roots, *(path for path in more if os.path.isabs(path))]))


def is_inside(path: str, roots: Iterable[str]) -> bool:
    """Is a directory one of the checkouts or below one, and not in a repository of its own?"""
    return any(
        path == root or (path.startswith(f"{root}/") and not _is_of_another(path, root))
        for root in roots
    )


def _is_of_another(path: str, root: str) -> bool:
    while path != root:
        if os.path.lexists(os.path.join(path, ".git")):
            return True
        path = os.path.dirname(path)
    return False


class Search:
    """Looks through the places; what may not be looked into is told."""

    def __init__(self, places: Places, roots: tuple[str, ...]) -> None:
        self._places = places
        self._roots = roots
        self.problems: list[model.Problem] = []

    def files(self) -> Iterator[Found]:
        """Every file that may hold evidence of work in these checkouts."""
        for base in self._places.claude:
            yield from self._claude(os.path.join(base, "projects"))
        for base in self._places.codex:
            for directory in ("sessions", "archived_sessions"):
                place = os.path.join(base, directory)
                yield from self._below(place, "codex:rollout", "rollout-", 3)
        for base in self._places.gemini:
            yield from self._gemini(os.path.join(base, "tmp"))
        for base in self._places.cursor:
            yield from self._cursor(os.path.join(base, "projects"))
        for base in self._places.coditect:
            yield from self._coditect(base)
        for root in self._roots:
            yield from self._in_checkout(root)

    def _claude(self, projects: str) -> Iterator[Found]:
        wanted = tuple(slug(root)[:_SLUG_CHARS] for root in self._roots)
        for entry in self._entries(projects):
            if entry.name.startswith(wanted):
                yield from self._sessions(entry.path)

    def _sessions(self, directory: str) -> Iterator[Found]:
        for entry in self._entries(directory):
            if entry.name.endswith(".jsonl"):
                yield from self._one("claude:transcript", entry)
            elif entry.is_dir(follow_symlinks=False):
                place = os.path.join(entry.path, "subagents")
                yield from self._below(place, "claude:transcript", "agent-", 0)

    def _gemini(self, base: str) -> Iterator[Found]:
        # Named by a hash of the checkout's path, or by its last part and perhaps a number.
        hashes = {hashlib.sha256(os.fsencode(root)).hexdigest() for root in self._roots}
        ends = tuple({slug(os.path.basename(root)).lower() for root in self._roots})
        for entry in self._entries(base):
            if entry.name in hashes or entry.name.lower().startswith(ends):
                place = os.path.join(entry.path, "chats")
                # What a session has others do stands in a directory called like it.
                yield from self._below(place, "gemini:session", "", 1)
                for each in self._entries(place):
                    if each.name.startswith("session-") and each.name.endswith(".json"):
                        yield from self._one("gemini:whole", each)

    def _cursor(self, projects: str) -> Iterator[Found]:
        wanted = {slug(root).strip("-") for root in self._roots}
        for entry in self._entries(projects):
            if entry.name.strip("-") in wanted:
                place = os.path.join(entry.path, "agent-transcripts")
                yield from self._below(place, "cursor:transcript", "", 2)

    def _coditect(self, base: str) -> Iterator[Found]:
        projects = os.path.join(base, "session-logs", "projects")
        names = {os.path.basename(root).lower() for root in self._roots}
        known = self._entries(projects)
        for entry in known:
            if entry.name.lower() in names:
                yield from self._logs(entry.path, 1)
        if not known:
            # Before projects were told apart, all of them shared these.
            yield from self._logs(os.path.join(base, "session-logs"), 1)
        for entry in self._entries(os.path.join(base, "context-storage")):
            for kind in ("messaging", "sessions"):
                if entry.name.startswith(kind) and entry.name.endswith(".db"):
                    yield from self._one(f"coditect:{kind}", entry)

    def _in_checkout(self, root: str) -> Iterator[Found]:
        yield from self._logs(os.path.join(root, "docs", "session-logs"), 1)
        for entry in self._entries(os.path.join(root, ".specstory", "history")):
            if entry.name.endswith(".md"):
                yield from self._one("specstory:history", entry)

    def _logs(self, directory: str, depth: int) -> Iterator[Found]:
        for entry in self._entries(directory):
            if _LOG_NAME.fullmatch(entry.name):
                yield from self._one("coditect:log", entry)
            elif depth and entry.is_dir(follow_symlinks=False):
                yield from self._logs(entry.path, depth - 1)

    def _below(self, directory: str, source: str, prefix: str, depth: int) -> Iterator[Found]:
        """The transcripts in a directory and so many levels below it."""
        for entry in self._entries(directory):
            if entry.name.endswith(".jsonl") and entry.name.startswith(prefix):
                yield from self._one(source, entry)
            elif depth and entry.is_dir(follow_symlinks=False):
                yield from self._below(entry.path, source, prefix, depth - 1)

    def _one(self, source: str, entry: os.DirEntry[str]) -> Iterator[Found]:
        beside = _beside(entry.path) if entry.name.endswith(".db") else ""
        if text.storable(entry.path) != entry.path:
            name = text.storable(entry.path)
            self.problems.append(model.Problem(name, "", "its name is no text"))
            return
        try:
            if entry.is_file(follow_symlinks=False):
                yield Found(source, entry.path, entry.stat(follow_symlinks=False), beside)
            else:
                self.problems.append(model.Problem(entry.path, "", "it is no file of its own"))
        except FileNotFoundError:
            return  # gone between two looks
        except OSError as problem:
            self.problems.append(model.Problem(entry.path, "", str(problem.strerror)))

    def _entries(self, directory: str) -> list[os.DirEntry[str]]:
        """What is in a directory, in a fixed order; nothing if there is none."""
        try:
            with os.scandir(directory) as found:
                return sorted(found, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as problem:
            self.problems.append(model.Problem(directory, "", str(problem.strerror)))
            return []


def _beside(path: str) -> str:
    try:
        return index.stamp(os.stat(f"{path}-wal"))
    except OSError:
        return ""


def slug(path: str) -> str:
    """A directory as Claude Code and Cursor write it in a name."""
    return _NOT_IN_SLUG.sub("-", path)
