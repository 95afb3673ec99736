"""Where it is kept what other clones exported: files in the store directory."""

from __future__ import annotations

import hashlib
import os
import re

from tether import errors, files

DIRECTORY = "lineage-imports"
MAX_BYTES = 256 * 1024 * 1024
_NAME = re.compile(r"([0-9a-f]{24})\.json")


def digest_of(raw: bytes) -> str:
    """What an import is called: after its content, so that the same one is there once."""
    return hashlib.blake2b(raw, digest_size=12).hexdigest()


def there(store_dir: str) -> list[str]:
    """The digests of all imports."""
    try:
        names = os.listdir(os.path.join(store_dir, DIRECTORY))
    except OSError:
        return []
    return sorted(found[1] for name in names if (found := _NAME.fullmatch(name)))


def load(store_dir: str, digest: str) -> bytes:
    """The content of an import."""
    raw = files.Root(store_dir).read_bytes(path_of(digest), MAX_BYTES)
    if digest_of(raw) != digest:
        raise errors.ExportInvalid("It is not what was imported any more. It was left alone.")
    return raw


def keep(store_dir: str, raw: bytes) -> bool:
    """Keep an import; False if it was there, as it is."""
    digest = digest_of(raw)
    root = files.Root(store_dir)
    if digest in there(store_dir) and root.read_bytes(path_of(digest), MAX_BYTES) == raw:
        return False
    root.make_directories(DIRECTORY)
    root.write_atomic(path_of(digest), raw)
    return True


def forget(store_dir: str, digest: str) -> bool:
    """Remove an import; False if there was none."""
    return digest in there(store_dir) and files.Root(store_dir).remove(path_of(digest))


def path_of(digest: str) -> str:
    """Where an import is, below the store directory."""
    return f"{DIRECTORY}/{digest}.json"
