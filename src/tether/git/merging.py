"""Two commits made one, and branches made and moved: beside every working tree.

A merge is worked out in a private repository that only borrows the objects. So the configuration of
the real one, which may name programs as merge drivers and filters, is not read at all, and the
result is that of a fresh clone on any machine.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator

from tether import errors
from tether.git import durable, objects, process, repository
from tether.git.objects import Oid
from tether.hints import Literal, NamedTuple

Outcome = Literal["merged", "contained", "fast_forward", "conflict", "unrelated"]
_ATTRIBUTES = ".gitattributes"
_MERGE = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages")
# Of the repository's own files these two decide about merges, and neither can name a program: where
# a shallow clone ends, and attributes that are not tracked.
_BORROWED = ("shallow", "info/attributes")


class Merged(NamedTuple):
    """What comes of merging one commit into another."""

    outcome: Outcome
    tree: Oid | None = None
    """The content of the merge; None if there is none without somebody's decision."""
    conflicts: tuple[str, ...] = ()
    """The paths in conflict. Git has conflicts without any, as about renamed directories."""

    @property
    def is_contained(self) -> bool:
        return self.outcome == "contained"

    @property
    def is_fast_forward(self) -> bool:
        return self.outcome == "fast_forward"


def merge(git: repository.Git, ours: Oid, theirs: Oid) -> Merged:
    """Merge their commit into ours, as far as that needs nobody's decision; nothing is moved.

    Git's own rules hold: renames are followed, and the attributes of our commit say which files are
    merged as text. A driver that the configuration names for a file is not run.
    """
    parted = _parted(git, ours, theirs)
    if parted is None:
        return Merged("unrelated")
    if parted == theirs:
        return Merged("contained", tree_of(git, ours))
    if parted == ours:
        return Merged("fast_forward", tree_of(git, theirs))
    with _beside(git, ours) as (runner, environment):
        answer = runner.ask(
            *durable.OPTIONS, *_MERGE, Oid(ours), Oid(theirs), environment=environment
        )
    return _read(answer)


def commit_tree(
    git: repository.Git,
    tree: Oid,
    parents: Iterable[Oid],
    message: str,
    identity: objects.Identity,
    when_ms: int | None = None,
) -> Oid:
    """A commit of this content, which no branch has yet."""
    return durable.commit(git, tree, parents, message, durable.person(identity, when_ms))


def create_branch(git: repository.Git, ref: str, oid: Oid, identity: objects.Identity) -> None:
    """Let a new branch start here. Raises RefMoved if there is one of this name elsewhere."""
    _move(git, ref, oid, None, identity, "branch: Created (tether)")


def move_branch(
    git: repository.Git, ref: str, new: Oid, old: Oid, identity: objects.Identity
) -> None:
    """Move a branch on. Raises RefMoved if it is not where it was; checkouts are not told."""
    _move(git, ref, new, old, identity, "merge (tether)")


def is_ancestor(git: repository.Git, older: Oid, newer: Oid) -> bool:
    """Does one commit lead to the other? False as well if one of them is not here."""
    words = ("merge-base", "--is-ancestor", Oid(older), Oid(newer))
    return git.runner.ask(*words).returncode == 0


def tree_of(git: repository.Git, oid: Oid) -> Oid:
    """The content of a commit."""
    words = ("rev-parse", "--verify", "--end-of-options", f"{Oid(oid)}^{{tree}}")
    return Oid(objects.as_line(git.runner.call(*words)))


def _move(
    git: repository.Git,
    ref: str,
    new: Oid,
    old: Oid | None,
    identity: objects.Identity,
    reason: str,
) -> None:
    failure = durable.swap(git, ref, new, old, durable.person(identity, None), reason)
    if failure is not None:
        raise failure if git.tip(ref) == old else errors.RefMoved()


def _parted(git: repository.Git, ours: Oid, theirs: Oid) -> Oid | None:
    answer = git.runner.ask("merge-base", Oid(ours), Oid(theirs))
    if answer.returncode not in (0, 1):
        raise process.failure(answer.stderr)
    return Oid(objects.as_line(answer.stdout)) if answer.returncode == 0 else None


@contextlib.contextmanager
def _beside(git: repository.Git, ours: Oid) -> Iterator[tuple[process.Runner, dict[str, str]]]:
    """A repository of nobody's with the objects of this one, to which new ones are added."""
    facts = git.runner.facts
    # Others who share the repository must be able to read what is added to it.
    shared = objects.as_line(git.runner.ask("config", "--get", "core.sharedRepository").stdout)
    with tempfile.TemporaryDirectory(prefix="tether-") as place:
        beside = repository.init(place, is_sha256=len(facts.null) == 64)
        try:
            _borrow(os.fsdecode(facts.common_directory), os.path.join(place, ".git"))
            _write_attributes(git, ours, place)
        except OSError as problem:
            raise errors.GitError(
                f"A merge could not be begun: {problem.strerror}. Nothing was changed."
            ) from problem
        environment = {
            "GIT_OBJECT_DIRECTORY": os.fsdecode(facts.common_directory) + "/objects",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.sharedRepository",
            "GIT_CONFIG_VALUE_0": shared or "umask",
        }
        yield beside.runner, environment


def _borrow(common_directory: str, place: str) -> None:
    for name in _BORROWED:
        source, target = os.path.join(common_directory, name), os.path.join(place, name)
        if os.path.isfile(source):  # a pipe would block
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)


def _write_attributes(git: repository.Git, ours: Oid, place: str) -> None:
    """Put the attributes of a commit where git looks for them: it takes them from files alone.

    `--attr-source` would spare this, from Git 2.41 on.
    """
    entries = [
        entry
        for entry in git.tree(ours)
        if entry.path.rpartition("/")[2] == _ATTRIBUTES and entry.mode.startswith("100")
    ]
    for entry, blob in zip(entries, git.blobs(e.oid for e in entries), strict=True):
        above = entry.path.split("/")[:-1]
        # Git makes no such trees, but an enemy can.
        if blob.data is None or {"", ".", ".."} & set(above):
            continue
        directory = os.path.join(place, *above)
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, _ATTRIBUTES), "wb") as file:
            file.write(blob.data)


def _read(answer: process.Answer) -> Merged:
    tree, *paths = answer.stdout.split(b"\0")
    # It also ends with 1 if it does not find a commit.
    if answer.returncode in (0, 1) and Oid.is_valid(objects.as_line(tree)):
        if answer.returncode == 0:
            return Merged("merged", Oid(objects.as_line(tree)))
        return Merged("conflict", None, tuple(objects.as_path(path) for path in paths[:-1]))
    if answer.returncode == 129:  # what git calls a wrong usage
        raise errors.GitError(
            "This Git cannot merge beside the working tree. Nothing was changed.",
            hint="Install Git 2.38 or newer.",
        )
    raise process.failure(answer.stderr)
