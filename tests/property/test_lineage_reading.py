"""A file that is read by what is known of the one before is read as if by itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from tests import scale
from tests.figures import Figures
from tether.lineage import edits, languages, reading

FIXTURES = Path(__file__).parents[1] / "unit" / "lineage" / "fixtures"
NAMES = [language.name for language in languages.LANGUAGES]
Chances = random.Random

lines = st.sampled_from((b"", b"a", b"bb", b"c c", b"}", b"\r", b"\xff\xfe", b"x" * 90))
texts = st.lists(lines, max_size=40).map(b"\n".join)


def made(old: bytes, new: bytes, found: list[edits.Edit]) -> bytes:
    """What edits make of the old text, if all that they leave alone is the same in the new one."""
    kept, at, new_at = [], 0, 0
    for each in [*found, edits.Edit(len(old), len(old), len(new), len(new))]:
        assert at <= each.start <= each.end
        assert old[at : each.start] == new[new_at : each.new_start]
        kept += [old[at : each.start], new[each.new_start : each.new_end]]
        at, new_at = each.end, each.new_end
    return b"".join(kept)


@hypothesis.settings(max_examples=scale.count(20_000, 400), derandomize=True)
@hypothesis.given(texts, texts)
def test_edits_make_the_new_text_of_the_old_one(old: bytes, new: bytes) -> None:
    assert made(old, new, edits.between(old, new)) == new


@hypothesis.settings(max_examples=scale.count(20_000, 400), derandomize=True)
@hypothesis.given(st.sampled_from(NAMES), st.integers(0, 2**32))
def test_what_a_text_keeps_is_in_no_edit(name: str, seed: int) -> None:
    old = fixture(name)
    new = changed(old, Chances(seed))
    found = edits.between(old, new)
    assert made(old, new, found) == new
    assert bool(found) == (old != new)
    assert all(each.start < each.end or each.new_start < each.new_end for each in found)


def fixture(name: str) -> bytes:
    """A file of a language, long enough that its lines are looked at one by one."""
    return (FIXTURES / f"sample{languages.BY_NAME[name].suffixes[0]}.txt").read_bytes()


def changed(source: bytes, chances: Chances) -> bytes:
    """A file after one to four small changes, as people and merges make them."""
    rows = source.split(b"\n")
    for _ in range(chances.randint(1, 4)):
        at, other = chances.randrange(len(rows)), chances.randrange(len(rows))
        words = rows[at].split(b" ")
        match chances.randrange(7):
            case 0:
                del rows[at : at + chances.randint(1, 3)]
                rows = rows or [b""]
            case 1:
                rows[at:at] = rows[other : other + chances.randint(1, 6)]
            case 2:
                rows[at], rows[other] = rows[other], rows[at]
            case 3:
                words[chances.randrange(len(words))] = chances.choice((b"", b"bell", b"42", b"#"))
                rows[at] = b" ".join(words)
            case 4:
                rows[at] = chances.choice((b"  ", b"\t", b"")) + rows[at].lstrip()
            case 5:
                rows[at : at + 1] = [b" ".join(words[:2]), b" ".join(words[2:])]
            case _:
                first, last = sorted((at, other))
                rows[first:last] = rows[first:last][::-1][: chances.randint(0, 5)]
    return b"\n".join(rows)


def faults(name: str, seed: int, versions: int) -> Iterator[str]:
    """Where versions of a file are read otherwise by a reader who knows those before."""
    language, chances = languages.BY_NAME[name], Chances(seed)
    reader, source = reading.Reader(), fixture(name)
    for number in range(versions):
        if reader.read(language, source) != reading.read(language, source):
            yield f"{name}, seed {seed}, version {number}"
        # From here or from the whole file again, because what is broken is not built upon.
        source = changed(chances.choice((source, source, fixture(name))), chances)


def found(names: Iterable[str], seeds: int, versions: int = 12) -> list[str]:
    return [
        fault for name in names for seed in range(seeds) for fault in faults(name, seed, versions)
    ]


@pytest.mark.proof(room="lineage")
def test_versions_of_a_file_are_read_as_if_each_were_the_first(figures: Figures) -> None:
    seeds, versions = scale.count(200, 4), 12
    wrong = found(NAMES, seeds, versions)
    assert not wrong, "\n".join(wrong)
    count = len(NAMES) * seeds * versions
    figures.add("versions of files read by those before", versions=count, differences=0)


Wrong = Callable[[bytes, bytes], list[edits.Edit]]


def _without_the_last(old: bytes, new: bytes) -> list[edits.Edit]:
    return _between(old, new)[:-1]


def _too_late(old: bytes, new: bytes) -> list[edits.Edit]:
    return [each._replace(start=min(each.start + 9, each.end)) for each in _between(old, new)]


_between = edits.between


@pytest.mark.parametrize("wrong", [_without_the_last, _too_late])
def test_an_edit_that_is_wrong_is_noticed(wrong: Wrong, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edits, "between", wrong)
    assert found(NAMES, 2)


def test_a_match_that_is_kept_in_vain_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_kept", lambda matches, *_: iter(matches))
    assert found(NAMES, 1)


def test_a_match_that_is_not_looked_for_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_in_ranges", lambda *_: iter(()))
    assert found(NAMES, 1)
