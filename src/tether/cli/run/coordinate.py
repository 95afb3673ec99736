"""`tether run start`, `resume` and `recover`: the process that coordinates."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
from collections.abc import Iterator
from types import FrameType

import click

from tether import errors, git, host, ids, text
from tether.agents import registry, upkeep
from tether.cli import answers, cold, context, plan
from tether.cli.run import finding, status, viewing
from tether.coordinator import (
    by_hand,
    compaction,
    loop,
    memory,
    options,
    outputs,
    pausing,
    recovery,
    runs,
    settling,
    starting,
)
from tether.coordinator.limits import of as limits_of
from tether.coordinator.notifying import Notifier
from tether.coordinator.state import COMPLETE
from tether.hints import Any


@click.command()
@click.argument("path", required=False, metavar="[PLAN]")
@click.option("--from", "origin", type=click.Choice(["work"]), help="Take this workspace's tasks.")
@click.option("--worker", metavar="CMD", help="The command that works on a task.")
@click.option("--auditor", metavar="CMD", help="The command that looks at its result.")
@click.option("--usage", metavar="CMD", help="The command that tells the usage limit.")
@click.option("--slots", type=click.IntRange(1, 1000), metavar="N", help="How many at once [5].")
@click.option("--worktrees", is_flag=True, help="A branch and a checkout for each task.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@cold.answering
@cold.pass_call
def start(
    call: context.Context, /, path: str | None, origin: str | None, **given: Any
) -> answers.Answer:
    """Work through a plan with many agents.

    PLAN is a file in Markdown or YAML; `tether plan check` shows what it says and which commands it
    would run. In CMD `{prompt_file}` stands for the file with what the worker is told, `{prompt}`
    for the text itself, which it also gets on its standard input; `claude -p` and `codex exec -`
    read it there. A plan whose run is not over goes on where it was.

    Without a worker you coordinate the run yourself: the state is kept for you.
    """
    checked = plan.look(call, path, origin)
    if checked.errors:
        first = checked.errors[0]
        where = f"line {first.line}: " if first.line else ""
        raise errors.TetherError(
            f"The plan cannot be run: {where}{first.message}. Nothing was changed.",
            hint=f"See all of it with `tether plan check {path or '--from work'}`.",
        )
    chosen = _chosen(call, given)
    if given["dry_run"]:
        return _dry_run(call, checked, chosen)
    name = starting.name_for(call.store, call.workspace, checked.plan.file)
    with _coordinating(call, name) as run:
        is_new = not _is_known(run)
        if is_new:
            starting.begin(run, checked.plan, chosen, _base(call) if given["worktrees"] else "")
        else:
            chosen = _continued(run, chosen)
        return _work(call, run, chosen, is_new=is_new, resumes_now=False)


@click.command()
@finding.named
@click.option("--worker", metavar="CMD", help="Another worker than before.")
@click.option("--auditor", metavar="CMD", help="Another auditor than before.")
@click.option("--usage", metavar="CMD", help="Another usage command than before.")
@click.option("--slots", type=click.IntRange(1, 1000), metavar="N", help="How many at once.")
@click.option("--once", is_flag=True, help="Only put the state right and say it, for hooks.")
@cold.answering
@cold.pass_call
def resume(call: context.Context, /, name: str | None, once: bool, **given: Any) -> answers.Answer:
    """Go on with a run, whatever stopped it.

    After a compaction the coordinator gets its state again; after a pause, a crash or an error the
    run goes on here, with the commands that it was started with.
    """
    run = finding.opened(call, name)
    if once and finding.is_worker(call):
        return status.answer(run, "This is a worker of the run: there is nothing to put right.")
    _require_open(run)
    if run.state.is_compacting:
        said = _after_compaction(call, run)
        if once or run.coordinator() or not _has_workers(run):
            return status.answer(run, said)
        sys.stderr.write(text.clean(said) + "\n")
    if run.coordinator():
        return _asked_to_resume(run)
    chosen = _continued(run, _chosen(call, given))
    with _coordinating(call, run.name) as mine:
        _is_known(mine)
        if once or not chosen.worker:
            return _put_right(call, mine, chosen)
        return _work(call, mine, chosen, is_new=False, resumes_now=True)


@click.command()
@finding.named
@cold.answering
@cold.pass_call
def recover(call: context.Context, name: str | None) -> answers.Answer:
    """Put a run right whose coordinator died, and stop there.

    `tether run start` and `resume` do the same by themselves. What a worker left is kept: its task
    is given out again with its last checkpoint.
    """
    with _coordinating(call, finding.unopened(call, name).name) as run:
        _is_known(run)
        settler = settling.Settler(finding.hands(call, run))
        found = recovery.recover(settler, takes_over=False)
        said = outputs.recovered(found, run.state) + "\n\n`tether run resume` goes on."
        return status.answer(run, said, recovery=_recovery_value(found))


# Parts


def _chosen(call: context.Context, given: dict[str, Any]) -> options.Options:
    """What the flags say, and where they are silent the settings."""
    if given["worker"] is not None and not given["worker"].strip():
        raise errors.UsageError(
            "The worker is empty. Nothing was changed.",
            hint="Leave --worker away to coordinate the run yourself.",
        )
    settings = call.settings
    chosen = options.Options(
        worker=given["worker"] or settings.text("run.worker"),
        auditor=given["auditor"] or settings.text("run.auditor"),
        usage=given["usage"] or settings.text("run.usage"),
        slots=given["slots"] or 0,
    )
    for command in (chosen.worker, chosen.auditor, chosen.usage):
        if command:
            _require_startable(call, command)
    return chosen


def _require_startable(call: context.Context, command: str) -> None:
    """Refuse a command that no process could be started from."""
    program = options.words(command, {})[0]
    path = os.path.join(call.workspace.place, program) if "/" in program else program
    if shutil.which(path, path=call.environ.get("PATH")) is None:
        raise errors.UsageError(
            f"There is no program {text.one_line(program, 100)!r} to start. Nothing was changed.",
            hint="Name one on the PATH, or by its path from the top of the checkout.",
        )


def _base(call: context.Context) -> str:
    """The commit that branches start from."""
    head = git.Git(call.workspace.place).head()
    if head is None:
        raise errors.NotAllowed(
            "There is no commit yet that branches could start from. Nothing was changed.",
            hint="Make a first commit, or leave --worktrees away.",
        )
    return head


def _continued(run: runs.Run, chosen: options.Options) -> options.Options:
    """What a run was started with, but for what is said anew."""
    before = options.load(run.root)
    if before is None and not chosen.worker:
        raise errors.NotAllowed(
            f"How {run.name} was started is lost. Nothing was changed.",
            hint="Say it again: --worker CMD, and --auditor if it had one.",
        )
    kept = (before or options.Options())._asdict()
    return options.Options(**{n: said or kept[n] for n, said in chosen._asdict().items()})


@contextlib.contextmanager
def _coordinating(call: context.Context, name: runs.RunId) -> Iterator[runs.Run]:
    """Hold a run: its lock, and a session of its own. A run has one coordinator."""
    session = registry.Session(
        ids.SessionId(f"run-{name}.{ids.random_base32(8)}"),
        ids.AgentName(f"coordinator-{name}"[:64].rstrip(".")),
        "other",
        finding.session_of(call),
        host.identify(os.getpid()),
    )
    run = runs.Run(call.store, call.workspace, name, session_id=session.session_id)
    run.make()
    with run.held(wait_seconds=2.0):
        registry.register(call.store, call.spot, session, call.place)
        try:
            yield run
        finally:
            registry.end(call.store, session.session_id)


def _is_known(run: runs.Run) -> bool:
    """Open a run, if there is one of this name."""
    try:
        run.open(tidies=True)
    except errors.NotFound:
        return False
    _require_open(run)
    return True


def _require_open(run: runs.Run) -> None:
    """What is complete stays so; what failed may be tried again."""
    if run.state.ended == COMPLETE:
        raise errors.NotAllowed(
            f"Run {run.name} is complete. Nothing was changed.",
            hint="See it with `tether run status`.",
        )


def _has_workers(run: runs.Run) -> bool:
    chosen = options.load(run.root)
    return chosen is not None and bool(chosen.worker)


def _work(
    call: context.Context,
    run: runs.Run,
    chosen: options.Options,
    *,
    is_new: bool,
    resumes_now: bool,
) -> answers.Answer:
    """Coordinate until the run is over or stopped."""
    if not chosen.worker:
        said = f"Run {run.name}: {text.counted(run.state.total_tasks, 'task')}. You coordinate it."
        return status.answer(run, "\n\n".join([said, *memory.parts(run, has_workers=False)]))
    options.save(run.root, chosen)
    view = viewing.View(sys.stderr, run)
    settler = settling.Settler(finding.hands(call, run, chosen))
    with _bell() as bell:
        world = loop.World(
            wait=bell.wait,
            is_stopping=lambda: bell.rung > 0,
            is_impatient=lambda: bell.rung > 1,
            usage=finding.usage_of(call, chosen),
            context=lambda: finding.context_of(call),
            tell=view.tell,
            show=view.show,
            sweep=lambda: _sweep(call),
            notifier=Notifier(
                call.settings.text("notify.command"), call.environ, call.workspace.place
            ),
        )
        looping = loop.Loop(settler, world)
        number = text.counted(run.state.total_tasks, "task")
        view.tell(f"Run {run.name} ({number}), state in {run.state_file}")
        try:
            looping.begin(is_new=is_new, resumes_now=resumes_now)
            ending = looping.work()
        except runs.Superseded:
            raise
        except Exception as problem:
            _save_after_error(looping)
            if isinstance(problem, errors.TetherError):
                raise errors.TetherError(
                    f"The run stopped. {problem.message}", hint="`tether run resume` goes on."
                ) from problem
            raise
        finally:
            view.close()
    return status.ended(run, ending)


def _save_after_error(looping: loop.Loop) -> None:
    """Save what can be saved; the error itself is what is told."""
    try:
        looping.pause_after_error()
    except errors.TetherError as problem:
        sys.stderr.write(f"tether: note: {text.one_line(problem.message)}\n")


def _put_right(call: context.Context, run: runs.Run, chosen: options.Options) -> answers.Answer:
    """Recover or resume the state of a run that an agent coordinates."""
    settler = settling.Settler(finding.hands(call, run, chosen))
    if run.state.paused_at or run.state.ended:
        said = outputs.resumed(run.state)
        pausing.resume(settler)
    else:
        said = outputs.recovered(recovery.recover(settler, takes_over=True), run.state)
    failed = by_hand.validate(settler) if not chosen.worker else []
    parts = [said, *(f"{task_id} does not pass any more" for task_id in failed)]
    parts += memory.parts(run, has_workers=bool(chosen.worker))
    return status.answer(run, "\n\n".join(parts))


def _after_compaction(call: context.Context, run: runs.Run) -> str:
    limits = limits_of(call.settings)
    found = compaction.resume(run, limits)
    parts = [outputs.plan_reload(run.state, found.verified)] if found.is_full else []
    parts += [f"The state was not whole: {each}" for each in found.problems]
    parts.append(outputs.after_compaction(run.state, full_reload=found.is_full))
    parts += memory.parts(run, has_workers=_has_workers(run))
    return "\n\n".join(parts)


def _asked_to_resume(run: runs.Run) -> answers.Answer:
    from tether.store import run_events

    if not run.state.paused_at:
        return status.answer(run, f"Run {run.name} is being coordinated and is not paused.")
    run.log(run_events.RESUME_REQUESTED, by=run.actor)
    return status.answer(run, f"The coordinator of {run.name} goes on at once.")


def _dry_run(
    call: context.Context, checked: plan.Checked, chosen: options.Options
) -> answers.Answer:
    value = {**plan.value_of(checked), "options": chosen._asdict()}
    slots = chosen.slots or call.settings.integer("run.slots")
    first = [task.id for task in checked.plan.tasks if not task.blocked_by][:slots]
    lines = [
        (
            f"Would work through {text.counted(len(checked.plan.tasks), 'task')} of"
            f" {checked.plan.file} with {slots} at once."
        ),
        f"Worker: {chosen.worker or 'none: you coordinate it yourself'}",
        f"Auditor: {chosen.auditor or 'none: the commands of the criteria decide'}",
        f"First: {', '.join(first)}",
        "Nothing was changed. `tether plan check` shows every command that would be run.",
    ]
    return answers.Answer("dry_run", value, lambda: "\n".join(lines))


def _recovery_value(found: outputs.Recovery) -> dict[str, Any]:
    return {
        **found._asdict(),
        "orphaned": [
            {"agent_id": agent, "task_id": task, "type": kind}
            for agent, task, kind in found.orphaned
        ],
    }


def _sweep(call: context.Context) -> None:
    upkeep.sweep_by_the_way(call.store, call.spot, call.workspace, call.settings)


class _Bell:
    """Rings when a child ends or somebody wants the run to stop."""

    def __init__(self, heard: int) -> None:
        self._heard = heard
        self.rung = 0

    def stop(self, _number: int, _frame: FrameType | None) -> None:
        self.rung += 1

    def wait(self, seconds: float) -> None:
        if select.select([self._heard], [], [], seconds)[0]:
            os.read(self._heard, 4096)


@contextlib.contextmanager
def _bell() -> Iterator[_Bell]:
    heard, rung = os.pipe()
    for end in (heard, rung):
        os.set_blocking(end, False)
    bell = _Bell(heard)
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, bell.stop),
        signal.SIGTERM: signal.signal(signal.SIGTERM, bell.stop),
        signal.SIGCHLD: signal.signal(signal.SIGCHLD, lambda *_: None),
    }
    old = signal.set_wakeup_fd(rung, warn_on_full_buffer=False)
    try:
        yield bell
    finally:
        signal.set_wakeup_fd(old)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(heard)
        os.close(rung)
