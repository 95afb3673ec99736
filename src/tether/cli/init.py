"""`tether init`: look, say what would change, and change it only after a yes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Iterator

import click

from tether import config, errors, files, ids, store, text, workspace
from tether.cli import answers, cold, context, git_hooks
from tether.hints import NamedTuple
from tether.store import events, port

_TRACKED_HEADER = """\
# Tether's settings for this repository. Commit this file: it travels with every branch and clone.
# It may not connect to anything or run anything; such settings go into local.toml in the store
# directory, or into the environment.
"""


class Step(NamedTuple):
    """One thing that init would make."""

    path: str
    why: str


class Plan(NamedTuple):
    """What init found, and what it would make of it."""

    workspace_id: ids.WorkspaceId
    config_file: str | None
    """The file that still needs the workspace id."""
    steps: list[Step]
    makes_store: bool = False
    hook: git_hooks.Hooks | None = None
    """The hook that is to be set up."""
    notes: tuple[str, ...] = ()


@click.command()
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--dry-run", is_flag=True, help="Only say what it would do.")
@click.option(
    "--git-hooks",
    "hooks",
    is_flag=True,
    help="Have Git add `Task: ID` to your commit messages while you hold a task.",
)
@cold.pass_call
@cold.answering
def init(call: context.Context, yes: bool, dry_run: bool, hooks: bool) -> answers.Answer:
    """Set up Tether in this repository.

    Looks at what is there, says what it would change, and changes it only after a yes. Task lists
    that you already keep are found and read; they stay as they are.
    """
    plan = _plan(call.workspace, call.settings, hooks=hooks)
    found = _found(call)
    if plan.steps and not dry_run:
        if not yes:
            _ask(found, plan)
        plan = _apply(call, hooks=hooks)
    value = {
        "workspace_id": plan.workspace_id,
        "found": found,
        "steps": [step._asdict() for step in plan.steps],
        "applied": bool(plan.steps) and not dry_run,
    }
    return answers.Answer("init", value, lambda: _told(found, plan, dry_run=dry_run, asked=not yes))


def _plan(place: workspace.Workspace, settings: config.Settings, *, hooks: bool) -> Plan:
    known = settings.workspace_id
    origin = settings.origins["workspace_id"]
    if known is None and origin != "default":
        raise errors.ConfigError(
            f"{origin}: workspace_id is empty. Nothing was changed.",
            hint="Remove that line, then run `tether init` again.",
        )
    is_sqlite = not settings.text("store.url")
    exists, remembered = False, None
    if is_sqlite or known:
        with contextlib.closing(store.open_store(place, settings)) as found:
            exists = found.exists()
            # Asked in any case: a store that cannot be read must not pass for one in order.
            remembered = store.workspace_id_of(found) if exists else None
    config_file = None if known else _config_file(place)
    if place.owns_store:
        # Another checkout of this repository has named the workspace already.
        known = known or remembered
    steps = []
    if config_file:
        verb = "add workspace_id to" if os.path.exists(config_file) else "create"
        name = os.path.basename(config_file)
        steps.append(Step(config_file, f"{verb} {name}: says which clones belong together"))
    if not exists:
        target = os.path.join(place.store_dir, "tether.db") if is_sqlite else "PostgreSQL"
        steps.append(Step(target, "create the store: claims, messages, events; never committed"))
    plan = Plan(known or ids.WorkspaceId.generate(), config_file, steps, bool(steps))
    return _with_hook(plan, place) if hooks else plan


def _with_hook(plan: Plan, place: workspace.Workspace) -> Plan:
    found = git_hooks.look(place)
    if found.state == "elsewhere":
        return plan._replace(notes=(git_hooks.elsewhere_hint(found),))
    if found.state == "ours":
        return plan
    why = f"create Git's hook {git_hooks.NAME}: adds the task that you hold to commit messages"
    if found.state == "theirs":
        why += "; the one that is there is called first, from a copy beside it"
    return plan._replace(steps=[*plan.steps, Step(found.path, why)], hook=found)


def _config_file(place: workspace.Workspace) -> str:
    # A bare repository has no tracked files at hand.
    if place.root is None:
        return os.path.join(place.store_dir, config.LOCAL_FILE)
    return os.path.join(place.root, config.TRACKED_FILE)


def _found(call: context.Context) -> dict[str, str]:
    place = call.workspace
    kind = "a bare repository" if place.root is None else "a repository"
    if place.is_linked:
        kind = "a linked worktree"
    url = call.settings.text("store.url")
    return {
        "place": place.root or place.git_dir,
        "kind": kind,
        "store": "PostgreSQL" if url else "SQLite",
        "store_dir": place.store_dir,
        "lists": _lists(place),
        "chosen_lists": call.settings.text("tasks.sources"),
    }


def _lists(place: workspace.Workspace) -> str:
    """The task lists that the team keeps, in words."""
    from tether.tasks.sources import finding

    found = finding.detect(place.root) if place.root else ()
    read = finding.read(place.root or "", [each.name for each in found])
    counts = Counter(key.source for key in read.items)
    return ", ".join(
        f"{each.name} ({text.counted(counts[each.name], 'task')}"
        f" in {text.counted(len(each.files), 'file')})"
        for each in found
    )


def _ask(found: dict[str, str], plan: Plan) -> None:
    if not sys.stdin.isatty():
        raise errors.ConfirmationNeeded
    sys.stderr.write(text.clean(_plan_text(found, plan)) + "\n\n")
    if not click.confirm("Go on?", err=True):
        raise errors.Declined


def _apply(call: context.Context, *, hooks: bool) -> Plan:
    """Do what is still to do, and say what that was: another process may have been quicker."""
    # Before any file: a name that is not valid must leave the tree as it was.
    place, actor = call.workspace, call.actor
    with _alone(place, is_sqlite=not call.settings.text("store.url")):
        settings = config.load(place, call.environ)
        plan = _plan(place, settings, hooks=hooks)
        if plan.hook is not None:
            git_hooks.install(plan.hook)
        if plan.makes_store:
            settings = settings.replacing("workspace_id", plan.workspace_id, "init")
            with contextlib.closing(store.open_store(place, settings)) as opened:
                # Before any file too: a store that cannot be written must leave the tree as it was.
                opened.ensure_writable()
                if plan.config_file:
                    _write_workspace_id(plan.config_file, plan.workspace_id)
                opened.write("init", lambda transaction: _record(transaction, actor, plan))
    return plan


@contextlib.contextmanager
def _alone(place: workspace.Workspace, *, is_sqlite: bool) -> Iterator[None]:
    """One init at a time in all checkouts of a repository, on this machine."""
    lock = files.Lock(os.path.join(place.store_dir, "init.lock"), purpose="init")
    try:
        files.make_directory_like(place.store_dir, like=place.common_dir)
        lock.acquire()
    except errors.NotWritable as problem:
        if is_sqlite:
            raise errors.StoreReadOnly from problem
        # PostgreSQL needs no store directory, and its schema is made only once.
    try:
        yield
    finally:
        lock.release()


def _record(transaction: port.Transaction, actor: str, plan: Plan) -> None:
    store.remember_workspace_id(transaction, plan.workspace_id)
    created = [os.path.basename(step.path) for step in plan.steps]
    transaction.event(
        events.WORKSPACE_INITIALISED,
        actor=actor,
        data={"workspace_id": plan.workspace_id, "created": created},
    )


def _write_workspace_id(path: str, workspace_id: ids.WorkspaceId) -> None:
    directory, name = os.path.split(path)
    root = files.Root(directory)
    is_new = not root.exists(name)
    header = _TRACKED_HEADER.encode() if name == config.TRACKED_FILE else b""
    old = header if is_new else root.read_bytes(name)
    root.write_atomic(name, config.with_workspace_id(old, workspace_id), replace=not is_new)


def _told(found: dict[str, str], plan: Plan, *, dry_run: bool, asked: bool) -> str:
    notes = "".join(f"\n{note}" for note in plan.notes)
    if not plan.steps:
        return f"Nothing to do: Tether is set up in {found['place']}.{_lists_text(found)}{notes}"
    if dry_run:
        return _plan_text(found, plan) + "\n\nNothing was changed (--dry-run)."
    done = "" if asked else _plan_text(found, plan) + "\n\n"
    commit = "\nCommit tether.toml so that other clones find the same workspace."
    is_tracked = plan.config_file and plan.config_file.endswith(config.TRACKED_FILE)
    return f"{done}Done.{commit if is_tracked else ''}{notes}"


def _plan_text(found: dict[str, str], plan: Plan) -> str:
    steps = "\n".join(f"  {step.why}\n      {step.path}" for step in plan.steps)
    return (
        f"Found {found['kind']} in {found['place']}; the store is {found['store']}."
        f"{_lists_text(found)}\n{steps}"
    )


def _lists_text(found: dict[str, str]) -> str:
    """The task lists that are there, and which of them count if that was chosen."""
    lists = f"\nFound task lists: {found['lists']}." if found["lists"] else ""
    chosen = found["chosen_lists"]
    return lists + (f"\nOf these tasks.sources chooses: {chosen}." if lists and chosen else "")
