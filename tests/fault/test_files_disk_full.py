"""On a full disk every old file stays whole and the error says what is the matter."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts import need

# Fills the disk by the operation itself until it is refused, then once more after making room.
FILLS = r"""
import json, os, sys
from tether import errors, files

directory, operation = sys.argv[1:]
root = files.Root(directory)
for number in range(4):
    root.write_atomic(f"old{number}", b"old" * 100)
root.append("log", b"old\n")

def big(number):
    if operation == "write new":
        root.write_atomic(f"new{number}", b"n" * 3000)
    elif operation == "write over":
        root.write_atomic("old0", b"old" * 1000 * (number + 1))
    elif operation == "append":
        root.append("log", b"r" * 3000 + b"\n")
    else:
        root.make_directories(f"d{number}/d/d/d")

said = ""
try:
    for number in range(1000):
        big(number)
except errors.TetherError as problem:
    said = problem.code
with open(os.path.join(directory, "log"), "rb") as log:
    lines = log.read().split(b"\n")
print(json.dumps({
    "said": said,
    "did": number,
    "old": all(set(root.read_bytes(f"old{n}").split(b"old")) == {b""} for n in range(4)),
    "log": lines[0] == b"old" and lines[-1] == b"" and all(len(x) == 3000 for x in lines[1:-1]),
    "temps": [n for n in os.listdir(directory) if n.startswith(files.TEMP_PREFIX)],
    "lock": files.Lock(os.path.join(directory, "old3"), "test").acquire() is None,
    "removed": root.remove("old2"),
}))
"""


def on_small_disk(directory: Path, size: str, script: str, *arguments: str) -> str:
    """What a script prints that runs with a small disk of its own at the directory."""
    mount = f'mount -t tmpfs -o "{size}" tmpfs "$0" && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", mount, str(directory)]
    run = [sys.executable, "-c", script, str(directory), *arguments]
    return subprocess.run([*command, *run], capture_output=True, text=True, check=True).stdout


def may_mount(directory: Path) -> bool:
    if shutil.which("unshare") is None:
        return False
    try:
        on_small_disk(directory, "size=64k", "pass")
    except subprocess.CalledProcessError:
        return False
    return True


@pytest.mark.parametrize("size", ["size=64k", "size=128k", "size=1m", "size=1m,nr_inodes=20"])
@pytest.mark.parametrize("operation", ["write new", "write over", "append", "make directories"])
def test_a_full_disk_leaves_every_old_file_whole(tmp_path: Path, size: str, operation: str) -> None:
    need(may_mount(tmp_path), "the right to mount a small disk")
    if operation == "make directories" and "inodes" not in size:
        size += ",nr_inodes=30"
    if operation in ("write over", "append"):
        size = size.partition(",")[0]

    report = json.loads(on_small_disk(tmp_path, size, FILLS, operation))

    assert report.pop("did") >= 1
    assert report == {
        "said": "disk_full",
        "old": True,
        "log": True,
        "temps": [],
        "lock": True,
        "removed": True,
    }


def test_a_plain_write_to_a_full_disk_destroys_the_old_content(tmp_path: Path) -> None:
    """The control: this disk is really full."""
    need(may_mount(tmp_path), "the right to mount a small disk")
    script = (
        "import sys\n"
        "path = sys.argv[1] + '/old'\n"
        "open(path, 'wb').write(b'old' * 100)\n"
        "try: open(path, 'wb').write(b'new' * 100_000)\n"
        "except OSError: pass\n"
        "print(open(path, 'rb').read(3))\n"
    )

    assert on_small_disk(tmp_path, "size=64k", script) != "b'old'\n"
