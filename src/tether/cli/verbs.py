"""Hot commands: described as data, parsed by hand, and given to click only for help and mistakes.

Importing click costs more than a hot command's whole work, and agents call these dozens of times
an hour. Whatever the hand parser does not know at once (help, typos, missing values) is click's,
which is built from the same description, so both take the same words.
"""

from __future__ import annotations

from collections.abc import Callable

from tether.cli import answers, context
from tether.hints import Any, NamedTuple

Values = dict[str, Any]


class Option(NamedTuple):
    """`--limit N`, or a flag if it has no metavar."""

    flag: str
    help: str
    metavar: str = ""
    default: str | int | None = None
    is_number: bool = False
    is_list: bool = False
    """May be given several times; the value is a list."""

    @property
    def name(self) -> str:
        return self.flag.lstrip("-").replace("-", "_")

    @property
    def initial(self) -> str | int | list[str] | None:
        """The value of a call that does not give it."""
        if self.is_list:
            return []
        return self.default if self.metavar else False


class Argument(NamedTuple):
    """A word that is not an option."""

    name: str
    help: str


class Verb(NamedTuple):
    """One hot command."""

    name: str
    help: str
    options: tuple[Option, ...]
    run: Callable[[context.Context, Values], answers.Answer]
    arguments: tuple[Argument, ...] = ()
    notes: str = ""
    """What its own help says on top."""
    takes_anything: bool = False
    """Whoever calls it cannot learn from an error: missing words are empty, more are left out."""


def verb_of(module: Any, name: str) -> Verb:
    """The verb that a module has under the last word of its name."""
    verb: Verb = module.VERB if hasattr(module, "VERB") else module.VERBS[name.rpartition(" ")[2]]
    return verb


JSON = Option("--json", "Print JSON for programs.")


def parse(verb: Verb, words: list[str]) -> Values | None:
    """The values of a call, or None if click should have a look at it."""
    options = {option.flag: option for option in (*verb.options, JSON)}
    values: Values = {option.name: option.initial for option in options.values()}
    positional: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            positional.append(word)
            continue
        flag, equals, value = word.partition("=")
        option = options.get(flag)
        if option is None and verb.takes_anything and flag not in ("-h", "--help"):
            continue
        if option is None or (equals and not option.metavar):
            return None
        if not option.metavar:
            values[option.name] = True
            continue
        found = _value(option, value if equals else next(rest, None))
        if found is None:
            return None
        if option.is_list:
            values[option.name].append(found)
        else:
            values[option.name] = found
    if verb.takes_anything:
        missing = len(verb.arguments) - len(positional)
        positional = [*positional, *[""] * missing][: len(verb.arguments)]
    if len(positional) != len(verb.arguments):
        return None
    return values | {a.name: word for a, word in zip(verb.arguments, positional, strict=True)}


def _value(option: Option, word: str | None) -> str | int | None:
    if word is None or not option.is_number:
        return word
    return number(word)


def number(word: str) -> int | None:
    """A whole number of at most 15 digits: no database's integer overflows."""
    return int(word) if word.isascii() and word.isdigit() and len(word) < 16 else None
