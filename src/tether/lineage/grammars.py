"""A language's parser and query, loaded once.

A pattern of a query finds one of these:

- `@class`, `@function`, `@method`, `@constant` or `@section`: a symbol, with its `@name` and
  perhaps `@parameters`, `@body`, `@documentation` inside of it, `@receiver` (what it belongs to but
  does not stand in) and `@also` (the names of others that it defines). A function right in a class
  is a method, and no constant is kept in a function or another constant.
- `@scope`: a type that is no symbol here, with its `@name` and perhaps `@as` (`<Type as Trait>`).
  `@anonymous`: a type that is known by another's name (`<Type>`). `@namespace`: only a name.
- `@wrapper` around `@wrapped`: a node that belongs to the definition in it, as `export` does.
- `@omitted`: no symbol, though a later pattern says so. The first pattern for a node counts.
- `@comment`, and `@annotation` for decorators and attributes.

Something captures all that a pattern is about, if nothing else then `@_root`: what is edited
elsewhere changes no match (`reading`).

`(#set! name "…")` names what has no name. With `(#set! level "…")` it goes on to the next of the
same level or a lower one, as sections of a document do.
"""

from __future__ import annotations

import functools
import importlib
import re
from importlib import resources

from tether.hints import TYPE_CHECKING, NamedTuple
from tether.lineage import installed, languages

if TYPE_CHECKING:
    import tree_sitter

KINDS = frozenset(("class", "function", "method", "constant", "section"))
SCOPES = frozenset(("scope", "anonymous", "namespace"))
_ROLES = frozenset(("comment", "annotation", "wrapper", "omitted", *KINDS, *SCOPES))


class Grammar(NamedTuple):
    """What parses a language and finds its symbols."""

    parser: tree_sitter.Parser
    cursor: tree_sitter.QueryCursor
    roles: tuple[str, ...]
    """What each pattern of the query finds."""
    names: tuple[str | None, ...]
    """What each pattern calls it, if it has no name of its own."""
    levels: tuple[str | None, ...]


@functools.cache
def load(language: languages.Language) -> Grammar:
    """The grammar of a language; an ImportError if it is not installed."""
    installed.require()
    import tree_sitter

    module = importlib.import_module(language.module)
    grammar = tree_sitter.Language(getattr(module, language.function)())
    text = _query_text(language)
    query = tree_sitter.Query(grammar, text)
    patterns = range(query.pattern_count)  # type: ignore[call-overload]  # no method, but a number
    settings = [query.pattern_settings(pattern) for pattern in patterns]
    return Grammar(
        tree_sitter.Parser(grammar),
        tree_sitter.QueryCursor(query),
        tuple([_role(query, text, pattern) for pattern in patterns]),
        tuple([each.get("name") for each in settings]),
        tuple([each.get("level") for each in settings]),
    )


def _query_text(language: languages.Language) -> str:
    folder = resources.files("tether.lineage").joinpath("queries")
    names = language.queries or (language.name,)
    # Patterns are found again by their bytes below, which are characters only in ASCII.
    return "\n".join(folder.joinpath(f"{name}.scm").read_text("ascii") for name in names)


def _role(query: tree_sitter.Query, text: str, pattern: int) -> str:
    """What a pattern finds, by the names that it gives."""
    own = text[query.start_byte_for_pattern(pattern) : query.end_byte_for_pattern(pattern)]
    (role,) = _ROLES & set(re.findall(r"@(\w+)", own))
    return role
