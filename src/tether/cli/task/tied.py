"""What a task has to do with others, as far as the index knows: for who shows the task."""

from __future__ import annotations

from tether import ids, index, text
from tether.cli import context
from tether.hints import Any
from tether.lineage.edges import brief, model
from tether.store import sql


def edges(call: context.Context, key: ids.TaskKey) -> tuple[brief.Brief, ...]:
    """The edges of a task without those that somebody judged wrong; the index is read as it is."""
    node = model.task_key(key)
    known = index.Index(call.workspace.store_dir)
    found = brief.edges(known, call.workspace.root or "", node)
    known.close()
    if not found:
        return ()
    rows = call.store.rows(sql.Queries("lineage").judged_wrong, node=node)
    wrong = [(row["subject"], row["edge_type"], row["object"], row["deriver"]) for row in rows]
    return brief.without(found, wrong)


def value(found: tuple[brief.Brief, ...]) -> list[dict[str, Any]]:
    """For programs."""
    return [
        {
            "type": each.type,
            "other": text.clean(each.other),
            "confidence": each.confidence,
            "source": each.source,
            "at": each.at or None,
        }
        for each in found
    ]


def line(found: tuple[brief.Brief, ...]) -> str:
    """For people; empty if there are none."""
    return text.one_line(brief.line(found)) if found else ""
