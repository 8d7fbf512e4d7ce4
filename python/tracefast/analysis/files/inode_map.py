"""Names of files by device and inode: what `find` prints, and what it is good for."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import polars as pl

from tracefast import _core
from tracefast.error_hints import error_with_hint

InodeMap = str | os.PathLike[str] | pl.DataFrame | pl.LazyFrame

SCHEMA: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "dev": pl.String,
    "ino": pl.UInt64,
    "path": pl.String,
}

_FIND: Final = "find FOLDER -printf '%D %i %p\\n'"
_MOST: Final = 2**64


def inodes(file: str | os.PathLike[str]) -> pl.DataFrame:
    r"""Read a map from devices and inodes to paths, as find prints it.

    Parameters
    ----------
    file
        The output of ``find FOLDER -printf '%D %i %p\n'``: the number of the device in decimal,
        as `stat` has it in Linux, that of the inode, the path. Where paths hold line feeds, lines
        may end in NULs instead (``'%D %i %p\0'``).

    Returns
    -------
    polars.DataFrame
        `dev` as ``major:minor``, `ino`, `path`: the first one of each inode, its bytes that are no
        UTF-8 as ``\xNN``.

    Raises
    ------
    OSError
        The file cannot be read.
    Error
        A line is not as find prints it.

    Examples
    --------
    >>> from pathlib import Path
    >>> size = Path("inodes.txt").write_text("65024 66 /srv/my data.bin\n")
    >>> inodes("inodes.txt").rows()
    [('254:0', 66, '/srv/my data.bin')]
    """
    name = os.fspath(file)
    devices: list[int] = []
    numbers: list[int] = []
    paths: list[str] = []
    for encoded, number, path in _lines(name, Path(name).read_bytes()):
        devices.append(encoded)
        numbers.append(number)
        paths.append(path)
    device = pl.col("device")
    # The kernel's encoding for programs: 12 bits of the major and 8 of the minor number are where
    # 16 bits once held both, the others above. That of the machine that runs this may be another.
    major = device // 2**8 % 2**12 + device // 2**32 // 2**12 * 2**12
    minor = device % 2**8 + device // 2**12 % 2**32 // 2**8 * 2**8
    return (
        pl.DataFrame(
            {"device": devices, "ino": numbers, "path": paths},
            schema={"device": pl.UInt64, "ino": pl.UInt64, "path": pl.String},
        )
        .select(pl.format("{}:{}", major, minor).alias("dev"), "ino", "path")
        .unique(("dev", "ino"), keep="first", maintain_order=True)
    )


def with_paths(table: pl.LazyFrame, inode_map: InodeMap) -> pl.LazyFrame:
    """Fill in the paths of files that are known by device and inode only.

    Parameters
    ----------
    table
        A table with the columns `file` and `path`, as that of :func:`tracefast.files`, or events.
    inode_map
        The map: the path of its file, or what :func:`inodes` gives.

    Returns
    -------
    polars.LazyFrame
        The same table; paths that were null are those of the map.

    Examples
    --------
    >>> import polars as pl
    >>> from tracefast._core import file_id
    >>> files = pl.LazyFrame({"file": [file_id(b"254:0:66")], "path": [None]})
    >>> names = pl.DataFrame({"dev": ["254:0"], "ino": [66], "path": ["/srv/data.bin"]})
    >>> with_paths(files, names).select("path").collect().rows()
    [('/srv/data.bin',)]
    """
    names = inode_frame(inode_map).select(
        pl.format("{}:{}", "dev", "ino")
        .map_elements(lambda text: _core.file_id(text.encode()), return_dtype=pl.UInt64)
        .alias("file"),
        pl.col("path").alias("known"),
    )
    return (
        table.join(names, on="file", how="left", maintain_order="left")
        .with_columns(pl.coalesce(pl.col("path").cast(pl.String), "known").alias("path"))
        .drop("known")
    )


def inode_frame(inode_map: InodeMap) -> pl.LazyFrame:
    """Give a map as a frame, whatever it was given as.

    Raises
    ------
    OSError
        The file cannot be read.
    Error
        A line of the file is not as find prints it.
    TypeError
        It is neither.
    """
    if isinstance(inode_map, str | os.PathLike):
        return inodes(inode_map).lazy()
    if not isinstance(inode_map, pl.LazyFrame | pl.DataFrame):
        raise TypeError(
            "inode_map must be the path of a file or a polars frame with the columns 'dev', 'ino' "
            f"and 'path', got {type(inode_map).__name__}"
        )
    return inode_map.lazy().select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())


def _lines(name: str, text: bytes) -> Iterator[tuple[int, int, str]]:
    end = b"\0" if b"\0" in text else b"\n"
    lines = text.split(end)
    if not lines[-1]:
        lines.pop()
    for n, line in enumerate(lines, 1):
        device, _, rest = line.partition(b" ")
        number, _, path = rest.partition(b" ")
        if not (_is_number(device) and _is_number(number) and path):
            raise _odd(name, n, line)
        yield int(device), int(number), path.decode(errors="backslashreplace")


def _is_number(text: bytes) -> bool:
    return text.isdigit() and len(text) <= 20 and int(text) < _MOST  # noqa: PLR2004


def _odd(name: str, line: int, text: bytes) -> _core.Error:
    shown = text[:80].decode(errors="backslashreplace")
    return error_with_hint(
        f"{name}: line {line}: no device, inode and path: {shown}",
        f"make the map with: {_FIND}; where paths hold line feeds, end the format in \\0 instead",
    )
