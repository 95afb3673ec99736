"""The story of a symbol or a file from Git alone, where nothing is indexed yet."""

from __future__ import annotations

from collections.abc import Iterable

from tether import clock, ids
from tether.evidence.history import commit_messages
from tether.git import Commit, Git
from tether.lineage import history
from tether.lineage.biography import gathering, model
from tether.lineage.derive import crediting
from tether.lineage.edges import model as graph
from tether.tasks.sources import patterns

_GAP = (
    "nothing is indexed yet, so relations between tasks, decisions and documents are left out:"
    " `tether lineage rebuild` adds them"
)


def of_symbol(
    git: Git,
    finder: patterns.Finder,
    selector: str,
    symbol: history.Place,
    told: history.History,
) -> model.Story:
    """A symbol's story from its history."""
    commits = {each.oid: each for each in git.commits({e.commit for e in told.changes})}
    steps = [
        model.Step(
            _commit(commits[each.commit]),
            each.kinds,
            _tasks(finder, commits[each.commit]),
            gathering.called(each.before) if gathering.is_renamed(each) else "",
            gathering.called(each.after or each.before),
            origin=gathering.origin(each),
        )
        for each in reversed(told.changes)
        if each.commit in commits
    ]
    name = f"{symbol.kind} {symbol.qualified}"
    place = f"{symbol.path}:{symbol.line}-{symbol.end_line}"
    gaps = (*told.unknown, _GAP)
    return model.Story(selector, name, place, told.node, tuple(steps), gaps=gaps)


def of_path(
    finder: patterns.Finder, selector: str, path: str, commits: Iterable[Commit]
) -> model.Story:
    """The story of a file or directory by the commits that changed that path."""
    ordered = list(reversed(list(commits)))
    steps = [
        model.Step(
            _commit(each)._replace(files=0),
            ("introduced",) if number == 0 else ("body",),
            _tasks(finder, each),
        )
        for number, each in enumerate(ordered)
    ]
    gap = f"before it was called {path} it is not followed"
    name = f"file {path}"
    return model.Story(selector, name, path, "", tuple(steps), gaps=(gap, _GAP))


def _commit(each: Commit) -> model.Commit:
    return model.Commit(
        each.oid, clock.text(each.authored_ms), each.author_name, each.subject, len(each.changes)
    )


def _tasks(finder: patterns.Finder, commit: Commit) -> tuple[tuple[str, float], ...]:
    """What its message says that it is work on."""
    is_merge = len(commit.parents) > 1
    about = commit_messages.read(
        finder, commit.subject, commit.body, is_merge=is_merge, is_work=True
    )
    said = [
        crediting.Said(graph.task_key(ids.TaskKey(each.source, each.id)), each.kind)
        for each in about
    ]
    return tuple((each.task, each.confidence) for each in crediting.of_commit(said))
