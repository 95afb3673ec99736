"""Questions of history, asked of the engine and of Git in turn, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tether.bench.symbols import git_lines, oracle, said, scoring
from tether.hints import Any, NamedTuple

Changes = Sequence[said.Change]


class Answered(NamedTuple):
    """A question with both answers."""

    question: oracle.Question
    told: said.Told
    git: git_lines.Lines | None = None

    @property
    def gits(self) -> Changes:
        return self.git.changes if self.git else ()


def ask(
    engine: said.Engine,
    asked: Iterable[tuple[str, oracle.Question]],
    *,
    has_git: bool,
) -> list[Answered]:
    """Every question, with its repository. Who comes first, and finds the disk cold, alternates."""
    found = []
    for number, (repository, question) in enumerate(asked):
        early = git_lines.log(repository, question) if has_git and number % 2 else None
        told = said.traced(engine, repository, question)
        late = git_lines.log(repository, question) if has_git and not number % 2 else None
        found.append(Answered(question, told, early or late))
    return found


def result(answers: Sequence[Answered], *, is_core: bool, has_git: bool) -> dict[str, Any]:
    """The figures of all questions; those of single ones are strict or core."""
    return {
        **_scores(answers, lambda each: each.told.changes),
        "seconds": seconds([each.told.cost for each in answers], _git_seconds(answers)),
        "git": _git_scores(answers) if has_git else None,
        "questions": [_question(each, is_core=is_core) for each in answers],
    }


def _scores(answers: Sequence[Answered], of: Callable[[Answered], Changes]) -> dict[str, Any]:
    rows = [(each.question, of(each)) for each in answers]
    moves = scoring.all_found(scoring.moves(*row) for row in rows)
    places = scoring.all_found(scoring.moves_with_places(*row) for row in rows)
    return {
        "strict": scoring.figures([scoring.strict(*row) for row in rows]),
        "core": scoring.figures([scoring.core(*row) for row in rows]),
        "origin": scoring.all_found(scoring.origin(*row) for row in rows).figures,
        "moves": {**moves.figures, "with_places": places.figures},
    }


def _git_scores(answers: Sequence[Answered]) -> dict[str, Any]:
    found = _scores(answers, lambda each: each.gits)
    del found["moves"]["with_places"]  # it says no places
    merges = [
        scoring.strict(each.question, [*each.gits, *(each.git.merges if each.git else ())])
        for each in answers
    ]
    errors = sum(bool(each.git and each.git.error) for each in answers)
    return {**found, "with_merges": {"strict": scoring.figures(merges)}, "errors": errors}


def _git_seconds(answers: Sequence[Answered]) -> list[float]:
    return [each.git.seconds for each in answers if each.git]


def seconds(costs: Sequence[said.Cost], git: Sequence[float]) -> dict[str, Any]:
    """What answers took, beside Git's: the ratios of medians and p90s, and those by question."""
    own = [each.seconds for each in costs]
    ratios = [mine / theirs for mine, theirs in zip(own, git, strict=True)] if git else []
    return {
        "median": scoring.median(own),
        "p90": scoring.p90(own),
        "total": round(sum(own), 3),
        "git_median": scoring.median(git),
        "git_p90": scoring.p90(git),
        "git_total": round(sum(git), 3) if git else None,
        "ratio_median": _ratio(scoring.median(own), scoring.median(git)),
        "ratio_p90": _ratio(scoring.p90(own), scoring.p90(git)),
        "by_question": {"median": scoring.median(ratios), "p90": scoring.p90(ratios)},
        "peak_mb": max((each.peak_mb for each in costs), default=0.0),
        "children_peak_mb": max((each.children_peak_mb for each in costs), default=0.0),
    }


def _ratio(own: float | None, other: float | None) -> float | None:
    return round(own / other, 2) if own and other else None


def _question(each: Answered, *, is_core: bool) -> dict[str, Any]:
    question, changes = each.question, each.told.changes
    sets = (scoring.core if is_core else scoring.strict)(question, changes)
    types, kinds = scoring.types_expected(question), scoring.kinds_said(question, changes)
    tp, fp, fn, _ = sets.counted
    missed, wrong = sets.expected - sets.said, sets.said - sets.expected
    return {
        "id": question.id,
        "repo": question.repo,
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "exact": sets.is_exact,
        "seconds": round(each.told.cost.seconds, 4),
        "git_seconds": round(each.git.seconds, 4) if each.git else None,
        "missed": [
            {"commit": each.commit, "types": sorted(types[each.commit])}
            for each in {each.commit: each for each in question.expected}.values()
            if each.commit in missed
        ],
        "wrong": [
            {"commit": commit, "kinds": sorted(kinds[commit])}
            for commit in kinds
            if commit in wrong
        ],
        **({"error": each.told.error} if each.told.error else {}),
    }
