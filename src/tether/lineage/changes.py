"""Which kinds of change lie between two versions of one symbol."""

from __future__ import annotations

from tether.lineage import history, sources


def kinds(
    before: sources.Source,
    old: int,
    after: sources.Source,
    new: int,
    *,
    keeps_container: bool,
) -> tuple[history.ChangeKind, ...]:
    """What differs between a symbol before and after; nothing if all is the same.

    If what it stands in only got another name, that is a change of that.
    """
    was, now = before.symbols[old], after.symbols[new]
    found: list[history.ChangeKind] = []
    if before.path != after.path:
        found.append("move")
    if was.name != now.name:
        found.append("rename")
    if was.container != now.container and not keeps_container:
        found.append("container")
    if before.own_text(old) != after.own_text(new):
        found += _of_text(before, old, after, new)
    return tuple(found)


def _of_text(
    before: sources.Source, old: int, after: sources.Source, new: int
) -> list[history.ChangeKind]:
    parts: tuple[tuple[history.ChangeKind, bytes, bytes], ...] = (
        ("signature", before.head(old), after.head(new)),
        ("body", before.body(old), after.body(new)),
        ("annotation", before.annotations(old), after.annotations(new)),
        ("documentation", before.documentation(old), after.documentation(new)),
        ("comment", before.comments(old), after.comments(new)),
    )
    found = [kind for kind, was, now in parts if was != now]
    # What lies between the symbols inside a class has no layout of its own.
    is_whole = after.symbols[new].kind not in ("class", "section")
    # Methods that stand outside of their class have its name, which may be another now.
    is_said_so = before.declaration(old) == after.declaration(new)
    return ["formatting"] if not found and is_whole and is_said_so else found
