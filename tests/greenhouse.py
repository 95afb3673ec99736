"""What acceptance tests of lineage share: a repository with a past, and the command line in it.

A greenhouse whose watering was made, put on a timer, and taken off it again; whose decisions were
replaced; and whose tasks hang together in a row, in a star, and not at all.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

from tests import forking
from tests.conftest import Ended

POUR, TIMER, HAND, SHINE = (
    *("T20260301-watr01", "T20260305-tmer01"),
    *("T20260310-hand01", "T20260312-shne01"),
)
# Each extends the one before it.
ROW = tuple(f"T20260313-step0{number}" for number in range(1, 6))
# What is far extends a leaf, and what is farther extends that.
STAR, FAR, FARTHER = "T20260314-star00", "T20260314-far001", "T20260314-far002"
LEAVES = tuple(f"T20260314-eaf00{number}" for number in range(1, 9))
ALONE = "T20260315-ape001"
SHUT = "\n\ndef shut(valve):\n    valve.close()\n    valve.report('shut')\n    return valve.state\n"
WATER = (
    f"def pour(bed, litres):\n    for plant in bed:\n        plant.soak(litres / len(bed))\n{SHUT}"
)
TIMED = f"""def pour(bed, litres):
    for plant in bed:
        if plant.timer.is_due():
            plant.soak(litres / len(bed))
            plant.timer.rewind()
            plant.journal.append(litres)
{SHUT}"""
CLOCK = "def tick(clock):\n    clock.seconds += 1\n    return clock.seconds\n"
TOCK = "def tick(clock):\n    clock.seconds += 60\n    clock.strike()\n    return clock.seconds\n"
LAMP_JS = "function glow(lamp) {\n  lamp.on();\n  return lamp.watts * lamp.hours;\n}\n"
LAMP_PY = "def shine(bulbs):\n    return [each.light() for each in bulbs if each.works]\n"
_ADR = "# {title}\n\nStatus: {status}\n\nDate: {day}\n\n## Decision\n\n{text}\n"
COLUMNS = 80


class Greenhouse:
    """A repository, and the command line in it."""

    def __init__(self, path: Path, environ: dict[str, str], server: forking.Server) -> None:
        self.path, self.environ, self._server = path, environ, server

    def copy(self, path: Path) -> Greenhouse:
        """Another one that looks the same, which may be changed."""
        shutil.copytree(self.path, path, symlinks=True)
        return self.at(path)

    def at(self, path: Path) -> Greenhouse:
        """The command line somewhere else."""
        return Greenhouse(path, self.environ, self._server)

    def git(self, *words: str, at: str = "", cwd: Path | None = None) -> str:
        dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
        done = subprocess.run(
            ["git", *words], cwd=cwd or self.path, env={**self.environ, **dates},
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    def clone(self, path: Path, *options: str) -> Greenhouse:
        """A clone of it with a store of its own, in which nothing is known yet."""
        self.git("clone", "-q", *options, self.path.as_uri(), str(path))
        made = self.at(path)
        made.do("init", "--yes")
        return made

    def write(self, name: str, content: str) -> None:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)

    def commit(self, day: str, message: str, files: dict[str, str]) -> None:
        for name, content in files.items():
            self.write(name, content)
        self.git("add", "-A")
        self.git("commit", "-qm", message, at=f"{day}T09:00:00Z")

    def task(self, task: str, title: str, **others: Any) -> None:
        """A task, as it was written down on the day that its id has."""
        day = f"{task[1:5]}-{task[5:7]}-{task[7:9]}"
        fields = {
            "id": task, "title": title, "status": "new",
            "created_at": f"{day}T08:00:00.000Z", **others,
        }  # fmt: skip
        self.write(f"work/inbox/{task}.yaml", json.dumps(fields, indent=1) + "\n")

    # The command line

    def run(self, *words: str, stdin: str = "", env: dict[str, str] | None = None) -> Ended:
        own = {**self.environ, **(env or {})}
        ended = Ended(*self._server.run(words, str(self.path), own, stdin))
        assert "Traceback" not in ended.err, ended.err
        return ended

    def do(self, *words: str, **env: str) -> Any:
        ended = self.run(*words, "--json", env=env)
        assert ended.code == 0, ended.out + ended.err
        assert ended.json["ok"]
        return ended.json

    def told(self, *words: str) -> Any:
        """What a question of lineage answers to programs."""
        return self.do("lineage", *words)

    def page(self, *words: str) -> str:
        """What it answers to people."""
        ended = self.run("lineage", *words)
        assert ended.code == 0, ended.err
        return ended.out

    def on_terminals(self, *commands: str) -> list[str]:
        """What commands show on terminals of eighty columns."""
        return [_read(*each) for each in [self._on_a_terminal(words) for words in commands]]

    def _on_a_terminal(self, words: str) -> tuple[subprocess.Popen[bytes], int]:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, COLUMNS, 0, 0))
        process = subprocess.Popen(
            [sys.executable, "-m", "tether", "lineage", *words.split()],
            cwd=self.path, env={**self.environ, "TERM": "xterm", "NO_COLOR": "1"},
            stdin=theirs, stdout=theirs, stderr=theirs,
        )  # fmt: skip
        os.close(theirs)
        return process, ours

    def refused(self, *words: str, stdin: str = "") -> tuple[int, str, str]:
        """Exit code, message and hint."""
        ended = self.run("lineage", *words, "--json", stdin=stdin)
        assert ended.json["ok"] is False
        error = ended.json["error"]
        return ended.code, error["message"], error["hint"]

    def ref(self, node: str, type_name: str) -> str:
        """What the only edge of a type is called that a node has."""
        [edge] = self.told("edges", node, "--type", type_name)["edges"]
        ref: str = edge["edge"]
        return ref


def _read(process: subprocess.Popen[bytes], terminal: int) -> str:
    shown = b""
    try:
        while chunk := os.read(terminal, 65536):
            shown += chunk
    except OSError:  # how Linux says that the other end was closed
        pass
    finally:
        os.close(terminal)
        process.wait()
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n")


def build(made: Greenhouse) -> None:
    """Let everything happen that its past has."""
    made.path.mkdir(parents=True)
    made.git("init", "-q", "-b", "main")
    made.do("init", "--yes")
    made.commit(
        "2026-03-01", f"[{POUR}] Water the beds",
        {"src/water.py": WATER, "src/clock.py": CLOCK, "src/lamp.js": LAMP_JS},
    )  # fmt: skip
    made.commit("2026-03-02", "Tell of it", {"README.md": "# Beds\n\nSee `src/water.py#pour`.\n"})
    made.commit(
        "2026-03-05", f"[{TIMER}] Water by the clock",
        {"src/water.py": TIMED, "src/clock.py": TOCK},
    )  # fmt: skip
    made.commit("2026-03-08", "Decide", _decisions())
    made.commit("2026-03-10", f"[{HAND}] Water by hand again", {"src/water.py": WATER})
    (made.path / "src/lamp.js").unlink()
    made.commit("2026-03-12", f"[{SHINE}] Shine", {"src/lamp.py": LAMP_PY})
    _write_tasks(made)
    made.commit("2026-03-20", "Write the tasks down", {"work/lineage.yaml": _relations()})
    made.do("lineage", "rebuild")


def _decisions() -> dict[str, str]:
    told = (
        ("0001-hoses", "1. Water with hoses", "Superseded by 0002", "We water with hoses."),
        ("0002-cans", "2. Water with cans", "Accepted. Supersedes 0001", "Cans: `src/water.py`."),
        ("0003-sun", "3. Grow in the sun", "Accepted", "All grows in the sun."),
        ("0004-shade", "4. Grow in the shade", "Accepted", "This replaces decision 0003."),
    )
    return {
        f"docs/adr/{name}.md": _ADR.format(title=title, status=status, day="2026-03-08", text=text)
        for name, title, status, text in told
    }


def _write_tasks(made: Greenhouse) -> None:
    made.task(POUR, "Water the beds")
    made.task(TIMER, "Water by the clock", description=f"Builds on {POUR}.")
    shine = f"This supersedes {TIMER}. See {HAND}, too."
    made.task(SHINE, "Shine on the leaves", description=shine)
    for number, task in enumerate(ROW):
        made.task(task, f"Step {number + 1}")
    for task, title in ((STAR, "Star"), (FAR, "Far"), (FARTHER, "Farther"), (ALONE, "Alone")):
        made.task(task, title)
    for number, task in enumerate(LEAVES):
        made.task(task, f"Leaf {number + 1}")


def _relations() -> str:
    said = [
        *((later, "extends", earlier) for earlier, later in itertools.pairwise(ROW)),
        *((leaf, "extends", STAR) for leaf in LEAVES),
        *((FAR, "extends", LEAVES[0]), (FARTHER, "extends", FAR)),
        *((SHINE, "contradicts", HAND), ("decision:0002", "motivates", HAND)),
    ]
    rows = [
        f'  - {{subject: "{subject}", type: {name}, object: "{target}"}}\n'
        for subject, name, target in said
    ]
    return f"# What no text says.\nrelations:\n{''.join(rows)}"
