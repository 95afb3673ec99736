"""One chapter as one line: who did it, what it was, and what they said of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tether import text
from tether.hints import NamedTuple
from tether.lineage.biography import deeds, fitting, phases, reversals, ties, wording
from tether.lineage.biography.fitting import Draft, Part
from tether.lineage.biography.model import Source, Step
from tether.lineage.biography.outline import Outline
from tether.lineage.biography.phases import Chapter

MAYBE = 0.5
"""From then on a task is named as the one that a commit was perhaps for."""
_MOST_PEOPLE, _MOST_INTRODUCED, _MOST_DECISIONS = 2, 4, 3
_OURS = ("it ", "commit ", "under ")


class _Words(NamedTuple):
    """What a commit says of tasks that nothing else tells of."""

    clause: str = ""
    """The end of the sentence that tells of it, if there is no other commit."""
    sentence: str = ""


def draft(chapter: Chapter, told: Outline, lead: str = "") -> Draft:
    """The line of a chapter; what may be left out of it stands behind it."""
    found = [_ties(key, chapter, told) for key in chapter.tasks]
    said = _said(chapter, told, found)
    under = list(dict.fromkeys(tie.text for each in found for tie in each.under))
    if under:
        said = f"under {wording.some(under, _MOST_DECISIONS)}, {said}"
    if not lead and said.startswith(_OURS):
        said = wording.capital(said)
    own = _own_words(chapter, told)
    sentences = [
        wording.sentence(f"{lead}{said}{own.clause}"),
        *([own.sentence] if own.sentence else []),
        *([] if chapter.is_sum else deeds.taken_in(chapter.steps)),
        *_loose_clauses(chapter, told, found),
        *(tie.text for each in found for tie in each.sentences),
        *reversals.later(chapter.steps, told.reversals, told.whose),
    ]
    base = Part(" ".join(sentences), _rank(chapter, told), _sources(chapter, told, found))
    asides = [Part(tie.text, fitting.ASIDE, tie.sources) for each in found for tie in each.asides]
    return Draft((base, *_quotation(chapter, told), *asides), chapter.number)


def commit_sources(steps: Iterable[Step]) -> tuple[Source, ...]:
    oids = dict.fromkeys(each.commit.oid for each in steps)
    return tuple(Source("commit", f"commit:{oid}") for oid in oids)


def _said(chapter: Chapter, told: Outline, found: Sequence[ties.Ties]) -> str:
    """The sentence that says what happened, without its capital."""
    if chapter.is_sum:
        return f"{deeds.summed(chapter.steps)}{_when(chapter.steps)}"
    if not chapter.tasks:
        return _by_commit(chapter, told)
    clauses = [tie.text for each in found for tie in each.clauses] if len(found) == 1 else []
    if chapter.phase == phases.CREATED:
        return _created(chapter, told, clauses)
    if chapter.phase == phases.REMOVED:
        clauses += _reversals(chapter, told)
        which = f", which {wording.listed(clauses)}" if clauses else ""
        return f"it was removed{_passive(chapter, told)}{which}"
    clauses += _reversals(chapter, told) if chapter.phase == phases.REVERTED else []
    clauses += deeds.moves(chapter.steps)
    if chapter.phase != phases.REVERTED:
        clauses.append(deeds.change(chapter.steps, is_again=chapter.is_again))
    deed = wording.listed(list(filter(None, clauses))) or "changed it"
    return f"{_subject(chapter, told)} {deed}{_extent(chapter, told)}"


def _created(chapter: Chapter, told: Outline, clauses: list[str]) -> str:
    first, rest = chapter.steps[0], chapter.steps[1:]
    later = list(filter(None, [*deeds.moves(rest), deeds.change(rest)]))
    if later:
        size, last = deeds.size(rest), wording.day(rest[-1].commit.at)
        later[0] = f"then {later[0]}"
        until = "until" if len(rest) > 1 else "on"
        later[-1] += f"{size and f', {size}'}{last and f', {until} {last}'}"
    which = wording.listed([*clauses, *later])
    how = deeds.birth(first).passive
    return f"it was {how}{_passive(chapter, told)}{which and f', which {which}'}"


def _passive(chapter: Chapter, told: Outline) -> str:
    """`on 2026-03-01 by T1 “…” (done, …)`."""
    day = _day(chapter, told)
    among = _among(chapter.steps[0])
    return f"{day and f' on {day}'}{among and f' in {among}'} by {_subject(chapter, told)}"


def _extent(chapter: Chapter, told: Outline) -> str:
    """When it was, and how much."""
    size = deeds.size(chapter.steps)
    if len(chapter.steps) > 1:
        return f"{size and f', {size}'}{_when(chapter.steps)}"
    [step] = chapter.steps
    # Of a move it was told with its commit.
    among = "" if deeds.is_moved(step) else _among(step)
    day = _day(chapter, told)
    return f"{day and f' on {day}'}{size and f', {size}'}{among and f', in {among}'}"


def _when(steps: Sequence[Step]) -> str:
    """`, 2026-03-01 to 2026-03-09`."""
    first, last = wording.days(each.commit.at for each in steps)
    if first == last:
        return first and f", {'all ' * (len(steps) > 1)}on {first}"
    return f", {first} to {last}"


def _day(chapter: Chapter, told: Outline) -> str:
    """The day of the first step, unless that is all there is and the tasks were closed then."""
    day = wording.day(chapter.steps[0].commit.at)
    is_said = len(chapter.steps) == 1 and all(_closed(key, told) == day for key in chapter.tasks)
    return "" if is_said else day


def _closed(key: str, told: Outline) -> str:
    record = told.names.record(key)
    return wording.day(record.closed_at) if record else ""


def _among(step: Step) -> str:
    """`a commit of 1,333 files`; nothing if it is one of usual size."""
    return f"a commit of {step.commit.files:,} files" if phases.is_bulk(step) else ""


def _by_commit(chapter: Chapter, told: Outline) -> str:
    """`commit abc1234 (2026-01-02, Ann) changed it, +3 lines: “Fix the bell”`."""
    [step] = chapter.steps
    meant = [key for key, sure in step.tasks if sure >= MAYBE]
    surely = [told.names.called(key) for key in meant if key in step.named]
    perhaps = [told.names.called(key) for key in meant if key not in step.named]
    known = [
        wording.day(step.commit.at),
        wording.person(step.commit.author),
        f"for {wording.listed(surely)}" if surely else "",
        f"perhaps for {wording.listed(perhaps)}" if perhaps else "",
    ]
    if chapter.phase == phases.CREATED:
        clauses = [deeds.birth(step).active]
    elif chapter.phase == phases.REMOVED:
        clauses = ["removed it", *_reversals(chapter, told)]
    else:
        clauses = _reversals(chapter, told)
        clauses += [deeds.moved(step)] if deeds.is_moved(step) else []
        clauses += [] if step.undoes else [deeds.change(chapter.steps)]
    deed = wording.listed(list(filter(None, clauses))) or "changed it"
    size = deeds.size(chapter.steps) if chapter.phase != phases.CREATED else ""
    among = f"{step.commit.files:,} files" if phases.is_bulk(step) else ""
    who = ", ".join(filter(None, [*known, among]))
    quote = _subject_line(step)
    name = wording.commit(step.commit.oid)
    return f"{name}{who and f' ({who})'} {deed}{size and f', {size}'}{quote and f': {quote}'}"


def _subject_line(step: Step, names: Sequence[str] = ()) -> str:
    """The subject of a commit; a name that it begins with is told already."""
    subject = text.one_line(step.commit.subject)
    for each in names:
        subject = wording.behind(each, subject)
    return wording.quoted(subject, wording.SENTENCE).replace("“”", "")


def _subject(chapter: Chapter, told: Outline) -> str:
    """All of its tasks; of very many, the first ones say who they are."""
    first = [_introduced(key, chapter, told) for key in chapter.tasks[:_MOST_INTRODUCED]]
    return wording.listed([*first, *map(told.names.bare, chapter.tasks[_MOST_INTRODUCED:])])


def _introduced(key: str, chapter: Chapter, told: Outline) -> str:
    """`T1 “Ring when it freezes” (done, 2026-03-02, anna)`."""
    record = told.names.record(key)
    if record is None:
        people = [wording.person(each.commit.author) for each in chapter.steps]
        known = list(dict.fromkeys(filter(None, people)))
        standing = ["no record" if told.is_absence_told else "", wording.some(known, _MOST_PEOPLE)]
    else:
        status = wording.word(record.status) if text.one_line(record.status) else ""
        standing = [status, wording.day(record.closed_at), wording.person(record.agent)]
    said = ", ".join(filter(None, standing))
    words = [told.names.bare(key), told.names.title(key), said and f"({said})"]
    return " ".join(filter(None, words))


def _reversals(chapter: Chapter, told: Outline) -> list[str]:
    targets = [target for step in chapter.steps for target in told.reversals.targets(step)]
    own = wording.listed([told.names.bare(key) for key in chapter.tasks])
    return reversals.deeds(targets, own, told.whose)


def _ties(key: str, chapter: Chapter, told: Outline) -> ties.Ties:
    """What a task had to do with others, said where it is introduced."""
    if told.tasks[key] is not chapter:
        return ties.Ties()
    return ties.of(key, told.relations.get(key, ()), told.tasks, told.names)


def _loose_clauses(chapter: Chapter, told: Outline, found: Sequence[ties.Ties]) -> Iterable[str]:
    """Of several tasks each says on its own what it had to do with others."""
    if len(found) > 1:
        for key, each in zip(chapter.tasks, found, strict=True):
            if each.clauses:
                deed = wording.listed([tie.text for tie in each.clauses])
                yield wording.sentence(f"{told.names.bare(key)} {deed}")


def _quotation(chapter: Chapter, told: Outline) -> list[Part]:
    """What the record of a task that is introduced here says, word for word."""
    rank = fitting.KEPT_QUOTE if chapter.number in told.kept else fitting.QUOTE
    for key in _introduced_keys(chapter, told):
        record = told.names.record(key)
        if record is not None and text.one_line(record.sentence):
            whose = "Its" if len(chapter.tasks) == 1 else f"{told.names.bare(key)}'s"
            field = wording.word(record.sentence_field.partition(".")[0] or "record")
            quote = wording.quoted(record.sentence, wording.SENTENCE)
            said = wording.sentence(f"{whose} {field} says: {quote}")
            return [Part(said, rank, told.names.sources(key))]
    return []


def _own_words(chapter: Chapter, told: Outline) -> _Words:
    """What a commit says, if a task has neither a title nor a sentence: there is nothing else."""
    if not chapter.tasks or chapter.is_sum or all(map(told.names.title, chapter.tasks)):
        return _Words()
    if _quotation(chapter, told):
        return _Words()
    names = [told.names.bare(key) for key in chapter.tasks]
    for step in chapter.steps:
        quote = _subject_line(step, names)
        if quote and len(chapter.steps) == 1:
            return _Words(clause=f": {quote}")
        if quote:
            said = f"{wording.capital(wording.commit(step.commit.oid))} says: {quote}"
            return _Words(sentence=wording.sentence(said))
    return _Words()


def _introduced_keys(chapter: Chapter, told: Outline) -> list[str]:
    return [key for key in chapter.tasks if told.tasks[key] is chapter]


def _rank(chapter: Chapter, told: Outline) -> int:
    if chapter.number in told.kept:
        return fitting.KEPT
    if chapter.is_sum:
        return fitting.SUM
    if not chapter.tasks:
        return fitting.COMMIT
    return fitting.SLIGHT if all(map(phases.is_slight, chapter.steps)) else fitting.TASK


def _sources(chapter: Chapter, told: Outline, found: Sequence[ties.Ties]) -> tuple[Source, ...]:
    """Its commits and records, the edges that it tells, and the other ends of its reversals."""
    reversed_ = [target.oid for step in chapter.steps for target in told.reversals.targets(step)]
    later = [fate.by for step in chapter.steps for fate in told.reversals.fates(step)]
    tied = [tie.sources for each in found for tie in (*each.clauses, *each.sentences, *each.under)]
    every = (
        *commit_sources(chapter.steps),
        *(source for key in chapter.tasks for source in told.names.sources(key)),
        *(source for each in tied for source in each),
        *(Source("commit", f"commit:{oid}") for oid in reversed_),
        *commit_sources(later),
    )
    return tuple(dict.fromkeys(every))
