"""What a command works on: the only place that reads the environment and the current directory."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from tether import config, errors, store, workspace
from tether.store import port

if TYPE_CHECKING:
    from tether.agents import lookout, model, registry

# What says that an agent calls: without one of these the room `agents` is not even imported.
_AGENT_VARIABLES = (
    "TETHER_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
    "GEMINI_SESSION_ID",
)

# What is done by the way does not wait for long.
_HOUSEKEEPING_SECONDS = 0.5


class Context:
    """The workspace, its settings, its store and the caller, each found when first asked for."""

    def __init__(
        self, environ: Mapping[str, str] | None = None, *, keeps_house: bool = True
    ) -> None:
        self.environ = os.environ if environ is None else environ
        self.recovery: registry.Beat | None = None
        """The beat by which the caller came back, if it had been taken for dead."""
        self._keeps_house = keeps_house

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
        opened = store.open_store(self.workspace, self.settings)
        if self._keeps_house:
            self._keep_house(opened)
        return opened

    @cached_property
    def spot(self) -> lookout.Lookout:
        """Where the liveness of agents is judged from."""
        from tether.agents import lookout

        return lookout.of(self.settings)

    @cached_property
    def place(self) -> model.Place:
        """Where the caller works: told with every beat and every claim."""
        from tether.agents import model

        head = workspace.head(self.workspace)
        return model.Place(self.workspace.root, head.branch, head.commit)

    # Who calls

    @property
    def is_agent(self) -> bool:
        """Does the environment name the session of an agent?"""
        return any(self.environ.get(name) for name in _AGENT_VARIABLES)

    @cached_property
    def session(self) -> registry.Session:
        """The session that calls: an agent's, or a person's."""
        from tether.agents import identity

        return identity.agent_of(self.environ) or identity.person(self._person_name())

    @property
    def actor(self) -> str:
        """Who acts, for the log."""
        return self.session.agent_name

    @cached_property
    def agent(self) -> model.Agent:
        """The caller as the store knows it: registered now if it was not, and heard from."""
        from tether.agents import registry, roll

        known = roll.get(self.store.rows, self.session.session_id)
        if known is None:
            return registry.register(self.store, self.spot, self.session, self.place).agent
        if known.status == "stale":
            # A person's; an agent has come back by calling.
            beat = registry.beat(self.store, self.spot, known.session_id)
            self._tell_of_recovery(beat)
            return beat.agent
        return known

    def acting(self, session_id: str | None) -> model.Agent:
        """The session that a flag names, which must be known; without a flag the caller's own."""
        from tether import ids
        from tether.agents import roll

        if session_id is None:
            return self.agent
        return roll.require(self.store.rows, ids.SessionId(session_id))

    def news(self, acting: model.Agent) -> registry.News:
        """What the caller tells by calling: its process and place, if it acts for itself."""
        from tether.agents import registry

        if acting.session_id != self.session.session_id:
            return registry.NO_NEWS
        return registry.News(process=self.session.process, place=self.place)

    def _person_name(self) -> str:
        if name := self.environ.get("TETHER_AGENT"):
            from tether import ids

            return ids.AgentName(name)
        from tether import git

        identity = git.Git(self.workspace.place).user_identity()
        return identity.name if identity else ""

    # By the way

    def pause(self, seconds: float) -> None:
        """Wait, and go on being here: a command that follows is a caller all the time."""
        import time

        time.sleep(seconds)
        self._keep_house(self.store)

    def _keep_house(self, opened: port.Store) -> None:
        """Any identified call is a heartbeat, and any call may sweep: neither may break it."""
        usual_seconds = opened.wait_seconds
        opened.wait_seconds = min(usual_seconds, _HOUSEKEEPING_SECONDS)
        try:
            if self.is_agent:
                self._beat(opened)
            self._sweep_if_due(opened)
        except errors.UsageError as mistake:
            sys.stderr.write(f"tether: warning: {mistake.message}\n")
        except Exception:  # noqa: BLE001 (the command itself meets what is really wrong)
            if self.environ.get("TETHER_DEBUG"):
                import traceback

                traceback.print_exc()
        finally:
            opened.wait_seconds = usual_seconds

    def _beat(self, opened: port.Store) -> None:
        from tether.agents import registry, roll

        known = roll.get(opened.rows, self.session.session_id)
        if known is not None and known.status != "ended":
            news = registry.News(process=self.session.process, place=self.place)
            self._tell_of_recovery(registry.beat(opened, self.spot, known.session_id, news))

    def _sweep_if_due(self, opened: port.Store) -> None:
        from tether.agents import upkeep

        interval_seconds = self.settings.integer("sweep.interval_seconds")
        if upkeep.is_sweep_due(self.workspace.store_dir, interval_seconds):
            upkeep.sweep_by_the_way(opened, self.spot, self.workspace, self.settings)

    def _tell_of_recovery(self, beat: registry.Beat) -> None:
        if beat.has_recovered:
            self.recovery = beat
            lost = ", ".join(key.label for key in beat.lost)
            held = f" It no longer has {lost}." if lost else ""
            sys.stderr.write(
                f"tether: note: this session had been taken for dead and is back.{held}\n"
            )

    def close(self) -> None:
        if "store" in self.__dict__:
            self.store.close()
