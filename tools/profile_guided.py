"""Run a build that knows what the parser does often: ``profile_guided.py FOLDER maturin build …``.

First the extension is built so that it counts what it executes, and reads logs that ship with the
project. From these counts `llvm-profdata` makes a profile, by which the compiler then arranges the
code (https://doc.rust-lang.org/rustc/profile-guided-optimization.html). Only an `llvm-profdata` of
the compiler's major version of LLVM reads the counts. If it is not found, this says so, and the
build goes without a profile.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
DATA = PROJECT / "tests" / "data"
LOGS = (
    DATA / "demo.strace.zst",
    DATA / "demo.ftrace.zst",
    # Other layouts, and lines off the fast path.
    *(
        DATA / "golden" / f"{name}.log"
        for name in (
            "ftrace-calls-forms",
            "ftrace-default",
            "ftrace-function-graph",
            "strace-annotated",
            "strace-calls",
            "strace-fields",
            "torture-file",
        )
    ),
)
"""What the compiler learns from."""

LIBRARIES = Path("/usr/lib")
"""Where distributions have versions of LLVM that are not on PATH."""

MISSING = "rustup component add llvm-tools, or install the package of that version of LLVM"


class NoProfileError(Exception):
    """There is no profile, and why."""


def output_of(*command: str | Path) -> str:
    """Return what a command prints, or nothing where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def major(text: str) -> str | None:
    """Return the major version of LLVM in what a program says of itself."""
    found = re.search(r"LLVM version:? (\d+)\.", text)
    return found[1] if found else None


def find_profdata(rustc: str = "rustc") -> Path:
    """Return the `llvm-profdata` that fits a compiler.

    It is that of the compiler's component llvm-tools, or one on PATH or of the distribution.

    Raises
    ------
    NoProfileError
        If none has the compiler's major version of LLVM.
    """
    about = output_of(rustc, "-vV")
    wanted, host = major(about), re.search(r"^host: (\S+)$", about, re.MULTILINE)
    if wanted is None or host is None:
        raise NoProfileError(f"{rustc} -vV does not say its version of LLVM")
    sysroot = output_of(rustc, "--print", "sysroot").strip()
    names = (f"llvm-profdata-{wanted}", "llvm-profdata")
    on_path = (shutil.which(name) for name in names)
    candidates = [
        *([Path(sysroot, "lib/rustlib", host[1], "bin/llvm-profdata")] if sysroot else []),
        *(Path(found) for found in on_path if found),
        LIBRARIES / f"llvm-{wanted}" / "bin" / "llvm-profdata",
    ]
    seen = []
    for program in candidates:
        # LLVM before 17 knows --version only after a command.
        version = major(output_of(program, "merge", "--version"))
        if version == wanted:
            return program
        if version:
            seen.append(f"{program} is of LLVM {version}")
    found = "; ".join(seen) or "there is no llvm-profdata"
    raise NoProfileError(f"rustc has LLVM {wanted}, and {found}: {MISSING}")


def with_flags(*flags: str) -> dict[str, str]:
    """Return the environment with more flags for rustc."""
    return {**os.environ, "RUSTFLAGS": " ".join([os.environ.get("RUSTFLAGS", ""), *flags]).strip()}


def with_target(command: list[str]) -> list[str]:
    """Return a build that names its target: what it executes is not what build scripts do.

    Without, these and macros would count as well. With ``--zig`` the target is named anyway.
    """
    host = re.search(r"^host: (\S+)$", output_of("rustc", "-vV"), re.MULTILINE)
    if host is None or not {"--target", "--zig"}.isdisjoint(command):
        return command
    return [*command, "--target", host[1]]


# How a build with ``--zig`` asks cargo, which makes a part of the names of functions of it.
AS_ZIG = {
    "CARGO_TARGET_APPLIES_TO_HOST": "false",
    "CARGO_UNSTABLE_TARGET_APPLIES_TO_HOST": "true",
    "__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS": "nightly",
}


def counting(command: list[str], folder: Path) -> tuple[list[str], dict[str, str]]:
    """Return the build that counts, and what its environment has besides.

    It is like the other one, as functions have the same names only then. But zig cannot link what
    counts, which need not run elsewhere.
    """
    places = {"--target-dir": folder / "target", "--out": folder / "wheels"}
    zig = "--zig" in command
    left_out = {*places, "--compatibility"} if zig else places.keys()
    kept: list[str] = []
    words = iter(command)
    for word in words:
        if word in left_out:
            next(words)
        elif word != "--zig":
            kept.append(word)
    kept += [part for name, place in places.items() for part in (name, str(place))]
    return with_target(kept), AS_ZIG if zig else {}


def build_counting(command: list[str], folder: Path, counts: Path) -> Path:
    """Build the extension so that it counts, and return a folder to import it from."""
    wheels, package = folder / "wheels", folder / "package"
    build, environment = counting(command, folder)
    subprocess.run(
        build,
        cwd=PROJECT,
        stdout=sys.stderr,
        env=with_flags(f"-Cprofile-generate={counts}") | environment,
        check=True,
    )
    (wheel,) = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(package)
    return package


def merge(profdata: Path, counts: Path, profile: Path) -> None:
    """Make a profile of what was counted.

    Raises
    ------
    NoProfileError
        If nothing was: such a profile makes code slower.
    """
    counted = sorted(counts.glob("*.profraw"))
    if not counted:
        raise NoProfileError("the extension counted nothing")
    subprocess.run([profdata, "merge", "-o", profile, *counted], stdout=sys.stderr, check=True)
    most = re.search(r"Maximum function count: (\d+)", output_of(profdata, "show", profile))
    if most is None or int(most[1]) == 0:
        raise NoProfileError("the profile has no counts")


def learn() -> None:
    """Read the logs in every way that has a hot path of its own."""
    from tracefast import _core

    target = Path("learned.parquet")
    for log in map(str, LOGS):
        with _core.Reader([log]) as reader:
            for _ in reader:
                pass
        _core.parse([log], str(target))
        folds = (_core.Files(), _core.Forks(), _core.Processes(), _core.Syscalls())
        for fold in (*folds, _core.FailedCalls(), _core.Waits(min_ns=0)):
            with _core.Reader([log], columns=list(fold.needed)) as reader:
                for batch in reader:
                    fold.push(batch)
            fold.finish()
    target.unlink()


def make_profile(command: list[str], folder: Path) -> Path:
    """Return a profile for the extension that a command builds, made in a folder."""
    profdata = find_profdata()
    folder.mkdir(parents=True, exist_ok=True)
    # What is left of an earlier run does not count.
    for name in ("counts", "wheels", "package"):
        shutil.rmtree(folder / name, ignore_errors=True)
    counts, profile = folder / "counts", folder / "tracefast.profdata"
    counts.mkdir()
    package = build_counting(command, folder, counts)
    subprocess.run(
        [sys.executable, __file__, "--learn"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(package)},
        check=True,
    )
    merge(profdata, counts, profile)
    return profile


def main() -> int:
    """Make the profile, and run the command with it."""
    if sys.argv[1:] == ["--learn"]:
        learn()
        return 0
    folder, *command = sys.argv[1:]
    environment = None
    try:
        profile = make_profile(named := with_target(command), Path(folder).resolve())
    except NoProfileError as reason:
        print(f"profile: the build goes without a profile: {reason}", file=sys.stderr)
    else:
        print(f"profile: the build uses {profile}, of {len(LOGS)} logs", file=sys.stderr)
        environment, command = with_flags(f"-Cprofile-use={profile}"), named
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
