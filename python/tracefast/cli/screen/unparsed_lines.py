"""Print lines that were not understood, and what was expected there, as they are found."""

import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

from tracefast.cli.system.streams import discard_stdout
from tracefast.cli.text.escaping import plain_json, printable, spreadsheet_cell
from tracefast.reading import Explain, UnparsedLine

_COLUMNS = ("source", "line", "text", "expected")


class ExplainFormat(StrEnum):
    """Forms of what --explain prints."""

    TEXT = "text"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"


@contextmanager
def explanation_writer(
    form: ExplainFormat | None, *, ignore_closed_pipe: bool
) -> Iterator[Explain]:
    """Write explanations to standard output, a few lines at a time.

    Parameters
    ----------
    form
        Their form; text by default.
    ignore_closed_pipe
        Go on when the reader of a pipe has seen enough, as there is more to do. Otherwise this is
        an error.

    Yields
    ------
    Explain
        The function that takes the next lines.
    """
    writer = _WRITERS[form or ExplainFormat.TEXT]()

    def write(text: str) -> None:
        try:
            # As bytes: the encoding does not depend on the user's locale.
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            if not ignore_closed_pipe:
                raise
            discard_stdout()

    write(writer.start())
    yield lambda lines: write(writer.lines(lines))
    write(writer.end())


class _Text:
    def start(self) -> str:
        return ""

    def lines(self, lines: list[UnparsedLine]) -> str:
        return "".join(
            f"{printable(source)}:{line}: {printable(text)}\n    expected {printable(expected)}\n"
            for source, line, text, expected in lines
        )

    def end(self) -> str:
        return ""


class _Ndjson(_Text):
    def lines(self, lines: list[UnparsedLine]) -> str:
        return "".join(f"{_json(line)}\n" for line in lines)


class _Json(_Text):
    """One array, written line by line."""

    def __init__(self) -> None:
        self._before = ""

    def start(self) -> str:
        return "["

    def lines(self, lines: list[UnparsedLine]) -> str:
        parts = []
        for line in lines:
            parts.append(f"{self._before}{_json(line)}")
            self._before = ",\n"
        return "".join(parts)

    def end(self) -> str:
        return "]\n"


class _Csv(_Text):
    def start(self) -> str:
        return self._rows([_COLUMNS])

    def lines(self, lines: list[UnparsedLine]) -> str:
        return self._rows(lines)

    @staticmethod
    def _rows(rows: Sequence[Sequence[object]]) -> str:
        buffer = io.StringIO()
        safe = [[spreadsheet_cell(c) if isinstance(c, str) else c for c in row] for row in rows]
        csv.writer(buffer, lineterminator="\n").writerows(safe)
        return buffer.getvalue()


def _json(line: UnparsedLine) -> str:
    return plain_json(json.dumps(dict(zip(_COLUMNS, line, strict=True)), ensure_ascii=False))


_WRITERS: dict[ExplainFormat, type[_Text]] = {
    ExplainFormat.TEXT: _Text,
    ExplainFormat.JSON: _Json,
    ExplainFormat.NDJSON: _Ndjson,
    ExplainFormat.CSV: _Csv,
}
