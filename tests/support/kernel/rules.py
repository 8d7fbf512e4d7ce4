"""Rows of a few lines written by hand, for the tests of the model's rules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from support.kernel import truth

# As strace prints them.
FORK = (
    "clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, "
    "child_tidptr=0x7f1)"
)
THREAD = (
    "clone(child_stack=0x7f2, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|"
    "CLONE_SYSVSEM|CLONE_SETTLS|CLONE_PARENT_SETTID|CLONE_CHILD_CLEARTID, parent_tid=[101], "
    "tls=0x7f3, child_tidptr=0x7f4)"
)


def rights(*fds: int) -> str:
    """The message that passes descriptors, as sendmsg and recvmsg print it."""
    data = ", ".join(map(str, fds))
    return (
        '{msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, '
        "msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, "
        f"cmsg_data=[{data}]}}], msg_controllen=24, msg_flags=0}}"
    )


class Log:
    """The rows of a text, to be asked for some of their columns."""

    def __init__(self, rows: pl.DataFrame) -> None:
        self.rows = rows

    def see(self, *columns: str, **where: object) -> list[Any]:
        """Give columns of the rows with these values, one by one in order; tuples if several."""
        rows = self.rows
        for column, value in where.items():
            values = value if isinstance(value, tuple) else (value,)
            rows = rows.filter(pl.col(column).is_in(values))
        found = rows.select(columns).rows()
        return [row[0] for row in found] if len(columns) == 1 else found

    def reads(self, **where: object) -> list[Any]:
        """Where each read began, how well that is known, and its class."""
        return self.see("offset", "offset_known", "access", name=tuple(truth.READS), **where)


Reader = Callable[[str], Log]


def reader(folder: Path, name: str = "made.strace") -> Reader:
    """Give a function that reads a text as a log."""

    def read(text: str) -> Log:
        log = folder / name
        log.write_text(text.lstrip("\n"))
        return Log(truth.read_rows(log))

    return read
