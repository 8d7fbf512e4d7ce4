"""What a program prints on the terminal that strace writes to, in the middle of a line.

strace flushes a line before the call runs. The golden logs `trap-05-*` have the forms of the lines;
here, each call that writes.
"""

import polars as pl
import pytest

import tracefast as tf

VECTOR = r'[{iov_base="hello\n", iov_len=6}]'
MESSAGE = "{msg_name=NULL, msg_namelen=0, msg_iov=" + VECTOR + ", msg_iovlen=1, msg_flags=0}"


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("write", r'1, "hello\n", 6'),
        *((name, rf'1, "hello\n", 6, {rest}') for name, rest in [("pwrite", 0), ("pwrite64", 0)]),
        ("writev", f"1, {VECTOR}, 1"),
        *(("pwritev", f"1, {VECTOR}, 1, 0"), ("pwritev2", f"1, {VECTOR}, 1, 0, 0")),
        *(("vmsplice", f"1, {VECTOR}, 1, 0"), ("sendmsg", f"1, {MESSAGE}, 0")),
        *(("send", r'1, "hello\n", 6, 0'), ("sendto", r'1, "hello\n", 6, 0, NULL, 0')),
        ("sendmmsg", f"1, [{{msg_hdr={MESSAGE}, msg_len=6}}], 1, 0"),
        *((name, r'1, "hello\n", 6, 0, NULL') for name in ["mq_timedsend", "mq_timedsend_time64"]),
    ],
)
def test_output_is_not_an_argument(tmp_path, name, args):
    log = tmp_path / "app.strace"
    log.write_text(f"getpid() = 100\n{name}({args}hello\n) = 6\ngetpid() = 100\n")
    rows = pl.DataFrame(tf.read(log)).select("name", "args", "ret").rows()
    assert rows == [("getpid", "", 100), (name, args, 6), ("getpid", "", 100)]


@pytest.mark.parametrize(
    ("text", "size", "output"),
    [
        (r'"one\ntwo\n\nthree\n"', 15, "one\ntwo\n\nthree\n"),
        # The string is cut, the number is not.
        (r'"one\ntw"...', 15, "one\ntwo\n\nthree\n"),
        # Without a line feed at the end.
        (r'"one\ntw"...', 14, "one\ntwo\n\nthree\n"),
    ],
)
def test_all_lines_that_a_call_writes_are_its_output(tmp_path, text, size, output):
    log = tmp_path / "app.strace"
    log.write_text(f"[pid 7] getpid() = 7\n[pid 7] write(1, {text}, {size}{output}) = {size}\n")
    rows = pl.DataFrame(tf.read(log)).select("name", "args", "ret").rows()
    assert rows == [("getpid", "", 7), ("write", f"1, {text}, {size}", size)]
    report = tf.parse(log, None)
    assert report.quality == ["complete"]
    assert report.oddities["foreign"] == output.count("\n")


def test_more_lines_than_a_call_writes_are_not_its_output(tmp_path):
    log = tmp_path / "app.strace"
    log.write_text('getpid() = 6\n[pid 7] write(1, "a\\nb\\n", 4a\nb\nanother line\n) = 4\n')
    rows = pl.DataFrame(tf.read(log)).select("kind", "args", "ret").rows()
    assert rows[1:] == [("unparsed", "another line", None), ("syscall", '1, "a\\nb\\n", 4', 4)]
