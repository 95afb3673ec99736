"""Coordination in one SQL store: SQLite by default, PostgreSQL across machines."""

from __future__ import annotations

from tether import clock, config, errors, ids, workspace
from tether.store import port, sql

_SQL = sql.Queries("store")


def open_store(
    place: workspace.Workspace, settings: config.Settings, *, time: clock.Clock | None = None
) -> port.Store:
    """The store of this workspace. Nothing is opened or created before it is used."""
    url = settings.text("store.url")
    wait_seconds = settings.integer("store.wait_seconds")
    if not url:
        from tether.store import sqlite

        return sqlite.SqliteStore(
            place, wait_seconds=wait_seconds, workspace_id=settings.workspace_id, time=time
        )
    if settings.workspace_id is None:
        raise errors.ConfigError(
            "A store in PostgreSQL needs a workspace_id, and tether.toml has none.",
            hint="Run `tether init`.",
        )
    try:
        from tether.store import postgres
    except ImportError as problem:
        raise errors.ExtraMissing(
            "A store in PostgreSQL needs the package psycopg.",
            hint="Install Tether with its extra, in a clone: pip install '.[postgres]'",
        ) from problem
    return postgres.PostgresStore(url, settings.workspace_id, wait_seconds=wait_seconds)


def workspace_id_of(store: port.Store) -> ids.WorkspaceId | None:
    """The workspace that a store was made for: another checkout of the repository may ask."""
    for row in store.rows(_SQL.meta):
        if row["key"] == "workspace_id" and ids.WorkspaceId.is_valid(row["value"]):
            return ids.WorkspaceId(row["value"])
    return None


def remember_workspace_id(transaction: port.Transaction, workspace_id: ids.WorkspaceId) -> None:
    transaction.rows(_SQL.set_meta, key="workspace_id", value=workspace_id)
