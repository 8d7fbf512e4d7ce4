"""Wrong command lines, in the words of this program instead of typer's."""

import re
from typing import Any, Final

import typer
from typer.core import TyperGroup

from tracefast.cli.errors import CommandError, resembling

# The class that typer raises for all of them is in no public module.
UsageError: Final[type[Exception]] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
_CHOICE: Final = re.compile(r"'(.*)' is not one of (.*?)\.?", re.DOTALL)


class Commands(TyperGroup):
    """The commands, and a suggestion where there is none of that name."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - typer's own classes
        """Find a command.

        Raises
        ------
        CommandError
            There is none of this name.
        """
        found = super().get_command(ctx, cmd_name)
        # When a shell asks how a line may go on, nobody is there to be told.
        if found is None and not ctx.resilient_parsing and not cmd_name.startswith("-"):
            raise CommandError(
                f"{cmd_name}: no such command", resembling(cmd_name, self.list_commands(ctx))
            )
        return found


def told(error: Any) -> CommandError:  # noqa: ANN401 - see `UsageError`
    """Put an error of typer into words: what is wrong, and what to do about it.

    Parameters
    ----------
    error
        A `UsageError`.
    """
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "tracefast"
    hint = f"{path} --help says how it is used"
    option: str = getattr(error, "option_name", "")
    if type(error).__name__ == "NoSuchOption" and context is not None:
        known = [name for one in context.command.get_params(context) for name in one.opts]
        near = resembling(option, known)
        return CommandError(f"{option}: no such option", near if "did you" in near else hint)
    text = str(error.message).removeprefix("Value error, ").rstrip(".")
    parameter = getattr(error, "param", None)
    if parameter is not None:
        name = parameter.opts[-1] if parameter.opts[-1].startswith("-") else parameter.metavar
        if type(error).__name__ == "MissingParameter":
            return CommandError(f"{name or parameter.name}: missing", hint)
        if match := _CHOICE.fullmatch(text):
            choices = re.findall(r"'(.*?)'", match[2])
            return CommandError(f"{name} {match[1]}: no such choice", resembling(match[1], choices))
        text = f"{name}: {text[:1].lower()}{text[1:]}"
    return CommandError(text, hint)
