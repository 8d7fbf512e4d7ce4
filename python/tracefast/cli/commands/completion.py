"""`tracefast completion`: how a shell completes command lines."""

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
    """Print what makes a shell complete commands, options and their choices.

    \b
    Examples:
      tracefast completion bash >> ~/.bashrc
      tracefast completion zsh > ~/.zfunc/_tracefast
      tracefast completion fish > ~/.config/fish/completions/tracefast.fish
    """
    # typer prints it, asked in this way.
    os.environ["_TRACEFAST_COMPLETE"] = f"source_{shell}"
    context.find_root().command.main(args=[], prog_name="tracefast")
