"""Which processes are there at the moment of the workload, and what they hold."""

from __future__ import annotations

import json
import os

from tether import clock
from tether.bench.workload import model, story, truth
from tether.hints import NamedTuple

FILE_NAME = "processes.json"


class Held(NamedTuple):
    """A claim that is still in the table, and how its owner's process looks."""

    session: model.Session
    task: str
    at: int
    process: str
    """`alive`, `eperm` (alive, of another user), `reused` or `gone`."""


def held(tale: story.Story) -> list[Held]:
    """The claims that nobody has cleaned up: two of the living, two of the dead."""
    claims = {
        (claim.session, claim.task): claim for claim in tale.claims if claim.project == model.MAIN
    }
    live = [c for c in claims.values() if tale.sessions[c.session].ending == model.LIVE]
    dead = {
        task.id for track in tale.plan.pilot for task in track.tasks if task.fate == "dead_claim"
    }
    fallen = [
        claim
        for claim in claims.values()
        if claim.task in dead
        and tale.sessions[claim.session].vendor == model.CLAUDE
        and tale.sessions[claim.session].ending == model.KILLED
        and tale.sessions[claim.session].end > model.NOW - 40 * model.DAY
    ]
    last = sorted({c.task: c for c in sorted(fallen, key=_start)}.values(), key=_start)[-2:]
    alive = [("eperm" if n % 2 else "alive", claim) for n, claim in enumerate(live)]
    gone = [("gone" if n % 2 else "reused", claim) for n, claim in enumerate(last)]
    return [
        Held(tale.sessions[claim.session], claim.task, claim.start, process)
        for process, claim in [*alive, *gone]
    ]


def _start(claim: model.Claim) -> int:
    return claim.start


def write(tale: story.Story, directory: str, note: truth.Truth) -> None:
    """Which processes answer at the moment of the workload, and the agents' own word on them."""
    rows = []
    for each in held(tale):
        note_of = {"reused": "pid_reuse", "eperm": "eperm"}.get(each.process)
        if note_of:
            note.trap(note_of, session=each.session.name, pid=each.session.pid, tasks=[each.task])
        started = each.session.start if each.process != "reused" else model.NOW - model.DAY
        if each.process != "gone":
            answer = "eperm" if each.process == "eperm" else "alive"
            rows.append(
                {
                    "pid": each.session.pid,
                    "host": f"host-{each.session.machine}",
                    "started_at": clock.text(started),
                    "answer": answer,
                    "command": "claude" if each.process != "reused" else "postgres",
                }
            )
        _write_own_word(each, directory)
    table = {"now": clock.text(model.NOW), "processes": rows}
    with open(os.path.join(directory, FILE_NAME), "w", encoding="ascii") as file:
        file.write(json.dumps(table, indent=1) + "\n")


def _write_own_word(each: Held, directory: str) -> None:
    """`~/.claude/sessions/PID.json`, which stays behind when a process is killed."""
    place = os.path.join(directory, "home", ".claude", "sessions")
    os.makedirs(place, exist_ok=True)
    session = each.session
    word = {
        "pid": session.pid,
        "sessionId": session.uuid,
        "cwd": f"{directory}/{session.project}",
        "startedAt": session.start,
        "procStart": str(session.start // 10 % 10_000_000),
        "version": "2.1.325",
        "kind": "interactive",
        "entrypoint": "cli",
        "status": "busy",
        "updatedAt": session.end,
    }
    with open(os.path.join(place, f"{session.pid}.json"), "w", encoding="ascii") as file:
        file.write(json.dumps(word, separators=(",", ":")))
