"""Compressed logs, by name and from standard input: the rows of the log, or a clear refusal."""

import bz2
import gzip
import lzma
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA

PIECE = 65_280


def bgzip(text: bytes) -> bytes:
    """Pack as bgzip does: members of at most 64 KiB that say how long they are."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    body = packer.compress(text) + packer.flush()
    header = struct.pack("<4BI2BH2BHH", 31, 139, 8, 4, 0, 0, 255, 6, 66, 67, 2, len(body) + 25)
    return header + body + struct.pack("<II", zlib.crc32(text), len(text))


def parts(text: bytes, size: int) -> Iterator[bytes]:
    return (text[i : i + size] for i in range(0, len(text), size))


def each(pack: Callable[[bytes], bytes], size: int) -> Callable[[bytes], bytes]:
    return lambda text: b"".join(map(pack, parts(text, size)))


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda text: gzip.compress(text, 1),
    "gzip of several members": each(lambda text: gzip.compress(text, 1), 400_000),
    "bgzip": lambda text: each(bgzip, PIECE)(text) + bgzip(b""),
    "xz": lambda text: lzma.compress(text, preset=0),
    "xz of several streams": each(lambda text: lzma.compress(text, preset=0), 1_000_000),
    "bzip2": lambda text: bz2.compress(text, 1),
    "bzip2 of several streams": each(lambda text: bz2.compress(text, 1), 100_000),
}


@pytest.fixture(scope="module")
def text() -> bytes:
    """Return a log of several megabytes."""
    lines = (
        f"{100 + i % 7} {1_700_000_000 + i / 10_000:.6f} "
        f'read(3</srv/data/{i % 900}>, "..."..., 4096) = {i % 4096} <0.0000{i % 90 + 10}>\n'
        for i in range(60_000)
    )
    return "".join(lines).encode()


@pytest.fixture(scope="module")
def plain(text: bytes, tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    log = tmp_path_factory.mktemp("plain") / "log"
    log.write_bytes(text)
    return pl.DataFrame(tf.read(log)).drop("source")


def rows(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path).drop("source").select(pl.all().cast(pl.String))


@pytest.mark.parametrize("form", FORMS)
class TestForms:
    """Every form, by name and from standard input."""

    def test_the_rows_are_those_of_the_log(self, run, tmp_path, text, plain, form):
        packed = FORMS[form](text)
        (tmp_path / "log.packed").write_bytes(packed)
        expected = plain.select(pl.all().cast(pl.String))
        for threads in (1, 2, 3, 7):
            ran = run("parse", "log.packed", "--threads", threads, "-o", "out.parquet")
            assert ran.returncode == 0, ran.stderr
            assert_frame_equal(rows(tmp_path / "out.parquet"), expected)
        ran = run("parse", "-", "-o", "piped.parquet", input=packed, text=False)
        assert ran.returncode == 0, ran.stderr
        assert_frame_equal(rows(tmp_path / "piped.parquet"), expected)

    @pytest.mark.parametrize("kept", [0.001, 0.5, 0.9])
    def test_one_that_is_cut_short_is_refused(self, run, tmp_path, text, form, kept):
        packed = FORMS[form](text)
        packed = packed[: int(len(packed) * kept) + 12]
        (tmp_path / "log.packed").write_bytes(packed)
        for name, options in (("log.packed", {}), ("-", {"input": packed, "text": False})):
            ran = run("parse", name, "-o", "out.parquet", **options)
            message = ran.stderr if isinstance(ran.stderr, str) else ran.stderr.decode()
            assert ran.returncode == 2, message
            assert message.startswith(f"error: {name}: ")
            assert "\nhint: the compressed log is damaged or cut short" in message
            assert {path.name for path in tmp_path.iterdir()} == {"log.packed"}

    def test_one_with_a_byte_changed_is_refused(self, run, tmp_path, text, form):
        packed = bytearray(FORMS[form](text))
        packed[len(packed) * 7 // 10] ^= 0x10
        (tmp_path / "log.packed").write_bytes(packed)
        ran = run("parse", "log.packed", "-o", "out.parquet")
        assert ran.returncode == 2, ran.stderr
        assert ran.stderr.startswith("error: log.packed: ")
        assert "\nhint: " in ran.stderr
        assert {path.name for path in tmp_path.iterdir()} == {"log.packed"}


def test_frames_of_zstd_are_one_log(run, tmp_path):
    frame = (DATA / "demo.strace.zst").read_bytes()
    skippable = struct.pack("<II", 0x184D2A50, 3) + b"pad"
    (tmp_path / "log.zst").write_bytes(skippable + frame + skippable + frame)
    ran = run("parse", "log.zst", "-o", "twice.parquet")
    assert ran.returncode == 0, ran.stderr
    ran = run("parse", DATA / "demo.strace.zst", "-o", "once.parquet")
    assert ran.returncode == 0, ran.stderr
    once, twice = rows(tmp_path / "once.parquet"), rows(tmp_path / "twice.parquet")
    columns = ["kind", "ts", "name", "args", "ret"]
    assert_frame_equal(twice.head(once.height).select(columns), once.select(columns))
    assert twice.height > 1.9 * once.height


def test_text_after_the_last_member_is_an_error(run, tmp_path, text):
    (tmp_path / "log.gz").write_bytes(FORMS["bgzip"](text) + b"garbage of some length")
    ran = run("parse", "log.gz", "-o", "out.parquet")
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"error: log.gz: byte {len(text)}: invalid gzip header\n")
