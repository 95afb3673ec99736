"""What a command works on: the only place that reads the environment and the current directory."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property

from tether import config, errors, ids, store, workspace
from tether.store import port


class Context:
    """The workspace, its settings and its store, each found when it is first asked for."""

    def __init__(self, environ: Mapping[str, str] | None = None, directory: str | None = None):
        self.environ = os.environ if environ is None else environ
        self._directory = directory

    @cached_property
    def directory(self) -> str:
        try:
            return self._directory or os.getcwd()
        except FileNotFoundError:
            raise errors.NotARepository("The current directory does not exist any more.") from None

    @cached_property
    def workspace(self) -> workspace.Workspace:
        return workspace.find(self.directory, store_dir=self.environ.get("TETHER_STORE_DIR"))

    @cached_property
    def settings(self) -> config.Settings:
        settings = config.load(self.workspace, self.environ)
        for warning in settings.warnings:
            sys.stderr.write(f"tether: warning: {warning}\n")
        return settings

    @cached_property
    def store(self) -> port.Store:
        return store.open_store(self.workspace, self.settings)

    @property
    def actor(self) -> str:
        """Who acts: the agent that the environment names, or a human."""
        name = self.environ.get("TETHER_AGENT")
        return ids.AgentName(name) if name else "human"

    def close(self) -> None:
        if "store" in self.__dict__:
            self.store.close()
