"""Settings: what they are, where they may stand, and which of several values counts.

`tether.toml` is tracked, so whoever can push a branch writes it: nothing in it may connect to
anything or run anything. The user's own file, `local.toml` in the store directory and the
environment may. Later in that list wins. Parsed files are cached as JSON, keyed by their stat,
because importing tomllib costs more than a hot command may.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Mapping

from tether import __version__, errors, files, ids, text, workspace
from tether.hints import Any, NamedTuple

TRACKED_FILE = "tether.toml"
LOCAL_FILE = "local.toml"
_MAX_FILE_BYTES = 64 * 1024
_MAX_DOTS_IN_LINE = 200
# A tracked file must not be able to flood a terminal.
_MAX_WARNINGS = 20
# A file changed this recently may change again without a new stat, so it is not cached yet.
_RACY_NS = 1_000_000_000
# Parts of names that connect or execute, whether or not a setting of that name exists yet.
_NEVER_TRACKED = frozenset(["auditor", "command", "notify", "url", "usage", "worker"])


class Setting(NamedTuple):
    """One thing that can be set."""

    name: str
    default: str | int
    meaning: str
    is_tracked: bool = True
    minimum: int = 0
    maximum: int = 10**9
    is_path: bool = False
    """A place inside the checkout."""

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return "TETHER_" + self.name.upper().replace(".", "_")


SETTINGS = (
    Setting("workspace_id", "", "Which clones belong together; made by `tether init`."),
    Setting(
        "store.url",
        "",
        "PostgreSQL to use instead of SQLite, as postgresql://user@host/database.",
        is_tracked=False,
    ),
    Setting(
        "store.wait_seconds",
        10,
        "How long a write waits for another one before it gives up with store_busy.",
        minimum=1,
        maximum=600,
    ),
    Setting("agents.beat_seconds", 15, "How often a session that calls is written down as heard."),
    Setting(
        "agents.stale_seconds",
        300,
        "After this silence a sweep looks at a session; one without a known process is over.",
        minimum=1,
    ),
    Setting(
        "agents.human_stale_seconds",
        604_800,
        "The same for a person, who has no process and no heartbeat: a week.",
        minimum=1,
    ),
    Setting(
        "agents.lease_seconds",
        900,
        "How long a heartbeat counts for those who cannot see the process.",
        minimum=1,
    ),
    Setting(
        "agents.grace_seconds",
        900,
        "How long a session whose lease is over stays suspect before it is over too.",
    ),
    Setting(
        "agents.namespace_grace_seconds",
        86_400,
        "The same for a container on this host, which may only be paused.",
    ),
    Setting(
        "sweep.interval_seconds",
        60,
        "How often a command sweeps by the way; 0 leaves it to `tether sweep`.",
    ),
    Setting("sweep.keep_heartbeats_days", 7, "How long progress texts are kept.", maximum=36_500),
    Setting("sweep.keep_chatter_days", 30, "How long chatter events are kept.", maximum=36_500),
    Setting("tasks.root", "work", "Where the task files are.", is_path=True),
    Setting(
        "tasks.leave_out",
        "backups",
        "Names of directories below it that hold no tasks, with commas between them.",
    ),
    Setting(
        "tasks.log",
        "",
        "Where `tether task stalled --log` writes; without one WORKFLOW_LOG.md beside the tasks.",
        is_path=True,
    ),
    Setting(
        "tasks.stalled_seconds",
        7200,
        "How long a task may be in progress before it counts as stalled, unless it says otherwise.",
        minimum=1,
    ),
    Setting(
        "tasks.ageing_days",
        7,
        "How long a task waits until it counts as one priority higher; 0 for never.",
        maximum=36_500,
    ),
    Setting(
        "tasks.sources",
        "",
        "Task lists that count besides the task files, with commas between them: track, speckit,"
        " kiro, openspec, conductor, backlog, beads; empty for those that are there.",
    ),
    Setting(
        "evidence.ids",
        "",
        "More ids of tasks to find in texts, with commas between them: '#' is a number, '@' are"
        " letters, '*' are letters and digits, as in PROJ-#.",
    ),
    Setting(
        "lineage.links",
        "",
        "JSON files with links between tasks that other tools exported, from the top of the"
        " checkout, with commas between them.",
    ),
    Setting(
        "evidence.copy",
        "excerpts",
        "What the store keeps of transcripts, which agents delete after some weeks: `excerpts`"
        " without secrets, or `pointers` alone.",
    ),
    Setting(
        "vacuum.stale_days",
        7,
        "After this silence a task that somebody began counts as dropped.",
        minimum=1,
        maximum=36_500,
    ),
    Setting(
        "vacuum.long_claim_hours",
        24,
        "How long somebody may have a task before that is told.",
        minimum=1,
        maximum=876_000,
    ),
    Setting(
        "vacuum.parked_days",
        30,
        "After this silence a whole track counts as parked, not its tasks as dropped.",
        minimum=1,
        maximum=36_500,
    ),
    Setting(
        "vacuum.window_days",
        30,
        "How far back `tether vacuum` looks; with --deep it looks at everything.",
        minimum=1,
        maximum=36_500,
    ),
    Setting(
        "vacuum.alert_percent",
        84,
        "How probable it must be that a task was dropped, for it to be reported as such.",
        maximum=100,
    ),
    Setting(
        "vacuum.save_dir",
        "",
        "Where every standard and deep sweep saves its report as a dated document; none if empty.",
        is_path=True,
    ),
    Setting(
        "vacuum.agents_may_cancel",
        0,
        "1 lets agents cancel tasks with `tether vacuum cancel`; otherwise only people do.",
        is_tracked=False,
        maximum=1,
    ),
    Setting(
        "maintain.vacuum_days",
        7,
        "How often `tether maintain` looks for orphans; 0 for never.",
        maximum=36_500,
    ),
    Setting(
        "maintain.deep_days",
        30,
        "How often it looks at everything there ever was; 0 for never.",
        maximum=36_500,
    ),
    Setting(
        "maintain.archive",
        0,
        "1 lets it archive tasks that were done 30 days ago, which changes tracked files;"
        " otherwise it says how many there are.",
        is_tracked=False,
        maximum=1,
    ),
    *(
        Setting(name, "", meaning, is_tracked=False)
        for name, meaning in (
            (
                "run.worker",
                (
                    "The command that works on a task of a run: {prompt_file} and {prompt} stand"
                    " for what it is told, which it also gets on its standard input."
                ),
            ),
            ("run.auditor", "The command that looks at a worker's result; exit status 0 passes."),
            (
                "run.usage",
                (
                    "The command that says how much of the usage limit is left; without one the"
                    " agents' own records do."
                ),
            ),
            (
                "notify.command",
                (
                    "The command that is told, as JSON on its standard input, when a run has a"
                    " question, pauses, fails or ends."
                ),
            ),
        )
    ),
    *(
        Setting(f"run.{name}", default, meaning, minimum=least, maximum=most)
        for name, default, least, most, meaning in (
            ("slots", 5, 1, 1000, "How many workers and auditors of a run are at work at once."),
            ("context_percent", 10, 0, 100, "At or under this much context left it compacts."),
            ("session_percent", 10, 0, 100, "At or under this much usage left a run pauses."),
            (
                "resume_minutes",
                5,
                0,
                10_000,
                "How long after the usage limit's reset a paused run goes on.",
            ),
            ("usage_seconds", 60, 1, 86_400, "How often a run looks at the usage limit."),
            (
                "recent_minutes",
                60,
                0,
                100_000,
                "What was completed so shortly before a run stopped is validated again.",
            ),
            ("worker_minutes", 15, 1, 100_000, "How long a worker may take for one task."),
            ("audit_minutes", 10, 1, 100_000, "How long an audit may take."),
            ("checkpoint_seconds", 300, 1, 86_400, "How often a worker should leave a checkpoint."),
            (
                "checkpoint_wait_seconds",
                30,
                0,
                3600,
                "How long a pause or a compaction waits for checkpoints.",
            ),
            ("stall_checkpoints", 3, 1, 1000, "Missed checkpoints after which a worker is ended."),
            ("failure_limit", 3, 1, 1000, "Failures of a task after which a person decides."),
            (
                "death_limit",
                10,
                1,
                100_000,
                "The same for workers that vanish one after another without a checkpoint.",
            ),
            ("reload_compactions", 2, 1, 1000, "Every so many compactions the whole plan is read."),
            ("compaction_minutes", 10, 1, 10_000, "How long a compaction may take at most."),
            ("grace_seconds", 10, 0, 3600, "How long a worker that is ended has to clean up."),
        )
    ),
    *(
        Setting(
            f"evidence.{name}_dir",
            "",
            f"Where {tool} keeps its files, if not in {usual}; several with ':' between them.",
            is_tracked=False,
        )
        for name, tool, usual in (
            ("claude", "Claude Code", "CLAUDE_CONFIG_DIR or ~/.claude"),
            ("codex", "Codex", "CODEX_HOME or ~/.codex"),
            ("gemini", "Gemini CLI", "~/.gemini"),
            ("cursor", "Cursor", "~/.cursor"),
            ("coditect", "CODITECT", "~/.coditect-data or ~/PROJECTS/.coditect-data"),
        )
    ),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}
# What else the environment may say: not settings, because no file may say it.
VARIABLES = {
    "TETHER_STORE_DIR": "The store directory, instead of `<git common dir>/tether`; absolute.",
    "TETHER_AGENT": "The name of the agent, or of the person, that calls.",
    "TETHER_SESSION": "The session of the agent that calls, for agents that Tether does not know.",
    "TETHER_PARENT": "The session that started the one that calls.",
    "TETHER_KIND": "What the agent that calls is: claude, codex, gemini, cursor or other.",
    "TETHER_PID": "The process of the agent that calls, as its own namespace counts.",
    "TETHER_RUN": "The run that is meant, or whose worker calls.",
    "TETHER_TASK": "The task of the worker that calls.",
    "TETHER_CHECKPOINT_FILE": "Where a worker may write how far it has come.",
    "TETHER_JOB_DIR": "The directory of a worker's job; by it Tether finds its processes again.",
    "TETHER_NOTICE": "What a notify command is told of: question, pause, failure or end.",
    "TETHER_DEBUG": "Show the traceback of an unexpected error.",
}


class Settings(NamedTuple):
    """Every setting with the value that counts, and where it came from."""

    values: dict[str, str | int]
    origins: dict[str, str]
    warnings: tuple[str, ...]

    def text(self, name: str) -> str:
        return str(self.values[name])

    def integer(self, name: str) -> int:
        return int(self.values[name])

    def replacing(self, name: str, value: str | int, origin: str) -> Settings:
        """The same settings but for one."""
        return Settings({**self.values, name: value}, {**self.origins, name: origin}, self.warnings)

    @property
    def workspace_id(self) -> ids.WorkspaceId | None:
        value = self.text("workspace_id")
        return ids.WorkspaceId(value) if value else None


def with_workspace_id(content: bytes, workspace_id: ids.WorkspaceId) -> bytes:
    """A settings file that has no workspace id yet, with one.

    Below the comments at its top, because only there no table, list or text can be open.
    """
    lines = content.splitlines(keepends=True)
    is_top = [not line.strip() or line.lstrip().startswith(b"#") for line in lines]
    end = is_top.index(False) if False in is_top else len(lines)
    newline = b"\r\n" if b"\r\n" in content else b"\n"
    top = b"".join(lines[:end])
    if top and not top.endswith(b"\n"):
        top += newline
    line = f'workspace_id = "{workspace_id}"'.encode() + newline
    new = top + line + b"".join(lines[end:])
    if _workspace_id_in(new) != workspace_id:
        raise errors.ConfigError(
            "The settings file cannot be extended safely. Nothing was changed.",
            hint=f'Add this line above its first table: workspace_id = "{workspace_id}"',
        )
    return new


def _workspace_id_in(content: bytes) -> object:
    import tomllib

    try:
        return tomllib.loads(content.decode()).get("workspace_id")
    except (ValueError, RecursionError):
        return None


class _Source(NamedTuple):
    key: str
    label: str
    path: str
    is_tracked: bool


def load(
    place: workspace.Workspace, environ: Mapping[str, str], *, may_cache: bool = True
) -> Settings:
    """The settings that count in this workspace."""
    sources = _sources(place, environ)
    stamps = [_stamp(source.path) for source in sources]
    cache_name = f"cache/settings.{place.name}.json"
    settings = _read_cache(place, cache_name, stamps)
    if settings is None:
        settings = _read_files(sources)
        if may_cache:
            _write_cache(place, cache_name, stamps, settings)
    return _apply_environment(settings, environ)


def places(place: workspace.Workspace, environ: Mapping[str, str]) -> dict[str, str]:
    """The files that are read, whether or not they exist."""
    return {source.key: source.path for source in _sources(place, environ)}


def _sources(place: workspace.Workspace, environ: Mapping[str, str]) -> list[_Source]:
    sources = []
    if place.root:
        sources.append(
            _Source("tracked_settings", TRACKED_FILE, os.path.join(place.root, TRACKED_FILE), True)
        )
    user_dir = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", "/"), ".config")
    user_file = os.path.join(user_dir, "tether", "config.toml")
    sources.append(_Source("user_settings", "user config", user_file, False))
    local_file = os.path.join(place.store_dir, LOCAL_FILE)
    sources.append(_Source("local_settings", LOCAL_FILE, local_file, False))
    return sources


def _stamp(path: str) -> list[Any]:
    try:
        stat = os.stat(path)
    except OSError:
        return [path]
    return [path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


def _read_cache(place: workspace.Workspace, name: str, stamps: list[Any]) -> Settings | None:
    """The cached settings if every file is as it was; a damaged cache counts as none."""
    try:
        with open(os.path.join(place.store_dir, name), "rb") as file:
            cached = json.loads(file.read(_MAX_FILE_BYTES * 4))
        if cached["version"] == __version__ and cached["stamps"] == stamps:
            origins, warnings = cached["origins"], cached["warnings"]
            return Settings(
                {s.name: _checked(s, cached["values"][s.name], "") for s in SETTINGS},
                {s.name: str(origins[s.name]) for s in SETTINGS},
                tuple(str(warning) for warning in warnings),
            )
    except (OSError, ValueError, TypeError, KeyError, RecursionError, errors.ConfigError):
        return None
    return None


def _write_cache(
    place: workspace.Workspace, name: str, stamps: list[Any], settings: Settings
) -> None:
    if any(settings.values[s.name] != s.default for s in SETTINGS if not s.is_tracked):
        # A URL may hold a password, and the cache is as readable as the repository. Who connects
        # to a server does not notice the parsing.
        with contextlib.suppress(errors.FileError, errors.NotFound):
            files.Root(place.store_dir).remove(name)
        return
    newest_ns = max((time_ns for stamp in stamps for time_ns in stamp[3:]), default=0)
    if newest_ns > time.time_ns() - _RACY_NS or not os.path.isdir(place.store_dir):
        return
    record = {"version": __version__, "stamps": stamps, **settings._asdict()}
    try:
        root = files.Root(place.store_dir)
        root.make_directories("cache")
        root.write_atomic(name, json.dumps(record).encode())
    except (errors.FileError, errors.NotFound):
        return  # a read-only store directory, or one that vanished: parsed again next time


def _read_files(sources: list[_Source]) -> Settings:
    values: dict[str, str | int] = {setting.name: setting.default for setting in SETTINGS}
    origins = {setting.name: "default" for setting in SETTINGS}
    warnings: list[str] = []
    for source in sources:
        for name, value in _flatten(_parse(source), source.label).items():
            setting = _BY_NAME.get(name)
            if source.is_tracked and (
                not _NEVER_TRACKED.isdisjoint(name.split("."))
                or (setting and not setting.is_tracked)
            ):
                raise errors.ConfigForbidden(
                    f"{source.label} comes with the repository, so it may not set {_shown(name)}."
                    " Nothing of it was used."
                )
            if setting is None:
                warnings.append(f"{source.label}: {_unknown(name)}")
                continue
            values[name] = _checked(setting, value, source.label)
            origins[name] = source.label
    if len(warnings) > _MAX_WARNINGS:
        left_off = len(warnings) - _MAX_WARNINGS
        warnings[_MAX_WARNINGS:] = [f"there are {left_off} more names that are no settings."]
    return Settings(values, origins, tuple(warnings))


def _parse(source: _Source) -> dict[str, Any]:
    # A link of the user's own that leads nowhere is no file; one in the repository is refused.
    if not (os.path.lexists if source.is_tracked else os.path.exists)(source.path):
        return {}
    # A link in the repository could point anywhere; the user's own files may well be links.
    path = source.path if source.is_tracked else os.path.realpath(source.path)
    directory, name = os.path.split(path)
    content = files.Root(directory).read_bytes(name, max_bytes=_MAX_FILE_BYTES)
    # tomllib takes quadratic time for the parts of a key, and a key stands on one line.
    for line in content.split(b"\n"):
        if line.count(b".") > _MAX_DOTS_IN_LINE and not line.lstrip().startswith(b"#"):
            raise errors.ConfigError(f"{source.label} is nested too deeply.")
    import tomllib

    try:
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as problem:
        raise errors.ConfigError(f"{source.label} is not UTF-8 text.") from problem
    except tomllib.TOMLDecodeError as problem:
        where = text.one_line(str(problem), 120)
        raise errors.ConfigError(f"{source.label} is not valid TOML: {where}.") from problem
    except ValueError as problem:  # Python reads no number of more than 4,300 digits
        raise errors.ConfigError(f"{source.label} has a number that is too long.") from problem
    except RecursionError as problem:
        raise errors.ConfigError(f"{source.label} is nested too deeply.") from problem


def _flatten(table: Mapping[str, Any], label: str, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        inner = value
        if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
            # No setting is a list of tables, but the names in them are looked at all the same.
            inner = {str(n): item for n, item in enumerate(value)}
        if isinstance(inner, dict):
            if name.count(".") > 8:
                raise errors.ConfigError(f"{label} is nested too deeply.")
            flat.update(_flatten(inner, label, f"{name}."))
        else:
            flat[name] = value
    return flat


def _checked(setting: Setting, value: object, label: str) -> str | int:
    """The value in the setting's type; whole numbers may be written as text in the environment."""
    if isinstance(setting.default, int):
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise errors.ConfigError(f"{label}: {setting.name} must be a whole number.")
        if not setting.minimum <= value <= setting.maximum:
            raise errors.ConfigError(
                f"{label}: {setting.name} must be from {setting.minimum} to {setting.maximum}."
            )
        return value
    if not isinstance(value, str):
        raise errors.ConfigError(f"{label}: {setting.name} must be text.")
    if setting.is_path and value and not _is_inside(value):
        raise errors.ConfigError(
            f"{label}: {setting.name} must be a path below the top of the repository."
        )
    if setting.name == "workspace_id" and value and not ids.WorkspaceId.is_valid(value):
        raise errors.ConfigError(f"{label}: {setting.name} is not valid. {ids.WorkspaceId.hint}")
    is_postgres = value.startswith(("postgresql://", "postgres://"))
    if setting.name == "store.url" and value and not is_postgres:
        raise errors.ConfigError(f"{label}: {setting.name} must start with postgresql://.")
    return value


def _is_inside(path: str) -> bool:
    parts = path.removesuffix("/").split("/")
    return path.isprintable() and not any(
        part in ("", ".", "..") or part.startswith("-") or part.lower() == ".git" for part in parts
    )


def _apply_environment(settings: Settings, environ: Mapping[str, str]) -> Settings:
    for setting in SETTINGS:
        if value := environ.get(setting.variable):
            checked = _checked(setting, value, setting.variable)
            settings = settings.replacing(setting.name, checked, setting.variable)
    warnings = tuple(_unknown_variables(environ))
    return settings._replace(warnings=settings.warnings + warnings) if warnings else settings


def _unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """A variable that is spelt wrongly would quietly mean another store or another agent."""
    known = {*VARIABLES, *(setting.variable for setting in SETTINGS)}
    return [
        f"environment: {_advice(name, known)}"
        for name in environ
        if name.startswith("TETHER_") and name not in known
    ]


def _unknown(name: str) -> str:
    return _advice(name, _BY_NAME)


def _advice(name: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name[:100], list(known), n=1)
    advice = f"; did you mean {near[0]}?" if near else "."
    return f"there is no setting {_shown(name)}{advice}"


def _shown(name: str) -> str:
    return f"'{text.one_line(name, 60)}'"
