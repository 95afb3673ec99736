"""The identities of all symbols in the index: made, brought further, asked."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import lineages
from tether import index
from tether.git import Git, Oid
from tether.lineage import (
    births,
    cache,
    cuts,
    history,
    identities,
    kept,
    languages,
    library,
    quarantine,
    symbols,
    tracing,
)

GitCall = Callable[..., str]
ONE = "def one(first):\n    return combine(first, prepare(first), 1)\n"
TWO = "def two(second):\n    return arrange(second, divide(second), 2)\n"


class Interrupted(library.InThisProcess):
    """Parses, after something else was done."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__()
        self._meanwhile = [meanwhile]

    def outline(
        self, oid: Oid, language: languages.Language, data: bytes
    ) -> symbols.Outline | None:
        while self._meanwhile:
            self._meanwhile.pop()()
        return super().outline(oid, language, data)


class Place:
    """A repository with a store directory beside it."""

    def __init__(self, base: Path, git: GitCall) -> None:
        self.path, self.store = base / "repo", base / "store"
        self.path.mkdir(parents=True)
        self.store.mkdir()
        self._git = git
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        return self._git(*words, cwd=self.path)

    def clone(self, base: Path, *options: str) -> Place:
        """Another one that has less."""
        cloned = Place(base, self._git)
        cloned.git("remote", "add", "origin", self.path.as_uri())
        cloned.git("fetch", "-q", *options, "origin")
        cloned.git("reset", "-q", "--hard", "origin/main")
        return cloned

    def commit(self, message: str = "Change", **files: str) -> Oid:
        for name, content in files.items():
            (self.path / f"{name}.py").write_text(content)
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.tip

    @property
    def tip(self) -> Oid:
        return Oid(self.git("rev-parse", "HEAD"))

    @property
    def known(self) -> identities.Identities:
        return identities.Identities(str(self.store))

    def bring(
        self, *, anew: bool = False, meanwhile: Callable[[], object] | None = None
    ) -> identities.Built:
        outlines = Interrupted(meanwhile) if meanwhile else library.InThisProcess()
        files = library.Library(Git(self.path), outlines)
        try:
            return self.known.bring(files, self.tip, anew=anew)
        finally:
            files.close()

    def assert_right(self) -> None:
        """The index tells of every symbol what the backward engine tells."""
        for told in lineages.all_backwards(Git(self.path), self.tip).values():
            known = self.known.history(told.node)
            assert known is not None
            assert lineages.said(known) == lineages.said(told)


@pytest.fixture
def place(tmp_path: Path, git: GitCall) -> Place:
    return Place(tmp_path, git)


def test_only_new_commits_are_looked_at(place: Place) -> None:
    place.commit(a=ONE)
    place.commit(a=ONE.replace("1", "3"), b=TWO)
    built = place.bring()
    assert (built.commits, built.is_anew, built.is_kept) == (2, True, True)
    assert place.bring()[1:] == (0, 0, False, True, True)
    place.commit(b=TWO.replace("two", "three"))
    built = place.bring()
    # The function, and its file.
    assert (built.commits, built.events, built.is_anew) == (1, 2, False)
    place.assert_right()


def test_a_branch_that_began_before_is_followed_from_where_it_began(place: Place) -> None:
    place.commit(a=ONE)
    place.git("checkout", "-qb", "side")
    place.commit(b=TWO)
    place.git("checkout", "-q", "main")
    place.commit(a=ONE.replace("1", "3"))
    place.bring()
    place.git("merge", "-q", "--no-edit", "side")
    built = place.bring()
    assert (built.commits, built.is_anew) == (2, False)
    place.assert_right()


def test_what_a_merge_did_to_a_file_is_seen_from_what_is_known(place: Place) -> None:
    place.commit(a=ONE)
    file = births.file_id("a.py", Oid(place.git("rev-parse", "HEAD:a.py")))
    place.git("checkout", "-qb", "side")
    place.commit(a=ONE.replace("1", "3"))
    place.git("checkout", "-q", "main")
    place.commit(a=ONE.replace("1", "5"))
    place.bring()
    place.git("merge", "-q", "--no-commit", "-s", "ours", "side")
    merge = place.commit("Merge", a=ONE.replace("1", "7"))
    assert not place.bring().is_anew
    known = place.known.history(file)
    assert known is not None
    assert (known.changes[0].commit, known.changes[0].kinds) == (merge, ("body",))
    assert len(known.changes) == 4
    place.assert_right()


def test_a_branch_that_began_since_is_followed_on(place: Place) -> None:
    place.commit(a=ONE)
    place.bring()
    place.git("checkout", "-qb", "side")
    place.commit(b=TWO)
    place.git("checkout", "-q", "main")
    place.commit(a=ONE.replace("1", "3"))
    place.git("merge", "-q", "--no-edit", "side")
    assert not place.bring().is_anew
    place.assert_right()


def test_of_rewritten_history_only_what_is_new_is_followed(place: Place) -> None:
    place.commit(a=ONE)
    place.commit(a=ONE.replace("1", "3"))
    place.bring()
    place.git("commit", "-q", "--amend", "-m", "Otherwise")
    built = place.bring()
    assert (built.commits, built.is_anew) == (1, False)
    place.assert_right()


def test_what_was_deleted_is_still_known_by_its_id(place: Place) -> None:
    place.commit(a=ONE + "\n\n" + TWO)
    told = lineages.all_backwards(Git(place.path), place.tip)["a.py#two@1"]
    gone = place.commit(a=ONE)
    place.bring()
    known = place.known.history(told.node)
    assert known is not None
    assert known.changes[0].commit == gone
    assert known.changes[0].kinds == ("deleted",)
    assert place.known.history("node:unknown") is None


def test_a_revert_after_the_last_time_brings_back_the_old_id(place: Place) -> None:
    place.commit(a=ONE + "\n\n" + TWO)
    place.commit(a=ONE)
    place.bring()
    place.git("revert", "--no-edit", "HEAD")
    assert not place.bring().is_anew
    place.assert_right()


def test_another_engine_does_not_use_what_one_found(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.commit(a=ONE)
    place.bring()
    monkeypatch.setattr(kept, "ENGINE_VERSION", kept.ENGINE_VERSION + 1)
    assert not place.known.knows(place.tip)
    assert place.bring().is_anew


def test_where_the_index_cannot_be_written_it_is_said(place: Place) -> None:
    place.commit(a=ONE)
    (place.store / index.database.FILE_NAME).mkdir()
    assert not place.bring().is_kept


def test_a_damaged_index_is_made_anew(place: Place) -> None:
    place.commit(a=ONE)
    place.bring()
    file = place.store / index.database.FILE_NAME
    file.write_bytes(b"no database" * 1000)
    assert not place.known.knows(place.tip)
    assert not place.bring().is_kept  # it was removed, and the next one is written
    assert place.bring().is_kept
    place.assert_right()


def _keep_others(place: Place) -> None:
    """What else is in the index."""
    own = index.Index(str(place.store))
    assert own.write(lambda into: cache.keep(into, [(place.tip, "v", b"outline")]))
    own.close()
    quarantine.Quarantine(str(place.store)).add(quarantine.Blamed("blob", "v", "a.py", "crash"))


def _assert_others_kept(place: Place) -> None:
    own = index.Index(str(place.store))
    assert own.rows("SELECT outline FROM outlines") == [(b"outline",)]
    own.close()
    assert [each.blob for each in quarantine.Quarantine(str(place.store)).all()] == ["blob"]


@pytest.mark.parametrize("is_other_anew", [False, True])
def test_who_is_overtaken_goes_on_from_there_and_harms_nothing(
    place: Place, is_other_anew: bool
) -> None:
    place.commit(a=ONE)
    place.bring()
    _keep_others(place)
    place.commit(a=ONE.replace("1", "3"), b=TWO)
    built = place.bring(meanwhile=lambda: place.bring(anew=is_other_anew))
    assert (built.commits, built.is_kept) == (0, True)
    assert place.known.knows(place.tip)
    _assert_others_kept(place)
    place.assert_right()
    place.commit(b=TWO.replace("2", "4"))
    assert place.bring()[1:] == (1, 2, False, True, True)
    place.assert_right()


def test_two_that_begin_at_once_do_the_work_once(place: Place) -> None:
    place.commit(a=ONE)
    _keep_others(place)
    place.commit(a=ONE.replace("1", "3"), b=TWO)
    assert place.bring(meanwhile=place.bring).is_kept
    _assert_others_kept(place)
    place.assert_right()


def test_who_is_stopped_goes_on_where_it_stood(place: Place) -> None:
    for number in range(5):
        place.commit(a=ONE.replace("1", str(number)), b=TWO.replace("2", str(number)))
    files = library.Library(Git(place.path), library.InThisProcess())
    built = place.known.bring(files, place.tip, at_most=3)
    files.close()
    assert (built.commits, built.is_whole) == (3, False)
    assert not place.known.knows(place.tip)
    built = place.bring()
    assert (built.commits, built.is_anew, built.is_whole) == (2, False, True)
    place.assert_right()


def test_two_checkouts_on_two_branches_do_not_undo_each_others_work(place: Place) -> None:
    place.commit(a=ONE)
    place.bring()
    place.git("checkout", "-qb", "side")
    place.commit(a=ONE.replace("1", "3"))
    assert place.bring().commits == 1
    place.assert_right()
    place.git("checkout", "-q", "main")
    assert place.bring().commits == 0
    place.commit(a=ONE.replace("1", "5"))
    assert place.bring().commits == 1
    place.git("checkout", "-q", "side")
    assert place.bring().commits == 0


def test_a_revert_behind_a_merge_of_a_branch_brings_back_the_old_id(place: Place) -> None:
    place.commit(a=ONE + "\n\n" + TWO)
    place.commit(a=ONE)
    place.bring()
    place.git("checkout", "-qb", "side", "HEAD~1")
    place.commit(b=TWO)
    place.git("checkout", "-q", "main")
    place.git("merge", "-q", "--no-edit", "side")
    place.bring()
    place.git("revert", "--no-edit", "HEAD~1")
    assert place.bring().commits == 1
    place.assert_right()


def test_what_cannot_be_added_twice_is_no_damage(place: Place) -> None:
    place.commit(a=ONE)
    place.bring()
    _keep_others(place)
    own = index.Index(str(place.store))
    add = "INSERT INTO identity_events SELECT * FROM identity_events"
    assert not own.write(lambda into: into.execute(add))
    held = sqlite3.connect(place.store / index.database.FILE_NAME, isolation_level=None)
    held.execute("BEGIN EXCLUSIVE")
    assert not own.write(lambda into: into.execute("DELETE FROM outlines"))
    held.close()
    own.close()
    _assert_others_kept(place)
    place.assert_right()


def _assert_told_alike(place: Place, name: str) -> history.History:
    """What the index tells of a symbol, which is what the backward engine tells."""
    files = library.Library(Git(place.path), library.InThisProcess())
    source = files.at(place.tip, "a.py")
    assert source is not None
    number = [each.qualified for each in source.symbols].index(name)
    told = tracing.follow(files, place.tip, source, number)
    files.close()
    known = place.known.history(told.node)
    assert known is not None
    assert lineages.said(known) == lineages.said(told)
    assert known.unknown == told.unknown
    return known


def test_where_a_shallow_clone_ends_nothing_is_said_to_begin(place: Place, tmp_path: Path) -> None:
    place.commit(a=ONE)
    ends = place.commit(a=ONE.replace("1", "3"))
    edited = place.commit(a=ONE.replace("1", "5"))
    shallow = place.clone(tmp_path / "shallow", "--depth=2")
    shallow.bring()
    told = _assert_told_alike(shallow, "one")
    assert lineages.said(told) == {(edited, ("body",))}
    assert told.unknown == (f"{ends[:12]}: the history ends here, because it is shallow",)


def test_a_clone_that_gets_its_history_is_followed_anew(place: Place, tmp_path: Path) -> None:
    for number in range(3):
        place.commit(a=ONE.replace("1", str(number)))
    shallow = place.clone(tmp_path / "shallow", "--depth=2")
    assert shallow.bring().commits == 2
    shallow.git("fetch", "-q", "--unshallow", "origin")
    built = shallow.bring()
    assert (built.commits, built.is_anew) == (3, True)
    assert not _assert_told_alike(shallow, "one").unknown
    shallow.assert_right()
    assert not shallow.bring().is_anew


def test_a_parent_that_is_here_by_chance_is_no_past(place: Place, tmp_path: Path) -> None:
    place.commit(a=ONE)
    ends = place.commit(b=TWO)
    shallow = place.clone(tmp_path / "shallow", "--depth=1")
    place.git("branch", "old", "HEAD~1")
    shallow.git("fetch", "-q", "--depth=1", "origin", "old")
    shallow.bring()
    assert _assert_told_alike(shallow, "one").unknown[0].startswith(ends[:12])


@pytest.mark.parametrize("why", ["missing", "too large"])
def test_after_what_cannot_be_read_nothing_is_said_to_begin(
    place: Place, why: library.WhyNot
) -> None:
    place.commit(a=TWO)
    [before] = lineages.all_backwards(Git(place.path), place.tip).values()
    large = "# more\n" * 200_000 if why == "too large" else ""
    place.commit(a=ONE.replace("1", "3") + large)
    lost = place.git("rev-parse", "HEAD:a.py")
    place.commit(a=ONE)
    edited = place.commit(a=ONE.replace("1", "5"))
    if why == "missing":
        (place.path / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    place.bring()
    told = _assert_told_alike(place, "one")
    assert lineages.said(told) == {(edited, ("body",))}
    assert told.unknown == (cuts.told("a.py", why),)
    gone = place.known.history(before.node)
    assert gone is not None
    assert [change.kinds for change in gone.changes] == [("introduced",)]
    assert gone.unknown == (cuts.told("a.py", why),)


def test_a_merge_with_what_cannot_be_read_introduces_nothing(place: Place) -> None:
    place.commit(a=ONE)
    place.git("checkout", "-qb", "side")
    place.commit(a=ONE.replace("1", "3"))
    lost = place.git("rev-parse", "HEAD:a.py")
    place.git("checkout", "-q", "main")
    place.commit(b=TWO, a="")
    place.git("merge", "-q", "--no-commit", "-s", "ours", "side")
    place.commit("Merge", a=ONE.replace("1", "7"))
    (place.path / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    place.bring()
    assert _assert_told_alike(place, "one").unknown == (cuts.told("a.py", "missing"),)
