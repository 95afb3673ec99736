"""`tether init`: look, say what would change, and change it only after a yes."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

import click

from tether import config, errors, files, ids, store, text, workspace
from tether.cli import answers, cold, context
from tether.store import events, port

_TRACKED_HEADER = """\
# Tether's settings for this repository. Commit this file: it travels with every branch and clone.
# It may not connect to anything or run anything; such settings go into local.toml in the store
# directory, or into the environment. All settings: docs/reference/settings.md
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
    makes_store: bool
    steps: list[Step]


@click.command()
@click.option("--yes", is_flag=True, help="Do it without asking.")
@click.option("--dry-run", is_flag=True, help="Only say what it would do.")
@cold.pass_call
@cold.answering
def init(call: context.Context, yes: bool, dry_run: bool) -> answers.Answer:
    """Set up Tether in this repository.

    Looks at what is there, says what it would change, and changes it only after a yes.
    """
    plan = _plan(call)
    found = _found(call)
    if plan.steps and not dry_run:
        if not yes:
            _ask(found, plan)
        _apply(call, plan)
    value = {
        "workspace_id": plan.workspace_id,
        "found": found,
        "steps": [step._asdict() for step in plan.steps],
        "applied": bool(plan.steps) and not dry_run,
    }
    return answers.Answer("init", value, lambda: _told(found, plan, dry_run=dry_run, asked=not yes))


def _plan(call: context.Context) -> Plan:
    place, settings = call.workspace, call.settings
    known = settings.workspace_id
    origin = settings.origins["workspace_id"]
    if known is None and origin != "default":
        raise errors.ConfigError(
            f"{origin}: workspace_id is empty. Nothing was changed.",
            hint="Remove that line, then run `tether init` again.",
        )
    is_sqlite = not settings.text("store.url")
    found_store = store.open_store(place, settings) if is_sqlite or known else None
    try:
        makes_store = found_store is None or not found_store.exists()
        if found_store is not None and not makes_store:
            # Asked in any case: a store that cannot be read must not pass for one in order.
            remembered = store.workspace_id_of(found_store)
            known = known or remembered
    finally:
        if found_store is not None:
            found_store.close()
    config_file = None if settings.workspace_id else _config_file(place)
    workspace_id = known or ids.WorkspaceId.generate()
    steps = []
    if config_file:
        verb = "add workspace_id to" if os.path.exists(config_file) else "create"
        name = os.path.basename(config_file)
        steps.append(Step(config_file, f"{verb} {name}: says which clones belong together"))
    if makes_store:
        target = os.path.join(place.store_dir, "tether.db") if is_sqlite else "PostgreSQL"
        steps.append(Step(target, "create the store: claims, messages, events; never committed"))
    return Plan(workspace_id, config_file, makes_store, steps)


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
    }


def _ask(found: dict[str, str], plan: Plan) -> None:
    if not sys.stdin.isatty():
        raise errors.ConfirmationNeeded
    sys.stderr.write(text.clean(_plan_text(found, plan)) + "\n\n")
    click.confirm("Go on?", abort=True, err=True)


def _apply(call: context.Context, plan: Plan) -> None:
    # Also before any file: a name that is not valid must leave the tree as it was.
    place, actor = call.workspace, call.actor
    settings = call.settings.replacing("workspace_id", plan.workspace_id, "init")
    opened = store.open_store(place, settings)
    try:
        # Before any file: a store that cannot be written must leave the tree as it was.
        opened.ensure_writable()
        if plan.config_file:
            _write_workspace_id(plan.config_file, plan.workspace_id)
        opened.write("init", lambda transaction: _record(transaction, actor, plan))
    finally:
        opened.close()


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
    old = _TRACKED_HEADER.encode() if is_new else root.read_bytes(name)
    try:
        if config.has_workspace_id(old):
            raise errors.AlreadyThere
        root.write_atomic(name, config.with_workspace_id(old, workspace_id), replace=not is_new)
    except errors.AlreadyThere as problem:
        raise errors.Taken(
            "Another process has just set up Tether here. Its workspace_id was kept.",
            hint="Run `tether init` again to see that nothing is left to do.",
        ) from problem


def _told(found: dict[str, str], plan: Plan, *, dry_run: bool, asked: bool) -> str:
    if not plan.steps:
        return f"Nothing to do: Tether is set up in {found['place']}."
    if dry_run:
        return _plan_text(found, plan) + "\n\nNothing was changed (--dry-run)."
    done = "" if asked else _plan_text(found, plan) + "\n\n"
    commit = "\nCommit tether.toml so that other clones find the same workspace."
    is_tracked = plan.config_file and plan.config_file.endswith(config.TRACKED_FILE)
    return f"{done}Done.{commit if is_tracked else ''}"


def _plan_text(found: dict[str, str], plan: Plan) -> str:
    steps = "\n".join(f"  {step.why}\n      {step.path}" for step in plan.steps)
    return f"Found {found['kind']} in {found['place']}; the store is {found['store']}.\n{steps}"
