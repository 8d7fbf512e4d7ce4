"""Write the table of system call numbers from the kernel's own headers.

`python tools/syscall_numbers.py ROOT… > syscall_numbers.rs`, where each ROOT holds headers as `make
headers_install` writes them, in a folder for each machine: `x86-linux-any/asm/unistd_64.h` and so
on, as the package `ziglang` on PyPI has them (`ziglang/lib/libc/include`). Later roots win; earlier
ones only add what newer kernels have dropped.

The table in `linux/machine/syscall_numbers.rs` of the Rust core was made from Linux 7.2. Its names
are the kernel's, which strace 6.1 prints too: it was asked by a program that called every number.
"""

import re
import sys
from pathlib import Path

# Machines in the order of the table's columns, and the files that hold their numbers.
HEADERS = {
    "x86_64": "x86-linux-any/asm/unistd_64.h",
    "i386": "x86-linux-any/asm/unistd_32.h",
    "arm64": "aarch64-linux-any/asm/unistd_64.h",
    "arm": "arm-linux-any/asm/unistd-eabi.h",
    "riscv64": "riscv-linux-any/asm/unistd_64.h",
}
X32 = "x86-linux-any/asm/unistd_x32.h"
# The numbers from which x32 has calls of its own.
X32_FIRST = 512
NUMBER = re.compile(
    r"^#define __NR_(\w+)\s+\(?(?:__NR_SYSCALL_BASE \+ ?|__X32_SYSCALL_BIT \+ )?(\d+)\)?$",
    re.MULTILINE,
)
# What strace calls otherwise than the kernel.
SPELLING = {"arm": {"arm_fadvise64_64": "fadvise64_64", "arm_sync_file_range": "sync_file_range2"}}


def numbers(roots: list[Path], header: str) -> dict[int, str]:
    """Names by number."""
    found: dict[int, str] = {}
    for root in roots:
        path = root / header
        if path.exists():
            found |= {int(n): name for name, n in NUMBER.findall(path.read_text())}
    return found


def table(roots: list[Path]) -> str:
    """The table as source text."""
    rows: dict[str, dict[str, int]] = {}
    for machine, header in HEADERS.items():
        for number, name in numbers(roots, header).items():
            spelt = SPELLING.get(machine, {}).get(name, name)
            rows.setdefault(spelt, {})[machine] = number
    own = numbers(roots, X32)
    x32 = [own[n] for n in sorted(own) if n >= X32_FIRST]
    calls = "".join(
        f'    ("{name}", [{", ".join(str(row.get(m, -1)) for m in HEADERS)}]),\n'
        for name, row in sorted(rows.items())
    )
    return (
        "//! Made by `tools/syscall_numbers.py`.\n"
        "\n"
        "/// Each call's number on x86-64, i386, arm64, arm and riscv64; -1 where it has none.\n"
        f"pub(super) static CALLS: [(&str, [i16; {len(HEADERS)}]); {len(rows)}] = [\n{calls}];\n"
        "\n"
        "/// Calls of x32 that have numbers of their own, from 512 on.\n"
        f"pub(super) static X32: [&str; {len(x32)}] = [\n"
        + "".join(f'    "{name}",\n' for name in x32)
        + "];\n"
    )


if __name__ == "__main__":
    print(table([Path(root) for root in sys.argv[1:]]), end="")
