"""One commit or one ref, written so that it outlasts a power failure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tether import errors
from tether.git import arguments, objects, process, repository
from tether.git.objects import Oid

OPTIONS = ("-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync")


def person(identity: objects.Identity, when_ms: int | None) -> dict[str, str]:
    """Author and committer, as git takes them from its environment."""
    name, email = (
        objects.as_text(re.sub(r"[\x00-\x1f\x7f<>]", "", part).encode("utf-8", "replace")).strip()
        for part in identity
    )
    if not name:
        raise errors.UsageError("A commit needs the name of its author.")
    found: dict[str, str] = {}
    for role in ("AUTHOR", "COMMITTER"):
        found |= {f"GIT_{role}_NAME": name, f"GIT_{role}_EMAIL": email}
        if when_ms is not None:
            found[f"GIT_{role}_DATE"] = f"@{when_ms // 1000} +0000"
    return found


def commit(
    git: repository.Git,
    tree: Oid,
    parents: Iterable[Oid],
    message: str,
    by: process.Environment,
) -> Oid:
    """A commit on top of its parents, which no ref names yet."""
    above = [word for parent in parents for word in ("-p", Oid(parent))]
    write = (*OPTIONS, "commit-tree", "--no-gpg-sign", *above, "-F", "-", Oid(tree))
    text = message.encode("utf-8", "replace")
    return Oid(objects.as_line(git.runner.call(*write, feed=text, environment=by)))


def swap(
    git: repository.Git,
    ref: str,
    new: Oid,
    old: Oid | None,
    by: process.Environment,
    reason: str,
) -> errors.GitError | None:
    """Let the ref point to the new commit if it still points to the old one, or to none."""
    expected = git.runner.facts.null if old is None else Oid(old)
    update = ("update-ref", "-m", reason, arguments.checked_ref(ref), Oid(new), expected)
    # The reflog names them too.
    answer = git.runner.ask(*OPTIONS, *update, environment=by)
    # A git that was killed may have done it all the same.
    if answer.returncode == 0 or git.tip(ref) == new:
        return None
    return process.failure(answer.stderr)
