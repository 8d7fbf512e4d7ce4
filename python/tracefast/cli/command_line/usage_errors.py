"""The list of commands, and errors of typer, reworded as tracefast words its own."""

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperGroup

from tracefast.cli.messages.errors import CommandError
from tracefast.error_hints import suggest
from tracefast.inputs.sources import STDIN

# The base class of what typer raises is in no public module.
UsageError: Final[type[Exception]] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
_NOT_A_NUMBER: Final = r"'.*' is not a valid int(eger)?( range)?"
# `x>=0` or `1<=x<=10`.
_OUT_OF_RANGE: Final = r"(-?\d+) is not in the range (?:(\d+)<=)?x(?:>=(\d+))?(?:<=(\d+))?"
_CHOICE: Final = r"'(.*)' is not one of (.*?)\.?"
# What other tools call things: head(1), find(1), databases.
_ELSEWHERE: Final = {
    **dict.fromkeys(("-n", "--limit", "--head", "--lines", "--max-rows"), "--top"),
    **dict.fromkeys(("--filter", "--query"), "--where"),
    **dict.fromkeys(("--path", "--name", "--glob"), "--match"),
    **dict.fromkeys(("--order-by", "--sort-by"), "--sort"),
    **dict.fromkeys(("--all", "--full", "--no-trunc"), "--wide"),
    **dict.fromkeys(("--json", "--csv"), "--format"),
    **dict.fromkeys(("--since", "--start"), "--from"),
    **dict.fromkeys(("--until", "--end"), "--to"),
    **dict.fromkeys(("f", "file", "reg"), "regular"),
    **dict.fromkeys(("d", "dir", "folder"), "directory"),
    **dict.fromkeys(("p", "pipes"), "pipe"),
    **dict.fromkeys(("s", "sock"), "socket"),
    **dict.fromkeys(("c", "character"), "char"),
    **dict.fromkeys(("b", "device"), "block"),
}
# The headings of the list of commands; those in none of them come last.
GROUPS: Final = {
    "Answers": ("waits", "workers", "flow", "insights", "errors", "report"),
    "Tables": ("files", "forks", "processes", "syscalls", "events", "blocks", "join"),
    "Data": ("parse", "export", "sql", "schema"),
    "Compare": ("diff", "check"),
    "Record": ("record", "hooks"),
}


class Commands(TyperGroup):
    """The group of commands, with headings, and suggestions for unknown names."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own classes
        """Write the list of commands, those that answer alike questions together."""
        names = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
        grouped = {name for group in GROUPS.values() for name in group}
        other = tuple(name for name in names if name not in grouped)
        width = max(map(len, names))
        for heading, group in (GROUPS | {"Other": other}).items():
            rows = [
                (name.ljust(width), self.commands[name].get_short_help_str(formatter.width))
                for name in group
                if name in names
            ]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - typer's own classes
        """Find a command.

        Raises
        ------
        CommandError
            There is no such command.
        """
        found = super().get_command(ctx, cmd_name)
        # While a shell completes a line, there is nowhere to print a message.
        if found is None and not ctx.resilient_parsing and not cmd_name.startswith("-"):
            shown = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
            raise CommandError(f"{cmd_name}: no such command", suggest(cmd_name, shown))
        return found


def names_a_log(word: str, commands: Collection[str]) -> bool:
    """Say whether the first word of a command line is a log, and not the name of a command.

    A word with a dot or a slash is meant to be a file, even if no such file exists.

    Examples
    --------
    >>> [names_a_log(word, ["files"]) for word in ("files", "fils", "-", "-v", "app.strace")]
    [False, False, True, False, True]
    """
    if word in commands or (word.startswith("-") and word != STDIN):
        return False
    return word == STDIN or "/" in word or "." in word or Path(word).exists()


def to_command_error(error: Any, command: str | None = None) -> CommandError:  # noqa: ANN401 - see `UsageError`
    """Turn an error of typer into one that says what is wrong and what to do.

    Parameters
    ----------
    error
        A `UsageError`.
    command
        The command that was given, where the error does not have it.
    """
    context = getattr(error, "ctx", None)
    path = f"tracefast {command}" if command is not None else "tracefast"
    if context is not None:
        path = context.command_path
    hint = f"see {path} --help"
    option: str = getattr(error, "option_name", "")
    if type(error).__name__ == "NoSuchOption" and context is not None:
        known = [name for one in context.command.get_params(context) for name in one.opts]
        near = _suggest(option, known)
        return CommandError(f"{option}: no such option", near if "did you" in near else hint)
    if option and type(error).__name__ == "BadOptionUsage":
        return CommandError(f"{option}: needs a value", hint)
    text = str(error.message).rstrip(".")
    parameter = getattr(error, "param", None)
    if parameter is not None:
        name = parameter.opts[-1]
        if not name.startswith("-"):
            name = parameter.metavar or parameter.name.upper()
        if type(error).__name__ == "MissingParameter":
            return CommandError(f"{name}: missing", hint)
        if match := re.fullmatch(_CHOICE, text, re.DOTALL):
            choices = re.findall(r"'(.*?)'", match[2])
            return CommandError(f"{name} {match[1]}: invalid choice", _suggest(match[1], choices))
        text = f"{name}: {_of_number(text) or text[:1].lower() + text[1:]}"
    return CommandError(text, hint)


def _suggest(given: str, known: Collection[str]) -> str:
    """Suggest what resembles a name, or what another tool calls so."""
    here = _ELSEWHERE.get(given)
    return f"did you mean {here!r}?" if here in known else suggest(given, known)


def _of_number(text: str) -> str | None:
    """Say what is wrong with a number, if that is what typer says."""
    if re.fullmatch(_NOT_A_NUMBER, text, re.DOTALL):
        return "not a whole number"
    if (found := re.fullmatch(_OUT_OF_RANGE, text)) is None:
        return None
    given, above, least, most = found.groups()
    least = above or least
    if least is not None and int(given) < int(least):
        return f"must be at least {least}"
    return f"must be at most {most}"
