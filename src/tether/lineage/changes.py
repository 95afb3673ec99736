"""Which kinds of change lie between two versions of one symbol."""

from __future__ import annotations

from tether.lineage import history, sources


def kinds(
    before: sources.Source, old: int, after: sources.Source, new: int
) -> tuple[history.ChangeKind, ...]:
    """What differs between a symbol before and after; nothing if it is the same at the same place."""
    was, now = before.symbols[old], after.symbols[new]
    found: list[history.ChangeKind] = []
    if before.path != after.path:
        found.append("move")
    if was.name != now.name:
        found.append("rename")
    if was.container != now.container:
        found.append("container")
    if before.own_text(old) != after.own_text(new):
        found += _of_text(before, old, after, new)
    return tuple(found)


def _of_text(
    before: sources.Source, old: int, after: sources.Source, new: int
) -> list[history.ChangeKind]:
    found: list[history.ChangeKind] = []
    heads = before.head(old), after.head(new)
    bodies = before.body(old), after.body(new)
    # What lies between the symbols inside a class has no layout of its own.
    is_whole = after.symbols[new].kind not in ("class", "section")
    layout = False
    if heads[0] != heads[1]:
        layout = sources.without_layout(heads[0]) == sources.without_layout(heads[1])
        found += [] if layout else ["signature"]
    if bodies[0] != bodies[1]:
        is_layout = sources.without_layout(bodies[0]) == sources.without_layout(bodies[1])
        layout = layout or is_layout
        found += [] if is_layout else ["body"]
    if before.annotations(old) != after.annotations(new):
        found.append("annotation")
    if before.documentation(old) != after.documentation(new):
        found.append("documentation")
    if is_whole and (layout or not found) and before.symbols[old].name == after.symbols[new].name:
        found.append("formatting")
    return found
