"""Maps from device and inode to path, as `find` prints them."""

import os
import random
import subprocess

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast import _core
from tracefast.analysis.files.inode_map import SCHEMA, inodes, with_paths

MAP = DATA / "page-cache" / "inodes.txt"


def paths_of(table):
    return {(dev, ino): path for dev, ino, path in table.rows()}


def test_a_real_map():
    table = inodes(MAP)
    assert table.schema == pl.Schema(SCHEMA)
    assert set(table["dev"]) == {"7:0"}
    paths = dict(table.select("ino", "path").rows())
    assert paths[2] == "/srv/page-cache"
    assert paths[12] == "/srv/page-cache/a file \\ of 32 MiB.bin"
    assert paths[17] == "/srv/page-cache/ä ö"
    assert paths[18] == "/srv/page-cache/ blank in front"
    assert paths[19] == "/srv/page-cache/tab\tinside"
    # As in the events: bytes that are no text.
    assert paths[21] == "/srv/page-cache/no text \\xff"


def test_devices_are_decoded_as_the_c_library_does(tmp_path):
    rng = random.Random(6)
    devices = [rng.getrandbits(bits) for bits in (8, 16, 20, 32, 44, 64) for _ in range(50)]
    devices += [0x0801, 0xFE00, 0x1_0000_0000_0801, os.makedev(4095, 1048575)]
    file = tmp_path / "map"
    file.write_text("".join(f"{device} {n} /x\n" for n, device in enumerate(devices)))
    expected = [f"{os.major(device)}:{os.minor(device)}" for device in devices]
    assert inodes(file)["dev"].to_list() == expected


def test_the_map_that_find_makes(tmp_path):
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "x \\n y").write_text("")
    (folder / "line\nfeed").write_text("")
    for end in ("\\n", "\\0"):
        file = tmp_path / "map"
        command = ["find", folder, "-printf", f"%D %i %p{end}"]
        file.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
        if end == "\\n":
            # A path of two lines: the second is not from find.
            with pytest.raises(tf.Error, match=r"map: line \d: no device, inode and path: feed"):
                inodes(file)
            continue
        found = inodes(file)
        for path in (folder, *folder.iterdir()):
            status = path.stat()
            dev = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"
            assert paths_of(found)[dev, status.st_ino] == str(path)


@pytest.mark.parametrize(
    "line",
    [
        *["1792 12", "1792 12 ", "1792  /x", "x 12 /x", "1792 -1 /x", "7:0 12 /x", "", "/x"],
        *[
            "18446744073709551616 1 /x",
            f"1{'0' * 5000} 1 /x",
            "1 99999999999999999999999 /x",
            "\u0661 1 /x",
        ],
    ],
)
def test_a_wrong_line_is_named(tmp_path, line):
    file = tmp_path / "map"
    file.write_text(f"1792 11 /first\n{line}\n1792 13 /third\n")
    with pytest.raises(tf.Error) as caught:
        inodes(file)
    assert str(caught.value) == f"{file}: line 2: no device, inode and path: {line[:80]}"
    assert "find FOLDER -printf '%D %i %p\\n'" in caught.value.hint


def test_an_empty_map_and_none(tmp_path):
    (tmp_path / "empty").write_text("")
    assert inodes(tmp_path / "empty").is_empty()
    with pytest.raises(FileNotFoundError):
        inodes(tmp_path / "none")


def test_the_first_name_of_several_counts(tmp_path):
    file = tmp_path / "map"
    file.write_text("1792 11 /one\n1792 11 /two\n1793 11 /three")
    assert inodes(file).rows() == [("7:0", 11, "/one"), ("7:1", 11, "/three")]


def test_paths_are_filled_in_by_the_identity_of_the_file():
    rows = {
        "file": [_core.file_id(b"7:0:12"), _core.file_id(b"7:0:13"), None, 5],
        "path": [None, "/known", None, None],
        "n": [1, 2, 3, 4],
    }
    table = pl.LazyFrame(rows, schema={"file": pl.UInt64, "path": pl.String, "n": pl.Int64})
    for names in (MAP, str(MAP), inodes(MAP), inodes(MAP).lazy()):
        filled = with_paths(table, names).collect()
        assert filled["path"].to_list() == [
            "/srv/page-cache/a file \\ of 32 MiB.bin",
            "/known",
            None,
            None,
        ]
        assert filled.columns == list(rows)


def test_the_identity_is_that_of_the_events(pth):
    events = tf.scan(pth).filter(pl.col("path").is_not_null(), pl.col("file").is_not_null())
    path, file = events.select("path", "file").first().collect().row(0)
    assert _core.file_id(path.encode()) == file
