"""How well symbols are followed through history, on published oracles.

The oracles are only counted with: nothing of them but the place of a question reaches the engine.
Beside it Git itself is asked, in the same run.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable

from tether.bench.symbols import histories, judging, oracle, pairs, said
from tether.hints import Any


def measure(
    paths: Iterable[str],
    repositories: str,
    *,
    is_core: bool = False,
    limit: int | None = None,
    has_git: bool = True,
    engine: said.Engine | None = None,
) -> dict[str, Any]:
    """The figures of oracles. A repository that is not there is skipped, and named.

    With both kinds of oracles the scores are of histories; those of pairs are below `pairs`.
    """
    rows = oracle.read(paths)
    engine = engine or said.tether()
    skipped: Counter[str] = Counter()
    questions, commits = [], []
    for question in rows.questions[:limit]:
        place = _place(repositories, question.repo)
        if os.path.isdir(place):
            questions.append((place, question))
        else:
            skipped[question.repo] += 1
    for commit in pairs.grouped(rows.pairs)[:limit]:
        place = _place(repositories, commit.repo)
        if os.path.isdir(place):
            commits.append((place, commit))
        else:
            skipped[commit.repo] += sum(map(judging.is_asked, commit.rows))
    judged = pairs.ask(engine, commits)
    if rows.pairs and not rows.questions:
        return {**pairs.result(judged), "skipped": dict(sorted(skipped.items()))}
    answers = histories.ask(engine, questions, has_git=has_git)
    return {
        **histories.result(answers, is_core=is_core, has_git=has_git),
        "pairs": pairs.details(judged) if rows.pairs else None,
        "skipped": dict(sorted(skipped.items())),
    }


def _place(repositories: str, repo: str) -> str:
    return os.path.join(repositories, repo.replace("/", "+"), "repo")


def without_details(result: dict[str, Any]) -> dict[str, Any]:
    """The figures without the single questions and mistakes, to be kept."""
    brief = {name: value for name, value in result.items() if name != "questions"}
    if brief["pairs"]:
        lists = ("missed", "wrong")
        brief["pairs"] = {k: v for k, v in brief["pairs"].items() if k not in lists}
    return brief
