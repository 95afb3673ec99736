"""Sentences as people wrote them: without emphasis and links, and otherwise word for word."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tether import text
from tether.lineage.derive.decisions import layout

MAX_CHARS = 240
# A sentence is looked for in this much of a paragraph.
_WINDOW = 2000
_CODE = re.compile(r"`[^`\n]{1,300}`")
LINK = re.compile(
    r"\[((?:[^\[\]\\\n]|\\.){0,300})\]\(<?([^()\s<>]{1,400}(?:\([^()\s<>]{0,80}\)[^()\s<>]{0,80})?)>?"
    r"(?:[ ]{1,4}[\"'][^\"'\n]{0,200}[\"'])?\)"
)
_IMAGE = re.compile(
    r"!\[[^\[\]\n]{0,300}\](?:\([^()\s]{0,400}(?:\s{1,4}[\"'][^\"'\n]{0,200}[\"'])?\)|\[[^\[\]\n]{0,100}\])"
)
_REFERENCE = re.compile(r"\[([^\[\]\n]{1,300})\]\[[^\[\]\n]{0,100}\]|\[\^[^\[\]\s]{1,40}\]")
_TAG = re.compile(
    r"</?(?:a|abbr|b|br|code|div|em|i|img|kbd|p|s|small|span|strong|sub|sup|u)(?:\s[^<>\n]{0,200})?/?>",
    re.IGNORECASE,
)
_STRONG = re.compile(r"\*\*|~~")
# A name with underscores around it, as `__init__`, is no emphasis.
_UNDERLINED = re.compile(r"(?<!\w)__(?=[A-Z]|[^_\n]{1,200}\s)([^_\n]{1,300})__(?!\w)")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()<>#+.!|~-])")
_EMPHASIS = re.compile(r"(?<![\w*\\])[*_](?=[^\s*_])|(?<=[^\s*_])[*_](?![\w*])")
_END = re.compile(r"[.!?。！？][\"'”’)\]*_`]{0,4}(?=\s)|[。！？]")
_SHORT = frozenset(
    (
        "e.g", "i.e", "etc", "vs", "cf", "approx", "resp", "incl", "excl", "no", "nos", "fig",
        "figs", "sec", "ca", "al", "dr", "mr", "mrs", "ms", "st", "pp", "p", "viz",
    )
)  # fmt: skip
# `Chosen option: 3. Use both` is one sentence.
_NUMBER = re.compile(r"(?:^|[\"'“‘(:#]\s?|^.{0,3}\s)[0-9]{1,2}$")
_TO_FILL_IN = re.compile(r"\{[A-Za-z][^{}`]{2,200}\s[^{}`]{0,400}\}")
_TO_COME = frozenset(("tbd", "todo", "tba", "wip", "none"))
_BOX = re.compile(r"\[[ xX~-]\]\s{1,3}")
_OPEN_END = re.compile(r"(?::|,?\s(?:because|that|it|as follows|following))$")
_BEFORE_DOT = re.compile(r"[A-Za-z.]{1,12}$")


def plain(value: str) -> str:
    """A piece of Markdown without emphasis, links and images; code stays as it is written."""
    parts: list[str] = []
    done = 0
    value = _IMAGE.sub("", value)
    for code in _CODE.finditer(value):
        parts += _unmarked(value[done : code.start()]), code[0]
        done = code.end()
    return text.one_line("".join(parts) + _unmarked(value[done:]))


def _unmarked(value: str) -> str:
    value = _REFERENCE.sub(r"\1", LINK.sub(r"\1", value))
    value = _UNDERLINED.sub(r"\1", _TAG.sub("", value))
    return _ESCAPED.sub(r"\1", _EMPHASIS.sub("", _STRONG.sub("", value)))


def linked(value: str) -> str:
    """The same, if code may stand inside of links."""
    return plain(_REFERENCE.sub(r"\1", LINK.sub(r"\1", _IMAGE.sub("", value))))


def first(lines: Iterable[layout.Line]) -> str:
    """The first sentence that says something by itself, cut at a word if it is long."""
    for chunk in layout.chunks(lines):
        found = next(sentences(_BOX.sub("", chunk.text[:_WINDOW], count=1)), "")
        if _says_something(found):
            more = " …" if _OPEN_END.search(found[-16:]) else ""
            return cut(found + more)
    return ""


def _says_something(sentence: str) -> bool:
    """Not `We will:`, not a rule, not a sign that the rest is to be written."""
    words = sentence.split()
    if sentence.endswith(":") and len(words) < 5:
        return False
    if sentence.lower().strip(" .:!") in _TO_COME or is_to_fill_in(sentence):
        return False
    has_letters = sum(char.isalpha() for char in sentence[:80]) >= 3
    return has_letters and not (sentence[0] in "{<[" and sentence[-1] in "}>]")


def is_to_fill_in(value: str) -> bool:
    """Whether it is what a template has in place of words: `{title of option 1}`."""
    return _TO_FILL_IN.search(value) is not None


def cut(sentence: str, most: int = MAX_CHARS) -> str:
    """At most so many characters, ending with a whole word and `…` if there were more."""
    if len(sentence) <= most:
        return sentence
    kept = sentence[: most - 1]
    whole = kept.rpartition(" ")[0] if not sentence[most - 1].isspace() else kept
    return (whole or kept).rstrip(" ,;:–—-") + "…"


def sentences(value: str) -> Iterator[str]:
    """The sentences of a paragraph, plain."""
    value = linked(value)
    codes = [(each.start(), each.end()) for each in _CODE.finditer(value)]
    begin = 0
    at = 0
    for end in _END.finditer(value):
        while at < len(codes) and codes[at][1] <= end.start():
            at += 1
        in_code = at < len(codes) and codes[at][0] < end.start()
        if not in_code and _ends(value, end):
            if sentence := value[begin : end.end()].strip():
                yield sentence
            begin = end.end()
    if rest := value[begin:].strip():
        yield rest


def _ends(value: str, end: re.Match[str]) -> bool:
    """Whether a dot ends a sentence, and not an abbreviation or a number of a list."""
    after = value[end.end() : end.end() + 3].lstrip()
    if after[:1].islower():
        return False
    if value[end.start()] != ".":
        return True
    before = _BEFORE_DOT.search(value[max(0, end.start() - 12) : end.start()])
    word = before[0].lower() if before else ""
    if _NUMBER.search(value[max(0, end.start() - 12) : end.start()]):
        return False
    return word not in _SHORT and not (len(word) == 1 and word != "i" and before is not None)
