"""How a decision is called: by its file, and by the heading over it."""

from __future__ import annotations

import posixpath
import re

from tether import text
from tether.lineage.derive.decisions import layout, model, naming, places, prose, sources

_MAX_CHARS = 200
_MAX_NAME_CHARS = 100
_ID = re.compile(
    r"\[?(?:([A-Z]{1,8}(?:-[A-Z]{1,6})?|[Aa]dr|[Dd]ecision(?: [Rr]ecord)?)[- _#]{0,2})?([0-9]{1,5})"
    r"(?![0-9A-Za-z])\]?(?P<sign>\s{0,3}[:.|–—-]{1,2}(?=\s|$)|$)?\s{0,3}"
)
_KIND = re.compile(
    r"(?:architecture decision records?|architectural decision records?|adr|decision|title)"
    r"(?: \(adr\))?\s{0,3}[:–—-]\s{1,3}",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\((?:archived|superseded|deprecated|retired|rejected|accepted|draft|proposed)\)",
    re.IGNORECASE,
)
_DAY = re.compile(r"\[?[12][0-9]{3}-[01][0-9]-[0-3][0-9]\]?[:\s–—-]{1,5}")


def has_id(heading: str) -> bool:
    """Whether a heading begins as those of logs do: `ADR-012: …`."""
    found = _ID.match(prose.linked(heading))
    return found is not None and bool(found[1]) and found["sign"] is not None


def is_numbered(heading: str) -> bool:
    """Whether a heading begins with a number of its own: `5. Validation`, `ADR 5: Validation`."""
    found = _ID.match(prose.linked(heading))
    return found is not None and (bool(found[1]) or found["sign"] is not None)


def of(
    source: sources.Source, heading: layout.Part | None, parts: list[layout.Part], *, in_log: bool
) -> model.Decision:
    """How a decision is called and where it stands, and nothing else of it yet."""
    path = source.path
    known = places.FileId("", -1, "") if in_log else places.file_id(path)
    raw = prose.linked(heading.title) if heading else ""
    raw = "" if prose.is_to_fill_in(raw) else raw
    prefix, number, word, title = _split(raw, known, in_log=in_log)
    stem = posixpath.splitext(posixpath.basename(path))[0]
    anchor = naming.anchor_of(heading.title) if heading else ""
    name = f"{stem}#{word or anchor[:_MAX_NAME_CHARS]}" if in_log else known.word
    return model.Decision(
        name=name,
        id=word or known.word or name,
        title=text.one_line(title or (word if in_log else _other(source, parts)), _MAX_CHARS),
        status="",
        date="",
        path=path,
        line=heading.line if heading else 1,
        prefix=prefix,
        number=number,
        series=path if in_log else places.series(path),
        anchor=anchor,
    )


def _split(raw: str, known: places.FileId, *, in_log: bool) -> tuple[str, int, str, str]:
    """The prefix, number and id that a title begins with, and the rest of it.

    What the file is called counts more than its title, which people copy and edit.
    """
    day = _DAY.match(raw)
    bare = raw[day.end() :] if day else raw
    found = _ID.match(bare)
    if found is None or not _is_id(found, known, in_log=in_log):
        kind = _KIND.match(bare)
        return known.prefix, known.number, "", bare[kind.end() if kind else 0 :].strip()
    title = _STANDING.sub("", bare[found.end() :].strip()).lstrip(":–—- ")
    prefix = "decision" if (found[1] or "").lower().startswith("decision") else found[1] or ""
    is_other = known.number >= 0 and int(found[2]) != known.number
    if is_other or known.prefix or not prefix:
        return known.prefix, known.number, known.word if known.number >= 0 else "", title
    word = places.word(prefix, found[2])
    return places.word(prefix, "").rstrip("-").upper(), int(found[2]), word, title


def _is_id(found: re.Match[str], known: places.FileId, *, in_log: bool) -> bool:
    """`ADR-7: x` and, where the file says so, `7. x`; `3 ways` and `UTF-8 everywhere` are not."""
    has_sign = found["sign"] is not None
    if in_log or known.number < 0:
        return bool(found[1]) and has_sign
    return has_sign or (bool(found[1]) and int(found[2]) == known.number)


def _other(source: sources.Source, parts: list[layout.Part]) -> str:
    """The title in front matter or under a heading of that name; else the words of the file."""
    written = source.fields.get("title")
    if isinstance(written, str) and written.strip():
        return prose.linked(written)
    for part in parts:
        if part.key == "title" and part.lines:
            return prose.linked(part.lines[0].text)
    stem = posixpath.splitext(posixpath.basename(source.path))[0]
    rest = stem.lstrip("0123456789")
    if places.file_id(source.path).number >= 0 and rest == stem:
        rest = stem.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_ ")
        rest = rest.lstrip("0123456789")
    return " ".join(rest.replace("-", " ").replace("_", " ").split())
