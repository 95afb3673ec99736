"""The story of a symbol or a file from Git alone, where nothing is indexed yet."""

from __future__ import annotations

from collections.abc import Iterator

from tether import clock, ids
from tether.evidence.history import commit_messages
from tether.git import Commit, Git, Oid
from tether.lineage import history, library, renames
from tether.lineage.biography import model, stepping
from tether.lineage.derive import crediting
from tether.lineage.edges import model as graph
from tether.tasks.sources import patterns

_MAX_NAMES = 20
_GAP = (
    "nothing is indexed yet, so what is written of tasks, decisions and documents, and relations"
    " between them, are left out: `tether lineage rebuild` adds them"
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
            stepping.kinds(each),
            _tasks(finder, commits[each.commit]),
            stepping.called(each.before) if stepping.is_renamed(each) else "",
            stepping.called(each.after or each.before),
            origin=stepping.origin(each),
        )
        for each in reversed(told.changes)
        if each.commit in commits
    ]
    name = f"{symbol.kind} {symbol.qualified}"
    place = f"{symbol.path}:{symbol.line}-{symbol.end_line}"
    gaps = (*told.unknown, _GAP)
    return model.Story(
        selector, name, place, told.node, tuple(steps), gaps=gaps, knows_records=False
    )


def of_path(
    git: Git, finder: patterns.Finder, selector: str, path: str, tip: Oid, *, is_directory: bool
) -> model.Story:
    """The story of a file, through its renames, or of a directory as it is called now."""
    steps = list(_of_directory(git, finder, path, tip))
    name, gaps = f"directory {path}", [f"files that came from elsewhere are told from {path} on"]
    if not is_directory:
        steps = list(_of_file(git, finder, path, tip))
        name, gaps = f"file {path}", []
    told = tuple(reversed(steps))
    return model.Story(selector, name, path, "", told, gaps=(*gaps, _GAP), knows_records=False)


def _of_directory(git: Git, finder: patterns.Finder, path: str, tip: Oid) -> Iterator[model.Step]:
    """What changed files there, the newest first."""
    for each in git.log([tip], paths=[path]):
        yield model.Step(_commit(each)._replace(files=0), ("body",), _tasks(finder, each))


def _of_file(git: Git, finder: patterns.Finder, path: str, tip: Oid) -> Iterator[model.Step]:
    """What changed a file, the newest first, under the names that it had."""
    tips = [tip]
    for _ in range(_MAX_NAMES):
        commits = list(git.log(tips, paths=[path]))
        for each in commits[:-1]:
            yield model.Step(_commit(each)._replace(files=0), ("body",), _tasks(finder, each))
        if not commits:
            return
        first = commits[-1]
        before = _name_before(git, first, path)
        kinds = ("move",) if before else ("introduced",)
        yield model.Step(
            _commit(first)._replace(files=0), kinds, _tasks(finder, first), before, path
        )
        if not before:
            return
        path, tips = before, list(first.parents)


def _name_before(git: Git, commit: Commit, path: str) -> str:
    """What a file was called before the commit that has it first; empty if it is new."""
    [whole] = git.log([commit.oid], max_count=1)

    def content(_: str, oid: Oid) -> bytes | None:
        return next(git.blobs([oid], max_bytes=library.MAX_BYTES)).data

    return renames.Renames(whole.changes, content).before(path) or ""


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
        crediting.said(graph.task_key(ids.TaskKey(each.source, each.id)), each.kind, each.what)
        for each in about
    ]
    return tuple((each.task, each.confidence) for each in crediting.of_commit(said))
