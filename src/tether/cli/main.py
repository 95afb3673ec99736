"""Where a call of `tether` starts and ends: dispatch, and the one place that catches errors."""

from __future__ import annotations

import io
import os
import sys

from tether import __version__, errors
from tether.cli import answers, context

# Hot commands and the modules that have them; everything else is click's.
_HOT = {"events": "tether.cli.events"}


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
        return answers.show_error(error, as_json=as_json)
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
    call = context.Context(directory=directory)
    try:
        module = _HOT.get(words[0]) if words and "_TETHER_COMPLETE" not in os.environ else None
        if module is not None:
            verb = _load(module).VERB
            from tether.cli import verbs

            values = verbs.parse(verb, words[1:])
            if values is not None:
                code = answers.show(verb.run(call, values), as_json=as_json)
                sys.stdout.flush()
                return code
        from tether.cli import cold

        code = cold.run(words, call)
        sys.stdout.flush()
        return code
    finally:
        call.close()


def _load(module: str):  # type: ignore[no-untyped-def]
    # importlib.import_module without importlib: a few milliseconds less.
    __import__(module)
    return sys.modules[module]


def _show_bug(problem: Exception, *, as_json: bool) -> int:
    if os.environ.get("TETHER_DEBUG"):
        import traceback

        traceback.print_exception(problem)
    error = errors.TetherError(
        f"Tether met an error that it did not expect ({type(problem).__name__}).",
        hint="Run the command again with TETHER_DEBUG=1 and report what it prints.",
    )
    return answers.show_error(error, as_json=as_json)
