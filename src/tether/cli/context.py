"""What a command works on: the only place that reads the environment and the current directory."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property

from tether import config, errors, ids, store, text, workspace
from tether.hints import TYPE_CHECKING
from tether.store import port

if TYPE_CHECKING:
    from tether import index
    from tether.agents import lookout, model, registry
    from tether.evidence import places, witness
    from tether.tasks import desk, views, workdir
    from tether.tasks.sources import finding, patterns
    from tether.tasks.sources import model as lists_model

# What says that an agent calls: without one of these the room `agents` is not even imported.
_AGENT_VARIABLES = (
    "TETHER_SESSION",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "GEMINI_SESSION_ID",
    # These name no session, but whoever sets them is no person.
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "GEMINI_CLI",
    "CURSOR_AGENT",
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

    # Tasks

    @cached_property
    def work(self) -> workdir.Workdir:
        """The task files of this checkout."""
        from tether.tasks import workdir

        root = self.workspace.root
        if root is None:
            raise errors.NotAllowed(
                "A bare repository has no files, so no tasks. Nothing was changed.",
                hint="Use one of its worktrees.",
            )
        return workdir.of(root, self.settings)

    def desk(self, session_id: str | None = None) -> desk.Desk:
        """What a verb of the task's lifecycle works with."""
        from tether import clock
        from tether.tasks import desk

        work = self.work
        acting = self.acting(session_id)
        is_own = acting.session_id == self.session.session_id
        place = self.place if is_own else acting.place
        caller = desk.Caller(acting, not self.is_agent, place)
        now = clock.now_text(clock.SystemClock())
        return desk.Desk(self.workspace, work, self.store, self.spot, caller, now)

    @cached_property
    def viewer(self) -> views.Viewer:
        """How tasks look to the caller. A person who only looks is not registered for it."""
        from tether.tasks import views

        return views.Viewer(self.workspace, self.work, self.store, self.spot, self._asker)

    def _asker(self) -> tuple[str, str]:
        """The session and the name of the caller; neither for an agent that names no session."""
        try:
            return self.session.session_id, self.session.agent_name
        except (errors.NotAllowed, errors.InvalidId):
            return "", ""

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The kinds of task lists that count here: those of the settings, or those that are."""
        from tether.tasks.sources import dialects, finding

        if self.workspace.root is None:
            return ()
        said = _listed(self.settings.text("tasks.sources"))
        unknown = [name for name in said if name not in dialects.NAMES]
        if unknown:
            raise errors.ConfigError(
                f"tasks.sources: there is no kind of list '{text.one_line(unknown[0], 40)}'.",
                hint=f"Use {', '.join(dialects.NAMES)}.",
            )
        return said or tuple(each.name for each in finding.detect(self.workspace.root))

    @cached_property
    def _index(self) -> index.Index:
        from tether import index

        return index.Index(self.workspace.store_dir)

    @cached_property
    def lists(self) -> finding.Lists:
        """What the task lists of this checkout say."""
        from tether.tasks.sources import finding

        try:
            return finding.read(self.workspace.root or "", self.sources, self._index)
        finally:
            self._index.close()

    def list_item(self, key: ids.TaskKey) -> lists_model.Item | None:
        """One task of the lists, which are read only if the index cannot tell."""
        from tether.tasks.sources import kept

        said = _listed(self.settings.text("tasks.sources"))
        item = None
        if "lists" not in self.__dict__ and (not said or key.source in said):
            item = kept.look_up(self.workspace.root or "", self._index, key)
        return item or self.lists.items.get(self.lists.resolve(key))

    @cached_property
    def id_kinds(self) -> patterns.Kinds:
        """Which ids mean tasks in a text here."""
        from tether.tasks.sources import finding, patterns

        return patterns.Kinds(
            (ids.OWN_SOURCE, *self.sources),
            _listed(self.settings.text("evidence.ids")),
            self.lists.prefixes() if finding.choosing(self.sources) else (),
        )

    # Evidence

    @cached_property
    def witness(self) -> witness.Witness:
        """Who tells what happened here."""
        from tether.cli import progress
        from tether.evidence import witness
        from tether.tasks.sources import finding, patterns

        copy = self.settings.text("evidence.copy")
        if copy not in ("excerpts", "pointers"):
            raise errors.ConfigError("evidence.copy must be `excerpts` or `pointers`.")

        def kinds_of(top: str) -> patterns.Kinds:
            """The kinds of ids of another checkout."""
            named = _listed(self.settings.text("tasks.sources"))
            sources = named or tuple(each.name for each in finding.detect(top))
            prefixes = finding.read(top, finding.choosing(sources)).prefixes()
            return patterns.Kinds((ids.OWN_SOURCE, *sources), (), prefixes)

        return witness.Witness(
            self.workspace,
            self.store,
            self.places,
            self.id_kinds,
            work_root=self.settings.text("tasks.root"),
            host_id=self.spot.here.host_id,
            keeps_excerpts=copy == "excerpts",
            kinds_of=kinds_of,
            tell=progress.Progress(sys.stderr),
            is_task=self._is_task,
            only=_listed(self.settings.text("tasks.sources")),
        )

    def _is_task(self, word: str) -> bool:
        """Is a word the id of a task here, with a file or on a list?"""
        if self.workspace.root is None or not ids.TaskId.is_valid(word):
            return False
        return bool(self.work.find(word)) or any(key.id == word for key in self.lists.items)

    @cached_property
    def places(self) -> places.Places:
        """Where agents and tools keep their files: as the settings, or their own variables, say."""
        from tether.evidence import places

        home = self.environ.get("HOME", "/nonexistent")
        usual = {
            "claude": [self.environ.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude"],
            "codex": [self.environ.get("CODEX_HOME") or f"{home}/.codex"],
            "gemini": [f"{home}/.gemini"],
            "cursor": [f"{home}/.cursor"],
            "coditect": [f"{home}/.coditect-data", f"{home}/PROJECTS/.coditect-data"],
        }
        found = {}
        for name, directories in usual.items():
            said = self.settings.text(f"evidence.{name}_dir")
            chosen = [each for each in said.split(os.pathsep) if each] or directories
            found[name] = tuple(os.path.abspath(os.path.expanduser(each)) for each in chosen)
        return places.Places(**found)

    # Who calls

    @property
    def is_agent(self) -> bool:
        """Does the environment say that an agent calls?"""
        return any(self.environ.get(name) for name in _AGENT_VARIABLES)

    @cached_property
    def session(self) -> registry.Session:
        """The session that calls: an agent's, or a person's."""
        from tether.agents import identity

        found = identity.agent_of(self.environ)
        marker = identity.marker_of(self.environ)
        if found is None and marker is not None:
            raise errors.NotAllowed(
                f"An agent calls ({marker} is set) that names no session. Nothing was changed.",
                hint="Set TETHER_SESSION, and TETHER_PID if you can, where that agent is started.",
            )
        return found or identity.person(self._person_name())

    @property
    def actor(self) -> str:
        """Who acts, for the log."""
        try:
            return self.session.agent_name
        except errors.NotAllowed:
            return "agent"

    @cached_property
    def agent(self) -> model.Agent:
        """The caller as the store knows it: registered now if it was not, and heard from."""
        from tether import ids
        from tether.agents import registry, roll

        self._require_living()
        known = roll.get(self.store.rows, self.session.session_id)
        if known is None:
            return registry.register(self.store, self.spot, self.session, self.place).agent
        has_lost = self.session.process is None and self.spot.lost_pid(known) is not None
        if known.status == "stale" or (known.is_here and has_lost):
            name = ids.AgentName(known.agent_name)
            own = self.session._replace(agent_name=name, kind=known.kind)
            beat = registry.register(self.store, self.spot, own, self.place)
            self._tell_of_recovery(beat)
            return beat.agent
        return known

    def _require_living(self) -> None:
        """Who says which process it is must be that process."""
        named = self.environ.get("TETHER_PID")
        if named and self.environ.get("TETHER_SESSION") and self.session.process is None:
            raise errors.NotFound(
                f"TETHER_PID names process {named}, which cannot be seen from here."
                " Nothing was changed.",
                hint="Set it to a process that lives as long as the agent, or unset it.",
            )

    def acting(self, session_id: str | None) -> model.Agent:
        """The session that a flag names, by id or name; without a flag the caller's own."""
        from tether.agents import roll

        if session_id is None:
            return self.agent
        found = roll.find(self.store.rows, session_id)
        self.require_may_act_for(found)
        return found

    def require_may_act_for(self, other: model.Agent) -> None:
        """A person acts for everybody, an agent for itself and for those that it started."""
        from tether.agents import roll

        if not self.is_agent or other.session_id == self.session.session_id:
            return
        if not roll.is_below(self.store.rows, other, self.session.session_id):
            raise errors.NotAllowed(
                "An agent acts for itself and for sessions that it started. Nothing was changed.",
                hint="Write to the other one with `tether send`.",
            )

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
        # The caller may have changed its branch meanwhile.
        self.__dict__.pop("place", None)
        self._keep_house(self.store)

    def _keep_house(self, opened: port.Store) -> None:
        """Any identified call is a heartbeat, and any call may sweep: neither may break it."""
        usual_seconds = opened.wait_seconds
        opened.wait_seconds = min(usual_seconds, _HOUSEKEEPING_SECONDS)
        try:
            if self.is_agent:
                self._beat(opened)
            self._sweep_if_due(opened)
        except Exception:  # noqa: BLE001 (the command itself meets what is really wrong)
            if self.environ.get("TETHER_DEBUG"):
                import traceback

                traceback.print_exc()
        finally:
            opened.wait_seconds = usual_seconds

    def _beat(self, opened: port.Store) -> None:
        from tether import host
        from tether.agents import identity, registry, roll

        if identity.agent_of(self.environ) is None:
            return  # an agent that names no session
        own = self.session.process
        is_named = bool(self.environ.get("TETHER_PID")) or own is not None
        if is_named and (own is None or host.identify(own.pid) != own):
            return  # somebody goes on calling in the name of the dead
        known = roll.get(opened.rows, self.session.session_id)
        if known is not None and known.status != "ended":
            news = registry.News(process=self.session.process, place=self.place, keeps_idle=True)
            self._tell_of_recovery(registry.beat(opened, self.spot, known.session_id, news))

    def _sweep_if_due(self, opened: port.Store) -> None:
        from tether.agents import upkeep

        interval_seconds = self.settings.integer("sweep.interval_seconds")
        if upkeep.is_sweep_due(self.workspace.store_dir, interval_seconds):
            upkeep.sweep_by_the_way(opened, self.spot, self.workspace, self.settings)

    def _tell_of_recovery(self, beat: registry.Beat) -> None:
        if beat.lost_pid is not None:
            sys.stderr.write(
                f"tether: note: process {beat.lost_pid}, which this session had named, is gone;"
                " name one that lives as long as the agent.\n"
            )
        if beat.has_recovered:
            self.recovery = beat
            lost = ", ".join(key.label for key in beat.lost)
            held = f" It no longer has {lost}." if lost else ""
            note = f"this session had been taken for dead and is back.{held}"
            sys.stderr.write(f"tether: note: {text.one_line(note)}\n")

    def close(self) -> None:
        if "store" in self.__dict__:
            self.store.close()


def _listed(value: str) -> tuple[str, ...]:
    """The parts of a setting with commas in it."""
    return tuple(part.strip() for part in value.split(",") if part.strip())
