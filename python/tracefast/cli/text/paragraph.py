"""Wrap sentences at the width of a terminal."""

from tracefast.cli.text.width import cells


def wrap(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    r"""Write a paragraph as lines.

    Unlike :func:`textwrap.wrap`, it counts cells, not characters, and breaks nothing but blanks:
    an option or a path can be copied whole.

    Parameters
    ----------
    text
        The paragraph.
    width
        The cells of a line. A longer word has a line of its own.
    first, rest
        What the first line and each further line begin with.

    Examples
    --------
    >>> wrap("reads 2 files, see --by file", 14, rest="  ")
    ['reads 2 files,', '  see --by', '  file']
    >>> wrap("データ データ", 12), wrap("", 12)
    (['データ', 'データ'], [])
    """
    lines: list[str] = []
    line = first
    empty = True
    for word in text.split(" "):
        longer = line + word if empty else f"{line} {word}"
        if not empty and cells(longer) > width:
            lines.append(line)
            longer = rest + word
        line = longer
        empty = False
    return [*lines, line] if text else lines
