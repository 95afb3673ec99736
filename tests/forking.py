"""Commands in processes of their own, without waiting for the interpreter to start each time.

A server imports Tether once and then forks for every command: a real process with its own number,
directory, environment and streams, that is reaped before its end is told. To start an interpreter
costs more than most commands, and the tests start thousands. What an interpreter does at its start
is tested with one (`test_hot_path`, `test_cli`); whoever changes what it reads then gets a new one.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, NoReturn

# What an interpreter reads when it starts, and never again.
_AT_START = ("PYTHON", "LC_", "LANG", "TZ")
_USUAL = {"LC_ALL": "C.UTF-8"}


def can_run(environ: dict[str, str]) -> bool:
    """May a command of this environment be forked?"""
    own = {name: value for name, value in environ.items() if name.startswith(_AT_START)}
    return own == _USUAL


def spawned(
    words: tuple[str, ...], cwd: str, environ: dict[str, str], stdin: str, user: int | None = None
) -> tuple[int, str, str]:
    """Exit code, output and errors of a command with an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tether", *words],
        cwd=cwd,
        env=environ,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        user=user,
        group=user,
        extra_groups=[] if user else None,
    )
    return done.returncode, done.stdout, done.stderr


class Server:
    """Runs commands for one process of tests."""

    def __init__(self, path: str) -> None:
        self._path = path
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(path)
        listening.listen(128)
        # Here, so that what it imports is of this checkout; and with no variable of a test.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forking", str(listening.fileno())],
            env={"PATH": os.environ["PATH"], **_USUAL},
            cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
            pass_fds=[listening.fileno()],
            stdin=subprocess.PIPE,
        )
        listening.close()

    def run(
        self, words: tuple[str, ...], cwd: str, environ: dict[str, str], stdin: str
    ) -> tuple[int, str, str]:
        """Exit code, output and errors of a command."""
        with contextlib.ExitStack() as stack:
            out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            asked, given = os.pipe()
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.connect(self._path)
            request = json.dumps([words, cwd, environ]).encode("utf-8", "surrogateescape")
            streams = [asked, out.fileno(), err.fileno()]
            socket.send_fds(connection, [len(request).to_bytes(8, "big")], streams)
            os.close(asked)
            connection.sendall(request)
            _feed(given, stdin.encode())
            status = connection.recv(16)
            assert status, "the server of commands has gone"
            return int(status), _text(out), _text(err)

    def stop(self) -> None:
        """It ends when nobody needs it any more."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _feed(pipe: int, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(pipe, "wb") as file:
        file.write(content)


def _text(file: Any) -> str:
    file.seek(0)
    content: bytes = file.read()
    return content.decode().replace("\r\n", "\n")


# The server


def _serve(listening: socket.socket) -> None:
    """Fork for whoever connects, and tell everybody how it ended."""
    told, tell = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([listening.fileno(), told, 0], [], [])
        if told in ready:
            os.read(told, 4096)
            for pid, code in _ended():
                with contextlib.suppress(OSError), running.pop(pid) as connection:
                    connection.sendall(str(code).encode())
        if listening.fileno() in ready:
            connection, _ = listening.accept()
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for other in (*running.values(), listening):
                    other.close()
                os.close(told)
                os.close(tell)
                _command(connection)
            running[pid] = connection
        if 0 in ready:
            return


def _ended() -> Iterator[tuple[int, int]]:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status)


def _command(connection: socket.socket) -> NoReturn:
    """What a process does: what the console script does."""
    from tether.cli import main

    code: int | str | None = 70
    try:
        size, streams, _, _ = socket.recv_fds(connection, 8, 3)
        request = b""
        while len(request) < int.from_bytes(size, "big"):
            request += connection.recv(65536)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        connection.close()
        words, cwd, environ = json.loads(request.decode("utf-8", "surrogateescape"))
        os.environ.clear()
        os.environ.update(environ)
        os.chdir(cwd)
        sys.argv = ["tether", *words]
        main.run()
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001 (as an interpreter ends)
        import traceback

        traceback.print_exc()
        code = 1
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _import_everything() -> None:
    import importlib
    import pkgutil

    import tether

    for found in pkgutil.walk_packages(tether.__path__, "tether."):
        if found.name != "tether.__main__":
            importlib.import_module(found.name)
    # Nobody looks through these again, so that the memory stays shared.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _import_everything()
    _serve(socket.socket(fileno=int(sys.argv[1])))
