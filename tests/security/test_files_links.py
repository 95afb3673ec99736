"""Nothing outside of a root is read or written, whatever stands in it and whatever it is asked."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.figures import Figures
from tests.scale import count
from tether import errors, files, ids

SECRET = b"outside\n"


class Scene(NamedTuple):
    """A root, and beside it a directory that nobody may touch."""

    root: files.Root
    inside: Path
    outside: Path

    def outside_content(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.outside)): path.read_bytes() if path.is_file() else b"(dir)"
            for path in self.outside.rglob("*")
        }


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    inside, outside = tmp_path / "root", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "file").write_bytes(SECRET)
    (inside / "real").mkdir()
    (inside / "real" / "file").write_bytes(b"inside\n")
    made = Scene(files.Root(str(inside)), inside, outside)
    before = made.outside_content()
    yield made
    assert made.outside_content() == before


Operation = Callable[[files.Root, str], object]
OPERATIONS: dict[str, Operation] = {
    "read_bytes": lambda root, name: root.read_bytes(name),
    "write_atomic": lambda root, name: root.write_atomic(name, b"new\n"),
    "write_atomic exclusively": lambda root, name: root.write_atomic(name, b"new\n", replace=False),
    "append": lambda root, name: root.append(name, b"new\n"),
    "rename_noreplace from": lambda root, name: root.rename_noreplace(name, "moved"),
    "rename_noreplace to": lambda root, name: root.rename_noreplace("real/file", name),
    "make_directories": lambda root, name: root.make_directories(name),
    "remove": lambda root, name: root.remove(name),
    "exists": lambda root, name: root.exists(name),
    "names": lambda root, name: root.names(name),
    "remove_leftovers": lambda root, name: root.remove_leftovers(name, min_age_seconds=-1.0),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_link_in_the_place_of_a_file_is_refused(scene: Scene, operation: str) -> None:
    (scene.inside / "link").symlink_to(scene.outside / "file")

    # Moving onto it is refused because something is there.
    with pytest.raises((errors.LinkRefused, errors.AlreadyThere)):
        OPERATIONS[operation](scene.root, "link")

    assert (scene.inside / "link").is_symlink()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_link_to_nowhere_is_refused(scene: Scene, operation: str) -> None:
    (scene.inside / "link").symlink_to(scene.outside / "new file")

    with pytest.raises((errors.LinkRefused, errors.AlreadyThere)):
        OPERATIONS[operation](scene.root, "link")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("name", ["link/file", "link/new", "real/link/file", "link/below/new"])
def test_a_link_in_the_place_of_a_directory_is_refused(
    scene: Scene, operation: str, name: str
) -> None:
    (scene.inside / "link").symlink_to(scene.outside)
    (scene.inside / "real" / "link").symlink_to(scene.outside, target_is_directory=True)

    with pytest.raises(errors.LinkRefused):
        OPERATIONS[operation](scene.root, name)


def test_a_link_in_the_place_of_the_torn_lines_is_refused(scene: Scene) -> None:
    (scene.inside / "log").write_bytes(b"one\nha")
    (scene.inside / "log.torn").symlink_to(scene.outside / "file")

    with pytest.raises(errors.LinkRefused):
        scene.root.append("log", b"two\n")

    assert (scene.inside / "log").read_bytes() == b"one\nha"


def test_a_link_in_the_place_of_a_lock_is_refused(scene: Scene) -> None:
    (scene.inside / "lock").symlink_to(scene.outside / "file")

    with pytest.raises(errors.LinkRefused):
        files.Lock(str(scene.inside / "lock"), "test").acquire()

    assert files.holder(str(scene.inside / "lock")) is None


def test_a_link_is_not_dressed(scene: Scene) -> None:
    (scene.inside / "link").symlink_to(scene.outside / "file")
    before = (scene.outside / "file").stat().st_mode
    scene.inside.chmod(0o700)

    with pytest.raises(errors.LinkRefused):
        files.dress_like(str(scene.inside / "link"), str(scene.inside))

    assert (scene.outside / "file").stat().st_mode == before


def test_a_planted_temporary_file_is_not_written_through(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Even if the random name were known: here it always is.
    monkeypatch.setattr(os, "urandom", bytes)
    planted = scene.inside / (files.TEMP_PREFIX + "0" * 16)
    planted.symlink_to(scene.outside / "file")

    with pytest.raises(errors.TetherError):
        scene.root.write_atomic("task", b"new")

    assert not (scene.inside / "task").exists()


def test_temporary_names_do_not_repeat() -> None:
    assert len({ids.random_base32(16) for _ in range(1000)}) == 1000


def test_a_replaced_link_target_is_not_what_a_plain_open_would_do(tmp_path: Path) -> None:
    """The control: what all of the above would do to an open() that follows links."""
    (tmp_path / "victim").write_bytes(SECRET)
    (tmp_path / "link").symlink_to(tmp_path / "victim")

    with open(tmp_path / "link", "wb") as file:
        file.write(b"new")

    assert (tmp_path / "victim").read_bytes() == b"new"


# Names


TRAVERSALS = [
    *("..", ".", "", "/", "//", "../outside/file", "real/../../outside/file", "real/..", "./real"),
    *("real/.", "real/./file", "real//file", "/etc/passwd", "//etc/passwd", "real/", "/real/file"),
    *("../../../../../../etc/passwd", "real/../file", "../root/real/file", "..//file", "/..", "/."),
    *("\0", "real/file\0", "\0/..", "real\0/../../outside/file", "..\0", "file\0.yaml"),
    *("\ud800", "real/\udfff", "a\ud83d"),
]
HARMLESS = [
    *("...", "....", "..file", "file..", ".. ", " ..", ".hidden", "~", "~root", "$HOME", "%2e%2e"),
    *("%2e%2e%2foutside", "..%2foutside", "..%c0%af", "..\\outside", "\\", "\\\\host\\share", "C:"),
    *("C:\\file", "CON", "nul", "aux.txt", "-rf", "--help", "-", "*", "?", "[a]", "{a,b}", "a b"),
    *("'", '"', "`id`", "$(id)", ";id", "|id", "&", "<", ">", "!", "#", "a=b", "\n", "a\nb", "\r"),
    *("\t", "\x07", "\x08", "\x1b[31m", "\x1b]0;t\x07", "\x7f", "\x80", "\x9b31m", "\u200b"),
    *("\u200b..", "..\u200b", "\u202e", "\u2066", "\ufeff", "\u2024\u2024", "\u2025", "\u2026"),
    *("\uff0e\uff0e", "\ufe52\ufe52", "\u2024.", ".\u2024", "\u2215", "..\u2215outside", "\u2044"),
    *("\uff0foutside", "..\uff0foutside", "\u29f8", "\u00b7\u00b7", "\u0702\u0702", "\u3002\u3002"),
    *("e\u0301", "\u00e9", "\u00df", "\u0130", "\U000e0041", "\U0001f600", "\udcff", "a\udc80"),
    *("x" * 255, "x" * 256, "\u00e9" * 128, "x" * 5000, "a/" * 50 + "b", "file.torn", "log.torn"),
]


def test_there_are_enough_hostile_names() -> None:
    assert len({*TRAVERSALS, *HARMLESS}) >= 100


@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_name_leads_outside(scene: Scene, operation: str) -> None:
    for name in TRAVERSALS:
        if name == "" and operation in ("names", "remove_leftovers"):
            continue
        with pytest.raises(errors.OutsideRoot):
            OPERATIONS[operation](scene.root, name)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_name_that_only_looks_hostile_is_harmless(scene: Scene, operation: str) -> None:
    neighbours = set(os.listdir(scene.inside.parent))
    messages = []
    for name in HARMLESS:
        (scene.inside / "real").mkdir(exist_ok=True)
        (scene.inside / "real" / "file").write_bytes(b"inside\n")
        try:
            OPERATIONS[operation](scene.root, name)
        except errors.TetherError as problem:
            messages.append(problem.message)
    assert [text for text in messages if not (text.isascii() and text.isprintable())] == []
    assert set(os.listdir(scene.inside.parent)) == neighbours


# Races


SWAPS = (
    "import os, sys\n"
    "inside, outside = sys.argv[1:]\n"
    "print('up', flush=True)\n"
    "while True:\n"
    "    os.rename(inside + '/d', inside + '/aside')\n"
    "    os.symlink(outside, inside + '/d')\n"
    "    os.unlink(inside + '/d')\n"
    "    os.rename(inside + '/aside', inside + '/d')\n"
)


@pytest.fixture
def swapper(scene: Scene) -> Iterator[None]:
    """Another process that keeps putting a link to the outside in the place of a directory."""
    (scene.inside / "d").mkdir()
    command = [sys.executable, "-c", SWAPS, str(scene.inside), str(scene.outside)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield
        child.kill()


@pytest.mark.proof(room="files")
@pytest.mark.usefixtures("swapper")
def test_a_directory_that_is_swapped_for_a_link_leads_nowhere(
    scene: Scene, figures: Figures
) -> None:
    refused, rounds = 0, count(1000, at_least=50)
    for number in range(rounds):
        for operation in ("write_atomic", "append", "make_directories", "read_bytes"):
            try:
                result = OPERATIONS[operation](scene.root, f"d/{number % 7}-{operation}")
                assert result != SECRET
            except errors.TetherError:
                refused += 1
    # The fixture of the scene compares what is outside.
    assert refused > 0
    figures.add("swaps of a directory for a link", rounds=rounds, refused=refused, left_the_root=0)


@pytest.mark.usefixtures("swapper")
def test_the_swap_is_quick_enough_to_catch_a_plain_open(scene: Scene) -> None:
    """The control: `open` through the same directory reads what is outside."""
    content = b""
    for _ in range(1_000_000):
        with contextlib.suppress(OSError):
            content = (scene.inside / "d" / "file").read_bytes()
        if content:
            break
    assert content == SECRET
