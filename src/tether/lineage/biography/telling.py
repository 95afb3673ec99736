"""The biography of a piece of code: templates over stored strings, and nothing else. Pure.

Nothing is told that no source says; what is pulled from a record is word for word and in quotes.
"""

from __future__ import annotations

from collections.abc import Iterator

from tether import text
from tether.lineage.biography import deeds, fitting, notes, paragraphs, ties, wording
from tether.lineage.biography.fitting import Draft, Part
from tether.lineage.biography.model import Biography, Mention, Source, Step, Story
from tether.lineage.biography.outline import Outline, outline
from tether.lineage.edges.model import SURE

_MOST_DOCUMENTS, _MOST_DECISIONS = 5, 3


def tell(story: Story, *, budget: int = 2000, min_confidence: float = SURE) -> Biography:
    """The story in `budget` tokens; what is never dropped may take more.

    A task or an edge that is less sure than `min_confidence` explains nothing.
    """
    told = outline(story, min_confidence)
    return fitting.fit(list(_drafts(told)), budget)


def _drafts(told: Outline) -> Iterator[Draft]:
    yield _kept(_head(told), _head_sources(told))
    if told.story.fallback:
        yield _kept(_fallback(told.story.fallback), _where(told))
    if told.steps and not told.tasks:
        yield _kept(_unexplained(told), paragraphs.commit_sources(_ends(told.steps)))
    yield from _chapters(told)
    yield from _notes(told)
    if told.story.mentions:
        yield _documents(told.story.mentions)
    for gap in filter(text.one_line, told.story.gaps):
        said = f"May be incomplete: {wording.plain(gap, wording.SENTENCE)}"
        yield _kept(wording.sentence(said), _where(told))


def _kept(said: str, sources: tuple[Source, ...]) -> Draft:
    return Draft((Part(said, fitting.KEPT, sources),))


def _chapters(told: Outline) -> Iterator[Draft]:
    word, last = "Before that, as", ""
    is_directory = _kind_and_name(told.story.name)[0] == "directory"
    unnamed = "files elsewhere" if is_directory else "what it was split from"
    for chapter in told.chapters:
        name = told.ancestors.get(chapter.number)
        if name is None:
            yield paragraphs.draft(chapter, told)
            continue
        short = name.rpartition("#")[2] if name == last else name
        called = wording.name(short) if name else unnamed
        yield paragraphs.draft(chapter, told, f"{word} {called}: ")
        word, last = "As", name


# The first line.


def _head(told: Outline) -> str:
    """What it is, where it stands, and how much there is to tell."""
    since, _ = wording.days(each.commit.at for each in told.steps)
    number = len({each.commit.oid for each in told.steps})
    without = " without a record" * told.is_unrecorded
    counts = [f"{text.counted(len(told.tasks), 'task')}{without}"] if told.tasks else []
    much = wording.listed([*counts, text.counted(number, "commit")])
    said = f"{much}{since and f' since {since}'}" if number else "no commit tells of it"
    return wording.sentence(f"{_standing(told)}: {said}")


def _standing(told: Outline) -> str:
    """`Function run stands in src/a.py:10-40 under decision 0021`."""
    kind, name = _kind_and_name(told.story.name)
    under = [tie.text for tie in ties.decisions(told.governing, told.names)]
    where = [
        f"in {wording.name(told.story.place)}" if not _is_place(told.story.place, name) else "",
        f"under {wording.some(under, _MOST_DECISIONS)}" if under else "",
    ]
    then = f"As of {wording.name(told.story.as_of)}," if told.story.as_of else ""
    kind = kind if then else wording.capital(kind)
    words = " ".join(filter(None, [then, kind, wording.name(name)]))
    if any(where):
        stands = "last stood" if told.is_gone else "stands"
        words = f"{words} {stands} {' '.join(filter(None, where))}"
    if told.is_gone:
        own = [each for each in told.steps if not each.is_ancestor]
        day = wording.day(own[-1].commit.at)
        return f"{words}{' and' if any(where) else ''} was removed{day and f' on {day}'}"
    return f"{words}{_split(told)}"


def _kind_and_name(value: str) -> tuple[str, str]:
    """`function` and `run`; a name alone has no kind."""
    kind, _, name = text.one_line(value).partition(" ")
    return (kind, name) if name and kind.isalpha() and kind.islower() else ("", value)


def _is_place(place: str, name: str) -> bool:
    return not place or name in (place, place.rstrip("/"), place.rpartition(":")[0])


def _split(told: Outline) -> str:
    """`, split from a.py#run on 2026-03-04`: the ancestor's story begins there."""
    first = next((each for each in told.steps if not each.is_ancestor), None)
    if first is None or not told.ancestors:
        return ""
    birth = deeds.birth(first)
    day = wording.day(first.commit.at)
    return f", {birth.passive}{day and f' on {day}'}" if birth.rest else ""


def _head_sources(told: Outline) -> tuple[Source, ...]:
    governing = ties.decisions(told.governing, told.names)
    return (*_where(told), *(source for tie in governing for source in tie.sources))


def _where(told: Outline) -> tuple[Source, ...]:
    place = told.story.place or told.story.selector
    path, _, lines = place.rpartition(":")
    line = lines.partition("-")[0]
    is_line = bool(path) and line.isascii() and line.isdigit()
    return (
        *paragraphs.commit_sources(_ends(told.steps)),
        Source("file", f"file:{path}#line={line}" if is_line else f"file:{place}"),
    )


def _ends(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return (*steps[:1], *steps[1:][-1:])


# What else there is to say.


def _fallback(why: str) -> str:
    reason = wording.plain(why, wording.SENTENCE).rstrip(".")
    return f"The symbol's own history is not available ({reason}): this is the history of its file."


def _unexplained(told: Outline) -> str:
    is_perhaps = any(sure >= paragraphs.MAYBE for step in told.steps for _, sure in step.tasks)
    commits = "commit" if len({each.commit.oid for each in told.steps}) == 1 else "commits"
    return f"No task explains it{' for sure' if is_perhaps else ''}. Its {commits}:"


def _notes(told: Outline) -> Iterator[Draft]:
    """Risks that tasks and decisions name, word for word."""
    governing = {tie.key: tie.sources for tie in ties.decisions(told.governing, told.names)}
    for note in notes.live(told):
        chapter = told.tasks.get(note.key)
        steps = chapter.steps if chapter else ()
        sources = told.names.sources(note.key) or paragraphs.commit_sources(steps)
        quote = wording.quoted(note.text, wording.SENTENCE)
        said = wording.sentence(f"Note: {told.names.bare(note.key)} says {quote}")
        part = Part(said, fitting.NOTE, sources if chapter else governing[note.key])
        yield Draft((part,), chapter.number if chapter else 0)


def _documents(mentions: tuple[Mention, ...]) -> Draft:
    """`Also described in README.md:27.`"""
    shown = []
    for each in mentions:
        line = f":{each.line}" if each.line > 0 else ""
        section = wording.quoted(each.section, wording.TITLE) if text.one_line(each.section) else ""
        shown.append(" ".join(filter(None, [wording.name(f"{each.path}{line}"), section])))
    said = f"Also described in {wording.some(list(dict.fromkeys(shown)), _MOST_DOCUMENTS)}"
    sources = tuple(
        Source(
            "file", f"file:{each.path}#line={each.line}" if each.line > 0 else f"file:{each.path}"
        )
        for each in mentions
    )
    return Draft((Part(wording.sentence(said), fitting.DOCUMENTS, sources),))
