"""What the content of a file says, whatever list it is part of. Pure."""

from __future__ import annotations

from tether.tasks.sources import backlog, beads, checkboxes, dialects, model


def parse(source: str, path: str, content: bytes) -> model.Listing:
    """What a file says. What is no UTF-8 is read as far as it is."""
    text = content.decode("utf-8", "replace")
    if source == dialects.BEADS:
        return beads.parse(text, path)
    if source == dialects.BACKLOG:
        return backlog.parse(text, path)
    return checkboxes.parse(text, dialects.CHECKBOXES[source], path)
