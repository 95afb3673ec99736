"""A worker that does what a table says: `python -I -S worker.py SITE` in the repository.

`SITE/table.json` has the tries of each task; `SITE/ledger/<task>` gets a line for each of them. A
worker holds `SITE/locks/<task>` while it is at work, and leaves a file in `SITE/collisions` if
another one does. No more is made than `SITE/gate` says, so that the run lasts as long as it must.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time

_STEP_SECONDS = 0.1


def main(site: str) -> int:
    task, agent = os.environ["TETHER_TASK"], os.environ["TETHER_SESSION"]
    lock = os.open(f"{site}/locks/{task}", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with open(f"{site}/collisions/{task}.{agent}", "w"):
            return 1
    deed = _next_deed(site, task, agent)
    if deed == "fail":
        return 1
    if deed == "lie":
        return 0
    if deed == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if deed == "vanish":
        _checkpoint("about to lose my wrapper")
        os.kill(os.getppid(), signal.SIGKILL)
    if deed == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if deed in ("hang", "deaf", "vanish"):
        while True:
            time.sleep(1)
    _make(site, task, deed)
    return 0


def _next_deed(site: str, task: str, agent: str) -> str:
    """Enter this try into the ledger; what it is to do."""
    with open(f"{site}/ledger/{task}", "a+", encoding="ascii") as ledger:
        ledger.seek(0)
        before = len(ledger.readlines())
        ledger.write(f"{agent}\n")
    with open(f"{site}/table.json", encoding="ascii") as table:
        tries = json.load(table).get(task, [])
    return str(tries[before]) if before < len(tries) else "succeed"


def _make(site: str, task: str, deed: str) -> None:
    """Work for a while, and make what the task is about."""
    if deed == "tell":
        words = ["run", "checkpoint", f"{task} has begun"]
        subprocess.run([sys.executable, "-m", "tether", *words], check=False)
    steps = 0
    # Who forgets waits for nobody: it would be taken for one that hangs.
    while steps < 3 or (deed != "forget" and not _is_open(site)):
        steps += 1
        if deed != "forget" and steps % 4 == 1:
            _checkpoint(f"{task}: step {steps}")
        time.sleep(_STEP_SECONDS)
    with open(f"out/{task}", "w", encoding="ascii") as made:
        made.write(f"{task} is made\n")


def _is_open(site: str) -> bool:
    with open(f"{site}/gate", encoding="ascii") as gate:
        return len(os.listdir("out")) < int(gate.read() or 0)


def _checkpoint(said: str) -> None:
    """Say how far it is in the file that the coordinator looks at."""
    path = os.environ["TETHER_CHECKPOINT_FILE"]
    try:
        with open(f"{path}.new", "w", encoding="ascii") as file:
            file.write(said)
        os.replace(f"{path}.new", path)
    except OSError:
        pass  # the disk may be full, which is not for a worker to decide


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
