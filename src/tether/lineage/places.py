"""From a symbol in a file to what is told of it."""

from __future__ import annotations

from tether.lineage import history, sources


def place(source: sources.Source, number: int) -> history.Place:
    symbol = source.symbols[number]
    return history.Place(
        source.path,
        symbol.kind,
        symbol.name,
        symbol.qualified,
        symbol.signature,
        symbol.ordinal,
        symbol.line,
        symbol.end_line,
    )
