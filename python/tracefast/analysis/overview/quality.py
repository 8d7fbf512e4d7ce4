"""What reading a log showed of its quality, and its events do not."""

from collections.abc import Iterable, Iterator
from typing import Final

from tracefast import _core
from tracefast.inputs.contents import sniff

# The tables show these.
_SHOWN: Final = ("empty", "complete", "filtered", "records lost")
_NOT_UNDERSTOOD: Final = "not understood"
_SUMMARY: Final = "only strace's summary of calls (record without -c, or with -C)"


def quality(reports: Iterable[_core.Report]) -> list[str]:
    r"""Say what is lost or was changed in logs: values, their ends, breaks of lines.

    Parameters
    ----------
    reports
        What reading them has shown.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> _ = Path("cut.strace").write_text('openat(AT_FDCWD, "/srv/a", O_RDONLY) = 3\nread(3, "x')
    >>> quality([tf.parse("cut.strace", None)])
    ['cut at the end']
    """
    said: dict[str, None] = {}
    for report in reports:
        if not report.rows and report.accounting.get("summary"):
            said[_SUMMARY] = None
            continue
        said |= dict.fromkeys(
            text
            for text in report.quality
            if not text.startswith(_SHOWN) and _NOT_UNDERSTOOD not in text
        )
    return list(said)


def reports_of_files(names: Iterable[str]) -> Iterator[_core.Report]:
    """Give what parsing showed, where files of events say so."""
    for name in names:
        if sniff(name) != "log" and (text := _core.metadata(name).get("tracefast.report")):
            yield _core.report_of(text, 0.0)
