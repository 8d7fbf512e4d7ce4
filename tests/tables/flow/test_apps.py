"""Roles of the files of real programs, as people know them."""

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA
from tracefast import _core
from tracefast._polars.folds import run

FOLDER = DATA / "flow"
GOLDEN = json.loads((FOLDER / "roles.json").read_text())
CODE = ("library", "module", "configuration")


@pytest.mark.parametrize("app", GOLDEN)
def test_roles_of_a_program(app):
    roles = tf.roles(tf.scan(FOLDER / f"{app}.strace.zst"))
    rows = roles.filter(~pl.col("role").is_in(CODE)).select("path", "role", "from_path").collect()
    assert {path: [role, old] for path, role, old in rows.iter_rows()} == GOLDEN[app]


def test_code_of_programs_is_no_data():
    roles = tf.roles(tf.scan(FOLDER / "tar.strace.zst"))
    rows = roles.filter(pl.col("role").is_in(CODE)).select("path", "role").collect()
    assert {path: role for path, role in rows.iter_rows() if "libc.so" in path} == {
        "/usr/lib/x86_64-linux-gnu/libc.so.6": "library"
    }


def test_data_goes_through_pipes():
    edges = tf.flow(tf.scan(FOLDER / "tar.strace.zst"), by="image").collect()
    pipes = edges.filter(pl.col("how") == "pipe").select("src", "dst")
    assert pipes.rows() == [("/usr/bin/tar", "tar | gzip"), ("tar | gzip", "/usr/bin/gzip")]


@pytest.mark.parametrize("app", GOLDEN)
def test_roles_without_users_are_the_same(app):
    events = tf.scan(FOLDER / f"{app}.strace.zst")
    fold = _core.Roles(users=False)
    run(events, fold)
    roles = pl.concat(map(pl.DataFrame, fold.finish()))
    assert_frame_equal(roles, tf.roles(events).drop("writers", "readers").collect())


@pytest.mark.parametrize("by", ["process", "image", "phase"])
@pytest.mark.parametrize("app", GOLDEN)
def test_edges_and_roles_of_one_pass_are_those_of_two(app, by):
    events = tf.scan(FOLDER / f"{app}.strace.zst")
    files = []
    edges = tf.flow(events, by=by, roles=files.append).collect()
    assert_frame_equal(edges, tf.flow(events, by=by).collect())
    assert_frame_equal(pl.concat(files), tf.roles(events).collect())
