"""How many cells of a terminal text takes: two for full-width characters, none for marks."""

import unicodedata
from typing import Final

_JOINER: Final = "\u200d"
# The one before it is shown as a picture, in two cells.
_AS_PICTURE: Final = "\ufe0f"


def cells(text: str) -> int:
    r"""Count the cells that text takes: Unicode Standard Annex 11.

    Examples
    --------
    >>> cells("data.bin"), cells("データ.bin"), cells("cafe\u0301")
    (8, 10, 4)
    """
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.combining(character) or character in {_JOINER, _AS_PICTURE}:
        return 0
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def first_cells(text: str, most: int) -> str:
    """Give as much of the start of a text as fits.

    Examples
    --------
    >>> first_cells("データ.bin", 5), last_cells("データ.bin", 5)
    ('デー', '.bin')
    """
    if text.isascii():
        return text[: max(most, 0)]
    taken = 0
    for at, character in enumerate(text):
        taken += _cells(character)
        if taken > most:
            return text[:at]
    return text


def last_cells(text: str, most: int) -> str:
    """Give as much of the end of a text as fits."""
    if text.isascii():
        return text[len(text) - max(most, 0) :] if most > 0 else ""
    taken = 0
    for at in range(len(text) - 1, -1, -1):
        taken += _cells(text[at])
        if taken > most:
            return text[at + 1 :]
    return text


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Fill text with blanks up to a width.

    Examples
    --------
    >>> padded("データ", 8) + "|", padded("7", 3, right=True)
    ('データ  |', '  7')
    """
    blanks = " " * (width - cells(text))
    return blanks + text if right else text + blanks
