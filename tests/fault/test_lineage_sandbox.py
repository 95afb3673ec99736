"""A grammar that hangs, crashes or eats memory costs the file that it was at, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests import bad_grammar, running
from tests.conftest import Tether
from tether import errors
from tether.git import Git, Oid
from tether.lineage import commits, sandbox, tracing
from tether.lineage.sandbox import running as parent

GitCall = Callable[..., str]
QUICK = sandbox.Limits(parse_seconds=0.2)


class Scene:
    """A repository, and sandboxes for it whose grammar obeys."""

    def __init__(self, path: Path, git: GitCall, planted: Path) -> None:
        self.path = path
        self.git = git
        self.places = (str(planted), *parent.PLACES)
        self.pid_file = planted / "pid"

    def commit(self, **files: str) -> Oid:
        for name, word in files.items():
            content = f"def {name}():\n    return {word}\n"
            (self.path / f"{name}.py").write_text(content)
        self.git("add", ".", cwd=self.path)
        self.git("commit", "-qm", f"{files}", cwd=self.path)
        return Git(self.path).resolve("HEAD")

    def box(self, limits: sandbox.Limits = QUICK, store_dir: str = "") -> sandbox.Sandbox:
        return sandbox.Sandbox(str(self.path), store_dir, limits, self.places)


@pytest.fixture
def scene(repo: Path, git: GitCall, tmp_path: Path) -> Scene:
    return Scene(repo, git, bad_grammar.plant(tmp_path / "planted"))


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("spin", "took more than 0.2 s"),
        ("wait", "took more than 0.2 s"),
        ("crash", "crashed (SIGSEGV)"),
        ("abort", "crashed (SIGABRT)"),
        ("leave", "ended with code 3"),
        ("eat", "needs too much memory"),
        ("fail", "ValueError while its symbols were looked for"),
    ],
)
def test_only_the_file_is_lost(scene: Scene, order: str, why: str) -> None:
    if order == "eat" and sys.platform != "linux":
        pytest.skip("needs a limit of address space")
    commit = scene.commit(good="1", bad=f"order_to_{order}", fine="2")
    with scene.box() as box:
        found = box.outlines(_blobs(scene, commit, "bad.py", "fine.py", "good.py"))
        [blamed] = box.quarantine.all()
    assert found[0] == "quarantined"
    assert [each.symbols[0].name for each in found[1:] if not isinstance(each, str)] == [
        "fine",
        "good",
    ]
    assert (blamed.path, blamed.language, blamed.why) == ("bad.py", "python", why)
    assert blamed.blob == _blobs(scene, commit, "bad.py")[0][0]


def test_a_history_goes_up_to_what_cannot_be_parsed(scene: Scene) -> None:
    scene.commit(f="1")
    scene.commit(f="order_to_spin")
    scene.commit(f="2")
    commit = scene.commit(f="3")
    with scene.box() as box:
        told = box.history(commit, "f.py#f")
    assert told.history.changes[0].kinds == ("body",)
    [said] = told.history.unknown
    assert said.startswith("f.py: a version was not read: its grammar hung or crashed")


def test_a_symbol_seen_at_a_glance_is_not_guessed_where_its_file_cannot_be_parsed(
    scene: Scene,
) -> None:
    body = "(one):\n    two = one + 1\n    return two\n"
    end = "\n\ndef end():\n    return {}\n"
    file = scene.path / "f.py"
    for text in (
        f"def old{body}{end.format(0)}",
        f"def new{body}{end.format(0)}\n\n# order_to_crash\n",
        f"def new{body}{end.format(0)}",
    ):
        file.write_text(text)
        tip = scene.commit(other=f"{len(text)}")
    with scene.box() as box:
        told = box.history(tip, "f.py#new")
        [blamed] = box.quarantine.all()
    assert (blamed.path, told.history.changes) == ("f.py", ())
    renamed = Git(scene.path).resolve("HEAD~1")
    assert f"{renamed[:12]}: f.py could not be read as before" in told.history.unknown


def test_without_a_limit_of_time_a_hang_is_no_answer(scene: Scene) -> None:
    """The control: it is the limit that ends the grammar, not the scene."""
    commit = scene.commit(bad="order_to_spin")
    limits = sandbox.Limits(parse_seconds=0, stall_seconds=1.0)
    with scene.box(limits) as box, pytest.raises(errors.LineageError, match="did nothing"):
        box.outlines(_blobs(scene, commit, "bad.py"))
    assert box.quarantine.all() == []


def test_a_grammar_that_obeys_no_order_blames_nobody(scene: Scene) -> None:
    commit = scene.commit(good="1")
    with scene.box() as box:
        [found] = box.outlines(_blobs(scene, commit, "good.py"))
        assert not isinstance(found, str)
        assert box.quarantine.all() == []


def test_many_bad_files_are_an_error_that_says_so(scene: Scene) -> None:
    commit = scene.commit(a="order_to_abort", b="order_to_abort + 1", c="order_to_abort + 2")
    limits = sandbox.Limits(max_blamed=2)
    with scene.box(limits) as box:
        with pytest.raises(errors.LineageError, match="more than 2 files"):
            box.outlines(_blobs(scene, commit, "a.py", "b.py", "c.py"))
        assert box.outlines(_blobs(scene, commit, "a.py")) == ["quarantined"]


def test_whoever_is_killed_from_outside_blames_no_file(scene: Scene) -> None:
    commit = scene.commit(bad="order_to_wait")
    asked = _in_a_process(scene, commit, 30)
    running.until(scene.pid_file.exists)
    running.until(lambda: scene.pid_file.read_text() != "")
    os.kill(int(scene.pid_file.read_text()), signal.SIGKILL)
    out, _ = asked.communicate()
    assert "LineageError" in out
    assert "SIGKILL" in out


def test_a_hanging_child_does_not_outlive_its_parent(scene: Scene) -> None:
    commit = scene.commit(bad="order_to_spin")
    asked = _in_a_process(scene, commit, 1)
    running.until(lambda: scene.pid_file.exists() and scene.pid_file.read_text() != "")
    child = psutil.Process(int(scene.pid_file.read_text()))
    asked.kill()
    asked.communicate()
    running.until(lambda: not _is_running(child))


def test_an_idle_child_does_not_outlive_its_parent(scene: Scene) -> None:
    commit = scene.commit(good="1")
    asked = _in_a_process(scene, commit, 30, then="input()")
    running.until(lambda: scene.pid_file.exists() and scene.pid_file.read_text() != "")
    child = psutil.Process(int(scene.pid_file.read_text()))
    asked.kill()
    asked.communicate()
    running.until(lambda: not _is_running(child))


def test_what_is_quarantined_is_named_by_the_doctor_and_tried_again_after_reindex(
    scene: Scene, tether: Tether
) -> None:
    tether("init", "--yes", cwd=scene.path)
    commit = scene.commit(bad="order_to_abort")
    store_dir = str(scene.path / ".git" / "tether")
    [(blob, _)] = blobs = _blobs(scene, commit, "bad.py")
    with scene.box(store_dir=store_dir) as box:
        assert box.outlines(blobs) == ["quarantined"]

    report = tether("doctor", "--json", cwd=scene.path).json["doctor"]
    assert [(each["blob"], each["language"]) for each in report["quarantine"]] == [(blob, "python")]
    [check] = [each for each in report["checks"] if each["name"] == "quarantine"]
    assert check["grade"] == "warn"
    assert f"{blob[:12]} bad.py (python) crashed (SIGABRT) at 20" in check["message"]
    # The real grammar would cope, but is not asked.
    asked = tether("lineage", "history", "bad.py#bad", "--json", cwd=scene.path)
    assert asked.json["error"]["why"] == "quarantined"

    assert tether("reindex", "--json", cwd=scene.path).json["reindex"]["tried_again"] == 1
    assert tether("doctor", "--json", cwd=scene.path).json["doctor"]["quarantine"] == []
    assert tether("lineage", "history", "bad.py#bad", cwd=scene.path).code == 0


def test_the_answers_are_those_of_a_process_that_may_not_die(scene: Scene) -> None:
    before = scene.commit(f="1")
    commit = scene.commit(f="2", g="3")
    own = Git(scene.path)
    with scene.box() as box:
        assert box.compare([(commit, before)]) == [commits.compare(own, commit, before)]
        assert box.trace(commit, "f.py", 2, 2) == tracing.trace(own, commit, "f.py", 2, 2)
        assert len(box.trace(commit, "f.py", 2, 2).changes) == 2


def test_errors_of_ours_come_through_as_they_are(scene: Scene) -> None:
    commit = scene.commit(good="1")
    with scene.box() as box:
        with pytest.raises(errors.NotFound, match=r"No symbol of good\.py has line 9"):
            box.trace(commit, "good.py", 9, 9)
        with pytest.raises(errors.InvalidId):
            box.compare([(Oid.from_git("nonsense"), None)])


def test_the_current_directory_and_the_environment_bring_no_modules(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = scene.commit(good="1")
    evil = tmp_path / "evil"
    evil.mkdir()
    for name in ("tree_sitter", "tree_sitter_python", "msgspec", "mmap", "sitecustomize"):
        (evil / f"{name}.py").write_text("import os\nos._exit(7)\n")
    monkeypatch.chdir(evil)
    monkeypatch.setenv("PYTHONPATH", str(evil))
    with sandbox.Sandbox(str(scene.path)) as box:
        [found] = box.outlines(_blobs(scene, commit, "good.py"))
    assert not isinstance(found, str)


def _blobs(scene: Scene, commit: Oid, *paths: str) -> list[tuple[Oid, str]]:
    entries = Git(scene.path).entries(commit, paths)
    return [(entry.oid, path) for path, entry in entries.items() if entry is not None]


_ASKING = """
import sys
from tether import errors
from tether.git import Oid
from tether.lineage import commits, sandbox, tracing
directory, blob, seconds, *places = sys.argv[1:]
box = sandbox.Sandbox(directory, "", sandbox.Limits(parse_seconds=float(seconds)), places)
try:
    print(box.outlines([(Oid(blob), "bad.py")]))
except errors.TetherError as error:
    print(type(error).__name__, error)
"""


def _in_a_process(
    scene: Scene, commit: Oid, seconds: float, then: str = ""
) -> subprocess.Popen[str]:
    """Ask for the outline of a file from another process."""
    [tracked] = [each for each in Git(scene.path).tree(commit) if each.path.endswith(".py")]
    words = [str(scene.path), tracked.oid, str(seconds), *scene.places]
    return subprocess.Popen(
        [sys.executable, "-c", f"{_ASKING}{then}", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _is_running(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
