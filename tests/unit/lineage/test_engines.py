"""Stories of symbols in real repositories, told backwards and forwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import lineages
from tether.git import Git, Oid
from tether.lineage import births, forwards, history, library, linecounts, tracing

GitCall = Callable[..., str]
FETCH = '''def fetch(url, timeout):
    """Get a page."""
    session = open_session(url)
    answer = session.get(url, timeout=timeout)
    if answer.status != 200:
        raise FetchError(answer.status)
    return answer.read()
'''
STORE = """def store(page, path):
    folder = ensure_folder(path)
    with open(folder / page.name, "wb") as target:
        target.write(page.content)
    return folder
"""
COUNT = """def count(words):
    totals = {}
    for word in words:
        totals[word] = totals.get(word, 0) + 1
    return sorted(totals.items())
"""


class Story:
    """A repository that grows commit by commit."""

    def __init__(self, path: Path, git: GitCall) -> None:
        path.mkdir()
        self.path = path
        self._git = git
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        return self._git(*words, cwd=self.path)

    def commit(self, message: str = "Change", **files: str | None) -> str:
        """Files by their names without `.py`; None deletes."""
        named = {f"{name.replace('__', '/')}.py": content for name, content in files.items()}
        return self.commit_files(named, message)

    def commit_files(self, files: dict[str, str | None], message: str = "Change") -> str:
        """The same with their whole names."""
        for name, content in files.items():
            target = self.path / name
            if content is None:
                target.unlink()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content)
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")

    def told(self) -> lineages.Told:
        """The histories of all symbols, on which both engines agree."""
        repository = Git(self.path)
        tip = Oid(self.git("rev-parse", "HEAD"))
        backwards = lineages.all_backwards(repository, tip)
        lineages.assert_same(backwards, lineages.all_forwards(repository, tip))
        return backwards


@pytest.fixture
def story(tmp_path: Path, git: GitCall) -> Story:
    return Story(tmp_path / "story", git)


def _kinds(told: history.History) -> dict[str, tuple[str, ...]]:
    return {str(change.commit): change.kinds for change in told.changes}


def test_a_function_is_followed_through_name_file_and_folder(story: Story) -> None:
    born = story.commit(a=FETCH + "\n\n" + STORE)
    renamed = story.commit(a=FETCH.replace("fetch", "load") + "\n\n" + STORE)
    moved = story.commit(a=STORE, b=FETCH.replace("fetch", "load"))
    story.git("mv", "b.py", "c.py")
    filed = story.commit("Rename a file")
    (story.path / "deep").mkdir()
    story.git("mv", "c.py", "deep/c.py")
    deep = story.commit("Move a file")
    edited = story.commit(deep__c=FETCH.replace("fetch", "load").replace("200", "204"))
    told = story.told()["deep/c.py#load@1"]
    assert _kinds(told) == {
        edited: ("body",),
        deep: ("move",),
        filed: ("move",),
        moved: ("move",),
        renamed: ("rename",),
        born: ("introduced",),
    }


def test_a_file_that_kept_its_name_but_for_its_case_is_that_file(story: Story) -> None:
    small = "def size(page):\n    return len(page)\n"
    lost = f"{STORE}\n\n{COUNT}"
    born = story.commit(old__reader=f"{small}\n\n{lost}")
    new = FETCH.replace("fetch", "load").replace("session", "pool")
    added = "def size(page):\n    return page.length + 1\n"
    moved = story.commit(old__reader=None, new__Reader=f"{added}\n\n{COUNT}\n\n{new}")
    told = story.told()["new/Reader.py#size@1"]
    assert _kinds(told) == {moved: ("move", "body"), born: ("introduced",)}


def test_one_line_is_known_by_what_it_says_beside_its_name(story: Story) -> None:
    line = '= ("--all", "--durable", "fsync", "reference", "objects", "quiet", "no-ext", "text")\n'
    words = line.replace(", ", " + 1, ")
    born = story.commit(a=f"{FETCH}\n\n_DURABLE {words}", c=COUNT)
    moved = story.commit(a=FETCH, b=f"OPTIONS {words}", c=f"{COUNT}\n\n{STORE}")
    assert _kinds(story.told()["b.py#OPTIONS@1"]) == {
        moved: ("move", "rename"),
        born: ("introduced",),
    }


def test_content_that_went_on_under_another_name_is_followed(story: Story) -> None:
    other = COUNT.replace("count(words)", "fetch(url, timeout)")
    born = story.commit(a=f"{STORE}\n\n{FETCH}\n\nEND = 1\n")
    split = story.commit(
        a=f"{STORE}\n\n{other}\n\nEND = 1\n\n\n{FETCH.replace('fetch', 'fetch_all')}"
    )
    told = story.told()
    assert _kinds(told["a.py#fetch_all@1"]) == {split: ("rename",), born: ("introduced",)}
    assert _kinds(told["a.py#fetch@1"]) == {split: ("introduced",)}


def test_who_keeps_its_name_may_become_something_else(story: Story) -> None:
    born = story.commit(a=f"{STORE}\n\nLIMIT = 10\n", b=COUNT)
    became = story.commit(
        a=f"{STORE}\n\ndef LIMIT(word):\n    return len(word) * 10\n",
        b="class count:\n    def __init__(self, words):\n        self.words = sorted(words)\n",
    )
    told = story.told()
    assert set(_kinds(told["a.py#LIMIT@1"])) == {became, born}
    assert set(_kinds(told["b.py#count@1"])) == {became, born}


def test_a_merge_that_takes_one_side_is_no_change(story: Story) -> None:
    story.commit(a=FETCH + "\n\n" + STORE)
    story.git("checkout", "-qb", "side")
    sided = story.commit(a=FETCH.replace("200", "204") + "\n\n" + STORE)
    story.git("checkout", "-q", "main")
    mained = story.commit(a=FETCH + "\n\n" + STORE.replace("wb", "ab"))
    story.git("merge", "-q", "--no-edit", "side")
    merge = story.git("rev-parse", "HEAD")
    told = story.told()
    assert set(_kinds(told["a.py#fetch@1"])) == {sided, story.git("rev-parse", "main~2")}
    assert set(_kinds(told["a.py#store@1"])) == {mained, story.git("rev-parse", "main~2")}
    assert all(merge not in _kinds(each) for each in told.values())


def test_a_merge_that_unites_two_changes_is_one_and_both_are_followed(story: Story) -> None:
    born = story.commit(a=FETCH)
    story.git("checkout", "-qb", "side")
    sided = story.commit(a=FETCH.replace("Get a page", "Get one page"))
    story.git("checkout", "-q", "main")
    mained = story.commit(a=FETCH.replace("answer.read()", "answer.text()"))
    story.git("merge", "-q", "--no-edit", "side")
    merge = story.git("rev-parse", "HEAD")
    assert set(_kinds(story.told()["a.py#fetch@1"])) == {born, sided, mained, merge}


@pytest.mark.parametrize("turns", [0, tracing._MAX_TURNS])
def test_commits_may_be_older_than_those_before_them(
    story: Story, environ: dict[str, str], turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a rebase, or with a clock that was wrong: git shows the younger ones first."""
    monkeypatch.setattr(tracing, "_MAX_TURNS", turns)

    def commit(year: int, content: str) -> str:
        environ["GIT_COMMITTER_DATE"] = f"{year}-01-01T00:00:00Z"
        return story.commit(a=content)

    content = FETCH
    line = [commit(2020, content)]
    story.git("checkout", "-qb", "side")
    for year, word in ((2031, "timeout=timeout"), (2019, "Get a page"), (2030, "answer.status !=")):
        content = content.replace(word, f"{word} ")
        line.append(commit(year, content.replace(" \n", "  # more\n")))
    content = content.replace(" \n", "  # more\n")
    story.git("checkout", "-q", "main")
    line.append(commit(2025, FETCH.replace("answer.read()", "answer.text()")))
    environ["GIT_COMMITTER_DATE"] = "2032-01-01T00:00:00Z"
    story.git("merge", "-q", "--no-edit", "side")
    line.append(story.git("rev-parse", "HEAD"))
    assert set(_kinds(story.told()["a.py#fetch@1"])) == set(line)


def test_any_number_of_merges_is_followed(story: Story) -> None:
    """Both sides change the file each time, and every third time the same function."""
    count, other = COUNT, FETCH
    whole = story.commit(a=f"{count}\n\n{other}")
    expected = {whole}
    for number in range(tracing._MAX_TURNS + 6):
        story.git("checkout", "-qb", f"side{number}")
        sided = count.replace("= {}", f"= {{}}  # {number}") if number % 3 == 0 else count
        aside = story.commit(a=f"{sided}\n\n{other}\n\nSIDE = {number}\n")
        story.git("checkout", "-q", "main")
        mained = count.replace("sorted(totals", f"sorted({number} + totals")
        main = story.commit(a=f"X = {number}\n\n\n{mained}\n\n{other}")
        united = sided.replace("sorted(totals", f"sorted({number} + totals")
        story.git("merge", "-q", "--no-commit", "-s", "ours", f"side{number}")
        merged = f"X = {number}\n\n\n{united}\n\n{other}\n\nSIDE = {number}\n"
        merge = story.commit(a=merged)
        expected |= {main, aside, merge} if number % 3 == 0 else {main}
        count = COUNT
        expected.add(story.commit(a=f"{count}\n\n{other}"))
    assert set(_kinds(story.told()["a.py#count@1"])) == expected


def test_a_merge_of_a_move_into_an_edit_has_both(story: Story) -> None:
    born = story.commit(a=FETCH + "\n\n" + STORE)
    story.git("checkout", "-qb", "side")
    story.git("mv", "a.py", "b.py")
    moved = story.commit("Move a file")
    story.git("checkout", "-q", "main")
    edited = story.commit(a=FETCH.replace("200", "204") + "\n\n" + STORE)
    story.git("merge", "-q", "--no-edit", "side")
    later = story.commit(b=FETCH.replace("200", "205") + "\n\n" + STORE)
    told = story.told()
    assert _kinds(told["b.py#fetch@1"]) == {
        later: ("body",),
        moved: ("move",),
        edited: ("body",),
        born: ("introduced",),
    }
    assert _kinds(told["b.py#store@1"]) == {moved: ("move",), born: ("introduced",)}


def test_a_merge_of_a_rename_into_an_edit_has_both(story: Story) -> None:
    born = story.commit(a=FETCH + "\n\n" + STORE)
    story.git("checkout", "-qb", "side")
    renamed = story.commit(a=FETCH.replace("fetch", "load") + "\n\n" + STORE)
    story.git("checkout", "-q", "main")
    edited = story.commit(a=FETCH.replace("answer.read()", "answer.text()") + "\n\n" + STORE)
    story.git("merge", "-q", "--no-edit", "side")
    assert _kinds(story.told()["a.py#load@1"]) == {
        renamed: ("rename",),
        edited: ("body",),
        born: ("introduced",),
    }


def test_an_edit_of_the_old_place_comes_into_a_moved_file_with_its_merge(story: Story) -> None:
    born = story.commit(a=FETCH)
    story.git("checkout", "-qb", "side")
    story.commit(a=FETCH.replace("200", "204"))
    story.git("checkout", "-q", "main")
    story.git("mv", "a.py", "b.py")
    moved = story.commit("Move a file")
    story.git("merge", "-q", "--no-edit", "side")
    merge = story.git("rev-parse", "HEAD")
    assert _kinds(story.told()["b.py#fetch@1"]) == {
        merge: ("body",),
        moved: ("move",),
        born: ("introduced",),
    }


def test_a_merge_of_two_moves_to_a_third_place_follows_both(story: Story) -> None:
    born = story.commit(a=FETCH, other=STORE)
    story.git("checkout", "-qb", "side")
    story.git("mv", "a.py", "c.py")
    sided = story.commit("Move it there")
    story.git("checkout", "-q", "main")
    story.git("mv", "a.py", "b.py")
    mained = story.commit("Move it here")
    story.git("merge", "-q", "--no-commit", "-s", "ours", "side")
    story.git("mv", "b.py", "d.py")
    merge = story.commit("Merge")
    assert _kinds(story.told()["d.py#fetch@1"]) == {
        merge: ("move",),
        mained: ("move",),
        sided: ("move",),
        born: ("introduced",),
    }


def test_what_another_history_brings_into_a_folder_keeps_its_past(story: Story) -> None:
    story.commit(a=STORE)
    story.git("checkout", "-q", "--orphan", "library")
    story.git("rm", "-qrf", ".")
    born = story.commit(fetching=FETCH)
    edited = story.commit(fetching=FETCH.replace("200", "204"))
    story.git("checkout", "-q", "main")
    story.git("merge", "-q", "--no-commit", "-s", "ours", "--allow-unrelated-histories", "library")
    story.git("read-tree", "--prefix=parts/", "-u", "library")
    merge = story.commit("Take a library in")
    assert _kinds(story.told()["parts/fetching.py#fetch@1"]) == {
        merge: ("move",),
        edited: ("body",),
        born: ("introduced",),
    }


def test_a_revert_brings_back_who_was_deleted(story: Story) -> None:
    born = story.commit(a=FETCH + "\n\n" + STORE)
    edited = story.commit(a=FETCH + "\n\n" + STORE.replace("wb", "ab"))
    gone = story.commit(a=FETCH)
    story.git("revert", "--no-edit", "HEAD")
    back = story.git("rev-parse", "HEAD")
    told = story.told()["a.py#store@1"]
    assert _kinds(told) == {
        back: ("introduced",),
        gone: ("deleted",),
        edited: ("body",),
        born: ("introduced",),
    }
    first = next(change for change in told.changes if change.commit == back)
    assert "brought back" in first.evidence


def test_a_file_that_a_revert_brings_back_is_the_old_one(story: Story) -> None:
    story.commit(a=FETCH, b=STORE)
    gone = story.commit(b=None)
    story.git("revert", "--no-edit", "HEAD")
    assert gone in _kinds(story.told()["b.py#store@1"])


@pytest.mark.parametrize("into", ["main", "side"])
def test_what_a_parallel_branch_deleted_is_not_brought_back(story: Story, into: str) -> None:
    story.commit(a=FETCH)
    story.git("checkout", "-qb", "side")
    story.commit(a=FETCH + "\n\n" + STORE)
    story.commit(a=FETCH)
    story.git("checkout", "-q", "main")
    again = story.commit("Restore storing", a=FETCH + "\n\n" + STORE)
    story.git("checkout", "-q", into)
    story.git("merge", "-q", "--no-edit", "side" if into == "main" else "main")
    assert _kinds(story.told()["a.py#store@1"]) == {again: ("introduced",)}


def test_what_a_merged_branch_deleted_is_brought_back(story: Story) -> None:
    born = story.commit(a=FETCH + "\n\n" + STORE, b=COUNT)
    story.git("checkout", "-qb", "side")
    gone = story.commit(a=FETCH)
    story.git("checkout", "-q", "main")
    story.commit(b=COUNT.replace("1", "2"))
    story.git("merge", "-q", "--no-edit", "side")
    back = story.commit("Restore storing", a=FETCH + "\n\n" + STORE)
    assert set(_kinds(story.told()["a.py#store@1"])) == {back, gone, born}


def test_behind_a_merge_of_its_file_nothing_is_brought_back(story: Story) -> None:
    lines = f"{FETCH}\n\n{COUNT}\n\n{STORE}"
    story.commit(a=lines)
    story.git("checkout", "-qb", "side")
    story.commit(a=f"{FETCH}\n\n{COUNT}")
    story.git("checkout", "-q", "main")
    story.commit(a=lines.replace("200", "204"))
    story.git("merge", "-q", "--no-edit", "side")
    back = story.commit("Restore storing", a=lines.replace("200", "204"))
    assert _kinds(story.told()["a.py#store@1"]) == {back: ("introduced",)}


def test_what_went_elsewhere_and_comes_again_was_not_deleted(story: Story) -> None:
    story.commit(a=FETCH + "\n\n" + STORE)
    story.commit(a=FETCH, b=STORE)
    again = story.commit("Restore storing", a=FETCH + "\n\n" + STORE)
    assert _kinds(story.told()["a.py#store@1"]) == {again: ("introduced",)}


def test_a_second_one_of_a_name_is_not_the_first_brought_back(story: Story) -> None:
    story.commit(a=FETCH + "\n\n" + STORE)
    story.commit(a=FETCH.replace("200", "204") + "\n\n" + STORE)
    again = story.commit(
        "Restore storing", a="\n\n".join((FETCH.replace("200", "204"), STORE, STORE))
    )
    told = story.told()
    kinds = [_kinds(told[f"a.py#store@{ordinal}"]) for ordinal in (1, 2)]
    assert {again: ("introduced",)} in kinds


def test_who_is_brought_back_twice_has_both_told(story: Story) -> None:
    born = story.commit(a=FETCH + "\n\n" + STORE)
    commits = [born]
    for _ in range(2):
        commits.append(story.commit(a=FETCH))
        commits.append(story.commit("Restore storing", a=FETCH + "\n\n" + STORE))
    told = story.told()["a.py#store@1"]
    assert set(_kinds(told)) == set(commits)
    evidence = [each.evidence for each in told.changes if each.kinds == ("introduced",)]
    assert ["brought back" in each for each in evidence] == [True, True, False]


@pytest.mark.parametrize(("steps", "is_found"), [(199, True), (200, False)])
def test_what_was_deleted_long_ago_is_not_looked_for(
    story: Story, steps: int, is_found: bool
) -> None:
    born = story.commit(a=FETCH + "\n\n" + STORE)
    gone = story.commit(a=FETCH)
    for number in range(steps):
        story.commit(a=FETCH.replace("200", str(number)))
    back = story.commit("Restore storing", a=FETCH + "\n\n" + STORE)
    found = set(_kinds(story.told()["a.py#store@1"]))
    assert found == ({back, gone, born} if is_found else {back})


def test_the_same_text_again_without_a_word_of_a_revert_is_new(story: Story) -> None:
    story.commit(a=FETCH, b=STORE)
    story.commit(b=None)
    again = story.commit("Add storing", b=STORE)
    assert _kinds(story.told()["b.py#store@1"]) == {again: ("introduced",)}


def test_what_was_copied_is_new_and_the_original_stays_itself(story: Story) -> None:
    born = story.commit(a=FETCH)
    copied = story.commit(b=FETCH)
    told = story.told()
    assert _kinds(told["a.py#fetch@1"]) == {born: ("introduced",)}
    assert _kinds(told["b.py#fetch@1"]) == {copied: ("introduced",)}


def test_an_id_is_the_same_in_a_history_with_other_words(story: Story, tmp_path: Path) -> None:
    story.commit(a=FETCH)
    story.commit(a=FETCH.replace("200", "204"), b=COUNT)
    before = {name: told.node for name, told in story.told().items()}
    command = "cat > /dev/null && echo Otherwise"
    story.git("filter-branch", "-f", "--msg-filter", command)
    after = {name: told.node for name, told in story.told().items()}
    assert before == after
    assert all(node.startswith("node:") for node in after.values())


def test_functions_that_only_change_places_have_no_change(story: Story) -> None:
    born = story.commit(a=f"{FETCH}\n\n{STORE}\n\n{COUNT}")
    story.commit(a=f"{COUNT}\n\n{FETCH}\n\n{STORE}")
    assert all(set(_kinds(told)) == {born} for told in story.told().values())


@pytest.mark.parametrize(
    ("message", "is_revert"),
    [
        (b'Revert "Remove storing"', True),
        (b"Bring back the old parser", True),
        (b"Restore caching", True),
        (b"Add storing", False),
        (b"Convert to bytes", False),
    ],
)
def test_a_revert_is_known_by_its_words(message: bytes, is_revert: bool) -> None:
    assert births.says_revert(message) == is_revert


# A type that is renamed, and its methods that do not stand in it

GO = "package p\n\ntype Shop struct {\n\ttax int\n\tsum int\n}\n"
GO_METHOD = "func (s *Shop) Total(extra int) int {\n\treturn s.sum + s.tax*extra\n}\n"
CPP = "class Shop {\n public:\n  int Total(int extra);\n  int tax;\n  int sum;\n};\n"
CPP_METHOD = "int Shop::Total(int extra) {\n  return sum + tax * extra;\n}\n"
RUST = "pub struct Shop {\n    tax: i32,\n    sum: i32,\n}\n"
RUST_IMPL = "impl fmt::Display for Shop {\n    fn fmt(&self, f: &mut F) -> R {\n"
RUST_IMPL += '        write!(f, "{} {}", self.tax, self.sum)\n    }\n}\n'
RENAMED_TYPES = {
    "go": {"a.go": GO + "\n" + GO_METHOD},
    "go in two files": {"a.go": GO, "b.go": "package p\n\n" + GO_METHOD},
    "c++": {"a.cpp": CPP + "\n" + CPP_METHOD},
    "c++ in two files": {"include/a.h": CPP, "src/a.cpp": '#include "a.h"\n\n' + CPP_METHOD},
    "rust": {"a.rs": RUST + "\n" + RUST_IMPL},
    "rust in two files": {"a.rs": RUST, "b.rs": "use crate::a::Shop;\n\n" + RUST_IMPL},
    "rust, as an argument": {"a.rs": RUST + "struct B;\n\n" + RUST_IMPL.replace("for Shop", "for B")
                             .replace("fmt::Display", "From<Shop>")},
}  # fmt: skip


def _changed(told: lineages.Told) -> dict[str, list[str]]:
    """What happened to the symbols of each name after their introduction."""
    changed: dict[str, list[str]] = {}
    for place, found in told.items():
        kinds = [" ".join(each.kinds) for each in found.changes]
        name = place.partition("#")[2].rpartition("@")[0]
        changed.setdefault(name, []).extend(each for each in kinds if each != "introduced")
    return changed


@pytest.mark.parametrize("name", RENAMED_TYPES)
def test_a_renamed_type_changes_none_of_its_methods(story: Story, name: str) -> None:
    files: dict[str, str | None] = dict(RENAMED_TYPES[name])
    story.commit_files(files)
    story.commit_files(
        {path: text.replace("Shop", "Store") for path, text in files.items() if text}
    )
    changed = _changed(story.told())
    assert changed.pop("Store") == ["rename"]
    assert changed
    assert not any(changed.values()), changed


def test_a_method_of_another_type_has_another_container(story: Story) -> None:
    other = GO.replace("Shop", "Other").replace("package p\n\n", "").replace("sum", "all")
    story.commit_files({"a.go": GO + other + GO_METHOD})
    story.commit_files({"a.go": GO + other + GO_METHOD.replace("Shop", "Other")})
    assert _changed(story.told())["Other.Total"] == ["container"]


def test_names_of_one_declaration_share_what_happens_to_it(story: Story) -> None:
    code = "package p\n\n// Both.\nvar left, right = 1, 2\n"
    story.commit_files({"a.go": code})
    story.commit_files({"a.go": code.replace("1, 2", "1, 3")})
    story.commit_files({"a.go": code.replace("1, 2", "1, 3").replace("right", "wrong")})
    changed = _changed(story.told())
    assert changed == {"left": ["signature", "body"], "wrong": ["rename", "body"]}


# What a merge did to files as such

SETTINGS = "".join(f"{name}: {number}\n" for number, name in enumerate("abcdefgh"))


def _at(text: str, **lines: str) -> str:
    """Settings with other values; nothing takes one out."""
    for name, value in lines.items():
        old = next(line for line in text.splitlines(keepends=True) if line.startswith(name))
        text = text.replace(old, f"{name}: {value}\n" if value else "")
    return text


def _branched(story: Story, ours: dict[str, str | None], theirs: dict[str, str | None]) -> None:
    """Two branches change the same files, and a merge of them begins."""
    story.git("checkout", "-qb", "side")
    story.commit_files(theirs)
    story.git("checkout", "-q", "main")
    story.commit_files(ours)
    story.git("merge", "-q", "--no-commit", "-s", "ours", "side")


def _done_to_file(story: Story, path: str) -> dict[str, tuple[tuple[str, ...], linecounts.Counts]]:
    """What each commit did to a file, with the lines that came and went."""
    files = library.Library(Git(story.path), library.InThisProcess())
    events = lineages.Listed()
    state = forwards.Forwards(files, events).run(Oid(story.git("rev-parse", "HEAD")))
    files.close()
    file = state.files.get(path)
    assert file is not None
    told = events.history(file.own).changes
    return {
        str(each.change.commit): (each.change.kinds, each.lines)
        for each in events.events
        if each.change in told
    }


@pytest.mark.parametrize("name", ["a.py", "a.yaml"])
@pytest.mark.parametrize(
    ("merged", "lines"),
    [
        ({"b": "new"}, (1, 0)),
        ({"b": ""}, (0, 0)),
        ({"b": "ours\nb: theirs"}, (0, 0)),
        ({"b": "ours", "g": "new", "h": "new"}, (2, 2)),
    ],
)
def test_a_file_is_changed_by_a_merge_that_is_like_no_parent_somewhere(
    story: Story, name: str, merged: dict[str, str], lines: tuple[int, int]
) -> None:
    text = SETTINGS if name.endswith("yaml") else SETTINGS.replace(": ", " = ")
    story.commit_files({name: text})

    def turned(**values: str) -> dict[str, str | None]:
        changed = _at(SETTINGS, **values)
        return {name: changed if name.endswith("yaml") else changed.replace(": ", " = ")}

    _branched(story, turned(b="ours"), turned(b="theirs", e="theirs"))
    merge = story.commit_files(turned(**{"e": "theirs", **merged}), "Merge")
    assert _done_to_file(story, name)[merge] == (("body",), lines)
    story.told()


@pytest.mark.parametrize("merged", [{"b": "ours"}, {"b": "theirs"}, {"b": "ours", "h": ""}])
def test_a_file_is_not_changed_by_a_merge_that_is_like_a_parent_everywhere(
    story: Story, merged: dict[str, str]
) -> None:
    story.commit_files({"a.yaml": SETTINGS})
    theirs = {"b": "theirs", "e": "theirs", "h": ""}
    _branched(
        story,
        {"a.yaml": _at(SETTINGS, b="ours", d="ours")},
        {"a.yaml": _at(SETTINGS, **theirs)},
    )
    united = _at(SETTINGS, **{"d": "ours", "h": "", **merged})
    merge = story.commit_files({"a.yaml": united}, "Merge")
    assert merge not in _done_to_file(story, "a.yaml")


def test_a_file_that_several_branches_changed_elsewhere_is_not_changed_by_their_merge(
    story: Story,
) -> None:
    story.commit_files({"a.yaml": SETTINGS, "b.yaml": SETTINGS})
    for branch, line in (("one", "a"), ("two", "d"), ("three", "g")):
        story.git("checkout", "-qb", branch, "main")
        story.commit_files({"a.yaml": _at(SETTINGS, **{line: branch})})
    story.git("checkout", "-q", "main")
    story.git("merge", "-q", "--no-edit", "one", "two", "three")
    merge = story.git("rev-parse", "HEAD")
    assert len(story.git("rev-parse", "HEAD^@").split()) > 2
    assert merge not in _done_to_file(story, "a.yaml")


@pytest.mark.parametrize("is_settled", [False, True])
def test_a_file_that_one_branch_moved_is_compared_with_its_old_place(
    story: Story, is_settled: bool
) -> None:
    story.commit_files({"a.yaml": SETTINGS})
    story.git("checkout", "-qb", "side")
    story.commit_files({"a.yaml": _at(SETTINGS, b="theirs")})
    story.git("checkout", "-q", "main")
    story.git("mv", "a.yaml", "b.yaml")
    story.commit("Move it")
    story.git("merge", "-q", "--no-commit", "side")
    merge = story.commit_files({"b.yaml": _at(SETTINGS, b="new" if is_settled else "theirs")})
    told = _done_to_file(story, "b.yaml")
    assert told.get(merge) == ((("body",), (1, 0)) if is_settled else None)


def test_a_file_that_one_branch_deleted_is_changed_by_a_merge_that_keeps_it_otherwise(
    story: Story,
) -> None:
    born = story.commit_files({"a.yaml": SETTINGS, "b.yaml": SETTINGS})
    changed: dict[str, str | None] = {"a.yaml": _at(SETTINGS, b="theirs")}
    _branched(story, {"a.yaml": None}, changed)
    merge = story.commit_files({"a.yaml": _at(SETTINGS, b="theirs", c="new")}, "Merge")
    told = _done_to_file(story, "a.yaml")
    assert told[merge] == (("body",), (1, 1))
    assert born in told


def test_a_picture_that_is_like_in_no_parent_is_changed_by_its_merge(story: Story) -> None:
    story.commit_files({"a.png": "\0"})
    _branched(story, {"a.png": "\0ours"}, {"a.png": "\0theirs"})
    merge = story.commit_files({"a.png": "\0both"}, "Merge")
    assert _done_to_file(story, "a.png")[merge] == (("body",), (0, 0))


def test_a_file_that_a_merge_itself_brings_has_its_lines(story: Story) -> None:
    story.commit_files({"a.py": FETCH})
    _branched(story, {"a.py": f"{FETCH}\n"}, {"b.yaml": SETTINGS})
    merge = story.commit_files({"c.py": COUNT}, "Merge")
    assert _done_to_file(story, "c.py")[merge] == (("introduced",), (5, 0))


def test_lines_are_not_counted_against_what_was_not_read(story: Story) -> None:
    story.commit_files({"a.py": "# more\n" * 200_000})
    smaller = story.commit_files({"a.py": FETCH})
    larger = story.commit_files({"a.py": FETCH + "# more\n" * 200_000})
    gone = _done_to_file(story, "a.py")
    assert gone[smaller] == gone[larger] == (("body",), (0, 0))


LONG = "".join(f"line {number}\n" for number in range(3000)).encode()


@pytest.mark.parametrize(
    ("befores", "after", "own"),
    [
        ([b"a\nb\nc\n", b"a\nb\nc\n"], b"a\nb\nc\n", None),
        ([b"a\nb\nc\n", b"a\nb\nx\n"], b"a\nb\nc\n", None),
        ([b"a\nb\nx\n", b"y\nb\nc\n"], b"a\nb\nc\n", None),
        ([b"a\nx\n", b"y\nb\n"], b"a\nb\n", (0, 0)),
        ([b"a\nb\nc\n", b"x\nb\nc\n"], b"x\nb\nd", (1, 1)),
        ([b"a\nc\n", b"a\nb\nc\n"], b"a\nd\n\nc\n", (2, 0)),
        ([b"a", b"b"], b"", (0, 0)),
        ([b"a"], b"b", (1, 1)),
        ([b"x\n\ny\n", b"x\n\na\n\ny\n"], b"x\n\na\n\nb\n\ny\n", (2, 0)),
        ([LONG + b"a\n", b"a\n" + LONG], b"a\n" + LONG + b"a\n", None),
        ([b"a\n" + LONG, LONG[::-1]], b"b\n" + LONG, (1, 0)),
    ],
)
def test_what_a_merge_has_that_none_of_its_parents_has(
    befores: list[bytes], after: bytes, own: tuple[int, int] | None
) -> None:
    assert linecounts.own(befores, after) == own
