"""Where a call of `tether` starts and ends: dispatch, and the one place that catches errors."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys

from tether import __version__, errors
from tether.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from tether.cli import answers, context

# Hot commands and the modules that have them; everything else is click's.
_HOT = {
    "beat": "tether.cli.beat",
    "claim": "tether.cli.claim",
    "release": "tether.cli.release",
    "events": "tether.cli.events",
    "finish": "tether.cli.task.move",
    "fail": "tether.cli.task.move",
    "hook prepare-commit-msg": "tether.cli.hook",
    "next": "tether.cli.next",
    "orient": "tether.cli.orient",
    "orphans --quick": "tether.cli.quick",
    "vacuum --quick": "tether.cli.quick",
    "task list": "tether.cli.task.listing",
    "task show": "tether.cli.task.show",
    "task new": "tether.cli.task.write",
    "task edit": "tether.cli.task.write",
    "task note": "tether.cli.task.write",
    "task assign": "tether.cli.task.move",
    "task start": "tether.cli.task.move",
    "task extend": "tether.cli.task.move",
    "task retry": "tether.cli.task.move",
    "task return": "tether.cli.task.move",
    "task complete": "tether.cli.task.move",
    "task cancel": "tether.cli.task.move",
    "task reopen": "tether.cli.task.move",
    "task archive": "tether.cli.task.move",  # of one task; the clean-up is click's
}
# Commands that have commands.
_GROUPS = ("agent", "bench", "hook", "lineage", "plan", "run", "session", "task", "vacuum")
# These look at the store as it is, or do on purpose what others do by the way.
_NO_HOUSEKEEPING = ("sweep", "doctor", "init", "maintain", "session gc", "statusline")
# How a shell asks click for completions.
_COMPLETE_VARIABLE = "_TETHER_COMPLETE"


def run() -> None:
    """The console script."""
    # A command makes many objects and ends: collecting them in between costs a list of ten thousand
    # tasks a fifth of its time. One that follows for hours still collects.
    gc.set_threshold(200_000)
    sys.exit(main(sys.argv[1:]))


def main(words: list[str]) -> int:
    """Run one command; the exit code."""
    # What follows `--` is never an option.
    own = words[: words.index("--")] if "--" in words else words
    as_json = "--json" in own
    try:
        code = _run(words, as_json=as_json)
        # Here, so that a reader who has gone away is noticed while somebody can still be told.
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader (`head`) has what it wanted.
        _silence_output()
        return 141
    except OSError as problem:
        _silence_output()
        sys.stderr.write(f"tether: The answer could not be written: {problem.strerror}.\n")
        return 1


def _run(words: list[str], *, as_json: bool) -> int:
    try:
        _prepare_output()
        return _dispatch(words, as_json=as_json)
    except errors.TetherError as error:
        return _show(error, as_json=as_json)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        raise
    except OSError as problem:
        # What no room foresaw: a full disk behind stdout, a directory that vanished.
        reason = problem.strerror or type(problem).__name__
        return _show(errors.FileError(f"The system refused: {reason}."), as_json=as_json)
    except Exception as problem:  # noqa: BLE001 (the last resort: no user sees a traceback)
        return _show_bug(problem, as_json=as_json)


def _silence_output() -> None:
    """The interpreter must not complain at exit of what could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _prepare_output() -> None:
    """Make the streams fit for use, whatever the caller's shell did to them."""
    if sys.platform == "win32":
        raise errors.PlatformUnsupported(
            "Tether does not run on native Windows.", hint="Use it inside WSL2, on WSL's own disk."
        )
    # A stream that was closed (`>&-`) is None: nobody wants to read it.
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 (until exit)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until exit)
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until exit)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _dispatch(words: list[str], *, as_json: bool) -> int:
    words = _enter_directory(words)
    if words[:1] == ["--json"]:
        # People put it first too; every command knows it only after its own name.
        end = 3 if words[1:2] and words[1] in _GROUPS else 2
        words = [*words[1:end], "--json", *words[end:]]
    if words == ["--version"]:
        sys.stdout.write(f"tether {__version__}\n")
        return 0
    from tether.cli import answers, context

    called = {" ".join(words[:1]), " ".join(words[:2])}
    keeps_house = words[:1] != [] and called.isdisjoint(_NO_HOUSEKEEPING)
    with contextlib.closing(context.Context(keeps_house=keeps_house)) as call:
        answer = _hot_answer(words, call)
        if answer is not None:
            return answers.show(answer, as_json=as_json)
        from tether.cli import cold

        return cold.run(words, call)


def _enter_directory(words: list[str]) -> list[str]:
    """Obey `-C DIR` at the front; the rest of the words."""
    if not words or not words[0].startswith("-C"):
        return words
    attached = words[0][2:]
    directory, rest = (attached, words[1:]) if attached else ("".join(words[1:2]), words[2:])
    if not directory:
        raise errors.UsageError("-C needs a directory. Nothing was changed.")
    try:
        os.chdir(directory)
    except (OSError, ValueError):
        raise errors.NotFound("There is no such directory. Nothing was changed.") from None
    return rest


def _hot_answer(words: list[str], call: context.Context) -> answers.Answer | None:
    """The answer of a hot command; None if click should have a look at the call."""
    is_double = words[:1] in (["hook"], ["task"]) or words[1:2] == ["--quick"]
    name = " ".join(words[: 2 if is_double else 1])
    module = _HOT.get(name)
    if module is None or _COMPLETE_VARIABLE in call.environ:
        return None
    from tether.cli import verbs

    # What importlib.import_module does, without importlib: some milliseconds less.
    verb = verbs.verb_of(__import__(module, fromlist=["VERB"]), name)
    values = verbs.parse(verb, words[len(name.split()) :])
    if values is None:
        return None
    try:
        return verb.run(call, values)
    except errors.UsageError as mistake:
        if mistake.hint == errors.UsageError.hint:
            mistake.hint = f"See `tether {name} --help`."
        raise


def _show_bug(problem: Exception, *, as_json: bool) -> int:
    if os.environ.get("TETHER_DEBUG"):
        import traceback

        traceback.print_exception(problem)
    error = errors.TetherError(
        f"Tether met an error that it did not expect ({type(problem).__name__}).",
        hint="Run the command again with TETHER_DEBUG=1 and report what it prints.",
    )
    return _show(error, as_json=as_json)


def _show(error: errors.TetherError, *, as_json: bool) -> int:
    from tether.cli import answers

    return answers.show_error(error, as_json=as_json)
