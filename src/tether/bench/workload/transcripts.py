"""What is said in a session, line by line, whoever the vendor is. Pure, given a source of chance.

A session says things about the tasks that it works on, when it works on them, and much else that
names none. Every step knows which evidence it is.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator

from tether.bench.workload import model, truth, words
from tether.hints import NamedTuple

# Forms of steps, and how many messages each is.
TOOL = "tool"
DESCRIBED = "described"
OUTPUT = "output"
TODO = "todo"
TODO_DONE = "todo_done"
AGENT = "agent"
TEXT = "text"
THOUGHT = "thought"
PROMPT = "prompt"
COMPACT = "compact"
MESSAGES = {
    TOOL: 2, DESCRIBED: 2, OUTPUT: 2, TODO: 2, TODO_DONE: 2, AGENT: 2,
    TEXT: 1, THOUGHT: 1, PROMPT: 1, COMPACT: 1,
}  # fmt: skip

# Of all messages of a session, so many are steps that name a task.
_TAGGED = 0.125
_NOISE_EVERY = 140
_COMPACT_EVERY = 700
_SAID = (
    "Working on %s now. ",
    "For %s the next thing is the worker. ",
    "I looked at what %s needs. ",
    "The tests for %s fail in one place. ",
    "Next step of %s: ",
)
_ASKED = ("Please go on with %s. ", "Continue %s, and keep the tests green. ", "Back to %s. ")
_RAN = (
    *("Run the tests", "Check the types", "Look at the callers", "Apply the migration"),
    *("Format the code", "Start the worker", "Show the diff", "Search for uses"),
)


class Step(NamedTuple):
    """One or two messages."""

    form: str
    text: str = ""
    """The inside of a JSON string."""
    found: tuple[tuple[str, str], ...] = ()
    """(id, kind): the evidence that it is."""
    trap: str = ""


class World(NamedTuple):
    """What a session can talk about."""

    pools: words.Pools
    ids: list[str]
    sections: list[str]


PLAIN = Step(TOOL)


class Script:
    """The steps of one session."""

    def __init__(self, session: model.Session, world: World, rng: random.Random) -> None:
        self._session = session
        self._world = world
        self._rng = rng
        self._tools = session.vendor == model.CLAUDE

    def steps(self, messages: int) -> Iterator[tuple[int, Step]]:
        """When each is said, and what: at least so many messages."""
        session, rng = self._session, self._rng
        pending = deque(sorted(self._planned(messages), key=lambda each: each[0]))
        ready: deque[Step] = deque()
        length, said = session.end - session.start, 0
        pace = length / max(1, messages)
        at = session.start
        while said < messages or ready or pending:
            at = max(at + 1, session.start + int(min(said + rng.random(), messages) * pace))
            while pending and (pending[0][0] <= at or said >= messages):
                ready.append(pending.popleft()[1])
            is_late = len(ready) > 40 or said >= messages - 2 * len(ready)
            step = ready.popleft() if ready and (is_late or rng.random() < 0.5) else self._filler()
            yield at + session.skew_ms, step
            said += MESSAGES[step.form]

    def _filler(self) -> Step:
        chance = self._rng.random()
        if chance < 0.72:
            return PLAIN
        pools = self._world.pools
        if chance < 0.84:
            return Step(TEXT, self._rng.choice(pools.texts))
        if chance < 0.94:
            return Step(THOUGHT, self._rng.choice(pools.thoughts))
        return Step(PROMPT, self._rng.choice(pools.thoughts))

    # What belongs to tasks

    def _planned(self, messages: int) -> Iterator[tuple[int, Step]]:
        session = self._session
        acts = session.acts
        bursts = sum(act.what == model.WORKED for act in acts)
        others = 2 * (len(acts) - bursts)
        each = max(1.0, (messages * _TAGGED - others) / bursts) if bursts else 0.0
        owed = 0.0
        for act in acts:
            owed += each if act.what == model.WORKED else 0
            for step in self._from_act(act, int(owed)):
                yield act.at, step
            owed -= int(owed)
        for extra in session.extras:
            yield extra.at, Step(extra.form, words.escaped(extra.text), extra.found, extra.trap)
        for _ in range(messages // _NOISE_EVERY):
            yield self._rng.randrange(session.start, session.end), self._noise()
        if not session.tag and session.ending != model.LIVE:
            yield from self._compactions(messages)

    def _from_act(self, act: model.Act, steps: int) -> Iterable[Step]:
        if act.what == model.WORKED:
            return [self._work(act.task) for _ in range(steps)]
        if act.what == model.COMPACTED:
            return [Step(COMPACT, self._rng.choice(self._world.pools.texts))]
        if act.what in (model.CLAIMED, model.ADOPTED):
            return self._opening(act)
        if act.what == model.FINISHED:
            said = self._naming(TEXT, "%s is done: the tests pass. ", act.task)
            if self._tools and self._rng.random() < 0.5:
                return [said, self._todo(TODO_DONE, act.task)]
            return [said]
        words_of = {
            model.CONFLICTED: "%s is claimed by another session, so I leave it. ",
            model.DEFERRED: "%s is deferred until the pilot is over. ",
            model.CANCELLED: "%s is not wanted any more, so it is cancelled. ",
            model.ROLLED_BACK: "%s broke the build; I take it back. ",
        }
        said_of = words_of.get(act.what)
        return [self._naming(TEXT, said_of, act.task)] if said_of else []

    def _opening(self, act: model.Act) -> Iterable[Step]:
        form = "Please adopt %s. " if act.what == model.ADOPTED else "Please take %s. "
        asked = self._naming(PROMPT, form, act.task)
        if self._tools and self._rng.random() < 0.4:
            return [asked, self._todo(TODO, act.task)]
        return [asked]

    def _work(self, task: str) -> Step:
        rng = self._rng
        chance = rng.random()
        if self._tools and chance < 0.66:
            form = AGENT if chance < 0.004 else DESCRIBED
            return Step(form, f"{task}: {rng.choice(_RAN)}", ((task, truth.WORKED),))
        if chance < 0.82:
            return self._naming(TEXT, rng.choice(_SAID), task)
        if chance < 0.91:
            return self._naming(THOUGHT, rng.choice(_SAID), task)
        if chance < 0.95:
            return self._naming(PROMPT, rng.choice(_ASKED), task)
        return self._log_output([task, *rng.sample(self._world.ids, rng.randrange(0, 6))])

    def _naming(self, form: str, words_: str, task: str) -> Step:
        pools = self._world.pools
        rest = self._rng.choice(pools.texts if form == TEXT else pools.thoughts)
        return Step(form, words_ % task + rest, ((task, truth.MENTIONED),))

    def _todo(self, form: str, task: str) -> Step:
        return Step(form, f"{task}: {self._rng.choice(_RAN)}", ((task, truth.STATED),))

    # What names many

    def _noise(self) -> Step:
        rng, ids = self._rng, self._world.ids
        chance = rng.random()
        if chance < 0.40:
            return self._log_output(rng.sample(ids, min(len(ids), rng.randrange(3, 13))))
        if chance < 0.60:
            return self._dashboard(rng.sample(ids, min(len(ids), rng.randrange(6, 31))))
        if chance < 0.75:
            named = list(dict.fromkeys(rng.sample(ids, min(len(ids), rng.randrange(5, 10)))))
            return Step(TEXT, "Next: " + ", ".join(named) + ".", _all(named, truth.LISTED))
        if chance < 0.97:
            section = rng.choice(self._world.sections)
            return self._naming(TEXT, "Section %s still has open tasks. ", section)
        named = rng.sample(ids, min(len(ids), rng.randrange(truth.TOO_MANY + 1, 90)))
        rows = "\\n".join(f"- [ ] {each}: open" for each in named)
        if len(named) <= truth.TOO_MANY:
            return Step(OUTPUT, rows, _all(named, truth.LISTED))
        return Step(OUTPUT, rows, (), "everything_listed")

    def _log_output(self, named: list[str]) -> Step:
        rows = "\\n".join(
            f"{self._rng.getrandbits(28):07x} feat({each}): go on" for each in dict.fromkeys(named)
        )
        return Step(OUTPUT, rows, _all(named, truth.LISTED))

    def _dashboard(self, named: list[str]) -> Step:
        rows = "\\n".join(f"| {each} | claimed | {n}m |" for n, each in enumerate(named))
        return Step(OUTPUT, f"## Session status\\n\\n{rows}", _all(named, truth.LISTED))

    def _compactions(self, messages: int) -> Iterator[tuple[int, Step]]:
        """Long sessions run out of context; what they hand on names what they are at."""
        session = self._session
        for number in range(1, messages // _COMPACT_EVERY + 1):
            at = session.start + number * (session.end - session.start) * _COMPACT_EVERY // messages
            before = [act.task for act in session.acts if act.at <= at][-2:]
            named = list(dict.fromkeys(before))
            text = "Open work: " + ", ".join(named) + ". " if named else ""
            rest = self._rng.choice(self._world.pools.texts)
            yield at, Step(COMPACT, text + rest, _all(named, truth.LISTED))


def _all(named: Iterable[str], kind: str) -> tuple[tuple[str, str], ...]:
    return tuple((each, kind) for each in dict.fromkeys(named))
