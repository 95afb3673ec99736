"""What questions cost: `why` in a process that goes on and as a command, closures in the former."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable

from tether.bench import processes
from tether.bench.lineage import costs, news, samples, scene
from tether.git import Oid
from tether.hints import Any
from tether.lineage import parts
from tether.lineage.biography import gathering, telling
from tether.lineage.closures import features, related, risks
from tether.lineage.edges import model, view

_BUDGET = 2000
_TASKS = (
    "SELECT key FROM lineage_nodes WHERE kind = 'task'"
    " AND id IN (SELECT from_id FROM task_code_edges) ORDER BY id"
)
Ask = Callable[[str], object]


def measure(
    here: scene.Scene, sample: samples.Sample, cold_count: int, *, with_closures: bool = False
) -> dict[str, Any]:
    """What the questions about a sample cost."""
    selectors = [*sample.symbols, *sample.files]
    with scene.opened(here.place, here.ground.environ) as opened:
        asker = Asker(opened)
        _seconds(asker.why, selectors[:5])
        found: dict[str, Any] = {
            "symbols": len(sample.symbols),
            "files": len(sample.files),
            "warm": costs.milliseconds(_seconds(asker.why, selectors)),
        }
        if with_closures:
            tasks = spread(asker.tasks(), len(selectors))
            found["closures"] = {
                "feature": costs.milliseconds(_seconds(asker.feature, selectors)),
                "risk": costs.milliseconds(_seconds(asker.risk, selectors)),
                "closure": costs.milliseconds(_seconds(asker.closure, tasks)),
            }
    found["cold"] = _cold(here, spread(selectors, cold_count))
    return found


def spread(some: list[str], count: int) -> list[str]:
    """So many of a list, from all over it."""
    step = max(1, -(-len(some) // max(count, 1)))
    return some[::step]


def _seconds(ask: Ask, words: Iterable[str]) -> list[float]:
    found = []
    for each in words:
        start = time.perf_counter()
        ask(each)
        found.append(time.perf_counter() - start)
    return found


def _cold(here: scene.Scene, selectors: list[str]) -> dict[str, Any]:
    pairs = []
    for each in selectors:
        floor = processes.run(here.ground, processes.FLOOR)
        pairs.append(processes.Pair(floor, here.tether("why", each)))
    return news.against_floor(pairs)


class Asker:
    """Asks as the commands do, and looks each time at whether anything is new."""

    def __init__(self, opened: scene.Opened) -> None:
        self._who = opened.who

    def why(self, selector: str) -> object:
        def question(connection: sqlite3.Connection, seen: view.View, tip: Oid) -> object:
            with self._who.aimed(connection, tip) as aim:
                target = aim.find(selector)
                story = gathering.story(seen, self._who.git, target, aim.line)
            feature = features.feature(seen, target.nodes)
            told = telling.tell(story, budget=_BUDGET, min_confidence=model.SURE)
            return told, feature

        return self._ask(question)

    def feature(self, selector: str) -> object:
        def question(connection: sqlite3.Connection, seen: view.View, tip: Oid) -> object:
            with self._who.aimed(connection, tip) as aim:
                return features.feature(seen, aim.find(selector).nodes)

        return self._ask(question)

    def risk(self, selector: str) -> object:
        def question(connection: sqlite3.Connection, seen: view.View, tip: Oid) -> object:
            with self._who.aimed(connection, tip) as aim:
                target = aim.find(selector)
                return risks.risk(seen, parts.whole(connection, aim.line, target), {})

        return self._ask(question)

    def closure(self, task: str) -> object:
        return self._ask(lambda _, seen, __: related.closure(seen, task))

    def tasks(self) -> list[str]:
        """All that have to do with code."""
        return self._who.ask(lambda c: [str(key) for (key,) in c.execute(_TASKS)])

    def _ask(self, question: Callable[[sqlite3.Connection, view.View, Oid], object]) -> object:
        who = self._who
        tip = who.git.resolve("HEAD")
        if not who.refresh(tip):
            raise processes.Failed("the index does not know what stands there")
        wrong = who.wrong()

        def asked(connection: sqlite3.Connection) -> object:
            as_of = view.AsOf(tip)
            seen = view.View(connection, scopes=who.scopes(), as_of=as_of, wrong=wrong)
            return question(connection, seen, tip)

        return who.ask(asked)
