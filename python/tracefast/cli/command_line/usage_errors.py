"""Wrong command lines, in the words of this program instead of typer's."""

import re
from typing import Any, Final

import typer
from typer.core import TyperGroup

from tracefast.cli.messages.errors import CommandError, resembling

# The class that typer raises for all of them is in no public module.
UsageError: Final[type[Exception]] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
# What is wrong with a number, in fewer words.
_NUMBERS: Final = (
    (re.compile(r"Input should be a valid integer.*", re.DOTALL), "a whole number is needed"),
    (
        re.compile(r"Input should be greater than or equal to (.*)"),
        r"a number from \1 on is needed",
    ),
    (re.compile(r"Input should be less than or equal to (.*)"), r"a number up to \1 is needed"),
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


def told(error: Any, command: str | None = None) -> CommandError:  # noqa: ANN401 - see `UsageError`
    """Put an error of typer into words: what is wrong, and what to do about it.

    Parameters
    ----------
    error
        A `UsageError`.
    command
        The command that was given, where the error does not know it.
    """
    context = getattr(error, "ctx", None)
    path = f"tracefast {command}" if command is not None else "tracefast"
    if context is not None:
        path = context.command_path
    hint = f"{path} --help says how it is used"
    option: str = getattr(error, "option_name", "")
    if type(error).__name__ == "NoSuchOption" and context is not None:
        known = [name for one in context.command.get_params(context) for name in one.opts]
        near = resembling(option, known)
        return CommandError(f"{option}: no such option", near if "did you" in near else hint)
    if option and type(error).__name__ == "BadOptionUsage":
        return CommandError(f"{option}: a value is missing behind it", hint)
    text = str(error.message).removeprefix("Value error, ").rstrip(".")
    parameter = getattr(error, "param", None)
    if parameter is not None:
        name = parameter.opts[-1]
        if not name.startswith("-"):
            name = parameter.metavar or parameter.name.upper()
        if type(error).__name__ == "MissingParameter":
            return CommandError(f"{name}: missing", hint)
        if match := _CHOICE.fullmatch(text):
            choices = re.findall(r"'(.*?)'", match[2])
            return CommandError(f"{name} {match[1]}: no such choice", resembling(match[1], choices))
        for pattern, words in _NUMBERS:
            text = pattern.sub(words, text)
        text = f"{name}: {text[:1].lower()}{text[1:]}"
    return CommandError(text, hint)
