"""Write the reference pages that are made from the code: `make docs`.

A test compares the pages in the repository with what this makes, so they cannot go stale.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tether import config, errors
from tether.cli import cold
from tether.store import events
from tether.tasks import effective, states, validate

DIRECTORY = Path(__file__).parents[1] / "docs" / "reference"
NOTE = "<!-- Made by `make docs` from the code. Do not edit. -->\n"


def pages() -> dict[str, str]:
    """The text of every generated page, by file name."""
    return {
        "cli.md": _cli(),
        "errors.md": _errors(),
        "settings.md": _settings(),
        "events.md": _events(),
        "lifecycle.md": _lifecycle(),
    }


def _cli() -> str:
    lines = [
        NOTE,
        "# Commands",
        "",
        "Results go to stdout, everything else to stderr. With `--json` the answer is one line:",
        '`{"ok": true, "<noun>": …}`, or `{"ok": false, "error": {"code", "message", "hint",',
        '"retryable"}}`. The codes are in [errors](errors.md).',
        "",
        "| exit code | meaning |",
        "|---|---|",
        "| 0 | done; also: nothing to do, or findings without `--fail-on` |",
        "| 1 | failed |",
        "| 2 | the command was not understood |",
        "| 3 | a rule does not allow it |",
        "| 4 | somebody else was first |",
        "| 5 | not found |",
        "| 6 | findings of the kind that the caller asked to fail on |",
        "",
        *_help("tether", cold.tether, None),
    ]
    root = click.Context(cold.tether, info_name="tether")
    for name in cold.COMMANDS:
        command = cold.tether.get_command(root, name)
        if command is None:
            raise LookupError(name)
        lines += _help(f"tether {name}", command, root)
        if isinstance(command, click.Group):
            parent = click.Context(command, info_name=name, parent=root)
            for sub_name in command.list_commands(parent):
                sub_command = command.get_command(parent, sub_name)
                if sub_command is None:
                    raise LookupError(sub_name)
                lines += _help(f"tether {name} {sub_name}", sub_command, parent)
    return "\n".join(lines)


def _help(title: str, command: click.Command, parent: click.Context | None) -> list[str]:
    name = title.rpartition(" ")[2]
    context = click.Context(command, info_name=name, parent=parent, terminal_width=80)
    context.help_option_names = ["-h", "--help"]
    return [f"## `{title}`", "", "```", command.get_help(context), "```", ""]


def _errors() -> str:
    lines = [
        NOTE,
        "# Errors",
        "",
        "Every error has a code for programs, an exit code, and says whether the same call may",
        "succeed later. What an error says is true when it says it: what it calls unchanged is.",
        "",
        "| code | exit | retry | what happened | what to do |",
        "|---|---|---|---|---|",
    ]
    for error in sorted(_subclasses(errors.TetherError), key=lambda e: (e.exit_code, e.code)):
        retry = "yes" if error.retryable else ""
        message = " ".join((error.__doc__ or "").split())
        lines.append(f"| `{error.code}` | {error.exit_code} | {retry} | {message} | {error.hint} |")
    return "\n".join(lines) + "\n"


def _subclasses(kind: type[errors.TetherError]) -> list[type[errors.TetherError]]:
    found = [kind]
    for child in kind.__subclasses__():
        found += _subclasses(child)
    return found


def _settings() -> str:
    lines = [
        NOTE,
        "# Settings",
        "",
        "A setting can stand in four places; later ones win:",
        "",
        "1. `tether.toml` at the top of the working tree. It is tracked, so anybody who can push a",
        "   branch writes it: nothing in it may connect to anything or run anything.",
        "2. `$XDG_CONFIG_HOME/tether/config.toml`, or `~/.config/tether/config.toml`.",
        "3. `local.toml` in the store directory (`.git/tether/` unless `TETHER_STORE_DIR` is set).",
        "4. The environment.",
        "",
        "A name with a dot stands in a table: `store.url` is `url` under `[store]`. An unknown",
        "name is a warning; a wrong value is an error.",
        "",
        "| name | environment | default | in tether.toml | meaning |",
        "|---|---|---|---|---|",
    ]
    for setting in config.SETTINGS:
        default = f"`{setting.default}`" if setting.default != "" else ""
        tracked = "yes" if setting.is_tracked else "no"
        row = [f"`{setting.name}`", f"`{setting.variable}`", default, tracked, setting.meaning]
        lines.append(f"| {' | '.join(row)} |")
    lines += [
        "",
        "Only in the environment:",
        "",
        "| name | meaning |",
        "|---|---|",
        *(f"| `{name}` | {meaning} |" for name, meaning in config.VARIABLES.items()),
        "| `NO_COLOR` | No colours on a terminal. |",
    ]
    return "\n".join(lines) + "\n"


def _lifecycle() -> str:
    return "\n".join(
        [
            NOTE,
            "# The lifecycle of a task",
            "",
            "## Moves",
            "",
            "A move that is not in this table is refused with the rule that it breaks (exit code",
            "3). A target in brackets: the state stays.",
            "",
            "| verb | from | to | who | what it means |",
            "|---|---|---|---|---|",
            *map(_move_row, states.TABLE),
            "",
            "## Directories",
            "",
            "| directory | states |",
            "|---|---|",
            *(f"| `{p}/` | {', '.join(found)} |" for p, found in states.PLACES.items()),
            "",
            "A file whose status does not fit its directory is half-way: content is written first,",
            "then the file is renamed. A status that follows its directory completes the move;",
            "otherwise the directory wins, so a plain `mv` counts.",
            "",
            "## What is shown, all things considered",
            "",
            "The first row that fits counts. `*` fits everything, `-` is none; `mine` is the one",
            "who asks, `over` is dead or expired; `ended` is done or failed, `let_go` is any other",
            "outcome. An outcome on the branch of this checkout does not count: there the file",
            "itself tells; `reverted` is an end there whose file is in progress again. `held` is",
            "in_progress, or what the file says if it is only assigned.",
            "",
            "| file here | open claim | last outcome | file there | state | offered | on top |",
            "|---|---|---|---|---|---|---|",
            *map(_effective_row, effective.TABLE),
            "",
            "## Rules of `tether validate`",
            "",
            "| rule | what must hold |",
            "|---|---|",
            *(f"| `{name}` | {meaning} |" for name, meaning in validate.RULES.items()),
            "",
        ]
    )


def _move_row(move: states.Move) -> str:
    sources, who = ", ".join(move.sources), ", ".join(states.ROLES[role] for role in move.who)
    target = move.target or "(the same)"
    return f"| `{move.verb}` | {sources} | {target} | {who} | {move.meaning} |"


def _effective_row(row: effective.Row) -> str:
    result = row.result
    said = effective.OVERLAYS.get(result.overlay, "").replace("{", "").replace("}", "")
    cells = [row.file, row.claim, row.outcome, row.there, result.state]
    cells += ["yes" if result.is_offered else "no", said]
    return f"| {' | '.join(cells)} |"


def _events() -> str:
    lines = [
        NOTE,
        "# Events",
        "",
        "The store's log. Ids count up without gaps, in the order in which things were committed.",
        "A type that this version does not know is kept and shown.",
        "",
        "| type | data | meaning | pruned |",
        "|---|---|---|---|",
    ]
    for kind in events.all_types():
        fields = ", ".join(f"`{field}`" for field in kind.fields)
        pruned = "yes" if kind.is_chatter else "never"
        lines.append(f"| `{kind.name}` | {fields} | {kind.meaning} | {pruned} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (DIRECTORY / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"Wrote {len(pages())} pages.\n")
