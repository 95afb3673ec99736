"""Telling people, by a command of theirs, when a run has a question, pauses, fails or ends."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping

from tether import errors
from tether.coordinator import options


class Notifier:
    """Starts the command and does not wait for it."""

    def __init__(self, command: str, environ: Mapping[str, str], directory: str) -> None:
        self._command = command
        self._environ = dict(environ)
        self._directory = directory
        self._children: list[subprocess.Popen[bytes]] = []

    def tell(self, what: str, run: str, message: str, **details: object) -> str:
        """Tell of something; what went wrong with telling, or nothing."""
        self._children = [child for child in self._children if child.poll() is None]
        if not self._command:
            return ""
        told = {"what": what, "run": run, "message": message, **details}
        try:
            argv = options.words(self._command, {})
            with tempfile.TemporaryFile() as stdin:
                stdin.write(json.dumps(told).encode() + b"\n")
                stdin.seek(0)
                child = subprocess.Popen(
                    argv,
                    stdin=stdin,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=self._directory,
                    env={**self._environ, "TETHER_RUN": run, "TETHER_NOTICE": what},
                    start_new_session=True,
                )
        except (OSError, errors.TetherError):
            return "The notify command could not be started."
        self._children.append(child)
        return ""
