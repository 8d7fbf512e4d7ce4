"""Time and memory of `tracefast record` beside strace that writes a log with the same options.

    python benches/recording/beside_strace.py --calls 6000000     # about 1 GB of text

The program makes cheap calls only, so strace is as fast as it can be. Both run in turn, and then
`tracefast parse` reads the last log. What is measured of a recorder is its own process, without
strace and the program. Logs are removed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tracefast.recording.options import strace_options, strace_version

INTERVAL_S = 0.1
TICKS_A_SECOND = 100
"""USER_HZ, in which proc(5) gives times of processes."""


@dataclass
class Cost:
    """What a process has taken, without its children."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0

    def look_at(self, pid: int) -> None:
        """Note what it has taken so far."""
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return
        peak = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
        if peak:
            self.cpu_s = (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND
            self.peak_mb = int(peak[0]) / 1024


def run(words: list[str], folder: Path) -> Cost:
    """Run a command, and look at its process meanwhile."""
    cost, ended = Cost(), threading.Event()
    start = time.perf_counter()
    with subprocess.Popen(words, cwd=folder) as process:

        def watch() -> None:
            while not ended.wait(INTERVAL_S):
                cost.look_at(process.pid)

        watcher = threading.Thread(target=watch)
        watcher.start()
        code = process.wait()
        cost.wall_s = time.perf_counter() - start
        ended.set()
        watcher.join()
    if code:
        raise SystemExit(f"{words[0]} ended with exit code {code}")
    return cost


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=500_000, help="reads, and as many writes")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--folder", help="where the logs are meanwhile")
    options = parser.parse_args()
    strace = shutil.which("strace") or parser.error("strace is not installed")
    tracefast = str(Path(sys.executable).with_name("tracefast"))
    program = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "status=none"]
    program.append(f"count={options.calls}")
    write = [strace, *strace_options(strace_version(strace)), "-o", "app.strace", *program]
    record = [tracefast, "record", "-q", "-o", "app.parquet", "--", *program]
    rows = [
        ("", "seconds", "of its own processor", "peak MB", "x strace"),
        ("---", *["---:"] * 4),
    ]
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        for _ in range(options.rounds):
            written = run(write, folder)
            rows.append(("strace -o", f"{written.wall_s:.1f}", f"{written.cpu_s:.1f}", "", ""))
            cost = run(record, folder)
            ratio = f"{cost.wall_s / written.wall_s:.3f}"
            shown = (f"{cost.wall_s:.1f}", f"{cost.cpu_s:.1f}", f"{cost.peak_mb:.0f}", ratio)
            rows.append(("tracefast record", *shown))
        size = (folder / "app.strace").stat().st_size
        cost = run([tracefast, "parse", "-q", "app.strace", "-o", "parsed.parquet"], folder)
        shown = (f"{cost.wall_s:.1f}", f"{cost.cpu_s:.1f}", f"{cost.peak_mb:.0f}", "")
        rows.append(("tracefast parse", *shown))
    print(f"{size:,} bytes of log\n")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
