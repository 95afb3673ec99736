"""What may stand on git's command line: options that fix its output, checked refs and paths."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tether import errors
from tether.git import objects

# Each option answers a setting with which a repository could change the shape of the output; its
# order file could even be a pipe that never ends.
RAW = (
    *("--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative"),
    *("--ignore-submodules=none", "-O/dev/null"),
)
_REF = re.compile(
    r"refs(?:/(?![-.])(?:(?!\.\.|@\{)[^\x00-\x20\x7f~^:?*\[\\/\ud800-\udfff])+(?<!\.lock)(?<!\.))+"
)
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def checked_ref(ref: str) -> str:
    # Stricter than git, which lets a component begin with a dash.
    if len(ref) > 1024 or not _REF.fullmatch(ref):
        raise errors.UsageError(
            "This is not a full ref name.", hint="Use one like refs/heads/main."
        )
    return ref


def path_arguments(paths: Iterable[str]) -> list[bytes]:
    arguments = [objects.path_bytes(path) for path in paths]
    if not all(arguments) or any(b"\0" in argument for argument in arguments):
        raise errors.UsageError("This is not a path.")
    return arguments
