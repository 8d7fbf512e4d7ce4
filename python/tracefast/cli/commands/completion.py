"""`tracefast completion`: the scripts that make shells complete command lines."""

import os
from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """Shells that can complete command lines."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    context: typer.Context,
    shell: Annotated[Shell, typer.Argument(help="The shell.", show_default=False)],
) -> None:
    """Print the script that makes a shell complete commands, options and choices.

    \b
    Examples:
      tracefast completion bash >> ~/.bashrc
      tracefast completion zsh > ~/.zfunc/_tracefast
      tracefast completion fish > ~/.config/fish/completions/tracefast.fish
    """
    # typer prints the script when this variable is set.
    os.environ["_TRACEFAST_COMPLETE"] = f"source_{shell}"
    context.find_root().command.main(args=[], prog_name="tracefast")
