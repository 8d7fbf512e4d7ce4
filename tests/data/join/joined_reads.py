"""What the program of `data/join/record_pair.py` did, in joined events."""

from pathlib import Path

import polars as pl

import tracefast as tf
from tracefast.analysis.join.named_inodes import named_inodes
from tracefast.analysis.join.table import NAMES

KEPT = 2
"""Pages that may have stayed in the cache."""


def check_reads(events: pl.DataFrame, ftrace: Path, places: list[int]) -> None:
    """Check what the program did: cold reads in order, cold ones at random, cached ones."""
    calls = events.filter(kind="syscall")
    known = calls.filter(pl.col("name") != "exit_group")
    assert known["kernel_ns"].null_count() == 0
    reads = calls.filter(
        pl.col("path").str.ends_with("reads.bin"), pl.col("name").is_in(["read", "pread64"])
    )
    assert reads.height == 8 + 3 * len(places)
    # The kernel does not always say when it woke the task.
    said = [name for name in NAMES if name != "run_delay_ns"]
    gaps = reads.filter(pl.any_horizontal(pl.col(said).is_null()))
    assert gaps.is_empty(), gaps.select("line", "name", *NAMES).rows(named=True)
    assert (reads["kernel_ns"] <= reads["dur_ns"] + 2_000).all()
    assert (reads["cpu_ns"] + reads["off_cpu_ns"] == reads["kernel_ns"]).all()
    assert reads["cpu_ns"].min() >= 0
    assert (reads["run_delay_ns"] <= reads["off_cpu_ns"]).all()
    in_order, random, cached = reads[:8], reads[8:20], reads[20:]
    assert random["offset"].to_list() == places
    # On a busy machine the kernel does not drop each page that it is asked to.
    assert random["missed_pages"].sum() >= len(places) - KEPT
    assert (random["disk_bytes"] == 4096 * random["missed_pages"]).all()
    assert random["disk_requests"].to_list() == random["missed_pages"].to_list()
    assert ((random["disk_ns"] > 0) == (random["missed_pages"] > 0)).all()
    assert cached["missed_pages"].sum() == cached["disk_bytes"].sum() == 0
    assert (cached["cached_pages"] == 1).all()
    # The first read misses, the others find what it and they read ahead.
    assert in_order["missed_pages"][0] >= 8 - KEPT
    assert (in_order["disk_bytes"] >= 32_768 - KEPT * 4096).all()
    # Bytes of the file are those of the block events of its pages.
    table = tf.blocks(tf.scan(ftrace), by="file").collect()
    inode = named_inodes(events, tf.scan(ftrace)).filter(pl.col("path").str.ends_with("reads.bin"))
    device = table.join(inode, left_on=("file_dev", "ino"), right_on=("dev", "ino")).filter(
        op="read"
    )
    assert reads["disk_bytes"].sum() == device["bytes"].sum()
