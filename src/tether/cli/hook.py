"""`tether hook`: what Git calls. It never stands in the way: whatever happens, it ends with 0."""

from __future__ import annotations

import os
import re
import sys

from tether import files, git
from tether.agents import claims
from tether.agents import model as agents
from tether.cli import answers, context, verbs
from tether.git import trailers

TRAILER = "Task"
_MAX_MESSAGE_BYTES = 1024 * 1024
# Git's word for where a message is from, if it is not the committer's own.
_NOT_OURS = ("merge", "squash")
# What is in a git dir while Git itself makes old commits anew: their messages are their authors'.
_REPLAYING = ("rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD")
_TELLING = ("work", "track", "backlog", "beads")
# Some of this is in every id that a list gives: `H.1`, `T012`, `task-7`, `shop-a1b2`.
_MAY_NAME = re.compile(r"[A-Z]\.[0-9]|T[0-9]{3}|[A-Za-z0-9_]-[0-9A-Za-z]")


def _run(call: context.Context, values: verbs.Values) -> answers.Answer:
    said = ""
    try:
        said = _prepare(call, values["file"], values["source"])
    except Exception as problem:  # noqa: BLE001 (a commit must not fail because of a trailer)
        if call.environ.get("TETHER_DEBUG"):
            sys.stderr.write(f"tether: note: no trailer was added: {problem}\n")
    return answers.Answer("hook", {"trailer": said or None}, lambda: "")


def _prepare(call: context.Context, path: str, source: str) -> str:
    """Add the trailer to a message in the making; what was added."""
    if source in _NOT_OURS or _is_replaying(call.workspace.git_dir):
        return ""
    claim = _claim(call)
    if claim is None:
        return ""
    directory, name = os.path.split(os.path.abspath(path))
    root = files.Root(directory)
    old = root.read_bytes(name, _MAX_MESSAGE_BYTES).decode("utf-8", "surrogateescape")
    comment = git.Git(call.workspace.place).comment_mark()
    # An id that tells its own list stands alone, as people write it.
    label = claim.task if claim.source in _TELLING else claim.key.label
    if trailers.has_trailer(old, TRAILER, comment):
        return ""  # the committer has said which task it is
    if _names_another(call, trailers.subject(old, comment), claim):
        return ""
    new = trailers.with_trailer(old, TRAILER, label, comment)
    if new == old:
        return ""
    root.write_atomic(name, new.encode("utf-8", "surrogateescape"))
    return f"{TRAILER}: {label}"


def _names_another(call: context.Context, subject: str, claim: agents.Claim) -> bool:
    """Does a subject name tasks, and not the held one? Most name none, and nothing is read then."""
    if not _MAY_NAME.search(subject) and not call.settings.text("evidence.ids"):
        return False
    # Not every id is known by its looks: one of our own may be any word.
    if re.search(rf"(?<![\w.-]){re.escape(claim.task)}(?![\w-]|\.\w)", subject):
        return False
    from tether.tasks.sources import patterns

    found = patterns.Finder(call.id_kinds).find(subject)
    # Texts say `T012` for `001-login.T012`.
    return bool(found) and not any(
        each.source == claim.source and f".{claim.task}".endswith(f".{each.id}") for each in found
    )


def _is_replaying(git_dir: str) -> bool:
    return any(os.path.exists(os.path.join(git_dir, name)) for name in _REPLAYING)


def _claim(call: context.Context) -> agents.Claim | None:
    """What the committer holds: taken in this checkout rather than elsewhere, and last."""
    held = claims.open_ones(call.store.rows, call.session.session_id)
    here = [claim for claim in held if claim.worktree == call.workspace.root]
    return max(here or held, key=lambda claim: claim.claimed_at, default=None)


VERBS = {
    "prepare-commit-msg": verbs.Verb(
        name="prepare-commit-msg",
        help="Add `Task: ID` to a commit message, by the committer's open claim.",
        options=(),
        arguments=(
            verbs.Argument("file", "The file of the message."),
            verbs.Argument("source", "Where it is from, as Git says."),
        ),
        run=_run,
        takes_anything=True,
    )
}
