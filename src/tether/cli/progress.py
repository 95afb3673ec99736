"""How far something has come that takes long, on the last line of a terminal."""

from __future__ import annotations

import time

from tether import text
from tether.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

_PATIENCE_SECONDS = 1.0
_PAUSE_SECONDS = 0.2
_CLEARED = "\r\x1b[K"


class Progress:
    """Shows words in place once something has taken a while; nothing where nobody looks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_seen = stream.isatty()
        self._next_at = 0.0
        self._is_shown = False

    def __call__(self, said: str) -> None:
        """Show how far it has come; no words at its end."""
        now = time.monotonic()
        if not said:
            self._show("")
            self._next_at = 0.0
        elif not self._next_at:
            self._next_at = now + _PATIENCE_SECONDS
        elif now >= self._next_at:
            self._next_at = now + _PAUSE_SECONDS
            self._show(f"tether: {text.one_line(said, 70)} …")

    def _show(self, line: str) -> None:
        if self._is_seen and (line or self._is_shown):
            self._is_shown = bool(line)
            self._stream.write(_CLEARED + line)
            self._stream.flush()
