"""`tracefast parse`, as installed."""

import io
import stat

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf


def test_a_log_becomes_parquet_and_a_report(run, spawn_strace, tmp_path):
    ran = run("parse", spawn_strace, "-o", "events.parquet")
    assert ran.returncode == 0
    assert ran.stdout == ""
    assert "1,255 lines" in ran.stderr
    assert "161,871 bytes" in ran.stderr
    assert "strace, clock: epoch" in ran.stderr
    assert "exit 8" in ran.stderr
    assert "resumed 29" in ran.stderr
    assert "not understood 0" in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["events.parquet"]
    expected = tf.scan(spawn_strace).collect()
    assert_frame_equal(pl.read_parquet(tmp_path / "events.parquet"), expected)


@pytest.mark.parametrize("output", ["events.arrow", "events.feather", "events.ipc"])
def test_the_suffix_chooses_the_form(run, spawn_strace, tmp_path, output):
    assert run("parse", spawn_strace, "-o", output, "-q").returncode == 0
    with pa.ipc.open_file(tmp_path / output) as file:
        assert file.read_all().num_rows > 1000


def test_an_unknown_suffix_is_refused_with_a_hint(run, spawn_strace, tmp_path):
    ran = run("parse", spawn_strace, "-o", "events.txt")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: events.txt: ")
    assert "hint: " in ran.stderr
    assert not list(tmp_path.iterdir())
    assert run("parse", spawn_strace, "-o", "events.txt", "--sink", "arrow").returncode == 0
    assert run("parse", spawn_strace, "-o", "events.txt", "--sink", "lead").returncode == 2


def test_standard_input_and_output(run, spawn_strace, tmp_path):
    run("parse", spawn_strace, "-o", "events.parquet")
    with spawn_strace.open("rb") as log:
        ran = run("parse", "-", "-o", "-", stdin=log, text=False)
    assert ran.returncode == 0
    piped = pl.read_parquet(io.BytesIO(ran.stdout)).drop("source")
    assert_frame_equal(piped, pl.read_parquet(tmp_path / "events.parquet").drop("source"))
    ran = run("parse", "-", "-o", "-", "-q", "--sink", "arrow", input=b"", text=False)
    assert ran.returncode == 0
    assert pa.ipc.open_file(ran.stdout).read_all().num_rows == 0


def test_quiet(run, spawn_strace):
    ran = run("parse", spawn_strace, "-o", "events.parquet", "-q")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_what_is_not_understood_is_shown_and_kept(run, tmp_path):
    good = 'read(3, "", 4096) = 0\n'
    bad = ["what is this", "and this \x1b[31m", "and that", "and more"]
    (tmp_path / "log").write_text(good * 10 + "\n".join(bad) + "\n" + good)
    ran = run("parse", "log", "-o", "events.parquet")
    assert ran.returncode == 0
    assert "not understood 4" in ran.stderr
    assert "log:11: what is this" in ran.stderr
    assert "log:12: and this \\33[31m" in ran.stderr
    assert "log:13: and that" in ran.stderr
    assert "and more" not in ran.stderr
    assert run("parse", "log", "-o", "events.parquet", "--strict").returncode == 1
    kept = pl.read_parquet(tmp_path / "events.parquet").filter(pl.col("kind") == "unparsed")
    assert kept["line"].to_list() == [11, 12, 13, 14]
    assert kept["args"][0] == "what is this"


def test_no_clobber(run, spawn_strace, tmp_path):
    output = tmp_path / "events.parquet"
    output.write_text("precious")
    ran = run("parse", spawn_strace, "-o", output, "--no-clobber")
    assert ran.returncode == 2
    assert "events.parquet" in ran.stderr
    assert "leave out --no-clobber" in ran.stderr
    assert output.read_text() == "precious"
    assert run("parse", spawn_strace, "-o", output, "-q").returncode == 0
    assert output.read_bytes().startswith(b"PAR1")


def test_an_output_has_the_permissions_of_any_new_file(run, spawn_strace, tmp_path):
    run("parse", spawn_strace, "-o", "events.parquet")
    (tmp_path / "other").touch()
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("events.parquet", "other")}
    assert len(modes) == 1


def test_one_bad_log_of_many_leaves_no_output(run, spawn_strace, tmp_path):
    ran = run("parse", spawn_strace, "missing.strace", "-o", "events.parquet")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: missing.strace: No such file or directory\nhint: ")
    assert not list(tmp_path.iterdir())


def test_many_logs_become_one_table(run, spawn_strace, pth, tmp_path):
    assert run("parse", spawn_strace, pth, "-o", "events.parquet", "-q").returncode == 0
    events = pl.read_parquet(tmp_path / "events.parquet")
    assert events["source"].cast(pl.String).unique(maintain_order=True).to_list() == [
        str(spawn_strace),
        str(pth),
    ]


def test_the_format_can_be_forced(run, tmp_path):
    (tmp_path / "log").write_text("nothing that any tracer prints\n" * 3)
    assert run("parse", "log", "-o", "events.parquet", "--format-in", "strace").returncode == 0
    assert run("parse", "log", "-o", "events.parquet", "--format-in", "dtrace").returncode == 2


def test_row_groups(run, spawn_strace, tmp_path):
    import pyarrow.parquet

    run("parse", spawn_strace, "-o", "events.parquet", "--row-group", 500)
    assert pyarrow.parquet.read_metadata(tmp_path / "events.parquet").num_row_groups == 3


def test_compression(run, spawn_strace, tmp_path):
    import pyarrow.parquet

    tables, sizes = [], []
    codec_of = {"none": "UNCOMPRESSED", "lz4": "LZ4", "zstd:1": "ZSTD", "zstd:12": "ZSTD"}
    for wanted, codec in codec_of.items():
        ran = run("parse", spawn_strace, "-o", "events.parquet", "-q", "--compression", wanted)
        assert ran.returncode == 0, ran.stderr
        path = tmp_path / "events.parquet"
        group = pyarrow.parquet.read_metadata(path).row_group(0)
        codecs = {group.column(i).compression for i in range(group.num_columns)}
        assert codecs == {codec}
        tables.append(duckdb.sql(f"FROM '{path}' ORDER BY line").fetchall())
        assert_frame_equal(pl.read_parquet(path), tf.scan(spawn_strace).collect())
        sizes.append(path.stat().st_size)
    assert all(table == tables[0] for table in tables)
    plain, lz4, first, twelfth = sizes
    assert plain > 2 * first
    assert plain > lz4 > first > twelfth
    for wanted, size in (("zstd:12", twelfth), ("zstd", first), ("lz4", lz4)):
        tf.parse(spawn_strace, tmp_path / "own.parquet", compression=wanted)
        assert (tmp_path / "own.parquet").stat().st_size == size


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("-o", "a.parquet", "--compression", "lz4:1"), "lz4:1: no such compression"),
        (("-o", "a.parquet", "--compression", "zstd:23"), "zstd:23: no such compression"),
        (("-o", "a.arrow", "--compression", "zstd"), "only Parquet is compressed"),
        (("-o", "a.parquet", "--row-group", "0"), "--row-group"),
        (("-o", "a.parquet", "--row-group", "16777217"), "--row-group"),
    ],
)
def test_what_no_file_can_have_is_refused(run, spawn_strace, tmp_path, arguments, what):
    ran = run("parse", spawn_strace, *arguments)
    assert ran.returncode == 2
    assert what in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not list(tmp_path.iterdir())


def test_compressions_that_cannot_be_written_are_refused(spawn_strace, tmp_path):
    for text in ("lz4:1", "zstd:0", "zstd:23", ""):
        with pytest.raises(ValueError, match=f"or 'none', got '{text}'"):
            tf.parse(spawn_strace, tmp_path / "a.parquet", compression=text)
    with pytest.raises(ValueError, match="only for Parquet: leave it out for Arrow"):
        tf.parse(spawn_strace, tmp_path / "a.arrow", compression="zstd")
    with pytest.raises(ValueError, match="row_group must be between 1 and 16777216"):
        tf.parse(spawn_strace, tmp_path / "a.parquet", row_group=0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments", [("parse",), ("parse", "log"), ("parse", "-o"), ("nonsense",)]
)
def test_a_wrong_command_line(run, arguments):
    ran = run(*arguments)
    assert ran.returncode == 2
    assert ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "arguments", [("--help",), ("parse", "-h"), ("files", "-h"), ("forks", "-h")]
)
def test_help_teaches_by_example(run, arguments):
    ran = run(*arguments)
    assert ran.returncode == 0
    assert "Examples:" in ran.stdout
    assert ran.stdout.count("tracefast ") >= 4


def test_version(run):
    ran = run("--version")
    assert (ran.returncode, ran.stdout) == (0, f"tracefast {tf.__version__}\n")
