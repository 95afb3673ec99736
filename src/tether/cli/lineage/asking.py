"""How the questions of lineage are asked: what narrows them, what they have at hand, how they look.

The work is the room's; here words become nodes, and answers become pages.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import ParamSpec

import click

from tether import clock, errors, git, text
from tether.cli import answers, context
from tether.cli.lineage import chronicle
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from tether.lineage import chronicler, moments, naming, targets
    from tether.lineage.biography import model as story
    from tether.lineage.edges import model, view

T = TypeVar("T")
P = ParamSpec("P")
Names = dict[str, "naming.Name"]
Commits = dict[str, "story.Commit"]
UNTRUSTED = [
    *("title", "name", "place", "status", "detail", "pointer", "subject", "author"),
]


class Narrowed(NamedTuple):
    """What a question leaves out."""

    as_of: str
    min_confidence: float
    limit: int


class Asked(NamedTuple):
    """What a question has at hand while it is asked."""

    who: chronicler.Chronicler
    connection: sqlite3.Connection
    at: moments.Moment
    seen: view.View
    aim: targets.Aim
    now: Callable[[], AbstractContextManager[targets.Aim]]
    """Who finds what is there today."""

    def names(self, keys: Iterable[model.Key]) -> Names:
        """What nodes are called; how tasks and decisions stand is known of today alone."""
        from tether.lineage import naming

        found = naming.names(self.seen, keys)
        if not self.at.words:
            return found
        return {key: each._replace(status="") for key, each in found.items()}

    def code(self, words: str) -> targets.Target:
        """The code that words mean, by what it is called then or today."""
        from tether.lineage import naming

        try:
            return naming.code(self.connection, self.aim, words)
        except errors.NotFound as problem:
            return self._then(words, problem)

    def node(self, words: str) -> model.Key:
        """The one node that words mean, likewise."""
        from tether.lineage import naming

        try:
            return naming.node(self.seen, self.aim, words)
        except errors.NotFound as problem:
            return self._then(words, problem).key

    def _then(self, words: str, problem: errors.NotFound) -> targets.Target:
        """The code that is called so today, as it was; if there is none, the problem is raised."""
        from tether.lineage import naming

        if not self.at.words:
            raise problem
        try:
            with self.now() as aim:
                target = naming.code(self.connection, aim, words)
        except errors.TetherError:
            raise problem from None
        try:
            return self.aim.find(target.key or words)._replace(selector=words)
        except errors.NotFound:
            raise not_yet(words, self.at) from problem

    def commits(self, pointers: Iterable[str]) -> Commits:
        """What Git says of the commits that evidence points to, by their hashes."""
        from tether.lineage.biography import gathering

        oids = dict.fromkeys(
            git.Oid(each.removeprefix("commit:").partition("#")[0])
            for each in pointers
            if each.startswith("commit:")
        )
        return {str(oid): each for oid, each in gathering.commits_of(self.who.git, oids).items()}


def narrowing(limit: int, least: float = 0.5) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """The options that all questions have."""

    def options(command: Callable[P, T]) -> Callable[P, T]:
        for option in (
            click.option(
                "--limit",
                default=limit,
                show_default=True,
                metavar="N",
                type=click.IntRange(1, 100_000),
                help="At most this many.",
            ),
            click.option(
                "--min-confidence",
                default=least,
                show_default=True,
                metavar="SHARE",
                type=click.FloatRange(0, 1),
                help="What is less sure is left out.",
            ),
            chronicle.as_of_option,
        ):
            command = option(command)
        return command

    return options


def ask(call: context.Context, narrowed: Narrowed, question: Callable[[Asked], T]) -> T:
    """Bring forward what is little, and ask the index."""
    with chronicle.of(call) as who:
        tip = git.Git(call.workspace.place).resolve("HEAD")
        require_known(who, tip)
        return ask_of(call, who, tip, narrowed, question)


def ask_of(
    call: context.Context,
    who: chronicler.Chronicler,
    tip: git.Oid,
    narrowed: Narrowed,
    question: Callable[[Asked], T],
    *,
    with_wrong: bool = False,
) -> T:
    """Ask an index that knows a commit; `with_wrong` also of edges that were judged wrong."""
    wrong = frozenset() if with_wrong else who.wrong()
    below = chronicle.below(call.workspace.root)

    def asked(connection: sqlite3.Connection) -> T:
        at = chronicle.moment(who, connection, tip, narrowed.as_of)
        seen = chronicle.seen(who, connection, at, narrowed.min_confidence, wrong)
        with who.aimed(connection, at.commit, below) as aim:
            return question(
                Asked(who, connection, at, seen, aim, lambda: who.aimed(connection, tip, below))
            )

    return who.ask(asked)


def require_known(who: chronicler.Chronicler, tip: git.Oid) -> None:
    """Without an index that has the commit, no question about edges can be answered."""
    if not who.refresh(tip):
        raise unknown(who, tip)


def unknown(who: chronicler.Chronicler, tip: git.Oid) -> errors.NotFound:
    """What to say of a commit that the index does not have."""
    if not who.has_any():
        return errors.NotFound(
            "Nothing is indexed yet, so this cannot be answered.",
            hint="Make the index with `tether lineage rebuild`.",
        )
    return errors.NotFound(
        f"The index does not know commit {tip[:12]} yet, and there is more to read than a"
        " question waits for.",
        hint="Bring it up to date with `tether lineage rebuild`.",
    )


def not_yet(words: str, at: moments.Moment) -> errors.NotFound:
    """What to say of code that came later than the time that was asked about."""
    return errors.NotFound(
        f"{text.one_line(words, 200)} was not there yet{as_of(at)}.",
        hint="Ask without --as-of, or of a later time.",
    )


def selector_of(call: context.Context, words: str) -> str:
    """A selector as the room takes it: paths begin at the top of the checkout."""
    root = call.workspace.root
    return words.removeprefix(f"{root}/") if root else words


def day_of(words: str) -> str:
    """The beginning of a day, or a time, in UTC; empty if none is said."""
    if not words:
        return ""
    try:
        whole = f"{words}T00:00:00Z" if len(words) == 10 else words.replace(" ", "T", 1)
        return clock.text(clock.parse(whole))
    except (ValueError, OverflowError):
        raise errors.UsageError(
            f"{text.one_line(words, 40)} is no date. Nothing was changed.",
            hint="Write --since 2026-03-01.",
        ) from None


# Answers


class Page(NamedTuple):
    """What people read: a line of its own, and rows of columns below it."""

    lines: Callable[[int], list[str]]
    """For a terminal of that width."""
    source: str


def answer(call: context.Context, value: dict[str, Any], page: Page) -> answers.Answer:
    """An answer with words of others in it."""
    return answers.Answer(
        "",
        {**value, "untrusted": UNTRUSTED},
        lambda: answers.told(
            "\n".join(page.lines(shown.width())), source=page.source, for_agent=call.is_agent
        ),
        None
        if call.is_agent
        else lambda width: [[_styled(line, n)] for n, line in enumerate(page.lines(width))],
    )


def _styled(line: str, number: int) -> answers.Piece:
    is_heading = number == 0 or (line.endswith(":") and line[:1].isupper())
    return answers.Piece(line, "bold" if is_heading or line.startswith("EDGE ") else "")


def moment_value(at: moments.Moment) -> dict[str, Any] | None:
    """The time that was asked about, for programs; None if it is now."""
    if not at.words:
        return None
    return {"words": text.clean(at.words), "commit": at.commit, "at": at.at or None}


def at_least(min_confidence: float) -> str:
    """` at 0.96 or more`: said where nothing was found; nothing if no more than usual is asked."""
    from tether.lineage.edges import model

    is_usual = min_confidence <= model.DEFAULT_CONFIDENCE
    return "" if is_usual else f" at {min_confidence:g} or more"


def as_of(at: moments.Moment) -> str:
    """`, as of T1 (2026-03-01 09:30Z)`; nothing if it is now."""
    return f", as of {text.one_line(at.words, 80)} ({text.minute(at.at)})" if at.words else ""
