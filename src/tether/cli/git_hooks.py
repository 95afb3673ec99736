"""Git's hooks: which are there, and how ours joins them without replacing any."""

from __future__ import annotations

import os

from tether import errors, files, git, workspace
from tether.hints import NamedTuple

NAME = "prepare-commit-msg"
BEFORE = f"{NAME}.before-tether"
MARK = "# Written by `tether init --git-hooks`."
SCRIPT = f"""\
#!/bin/sh
{MARK}
# Runs the hook that was here before, and then adds the task that you hold to the message.
before="$(dirname "$0")/{BEFORE}"
if [ -x "$before" ]; then
    "$before" "$@" || exit $?
fi
if command -v tether >/dev/null 2>&1; then
    tether hook {NAME} "$1" "${{2:-}}" || :
fi
"""


class Hooks(NamedTuple):
    """The hook of a repository as it is now."""

    path: str
    state: str
    """`absent`, `ours`, `theirs` (another one is there) or `elsewhere` (a tool keeps them)."""


def look(place: workspace.Workspace) -> Hooks:
    """What stands where the hook belongs."""
    told = git.Git(place.place).hooks_path()
    directory = os.path.join(place.common_dir, "hooks")
    if told and os.path.realpath(told) != os.path.realpath(directory):
        return Hooks(os.path.join(told, NAME), "elsewhere")
    path = os.path.join(directory, NAME)
    if not os.path.lexists(path):
        return Hooks(path, "absent")
    try:
        content = files.Root(directory).read_bytes(NAME)
    except errors.FileError:
        return Hooks(path, "elsewhere")  # a link to where somebody keeps it
    return Hooks(path, "ours" if MARK.encode() in content else "theirs")


def install(found: Hooks) -> None:
    """Put ours there; one that is there already goes on being called first."""
    directory = os.path.dirname(found.path)
    files.make_directory_like(directory, like=os.path.dirname(directory))
    root = files.Root(directory)
    is_theirs = found.state == "theirs"
    if is_theirs and root.exists(BEFORE):
        raise errors.AlreadyThere(
            f"Another tool has replaced the hook {NAME}, and the one from before is kept in"
            f" {BEFORE}. Both were left as they are.",
            hint=f"Put what both do into {BEFORE}, remove {NAME}, and repeat the command.",
        )
    if is_theirs:
        # A copy first: at no moment is there no hook. One that Git does not call stays so.
        is_called = os.access(found.path, os.X_OK)
        root.write_atomic(BEFORE, root.read_bytes(NAME), replace=False)
        if is_called:
            root.make_executable(BEFORE)
    root.write_atomic(NAME, SCRIPT.encode(), replace=is_theirs)
    root.make_executable(NAME)


def elsewhere_hint(found: Hooks) -> str:
    """What to add by hand where another tool keeps the hooks."""
    return (
        f"Another tool keeps this repository's hooks ({found.path}). Add this line to that hook:"
        f' tether hook {NAME} "$1" "${{2:-}}" || :'
    )
