"""Run a program under strace, with the observer inside strace: a log, and the truth beside it."""

from __future__ import annotations

import contextlib
import csv
import ctypes
import os
import shutil
import signal
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from truth.scenarios import Scenario

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
FILTER = ["openat", "read", "close", "write"]
RECORDERS = {
    "f": ["-f", "-ttt", "-T"],
    "y": ["-f", "-y"],
    "yy": ["-f", "-yy"],
    "ff": ["-ff", "-ttt"],
    "ff-untimed": ["-ff"],
    "z": ["-f", "-z"],
    "filtered": ["-f", "-e", f"trace={','.join(FILTER)}"],
    "seccomp": [
        "-f",
        "--seccomp-bpf",
        "-e",
        "trace=%file,%desc,%process,%memory,%network",
    ],
    "attached": ["-f", "-ttt"],
}
SKIPPED = 77
COLUMNS = ["tid", "call", "ret", "fd", "fd2", "type", "type2", "at", "at2", "size", "file", "path"]


class CannotRecordError(Exception):
    """This machine cannot run the scenario."""


def build(folder: Path) -> Path:
    """Compile the observer."""
    library = folder / "observer.so"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise CannotRecordError("no C compiler")
    subprocess.run(
        [compiler, "-O1", "-shared", "-fPIC", "-o", library, HERE / "observer.c", "-ldl"],
        check=True,
    )
    return library


@dataclass
class Recording:
    """Where a log and its truth are."""

    log: Path
    truth: Path

    def observed(self) -> list[dict[str, str]]:
        with self.truth.open(newline="") as file:
            return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def fixed_addresses() -> None:
    """Make addresses the same in every run: recorded logs compress better."""
    ctypes.CDLL(None).personality(0x0040000)  # ADDR_NO_RANDOMIZE


def record(
    scenario: Scenario, recorder: str, library: Path, work: Path, log: Path, python: str
) -> Recording:
    """Run a scenario in the empty folder `work`; `log` is where the log goes."""
    raw = log.with_name("observed.tsv")
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "LC_ALL": "C",
        "HOME": str(work),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_PAGER": "cat",
    }
    if scenario.setup:
        subprocess.run(
            ["sh", "-ec", scenario.setup],
            check=True,
            cwd=work,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
    program = (
        [python, "-S", "-E", "-s", "-B", str(PROGRAMS / f"{scenario.group}.py"), scenario.name]
        if scenario.command is None
        else ["sh", "-c", scenario.command]
    )
    strace = ["strace", "-s", "16", *RECORDERS[recorder], "-o", str(log)]
    preloaded = environment | {"LD_PRELOAD": str(library), "TRACEFAST_TRUTH": str(raw)}
    if recorder == "attached":
        status, printed = attached(strace, program, preloaded, environment, work)
    else:
        done = subprocess.run(
            [*strace, *program],
            check=False,
            cwd=work,
            env=preloaded,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            preexec_fn=fixed_addresses,
        )
        status, printed = done.returncode, (done.stdout + done.stderr).decode(errors="replace")
    if status == SKIPPED:
        raise CannotRecordError(printed)
    if status:
        raise RuntimeError(f"{scenario.name}, {recorder}: exit status {status}\n{printed}")
    if not raw.exists():
        raise CannotRecordError("strace does not take the observer")
    return Recording(log, settle(raw, work, words=scenario.words))


def attached(
    strace: list[str],
    program: list[str],
    preloaded: dict[str, str],
    environment: dict[str, str],
    work: Path,
) -> tuple[int, str]:
    """Attach to the program where it stops itself, and let it go on."""
    if program[0] == "sh":
        program = ["sh", "-c", f"kill -STOP $$; {program[2]}"]
    running = subprocess.Popen(
        program,
        cwd=work,
        env=environment | {"TRUTH_GATE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=fixed_addresses,
    )
    tracer = None
    try:
        stopped = stopped_tasks(running)
        pids = [part for pid in stopped for part in ("-p", str(pid))]
        tracer = subprocess.Popen(
            [*strace, *pids], env=preloaded, stderr=subprocess.PIPE, text=True
        )
        assert tracer.stderr is not None
        seen = "".join(tracer.stderr.readline() for _ in stopped)
        if "attached" not in seen:
            raise CannotRecordError(seen)
        os.kill(stopped[-1], signal.SIGCONT)
        printed, _ = running.communicate(timeout=60)
        tracer.communicate(timeout=60)
    finally:
        for process in (running, tracer):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
    return running.returncode, printed.decode(errors="replace")


def stopped_tasks(running: subprocess.Popen[bytes]) -> list[int]:
    """Wait until the program or a child of it stopped itself; give its ancestors and itself."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and running.poll() is None:
        line = [running.pid]
        while True:
            with contextlib.suppress(OSError, IndexError):
                stat = Path(f"/proc/{line[-1]}/stat").read_text()
                if stat.rpartition(")")[2].split()[0] == "T":
                    return line
            children = ""
            with contextlib.suppress(OSError):
                children = Path(f"/proc/{line[-1]}/task/{line[-1]}/children").read_text()
            if not children.split():
                break
            line.append(int(children.split()[0]))
        time.sleep(0.002)
    raise RuntimeError(f"did not stop: {running.poll()}")


def settle(raw: Path, work: Path, *, words: bool) -> Path:
    """Work out where each call began, from what was observed around it.

    Where nothing says it for certain, because another task moved the description at the same
    time, the place is left empty.
    """
    with raw.open(newline="", errors="replace") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    landed = places_of_words(work) if words else {}
    truth = raw.with_name("truth.tsv")
    with truth.open("w") as file:
        print(*COLUMNS, sep="\t", file=file)
        for row in rows:
            file_read = {"file": row["inode"], "path": row["path"].removeprefix(f"{work}/")}
            settled = row | file_read
            settled |= {"at": place(row, "", landed, words=words), "at2": place(row, "2", landed)}
            settled["size"] = row["size_after"]
            print(*(settled[name] for name in COLUMNS), sep="\t", file=file)
    raw.unlink()
    return truth


def places_of_words(work: Path) -> dict[int, int]:
    """Find where the words that tasks wrote ended up."""
    found = {}
    for path in work.glob("written*.bin"):
        data = path.read_bytes()
        found |= {word: 8 * at for at, (word,) in enumerate(struct.iter_unpack("<Q", data)) if word}
    return found


READS = ("read", "readv", "preadv", "preadv2", "pread64")


def place(row: dict[str, str], side: str, landed: dict[int, int], *, words: bool = False) -> str:
    """Give where one end of a call began; empty if it has no such end, or nobody can say."""
    kind, before, after = row[f"type{side}"], row[f"before{side}"], row[f"after{side}"]
    if kind not in {"regular", "block"} or not before:
        return ""
    moved, explicit = int(row["ret"]), row[f"offset{side}"]
    reads = row["call"] in READS
    writes = side == "2" or "write" in row["call"]
    name = Path(row[f"path{side}"]).name
    if words and row["word"] and not side and moved >= 8:
        word = int(row["word"])
        if reads and name.startswith("words") and not explicit:
            return str(word)
        if writes and word in landed:
            return str(landed[word])
    appends = row["append"] == "1" and side == "" or int(row[f"flags{side}"]) & os.O_APPEND
    if row["call"] in {"sendfile", "splice", "copy_file_range"}:
        appends = appends and writes
    if writes and appends and moved:
        sizes = row[f"size_before{side}"], row[f"size_after{side}"]
        if "" in sizes:
            return ""
        return sizes[0] if int(sizes[0]) + moved == int(sizes[1]) else ""
    if explicit:
        return explicit
    return before if after and int(before) + moved == int(after) else ""
