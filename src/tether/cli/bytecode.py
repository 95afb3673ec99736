"""Is Tether's own bytecode compiled? Without it every start compiles every module again."""

from __future__ import annotations

import compileall
import os
from importlib import util

from tether import errors

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def is_compiled() -> bool:
    """Has every module of the package a compiled file that is up to date?"""
    return all(_is_current(path) for path in _modules())


def compile_all() -> str:
    """Compile the whole package."""
    if not compileall.compile_dir(PACKAGE, quiet=2):
        raise errors.NotWritable("The bytecode could not be written where Tether is installed.")
    return "compiled the bytecode"


def _modules() -> list[str]:
    found = []
    for directory, _, names in os.walk(PACKAGE):
        found += [os.path.join(directory, name) for name in names if name.endswith(".py")]
    return found


def _is_current(source: str) -> bool:
    try:
        with open(util.cache_from_source(source), "rb") as file:
            header = file.read(16)
    except OSError:
        return False
    stat = os.stat(source)
    # PEP 552: magic, flags, then the source's time and size; other flags mean a hash, which the
    # interpreter checks by itself.
    if len(header) != 16 or header[:4] != util.MAGIC_NUMBER:
        return False
    if header[4:8] != bytes(4):
        return True
    stamp = int(stat.st_mtime).to_bytes(8, "little")[:4] + stat.st_size.to_bytes(8, "little")[:4]
    return header[8:] == stamp
