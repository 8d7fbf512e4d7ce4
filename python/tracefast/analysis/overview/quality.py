"""What reading a log showed of its quality, and its events do not."""

from collections.abc import Iterator, Sequence
from typing import Final

from tracefast import _core
from tracefast.inputs.contents import sniff
from tracefast.reading import FormatIn, Machine, read

# The tables show these.
_SHOWN: Final = ("empty", "complete", "filtered", "records lost")
_NOT_UNDERSTOOD: Final = "not understood"
_SUMMARY: Final = "only strace's summary of calls (record without -c, or with -C)"


def quality(
    names: Sequence[str], *, format_in: FormatIn | None = None, machine: Machine | None = None
) -> list[str]:
    r"""Say what is lost or was changed in logs: values, their ends, breaks of lines.

    Logs are read once more, which takes as long as to parse them.

    Parameters
    ----------
    names
        Names of logs and of Parquet files.
    format_in, machine
        What is known of the logs.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("cut.strace").write_text('openat(AT_FDCWD, "/srv/a", O_RDONLY) = 3\nread(3, "x')
    >>> quality(["cut.strace"])
    ['cut at the end']
    """
    logs = [name for name in names if sniff(name) == "log"]
    reports = list(_of_files([name for name in names if name not in logs]))
    if logs:
        reader = read(logs, columns=["line"], format_in=format_in, machine=machine)
        rows = sum(batch.num_rows for batch in reader)
        if reader.report is not None:
            reports.append(reader.report)
            if not rows and reader.report.accounting.get("summary"):
                return [_SUMMARY]
    said = (text for report in reports for text in report.quality)
    return list(
        dict.fromkeys(t for t in said if not t.startswith(_SHOWN) and _NOT_UNDERSTOOD not in t)
    )


def _of_files(names: Sequence[str]) -> Iterator[_core.Report]:
    for name in names:
        if text := _core.metadata(name).get("tracefast.report"):
            yield _core.report_of(text, 0.0)
