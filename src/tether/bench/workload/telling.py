"""The transcripts of all sessions, written one after another."""

from __future__ import annotations

import contextlib
import os
import random
import re
from collections.abc import Callable, Iterator

from tether import clock
from tether.bench.workload import archive, claude, codex, model, story, transcripts, truth, words
from tether.hints import NamedTuple

_NOT_IN_SLUG = re.compile(r"[^A-Za-z0-9]")
_SLUG_CHARS = 200
_COPIED = 30
# In Europe summer time ends on 25 October 2026 at 01:00 UTC.
_SUMMER_ENDS = clock.parse("2026-10-25T01:00:00Z")
_TORN_EVERY = 4


class Totals(NamedTuple):
    """What was written to all transcripts."""

    files: int = 0
    lines: int = 0
    tagged: int = 0
    messages: int = 0
    subagents: int = 0

    def plus(self, counts: claude.Counts, subagents: int = 0) -> Totals:
        return Totals(
            self.files + 1,
            self.lines + counts.lines,
            self.tagged + counts.tagged,
            self.messages + counts.messages,
            self.subagents + subagents,
        )


class Teller:
    """Writes transcripts below a directory."""

    def __init__(
        self, directory: str, tale: story.Story, note: truth.Truth, kept: archive.Archive
    ) -> None:
        self._directory = directory
        self._story = tale
        self._truth = note
        self._archive = kept
        rng = random.Random(f"pools {tale.seed}")  # noqa: S311 (chance that can be repeated)
        pools = words.pools(rng, tale.size.files)
        self._worlds = {
            project: _world(tale, pools, project) for project in (model.MAIN, model.SECOND_PROJECT)
        }
        self._resumed = {s.resumes for s in tale.sessions}
        self._first_lines: dict[int, list[str]] = {}
        self._killed = 0
        self.totals = Totals()

    def tell_all(self) -> Totals:
        """Write everything; a session that says more than planned leaves less to the next."""
        owed = 0
        for session in self._story.sessions:
            if session.vendor == model.GEMINI:
                continue
            wanted = max(8, session.messages - owed)
            before = self.totals.messages
            self._tell(session, wanted)
            owed += self.totals.messages - before - session.messages
        return self.totals

    def _tell(self, session: model.Session, messages: int) -> None:
        rng = random.Random(f"{self._story.seed} session {session.number}")  # noqa: S311 (as above)
        world = self._worlds[session.project]
        path = self._path(session)
        with self._opened(session, path) as place:
            page: claude.Page | codex.Page
            if session.vendor == model.CLAUDE:
                self._repeat(session, place)
                page = claude.Page(place, session, world, self._truth, rng)
            else:
                page = codex.Page(place, session, world, self._truth, rng)
            page.begin(session.start + session.skew_ms)
            last = session.start + session.skew_ms
            script = transcripts.Script(session, world, rng)
            for at, step in script.steps(messages):
                page.put(at, step)
                if step.form == transcripts.AGENT:
                    self._delegate(session, at, step, rng)
                last = at
            self._end(session, page, last + 100, path)
        self.totals = self.totals.plus(page.counts)

    def _end(
        self, session: model.Session, page: claude.Page | codex.Page, at: int, path: str
    ) -> None:
        if isinstance(page, codex.Page):
            if session.ending == model.KILLED:
                page.dangle(at)
            elif session.ending == model.AT_REST:
                page.rest(at)
        elif session.ending == model.KILLED:
            task = _held(session)
            page.dangle(at, task)
            if self._killed % _TORN_EVERY == 0:
                page.tear(at + 500, task or "H.1.1")
                self._truth.trap("truncated_line", where=path, tasks=[task])
            self._killed += 1
        elif session.ending == model.LIMITED:
            page.limit(at)
        elif session.ending == model.AT_REST:
            page.rest(at)

    def _repeat(self, session: model.Session, place: claude.Place) -> None:
        """Begin with the records of the session that this one resumes."""
        if session.resumes < 0:
            return
        old = self._story.sessions[session.resumes]
        copied = self._first_lines.pop(old.number, [])
        for line in copied:
            place.write(line.replace(old.uuid, session.uuid))
        files = [self._path(old), self._path(session)]
        self._truth.trap("same_uuid_two_files", files=files, records=len(copied))

    def _delegate(
        self, session: model.Session, at: int, step: transcripts.Step, rng: random.Random
    ) -> None:
        """A subagent, in a file of its own."""
        task = step.found[0][0]
        world = self._worlds[session.project]
        name = f"agent-{rng.getrandbits(64):016x}"
        base = f"{self._path(session).removesuffix('.jsonl')}/subagents/{name}"
        with self._opened(session, f"{base}.jsonl") as place:
            page = claude.Page(place, session, world, self._truth, rng, sidechain=True)
            asked = transcripts.Step(
                transcripts.PROMPT, f"Look at what {task} needs.", ((task, truth.MENTIONED),)
            )
            page.put(at + 10, asked)
            for number in range(rng.randrange(4, 14)):
                when = at + 3000 * (number + 1)
                described = step._replace(form=transcripts.DESCRIBED)
                page.put(when, described if number % 3 == 0 else transcripts.PLAIN)
        with open(os.path.join(self._directory, f"{base}.meta.json"), "w") as file:
            file.write('{"agentType":"explore"}')
        if not self.totals.subagents:
            self._truth.trap("sidechain", where=f"{base}.jsonl", tasks=[task])
        self.totals = self.totals.plus(page.counts, 1)

    # Places

    def _path(self, session: model.Session) -> str:
        if session.vendor == model.CLAUDE:
            root = os.path.join(self._directory, session.project)
            slug = _NOT_IN_SLUG.sub("-", root)[:_SLUG_CHARS]
            return f"home/.claude/projects/{slug}/{session.uuid}.jsonl"
        local = clock.text(session.start + local_offset(session.start, session.machine))
        day, time = local[:10], local[11:19].replace(":", "-")
        name = f"rollout-{day}T{time}-{session.uuid}.jsonl"
        return f"home/.codex/sessions/{day.replace('-', '/')}/{name}"

    @contextlib.contextmanager
    def _opened(self, session: model.Session, path: str) -> Iterator[claude.Place]:
        full = os.path.join(self._directory, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        root = words.escaped(os.path.join(self._directory, session.project))
        is_resumed = session.number in self._resumed and "/subagents/" not in path
        kept = self._first_lines.setdefault(session.number, []) if is_resumed else None
        with open(full, "w", encoding="ascii", newline="\n", buffering=1 << 20) as file:
            write = file.write if kept is None else _Copying(file.write, kept).write
            yield claude.Place(write, path, root, self._archive.keeper(session, path))


class _Copying(NamedTuple):
    """Keeps the first lines for a session that will repeat them."""

    out: Callable[[str], object]
    lines: list[str]

    def write(self, line: str) -> object:
        if len(self.lines) < _COPIED:
            self.lines.append(line)
        return self.out(line)


def local_offset(at: int, machine: int) -> int:
    """How far a machine's clock on the wall is from UTC: the second one is in Berlin."""
    if machine == 0:
        return 0
    return 2 * model.HOUR if at < _SUMMER_ENDS else model.HOUR


def _held(session: model.Session) -> str:
    """The task that a session was at when it died."""
    worked = [act.task for act in session.acts if act.what == model.WORKED]
    return worked[-1] if worked else ""


def _world(tale: story.Story, pools: words.Pools, project: str) -> transcripts.World:
    entries = [e for track in tale.plan.tracks if track.project == project for e in track.entries]
    return transcripts.World(
        pools,
        [entry.id for entry in entries if entry.task],
        [entry.id for entry in entries if entry.depth == 0],
    )
