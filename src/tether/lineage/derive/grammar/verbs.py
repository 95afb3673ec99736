"""The verbs by which tasks speak of one another, in all their forms. Pure.

What a verb is bound to is not decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tether.hints import Literal, NamedTuple
from tether.lineage.derive.grammar import vocabulary
from tether.lineage.derive.grammar.vocabulary import ID

Form = Literal["base", "s", "ed", "ing", "participle", "noun"]
_FORMS: tuple[Form, ...] = ("base", "s", "ed", "ing", "participle")


class Verb(NamedTuple):
    """A verb where it stands in a statement."""

    type: str
    form: Form
    is_passive: bool
    start: int
    end: int
    """Where that begins to which it may be bound."""
    is_source: bool = False
    """`found in`, `came out of`: says where something comes from, and has no active voice."""


class _Entry(NamedTuple):
    type: str
    form: Form
    particles: tuple[tuple[str, ...], ...]
    """One of them follows; none if there are none."""
    agents: frozenset[str]
    """What stands before who did it, in the passive voice."""


# type: base, third person, past, gerund, participle if it is another | particles | before an agent
_TABLE = """
supersedes: supersede supersedes superseded superseding | | by in with through
supersedes: replace replaces replaced replacing | | by with in
supersedes: - obsoletes obsoleted obsoleting | | by in with
reverts: revert reverts reverted reverting | | by in with through
reverts: undo undoes undid undoing undone | | by in with
reverts: roll rolls rolled rolling | back | by in with
reverts: back backs backed backing | out | by in with
extends: extend extends extended extending | | by in with
extends: - - - - followed | up | by in with
extends: build builds built building | on top of, upon, on | by
extends: follow follows followed following | up on, up to | by in with
extends: continue continues continued continuing | the work on, work on, where | by in with
extends: continue continues continued continuing | | by in with
contradicts: contradict contradicts contradicted contradicting | | by
contradicts: conflict conflicts conflicted conflicting | with | by
motivates: motivate motivates motivated motivating | | by
motivates: trigger triggers triggered triggering | | by
motivates: prompt prompts prompted prompting | | by
motivates: surface surfaces surfaced surfacing | | by in during while when
motivates: uncover uncovers uncovered uncovering | | by in during while when
motivates: lead leads led leading | to | by
"""
# Passive and nothing else, and all of it before what it names.
_PHRASES = """
motivates: came comes grew arose arises stems stemmed spun split | out of, off from, off of, from
supersedes: closed dropped abandoned withdrawn retired | in favour of, in favor of
"""
_FINDS = vocabulary.words(
    "found discovered noticed spotted seen hit caught exposed revealed detected"
)
_FOUND = "by in during while when from"
# With the id between its two words.
_SPLIT = """
reverts: roll rolls rolled rolling | back
reverts: back backs backed backing | out
supersedes: make makes made making | obsolete
"""
_NOUN_TABLE = {
    "follow": ("extends", "up to, up of, up on, ups to, up for, up from"),
    "followup": ("extends", "to, of, on, for, from"),
    "continuation": ("extends", "of"),
    "extension": ("extends", "of"),
    "revert": ("reverts", "of"),
    "rollback": ("reverts", "of"),
    "backout": ("reverts", "of"),
    "contradiction": ("contradicts", "to, with"),
    "conflict": ("contradicts", "with"),
}


def _parsed(table: str) -> Iterator[list[str]]:
    """Of each line: the type, and what stands between bars."""
    for line in table.strip().splitlines():
        name, _, rest = line.partition(": ")
        yield [name, *(each.strip() for each in rest.split("|"))]


def _phrases(value: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(each.split()) for each in value.split(",") if each.strip())


def _entries() -> dict[str, list[_Entry]]:
    found: dict[str, list[_Entry]] = {}
    for name, forms, particles, agents in _parsed(_TABLE):
        words = forms.split()
        words += [words[2]] * (5 - len(words))
        for word, form in zip(words, _FORMS, strict=True):
            entry = _Entry(name, form, _phrases(particles), vocabulary.words(agents))
            if word != "-" and entry not in found.setdefault(word, []):
                found[word].append(entry)
    for name, words_of, particles in _parsed(_PHRASES):
        for word in words_of.split():
            entry = _Entry(name, "participle", _phrases(particles), frozenset())
            found.setdefault(word, []).append(entry)
    for word in sorted(_FINDS):
        entry = _Entry("motivates", "participle", (), vocabulary.words(_FOUND))
        found.setdefault(word, []).append(entry)
    return found


_ENTRIES = _entries()
_NOUNS = {word: (name, _phrases(rest)) for word, (name, rest) in _NOUN_TABLE.items()}
_SPLITS: dict[str, tuple[str, Form, str]] = {
    word: (name, form, particle)
    for name, forms, particle in _parsed(_SPLIT)
    for word, form in zip(forms.split(), _FORMS, strict=False)
}


def at(words: Sequence[str], number: int) -> Verb | None:
    """The verb that begins at a word, if one does."""
    if found := _noun(words, number) or _split(words, number):
        return found
    for entry in _ENTRIES.get(words[number], ()):
        end = _behind(words, number + 1, entry.particles)
        if end and (verb := _voiced(words, number, end, entry)):
            return verb
    return None


def _noun(words: Sequence[str], number: int) -> Verb | None:
    if words[number] not in _NOUNS:
        return None
    name, phrases = _NOUNS[words[number]]
    end = _behind(words, number + 1, phrases)
    before = words[number - 1] if number else ""
    # A conflict with X may be one of lines; to be in conflict with X is not.
    is_contradiction = name == "contradicts"
    if not end or before == "to" or (is_contradiction and before != "in"):
        return None
    return Verb(name, "noun", is_passive=False, start=number - is_contradiction, end=end)


def _split(words: Sequence[str], number: int) -> Verb | None:
    name, form, particle = _SPLITS.get(words[number], ("", _FORMS[0], ""))
    if not name or list(words[number + 1 : number + 3]) != [ID, particle]:
        return None
    return Verb(name, form, is_passive=False, start=number, end=number + 1)


def _behind(words: Sequence[str], number: int, phrases: tuple[tuple[str, ...], ...]) -> int:
    """Where the words end of which one phrase must follow; 0 if none does."""
    if not phrases:
        return number
    skips = (0, 1) if number < len(words) and words[number].endswith("ly") else (0,)
    for begin in (number + skip for skip in skips):
        for phrase in phrases:
            if tuple(words[begin : begin + len(phrase)]) == phrase:
                return begin + len(phrase)
    return 0


def _voiced(words: Sequence[str], start: int, end: int, entry: _Entry) -> Verb | None:
    """Passive if what stands before a doer follows a participle."""
    is_participle = entry.form in ("ed", "participle")
    if is_participle and not entry.agents:
        return Verb(entry.type, entry.form, is_passive=True, start=start, end=end, is_source=True)
    agent = end + _adverbs(words, end) if is_participle else end
    is_source = words[start] in _FINDS
    if is_participle and agent < len(words) and words[agent] in entry.agents:
        return Verb(entry.type, entry.form, True, start, agent + 1, is_source)
    return None if is_source else Verb(entry.type, entry.form, False, start, end)


def _adverbs(words: Sequence[str], number: int) -> int:
    """How many words stand there that only say how much, or when."""
    count = 0
    while number + count < len(words) and count < 3:
        if list(words[number + count : number + count + 2]) == ["in", "part"]:
            count += 2
        elif words[number + count] in vocabulary.ADVERBS or words[number + count].endswith("ly"):
            count += 1
        else:
            break
    return count
