"""`tether completion`: the completion script of a shell."""

from __future__ import annotations

import click
from click import shell_completion

from tether.cli import answers, cold


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@cold.answering
def completion(shell: str) -> answers.Answer:
    """Print the completion script of a shell.

    For bash: add `eval "$(tether completion bash)"` to ~/.bashrc. For zsh the same with zsh in
    ~/.zshrc. For fish: write it to ~/.config/fish/completions/tether.fish.
    """
    kind = shell_completion.get_completion_class(shell)
    if kind is None:
        raise click.UsageError("click does not know this shell.")
    script = kind(cold.tether, {}, "tether", cold.COMPLETE_VARIABLE).source()
    return answers.Answer("completion", {"shell": shell, "script": script}, lambda: script)
