"""Commits that name a task in a way that only who asks for that task can tell.

Ids of our own may be any word, and those of some lists are mere numbers behind the name of a file:
they are not looked for in everything, but a subject that says one is about it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping

from tether import errors, git, ids
from tether.evidence import ledger, model
from tether.evidence.history import commit_messages, commits, features, list_changes
from tether.evidence.unfinished import branches
from tether.git import reach
from tether.tasks.sources import dialects

_COLUMNS = (
    "SELECT f.source, f.path, place, record, task_source, task, kind, what, at, a.session, text,"
    " a.files FROM activities AS a JOIN evidence_files AS f ON f.id = a.file WHERE f.path = ?"
)
_SAYING = f"{_COLUMNS} AND task = '' AND instr(text, ?) > 0"
_CALLED = f"{_COLUMNS} AND task = ? AND task <> '' AND task_source = ?"
_UNNAMED = f"{_COLUMNS} AND task = ''"
_LISTED = (
    "SELECT task_source, task, record FROM activities"
    " WHERE file = (SELECT id FROM evidence_files WHERE path = ?) AND kind = ? AND what <> ?"
)
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_MAX_MERGES = 20


def in_subjects(
    connection: sqlite3.Connection, key: ids.TaskKey, names: Iterable[str]
) -> Iterator[model.Activity]:
    """The commits that name no other task, and this one as a label or in full."""
    for name in names:
        for each in _found(connection, _SAYING, name):
            if commit_messages.names(each.text, name):
                yield each._replace(task_source=key.source, task=key.id)


def of_all(
    connection: sqlite3.Connection, names: Mapping[str, ids.TaskKey]
) -> dict[ids.TaskKey, list[model.Activity]]:
    """The same of many tasks at once, each by its names: one pass over all subjects.

    Of the commit that wrote a task down only work counts.
    """
    if not names:
        return {}
    found: dict[ids.TaskKey, list[model.Activity]] = {}
    listed = _listed(connection)
    for each in _found(connection, _UNNAMED):
        for word in _words(each.text) & names.keys():
            key = names[word]
            is_listed = (*key, each.record) in listed and each.kind == model.STATED
            if not is_listed and commit_messages.names(each.text, word):
                task = each._replace(task_source=key.source, task=key.id)
                found.setdefault(key, []).append(task)
    return found


def _listed(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """The commits that wrote tasks down."""
    named = (commits.LISTS, model.LISTED, list_changes.TAKEN_OFF)
    return set(connection.execute(_LISTED, named).fetchall())


def _words(subject: str) -> set[str]:
    """Everything in a subject that may be an id, also where a sentence ends behind it."""
    found = _WORD.findall(subject)
    return {*found, *(each.rstrip("._-") for each in found)}


def of_feature(
    connection: sqlite3.Connection, repository: git.Git, key: ids.TaskKey
) -> Iterator[model.Activity]:
    """The commits that say `T012` alone, on the branch of the feature that this one is of."""
    feature, _, short = key.id.rpartition(".")
    if key.source != dialects.SPECKIT or not feature:
        return
    found = {each.record: each for each in _found(connection, _CALLED, short, key.source)}
    if found:
        oids = [git.Oid(record) for record in found]
        try:
            on_branch = _on_branch(connection, repository, feature, oids)
        except errors.GitError:
            return  # the look has told of what is wrong with it
        for oid in sorted(on_branch):
            yield found[oid]._replace(task=key.id)


def _on_branch(
    connection: sqlite3.Connection, repository: git.Git, feature: str, oids: list[git.Oid]
) -> set[git.Oid]:
    """Those of the commits that were made on the branch of a feature, merged or not."""
    main = branches.main_branch(repository)
    refs = [*repository.refs("refs/heads"), *repository.refs("refs/remotes")]
    bases = [oid for ref, oid in refs if main and ref.endswith(f"/{main}")]
    ranges = [
        (oid, bases)
        for ref, oid in refs
        if bases and dialects.slug(features.of_branch(ref) or "-") == feature
    ]
    merges = [
        each
        for each in _found(connection, _SAYING, feature)
        if dialects.slug(features.of_commit(each.text, (), is_merge=True) or "-") == feature
    ]
    for each in merges[-_MAX_MERGES:]:
        for commit in repository.log([git.Oid(each.record)], max_count=1):
            ranges += [(parent, list(commit.parents[:1])) for parent in commit.parents[1:]]
    return {oid for tip, base in ranges for oid in reach.among(repository, tip, base, oids)}


def _found(
    connection: sqlite3.Connection, statement: str, *parameters: str
) -> list[model.Activity]:
    rows = connection.execute(statement, (commits.COMMITS, *parameters)).fetchall()
    return [ledger.activity(source, path, tuple(row)) for source, path, *row in rows]
