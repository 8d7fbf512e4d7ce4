"""A run that downloads, unpacks, trains and saves, against the account that it gives of itself."""

import json
import shutil
import subprocess
import sys

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

PROGRAM = DATA / "flow" / "train.py"
pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None or shutil.which("gzip") is None, reason="no strace, or no gzip"
)


@pytest.fixture(scope="module", params=["-yy", "-y", None])
def run(request, tmp_path_factory):
    """Give the folder of the run, its events, and its account, recorded in three ways."""
    folder = tmp_path_factory.mktemp("study")
    log = folder / "run.strace"
    names = [request.param] if request.param else []
    program = [sys.executable, str(PROGRAM)]
    subprocess.run([*program, "prepare", folder], check=True)
    done = subprocess.run(
        ["strace", "-f", "-ttt", "-T", *names, "-o", log, *program, "run", folder],
        check=True,
        capture_output=True,
        cwd=folder,
    )
    return folder, tf.scan(log), json.loads(done.stdout)


def test_every_file_has_its_role(run):
    folder, events, _ = run
    table = tf.roles(events).filter(pl.col("path").str.starts_with(str(folder))).collect()
    rows = {
        path.removeprefix(f"{folder}/"): rest
        for path, *rest in table.select("path", "role", "from_path", "removed").iter_rows()
    }
    new = f"{folder}/run/model.pkl.new"
    assert rows == {
        "labels": ["input", None, False],
        "site/train.gz": ["input", None, False],
        "run/train.gz": ["intermediate", None, False],
        "run/train": ["intermediate", None, False],
        "run/model.pkl": ["intermediate", new, False],
        "run/scratch.bin": ["scratch", None, True],
        "run/train.log": ["log", None, False],
        "run/accuracy.txt": ["result", None, False],
    }


def test_code_is_no_data(run):
    _, events, _ = run
    roles = dict(tf.roles(events).select("path", "role").collect().iter_rows())
    assert roles[str(PROGRAM)] == "module"
    assert {role for path, role in roles.items() if path.endswith("/gzip")} == {"program"}
    assert {role for path, role in roles.items() if "/libc.so" in path} == {"library"}
    assert roles["/etc/ld.so.cache"] == "configuration"


def test_bytes_of_every_edge(run):
    folder, events, account = run
    edges = tf.flow(events).filter(pl.col("bytes").is_not_null()).collect()

    def moved(end: str, name: str, how: str) -> dict[str, int]:
        other = "dst" if end == "src" else "src"
        rows = edges.filter(pl.col(end) == f"{folder}/{name}", pl.col("how") == how)
        # One process may have an edge for each phase: the server looks for more to read while the
        # other one goes on.
        sums = rows.group_by(other, maintain_order=True).agg(pl.sum("bytes"))
        programs = sums[other].str.split(" ").list.first()
        return dict(zip(programs, sums["bytes"], strict=True))

    python = edges.filter(pl.col("dst") == f"{folder}/run/scratch.bin")["src"].item().split(" ")[0]
    for name, size in [
        ("train.gz", "archive"),
        ("model.pkl", "model"),
        ("scratch.bin", "scratch"),
        ("train.log", "log"),
        ("accuracy.txt", "accuracy"),
    ]:
        assert moved("dst", f"run/{name}", "write") == {python: account[size]}, name
    assert moved("dst", "run/train", "write") == {"gzip": account["images"]}
    assert moved("src", "run/train.gz", "read") == {"gzip": account["archive"]}
    for name, size in [
        ("labels", "labels"),
        ("run/train", "images"),
        ("run/model.pkl", "model"),
        ("site/train.gz", "archive"),
    ]:
        assert moved("src", name, "read") == {python: account[size]}, name


def test_both_ends_of_the_socket_are_one_node(run):
    _, events, account = run
    edges = tf.flow(events).filter(pl.col("how") == "socket").collect()
    assert set(edges["src_kind"]) | set(edges["dst_kind"]) == {"process", "socket"}
    names = set(edges.filter(pl.col("src_kind") == "socket")["src"])
    assert len(names) == 1
    assert names.pop().startswith("127.0.0.1:")
    # What one gave the other took, and it is more than what was asked for.
    given = edges.filter(pl.col("dst_kind") == "socket").sort("bytes")["bytes"].to_list()
    taken = edges.filter(pl.col("src_kind") == "socket").sort("bytes")["bytes"].to_list()
    assert given == taken
    assert given[1] > account["archive"] > given[0]


def test_phases_in_order(run):
    _, events, _ = run
    phases = tf.phases(events).collect()
    names = ["download", "unpack", "load", "train", "epoch", "epoch", "save", "test"]
    assert phases["name"].to_list() == names
    flat = phases.filter(pl.col("name") != "epoch")
    assert flat["ts_end"][:-1].to_list() == flat["ts_start"][1:].to_list()
    train = phases.row(3, named=True)
    for epoch in phases.filter(pl.col("name") == "epoch").rows(named=True):
        assert train["ts_start"] < epoch["ts_start"] < epoch["ts_end"] < train["ts_end"]


def test_files_by_phase(run):
    folder, events, _ = run
    edges = tf.flow(events, by="phase").collect()
    made = edges.filter(pl.col("how") == "write", pl.col("dst").str.starts_with(str(folder)))
    found = {(phase, path.rpartition("/")[2]) for phase, path in made.select("src", "dst").rows()}
    assert found == {
        ("download", "train.gz"),
        ("unpack", "train"),
        ("epoch", "train.log"),
        ("save", "scratch.bin"),
        ("save", "model.pkl"),
        ("test", "accuracy.txt"),
    }
    # What gzip did belongs to the phase of its maker.
    assert set(edges.filter(pl.col("src") == f"{folder}/run/train.gz")["dst"]) == {"unpack"}
