"""A decision file with its front matter, and the texts in fields of any shape."""

from __future__ import annotations

from tether.hints import Any, NamedTuple
from tether.lineage.derive.decisions import saying
from tether.tasks import document

_MAX_CHARS = 32 * 1024
_MAX_WORDS = 300
_MAX_WORD_CHARS = 2000
_FIELDS = {
    "status": ("status",),
    "date": (
        "date",
        "decided",
        "decision_date",
        "accepted_at",
        "accepted",
        "created_at",
        "created",
    ),
    saying.SUPERSEDES: ("supersedes", "replaces"),
    saying.SUPERSEDED: ("superseded_by", "supersededby", "replaced_by"),
    saying.EXTENDS: ("amends", "extends", "refines"),
    saying.EXTENDED: ("amended_by", "extended_by", "refined_by"),
    saying.MOTIVATED: ("motivated_by", "task", "tasks", "issue", "issues", "ticket"),
    saying.RELATED: ("related", "related_tasks", "related_adrs", "related_decisions", "related_to"),
    "governs": ("governs", "paths", "applies_to", "scope", "affects", "files"),
}


class Source(NamedTuple):
    """A file, how ids of tasks are found in it, and the fields in front of its text."""

    path: str
    find: Any
    """`patterns.Finder.find`."""
    fields: dict[str, Any]

    def words(self, key: str) -> list[str]:
        """The texts in the first of the fields of that meaning."""
        known = {_plain(str(name)): name for name in self.fields}
        for name in _FIELDS[key]:
            if name in known and (found := words(self.fields[known[name]])):
                return found
        return []


def fields(front: str) -> dict[str, Any]:
    """What the YAML in front of a text says; line by line where it is none."""
    if not front or len(front) > _MAX_CHARS:
        return {}
    read = document.read(front.encode("utf-8", "replace"))
    if not read.problem:
        return read.fields
    pairs = (line.partition(":") for line in front.splitlines()[:200] if line[:1].isalpha())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon}


def words(value: object) -> list[str]:
    """The texts in a field, whatever its shape: `{ accepted }` is a mapping in YAML."""
    if isinstance(value, dict):
        keys = list(value)[:20]
        return _scalar(value["id"]) if "id" in value else [w for key in keys for w in _scalar(key)]
    if isinstance(value, list):
        return [word for each in value[:_MAX_WORDS] for word in _item(each)]
    return _scalar(value)


def _item(value: object) -> list[str]:
    if isinstance(value, dict):
        return _scalar(value.get("id", value.get("path", "")))
    return _scalar(value)


def _scalar(value: object) -> list[str]:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return []
    word = str(value).strip()[:_MAX_WORD_CHARS]
    return [word] if word else []


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")
