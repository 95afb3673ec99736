"""The sweep by the way: is it due, and the stamp that says when it last was.

Commands call this before their own work, so a call that is not due costs one stat, and whatever
goes wrong is left on the stamp for `tether doctor` and breaks nothing.
"""

from __future__ import annotations

import json
import os
import time

from tether import errors
from tether.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tether import config, workspace
    from tether.agents import lookout, sweep
    from tether.store import port

STAMP = "sweep.json"


def is_sweep_due(store_dir: str, interval_seconds: int) -> bool:
    """Has nobody on this host swept for that long? A stamp from the future counts as none."""
    if not interval_seconds:
        return False
    try:
        age_seconds = time.time() - os.stat(os.path.join(store_dir, STAMP)).st_mtime
    except OSError:
        return True
    return not -1 < age_seconds < interval_seconds


def sweep_by_the_way(
    store: port.Store,
    spot: lookout.Lookout,
    place: workspace.Workspace,
    settings: config.Settings,
) -> sweep.Swept | None:
    """Take the turn, sweep, and note what kept it from working; None if there is nothing yet."""
    from tether.agents import sweep

    if not store.exists():
        return None
    try:
        write_stamp(place, {})
    except (errors.FileError, errors.NotFound):
        return None  # who may not write here may not sweep either
    try:
        swept = sweep.sweep(store, spot, rules(settings)._replace(max_batches=1))
    except Exception as problem:
        code = problem.code if isinstance(problem, errors.TetherError) else type(problem).__name__
        write_stamp(place, {"problem": code})
        raise
    if swept.problems:
        one = swept.problems[0]
        write_stamp(place, {"problem": f"session {one.session_id} could not be judged"})
    return swept


def rules(settings: config.Settings) -> sweep.Rules:
    """What the settings want of a sweep."""
    from tether.agents import sweep

    return sweep.Rules(
        keep_heartbeats_days=settings.integer("sweep.keep_heartbeats_days"),
        keep_chatter_days=settings.integer("sweep.keep_chatter_days"),
    )


def write_stamp(place: workspace.Workspace, told: dict[str, Any]) -> None:
    from tether import files

    if not os.path.isdir(place.store_dir):
        files.make_directory_like(place.store_dir, like=place.common_dir)
    root = files.Root(place.store_dir, like=place.common_dir)
    root.write_atomic(STAMP, json.dumps(told).encode())


def last_problem(place: workspace.Workspace) -> str:
    """What kept the last sweep by the way from working; empty if nothing did."""
    path = os.path.join(place.store_dir, STAMP)
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
        return f"{STAMP} in the store directory is not a file"
    try:
        with open(path, "rb") as file:
            told = json.loads(file.read(4096))
        return str(told.get("problem", ""))
    except (OSError, ValueError, AttributeError, RecursionError):
        return ""
