"""Where a call of `tether` starts and ends: dispatch, and the one place that catches errors."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TYPE_CHECKING

from tether import __version__, errors

if TYPE_CHECKING:
    from tether.cli import answers, context

# Hot commands and the modules that have them; everything else is click's.
_HOT = {"events": "tether.cli.events"}
# How a shell asks click for completions.
_COMPLETE_VARIABLE = "_TETHER_COMPLETE"


def run() -> None:
    """The console script."""
    sys.exit(main(sys.argv[1:]))


def main(words: list[str]) -> int:
    """Run one command; the exit code."""
    # What follows `--` is never an option.
    own = words[: words.index("--")] if "--" in words else words
    as_json = "--json" in own
    try:
        _prepare_output()
        return _dispatch(words, as_json=as_json)
    except errors.TetherError as error:
        return _show(error, as_json=as_json)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader (`head`) has what it wanted; the interpreter must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as problem:  # noqa: BLE001 (the last resort: no user sees a traceback)
        return _show_bug(problem, as_json=as_json)


def _prepare_output() -> None:
    if sys.platform == "win32":
        raise errors.PlatformUnsupported(
            "Tether does not run on native Windows.", hint="Use it inside WSL2, on WSL's own disk."
        )
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _dispatch(words: list[str], *, as_json: bool) -> int:
    directory = None
    if len(words) > 1 and words[0] == "-C":
        directory, words = words[1], words[2:]
    if words == ["--version"]:
        sys.stdout.write(f"tether {__version__}\n")
        return 0
    from tether.cli import answers, context

    with contextlib.closing(context.Context(directory=directory)) as call:
        answer = _hot_answer(words, call)
        if answer is not None:
            code = answers.show(answer, as_json=as_json)
        else:
            from tether.cli import cold

            code = cold.run(words, call)
        # Here, so that a reader who has gone away is noticed while somebody can still be told.
        sys.stdout.flush()
        return code


def _hot_answer(words: list[str], call: context.Context) -> answers.Answer | None:
    """The answer of a hot command; None if click should have a look at the call."""
    module = _HOT.get(words[0]) if words else None
    if module is None or _COMPLETE_VARIABLE in call.environ:
        return None
    from tether.cli import verbs

    # What importlib.import_module does, without importlib: some milliseconds less.
    verb: verbs.Verb = __import__(module, fromlist=["VERB"]).VERB
    values = verbs.parse(verb, words[1:])
    return None if values is None else verb.run(call, values)


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
