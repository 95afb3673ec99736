"""`tether doctor`: what Tether sees here, and what is wrong with it.

It only looks. Every repair has a flag of its own and is done before the looking, so that the
report shows its effect.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import sys
from collections.abc import Callable
from importlib import metadata

import click

from tether import __version__, config, errors, files, git, store, text, workspace
from tether.agents import upkeep
from tether.cli import answers, bytecode, cold, context
from tether.cli.lineage import health
from tether.hints import Any, Literal, NamedTuple, TypeVar
from tether.store import sqlite

T = TypeVar("T")
Grade = Literal["ok", "warn", "fail"]
_GRADES: tuple[Grade, ...] = ("ok", "warn", "fail")
_OLDEST_GIT = (2, 36)


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    grade: Grade
    message: str
    hint: str = ""


@click.command()
@click.option("--compile", "compiles", is_flag=True, help="Repair: compile Tether's bytecode.")
@click.option("--fix-modes", is_flag=True, help="Repair: owner and modes of the store directory.")
@click.option(
    "--set-aside-store", is_flag=True, help="Repair: move a damaged or foreign store file away."
)
@click.option("--remove-leftovers", is_flag=True, help="Repair: files of writers that died.")
@click.option(
    "--fail-on", type=click.Choice(["warn", "fail"]), help="Exit with 6 if a check is this bad."
)
@cold.pass_call
@cold.answering
def doctor(
    call: context.Context,
    compiles: bool,
    fix_modes: bool,
    set_aside_store: bool,
    remove_leftovers: bool,
    fail_on: Grade | None,
) -> answers.Answer:
    """Check this installation and this repository.

    Changes nothing unless a repair is asked for by its flag.
    """
    repairs: list[tuple[bool, Callable[[context.Context], str]]] = [
        (compiles, lambda _: bytecode.compile_all()),
        (fix_modes, _fix_modes),
        (set_aside_store, _set_aside_store),
        (remove_leftovers, _remove_leftovers),
    ]
    done = [repair(call) for is_wanted, repair in repairs if is_wanted]
    report = _report(call)
    report["repairs"] = done
    checks: list[Check] = report["checks"]
    worst = max((_GRADES.index(check.grade) for check in checks), default=0)
    failure = None
    if fail_on and worst >= _GRADES.index(fail_on):
        failure = errors.FindingsFound(f"There are checks with the grade {_GRADES[worst]}.")
    value = {**report, "checks": [check._asdict() for check in checks]}
    return answers.Answer(
        "doctor", value, lambda: _plain(report), lambda width: _styled(report, width), failure
    )


def _report(call: context.Context) -> dict[str, Any]:
    """Everything that is known; a part that cannot be found out is a failed check."""
    checks: list[Check] = []
    is_compiled = bytecode.is_compiled()
    checks.append(_check_bytecode(is_compiled=is_compiled))
    git_version = _try(checks, "git", git.version)
    if git_version is not None:
        checks.append(_check_git_version(git_version))
    report: dict[str, Any] = {
        "versions": _versions(git_version),
        "places": {"package": bytecode.PACKAGE, "python": sys.executable},
        "bytecode_compiled": is_compiled,
        "journal_mode": None,
        "store": None,
        "quarantine": [],
        "checks": checks,
    }
    checks.append(Check("lineage", *health.grammars()))
    place = _try(checks, "repository", lambda: call.workspace)
    if place is None:
        return report
    checks.append(Check("repository", "ok", _kind(place)))
    report["places"] |= _places(place, call)
    if os.path.isdir(place.store_dir):
        for check in (_check_modes, _check_leftovers, _check_set_aside, _check_sweep):
            checks.extend(_try(checks, "store directory", functools.partial(check, place)) or [])
        if skipped := health.skipped(place.store_dir):
            report["quarantine"] = [health.value(each) for each in skipped]
            checks.append(Check("quarantine", *health.told(skipped)))
    settings = _try(checks, "settings", call.look_at_settings)
    if settings is None:
        return report
    checks.extend(_check_settings(settings))
    if not settings.text("store.url"):
        kind = _try(
            checks, "file system", lambda: workspace.require_safe_for_sqlite(place.store_dir)
        )
        if kind is not None:
            checks.append(Check("file system", "ok", kind or "unknown"))
    if place.root is not None:
        root = place.root
        checks.extend(_try(checks, "tasks", lambda: _check_tasks(root, settings)) or [])
    facts = _try(checks, "store", lambda: _described(place, settings))
    if facts is not None:
        report["store"] = facts
        report["journal_mode"] = facts.get("journal_mode")
        checks.append(_check_store(facts))
        checks.extend(_try(checks, "evidence", lambda: _check_evidence(call)) or [])
    return report


def _check_evidence(call: context.Context) -> list[Check]:
    """What of the evidence cannot be read, as far as anybody has asked for it yet."""
    problems = call.witness.problems()
    if problems is None:
        return []
    if not problems:
        return [Check("evidence", "ok", "everything can be read")]
    first = problems[0]
    where = f", {first.where}" if first.where else ""
    number = text.counted(len(problems), "problem")
    said = f"{number}; the first: {first.path}{where}: {first.message}"
    hint = "`tether reindex` lists them; the rest of the evidence counts all the same."
    return [Check("evidence", "warn", text.one_line(said), hint)]


def _check_tasks(top: str, settings: config.Settings) -> list[Check]:
    """The task files, if this repository keeps any."""
    from tether.tasks import checking, workdir

    work = workdir.of(top, settings)
    if not work.exists:
        return []
    found = checking.check(work)
    number = f"{found.files} in {work.root}"
    if not found.findings:
        return [Check("tasks", "ok", number)]
    said = f"{number}, with {text.counted(len(found.findings), 'finding')}"
    return [Check("tasks", "warn", said, "Run `tether validate`.")]


def _described(place: workspace.Workspace, settings: config.Settings) -> dict[str, Any]:
    with contextlib.closing(store.open_store(place, settings)) as opened:
        return opened.describe()


def _try(checks: list[Check], name: str, look: Callable[[], T]) -> T | None:
    try:
        return look()
    except errors.TetherError as error:
        checks.append(Check(name, "fail", error.message, error.hint))
    except OSError as problem:
        checks.append(Check(name, "fail", f"The system refused: {problem.strerror}."))
    return None


def _versions(git_version: tuple[int, ...] | None) -> dict[str, str | None]:
    import sqlite3

    versions: dict[str, str | None] = {
        "tether": __version__,
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "sqlite": sqlite3.sqlite_version,
        "git": _dotted(git_version) if git_version else None,
    }
    for name in ("click", "msgspec", "psycopg", "tree-sitter", "starlette", "mcp"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return versions


def _places(place: workspace.Workspace, call: context.Context) -> dict[str, str | None]:
    return {
        "root": place.root,
        "git_dir": place.git_dir,
        "common_dir": place.common_dir,
        "store_dir": place.store_dir,
        **config.places(place, call.environ),
    }


def _kind(place: workspace.Workspace) -> str:
    if place.root is None:
        return f"bare repository {place.git_dir}"
    linked = f", a linked worktree of {place.common_dir}" if place.is_linked else ""
    return f"{place.root}{linked}"


# Checks


def _check_bytecode(*, is_compiled: bool) -> Check:
    if is_compiled:
        return Check("bytecode", "ok", "compiled")
    return Check(
        "bytecode",
        "warn",
        "Tether's modules are not compiled, so every command compiles them again.",
        "Run `tether doctor --compile`.",
    )


def _check_git_version(found: tuple[int, ...]) -> Check:
    if found < _OLDEST_GIT:
        return Check("git", "fail", f"Git {_dotted(found)} is too old.", errors.GitMissing.hint)
    return Check("git", "ok", _dotted(found))


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in numbers)


def _check_modes(place: workspace.Workspace) -> list[Check]:
    if _wrong_modes(place):
        return [
            Check(
                "modes",
                "warn",
                "The store directory and its files do not have the owner and mode of the Git"
                " directory, so that others who may use the repository may not use the store.",
                "Run `tether doctor --fix-modes`.",
            )
        ]
    return [Check("modes", "ok", "as in the Git directory")]


def _check_leftovers(place: workspace.Workspace) -> list[Check]:
    old = sum(files.Root(place.store_dir).count_leftovers(name) for name in _written_in(place))
    if not old:
        return []
    return [
        Check(
            "leftovers",
            "warn",
            f"The store directory has {text.counted(old, 'file')} of writers that died.",
            "Run `tether doctor --remove-leftovers`.",
        )
    ]


def _check_set_aside(place: workspace.Workspace) -> list[Check]:
    kept = [name for name in os.listdir(place.store_dir) if name.startswith(sqlite.ASIDE_PREFIX)]
    if not kept:
        return []
    message = f"The store directory keeps {text.counted(len(kept), 'file')} of damaged stores."
    return [Check("set aside", "warn", message, "Delete them when nobody needs them any more.")]


def _check_sweep(place: workspace.Workspace) -> list[Check]:
    problem = upkeep.last_problem(place)
    if not problem:
        return []
    message = f"The last sweep by the way failed: {problem}."
    return [Check("sweep", "warn", message, "Run `tether sweep` to see why.")]


def _check_settings(settings: config.Settings) -> list[Check]:
    unknown = [Check("settings", "warn", warning) for warning in settings.warnings]
    if unknown:
        return unknown
    changed = sorted(name for name, origin in settings.origins.items() if origin != "default")
    return [Check("settings", "ok", ", ".join(changed) or "all defaults")]


def _check_store(facts: dict[str, Any]) -> Check:
    if facts.get("integrity", "ok") != "ok":
        return Check("store", "fail", "The store's file is damaged.", errors.StoreCorrupt.hint)
    if not facts["is_writable"]:
        state = "can be read but not written" if facts["exists"] else "cannot be made from here"
        return Check("store", "warn", state, errors.StoreReadOnly.hint)
    if not facts["exists"]:
        return Check("store", "ok", "not created yet: the first write does it, or `tether init`")
    where = facts.get("path") or facts.get("url")
    return Check("store", "ok", f"{facts['kind']}, schema {facts['schema_version']}, {where}")


# Repairs


def _wrong_modes(place: workspace.Workspace) -> list[str]:
    """What in the store directory differs in owner or mode from the common dir."""
    model = os.stat(place.common_dir)
    wrong = []
    for path in [place.store_dir, *_store_files(place)]:
        found = os.stat(path, follow_symlinks=False)
        wanted = files.mode_like(model, is_directory=stat.S_ISDIR(found.st_mode))
        if stat.S_IMODE(found.st_mode) != wanted or found.st_uid != model.st_uid:
            wrong.append(path)
    return wrong


def _store_files(place: workspace.Workspace) -> list[str]:
    # With TRUNCATE the journal stays, and whoever may not write it may not write the store.
    names = (sqlite.FILE_NAME, f"{sqlite.FILE_NAME}-journal", sqlite.LOCK_NAME)
    paths = (os.path.join(place.store_dir, name) for name in names)
    return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]


def _fix_modes(call: context.Context) -> str:
    place = call.workspace
    wrong = _wrong_modes(place) if os.path.isdir(place.store_dir) else []
    for path in wrong:
        files.dress_like(path, place.common_dir)
    left = len(_wrong_modes(place)) if wrong else 0
    told = f"gave {text.counted(len(wrong) - left, 'path')} the owner and mode of the Git directory"
    return f"{told}; {left} only their owner or root can change" if left else told


def _set_aside_store(call: context.Context) -> str:
    aside = sqlite.set_aside(call.workspace)
    if aside is None:
        return "no store is damaged: nothing was set aside"
    return f"moved the damaged store to {aside}; the next write makes a new one"


def _remove_leftovers(call: context.Context) -> str:
    place = call.workspace
    if not os.path.isdir(place.store_dir):
        return "there is no store directory"
    root = files.Root(place.store_dir)
    removed = sum(map(root.remove_leftovers, _written_in(place)))
    return f"removed {text.counted(removed, 'leftover')}"


def _written_in(place: workspace.Workspace) -> list[str]:
    """The directories that files are written in, as names below the store directory."""
    return ["", *(name for name in ("cache",) if os.path.isdir(f"{place.store_dir}/{name}"))]


# Showing


def _plain(report: dict[str, Any]) -> str:
    lines = [f"repair: {repair}" for repair in report["repairs"]]
    width = max(len(check.name) for check in report["checks"])
    for check in report["checks"]:
        lines.append(f"{check.grade:<4}  {check.name:<{width}}  {check.message}")
        if check.hint:
            lines.append(f"{'':<{width + 8}}{check.hint}")
    return "\n".join([*lines, _versions_line(report)])


def _versions_line(report: dict[str, Any]) -> str:
    told = ("tether", "python", "sqlite", "git")
    return "versions: " + ", ".join(f"{name} {report['versions'][name]}" for name in told)


def _styled(report: dict[str, Any], width: int) -> list[list[answers.Piece]]:
    colours = {"ok": "green", "warn": "yellow", "fail": "red"}
    names = max(len(check.name) for check in report["checks"])
    margin = names + 8
    lines = [[answers.Piece(f"repair: {repair}", "green")] for repair in report["repairs"]]
    for check in report["checks"]:
        first, *rest = _folded(check.message, width - margin)
        grade = answers.Piece(f"{check.grade:<4}", colours[check.grade])
        lines.append([grade, answers.Piece(f"  {check.name:<{names}}  {first}")])
        lines += [[answers.Piece(f"{'':<{margin}}{line}")] for line in rest]
        hint = _folded(check.hint, width - margin) if check.hint else []
        lines += [[answers.Piece(f"{'':<{margin}}{line}", "dim")] for line in hint]
    return [*lines, [answers.Piece(_versions_line(report), "dim")]]


def _folded(value: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text.one_line(value), max(20, width), break_on_hyphens=False) or [""]
