"""Rules of flow and roles, each on a few lines."""

import polars as pl
import pytest

import tracefast as tf
from support.logs import line_of, lines_of


def scan(tmp_path, text):
    log = tmp_path / "made.strace"
    log.write_text(text)
    return tf.scan(log)


def edges(tmp_path, text, **options):
    table = tf.flow(scan(tmp_path, text), **options).collect()
    return table.select("src", "dst", "how", "bytes").rows()


def roles(tmp_path, calls):
    table = tf.roles(scan(tmp_path, lines_of(calls))).collect()
    return {row["path"]: row for row in table.rows(named=True)}


CREATE = 'openat(AT_FDCWD</w>, "{0}", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</w/{0}>'
WRITE = 'write(3</w/{0}>, "abc", 3) = 3'
READ = 'read(4</w/{0}>, "abc", 100) = 3'


def made(name):
    return [CREATE.format(name), WRITE.format(name), f"close(3</w/{name}>) = 0"]


def test_a_temporary_that_is_put_in_place_is_the_result(tmp_path):
    rename = 'rename("/w/a.tmp", "/w/a") = 0'
    found = roles(tmp_path, [READ.format("a"), *made("a.tmp"), rename])
    assert set(found) == {"/w/a"}
    assert (found["/w/a"]["role"], found["/w/a"]["from_path"]) == ("result", "/w/a.tmp")
    # It was read before it was replaced, so not after it was written.
    assert found["/w/a"]["ts_read_after"] is None
    assert found["/w/a"]["readers"] == found["/w/a"]["writers"] == ["process 100"]


def test_edges_follow_a_rename(tmp_path):
    text = lines_of([*made("a.tmp"), 'rename("/w/a.tmp", "/w/a") = 0', READ.format("a")])
    assert edges(tmp_path, text) == [
        ("process 100", "/w/a", "create", None),
        ("process 100", "/w/a", "write", 3),
        ("/w/a.tmp", "/w/a", "rename", None),
        ("/w/a", "process 100", "read", 3),
    ]


def test_files_follow_the_rename_of_their_folder(tmp_path):
    rename = 'rename("/w/new", "/w/out") = 0'
    found = roles(tmp_path, [*made("new/a"), *made("new/sub/b"), *made("newer"), rename])
    assert {path: row["role"] for path, row in found.items()} == {
        "/w/out/a": "result",
        "/w/out/sub/b": "result",
        "/w/newer": "result",
    }


def test_a_file_keeps_what_was_done_to_it_under_a_link(tmp_path):
    calls = [*made("tmp_obj"), 'link("/w/tmp_obj", "/w/ab12") = 0', 'unlink("/w/tmp_obj") = 0']
    found = roles(tmp_path, calls)
    assert set(found) == {"/w/ab12"}
    row = found["/w/ab12"]
    assert (row["role"], row["from_path"], row["removed"]) == ("result", "/w/tmp_obj", False)
    assert row["writers"] == ["process 100"]


@pytest.mark.parametrize(
    ("after", "role", "removed"),
    [
        ([], "result", False),
        ([READ], "intermediate", False),
        (['unlink("/w/{0}") = 0'], "scratch", True),
        ([READ, 'unlink("/w/{0}") = 0'], "intermediate", True),
        ([READ, WRITE], "result", False),
        (['unlink("/w/{0}") = 0', *(CREATE, WRITE)], "result", False),
        (['execve("/w/{0}", ["a"], 0x7f /* 1 var */) = 0'], "intermediate", False),
    ],
)
def test_roles_of_what_was_written(tmp_path, after, role, removed):
    found = roles(tmp_path, [*made("a"), *(call.format("a") for call in after)])
    assert (found["/w/a"]["role"], found["/w/a"]["removed"]) == (role, removed)


def test_reading_back_what_it_writes_is_no_use_of_it(tmp_path):
    opened = 'openat(AT_FDCWD</w>, "db", O_RDWR|O_CREAT, 0644) = 3</w/db>'
    back = 'pread64(3</w/db>, "abc", 100, 0) = 3'
    assert roles(tmp_path, [opened, WRITE.format("db"), back])["/w/db"]["role"] == "result"


def test_what_is_only_appended_to_is_a_log(tmp_path):
    opened = 'openat(AT_FDCWD</w>, "run.out", O_WRONLY|O_CREAT|O_APPEND, 0644) = 3</w/run.out>'
    row = roles(tmp_path, [opened, WRITE.format("run.out")])["/w/run.out"]
    assert (row["role"], row["decided_by"]) == ("log", "appended")


def test_copies_do_not_pass_through_the_process(tmp_path):
    copy = "copy_file_range(3</w/a>, NULL, 4</w/b>, NULL, 100, 0) = 7"
    assert edges(tmp_path, lines_of([copy])) == [
        ("/w/a", "process 100", "copy", 7),
        ("process 100", "/w/b", "copy", 7),
    ]
    assert roles(tmp_path, [copy])["/w/b"]["from_path"] == "/w/a"


def test_a_cloned_file_is_a_copy(tmp_path):
    clone = "ioctl(4</w/b>, BTRFS_IOC_CLONE or FICLONE, 3</w/a>) = 0"
    assert edges(tmp_path, lines_of([clone])) == [
        ("process 100", "/w/b", "copy", None),
        ("/w/a", "process 100", "copy", None),
    ]
    found = roles(tmp_path, [clone])
    assert (found["/w/b"]["role"], found["/w/b"]["from_path"]) == ("result", "/w/a")


def test_shared_memory_and_mappings(tmp_path):
    shared = "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED, 3</dev/shm/x>, 0) = 0x7f00"
    table = tf.flow(scan(tmp_path, lines_of([shared]))).collect()
    assert table.select("src_kind", "dst_kind", "how", "bytes").rows() == [
        ("shm", "process", "map", 8192),
        ("process", "shm", "map", 8192),
    ]
    private = "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE, 3</w/a>, 0) = 0x7f00"
    assert roles(tmp_path, [private])["/w/a"]["role"] == "input"


PIPELINE = [
    (1, "pipe2([3, 4], 0) = 0"),
    (1, "clone(child_stack=NULL, flags=SIGCHLD) = 2"),
    (2, 'execve("/bin/tr", ["tr"], 0x7f /* 1 var */) = 0'),
    (1, 'write(4, "abc", 3) = 3'),
    (2, 'read(3, "abc", 10) = 3'),
]


def test_a_pipe_without_a_name_has_two_ends(tmp_path):
    text = "".join(line_of(n, call, pid) for n, (pid, call) in enumerate(PIPELINE))
    assert edges(tmp_path, text) == [
        ("/bin/tr", "tr 2", "exec", None),
        ("process 1", "pipe 1", "pipe", 3),
        ("pipe 1", "tr 2", "pipe", 3),
    ]
    by_image = tf.flow(scan(tmp_path, text), by="image").collect()
    assert by_image.filter(pl.col("how") == "pipe")["src"].to_list() == [None, "? | tr"]


def test_a_child_that_shows_itself_late_is_not_missing(tmp_path):
    text = "".join(line_of(n, call, pid) for n, (pid, call) in enumerate(PIPELINE))
    found = []
    tf.flow(scan(tmp_path, text), gaps=found.extend).collect()
    assert "children" not in found
    alone = "".join(line_of(n, call) for n, (pid, call) in enumerate(PIPELINE) if pid == 1)
    tf.roles(scan(tmp_path, alone), gaps=found.extend).collect()
    assert "children" in found


ADDRESS = '{{sa_family=AF_INET, sin_port=htons({}), sin_addr=inet_addr("{}")}}'


def test_a_socket_of_which_one_end_is_in_the_log_is_a_host(tmp_path):
    calls = [
        "socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 3",
        f"connect(3, {ADDRESS.format(443, '10.0.0.2')}, 16) = 0",
        'sendto(3, "abc", 3, 0, NULL, 0) = 3',
        'recvfrom(3, "abcd", 10, 0, NULL, NULL) = 4',
    ]
    table = tf.flow(scan(tmp_path, lines_of(calls))).collect()
    assert table.select("src_kind", "src", "dst_kind", "dst", "how", "bytes").rows() == [
        ("process", "process 100", "host", "10.0.0.2:443", "socket", 3),
        ("host", "10.0.0.2:443", "process", "process 100", "socket", 4),
    ]


def test_processes_with_one_id_are_two(tmp_path):
    calls = [
        'execve("/bin/a", ["a"], 0x7f /* 1 var */) = 0',
        "+++ exited with 0 +++",
        'execve("/bin/a", ["a"], 0x7f /* 1 var */) = 0',
        "+++ exited with 0 +++",
    ]
    text = "".join(
        line_of(n, call) if "exited" not in call else f"100 1700000000.{n * 100:06} {call}\n"
        for n, call in enumerate(calls)
    )
    assert [row[1] for row in edges(tmp_path, text)] == ["a 100", "a 100 #2"]


def mark(verb, name):
    return f'access("/tracefast/{verb}/{name}", F_OK) = -1 ENOENT (No such file or directory)'


def test_marks_and_blocks(tmp_path):
    calls = [
        mark("phase", "a"),
        READ.format("1"),
        mark("begin", "b"),
        READ.format("2"),
        mark("phase", "c"),
        READ.format("3"),
        mark("end", "b"),
        READ.format("4"),
        mark("phase", "d"),
        READ.format("5"),
        mark("end", "nothing"),
    ]
    events = scan(tmp_path, lines_of(calls))
    table = tf.phases(events).with_columns(pl.col("dur_ns") // 100_000).collect()
    assert table.select("name", "dur_ns", "count").rows() == [
        ("a", 8, 2),
        ("b", 4, 1),
        ("c", 2, 1),
        ("d", 2, 1),
    ]
    by_phase = tf.flow(events).select("src", "phase").collect().rows()
    assert by_phase == [("/w/1", "a"), ("/w/2", "b"), ("/w/3", "c"), ("/w/4", "a"), ("/w/5", "d")]


def test_children_are_in_the_phase_of_their_maker(tmp_path):
    # The first rows of the child come before the call that makes it returns.
    lines = [
        line_of(0, mark("phase", "a"), 1),
        "1 1700000000.000100 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n",
        line_of(2, READ.format("early"), 2),
        "1 1700000000.000300 <... clone resumed>) = 2 <0.0002>\n",
        line_of(4, READ.format("late"), 2),
        line_of(5, mark("phase", "b"), 1),
        line_of(6, READ.format("later"), 2),
        line_of(7, mark("phase", "own"), 2),
        line_of(8, READ.format("last"), 2),
    ]
    events = scan(tmp_path, "".join(lines))
    rows = tf.flow(events).select("src", "phase").collect().rows()
    assert rows == [("/w/early", "a"), ("/w/late", "a"), ("/w/later", "b"), ("/w/last", "own")]
    assert tf.phases(events).select("name", "pid", "count").collect().rows() == [
        ("a", 1, 3),
        ("b", 1, 1),
        ("own", 2, 1),
    ]


def test_markers_of_ftrace(tmp_path):
    def line(n, text):
        return f"           app-100     [000] .....  10.{n:06}: {text}\n"

    log = tmp_path / "marked.ftrace"
    log.write_text(
        "# tracer: nop\n#\n"
        + line(1, "tracing_mark_write: /tracefast/phase/load")
        + line(2, "sys_getpid()")
        + line(3, "sys_getpid -> 0x64")
        + line(4, "tracing_mark_write: /tracefast/phase/train")
    )
    table = tf.phases(tf.scan(log)).select("name", "pid", "count").collect()
    assert table.rows() == [("load", 100, 1), ("train", 100, 0)]


def test_by_is_checked():
    with pytest.raises(ValueError, match="by must be 'process', 'image' or 'phase', got 'x'"):
        tf.flow(pl.LazyFrame(), by="x")
