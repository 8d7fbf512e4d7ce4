"""Memory that processes share without a file."""

import polars as pl
import pytest

import tracefast as tf
from support.logs import line_of
from support.paths import DATA

SHARED = "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0) = 0x7f00"
FORK = "clone(child_stack=NULL, flags=SIGCHLD) = {}"


def maps(events):
    """Give what has what mapped, with its bytes."""
    edges = tf.flow(events).filter(pl.any_horizontal(pl.col("src_kind", "dst_kind") == "shm"))
    return edges.select("src", "dst", "how", "bytes").collect().rows()


def scan(tmp_path, calls):
    log = tmp_path / "made.strace"
    log.write_text("".join(line_of(n, call, pid) for n, (pid, call) in enumerate(calls)))
    return tf.scan(log)


@pytest.mark.parametrize("form", ["strace", "ftrace"])
def test_what_a_program_shares(form):
    found = maps(tf.scan(DATA / "flow" / f"shared.{form}.zst"))
    processes = sorted({end for row in found for end in row[:2] if end.startswith("shared ")})
    maker, child, grandchild, reader, memory = processes
    (segment,) = {end for row in found for end in row[:2] if end.startswith("shmid ")}
    both = {(memory, 8192): [maker, child], (segment, 4096): [maker, child, grandchild]}
    # The maker's mapping that nobody else has is nobody's; another program has only what it mapped.
    assert sorted(found) == sorted(
        [
            *((what, who, "map", size) for (what, size), all_ in both.items() for who in all_),
            *((who, what, "map", size) for (what, size), all_ in both.items() for who in all_),
            (segment, reader, "map", 4096),
        ]
    )


def test_only_children_with_a_copy_of_the_memory_have_it(tmp_path):
    assert maps(scan(tmp_path, [(1, SHARED)])) == []
    calls = [(1, SHARED), (1, "vfork() = 2"), (2, 'execve("/bin/a", ["a"], 0x7f /* 1 var */) = 0')]
    assert maps(scan(tmp_path, calls)) == []
    calls = [(1, SHARED), (1, "munmap(0x7f00, 8192) = 0"), (1, FORK.format(2)), (2, "getpid() = 2")]
    assert maps(scan(tmp_path, calls)) == []


def test_memory_keeps_its_edges_after_it_has_moved_or_gone(tmp_path):
    calls = [
        (1, SHARED.replace("MAP_ANONYMOUS, -1", "0, 3</dev/zero>")),
        (1, "mremap(0x7f00, 8192, 16384, MREMAP_MAYMOVE) = 0x8f00"),
        (1, "munmap(0x7f00, 8192) = 0"),
        (1, FORK.format(2)),
        (1, "munmap(0x8f00, 16384) = 0"),
        (2, "getpid() = 2"),
        (1, FORK.format(3)),
        (3, "getpid() = 3"),
    ]
    ends = [("process 1", "shared memory 1"), ("process 2", "shared memory 1")]
    expected = [(*way, "map", 16384) for pair in ends for way in (pair, pair[::-1])]
    assert sorted(maps(scan(tmp_path, calls))) == sorted(expected)


def test_a_segment_that_is_older_than_the_log_has_no_size(tmp_path):
    calls = [(1, "shmat(5, NULL, SHM_RDONLY) = 0x7f00"), (1, "shmget(0x4, 0, 0) = 5")]
    assert maps(scan(tmp_path, calls)) == [("shmid 5", "process 1", "map", None)]
