"""What Python shows of the classes of the extension: help that is true, short representations."""

import doctest
import pydoc
import runpy
import shutil
import traceback

import pytest

import tracefast as tf
from support.paths import ROOT
from tracefast.cli.messages.stderr import print_error

CLASSES = [tf.Reader, tf.Report, tf.Progress, tf.Batch, tf.Schema, tf.Error]


@pytest.fixture(autouse=True)
def _demo(tmp_path, monkeypatch):
    log = runpy.run_path(str(ROOT / "conftest.py"))["DEMO"]
    (tmp_path / "demo.strace").write_text(log)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("what", [*CLASSES, tf.schema], ids=lambda what: what.__name__)
def test_examples_in_help_are_true(what):
    """pytest collects the examples of modules, but not those of an extension."""
    [examples] = [
        test for test in doctest.DocTestFinder(recurse=False).find(what, globs={}) if test.examples
    ]
    said = []
    failed, tried = doctest.DocTestRunner().run(examples, out=said.append)
    assert tried > 0
    assert failed == 0, "".join(said)


@pytest.mark.parametrize("what", CLASSES, ids=lambda what: what.__name__)
def test_help_names_every_attribute(what):
    public = [name for name, of in vars(what).items() if not (name[0] == "_" or callable(of))]
    assert public
    for name in public:
        assert f"\n{name} : " in what.__doc__, name


def test_help_does_not_advertise_what_is_internal():
    text = pydoc.render_doc(tf.Reader, renderer=pydoc.plaintext)
    assert "``tf.read`` makes it" in text
    for name in ("predicate", "limit", "plain"):
        assert name not in text


def test_readers_say_what_became_of_them():
    reader = tf.read("demo.strace", columns=["name"])
    assert repr(reader) == "Reader(logs=['demo.strace'], columns=1, state='open')"
    batch = next(reader)
    assert repr(batch) == "Batch(rows=8, columns=1)"
    assert "state='open'" in repr(reader)
    reader.__arrow_c_stream__()
    assert "state='handed out'" in repr(reader)
    reader.close()
    assert "state='closed'" in repr(reader)
    logs = [f"{number}.strace" for number in range(5)]
    for log in logs:
        shutil.copyfile("demo.strace", log)
    with tf.read(logs) as many:
        list(many)
        assert repr(many) == (
            "Reader(logs=['0.strace', '1.strace', '2.strace', … 2 more], columns=36, "
            "state='at its end')"
        )


def test_counters_say_whether_the_work_is_done():
    counters = tf.Progress()
    assert repr(counters) == "Progress(bytes_read=0, bytes_total=0, rows=0, done=False)"
    report = tf.parse("demo.strace", None, progress=counters)
    assert repr(counters) == (
        f"Progress(bytes_read={report.bytes}, bytes_total={report.bytes}, rows=8, done=True)"
    )
    with tf.read("demo.strace", progress=counters) as reader:
        next(reader)
        assert not counters.done
        list(reader)
        assert counters.done
    # What is read again is more to read.
    assert counters.bytes_read == counters.bytes_total == 2 * report.bytes


def test_a_schema_is_a_collection_of_names():
    schema = tf.schema()
    assert len(schema) == 36
    assert list(schema) == schema.names
    assert "path" in schema
    assert "nonsense" not in schema
    assert repr(schema).splitlines()[:2] == ["ts: timestamp[ns]", "dur_ns: int64"]
    assert len(repr(schema).splitlines()) == 36
    with tf.read("demo.strace") as reader:
        assert reader.schema == schema
    with tf.read("demo.strace", columns=schema.names[::-1]) as reader:
        assert reader.schema != schema
    assert schema != schema.names


def not_a_log(folder):
    path = folder / "notes.txt"
    path.write_text("milk, bread\n")
    tf.parse(path, None)


def both_kinds(folder):
    tf.parse("demo.strace", "demo.parquet")
    tf.scan(folder)


def no_events(folder):
    path = folder / "other.parquet"
    import polars as pl

    pl.DataFrame({"loss": [0.5]}).write_parquet(path)
    tf.scan(path)


@pytest.mark.parametrize("make", [not_a_log, both_kinds, no_events])
def test_a_traceback_shows_the_hint_once(make, tmp_path, capsys):
    with pytest.raises(tf.Error) as caught:
        make(tmp_path)
    error = caught.value
    assert error.hint
    assert f"\nhint: {error.hint}\n" in "".join(traceback.format_exception(error))
    assert error.hint not in str(error)
    print_error(error)
    # The command line has hints of its own for some kinds of error.
    assert capsys.readouterr().err.count("hint: ") == 1


def test_an_error_without_a_hint_has_the_attribute():
    assert tf.Error("demo.strace: something").hint is None
