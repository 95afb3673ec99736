"""258 task files of a real project: what is found in them, and what a repair leaves of them."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.conftest import Tether
from tether.tasks import document, validate, workdir

CORPORA = Path(os.environ.get("TETHER_CORPORA", Path(__file__).parents[3] / "shared/corpora"))
CORPUS = CORPORA / "lifecycle"
ROOT = "work/collaboration"
HERE = {"TETHER_TASKS_ROOT": ROOT}
# The codes of the corpus that each reading is made of.
READINGS = {
    "literal": {"P": "parse", "R1lit": "directory_status", "R2": "required_fields",
                "R3": "status_value", "R4": "timestamps", "R5": "ownership"},
    "full": {"P": "parse", "R1full": "directory_status", "R2": "required_fields",
             "R3": "status_value", "R4": "timestamps", "R5": "ownership"},
    "lenient": {"P": "parse", "R1full": "directory_status", "R2lenient": "required_fields",
                "R3enum7": "status_value", "R4lenient": "timestamps", "R5": "ownership"},
}  # fmt: skip
FILES_WITH_FINDINGS = {"literal": 65, "full": 89, "lenient": 51}

Findings = dict[str, Counter[str]]


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    if not CORPUS.is_dir():
        pytest.skip("needs the corpus beside the clone")
    files: list[dict[str, Any]] = json.loads((CORPUS / "expected.json").read_text())["files"]
    return files


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory, expected: list[dict[str, Any]]) -> Path:
    """The files of the corpus, only to be read."""
    place = tmp_path_factory.mktemp("corpus")
    with tarfile.open(CORPUS / "work.tar.gz") as packed:
        packed.extractall(place, filter="data")
    return place


@pytest.fixture
def tree(repo: Path, git: Callable[..., str], unpacked: Path) -> Path:
    """A repository with the files of the corpus in its last commit."""
    shutil.copytree(unpacked, repo, dirs_exist_ok=True)
    git("add", ".", cwd=repo)
    git("commit", "-qm", "Work of others", cwd=repo)
    return repo


def wanted(expected: list[dict[str, Any]], reading: str, *, places: bool = False) -> Findings:
    """The findings per file; with `places`, only of files in the directories of the lifecycle."""
    codes = READINGS[reading]
    found = {}
    for file in expected:
        rules = Counter({codes[c]: len(v) for c, v in file["codes"].items() if c in codes})
        if rules and (not places or workdir.located(file["path"], ROOT)):
            found[file["path"]] = rules
    return found


def subject(tree: Path, file: dict[str, Any]) -> validate.Subject:
    read = document.read((tree / file["path"]).read_bytes())
    path = PurePosixPath(file["path"])
    return validate.Subject(
        path.stem, str(path), file["dir"], file["sub"] or "", read.fields, read.problem, read.line
    )


# What is found


@pytest.mark.parametrize("reading", READINGS)
def test_the_rules_find_in_each_of_the_258_files_what_is_known(
    unpacked: Path, expected: list[dict[str, Any]], reading: str
) -> None:
    assert len(expected) == 258
    found = {}
    for file in expected:
        judged = validate.judge(subject(unpacked, file), validate.READINGS[reading])
        if judged:
            found[file["path"]] = Counter(each.rule for each in judged)
    assert found == wanted(expected, reading)


@pytest.mark.parametrize("reading", READINGS)
def test_the_command_finds_in_the_186_files_what_is_known(
    tree: Path, tether: Tether, expected: list[dict[str, Any]], reading: str
) -> None:
    ended = tether("validate", "--rules", reading, "--json", "--root", ROOT, cwd=tree)
    assert ended.code == 0
    answer = ended.json["validate"]
    assert (answer["rules"], answer["files"]) == (reading, 186)
    found: Findings = {}
    for each in answer["findings"]:
        found.setdefault(each["path"], Counter())[each["rule"]] += 1
    assert found == wanted(expected, reading, places=True)
    assert len(found) == FILES_WITH_FINDINGS[reading]


def test_a_reading_is_told_from_another(expected: list[dict[str, Any]]) -> None:
    """The control: findings of one reading are not those of the next."""
    tables = [wanted(expected, reading, places=True) for reading in READINGS]
    assert all(one != other for one in tables for other in tables if one is not other)


def test_the_state_of_the_repository_stays_as_it_was(
    tree: Path, tether: Tether, git: Callable[..., str]
) -> None:
    tether("validate", "--root", ROOT, cwd=tree)
    tether("task", "list", cwd=tree, env=HERE)
    tether("next", cwd=tree, env=HERE)
    assert git("status", "--short", cwd=tree) == ""


# What a repair leaves

# The lines that a repair may change: they begin with one of these at the margin.
REPAIRED_KEYS = ("status:", "priority:", "artifacts:", "agent:", "task_id:")


def texts(tree: Path) -> dict[str, bytes]:
    files = sorted((tree / "work").rglob("*"))
    return {
        str(file.relative_to(tree)): file.read_bytes()
        for file in files
        if file.suffix in (".yaml", ".yml")
    }


def lost(before: dict[str, bytes], after: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """Lines of a file that no file of this name has any more, in their order."""
    now: dict[tuple[str, bool], list[bytes]] = {}
    for path, content in after.items():
        now.setdefault(identity(path), []).append(content)
    return [
        (path, line)
        for path, content in before.items()
        for line in missing(content, now.get(identity(path), []))
    ]


def identity(path: str) -> tuple[str, bool]:
    """The name of a task, and whether it is in a place that is looked after at all."""
    is_looked_after = workdir.located(path, ROOT) is not None
    return (PurePosixPath(path).stem if is_looked_after else path), is_looked_after


def is_kept(line: bytes, now: bytes) -> bool:
    """A field that comes behind a last line without an end gives it one."""
    return now == line or (not line.endswith(b"\n") and now.rstrip(b"\r\n") == line)


def missing(content: bytes, candidates: list[bytes]) -> list[bytes]:
    kept = [
        line
        for line in content.splitlines(keepends=True)
        if not line.startswith(tuple(key.encode() for key in REPAIRED_KEYS))
    ]
    best = kept
    for candidate in candidates:
        lines = iter(candidate.splitlines(keepends=True))
        gone = [line for line in kept if not any(is_kept(line, each) for each in lines)]
        best = gone if len(gone) < len(best) else best
    return best


def test_a_repair_leaves_only_what_a_person_must_decide(
    tree: Path, tether: Tether, expected: list[dict[str, Any]]
) -> None:
    before = texts(tree)
    found = tether("validate", "--json", "--root", ROOT, cwd=tree).json["validate"]["findings"]
    ended = tether("validate", "--fix", "--yes", "--json", "--root", ROOT, cwd=tree)
    assert ended.code == 0
    answer = ended.json["validate"]
    assert answer["left"] == []
    # What is repaired is what was said to be reparable.
    repaired = {*answer["made"], *(each["path"] for each in answer["fixed"])}
    assert {each["path"] for each in found if each["fixable"]} == repaired
    findings = answer["findings"]
    assert [each for each in findings if each["fixable"]] == []
    # Times that nobody wrote down, ids that are too long or are not the file's name, artefacts that
    # nobody named, a broken text, a status that is none, a dependency on nothing, a directory of
    # the team's own that nobody reads.
    assert {each["rule"] for each in findings} == {
        "directory_status", "timestamp_order", "file_name", "timestamps", "status_value",
        "required_fields", "id", "parse", "dependency", "place",
    }  # fmt: skip
    for each in findings:
        if each["rule"] == "directory_status":
            is_away = each["path"].startswith(f"{ROOT}/archive/")
            assert is_away or each["grade"] == "unknown", each
        if each["rule"] in ("required_fields", "status_value"):
            assert each["detail"] in ("artefacts", "blocked"), each
    after = texts(tree)
    assert lost(before, after) == []
    assert len(after) == len(before)

    # What no repair names is as it was, byte by byte.
    named = {each["path"] for each in answer["fixed"]}
    assert {path for path, content in before.items() if after.get(path) != content} == named

    again = tether("validate", "--fix", "--yes", "--json", "--root", ROOT, cwd=tree)
    assert (again.json["validate"]["fixed"], again.json["validate"]["made"]) == ([], [])
    assert texts(tree) == after
    assert again.json["validate"]["findings"] == findings


Fault = Callable[[dict[str, bytes]], dict[str, bytes]]


@pytest.mark.parametrize(
    "fault",
    [
        lambda files: {path: raw for path, raw in files.items() if "/inbox/" not in path},
        lambda files: {path: raw.replace(b"#", b"") for path, raw in files.items()},
        lambda files: {path: raw.replace(b'"', b"'") for path, raw in files.items()},
        lambda files: {path: raw.rstrip(b"\n") for path, raw in files.items()},
    ],
    ids=["a directory", "comments", "quotes", "line ends"],
)
def test_a_repair_that_loses_something_would_be_caught(unpacked: Path, fault: Fault) -> None:
    """The control."""
    before = texts(unpacked)
    assert lost(before, before) == []
    assert lost(before, fault(before)) != []


# To work with such a tree


def test_the_open_tasks_are_listed(
    tree: Path, tether: Tether, expected: list[dict[str, Any]]
) -> None:
    ended = tether("task", "list", "--json", cwd=tree, env=HERE)
    assert ended.code == 0
    listed = {task["path"]: task for task in ended.json["tasks"]}
    for file in expected:
        if file["dir"] == "inbox" or (file["dir"] == "assigned" and file["status"] != "done"):
            assert file["path"] in listed
    [unreadable] = [file["path"] for file in expected if "P" in file["codes"]]
    assert listed[unreadable]["state"] == "unreadable"
    assert not [path for path in listed if "/backups/" in path or "/fridge/" in path]


def test_the_next_task_is_one_that_is_free_and_can_be_claimed(tree: Path, tether: Tether) -> None:
    agent = {**HERE, "TETHER_SESSION": "s1", "TETHER_AGENT": "newcomer"}
    offered = tether("next", "--json", cwd=tree, env=agent).json["task"]
    assert offered["state"] == "new"
    assert offered["path"].startswith(f"{ROOT}/inbox/")
    before = (tree / offered["path"]).read_bytes()
    taken = tether("next", "--claim", "--json", cwd=tree, env=agent)
    assert taken.code == 0
    moved = tree / ROOT / "assigned/newcomer" / f"{offered['id']}.yaml"
    assert not (tree / offered["path"]).exists()
    after = moved.read_bytes()
    assert missing(before, [after]) == []
    assert document.read(after).fields["status"] == "in_progress"


def test_the_next_task_is_found_in_a_repaired_tree_too(tree: Path, tether: Tether) -> None:
    tether("validate", "--fix", "--yes", "--root", ROOT, cwd=tree)
    assert tether("next", "--json", cwd=tree, env=HERE).json["task"]["state"] == "new"
    listed = tether("task", "list", "--json", cwd=tree, env=HERE).json["tasks"]
    shown = {task["state"] for task in listed}
    assert shown <= {"new", "assigned", "in_progress", "error", "unreadable"}
