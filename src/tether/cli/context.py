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

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.environ = os.environ if environ is None else environ

    @cached_property
    def workspace(self) -> workspace.Workspace:
        try:
            directory = os.getcwd()
        except FileNotFoundError:
            raise errors.NotARepository("The current directory does not exist any more.") from None
        store_dir = self.environ.get("TETHER_STORE_DIR")
        if store_dir and not os.path.isabs(store_dir):
            # It would be another store in every directory that somebody calls from.
            raise errors.ConfigError("TETHER_STORE_DIR must be an absolute path.")
        return workspace.find(directory, store_dir=store_dir)

    @cached_property
    def settings(self) -> config.Settings:
        settings = config.load(self.workspace, self.environ)
        for warning in settings.warnings:
            sys.stderr.write(f"tether: warning: {warning}\n")
        return settings

    def look_at_settings(self) -> config.Settings:
        """The settings for a command that only looks, and tells of their warnings itself."""
        return config.load(self.workspace, self.environ, may_cache=False)

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
