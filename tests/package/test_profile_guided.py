"""Which `llvm-profdata` a build with a profile takes, and what it does without one."""

import sys

import pytest

import profile_guided
from support.paths import ROOT

RUSTC = """#!/bin/sh
case $* in
    -vV) printf 'rustc 1.95.0\\nhost: x86_64-unknown-linux-gnu\\nLLVM version: 22.1.2\\n' ;;
    '--print sysroot') echo {sysroot} ;;
    *) exit 1 ;;
esac
"""

PROFDATA = """#!/bin/sh
[ "$*" = 'merge --version' ] && printf 'Debian LLVM version {version}\\n  Optimized build.\\n'
"""


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A PATH with a rustc of LLVM 22 and nothing else; its sysroot is beside it."""
    program(tmp_path / "bin" / "rustc", RUSTC.format(sysroot=tmp_path / "sysroot"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(profile_guided, "LIBRARIES", tmp_path / "lib")
    return tmp_path / "bin"


def test_the_compilers_own_comes_first_and_others_must_have_its_version(path, tmp_path):
    for name, version in (("llvm-profdata", "14.0.6"), ("llvm-profdata-21", "21.1.0")):
        program(path / name, PROFDATA.format(version=version))
    with pytest.raises(profile_guided.NoProfileError) as raised:
        profile_guided.find_profdata()
    assert f"rustc has LLVM 22, and {path}/llvm-profdata is of LLVM 14: " in str(raised.value)
    assert "rustup component add llvm-tools" in str(raised.value)
    # What only has the right name does not do.
    program(path / "llvm-profdata-22", PROFDATA.format(version="2.2.0"))
    with pytest.raises(profile_guided.NoProfileError, match="llvm-profdata-22 is of LLVM 2;"):
        profile_guided.find_profdata()
    library = program(tmp_path / "lib/llvm-22/bin/llvm-profdata", PROFDATA.format(version="22.1.8"))
    assert profile_guided.find_profdata() == library
    suffixed = program(path / "llvm-profdata-22", PROFDATA.format(version="22.1.8"))
    assert profile_guided.find_profdata() == suffixed
    tools = tmp_path / "sysroot/lib/rustlib/x86_64-unknown-linux-gnu/bin"
    own = program(tools / "llvm-profdata", PROFDATA.format(version="22.1.2-rust-1.95.0-stable"))
    assert profile_guided.find_profdata() == own
    own.write_text("#!/bin/sh\nexit 1\n")
    assert profile_guided.find_profdata() == suffixed


def test_without_a_compiler_that_says_its_version_there_is_no_profile(path):
    with pytest.raises(profile_guided.NoProfileError, match="no-rustc -vV does not say"):
        profile_guided.find_profdata(str(path / "no-rustc"))


@pytest.mark.usefixtures("path")
def test_without_a_tool_the_build_runs_and_says_so(tmp_path, monkeypatch, capfd):
    show = "import os, sys; print(sys.argv[1:], os.environ.get('RUSTFLAGS')); sys.exit(3)"
    command = ["profile_guided.py", str(tmp_path / "folder"), sys.executable, "-c", show, "build"]
    monkeypatch.setattr(sys, "argv", command)
    monkeypatch.delenv("RUSTFLAGS", raising=False)
    assert profile_guided.main() == 3
    said = capfd.readouterr()
    assert said.out == "['build'] None\n"
    assert "goes without a profile: rustc has LLVM 22, and there is no llvm-profdata" in said.err
    assert not (tmp_path / "folder").exists()


def test_with_a_profile_the_build_uses_it_beside_other_flags(tmp_path, monkeypatch, capfd):
    show = "import os; print(os.environ['RUSTFLAGS'])"
    monkeypatch.setattr(
        sys, "argv", ["profile_guided.py", str(tmp_path), sys.executable, "-c", show]
    )
    monkeypatch.setattr(profile_guided, "make_profile", lambda _, folder: folder / "a.profdata")
    monkeypatch.setenv("RUSTFLAGS", "-Cdebuginfo=1")
    assert profile_guided.main() == 0
    said = capfd.readouterr()
    assert said.out == f"-Cdebuginfo=1 -Cprofile-use={tmp_path}/a.profdata\n"


@pytest.mark.usefixtures("path")
def test_what_counts_is_built_as_what_is_not(tmp_path):
    # Cargo makes a part of the names of functions of how a build is asked for.
    build = ["maturin", "build", "--release", "--out", "dist", "--locked"]
    kept = ["maturin", "build", "--release", "--locked"]
    places = [
        *("--target-dir", str(tmp_path / "target")),
        *("--out", str(tmp_path / "wheels")),
    ]
    here = ["--target", "x86_64-unknown-linux-gnu"]
    named = profile_guided.with_target(build)
    assert named == [*build, *here]
    assert profile_guided.counting(named, tmp_path) == ([*kept, *here, *places], {})
    other = [*build, "--target", "other", "--target-dir", "target"]
    assert profile_guided.with_target(other) == other
    assert profile_guided.counting(other, tmp_path)[0] == [*kept, "--target", "other", *places]
    zig = [*build, "--zig", "--compatibility", "manylinux2014"]
    assert profile_guided.with_target(zig) == zig
    assert profile_guided.counting(zig, tmp_path) == (
        [*kept, *places, *here],
        profile_guided.AS_ZIG,
    )


def test_a_profile_without_counts_is_refused(tmp_path):
    counts = tmp_path / "counts"
    counts.mkdir()
    shows = '#!/bin/sh\n[ "$1" = merge ] || echo "Maximum function count: {most}"\n'
    profdata = program(tmp_path / "llvm-profdata", shows.format(most=0))
    with pytest.raises(profile_guided.NoProfileError, match="the extension counted nothing"):
        profile_guided.merge(profdata, counts, tmp_path / "profile")
    (counts / "one.profraw").touch()
    with pytest.raises(profile_guided.NoProfileError, match="the profile has no counts"):
        profile_guided.merge(profdata, counts, tmp_path / "profile")
    program(profdata, shows.format(most=7))
    profile_guided.merge(profdata, counts, tmp_path / "profile")


def test_it_learns_from_logs_that_are_there():
    assert all(log.is_file() and log.is_relative_to(ROOT) for log in profile_guided.LOGS)
