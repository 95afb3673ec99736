"""Transcripts of Claude Code, in the shapes that version 2.1.325 writes.

Half a million lines are written, so they are put together from templates instead of being dumped;
everything that goes into them is ASCII and already escaped.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tether.bench.workload import claude_shapes as shapes
from tether.bench.workload import model, stamps, transcripts, truth
from tether.hints import NamedTuple

SOURCE = "claude:transcript"
_SPREAD = 0x9E3779B97F4A  # odd, so that numbers below 2**48 come out different


class Place(NamedTuple):
    """Where a transcript is written, and what is told of it."""

    write: Callable[[str], object]
    path: str
    """From the workload's directory."""
    root: str
    """The checkout that the session works in."""
    keep: Callable[[str, str, int], object]
    """Keeps a message in the archive: role, text, when."""


class Counts(NamedTuple):
    """What was written."""

    lines: int
    tagged: int
    messages: int


class Page:
    """One transcript, while it is written."""

    def __init__(
        self,
        place: Place,
        session: model.Session,
        world: transcripts.World,
        note: truth.Truth,
        rng: random.Random,
        *,
        sidechain: bool = False,
    ) -> None:
        self._place = place
        self._session = session
        self._world = world
        self._truth = note
        self._rng = rng
        self._side = "true" if sidechain else "false"
        bits = f"{rng.getrandbits(80):020x}"
        self._prefix = f"{bits[:8]}-{bits[8:12]}-4{bits[12:15]}-8{bits[15:18]}-"
        self._ending = shapes.ENDING % (place.root, session.uuid)
        self._number = 0
        self._parent = "null"
        self._prompt = self._uuid()
        self._context = 9000
        self._todos: dict[str, int] = {}
        # The steps of the session that it resumes have numbers already.
        self._steps = 0 if session.resumes < 0 else 1000
        self.lines = self.tagged = self.messages = 0

    @property
    def counts(self) -> Counts:
        return Counts(self.lines, self.tagged, self.messages)

    # Steps

    def put(self, at: int, step: transcripts.Step) -> None:
        """Write one step."""
        form = step.form
        if form == transcripts.TEXT:
            self._say(at, step, f'{{"type":"text","text":"{step.text}"}}')
        elif form == transcripts.THOUGHT:
            signature = f"{self._rng.getrandbits(256):064x}"
            block = f'{{"type":"thinking","thinking":"{step.text}","signature":"{signature}"}}'
            self._say(at, step, block)
        elif form == transcripts.PROMPT:
            self._prompt = self._uuid()
            self._ask(at, step, step.text, '"promptSource":"user",')
        elif form == transcripts.COMPACT:
            self._compact(at, step)
        else:
            self._use(at, step)

    def begin(self, at: int) -> None:
        uuid = self._uuid()
        stamp = stamps.millis(at)
        self._line(shapes.HOOK % (self._parent, self._uuid(), uuid, stamp, self._ending))
        self._parent = f'"{uuid}"'

    def limit(self, at: int) -> None:
        """The last words of a session that ran into a usage limit."""
        uuid = self._uuid()
        resets = (at + 3 * model.HOUR) // 1000
        self._line(
            shapes.LIMIT
            % (self._parent, uuid, stamps.millis(at), self._uuid(), resets, self._ending)
        )
        self.last_prompt("the rest", uuid)

    def last_prompt(self, text: str, leaf: str) -> None:
        session = self._session.uuid
        self._line(
            f'{{"type":"last-prompt","lastPrompt":"{text}","leafUuid":"{leaf}",'
            f'"sessionId":"{session}"}}\n'
        )

    def rest(self, at: int) -> None:
        """The turn is over: the agent has answered, and waits."""
        self._say(at, transcripts.Step(transcripts.THOUGHT), shapes.AT_REST)

    def dangle(self, at: int, task: str) -> None:
        """A tool is called, and nothing comes back."""
        found = ((task, truth.WORKED),) if task else ()
        described = f"{task}: Run the tests" if task else "Run the tests"
        self._call(at, transcripts.Step(transcripts.DESCRIBED, described, found), "Bash", described)

    def tear(self, at: int, task: str) -> None:
        """Half a line: the process died while it was writing."""
        inputs = f'{{"command":"make","description":"{task}: Build"}}'
        line = shapes.ASSISTANT % (
            *(self._parent, self._side, "torn"),
            f'{{"type":"tool_use","id":"toolu_torn","name":"Bash","input":{inputs}}}',
            *("tool_use", 1, 1, 1, 1, self._uuid(), self._uuid(), stamps.millis(at), self._ending),
        )
        self._place.write(line[: line.index('"stop_reason"') + 20])

    # Records

    def _say(self, at: int, step: transcripts.Step, block: str) -> None:
        self._assistant(at, block, "end_turn")
        self._tell(at, step)
        if step.form == transcripts.TEXT:
            self._place.keep("assistant", step.text, at)

    def _ask(self, at: int, step: transcripts.Step, text: str, more: str) -> None:
        uuid = self._uuid()
        self._line(
            shapes.USER
            % (
                *(self._parent, self._side, self._prompt, text, more),
                *(uuid, stamps.millis(at), self._ending),
            )
        )
        self._parent = f'"{uuid}"'
        self.messages += 1
        self._tell(at, step)
        self._place.keep("user", text, at)

    def _compact(self, at: int, step: transcripts.Step) -> None:
        uuid = self._uuid()
        values = (self._parent, stamps.millis(at), uuid, self._context, 1850, self._context - 2672)
        self._line(shapes.BOUNDARY % (*values, self._ending))
        self._parent, self._context = f'"{uuid}"', 9000
        self._ask(at, step, shapes.CONTINUED + step.text, shapes.SUMMARY)

    def _use(self, at: int, step: transcripts.Step) -> None:
        """A tool and its result."""
        name, inputs, content, result = self._tool(step)
        uuid, tool = self._call_with(at, step, name, inputs)
        if step.form == transcripts.OUTPUT:
            self._tell(at + 40, step)
        elif step.form == transcripts.TODO:
            # What the tool prints repeats the subject.
            again = tuple((task, truth.LISTED) for task, _ in step.found)
            self._tell(at + 40, step._replace(found=again))
        answer = self._uuid()
        stamp = stamps.millis(at + 40)
        error = ',"is_error":false' if name == "Bash" else ""
        self._line(
            shapes.RESULT
            % (
                *(uuid, self._side, self._prompt, tool, content, error),
                *(answer, stamp, result, uuid, self._ending),
            )
        )
        self._parent = f'"{answer}"'
        self.messages += 1

    def _call(self, at: int, step: transcripts.Step, name: str, described: str) -> None:
        self._call_with(at, step, name, f'"command":"make test","description":"{described}"')

    def _call_with(
        self, at: int, step: transcripts.Step, name: str, inputs: str
    ) -> tuple[str, str]:
        tool = f"{self._rng.getrandbits(80):020x}"
        block = f'{{"type":"tool_use","id":"toolu_{tool}","name":"{name}","input":{{{inputs}}}}}'
        uuid = self._assistant(at, block, "tool_use")
        if step.form != transcripts.OUTPUT:
            self._tell(at, step)
        return uuid, tool

    def _assistant(self, at: int, block: str, reason: str) -> str:
        uuid = self._uuid()
        self._context += 700
        number = self._number
        self._line(
            shapes.ASSISTANT
            % (
                *(self._parent, self._side, f"{number:020x}", block, reason),
                *(number % 7 + 2, number % 900, self._context, number % 400 + 20),
                *(self._prompt, uuid, stamps.millis(at), self._ending),
            )
        )
        self._parent = f'"{uuid}"'
        self.messages += 1
        return uuid

    def _tool(self, step: transcripts.Step) -> tuple[str, str, str, str]:
        """The name, input, printed result and structured result of a tool."""
        form, rng, pools = step.form, self._rng, self._world.pools
        if form == transcripts.OUTPUT:
            return _bash('"command":"git log --oneline"', step.text)
        if form in (transcripts.TODO, transcripts.TODO_DONE):
            return self._todo(step)
        if form == transcripts.AGENT:
            inputs = f'"description":"{step.text}","prompt":"Look at it.","subagent_type":"explore"'
            said = rng.choice(pools.thoughts)
            content = f'{{"status":"completed","content":[{{"type":"text","text":"{said}"}}]}}'
            return "Agent", inputs, said, content
        chance = rng.random()
        if form == transcripts.DESCRIBED or chance < 0.35:
            described = step.text or "Look around"
            inputs = f'"command":"{rng.choice(pools.commands)}","description":"{described}"'
            return _bash(inputs, rng.choice(pools.outputs))
        path = f"{self._place.root}/{rng.choice(pools.paths)}"
        return _on_file(path, chance, rng, pools.codes)

    def _todo(self, step: transcripts.Step) -> tuple[str, str, str, str]:
        """A step of the agent's own list, which is about one task."""
        task = step.found[0][0]
        number = self._todos.pop(task, 0) if step.form == transcripts.TODO_DONE else 0
        if not number:
            self._steps += 1
            number = self._steps
        if step.form == transcripts.TODO:
            self._todos[task] = number
            inputs = f'"subject":"{step.text}","description":"As planned.","activeForm":"Working"'
            content = f"Task #{number} created successfully: {step.text}"
            result = f'{{"task":{{"id":"{number}","subject":"{step.text}"}}}}'
            return "TaskCreate", inputs, content, result
        inputs = f'"taskId":"{number}","subject":"{step.text}","status":"completed"'
        change = '"statusChange":{"from":"in_progress","to":"completed"}'
        return "TaskUpdate", inputs, f"Updated task #{number}", f'{{"success":true,{change}}}'

    # Lines

    def _tell(self, at: int, step: transcripts.Step) -> None:
        """Write down what a line shows."""
        project, path = self._session.project, self._place.path
        for task, kind in step.found:
            self._truth.note(task, kind, at, SOURCE, path, project)
        if step.found:
            self.tagged += 1
        if step.trap:
            named = [task for task, _ in step.found]
            self._truth.trap(step.trap, where=path, at=stamps.millis(at), tasks=named)

    def _line(self, line: str) -> None:
        self._place.write(line)
        self.lines += 1

    def _uuid(self) -> str:
        self._number += 1
        return f"{self._prefix}{self._number * _SPREAD & 0xFFFFFFFFFFFF:012x}"


def _bash(inputs: str, output: str) -> tuple[str, str, str, str]:
    result = (
        f'{{"stdout":"{output}","stderr":"","interrupted":false,"isImage":false,'
        '"noOutputExpected":false}'
    )
    return "Bash", inputs, output, result


def _on_file(
    path: str, chance: float, rng: random.Random, codes: list[str]
) -> tuple[str, str, str, str]:
    code = rng.choice(codes)
    if chance < 0.55:
        result = (
            f'{{"type":"text","file":{{"filePath":"{path}","content":"{code}","numLines":30}}}}'
        )
        return "Read", f'"file_path":"{path}"', code, result
    done = f"The file {path} has been updated successfully."
    if chance < 0.92:
        old = rng.choice(codes)
        inputs = f'"file_path":"{path}","old_string":"{old}","new_string":"{code}"'
        result = (
            f'{{"filePath":"{path}","oldString":"{old}","newString":"{code}","replaceAll":false}}'
        )
        return "Edit", inputs, done, result
    inputs = f'"file_path":"{path}","content":"{code}"'
    result = f'{{"type":"create","filePath":"{path}","content":"{code}","structuredPatch":[]}}'
    return "Write", inputs, done, result
