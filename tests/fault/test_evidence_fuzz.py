"""Transcripts with random bytes flipped, put in or taken out: lines that were not hit still count.

Many damaged copies are read in one look, each as the transcript of a session of its own. A line is
hit if a byte of it or of its end has changed. Its first line says where a session works: damaged,
it takes the whole file out of sight, so it is left alone here.
"""

from __future__ import annotations

import bisect
import json
import random
import uuid
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import scale, trails
from tests.fault import site as sites
from tests.fault.site import TASKS, Git, Site
from tests.figures import Figures
from tether.evidence import model
from tether.evidence.transcripts import adapter, claude

_ROUND = 100
Seen = Counter[tuple[str, ...]]


class Hit(NamedTuple):
    """A damaged file, and which of its lines are as they were."""

    content: bytes
    whole: list[int]


def damage(lines: list[bytes], dice: random.Random) -> Hit:
    """Change some bytes behind the first line."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    content = bytearray(b"".join(lines))
    hit: set[int] = set()
    # From the end to the beginning: what is in front of a change stays where it was.
    for at in sorted(
        dice.sample(range(starts[1], len(content)), dice.randrange(1, 5)), reverse=True
    ):
        kind, length = dice.choice(("flip", "insert", "delete", "newline")), dice.randrange(1, 30)
        number = bisect.bisect_right(starts, at) - 1
        at_end = at
        if kind == "flip":
            content[at] ^= 1 << dice.randrange(8)
        elif kind == "insert":
            content[at:at] = dice.randbytes(length).replace(b"\n", b"?")
        elif kind == "newline":
            content[at:at] = b"\n"
        else:
            end = min(at + length, len(content)) - 1
            del content[at : end + 1]
            last = bisect.bisect_right(starts, end) - 1
            hit.update(range(number, last + 1))
            number = last
            at_end = end
        hit.add(number)
        if at_end >= starts[number + 1] - 1:
            hit.add(number + 1)  # its end is gone, and the next line hangs on it
    return Hit(bytes(content), [number for number in range(len(lines)) if number not in hit])


# Claude Code


def claude_lines(repo: Path, session: str) -> list[bytes]:
    talk = trails.Transcript(repo, session)
    lines = [talk.prompt("Begin")]
    for number in range(12):
        task = TASKS[number % 3]
        lines += [
            talk.said(f"Working on {task} now."),
            talk.tool("Bash", command="make", description=f"{task}: Make it"),
            talk.tool("Edit", file_path=f"/x/{number}.py", old_string="a", new_string="b"),
            talk.result(f"{task} is what it printed"),
            talk.prompt(f"Go on with {task}"),
            talk.said("Nothing of note in version 2.1.325."),
        ]
    return [line.encode() for line in lines]


def claude_file(site: Site, session: str) -> Path:
    return trails.claude_file(site.home, site.repo, session)


# Codex


def codex_lines(repo: Path, session: str) -> list[bytes]:
    records: list[tuple[str, dict[str, object]]] = [
        ("session_meta", {"id": session, "cwd": str(repo), "timestamp": "2026-11-01T00:00:00.000Z"})
    ]
    for number in range(24):
        task = TASKS[number % 3]
        for role, kind in (("assistant", "output_text"), ("user", "input_text")):
            content = [{"type": kind, "text": f"Number {number}: {task} it is"}]
            name = f"msg_{session[:8]}{number:04}{role}"
            message: dict[str, object] = {
                "type": "message",
                "id": name,
                "role": role,
                "content": content,
            }
            records.append(("response_item", message))
    return [
        json.dumps(
            {
                "timestamp": f"2026-11-01T00:{n // 60:02}:{n % 60:02}.000Z",
                "type": kind,
                "payload": said,
            }
        ).encode()
        + b"\n"
        for n, (kind, said) in enumerate(records)
    ]


def codex_file(site: Site, session: str) -> Path:
    path = site.home / ".codex/sessions/2026/11/01" / f"rollout-2026-11-01T00-00-00-{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


WRITERS = {"claude": (claude_lines, claude_file), "codex": (codex_lines, codex_file)}


def by_line(starts: list[int], activities: Iterable[model.Activity]) -> dict[int, Seen]:
    """What each line says, without where it stands."""
    found: dict[int, Seen] = {}
    for each in activities:
        number = bisect.bisect_right(starts, byte(each)) - 1
        found.setdefault(number, Counter())[plain(each)] += 1
    return found


def byte(each: model.Activity) -> int:
    return int(each.pointer.rpartition("=")[2].partition("-")[0])


def plain(each: model.Activity) -> tuple[str, ...]:
    """Without where it stands."""
    return each.task, each.kind, each.what, each.at, each.session, each.text


def lost(site: Site, agent: str, files: int, dice: random.Random) -> tuple[int, int]:
    """How many lines were left whole in so many damaged files, and what of them is missing."""
    write, place = WRITERS[agent]
    whole_lines = 0
    sessions = [str(uuid.UUID(int=dice.getrandbits(128), version=4)) for _ in range(files)]
    wanted: Seen = Counter()
    for session in sessions:
        lines = write(site.repo, session)
        place(site, session).write_bytes(b"".join(lines))
    usual = site.look()
    for session in sessions:
        lines = write(site.repo, session)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        own = [e for life in usual.lives.values() for e in life.activities if e.session == session]
        said = by_line(starts, own)
        hit = damage(lines, dice)
        place(site, session).write_bytes(hit.content)
        whole_lines += len(hit.whole)
        for number in hit.whole:
            wanted += said.get(number, Counter())
    told = site.fresh()
    found = Counter(plain(e) for life in told.lives.values() for e in life.activities)
    missing = sum((wanted - found).values())
    assert sum(wanted.values()) > files * 10
    return whole_lines, missing


@pytest.fixture
def site(tmp_path: Path, git: Git) -> Site:
    return sites.make(tmp_path, git)


@pytest.mark.proof(room="evidence")
@pytest.mark.parametrize("agent", WRITERS)
def test_lines_that_were_not_hit_still_count(site: Site, agent: str, figures: Figures) -> None:
    files = scale.count(3000, 60)
    dice = random.Random(f"damage {agent}")  # noqa: S311 (the same damage in every run)
    whole = 0
    for begin in range(0, files, _ROUND):
        lines, missing = lost(site, agent, min(_ROUND, files - begin), dice)
        whole += lines
        assert missing == 0
        for path in site.home.rglob("*.jsonl"):
            path.unlink()
    figures.add(f"damaged transcripts of {agent}", files=files, lines_not_hit=whole, of_them_lost=0)


def test_a_reader_that_stops_at_the_first_bad_line_is_caught(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    real = claude.ADAPTER.read

    def read(file: adapter.File, lines: Iterable[adapter.Line], *more: object) -> adapter.Read:
        result = adapter.Read([], [], [])
        for line in lines:
            one = real(file, [line], *more)  # type: ignore[arg-type]
            if one.problems:
                break
            result.activities.extend(one.activities)
        return result

    monkeypatch.setattr(claude, "ADAPTER", claude.ADAPTER._replace(read=read))
    assert lost(site, "claude", 20, random.Random(1))[1] > 0  # noqa: S311 (as above)


def test_every_damage_hits_the_lines_that_it_changes() -> None:
    """Whatever is called whole is there byte for byte."""
    dice = random.Random(2)  # noqa: S311 (as above)
    lines = [b"line %d of a file\n" % number for number in range(40)]
    for _ in range(500):
        hit = damage(lines, dice)
        there = Counter(hit.content.split(b"\n"))
        assert not Counter(lines[number][:-1] for number in hit.whole) - there
