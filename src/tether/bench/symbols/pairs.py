"""Single commits, each asked of the engine, and how often it says what the rows say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tether import errors
from tether.bench import counting
from tether.bench.symbols import histories, judging, oracle, said, scoring
from tether.git import Git, Oid
from tether.hints import Any, NamedTuple

_MAX_DESCRIPTION = 200


class Commit(NamedTuple):
    """A commit with its rows, and what is said of it."""

    repo: str
    commit: Oid
    rows: tuple[oracle.Pair, ...]
    told: said.Told = said.Told()
    verdict: judging.Verdict = judging.Verdict()


def grouped(rows: Iterable[oracle.Pair]) -> list[Commit]:
    """The commits of rows, in their order."""
    found: dict[tuple[str, Oid], list[oracle.Pair]] = {}
    for row in rows:
        found.setdefault((row.repo, row.commit), []).append(row)
    return [Commit(repo, commit, tuple(own)) for (repo, commit), own in found.items()]


def ask(engine: said.Engine, asked: Iterable[tuple[str, Commit]]) -> list[Commit]:
    """Every commit, with its repository."""
    found = []
    for repository, each in asked:
        try:
            parent = each.rows[0].parent or _first_parent(repository, each.commit)
            told = said.compared(engine, repository, each.commit, parent)
        except errors.TetherError as problem:
            told = said.Told(error=problem.message)
        verdict = judging.judge(each.rows, told.matches)
        found.append(each._replace(told=told, verdict=verdict))
    return found


def _first_parent(repository: str, commit: Oid) -> Oid | None:
    [found] = Git(repository).log([commit], max_count=1)
    return found.parents[0] if found.parents else None


def result(commits: Sequence[Commit]) -> dict[str, Any]:
    """The figures in the same places as those of histories, with the details below `pairs`."""
    figures = {
        **_figures(commits),
        "exact": sum(_is_exact(each.verdict) for each in commits),
        "questions": len(commits),
        "intervals": counting.intervals(
            [each.verdict.counted() for each in commits], "commit", scoring.FIGURES
        ),
    }
    moves = _found(commits, lambda row: judging.group_of(row) == "rename_move").figures
    return {
        "strict": figures,
        # Rows are about identity only: there is nothing to leave out.
        "core": figures,
        "origin": scoring.Found().figures,
        "moves": {**moves, "with_places": moves},
        "seconds": histories.seconds([each.told.cost for each in commits], []),
        "git": None,
        "pairs": details(commits),
        "questions": [_question(each) for each in commits],
    }


def details(commits: Sequence[Commit]) -> dict[str, Any]:
    """By type, group, language and repository, and every row that was missed or said wrongly."""
    rows = [row for each in commits for row in (*each.verdict.found, *each.verdict.missed)]
    return {
        "groups": {group: _group(commits, group) for group in judging.GROUPS},
        "types": _by(commits, rows, lambda row: row.type),
        "languages": _by(commits, rows, lambda row: row.language),
        "repositories": _by(commits, rows, lambda row: row.repo),
        "not_asked": sum(each.verdict.not_asked for each in commits),
        "unlisted": sum(each.verdict.unlisted for each in commits),
        "missed": [_row(row) for each in commits for row in each.verdict.missed],
        "wrong": [
            {"repo": each.repo, "commit": each.commit, **_wrong(wrong)}
            for each in commits
            for wrong in each.verdict.wrong
        ],
    }


def _figures(commits: Sequence[Commit], group: judging.Group | None = None) -> dict[str, Any]:
    return scoring.count_figures(counting.total(each.verdict.counted(group) for each in commits))


def _group(commits: Sequence[Commit], group: judging.Group) -> dict[str, Any]:
    whys = [wrong.why for each in commits for wrong in each.verdict.wrong if wrong.group == group]
    return {
        **_figures(commits, group),
        "known_mistakes": whys.count("known_mistake"),
        "other_partners": whys.count("other_partner"),
    }


def _found(commits: Sequence[Commit], is_meant: Callable[[oracle.Pair], bool]) -> scoring.Found:
    found = sum(is_meant(row) for each in commits for row in each.verdict.found)
    missed = sum(is_meant(row) for each in commits for row in each.verdict.missed)
    return scoring.Found(found, found + missed)


def _by(
    commits: Sequence[Commit], rows: Iterable[oracle.Pair], key: Callable[[oracle.Pair], str]
) -> dict[str, Any]:
    counts = {name: scoring.Found() for name in sorted({key(row) for row in rows})}
    for each in commits:
        for row in each.verdict.found:
            counts[key(row)] = counts[key(row)].plus(scoring.Found(1, 1))
        for row in each.verdict.missed:
            counts[key(row)] = counts[key(row)].plus(scoring.Found(0, 1))
    return {
        name: {"asked": each.of, "found": each.found, "recall": each.figures["share"]}
        for name, each in counts.items()
    }


def _question(each: Commit) -> dict[str, Any]:
    tp, fp, fn, _ = each.verdict.counted()
    return {
        "id": f"{each.repo}@{each.commit}",
        "repo": each.repo,
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "exact": _is_exact(each.verdict),
        "seconds": round(each.told.cost.seconds, 4),
        "git_seconds": None,
        "missed": [_row(row) for row in each.verdict.missed],
        "wrong": [_wrong(wrong) for wrong in each.verdict.wrong],
        **({"error": each.told.error} if each.told.error else {}),
    }


def _is_exact(verdict: judging.Verdict) -> bool:
    """Whether there was something to find, all of it was found, and nothing wrong was said."""
    return bool(verdict.found) and not verdict.missed and not verdict.wrong


def _row(row: oracle.Pair) -> dict[str, Any]:
    return {
        "repo": row.repo,
        "commit": row.commit,
        "type": row.type,
        "description": row.description[:_MAX_DESCRIPTION],
    }


def _wrong(wrong: judging.Wrong) -> dict[str, Any]:
    before, after = wrong.match.before, wrong.match.after
    return {
        "why": wrong.why,
        "relation": wrong.match.relation,
        "kinds": sorted(wrong.match.kinds),
        "before": _place(before),
        "after": _place(after),
        "type": wrong.pair.type,
        "description": wrong.pair.description[:_MAX_DESCRIPTION],
    }


def _place(spot: said.Spot | None) -> str:
    return f"{spot.path}:{spot.line} {spot.qualified}" if spot else ""
