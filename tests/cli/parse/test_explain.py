"""`tracefast parse --explain`, `--strict` and what the report says of each log."""

import csv
import io
import json
import pickle
import subprocess

import polars as pl
import pytest

import tracefast as tf

CALL = "100 1700000000.000100 close(3) = 0 <0.000010>\n"
LEADER = '"12345 1795175299.690276 " (pid, seconds since 1970)'
LOSSES = {
    "Hello": f"the columns of this log, such as {LEADER}; missing: pid",
    "100 three = 3": f"the columns of this log, such as {LEADER}; missing: seconds since 1970",
    "100 1700000000.000100 well": "an event after the columns: NAME(…) = RESULT, "
    "<... NAME resumed>, --- SIGNAL {…} ---, +++ exited with N +++",
    "100 1700000000.000100 +++ gone": '"+++ exited with N +++", "+++ killed by SIGNAL +++" or '
    '"+++ superseded by execve in pid N +++"',
}


@pytest.fixture
def lossy(tmp_path):
    (tmp_path / "lossy.log").write_text(CALL + "".join(f"{text}\n{CALL}" for text in LOSSES))
    return "lossy.log"


@pytest.fixture
def good(tmp_path):
    (tmp_path / "good.log").write_text(CALL * 3)
    return "good.log"


@pytest.fixture
def trace(tmp_path, spawn_ftrace):
    (tmp_path / "trace.log").write_bytes(spawn_ftrace.read_bytes() + b"Hello\n")
    return "trace.log"


def expected_of(name: str) -> list[dict[str, object]]:
    lines = enumerate(LOSSES.items())
    return [
        {"source": name, "line": 2 * i + 2, "text": text, "expected": expected}
        for i, (text, expected) in lines
    ]


def test_each_line_is_explained(run, lossy, tmp_path):
    ran = run("parse", lossy, "--explain")
    assert ran.returncode == 0
    assert ran.stdout == "".join(
        f"{line['source']}:{line['line']}: {line['text']}\n    expected {line['expected']}\n"
        for line in expected_of(lossy)
    )
    assert ran.stderr.startswith("lossy.log: 5 events from 9 lines, ")
    assert "not understood 4 of 9 lines, " in ran.stderr
    # They are on standard output already.
    assert "Hello" not in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == [lossy]


def test_logs_that_are_understood_need_no_explanation(run, good):
    assert run("parse", good, "--explain").stdout == ""
    assert run("parse", good, "--explain", "--format", "json").stdout == "[]\n"
    assert run("parse", good, "--explain", "--format", "ndjson").stdout == ""
    assert (
        run("parse", good, "--explain", "--format", "csv").stdout == "source,line,text,expected\n"
    )


def test_forms(run, good, lossy, trace):
    def out(form: str) -> str:
        ran = run("parse", good, lossy, trace, "--explain", "-q", "--format", form)
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout

    array = json.loads(out("json"))
    assert array[:-1] == expected_of(lossy)
    assert array[-1]["source"] == trace
    assert array[-1]["text"] == "Hello"
    assert array[-1]["expected"].startswith('the columns of a record, such as "bash-12345 [001] ')
    assert array[-1]["expected"].endswith(
        "(command and pid, processor, flags, seconds); missing: [CPU]"
    )
    assert [json.loads(line) for line in out("ndjson").splitlines()] == array
    rows = list(csv.DictReader(io.StringIO(out("csv"))))
    assert [row | {"line": int(row["line"])} for row in rows] == array
    assert out("text").count("\n") == 2 * len(array)


def test_an_output_is_written_too(run, lossy, tmp_path):
    alone = run("parse", lossy, "--explain").stdout
    run("parse", lossy, "-o", "expected.parquet")
    ran = run("parse", lossy, "--explain", "-o", "events.parquet")
    assert (ran.returncode, ran.stdout) == (0, alone)
    assert ran.stderr.startswith("events.parquet: 5 events")
    written = (tmp_path / "events.parquet").read_bytes()
    assert written == (tmp_path / "expected.parquet").read_bytes()


def test_standard_input(run, lossy, tmp_path):
    ran = run("parse", "-", "--explain", input=(tmp_path / lossy).read_text())
    assert ran.stdout.startswith("-:2: Hello\n    expected the columns of this log, such as")
    assert ran.stderr.startswith("standard input: 5 events")


def test_lines_come_in_order_whatever_the_threads(run, tmp_path):
    count = 40_000
    (tmp_path / "log").write_text("".join(f"{CALL}lost {i}\n" for i in range(count)))
    seen = []
    report = tf.parse(
        tmp_path / "log", None, explain=seen.extend, threads=3, block_bytes=1000, row_group=500
    )
    assert report.accounting["unparsed"] == count
    assert [(line, text) for _, line, text, _ in seen] == [
        (2 * i + 2, f"lost {i}") for i in range(count)
    ]
    ran = run("parse", "log", "--explain", "-q", "--threads", "2")
    assert ran.stdout.count("\n") == 2 * count


def test_bytes_that_would_move_the_cursor(run, tmp_path):
    (tmp_path / "log").write_bytes(CALL.encode() * 3 + b"a\x1b[31mb\xff\n")
    text = run("parse", "log", "--explain").stdout
    assert text.startswith("log:4: a\\33[31mb\\xff\n")
    line = json.loads(run("parse", "log", "--explain", "--format", "ndjson").stdout)
    assert line["text"] == "a\x1b[31mb\\xff"


def test_what_the_callback_raises_ends_the_work(lossy, tmp_path):
    def fail(_lines):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        tf.parse(tmp_path / lossy, tmp_path / "out.parquet", explain=fail)
    assert [path.name for path in tmp_path.iterdir()] == [lossy]


@pytest.mark.parametrize("output", [(), ("-o", "events.parquet")], ids=["alone", "with output"])
def test_a_reader_that_has_seen_enough(command, tmp_path, output):
    (tmp_path / "log").write_text(CALL + "lost\n" * 100_000)
    with subprocess.Popen(
        [command, "parse", "log", "--explain", "-q", "--strict", *output],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    ) as process:
        process.stdout.close()
        message = process.stderr.read()
        code = process.wait(timeout=180)
    assert message == b""
    # With an output, the command also writes it.
    assert code == (1 if output else 0)
    if output:
        assert pl.read_parquet(tmp_path / "events.parquet").height == 100_001


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give -o FILE, or --explain"),
        (("--explain", "-o", "-"), "with -o FILE"),
        (("-o", "x.parquet", "--format", "csv"), "--explain"),
        (("-o", "x.parquet", "--explain", "--format", "xml"), "xml"),
        (("-o", "x.txt", "--explain"), "--sink parquet"),
    ],
)
def test_options_that_do_not_go_together(run, lossy, tmp_path, arguments, words):
    ran = run("parse", lossy, *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == [lossy]


class TestStrict:
    """Exit code 1 if anything in any log was not understood; all else as without."""

    @pytest.mark.parametrize("quiet", [(), ("-q",)])
    @pytest.mark.parametrize("names", [["lossy"], ["good", "lossy"], ["lossy", "good"]])
    def test_a_loss_in_any_log(self, run, good, lossy, tmp_path, names, quiet):
        logs = [{"good": good, "lossy": lossy}[name] for name in names]
        loose = run("parse", *logs, "-o", "loose.parquet", *quiet)
        ran = run("parse", *logs, "-o", "strict.parquet", "--strict", *quiet)
        assert (loose.returncode, ran.returncode) == (0, 1)
        assert bool(ran.stderr) != bool(quiet)
        written = (tmp_path / "strict.parquet").read_bytes()
        assert written == (tmp_path / "loose.parquet").read_bytes()
        assert pl.read_parquet(tmp_path / "strict.parquet")["kind"].eq("unparsed").sum() == 4

    def test_no_loss(self, run, good, spawn):
        assert run("parse", good, spawn, "-o", "out.parquet", "--strict").returncode == 0
        assert run("parse", good, spawn, "--explain", "--strict").returncode == 0

    def test_explained(self, run, good, lossy):
        ran = run("parse", good, lossy, "--explain", "--strict", "-q")
        assert (ran.returncode, ran.stderr) == (1, "")


class TestReport:
    """What standard error says of each log."""

    def test_one_log_is_not_named_twice(self, run, lossy):
        ran = run("parse", lossy, "-o", "out.parquet")
        assert "    lossy.log:2: Hello\n" in ran.stderr
        assert "--explain prints all" in ran.stderr
        assert "logs" not in ran.stderr

    def test_nothing_is_said_of_logs_without_losses(self, run, good, spawn):
        ran = run("parse", good, spawn, "-o", "out.parquet")
        assert "not understood 0\n" in ran.stderr
        assert "good.log" not in ran.stderr
        assert "unusual" not in ran.stderr

    def test_logs_with_losses(self, run, good, lossy, trace):
        ran = run("parse", good, lossy, trace, "-o", "out.parquet")
        assert "    in 2 of 3 logs:\n" in ran.stderr
        assert "      lossy.log: 4 of 9 lines, 78 bytes, the first is line 2\n" in ran.stderr
        assert "      trace.log: 1 of 2,543 lines, 6 bytes, the first is line 2543\n" in ran.stderr

    def test_many_logs_with_losses(self, run, tmp_path):
        for number in range(13):
            (tmp_path / f"{number:02}.log").write_text(CALL + "lost\n" * (number + 1))
        ran = run("parse", "*.log", "-o", "out.parquet")
        assert "    in 13 of 13 logs:\n      12.log: 13 of 14 lines" in ran.stderr
        assert "      and 3 more; --verbose names every log\n" in ran.stderr
        assert "      02.log" not in ran.stderr
        ran = run("parse", "*.log", "--explain")
        assert ran.stderr.startswith("13 logs: ")

    def test_verbose(self, run, good, lossy, tmp_path):
        (tmp_path / "empty.log").touch()
        ran = run("parse", good, lossy, "empty.log", "-o", "out.parquet", "--verbose")
        assert "  bytes          events " in ran.stderr
        lines = [line.split() for line in ran.stderr.splitlines()]
        assert ["lines", "bytes", "events", "not", "understood", "format,", "clock", "log"] in lines
        size = str((tmp_path / lossy).stat().st_size)
        assert ["3", str(3 * len(CALL)), "3", "0", "strace,", "epoch", "good.log"] in lines
        assert ["9", size, "5", "4", "strace,", "epoch", "lossy.log"] in lines
        assert ["0", "0", "0", "0", "empty", "empty.log"] in lines
        assert run("parse", good, "-o", "out.parquet", "-v", "-q").stderr == ""


def test_oddities_of_a_log(run, tmp_path):
    later = CALL.replace("1700000000", "1700000009")
    text = CALL + later + CALL + "12:12:49 close(3) = 0\n" + later
    (tmp_path / "log").write_text(text)
    ran = run("parse", "log", "-o", "out.parquet")
    assert "  unusual        time steps back on 1 line, 1 line has other columns\n" in ran.stderr
    assert "not understood 0\n" in ran.stderr
    ran = run("parse", "log", "-o", "out.parquet", "-v")
    assert "log: time steps back on 1 line, 1 line has other columns\n" in ran.stderr
    report = tf.parse(tmp_path / "log", None)
    odd = {"time_steps_back": 1, "relayouts": 1, "foreign": 0, "notes": 0, "shared_lines": 0}
    odd |= {"prefixes": 0, "impossible_durations": 0, "impossible_cpu_times": 0}
    odd |= {"wrapped": 0, "lost_values": 0, "cut_ends": 0, "other_format": 0}
    assert report.oddities == odd
    assert report.sources[0]["oddities"] == report.oddities


def test_oddities_are_described_in_words():
    from tracefast.cli.screen.parse_report import describe_oddities

    nothing = {"time_steps_back": 0, "relayouts": 0, "foreign": 0, "notes": 0, "shared_lines": 0}
    assert describe_oddities(nothing) == ""
    assert describe_oddities(nothing | {"relayouts": 1}) == "1 line has other columns"
    assert describe_oddities({"time_steps_back": 1200, "relayouts": 2, "foreign": 1}) == (
        "time steps back on 1,200 lines, 2 lines have other columns, "
        "1 line holds output of the program"
    )


def test_notes_and_lost_results_are_listed(run, tmp_path):
    calls = [
        '7 open("/x", O_RDONLY) = 3  ## why?',
        "7 read(3,  <unfinished ...>",
        "8 close(4) = 0",
        '7 <... read resumed>"", 7) = 0 // empty',
        '7 read(3, "abc", 7) = 0x',
        "7 close(3) = 0;",
        "7 close(4) = -1 EBADF (Bad file",
    ]
    (tmp_path / "log").write_text("\n".join(calls) + "\n")
    lost, note = "a result: it is lost", "nothing behind the result: this is in extra"
    expected = [
        (5, 'read(3, "abc", 7', lost),
        (1, "## why?", note),
        (2, "// empty", note),
        (6, ";", note),
    ]
    for block_bytes in (32, 262_144):
        seen = []
        report = tf.parse(tmp_path / "log", None, explain=seen.extend, block_bytes=block_bytes)
        assert [found[1:] for found in seen] == expected
        assert (report.oddities["notes"], report.oddities["lost_values"]) == (4, 1)
        assert pickle.loads(pickle.dumps(report)) == report
        noted = [found["text"] for found in report.sources[0]["noted"]]
        assert noted == ["## why?", "// empty", ";"]
    (tmp_path / "log2").write_text("\n".join(calls) + "\n")
    ran = run("parse", "log", "log2", "--explain", "-q")
    assert ran.stdout.count(note) == 6
