"""A grammar that hangs and crashes on demand: Python's own, behind a parser that reads its orders.

It stands where the child of the sandbox looks for modules first. A word in a file is the order, and
what follows is real: the process holds the interpreter's lock, and only the kernel can end it.
"""

from __future__ import annotations

from pathlib import Path

_MODULE = """
import ctypes, os, pathlib, re, sys

here = pathlib.Path(__file__).parent
sys.path.remove(str(here))
del sys.modules[__name__]
import tree_sitter
import tree_sitter_python

_Parser = tree_sitter.Parser


class Parser:
    def __init__(self, grammar):
        self._parser = _Parser(grammar)

    def parse(self, source, *before):
        (here / "pid").write_text(str(os.getpid()))
        if b"order_to_spin" in source:
            re.match("(a+)+$", "a" * 60 + "b")
        if b"order_to_wait" in source:
            ctypes.PyDLL(None).pause()
        if b"order_to_crash" in source:
            ctypes.string_at(0)
        if b"order_to_abort" in source:
            os.abort()
        if b"order_to_leave" in source:
            os._exit(3)
        if b"order_to_eat" in source:
            bytes(1 << 40)
        if b"order_to_fail" in source:
            raise ValueError
        return self._parser.parse(source, *before)


tree_sitter.Parser = Parser
"""


def plant(directory: Path) -> Path:
    """Make a directory that has the grammar."""
    directory.mkdir()
    (directory / "tree_sitter_python.py").write_text(_MODULE)
    return directory
