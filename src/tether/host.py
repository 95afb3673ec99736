"""Observes processes of this machine: which host, boot and pid namespace, and what a pid is now.

It says what was seen and never what follows from it: whether an agent is dead or alive is decided
by a pure function elsewhere. Nothing here ends, stops or signals a process, except for the null
signal that asks whether a pid is in use.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable

from tether.hints import Literal, NamedTuple

PROC = "/proc"
# The kernel never gives a higher pid (PID_MAX_LIMIT on 64-bit Linux; macOS stays below 100,000).
_MAX_PID = 1 << 22
# More than any kernel takes (6 MiB on Linux).
_MAX_ENVIRON_BYTES = 1 << 23
# macOS counts all its pids in one.
_ONLY_NAMESPACE = "pid:[1]"
_SALT = b"tether host 1\0"
_MACHINE_ID_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id")
_MACHINE_ID = re.compile(rb"[0-9A-Fa-f-]{32,36}")
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_BOOTED = re.compile(rb"^btime ([0-9]{1,15})$", re.MULTILINE)
_NAMESPACE_PIDS = re.compile(rb"^NSpid:\s*(.*)$", re.MULTILINE)

Outcome = Literal["seen", "gone", "unreadable"]
State = Literal["running", "stopped", "zombie", ""]
Probe = Callable[[int], bool]


class Here(NamedTuple):
    """The place that pids are counted in; a part that cannot be known is empty."""

    host_id: str
    boot_id: str
    pid_namespace: str


class Process(NamedTuple):
    """One process for all time: a pid comes back, a pid with these start ticks does not."""

    host_id: str
    boot_id: str
    pid_namespace: str
    pid: int
    start_ticks: int


class Sighting(NamedTuple):
    """What one look at a pid showed."""

    outcome: Outcome
    start_ticks: int | None = None
    state: State = ""


_GONE = Sighting("gone")
_UNREADABLE = Sighting("unreadable")


def here() -> Here:
    """Where this process runs."""
    if sys.platform == "darwin":
        boot_id = _command_output("sysctl", "-n", "kern.bootsessionuuid")
        return Here(_host_id(_platform_uuid()), boot_id, _ONLY_NAMESPACE)
    return Here(
        _host_id(_machine_id()),
        _read(f"{PROC}/sys/kernel/random/boot_id").decode("ascii", "replace").strip(),
        _read_link(f"{PROC}/self/ns/pid"),
    )


def name() -> str:
    """What people call this machine."""
    return os.uname().nodename


def identify(pid: int) -> Process | None:
    """The process that has this pid now, or None when there is none or it cannot be seen."""
    sighting = observe(pid)
    if sighting.start_ticks is None or sighting.state == "zombie":
        return None
    return Process(*here(), pid, sighting.start_ticks)


def observe(pid: int, proc: str = PROC, probe: Probe | None = None) -> Sighting:
    """What a pid is at this moment.

    `probe` says whether a pid is in use when `proc` does not show it. It is the null signal for the
    real /proc; a tree that only looks like one knows nothing of real pids, so nobody is signalled.
    """
    # 0 and negative numbers would ask about whole process groups.
    if not 0 < pid <= _MAX_PID:
        return _GONE
    if sys.platform == "darwin":
        return observe_by_psutil(pid)
    if probe is None:
        probe = is_in_use if proc == PROC else _nobody_is_there
    stat = _read(f"{proc}/{pid}/stat") if _counts_as_we_do(proc) else b""
    return _parse_stat(stat) or (_UNREADABLE if probe(pid) else _GONE)


def ancestors(proc: str = PROC) -> list[int]:
    """The pids above this process, nearest first, as far as they can be seen."""
    if sys.platform == "darwin":
        import psutil

        return [parent.pid for parent in psutil.Process().parents()]
    found: list[int] = []
    pid = os.getppid()
    while pid > 0 and pid not in found:
        found.append(pid)
        stat = _read(f"{proc}/{pid}/stat")
        fields = stat[stat.rfind(b")") + 1 :].split()
        pid = int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else 0
    return found


def environment_value(pid: int, name: str, proc: str = PROC) -> str:
    """What a process had in its environment when it started; empty if that cannot be seen."""
    if sys.platform == "darwin":
        return environment_value_by_psutil(pid, name)
    wanted = os.fsencode(name) + b"="
    try:
        with open(f"{proc}/{pid}/environ", "rb") as file:
            entries = file.read(_MAX_ENVIRON_BYTES).split(b"\0")
    except OSError:
        return ""
    found = (entry for entry in entries if entry.startswith(wanted))
    return os.fsdecode(next(found, wanted)[len(wanted) :])


def environment_value_by_psutil(pid: int, name: str) -> str:
    """`environment_value` where there is no /proc."""
    import psutil

    try:
        return str(psutil.Process(pid).environ().get(name, ""))
    except (psutil.Error, OSError):
        return ""


def pids(proc: str = PROC) -> list[int] | None:
    """All processes that can be seen; None where they are not counted as we do."""
    if sys.platform == "darwin":
        import psutil

        return psutil.pids()
    if not _counts_as_we_do(proc):
        return None
    return [int(name) for name in os.listdir(proc) if name.isdigit()]


def started_with(name: str, value: str, proc: str = PROC) -> list[int] | None:
    """Those that had a variable of this value when they started; None where none can be seen.

    One that has ended has no environment any more, so zombies are not among them.
    """
    seen = pids(proc)
    if seen is None:
        return None
    return [pid for pid in seen if environment_value(pid, name, proc) == value]


def monotonic_ms() -> int:
    """How long this boot has been running: no clock that somebody sets moves it."""
    return time.monotonic_ns() // 1_000_000


def started_ms(start_ticks: int, proc: str = PROC) -> int | None:
    """When a process of these start ticks started, by the wall clock; to a second or two."""
    if sys.platform == "darwin":
        return start_ticks
    booted = _BOOTED.search(_read(f"{proc}/stat", 1 << 20))
    per_second = os.sysconf("SC_CLK_TCK")
    return int(booted[1]) * 1000 + start_ticks * 1000 // per_second if booted else None


def is_in_use(pid: int) -> bool:
    """Whether some process, of whomever, has this pid."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def observe_by_psutil(pid: int) -> Sighting:
    """`observe` where there is no /proc.

    The ticks are milliseconds since 1970: macOS keeps the start time itself, so unlike on Linux it
    does not move with the clock.
    """
    import psutil

    try:
        process = psutil.Process(pid)
        state = process.status()
        ticks = round(process.create_time() * 1000)
    except psutil.ZombieProcess:
        return Sighting("seen", None, "zombie")
    except psutil.NoSuchProcess:
        return _GONE
    except psutil.AccessDenied:
        return _UNREADABLE
    if state in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD):
        return Sighting("seen", ticks, "zombie")
    stopped = state in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
    return Sighting("seen", ticks, "stopped" if stopped else "running")


def _nobody_is_there(_pid: int) -> bool:
    return False


def _parse_stat(stat: bytes) -> Sighting | None:
    # A program chooses its own name, with blanks, newlines and brackets: only the last one counts.
    fields = stat[stat.rfind(b")") + 1 :].split()
    try:
        letter, threads, ticks = fields[0], int(fields[17]), int(fields[19])
    except (IndexError, ValueError):
        return None
    # A main thread that has ended shows as a zombie while the others still work.
    if letter in (b"Z", b"X", b"x") and threads <= 1:
        return Sighting("seen", ticks, "zombie")
    return Sighting("seen", ticks, "stopped" if letter in (b"T", b"t") else "running")


def _counts_as_we_do(proc: str) -> bool:
    """Whether pids mean the same to `proc` as to us.

    A process in a new pid namespace may still see the old /proc, where every number is somebody
    else: a live agent would show the wrong start ticks and be taken for dead.
    """
    namespace_pids = _NAMESPACE_PIDS.search(_read(f"{proc}/self/status"))
    if namespace_pids is not None:
        return len(namespace_pids[1].split()) == 1
    # Not every sandbox's kernel tells; there `self` must at least be called as we are.
    return _read_link(f"{proc}/self") == str(os.getpid())


def _read(path: str, max_bytes: int = 8192) -> bytes:
    """The start of a small file, or nothing when it is missing, forbidden or just going away."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, max_bytes)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _read_link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _host_id(machine_id: bytes) -> str:
    # Cloned images share a machine id, so the name is part of it. A wrong "different" only loses
    # certainty; a wrong "same" could declare a live agent dead: hence no id from a name alone.
    if not machine_id:
        return ""
    node = os.fsencode(os.uname().nodename)
    return _sha256(_SALT + machine_id + b"\0" + node)[:16]


def _sha256(data: bytes) -> str:
    # hashlib loads OpenSSL, 4 ms that every hot command would pay for one short hash; the same
    # function is in a small module of its own, as `random` uses it.
    for module in ("_sha2", "_sha256"):
        try:
            return str(__import__(module).sha256(data).hexdigest())
        except ImportError:
            continue
    from hashlib import sha256

    return sha256(data).hexdigest()


def _machine_id() -> bytes:
    for path in _MACHINE_ID_FILES:
        text = _read(path).strip()
        if _MACHINE_ID.fullmatch(text):
            return text
    return b""


def _platform_uuid() -> bytes:
    listing = _command_output("ioreg", "-rd1", "-c", "IOPlatformExpertDevice")
    line = next((line for line in listing.splitlines() if "IOPlatformUUID" in line), "")
    found = _UUID.search(line)
    return found[0].encode() if found else b""


def _command_output(program: str, *arguments: str) -> str:
    import subprocess

    try:
        done = subprocess.run(
            [f"/usr/sbin/{program}", *arguments], capture_output=True, check=True, timeout=5
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()
