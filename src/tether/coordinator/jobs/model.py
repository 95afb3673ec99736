"""A job, what became of it, and what one look at it shows."""

from __future__ import annotations

from tether import host
from tether.hints import Literal, NamedTuple

State = Literal["starting", "running", "ended", "gone"]


class Step(NamedTuple):
    """One command of a job; no shell stands between."""

    name: str
    argv: tuple[str, ...]
    timeout_seconds: float = 0
    """0 for as long as it takes."""
    goes_on: bool = False
    """Whether later steps run even if this one fails."""
    stdin: str = ""
    """The file that it reads; nothing if empty."""


class Job(NamedTuple):
    """What one agent process is to do."""

    agent_id: str
    directory: str
    """Where the steps run; absolute."""
    environment: dict[str, str]
    """On top of what they inherit. It is kept in a file: nothing secret belongs here."""
    steps: tuple[Step, ...]
    grace_seconds: float = 10
    """Between the request to end and the kill."""


class StepResult(NamedTuple):
    """How a step ended: by itself with a code, or by a signal."""

    name: str
    exit_code: int | None
    signal: int | None
    timed_out: bool
    seconds: float

    @property
    def is_success(self) -> bool:
        return self.exit_code == 0 and not self.timed_out


class Report(NamedTuple):
    """How a job ended."""

    results: tuple[StepResult, ...]
    """Of the steps that were begun."""
    ended_at: str
    stopped: bool
    """Whether it was asked to stop before its steps were over."""

    @property
    def is_success(self) -> bool:
        return (
            not self.stopped
            and bool(self.results)
            and all(result.is_success for result in self.results)
        )


class Look(NamedTuple):
    """What one look at a job shows.

    `starting`: nothing has begun; it still may. `running`: its wrapper lives. `ended`: it has left
    its report. `gone`: nothing runs its steps any more and there will be no report; a process that
    a killed wrapper has left behind may still be there (`stopping.sweep_processes`).
    """

    state: State
    report: Report | None = None
    process: host.Process | None = None
    """The wrapper, as far as it has said which process it is."""
