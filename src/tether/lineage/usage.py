"""How often stories are shown and opened: what nobody reads is not worth keeping."""

from __future__ import annotations

from tether import errors
from tether.hints import NamedTuple
from tether.store import port, sql

_SQL = sql.Queries("lineage")
SHOWN, EXPANDED = "shown", "expanded"


class Used(NamedTuple):
    """How often something was done on a day."""

    day: str
    what: str
    times: int


def count(store: port.Store, what: str, times: int = 1) -> bool:
    """Count something; False where nothing can be written, which never spoils an answer."""
    if not store.exists():
        return False
    try:
        store.write(
            "count what lineage shows",
            lambda transaction: transaction.rows(_SQL.count_up, what=what, times=times),
        )
    except (errors.StoreError, errors.FileError):
        return False
    return True


def read(store: port.Store) -> list[Used]:
    """Everything that was counted, oldest first."""
    if not store.exists():
        return []
    return [Used(row["day"], row["what"], row["times"]) for row in store.rows(_SQL.used)]
