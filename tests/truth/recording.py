"""Run a program under strace, with the observer inside strace: a log, and the truth beside it."""

import contextlib
import csv
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from support.paths import DATA
from truth.scenarios import RECORDERS, Scenario

OBSERVER = Path(__file__).with_name("observer.c")
PROGRAMS = DATA / "truth" / "programs"
SKIPPED, NOT_FOUND = 77, 127  # Exit status of a scenario, and of a shell.
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
        [compiler, "-O1", "-shared", "-fPIC", "-o", library, OBSERVER, "-ldl"],
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


@dataclass
class Studio:
    """What recordings share."""

    library: Path
    programs: Path = PROGRAMS
    python: str = sys.executable


def record(scenario: Scenario, recorder: str, studio: Studio, work: Path, log: Path) -> Recording:
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
        [studio.python, "-SEsB", str(studio.programs / f"{scenario.group}.py"), scenario.name]
        if scenario.command is None
        else ["sh", "-c", scenario.command]
    )
    strace = ["strace", "-s", "16", *RECORDERS[recorder], "-o", str(log)]
    preloaded = environment | {"LD_PRELOAD": str(studio.library), "TRACEFAST_TRUTH": str(raw)}
    printed = log.with_name("printed")
    with output(scenario, work, printed) as out:
        if recorder == "attached":
            status = attached(strace, program, preloaded, environment, work, out)
        else:
            status = subprocess.run(
                [*strace, *program],
                check=False,
                cwd=work,
                env=preloaded,
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                timeout=120,
            ).returncode
    said = printed.read_text(errors="replace")
    printed.unlink()
    if status in {SKIPPED, NOT_FOUND} or "ptrace(" in said:
        raise CannotRecordError(said)
    if status:
        raise RuntimeError(f"{scenario.name}, {recorder}: exit status {status}\n{said}")
    if not raw.exists():
        raise CannotRecordError("strace does not take the observer")
    return Recording(log, settle(raw, work, words=scenario.words, raced=scenario.raced))


@contextlib.contextmanager
def output(scenario: Scenario, work: Path, printed: Path) -> Iterator[IO[bytes]]:
    """Give what the program has as its output: a pipe, or a file if the scenario wants one."""
    if scenario.output is None:
        with (
            printed.open("wb") as file,
            subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=file) as reader,
        ):
            assert reader.stdin is not None
            yield reader.stdin
        return

    def opener(path: str, _: int) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | (scenario.output or 0), 0o644)

    printed.touch()
    with open(work / "out", "wb", opener=opener) as file:
        yield file


def attached(
    strace: list[str],
    program: list[str],
    preloaded: dict[str, str],
    environment: dict[str, str],
    work: Path,
    output: IO[bytes],
) -> int:
    """Attach to the program where it stops itself, and let it go on."""
    if program[0] == "sh":
        program = ["sh", "-c", f"kill -STOP $$; {program[2]}"]
    running = subprocess.Popen(
        program,
        cwd=work,
        env=environment | {"TRUTH_GATE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
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
        running.wait(timeout=120)
        tracer.communicate(timeout=120)
    finally:
        for process in (running, tracer):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
    return running.returncode


def stopped_tasks(running: subprocess.Popen[bytes]) -> list[int]:
    """Wait until the program or a child of it stopped itself; give its ancestors and itself."""
    deadline = time.monotonic() + 120
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


def settle(raw: Path, work: Path, *, words: bool, raced: bool) -> Path:
    """Work out where each call began, from what was observed around it.

    Where nothing says it for certain, because another task moved the description at the same
    time, the place is left empty. Where numbers are `raced` for, what was observed may be of
    another file than the call was on: only data count, and offsets that reads give.
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
            if raced:
                settled |= place_in_race(row, landed)
            else:
                settled["at"] = place(row, "", landed, words=words)
                settled["at2"] = place(row, "2", landed)
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


def place(row: dict[str, str], side: str, landed: dict[int, int], *, words: bool = False) -> str:
    """Give where one end of a call began; empty if it has no such end, or nobody can say."""
    if row[f"type{side}"] not in {"regular", "block"} or not row[f"before{side}"]:
        return ""
    said = said_by_data(row, landed) if words and not side else None
    if said is not None:
        return str(said)
    before, after = row[f"before{side}"], row[f"after{side}"]
    moved, explicit = int(row["ret"]), row[f"offset{side}"]
    # Flags of pwritev2 have their say.
    appends = int(row["flags2"]) & os.O_APPEND if side else row["append"] == "1"
    if appends and moved and (side or "write" in row["call"]):
        first, last = row[f"size_before{side}"], row[f"size_after{side}"]
        return first if last and int(first) + moved == int(last) else ""
    if explicit:
        return explicit
    return before if after and int(before) + moved == int(after) else ""


def place_in_race(row: dict[str, str], landed: dict[int, int]) -> dict[str, str]:
    """Give where a call began, if it does not matter which file its number referred to."""
    said = said_by_data(row, landed)
    given = row["offset"] if "read" in row["call"] else ""
    # The number may have been closed at the entry, and opened before the kernel looked it up.
    kind = row["type"] or "regular"
    return {"at": given if said is None else str(said), "at2": "", "type": kind}


def said_by_data(row: dict[str, str], landed: dict[int, int]) -> int | None:
    """Give what the first word of the data says: where it is, or which write it is of."""
    if not row["word"] or int(row["ret"]) < 8:
        return None
    word = int(row["word"])
    if "write" in row["call"]:
        return landed.get(word)
    # A number that was closed at the entry has no path.
    own = not row["path"] or Path(row["path"]).name.startswith("words")
    return word if own and not row["offset"] else None
