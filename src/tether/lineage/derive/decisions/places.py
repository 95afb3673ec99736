"""Which files hold decisions, and how a decision is called after its file. By the path alone."""

from __future__ import annotations

import posixpath
import re

from tether.hints import NamedTuple

_MARKDOWN = (".md", ".markdown", ".mdx")
# Where every Markdown file is taken for a decision, however deep.
_HOMES = frozenset(
    (
        "adr", "adrs", "decision-records", "decision_records", "architecture-decisions",
        "architecture_decisions", "architectural-decisions", "architecture-decision-records",
    )
)  # fmt: skip
_DOCUMENTS = frozenset(("doc", "docs", "documentation"))
_FOREIGN = frozenset(
    (
        ".git", "node_modules", "vendor", "third_party", "third-party", "site-packages", "dist",
        "template", "templates", "_template", "_templates", "fixtures", "__fixtures__", "testdata",
    )
)  # fmt: skip
_NONE = frozenset(
    (
        "readme", "index", "toc", "template", "templates", "summary", "overview", "contributing",
        "changelog", "license", "about", "glossary", "guide", "guidelines", "process",
    )
)  # fmt: skip
# Directories that say how a decision stands: it moves from one to the other.
_STANDINGS = frozenset(
    (
        "accepted", "approved", "active", "proposed", "draft", "drafts", "rejected", "withdrawn",
        "deprecated", "retired", "superseded", "archive", "archived", "_archive", "_archived",
    )
)  # fmt: skip
# What files are called in a directory that has the number of a decision.
_BODIES = frozenset(("body", "adr", "decision"))
_RECORDS = ("adr.yaml", "adr.yml", "decision.yaml", "decision.yml")
_LOG = re.compile(
    r"(?:[0-9]{1,3}[-_ ]?)?(?:[a-z]{1,20}[-_])?"
    r"(?:decisions|decision[-_]?logs?|adrs?|adr[-_]logs?|adr[-_]records)"
)
_ADR = re.compile(r"adr[-_ ]?[0-9]")
_WORDS = re.compile(r"[a-z]+")
_OF_TEMPLATES = frozenset(
    (
        "a", "adr", "an", "bare", "decision", "example", "full", "long", "madr", "minimal",
        "nygard", "of", "record", "short", "simple", "the",
    )
)  # fmt: skip
# A day is no number of a decision.
_FILE_ID = re.compile(
    r"(?:([A-Z]{1,6}(?:-[A-Z]{1,6})?|[Aa]drs?|[Dd]ecision|dec|madr|rfc)[-_ ]?)?"
    r"([0-9]{1,5})(?![0-9A-Za-z]|[-_][0-9]{2}[-_][0-9]{2})"
)


class FileId(NamedTuple):
    """How a file is called: `ADR` and 7 of `adr-007-queues.md`."""

    prefix: str
    number: int
    """-1 if it has none."""
    word: str
    """`ADR-007`; of a file without a number, its name."""


def is_decision_file(path: str) -> bool:
    """Whether a file is likely to hold decisions; what it says has the last word."""
    *folders, name = path.split("/")
    lower = [each.lower() for each in folders]
    stem, suffix = posixpath.splitext(name.lower())
    if not _FOREIGN.isdisjoint(lower) or stem.startswith(("_", ".")):
        return False
    if name.lower() in _RECORDS:
        return bool(folders) and _file_id(folders[-1]).number >= 0
    if suffix not in _MARKDOWN or stem in _NONE or _is_template(stem):
        return False
    if _ADR.match(stem) or _LOG.fullmatch(stem) or not _HOMES.isdisjoint(lower):
        return True
    if "decisions" not in lower:
        return False
    return lower[-1] == "decisions" or not _DOCUMENTS.isdisjoint(lower)


def is_record(path: str) -> bool:
    """Whether a file has the fields of a decision whose text stands beside it."""
    return posixpath.basename(path).lower() in _RECORDS


def is_log(path: str) -> bool:
    """Whether a file is called as those are that hold many decisions."""
    stem = _stem(path)
    in_numbered = stem.lower() in _BODIES and _file_id(_folder(path)).number >= 0
    return not in_numbered and _LOG.fullmatch(stem.lower()) is not None


def file_id(path: str) -> FileId:
    """How the decision in a file is called, by the file or by a directory of its own."""
    stem = _stem(path)
    around = _file_id(_folder(path))
    return around if stem.lower() in _BODIES and around.number >= 0 else _file_id(stem)


def series(path: str) -> str:
    """The directory whose decisions are numbered together."""
    folders = posixpath.dirname(path).split("/")
    if _stem(path).lower() in _BODIES and _file_id(folders[-1]).number >= 0:
        folders.pop()
    while folders and folders[-1].lower() in _STANDINGS:
        folders.pop()
    return "/".join(folders)


def word(prefix: str, digits: str) -> str:
    """An id as people cite it: `ADR-007`, `0021`, `decision-1`."""
    if not prefix:
        return digits
    prefix = prefix.lower() if prefix.lower() == "decision" else prefix.upper()
    return f"{'ADR' if prefix == 'ADRS' else prefix}-{digits}"


def _file_id(stem: str) -> FileId:
    found = _FILE_ID.match(stem)
    if found is None:
        return FileId("", -1, stem)
    prefix = word(found[1] or "", "").rstrip("-").upper()
    return FileId(prefix, int(found[2]), word(found[1] or "", found[2]))


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _folder(path: str) -> str:
    return posixpath.basename(posixpath.dirname(path))


def _is_template(stem: str) -> bool:
    """`0000-adr-template` is one, `0012-template-engine` is not."""
    words = set(_WORDS.findall(stem))
    return bool(words & {"template", "templates"}) and words <= _OF_TEMPLATES | {
        "template",
        "templates",
    }


def is_log_series(series_: str) -> bool:
    """Whether a series is the file of a log, and no directory."""
    return series_.lower().endswith(_MARKDOWN)
