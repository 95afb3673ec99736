"""The commands that are not hot, and click's view of those that are.

A command's module is imported when the command is run or asked for its own help. The list of
commands is data, so `tether --help` imports none of them.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import ParamSpec

import click
from click import shell_completion

from tether import __version__, errors, text
from tether.cli import answers, context, verbs
from tether.hints import Any, NamedTuple

P = ParamSpec("P")
COMPLETE_VARIABLE = "_TETHER_COMPLETE"


class Entry(NamedTuple):
    """A row of `tether --help`."""

    module: str
    help: str


# What Python has other words for.
_FUNCTIONS = {"import": "import_", "list": "list_", "give-up": "give_up", "same-as": "same_as"}

COMMANDS = {
    "init": Entry("tether.cli.init", "Set up Tether in this repository."),
    "orient": Entry(
        "tether.cli.orient",
        "Say where things stand: what you have, what was dropped, what is next.",
    ),
    "next": Entry(
        "tether.cli.next", "Say what to do now: the most urgent task that is free for you."
    ),
    "claim": Entry("tether.cli.claim", "Take a task, unless somebody alive has it."),
    "finish": Entry("tether.cli.task.move", "Say that your task is done."),
    "fail": Entry("tether.cli.task.move", "Say that your task failed, and why."),
    "handoff": Entry(
        "tether.cli.handoff", "Say what to know before taking a task up again, or leave a note."
    ),
    "task": Entry("tether.cli.task.group", "Write tasks down, show them, move them."),
    "validate": Entry("tether.cli.validate", "Check the task files, and repair them."),
    "plan": Entry("tether.cli.plan", "Check a plan before a run."),
    "release": Entry("tether.cli.release", "Let go of a task that has no file."),
    "claims": Entry("tether.cli.claims", "Show who has which task."),
    "agent": Entry("tether.cli.agent", "Who is here, and are they alive?"),
    "session": Entry(
        "tether.cli.session", "See all sessions, end one well, clean up after the others."
    ),
    "beat": Entry("tether.cli.beat", "Say that this session is at work, and on what."),
    "sweep": Entry("tether.cli.sweep", "Find sessions that died, and free what they held."),
    "send": Entry("tether.cli.send", "Write to a session, to an agent or to all."),
    "inbox": Entry("tether.cli.inbox", "Read what was written to you."),
    "events": Entry("tether.cli.events", "Show what happened, oldest first."),
    "vacuum": Entry("tether.cli.vacuum", "Find the tasks that were dropped, and take them up."),
    "orphans": Entry("tether.cli.vacuum", "The same as vacuum."),
    "run": Entry(
        "tether.cli.run.group", "Work through a plan with many agents, and survive crashes."
    ),
    "timeline": Entry("tether.cli.timeline", "Show a task's whole life, from all evidence."),
    "why": Entry("tether.cli.why", "Say why a piece of code is the way it is."),
    "lineage": Entry(
        "tether.cli.lineage.group", "See where code comes from, and what hangs together with it."
    ),
    "doctor": Entry("tether.cli.doctor", "Check this installation and this repository."),
    "maintain": Entry("tether.cli.maintain", "Do what is periodic, as far as it is due."),
    "reindex": Entry("tether.cli.reindex", "Make the index anew, from the files and from Git."),
    "export": Entry("tether.cli.transfer", "Write the whole store as JSON lines."),
    "import": Entry("tether.cli.transfer", "Fill an empty store from an export."),
    "hook": Entry("tether.cli.hooks", "What Git calls; `tether init --git-hooks` sets it up."),
    "statusline": Entry(
        "tether.cli.statusline", "Record what Claude Code's status line knows, and show it."
    ),
    "demo": Entry("tether.cli.demo", "Show Tether at work in a sample repository."),
    "bench": Entry("tether.cli.bench", "Measure Tether on this machine, as ratios."),
    "completion": Entry("tether.cli.completion", "Print the completion script of a shell."),
}


class LazyGroup(click.Group):
    """Imports a command when it is needed, and guesses at typos."""

    entries = COMMANDS

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        module = import_module(entry.module)
        if hasattr(module, "VERB") or cmd_name in getattr(module, "VERBS", {}):
            return _from_verb(verbs.verb_of(module, cmd_name))
        command: click.Command = getattr(module, _FUNCTIONS.get(cmd_name, cmd_name))
        return command

    def other_level(self, name: str) -> str:
        """The command of this name that is one level up or down."""
        from tether.cli.task import group

        return f"tether task {name}" if name in group.COMMANDS else ""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.entries and not args[0].startswith("-"):
            path = ctx.command_path
            meant = self.other_level(args[0])
            if not meant:
                near = difflib.get_close_matches(args[0][:40], self.entries, n=1)
                meant = f"{path} {near[0]}" if near else ""
            raise errors.UsageError(
                f"There is no command '{text.one_line(args[0], 40)}'. Nothing was changed.",
                hint=f"Did you mean `{meant}`?" if meant else f"See `{path} --help`.",
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.entries.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog="What answers takes --json for programs. Every command has --help.",
)
@click.version_option(__version__, prog_name="tether", message="%(prog)s %(version)s")
@click.option(
    "-C",
    "directory",
    metavar="DIR",
    type=click.Path(),
    help="Run as if started in DIR; comes first.",
)
def tether(directory: str | None) -> None:
    """Keep the work of coding agents from coming loose."""
    if directory is not None:
        raise errors.UsageError("-C comes once, before everything else. Nothing was changed.")


def run(words: list[str], call: context.Context) -> int:
    """Run a command through click; the exit code."""
    if instruction := call.environ.get(COMPLETE_VARIABLE):
        return shell_completion.shell_complete(tether, {}, "tether", COMPLETE_VARIABLE, instruction)
    try:
        with tether.make_context("tether", list(words), obj=call) as root:
            # Plain numbers are exit codes: answers are printed by `answering`.
            result = tether.invoke(root)
            return result if isinstance(result, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as help_:
        sys.stdout.write(help_.format_message() + "\n")
        return 0
    except click.exceptions.Abort:
        # Ctrl-C or the end of input in a prompt: the cursor still stands behind the question.
        sys.stderr.write("\n")
        raise KeyboardInterrupt from None
    except click.UsageError as mistake:
        # click's parser does not say which command it was parsing for.
        name = words[0] if words and words[0] in COMMANDS else ""
        command = mistake.ctx.command_path if mistake.ctx else f"tether {name}".rstrip()
        said = mistake.format_message()
        stop = "" if said.endswith((".", "?")) else "."
        raise errors.UsageError(
            f"{said}{stop} Nothing was changed.", hint=f"See `{command} --help`."
        ) from mistake


def answering(command: Callable[P, answers.Answer]) -> Callable[P, int]:
    """Make a function that gives an answer into one that prints it; adds --json."""

    @click.option("--json", "as_json", is_flag=True, help=verbs.JSON.help)
    @wraps(command)
    def printing(*args: P.args, **kwargs: P.kwargs) -> int:
        as_json = bool(kwargs.pop("as_json"))
        return answers.show(command(*args, **kwargs), as_json=as_json)

    return printing


class _Number(click.ParamType[int]):
    """A whole number that every database can hold."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        number = verbs.number(str(value))
        if number is None:
            self.fail("This is not a whole number from 0 to 999999999999999.", param, ctx)
        return number


_NUMBER = _Number()


def _from_verb(verb: verbs.Verb) -> click.Command:
    """The same command for click, which explains it and its mistakes."""

    def callback(**values: Any) -> int:
        call = click.get_current_context().find_object(context.Context)
        if call is None:
            raise RuntimeError("click has no context")
        for option in verb.options:
            if option.is_list:
                values[option.name] = list(values[option.name])
        return answers.show(verb.run(call, values), as_json=values["json"])

    parameters: list[click.Parameter] = [
        click.Argument([argument.name]) for argument in verb.arguments
    ]
    for option in (*verb.options, verbs.JSON):
        kind = _NUMBER if option.is_number else None
        parameters.append(
            click.Option(
                [option.flag],
                help=option.help,
                is_flag=not option.metavar,
                metavar=option.metavar or None,
                default=option.initial,
                multiple=option.is_list,
                show_default=option.default is not None,
                type=kind,
            )
        )
    explained = f"{verb.help}\n\n{verb.notes}" if verb.notes else verb.help
    return click.Command(verb.name, callback=callback, params=parameters, help=explained)


limited = click.option(
    "--limit",
    default=50,
    show_default=True,
    metavar="N",
    type=click.IntRange(1, 10_000),
    help="At most this many.",
)
pass_call = click.make_pass_decorator(context.Context)
