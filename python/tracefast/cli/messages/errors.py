"""The error that a command raises."""


class CommandError(Exception):
    """A wrong command line, or something that keeps a command from doing its work.

    Attributes
    ----------
    hint
        What to do about it; None where nothing is known to help.
    """

    def __init__(self, what: str, hint: str | None = None) -> None:
        super().__init__(what)
        self.hint = hint


def name_not_utf8(name: str) -> CommandError:
    """Make the error for a file name that cannot be a value of a column of text."""
    return CommandError(
        f"{name}: the name is not UTF-8",
        "rename the file, or redirect it: tracefast ... - < LOG, tracefast ... -o - > FILE",
    )
