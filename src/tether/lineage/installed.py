"""Whether the parser is here and is one that can be used."""

from __future__ import annotations

from tether import errors
from tether.lineage import languages, packages

# Its nodes free what they do not own: reading positions ends the process (py-tree-sitter #472).
_CRASHING = ("0.26.0",)
HINT = "Install Tether with its extra, in a clone: pip install '.[lineage]'"


def version() -> str | None:
    """The version of the parser; None if it is not installed."""
    return packages.version("tree-sitter") or None


def problem() -> str:
    """Why no symbols can be found here; empty if they can."""
    found = version()
    if found is None:
        return "Finding symbols needs the package tree-sitter and its grammars."
    if found in _CRASHING:
        return f"tree-sitter {found} crashes when positions are read, so it is not used."
    return ""


def require() -> None:
    """Refuse to go on without a parser that works."""
    if found := problem():
        raise errors.ExtraMissing(found, hint=HINT)


def missing() -> list[str]:
    """The languages whose grammars are not installed."""
    return [each.name for each in languages.LANGUAGES if not languages.version_of(each)]
