"""Many processes claim from one inbox, and some are killed: each task has one winner, none is lost.

The tasks are real files in one checkout. Every process asks for every task, in an order that it has
in common with others; in the end what they were told, the files, the claims and the log must agree.
Where claimers are killed they also finish what they take, others go on after a sweep, and in the
end every task is done once. The controls take a task by writing its file elsewhere and removing
the old one, by a claim that nothing keeps from being the second, and let go of the claim before
the file: the same checks must catch them.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests import agency, crowd
from tests.fault import test_claim_kills as kills
from tests.figures import Figures
from tests.scale import count
from tether import clock, errors, host, workspace
from tether.agents import claims, sweep
from tether.store import events, port, sql
from tether.tasks import checking, claiming, desk, document, editing, moves, states, workdir

PROCESSES = 32
TASKS = 500
KILLS = 50
TASKS_PER_KILL = 10
MANY = 1_000_000


class Office(NamedTuple):
    """One checkout, and how its store is opened."""

    place: workspace.Workspace
    work: workdir.Workdir
    open: agency.OpenStore

    def desk(self, store: port.Store, session_id: str, *, is_human: bool = False) -> desk.Desk:
        caller = desk.Caller(agency.agent(store, session_id), is_human)
        now = clock.now_text(clock.SystemClock())
        return desk.Desk(self.place, self.work, store, agency.spot(), caller, now)

    def fill(self, number: int) -> list[str]:
        """Write tasks down as a person does; their ids."""
        with contextlib.closing(self.open()) as store:
            agency.begin(store, "person")
            at = self.desk(store, "person", is_human=True)
            wanted = [f"T{each}" for each in range(number)]
            for task in wanted:
                editing.new(at, title=_title(task), task_id=task)
        return wanted


def _title(task: str) -> str:
    return f"The work of {task}"


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def office(kind: str, repo: Path, request: pytest.FixtureRequest) -> Iterator[Office]:
    place = workspace.find(str(repo))
    opener = agency.opener_of(kind, repo / ".git", request)
    for open_ in agency.closing(opener):
        yield Office(place, workdir.Workdir(str(repo)), open_)


# One winner


class Won(NamedTuple):
    """What a process was told: it has this task."""

    task: str
    epoch: int
    session_id: str


Ask = Callable[[desk.Desk, str], Won | None]


def session_of(worker: int) -> str:
    return f"worker-{worker}"


def properly(at: desk.Desk, task: str) -> Won | None:
    answer = claiming.claim(at, task)
    if isinstance(answer, claims.Refused):
        assert answer.is_held
        return None
    return Won(task, answer.answer.claim.epoch, answer.answer.claim.session_id)


def by_copying(at: desk.Desk, task: str) -> Won | None:
    """The control: the file is written in the new place and removed from the old one."""
    found = at.work.find(task)
    if not found or found[0].place != states.INBOX:
        return None
    try:
        fields = document.read(at.work.raw(found[0])).fields
    except errors.NotFound:
        return None
    crowd.dawdle()
    fields |= {"status": states.IN_PROGRESS, "agent": at.caller.name}
    at.work.make_place(states.ASSIGNED, at.caller.name)
    at.work.create(task, document.compose(fields), states.ASSIGNED, at.caller.name)
    at.work.files.remove(found[0].path)
    return Won(task, 0, at.caller.session_id)


DROP_GUARD = sql.Query("drop_guard", "", "DROP INDEX claims_open")
INSERT = sql.Query(
    "insert",
    "",
    "INSERT INTO claims (source, task, epoch, session_id, agent_name, claimed_at, lease_until)"
    " VALUES (:source, :task, :epoch, :session_id, :session_id, tether_now(0), tether_now(60000))",
)


def unguarded(at: desk.Desk, task: str) -> Won | None:
    """The control: look whether the task is free, then claim it, and nothing stands in the way."""
    case = desk.look(at, task)
    if case is None or case.claim is not None:
        return None
    crowd.dawdle()
    # An epoch that nobody else gives, or the primary key would be a guard.
    epoch = host.monotonic_ms() * 100 + int(at.caller.session_id.removeprefix("worker-"))
    session_id = at.caller.session_id
    row = {"source": case.key.source, "task": task, "epoch": epoch, "session_id": session_id}
    at.store.write("claim", lambda transaction: transaction.rows(INSERT, **row))
    return Won(task, epoch, session_id)


class Contest(NamedTuple):
    """What all the processes were told."""

    won: list[Won]
    refused: int
    seconds: list[float]


def contest(office: Office, ask: Ask, processes: int, tasks: list[str]) -> Contest:
    """Every process asks for every task."""
    with contextlib.closing(office.open()) as store:
        for worker in range(processes):
            # They have a process that lives until the end, so nobody takes over from anybody.
            agency.begin(store, session_of(worker), pid=os.getpid())

    def work(worker: int) -> tuple[list[Won], int, list[float]]:
        store, won, refused, times = office.open(), [], 0, []
        at = office.desk(store, session_of(worker))
        # Four and four in the same order, so that they meet.
        order = random.Random(worker // 4).sample(tasks, len(tasks))  # noqa: S311 (no secret)
        for task in order:
            start = time.perf_counter()
            answer = ask(at, task)
            times.append(time.perf_counter() - start)
            won += [answer] if answer else []
            refused += answer is None
        store.close()
        return won, refused, times

    answers = crowd.run(processes, work)
    return Contest(
        won=[one for won, _, _ in answers for one in won],
        refused=sum(refused for _, refused, _ in answers),
        seconds=sorted(seconds for _, _, times in answers for seconds in times),
    )


def file_faults(work: workdir.Workdir, owners: dict[str, str], tasks: list[str]) -> dict[str, int]:
    """Tasks that vanished, are there twice, or whose file is not whole or not with its owner."""
    found = Counter(each.task_id for each in work.scan())
    wrong = 0
    for each in work.scan():
        loaded = work.load(each)
        task, owner = loaded.task, owners.get(each.task_id, "")
        is_whole = not task.problem and task.title == _title(task.id) and bool(task.created_at)
        is_there = (each.place, each.folder) == (states.ASSIGNED, owner)
        is_right = task.state == states.IN_PROGRESS and task.agent == owner
        wrong += not (is_whole and is_there and is_right)
    leftovers = [name for _, _, names in os.walk(work.top) for name in names if ".tmp-" in name]
    return {
        "tasks that vanished": len(set(tasks) - set(found)),
        "tasks with two files": sum(times > 1 for times in found.values()),
        "files that are not whole or not with the winner": wrong,
        "files that are no task": len(set(found) - set(tasks)) + len(leftovers),
    }


def contest_faults(office: Office, result: Contest, processes: int, tasks: list[str]) -> list[str]:
    """What is lost or doubled, in words; empty if nothing is."""
    won = Counter(result.won)
    winners = Counter(one.task for one in result.won)
    with contextlib.closing(office.open()) as store:
        held = Counter(Won(c.task, c.epoch, c.session_id) for c in claims.open_ones(store.rows))
        logged = Counter(
            Won(event.task or "", event.data["epoch"], event.session or "")
            for event in events.after(store, 0, MANY)
            if event.type == events.CLAIM_TAKEN.name
        )
    owners = {one.task: f"agent-{one.session_id}" for one in result.won}
    found = {
        "tasks taken twice": sum(times > 1 for times in winners.values()),
        "tasks that nobody has": len(set(tasks) - set(winners)),
        "answers that are missing": abs(processes * len(tasks) - len(result.won) - result.refused),
        "claims that are not what was told": len(held - won) + len(won - held),
        "events that are not what was told": len(logged - won) + len(won - logged),
        **file_faults(office.work, owners, tasks),
    }
    return _in_words(found)


def _in_words(found: dict[str, int]) -> list[str]:
    return [f"{number} {what}" for what, number in found.items() if number]


@pytest.mark.proof(room="tasks")
def test_every_task_of_an_inbox_has_one_winner(office: Office, kind: str, figures: Figures) -> None:
    processes, tasks = count(PROCESSES, at_least=8), office.fill(count(TASKS, at_least=40))
    result = contest(office, properly, processes, tasks)
    found = contest_faults(office, result, processes, tasks)
    figures.add(
        f"claims of task files by {processes} processes on {kind}",
        tasks=len(tasks),
        asked=len(result.seconds),
        won=len(result.won),
        refused=result.refused,
        faults=len(found),
        p50_ms=_ms(result.seconds, 0.5),
        p99_ms=_ms(result.seconds, 0.99),
    )
    assert found == []
    assert len({one.session_id for one in result.won}) > 1


def _ms(ordered: list[float], part: float) -> float:
    return round(ordered[int(len(ordered) * part)] * 1000, 1)


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("kind", ["sqlite"])
def test_the_check_catches_files_that_are_taken_by_copying(
    office: Office, figures: Figures
) -> None:
    processes, tasks = 8, office.fill(count(TASKS // 4, at_least=40))
    found = contest_faults(office, contest(office, by_copying, processes, tasks), processes, tasks)
    figures.add("control: files taken by copying", tasks=len(tasks), caught="; ".join(found))
    assert any("taken twice" in fault for fault in found)
    assert any("two files" in fault for fault in found)


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("kind", ["sqlite"])
def test_the_check_catches_claims_that_are_not_the_only_one(
    office: Office, figures: Figures
) -> None:
    processes, tasks = 8, office.fill(count(TASKS // 4, at_least=40))
    with contextlib.closing(office.open()) as store:
        store.write("prepare", lambda transaction: transaction.rows(DROP_GUARD))
    found = contest_faults(office, contest(office, unguarded, processes, tasks), processes, tasks)
    figures.add("control: unguarded claims of files", tasks=len(tasks), caught="; ".join(found))
    assert any("taken twice" in fault for fault in found)
    assert any("not with the winner" in fault for fault in found)


# Kills


def working(office: Office, tasks: list[str], finish: Finish) -> kills.Life:
    """A life: go through all tasks in an order of one's own, take and finish what is free."""

    def live(store: port.Store, session_id: str, tell: kills.Tell) -> None:
        agency.begin(store, session_id, pid=os.getpid())
        tell("here", "-", 0)
        for task in random.Random(session_id).sample(tasks, len(tasks)):  # noqa: S311 (no secret)
            at = office.desk(store, session_id)
            try:
                taken = claiming.claim(at, task)
            except errors.NotAllowed:
                continue  # it is done
            if isinstance(taken, claims.Refused):
                continue
            tell("took", task, taken.answer.claim.epoch)
            finish(at, task, taken.answer.claim.epoch, tell)
        store.close()

    return live


Finish = Callable[[desk.Desk, str, int, kills.Tell], None]


def finish_properly(at: desk.Desk, task: str, epoch: int, tell: kills.Tell) -> None:
    moved = moves.finish(at, task, summary=at.caller.session_id, epoch=epoch)
    assert isinstance(moved, desk.Moved), moved
    tell(claims.DONE, task, epoch)


def close_first(at: desk.Desk, task: str, epoch: int, tell: kills.Tell) -> None:
    """The control: the claim is let go of, then the file follows."""
    with desk.locked(at, task):
        case = desk.take_up(at, task)
        claims.close(at.store, at.spot, at.caller.session_id, case.key, epoch, claims.DONE)
        tell("closed", task, epoch)
        time.sleep(0.05)  # so that a kill hits this moment on a busy machine too
        result = {"summary": at.caller.session_id, "artefacts": [], "completed_at": at.now}
        changes = {"status": states.DONE, "completed_at": at.now, "result": result}
        desk.rewrite(at, case, changes, states.DONE, "")
    tell(claims.DONE, task, epoch)


def run_with_kills(
    office: Office, finish: Finish, tasks: list[str], deaths: int, aims_at: str
) -> kills.Company:
    """Kill again and again; after each kill one sweep and a new claimer. Then settle the files."""
    dice = random.Random(7)  # noqa: S311 (the same choices in every run)
    company, store = kills.Company(office.open, working(office, tasks, finish)), office.open()
    try:
        for _ in range(kills.CLAIMERS):
            company.begin_one()
        for number in range(deaths):
            company.kill(_next_victim(company, dice, aims_at if number % 2 == 0 else ""))
            sweep.sweep(store, agency.spot(), sweep.Rules(stale_ms=0))
            company.begin_one()
        company.hear_the_rest()
        # What was freed after the others had passed it.
        company.begin_one()
        company.hear_the_rest()
        _settle(office, store)
    finally:
        company.close()
        store.close()
    return company


def _next_victim(company: kills.Company, dice: random.Random, aims_at: str) -> str:
    """Whoever has just told this step, or anybody at any moment."""
    for _ in range(dice.randint(2, TASKS_PER_KILL)):
        company.hear()
    told = company.hear()
    while aims_at and (
        told is None or told.step != aims_at or told.session_id not in company.alive
    ):
        told = company.hear()
    if aims_at and told is not None:
        return told.session_id
    time.sleep(dice.uniform(0, 0.02))  # not to wait for anything: the moment is the point
    return dice.choice(sorted(company.alive))


def _settle(office: Office, store: port.Store) -> None:
    """What `validate --fix` does."""
    at = office.desk(store, "person", is_human=True)
    checked = checking.check(office.work, store=store, place=office.place, now=at.now)
    checking.apply(at, checked)


def kill_faults(office: Office, company: kills.Company, tasks: list[str]) -> list[str]:
    """What was lost, torn, done twice or not at all, or told and is not so."""
    with contextlib.closing(office.open()) as store:
        table = claims.all_ones(store.rows, MANY)
    done = Counter(claim.task for claim in table if claim.outcome == claims.DONE)
    finishers = {claim.task: claim.session_id for claim in table if claim.outcome == claims.DONE}
    last = {claim.task: claim.session_id for claim in reversed(table)}
    epochs: dict[str, list[int]] = {}
    for claim in table:
        epochs.setdefault(claim.task, []).append(claim.epoch)
    files = Counter(each.task_id for each in office.work.scan())
    not_done = alien = 0
    for each in office.work.scan():
        loaded = office.work.load(each)
        result: Any = loaded.document.fields.get("result")
        is_done = loaded.task.state == states.DONE and each.place == states.DONE
        not_done += not (is_done and loaded.task.title == _title(each.task_id))
        # Who died between the file and the claim has finished it too.
        finisher = finishers.get(each.task_id, last.get(each.task_id))
        alien += isinstance(result, dict) and result.get("summary") != finisher
    found = {
        "tasks that vanished": len(set(tasks) - set(files)),
        "tasks with two files": sum(times > 1 for times in files.values()),
        "files that are not whole and done": not_done,
        "results of somebody else": alien,
        "tasks done twice": sum(times > 1 for times in done.values()),
        "tasks of the living that are not done": sum(
            last.get(task) not in company.dead for task in set(tasks) - set(done)
        ),
        "claims still open": sum(claim.closed_at is None for claim in table),
        "gaps between epochs": sum(
            sorted(numbers) != list(range(min(numbers), min(numbers) + len(numbers)))
            for numbers in epochs.values()
        ),
        **kills.told_faults(company.told, table),
    }
    return _in_words(found)


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("kind", ["sqlite"])
def test_what_killed_claimers_left_is_done_once_by_others(office: Office, figures: Figures) -> None:
    deaths = count(KILLS, at_least=6)
    tasks = office.fill(deaths * TASKS_PER_KILL)
    company = run_with_kills(office, finish_properly, tasks, deaths, aims_at="took")
    found = kill_faults(office, company, tasks)
    steps = Counter(one.step for one in company.told)
    figures.add(
        "claimers of task files killed",
        processes=kills.CLAIMERS,
        tasks=len(tasks),
        kills=deaths,
        acknowledged=steps["took"] + steps[claims.DONE],
        faults=len(found),
    )
    assert company.problems == []
    assert found == []


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("kind", ["sqlite"])
def test_the_check_catches_a_claim_that_is_closed_before_the_file(
    office: Office, figures: Figures
) -> None:
    deaths = count(KILLS // 5, at_least=4)
    tasks = office.fill(deaths * TASKS_PER_KILL)
    company = run_with_kills(office, close_first, tasks, deaths, aims_at="closed")
    found = kill_faults(office, company, tasks)
    figures.add("control: claims closed before the file", kills=deaths, caught="; ".join(found))
    assert any("done twice" in fault for fault in found)


# The command line


class Shell(NamedTuple):
    """The command line in processes of their own, many at once."""

    repo: Path
    environ: dict[str, str]
    pid: int
    """The process that all sessions name: alive until the end, so nobody takes over."""

    def call(self, session_id: str, *words: str) -> tuple[int, Any]:
        own = {"TETHER_SESSION": session_id, "TETHER_AGENT": f"agent-{session_id}"}
        done = subprocess.run(
            [sys.executable, "-m", "tether", *words, "--json"],
            cwd=self.repo,
            env={**self.environ, **own, "TETHER_PID": str(self.pid)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)


@pytest.fixture
def shell(repo: Path, environ: dict[str, str]) -> Shell:
    return Shell(repo, environ, os.getpid())


def owners_of(work: workdir.Workdir) -> dict[str, str]:
    return {each.task_id: each.folder for each in work.scan() if each.place == states.ASSIGNED}


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("kind", ["sqlite"])
def test_commands_that_lose_the_race_for_a_task_end_with_4(
    office: Office, shell: Shell, figures: Figures
) -> None:
    processes, tasks = count(PROCESSES, at_least=4), office.fill(count(100, at_least=4))

    def work(worker: int) -> list[tuple[str, int, str]]:
        found = []
        for task in tasks:
            code, said = shell.call(session_of(worker), "claim", task)
            found.append((task, code, "" if said["ok"] else said["error"]["code"]))
        return found

    answers = [one for found in crowd.run(processes, work) for one in found]
    figures.add("`tether claim` at once", processes=processes, tasks=len(tasks))
    assert Counter((code, word) for _, code, word in answers) == {
        (0, ""): len(tasks),
        (4, "taken"): len(tasks) * (processes - 1),
    }
    assert sorted(task for task, code, _ in answers if code == 0) == sorted(tasks)
    assert _in_words(file_faults(office.work, owners_of(office.work), tasks)) == []


@pytest.mark.proof(room="tasks")
@pytest.mark.parametrize("kind", ["sqlite"])
def test_next_gives_every_task_to_one_process_until_none_is_left(
    office: Office, shell: Shell, figures: Figures
) -> None:
    processes, tasks = count(PROCESSES, at_least=4), office.fill(count(TASKS, at_least=16))

    def work(worker: int) -> list[tuple[int, Any]]:
        found: list[tuple[int, Any]] = []
        # One session has one task here: whoever holds one is told of it again.
        while not found or found[-1][1].get("task"):
            session_id = f"{session_of(worker)}-{len(found)}"
            found.append(shell.call(session_id, "next", "--claim"))
            if len(found) % 2 and found[-1][1].get("task"):
                code, said = shell.call(session_id, "finish", found[-1][1]["task"]["id"])
                assert code == 0, said
        return found

    answers = [one for found in crowd.run(processes, work) for one in found]
    given = [said["task"]["id"] for code, said in answers if code == 0 and said["task"]]
    figures.add("`tether next --claim` at once", processes=processes, tasks=len(tasks))
    assert [said for code, said in answers if code != 0] == []
    assert sorted(given) == sorted(tasks)
    files = Counter(each.task_id for each in office.work.scan())
    assert files == Counter(tasks)
    assert {each.place for each in office.work.scan()} == {states.ASSIGNED, states.DONE}


@pytest.mark.parametrize("kind", ["sqlite"])
def test_next_passes_over_a_task_that_a_person_must_settle(office: Office, shell: Shell) -> None:
    office.fill(2)
    twin = shell.repo / "work/inbox/other/T0.yaml"
    twin.parent.mkdir()
    twin.write_text((shell.repo / "work/inbox/T0.yaml").read_text().replace("work of", "rest of"))

    code, said = shell.call("s-1", "next", "--claim")

    assert (code, said["ok"] and said["task"]["id"]) == (0, "T1")
