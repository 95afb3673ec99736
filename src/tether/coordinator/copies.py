"""A run's own copies of its plan: what its workers are told and what is run to verify them.

Criteria are executed as they stood when the run started, never as a worker has edited them since;
the log has the digest of the copy that counts.
"""

from __future__ import annotations

from tether import errors, files, workspace
from tether.coordinator.plans import model, reading
from tether.coordinator.state import Outlook, State

_DIRECTORY = "plans"
_MAX_BYTES = 64 * 1024 * 1024
_LOST = (errors.NotFound, errors.FileTooLarge, errors.LinkRefused, errors.OutsideRoot)


class PlanLost(errors.FileError):
    """The run's own copy of its plan is lost. Nothing was changed."""

    code = "plan_lost"
    hint = "Bring back the plan's file as it was when the run began; it is recognised."


def keep(root: files.Root, plan: model.Plan) -> str:
    """Keep a copy of a plan; its digest."""
    digest = reading.digest(plan)
    root.make_directories(_DIRECTORY)
    root.write_atomic(_name(digest), reading.encode(plan))
    return digest


def load(root: files.Root, place: workspace.Workspace, state: State, digest: str) -> Outlook:
    """The plan with this digest: the copy, or else the file if it still says the same."""
    return Outlook(_copy(root, digest) or _from_file(place, state, digest))


def _copy(root: files.Root, digest: str) -> model.Plan | None:
    """The copy; None if it is lost or damaged. A disk that fails is neither."""
    try:
        raw = root.read_bytes(_name(digest), _MAX_BYTES)
    except _LOST:
        return None
    try:
        return reading.decode(raw, digest)
    except errors.FileError:
        return None


def _from_file(place: workspace.Workspace, state: State, digest: str) -> model.Plan:
    try:
        plan, _ = reading.read(place.root or "", state.plan_file)
    except (*_LOST, errors.UsageError) as problem:
        raise PlanLost from problem
    if reading.digest(plan) != digest:
        raise PlanLost
    return plan


def _name(digest: str) -> str:
    return f"{_DIRECTORY}/{digest}.json"
