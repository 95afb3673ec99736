"""`tether lineage same-as`: somebody declares that two pieces of code are one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from tether import errors, files, git, text
from tether.cli import answers, cold, context
from tether.cli.lineage import asking, chronicle, wording
from tether.cli.task import shown
from tether.hints import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tether.lineage import targets

_FILE = "lineage.yaml"
_LOCK = "lineage.lock"


class _Side(NamedTuple):
    """One of the two."""

    target: targets.Target
    words: str
    """As it is written."""


class _Pair(NamedTuple):
    before: _Side
    after: _Side
    is_said: bool


@click.command("same-as")
@click.argument("old")
@click.argument("new")
@click.option("--why", default="", metavar="TEXT", help="Why, for who reads it later.")
@cold.answering
@cold.pass_call
def same_as(call: context.Context, old: str, new: str, why: str) -> answers.Answer:
    """Declare that NEW is what OLD was before: its story begins with that of OLD.

    For what no comparison can see, as code that was written anew in another language. It is written
    into work/lineage.yaml, which travels with the repository; what stands there is left as it is.
    """
    chronicle.require_store(call)
    call.store.ensure_writable()
    path = f"{call.work.root}/{_FILE}"
    with chronicle.of(call) as who:
        tip = git.Git(call.workspace.place).resolve("HEAD")
        asking.require_known(who, tip)
        narrowed = asking.Narrowed("", 0.0, 100)
        pair = asking.ask_of(
            call, who, tip, narrowed, lambda asked: _pair(call, asked, old, new, path)
        )
        if not pair.is_said:
            _write(call, path, pair, why)
        is_known = who.refresh(tip) and asking.ask_of(
            call, who, tip, narrowed, lambda asked: _is_said(asked, pair.before, pair.after)
        )
    return _answer(call, pair, path, is_known)


def _pair(call: context.Context, asked: asking.Asked, old: str, new: str, path: str) -> _Pair:
    from tether.lineage import declaring

    before, after = _side(call, asked, old), _side(call, asked, new)
    if before.target.key == after.target.key:
        raise errors.UsageError(
            "Both are the same already: the index follows them as one. Nothing was changed.",
            hint="`tether lineage history` shows what became of it.",
        )
    if (before.target.kind == "file") != (after.target.kind == "file"):
        raise errors.UsageError(
            "One of them is a file and the other one is not. Nothing was changed.",
            hint="Name two files, or two symbols as PATH#name.",
        )
    if declaring.leads(_declared(asked, before.target.key), after.target.key, before.target.key):
        raise declaring.circle(path)
    return _Pair(before, after, _is_said(asked, before, after))


def _side(call: context.Context, asked: asking.Asked, words: str) -> _Side:
    from tether.lineage import declaring, naming
    from tether.lineage.derive import ground

    target = naming.code(asked.connection, asked.aim, asking.selector_of(call, words))
    if target.kind == "dir" or target.fallback:
        why = target.fallback or "it is a directory"
        raise errors.UsageError(
            f"{text.one_line(words, 200)} cannot be declared: {why}. Nothing was changed.",
            hint="Name a file or a symbol, as PATH#name.",
        )
    standing = ground.Ground(asked.connection, asked.aim.line.number)
    return _Side(target, declaring.words_of(standing, target))


def _is_said(asked: asking.Asked, before: _Side, after: _Side) -> bool:
    from tether.lineage.edges import reading

    known = reading.around(asked.seen, after.target.key, types=["same_as"], limit=1000)
    return any(each.other == before.target.key for each in known.sides)


def _declared(asked: asking.Asked, key: str) -> Iterator[tuple[str, str]]:
    """All pairs that say what a piece of code was before, and that before."""
    from tether.lineage.edges import reading

    seen, waiting = {key}, [key]
    while waiting:
        after = waiting.pop()
        known = reading.around(asked.seen, after, types=["same_as"], limit=1000)
        for each in known.sides:
            yield each.other, after
            if each.other not in seen:
                seen.add(each.other)
                waiting.append(each.other)


def _write(call: context.Context, path: str, pair: _Pair, why: str) -> None:
    """Add the entry; nobody else adds one meanwhile."""
    from tether.lineage import declaring
    from tether.tasks import document

    lock = files.Lock(os.path.join(call.workspace.store_dir, _LOCK), "declare")
    lock.acquire()
    try:
        try:
            raw = call.work.files.read_bytes(path, document.MAX_BYTES)
        except errors.NotFound:
            raw = b""
        edited = declaring.same_as(
            raw, path, pair.before.words, pair.after.words, text.one_line(why, 1000)
        )
        call.work.files.make_directories(call.work.root)
        call.work.write(path, edited)
    finally:
        lock.release()


def _answer(call: context.Context, pair: _Pair, path: str, is_known: bool) -> answers.Answer:
    from tether.lineage import declaring

    value: dict[str, Any] = {
        "old": declaring.value(pair.before.target, pair.before.words),
        "new": declaring.value(pair.after.target, pair.after.words),
        "path": path,
        "repeat": pair.is_said,
        "known": is_known,
        "untrusted": ["name", "place", "written"],
    }
    sides = [
        wording.code(each.target.name, each.target.place) for each in (pair.after, pair.before)
    ]
    gone = ", which is gone" if pair.before.target.is_gone else ""
    already = "already " if pair.is_said else ""
    lines = [f"{sides[0]} is {already}declared to be what {_small(sides[1])}{gone} was before."]
    if not pair.is_said:
        lines.append(f"It stands in {path}: commit that to tell all clones.")
    if not is_known:
        lines.append("The index follows with the next `tether lineage rebuild`.")
    return answers.Answer(
        "same_as",
        value,
        lambda: answers.told("\n".join(lines), source="same-as", for_agent=call.is_agent),
        None if call.is_agent else shown.fitted(lines, ""),
    )


def _small(words: str) -> str:
    return f"{words[:1].lower()}{words[1:]}"
