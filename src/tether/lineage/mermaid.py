"""A part of the graph as a diagram that Mermaid draws. Pure.

Names and titles are others' words: whatever they are, they end up inside a label, as letters,
digits and a few signs, or as numbers of characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tether import text
from tether.lineage import naming
from tether.lineage.edges import model, reading

_PLAIN = frozenset(" .,-_/")
_MAX_NAME, _MAX_TITLE = 80, 60
_SHAPES: dict[model.Kind, tuple[str, str]] = {
    "task": ("[", "]"),
    "decision": ("{{", "}}"),
}
_OF_CODE = ("(", ")")


def diagram(
    keys: Iterable[model.Key],
    edges: Iterable[reading.Edge],
    names: Mapping[model.Key, naming.Name],
    *,
    notes: Iterable[str] = (),
) -> str:
    """Nodes and edges as a flowchart; notes are told in front, where nobody draws them."""
    numbers = {key: number for number, key in enumerate(keys)}
    lines = ["flowchart LR", *(f"    %% {_flat(note)}" for note in notes)]
    for key, number in numbers.items():
        first, last = _SHAPES.get(names[key].kind, _OF_CODE)
        lines.append(f'    n{number}{first}"{_label(names[key])}"{last}')
    drawn = dict.fromkeys((each.subject, each.type, each.object) for each in edges)
    for subject, name, target in drawn:
        lines.append(f"    n{numbers[subject]} -->|{name}| n{numbers[target]}")
    return "\n".join(lines) + "\n"


def _label(name: naming.Name) -> str:
    title = text.one_line(name.title, _MAX_TITLE)
    return escaped(f"{text.one_line(name.label, _MAX_NAME)}{f': {title}' if title else ''}")


def escaped(words: str) -> str:
    """Words that nothing can break out of: other signs are written as their numbers."""
    return "".join(
        char if char.isalnum() or char in _PLAIN else f"#{ord(char)};"
        for char in text.one_line(words)
    )


def _flat(note: str) -> str:
    return "".join(char for char in text.one_line(note) if char.isalnum() or char in " .,-`")
