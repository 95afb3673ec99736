"""Writes into `work/lineage.yaml` that two pieces of code are one. Pure: texts in, texts out.

Everything that stands there stays as it is, byte for byte; where that cannot be, nothing is written
and a person has to do it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tether import errors, text
from tether.hints import Any
from tether.lineage import targets
from tether.lineage.derive import ground, references
from tether.tasks import document, scalars, splicing

_FIELD = "same_as"
_NOTHING = re.compile(rb"\[\s*\]|~|null|")


def words_of(standing: ground.Ground, target: targets.Target) -> str:
    """What names a piece of code in the file: where it stands, or what it was born as."""
    if target.is_gone:
        return target.key
    words = target.path
    if target.kind == "symbol":
        words = f"{target.path}#{target.name.partition(' ')[2]}"
    for said in (words, f"file:{words}"):
        if _named(standing, said) == target.key:
            return said
    return target.key


def _named(standing: ground.Ground, words: str) -> str:
    """The node that words mean to whoever reads the file."""
    found = references.reference(words)
    if not isinstance(found, references.Code):
        return ""
    node = standing.symbol(*found) if found.name else standing.file(found.path)
    return node.key if node is not None else ""


def same_as(raw: bytes, path: str, before: str, after: str, why: str) -> bytes:
    """The file with one more entry; without a file `raw` is empty."""
    entry = {"from": before, "to": after} | ({"why": text.storable(why)} if why else {})
    read = document.read(raw)
    if read.problem and not _is_blank(raw):
        where = f", line {read.line}" if read.line else ""
        raise errors.TaskUneditable(
            f"{path} cannot be read: {read.problem}{where}. Nothing was changed.",
            hint="Mend it, then repeat the command.",
        )
    if not read.fields:
        if not _is_blank(raw):
            raise _uneditable(path)
        return _begun(raw, entry)
    known = read.fields.get(_FIELD)
    if known is not None and not isinstance(known, list):
        raise _uneditable(path)
    if leads(_pairs(known or ()), after, before):
        raise circle(path)
    try:
        edited = splicing.edit(read, {_FIELD: [*(known or ()), entry]})
    except errors.TaskUneditable as problem:
        raise _uneditable(path) from problem
    if not _is_kept(raw, edited):
        raise _uneditable(path)
    return edited


def leads(pairs: Iterable[tuple[str, str]], before: str, after: str) -> bool:
    """Whether declarations say, one after the other, that something was another one before."""
    heirs: dict[str, list[str]] = {}
    for old, new in pairs:
        heirs.setdefault(old, []).append(new)
    seen, waiting = {before}, [before]
    while waiting:
        for each in heirs.get(waiting.pop(), ()):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return after in seen


def circle(path: str) -> errors.NotAllowed:
    return errors.NotAllowed(
        "The other way round is declared already. Each would be what the other one was before."
        " Nothing was changed.",
        hint=f"Take what says so out of the list `{_FIELD}` in {path} first, if it is wrong.",
    )


def _pairs(entries: Iterable[object]) -> Iterator[tuple[str, str]]:
    """What is declared of code as it is now, in the words that name it."""
    for each in entries:
        if isinstance(each, dict) and {"from", "to"} <= each.keys() and "at" not in each:
            yield str(each["from"]), str(each["to"])


def _is_blank(raw: bytes) -> bool:
    """Has a file nothing but comments?"""
    try:
        lines = raw.decode().removeprefix("\ufeff").split("\n")
    except UnicodeDecodeError:
        return False
    return all(not line.strip() or line.lstrip().startswith("#") for line in lines)


def _begun(raw: bytes, entry: dict[str, str]) -> bytes:
    gap = b"" if not raw or raw.endswith(b"\n") else b"\n"
    return raw + gap + scalars.entry(_FIELD, [entry]).encode()


def _is_kept(old: bytes, new: bytes) -> bool:
    """Is all that stood there in its place? An empty list may give way to one with an entry."""
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    return _NOTHING.fullmatch(old[first : len(old) - last].strip()) is not None


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _uneditable(path: str) -> errors.TaskUneditable:
    return errors.TaskUneditable(
        f"{path} is written in a way that cannot be edited safely. Nothing was changed.",
        hint="Add the entry to the list `same_as` by hand: {from: …, to: …}.",
    )


def value(target: targets.Target, words: str) -> dict[str, Any]:
    """One side of the declaration, for programs."""
    return {
        "written": words,
        "node": target.key,
        "name": text.clean(target.name),
        "place": text.clean(target.place),
        "gone": target.is_gone,
    }
