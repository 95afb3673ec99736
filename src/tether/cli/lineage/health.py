"""What `tether doctor` says of the parser: is it here, and which files are skipped?"""

from __future__ import annotations

from tether import text
from tether.hints import Any, Literal
from tether.lineage import installed, languages, quarantine

Said = tuple[Literal["ok", "warn", "fail"], str, str]
"""Grade, message and hint."""
_MAX_NAMED = 10


def grammars() -> Said:
    if found := installed.problem():
        is_there = installed.version() is not None
        # Who does not ask for symbols needs no parser.
        return ("fail" if is_there else "ok"), found, installed.HINT
    if missing := installed.missing():
        said = f"The grammars of {', '.join(missing)} are not installed."
        return "warn", said, installed.HINT
    return "ok", f"tree-sitter {installed.version()}, {len(languages.LANGUAGES)} languages", ""


def skipped(store_dir: str) -> list[quarantine.Blamed]:
    """The files that the grammars of today are not tried on."""
    current = {languages.version_of(each) for each in languages.LANGUAGES}
    found = quarantine.Quarantine(store_dir).all()
    return [each for each in found if each.version in current]


def told(found: list[quarantine.Blamed]) -> Said:
    named = "; ".join(_described(each) for each in found[:_MAX_NAMED])
    more = f"; and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
    said = f"{text.counted(len(found), 'file')} skipped, because grammars failed: {named}{more}."
    return "warn", said, "`tether reindex` has them tried again."


def value(each: quarantine.Blamed) -> dict[str, Any]:
    """For programs."""
    kept = {name: text.clean(item) for name, item in each._asdict().items()}
    return {**kept, "language": each.language}


def _described(each: quarantine.Blamed) -> str:
    where = f" {text.one_line(each.path, 80)}" if each.path else ""
    return f"{each.blob[:12]}{where} ({each.language}) {each.why} at {text.minute(each.at)}"
