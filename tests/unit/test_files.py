"""What `files` promises while nothing goes wrong, and what it says when something does."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.parts import need
from tether import errors, files, host


@pytest.fixture
def root(tmp_path: Path) -> files.Root:
    (tmp_path / "root").mkdir()
    return files.Root(str(tmp_path / "root"))


@pytest.fixture
def narrow_umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path, follow_symlinks=False).st_mode)


def in_root(root: files.Root, name: str) -> Path:
    return Path(root.path) / name


# Reading and writing


@pytest.mark.parametrize("data", [b"", b"one", b"\0\xff\n", b"x" * 3_000_000])
def test_what_is_written_is_read(root: files.Root, data: bytes) -> None:
    root.write_atomic("task.yaml", data)

    assert root.read_bytes("task.yaml") == data
    assert os.listdir(root.path) == ["task.yaml"]


def test_a_file_is_replaced_whole(root: files.Root) -> None:
    root.write_atomic("task.yaml", b"a long first version")
    root.write_atomic("task.yaml", b"short")

    assert root.read_bytes("task.yaml") == b"short"


def test_a_new_file_does_not_replace_an_old_one_unless_it_may(root: files.Root) -> None:
    root.write_atomic("task.yaml", b"old", replace=False)

    with pytest.raises(errors.AlreadyThere):
        root.write_atomic("task.yaml", b"new", replace=False)

    assert root.read_bytes("task.yaml") == b"old"
    assert os.listdir(root.path) == ["task.yaml"]


def test_a_file_that_is_not_there_is_not_found(root: files.Root) -> None:
    with pytest.raises(errors.NotFound):
        root.read_bytes("missing")
    with pytest.raises(errors.NotFound):
        root.read_bytes("missing/file")
    with pytest.raises(errors.NotFound):
        root.write_atomic("missing/file", b"")


def test_a_file_at_its_limit_is_read_and_one_byte_more_is_too_large(root: files.Root) -> None:
    root.write_atomic("task.yaml", b"12345")

    assert root.read_bytes("task.yaml", max_bytes=5) == b"12345"
    with pytest.raises(errors.FileTooLarge):
        root.read_bytes("task.yaml", max_bytes=4)


def test_what_is_no_file_is_refused_without_waiting(root: files.Root) -> None:
    os.mkfifo(in_root(root, "pipe"))
    root.make_directories("directory")

    for name in ("pipe", "directory"):
        with pytest.raises(errors.FileError):
            root.read_bytes(name)
        with pytest.raises(errors.FileError):
            root.append(name, b"record\n")


def test_a_file_in_the_place_of_a_directory_is_no_link(root: files.Root) -> None:
    root.write_atomic("file", b"")

    with pytest.raises(errors.FileError) as raised:
        root.read_bytes("file/below")

    assert type(raised.value) is errors.FileError


# Owner and mode


def test_a_new_file_is_like_its_root_whatever_the_umask(
    root: files.Root, narrow_umask: None
) -> None:
    Path(root.path).chmod(0o2775)
    root.make_directories("a/b")
    root.write_atomic("a/b/file", b"")
    root.append("log", b"record\n")

    assert mode(in_root(root, "a")) == mode(in_root(root, "a/b")) == 0o2775
    assert mode(in_root(root, "a/b/file")) == mode(in_root(root, "log")) == 0o664


def test_new_files_are_like_the_directory_that_is_named(tmp_path: Path) -> None:
    model, place = tmp_path / "model", tmp_path / "place"
    model.mkdir()
    place.mkdir()
    model.chmod(0o750)
    root = files.Root(str(place), like=str(model))

    root.write_atomic("file", b"")
    root.make_directories("below")

    assert mode(place / "file") == 0o640
    assert mode(place / "below") == 0o750


def test_a_replaced_file_keeps_its_mode(root: files.Root, narrow_umask: None) -> None:
    root.write_atomic("file", b"old")
    in_root(root, "file").chmod(0o751)

    root.write_atomic("file", b"new")

    assert mode(in_root(root, "file")) == 0o751


def test_root_gives_new_files_to_the_owner_of_the_directory(root: files.Root) -> None:
    need(os.geteuid() == 0, "root, to give files away")
    os.chown(root.path, 65534, 65534)

    root.write_atomic("file", b"")
    root.append("log", b"record\n")
    root.make_directories("below")
    with files.Lock(os.path.join(root.path, "lock"), "test"):
        pass

    for name in ("file", "log", "below", "lock"):
        found = in_root(root, name).stat()
        assert (found.st_uid, found.st_gid) == (65534, 65534), name


def test_a_directory_outside_of_any_root_is_made_like_another(
    tmp_path: Path, narrow_umask: None
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    model.chmod(0o2770)

    files.make_directory_like(str(tmp_path / "far" / "below"), like=str(model))
    files.make_directory_like(str(tmp_path / "far" / "below"), like=str(model))

    assert mode(tmp_path / "far") == mode(tmp_path / "far" / "below") == 0o2770


def test_files_and_directories_are_dressed_like_another(tmp_path: Path) -> None:
    model, file, directory = (tmp_path / name for name in ("model", "file", "directory"))
    model.mkdir()
    directory.mkdir()
    file.write_bytes(b"")
    model.chmod(0o2770)

    files.dress_like(str(file), str(model))
    files.dress_like(str(directory), str(model))

    assert (mode(file), mode(directory)) == (0o660, 0o2770)


# Appending


def test_records_are_appended_in_order(root: files.Root) -> None:
    for record in (b"one\n", b"\n", b"three\n"):
        root.append("log", record)

    assert root.read_bytes("log") == b"one\n\nthree\n"


@pytest.mark.parametrize("record", [b"", b"no end", b"two\nlines\n", b"one\nand a half"])
def test_what_is_not_one_line_is_no_record(root: files.Root, record: bytes) -> None:
    with pytest.raises(ValueError, match="one line"):
        root.append("log", record)

    assert root.names() == []


@pytest.mark.parametrize("torn_bytes", [1, 100, 65_535, 65_536, 65_537, 200_000])
@pytest.mark.parametrize("whole", [b"", b"first\n"])
def test_a_torn_tail_is_kept_aside_before_the_next_record(
    root: files.Root, torn_bytes: int, whole: bytes
) -> None:
    torn = b"t" * torn_bytes
    in_root(root, "log").write_bytes(whole + torn)

    root.append("log", b"next\n")

    assert root.read_bytes("log") == whole + b"next\n"
    assert root.read_bytes("log.torn") == torn + b"\n"


def test_every_torn_tail_is_kept(root: files.Root) -> None:
    for torn in (b"one", b"two"):
        with in_root(root, "log").open("ab") as log:
            log.write(torn)
        root.append("log", b"record\n")

    assert root.read_bytes("log.torn") == b"one\ntwo\n"


def test_an_append_does_not_wait_forever(root: files.Root) -> None:
    root.append("log", b"one\n")
    with files.Lock(os.path.join(root.path, "log"), "test"), pytest.raises(errors.LockBusy):
        root.append("log", b"two\n", wait_seconds=0)


def test_an_append_goes_to_the_file_that_has_the_name_now(root: files.Root) -> None:
    root.append("log", b"one\n")
    held = os.open(in_root(root, "log"), os.O_RDWR)
    try:
        root.write_atomic("log", b"new\n")
        root.append("log", b"two\n")
    finally:
        os.close(held)

    assert root.read_bytes("log") == b"new\ntwo\n"


# Names


def test_a_file_is_moved(root: files.Root) -> None:
    root.make_directories("inbox")
    root.make_directories("done")
    root.write_atomic("inbox/T1.yaml", b"task")

    root.rename_noreplace("inbox/T1.yaml", "done/T1.yaml")

    assert root.names("inbox") == []
    assert root.read_bytes("done/T1.yaml") == b"task"


def test_a_file_is_not_moved_over_another(root: files.Root) -> None:
    root.write_atomic("one", b"1")
    root.write_atomic("two", b"2")

    with pytest.raises(errors.AlreadyThere, match="'two'"):
        root.rename_noreplace("one", "two")

    assert (root.read_bytes("one"), root.read_bytes("two")) == (b"1", b"2")


def test_a_file_that_is_not_there_is_not_moved(root: files.Root) -> None:
    with pytest.raises(errors.NotFound, match="'one'"):
        root.rename_noreplace("one", "two")


def test_a_file_is_removed_once(root: files.Root) -> None:
    root.write_atomic("file", b"")

    assert root.remove("file")
    assert not root.remove("file")
    assert not root.remove("missing/file")


def test_it_is_known_what_exists(root: files.Root) -> None:
    root.make_directories("a/b")
    root.write_atomic("a/file", b"")

    assert root.exists("a")
    assert root.exists("a/file")
    assert not root.exists("a/other")
    assert not root.exists("c/file")


def test_names_are_sorted_and_without_unfinished_files(root: files.Root) -> None:
    for name in ("b", "a", ".gitkeep"):
        root.write_atomic(name, b"")
    in_root(root, files.TEMP_PREFIX + "abc").write_bytes(b"")

    assert root.names() == [".gitkeep", "a", "b"]


def test_directories_may_be_there_already(root: files.Root) -> None:
    root.make_directories("a/b/c")
    root.make_directories("a/b/c")

    assert root.names("a/b") == ["c"]


def test_only_old_leftovers_are_removed(root: files.Root) -> None:
    old, new = (in_root(root, files.TEMP_PREFIX + name) for name in ("old", "new"))
    for path in (old, new, in_root(root, "kept")):
        path.write_bytes(b"")
    os.utime(old, (0, 0))
    os.utime(in_root(root, "kept"), (0, 0))

    assert root.remove_leftovers() == 1
    assert sorted(os.listdir(root.path)) == [new.name, "kept"]


# What is said


def test_a_message_names_the_file_in_plain_ascii(root: files.Root) -> None:
    with pytest.raises(errors.NotFound) as raised:
        root.read_bytes("t\u202e\x1b[31m\n\u00e4sk")

    assert raised.value.message.isascii()
    assert raised.value.message.isprintable()
    assert "sk'" in raised.value.message


def test_a_message_does_not_grow_with_the_name(root: files.Root) -> None:
    with pytest.raises(errors.FileError) as raised:
        root.write_atomic("n" * 5000, b"")

    assert len(raised.value.message) < 250


def test_a_file_that_the_size_limit_forbids_is_no_room_on_the_disk(root: files.Root) -> None:
    root.write_atomic("file", b"old")
    script = (
        "import resource, sys; from tether import files\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "root = files.Root(sys.argv[1])\n"
        "for write in (lambda: root.write_atomic('file', b'x' * 200),\n"
        "              lambda: root.append('log', b'x' * 200 + b'\\n')):\n"
        "    try: write()\n"
        "    except Exception as problem: print(problem.code)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, root.path], capture_output=True, text=True, check=True
    )

    assert done.stdout == "disk_full\ndisk_full\n"
    assert root.read_bytes("file") == b"old"
    assert root.read_bytes("log") == b""
    assert root.names() == sorted(os.listdir(root.path)) == ["file", "log"]


def test_a_place_that_may_not_be_written_says_so(root: files.Root) -> None:
    root.write_atomic("file", b"old")
    Path(root.path).chmod(0o555)
    script = (
        "import os, sys; from tether import files\n"
        "os.chdir(sys.argv[1])\n"
        "os.geteuid() or os.setuid(65534)\n"
        "root = files.Root('.')\n"
        "for write in (lambda: root.write_atomic('file', b'new'), lambda: root.remove('file'),\n"
        "              lambda: root.append('log', b'record\\n'),\n"
        "              lambda: root.make_directories('below'),\n"
        "              lambda: files.Lock('lock', 'test').acquire()):\n"
        "    try: write()\n"
        "    except Exception as problem: print(problem.code)\n"
        "print(root.read_bytes('file'))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, root.path], capture_output=True, text=True, check=True
    )

    assert done.stdout == "not_writable\n" * 5 + "b'old'\n"


# Locks


@pytest.fixture
def lock_path(tmp_path: Path) -> str:
    return str(tmp_path / "tether.lock")


HOLDS = (
    "import sys; from tether import files\n"
    "with files.Lock(sys.argv[1], 'claim'):\n"
    "    print('up', flush=True)\n"
    "    sys.stdin.read()\n"
)


@pytest.fixture
def other_holder(lock_path: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", HOLDS, lock_path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        yield child
        child.kill()


def test_a_lock_is_given_back(lock_path: str) -> None:
    for _ in range(3):
        with files.Lock(lock_path, "claim", wait_seconds=0):
            pass


def test_a_lock_does_not_nest(lock_path: str) -> None:
    outer = files.Lock(lock_path, "claim", wait_seconds=0.01)
    with outer:
        with pytest.raises(errors.LockBusy):
            files.Lock(lock_path, "claim", wait_seconds=0.01).acquire()
        with pytest.raises(errors.LockBusy):
            outer.acquire()

    with files.Lock(lock_path, "claim"):
        pass


def test_a_wait_that_was_given_up_does_not_keep_the_lock(lock_path: str) -> None:
    with files.Lock(lock_path, "claim"):
        for _ in range(50):
            with pytest.raises(errors.LockBusy):
                files.Lock(lock_path, "claim", wait_seconds=0.001).acquire()

    # The abandoned waiters take it in turn and give it back; a fresh process waits behind them.
    command = [sys.executable, "-c", HOLDS, lock_path]
    done = subprocess.run(command, input=b"", capture_output=True, check=True, timeout=60)
    assert done.stdout == b"up\n"


def test_the_holder_is_named(lock_path: str, other_holder: subprocess.Popen[bytes]) -> None:
    holder = files.holder(lock_path)
    assert holder is not None
    assert (holder.pid, holder.purpose, holder.state) == (other_holder.pid, "claim", "running")

    with pytest.raises(errors.LockBusy) as raised:
        files.Lock(lock_path, "finish", wait_seconds=0).acquire()

    message = raised.value.message
    assert f"process {other_holder.pid} " in message
    assert "'claim'" in message
    assert holder.since in message
    assert "stopped" not in message


def test_a_stopped_holder_is_said_to_be_stopped(
    lock_path: str, other_holder: subprocess.Popen[bytes]
) -> None:
    other_holder.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, other_holder.pid, os.WSTOPPED | os.WNOWAIT)

    with pytest.raises(errors.LockBusy, match="which is stopped"):
        files.Lock(lock_path, "finish", wait_seconds=0).acquire()


def test_a_lock_dies_with_its_process(
    lock_path: str, other_holder: subprocess.Popen[bytes]
) -> None:
    other_holder.kill()

    with files.Lock(lock_path, "finish"):
        holder = files.holder(lock_path)
    assert holder is not None
    assert holder.pid == os.getpid()


def test_a_waiter_gets_the_lock_when_it_becomes_free(
    lock_path: str, other_holder: subprocess.Popen[bytes]
) -> None:
    command = [sys.executable, "-c", HOLDS, lock_path]
    waiter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other_holder.stdin is not None
    other_holder.stdin.close()

    assert waiter.communicate(timeout=60)[0] == b"up\n"
    assert waiter.returncode == 0


def test_the_note_of_a_dead_holder_names_nobody(
    lock_path: str, other_holder: subprocess.Popen[bytes]
) -> None:
    other_holder.kill()
    other_holder.wait()

    assert Path(lock_path).read_bytes() != b""
    assert files.holder(lock_path) is None


def test_a_note_with_the_start_of_an_earlier_process_names_nobody(lock_path: str) -> None:
    need(sys.platform == "linux", "start ticks, which only Linux notes")
    with files.Lock(lock_path, "claim"):
        note = json.loads(Path(lock_path).read_bytes())
        assert note["start_ticks"] == host.observe(os.getpid()).start_ticks
        Path(lock_path).write_text(json.dumps(note | {"start_ticks": note["start_ticks"] - 1}))

        assert files.holder(lock_path) is None


def test_a_lock_that_was_given_back_names_nobody(lock_path: str) -> None:
    with files.Lock(lock_path, "claim"):
        pass

    assert files.holder(lock_path) is None
    assert os.path.exists(lock_path)


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"pid": 1}',
        b'{"pid": "1", "start_ticks": 1, "purpose": "claim", "since": "2026-01-01T00:00:00.000Z"}',
        b'{"pid": -1, "start_ticks": null, "purpose": "x", "since": "2026-01-01T00:00:00.000Z"}',
        b'{"pid": 1, "start_ticks": null, "purpose": "\\u001b[31m", "since": "2026"}',
        b'{"pid": 1, "start_ticks": null, "purpose": 7, "since": 8}',
        b"[" * 1000,
    ],
)
def test_a_note_that_nobody_wrote_names_nobody(lock_path: str, note: bytes) -> None:
    Path(lock_path).write_bytes(note)

    assert files.holder(lock_path) is None
    with files.Lock(lock_path, "claim"):
        assert files.holder(lock_path) is not None


def test_a_lock_without_a_file_has_no_holder(lock_path: str) -> None:
    assert files.holder(lock_path) is None


def test_a_lock_whose_file_was_replaced_is_taken_on_the_new_file(lock_path: str) -> None:
    first = files.Lock(lock_path, "claim")
    with first:
        os.unlink(lock_path)
        with files.Lock(lock_path, "claim", wait_seconds=0):
            pass


def test_a_forked_child_does_not_keep_the_lock(lock_path: str) -> None:
    script = (
        "import os, sys; from tether import files\n"
        "lock = files.Lock(sys.argv[1], 'claim'); lock.acquire()\n"
        "read, write = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.close(write); os.read(read, 1); os._exit(0)\n"
        "lock.release()\n"
        "files.Lock(sys.argv[1], 'claim', wait_seconds=0).acquire()\n"
        "os.close(write); os.wait()\n"
    )
    subprocess.run([sys.executable, "-c", script, lock_path], check=True, timeout=60)


def test_two_processes_never_hold_a_lock_at_once(tmp_path: Path, lock_path: str) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    script = (
        "import sys; from tether import files\n"
        "for _ in range(50):\n"
        "    with files.Lock(sys.argv[1], 'count', wait_seconds=60):\n"
        "        number = int(open(sys.argv[2]).read())\n"
        "        open(sys.argv[2], 'w').write(str(number + 1))\n"
    )
    command = [sys.executable, "-c", script, lock_path, str(counter)]
    children = [subprocess.Popen(command) for _ in range(8)]

    assert [child.wait(timeout=120) for child in children] == [0] * 8
    assert counter.read_text() == "400"


def test_a_forked_child_does_not_let_go_of_its_parents_lock(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with files.Lock(path, purpose="parent") as lock:
        pid = os.fork()
        if pid == 0:
            lock.release()
            os._exit(0)
        os.waitpid(pid, 0)
        assert files.holder(path) is not None
        with pytest.raises(errors.LockBusy):
            files.Lock(path, purpose="other", wait_seconds=0.01).acquire()
    files.Lock(path, purpose="other", wait_seconds=0.01).acquire()


def test_only_old_leftovers_are_counted(root: files.Root) -> None:
    in_root(root, f"{files.TEMP_PREFIX}new").touch()
    in_root(root, f"{files.TEMP_PREFIX}old").touch()
    os.utime(in_root(root, f"{files.TEMP_PREFIX}old"), (0, 0))
    assert root.count_leftovers() == 1
    assert root.remove_leftovers() == 1
    assert root.count_leftovers() == 0
