"""Many processes that do the same at the same moment."""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from typing import Any, TypeVar

T = TypeVar("T")
DAWDLING_SECONDS = 0.03


def run(processes: int, work: Callable[[int], T]) -> list[T]:
    """What each process, told its number, answers. They start together; all must end well."""
    fork = multiprocessing.get_context("fork")
    barrier, answers = fork.Barrier(processes), fork.SimpleQueue()
    crowd = [
        fork.Process(target=_take_part, args=(work, number, barrier, answers))
        for number in range(processes)
    ]
    for process in crowd:
        process.start()
    found = [answers.get() for _ in crowd]
    for process in crowd:
        process.join()
    problems = [problem for _, problem in found if problem]
    assert not problems, problems[0]
    return [answer for answer, _ in found]


def _take_part(work: Callable[[int], T], number: int, barrier: Barrier, answers: Any) -> None:
    try:
        barrier.wait()
        answers.put((work(number), ""))
    except BaseException:  # noqa: BLE001 (whatever it is, the parent must not wait for ever)
        answers.put((None, traceback.format_exc()))


def dawdle() -> None:
    """For controls that look first and write later: others surely come in between."""
    time.sleep(DAWDLING_SECONDS)
