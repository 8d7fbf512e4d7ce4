"""How a framework loads images and models: the answers that the installed command gives.

The model's log is a recording; the images' logs are written here from what was recorded of them:
how many bytes were asked for, and how many came.
"""

import json

import pytest

MODEL = "data/unet_carvana_scale0.5_epoch2.pth"
COUNTS = ("reads", "read_first", "read_consecutive", "read_forward", "read_backward", "read_eof")


@pytest.fixture
def answer(run):
    """Ask for the one file of a log."""

    def ask(log, *options: str) -> dict[str, object]:
        ran = run("files", log, "--format", "ndjson", *options)
        assert ran.returncode == 0, ran.stderr
        (line,) = ran.stdout.splitlines()
        return json.loads(line)

    return ask


@pytest.mark.parametrize("options", [[], ["--scope", "file"], ["--by", "open"]])
def test_the_model(answer, pth, options):
    row = answer(pth, *options)
    assert row["path"] == MODEL
    assert [row[name] for name in COUNTS] == [10, 1, 1, 1, 7, 0]
    assert (row["read_bytes"], row["read_unique_bytes"]) == (43_290, 26_972)
    assert row["read_reread_bytes"] == 16_318 == 43_290 - 26_972
    assert row["read_rewinds"] == 2
    assert round(row["read_coverage_share"], 6) == 0.000217
    assert row["size"] == 124_239_509
    # Sizes asked and returned: 4,096 nine times less once 7,329 and once 15,319.
    assert (row["read_asked_common"], row["read_size_max"], row["read_short"]) == (4096, 15_319, 3)
    assert row["offset_known"] == "exact"


def test_the_model_from_parquet(run, answer, pth, tmp_path):
    assert run("parse", pth, "-o", "model.parquet").returncode == 0
    assert answer(tmp_path / "model.parquet") == answer(pth)


def image(folder, size, calls):
    """Write how CPython opens a file of `size` bytes, and how it is read."""
    path = folder / "image.strace"
    stat = f"{{st_mode=S_IFREG|0644, st_size={size}, st_blksize=4096, ...}}"
    lines = [
        'openat(AT_FDCWD, "/srv/in.jpg", O_RDONLY|O_CLOEXEC) = 3',
        f'newfstatat(3, "", {stat}, AT_EMPTY_PATH) = 0',
        "ioctl(3, TCGETS, 0x7fff96473dc0) = -1 ENOTTY (Inappropriate ioctl for device)",
        "lseek(3, 0, SEEK_CUR) = 0",
        "lseek(3, 0, SEEK_CUR) = 0",
        *("lseek(3, 0, SEEK_SET) = 0" if call is None else reading(*call) for call in calls),
        "close(3) = 0",
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def reading(asked, got):
    return f"read(3, {'x' if got else ''!r}, {asked}) = {got}".replace("'", '"')


HEADER = (4096, 4096)
SMALL = (35_885, [HEADER, (61_440, 31_789), (28_672, 0)])
LARGER = (108_736, [HEADER, (61_440, 61_440), (65_536, 43_200), (20_480, 0)])
# The header is read until its end was seen, then once more: three reads, and a rewind.
LONG = (119_798, [HEADER, HEADER, HEADER, None, (65_536, 65_536), (65_536, 54_262), (8192, 0)])


@pytest.mark.parametrize(
    ("size", "calls", "counts", "rewinds", "again", "probe"),
    [
        # reads, first, consecutive, forward, backward, end
        (*SMALL, [3, 1, 1, 0, 0, 1], 0, 0, 28_672),
        (*LARGER, [4, 1, 2, 0, 0, 1], 0, 0, 20_480),
        # The two reads after the header, and the last one; one goes back.
        (*LONG, [6, 1, 3, 0, 1, 1], 1, 3 * 4096, 8192),
    ],
)
def test_images(run, answer, tmp_path, size, calls, counts, rewinds, again, probe):
    log = image(tmp_path, size, calls)
    row = answer(log)
    assert [row[name] for name in COUNTS] == counts
    assert row["read_rewinds"] == rewinds
    assert row["read_bytes"] == size + again
    assert (row["read_unique_bytes"], row["read_reread_bytes"]) == (size, again)
    assert row["read_coverage_share"] == 1
    # What the program asked for when nothing was left; what CPython's reader asks for is what is
    # missing of 65,536 bytes, in whole blocks of 4,096.
    assert calls[-1] == (probe, 0)
    last = 65_536 - (size % 65_536)
    assert probe == last // 4096 * 4096
    shown = run("files", log, "--explain", "in.jpg").stdout
    assert f"eof-probe: 1 call, {probe:,} bytes requested" in shown
    assert "by CPython's buffered reader" in shown.replace("\n    ", " ")
    assert ("header-probe: 3 calls" in shown) == ("rewind: 1 call" in shown) == bool(rewinds)


def test_the_verdict_in_a_line(run, pth, tmp_path):
    assert "random 88 %" in run("files", pth).stdout
    assert "whole" in run("files", image(tmp_path, *LARGER)).stdout
    # One of four goes back to the start.
    assert "partly random 25 %" in run("files", image(tmp_path, *LONG)).stdout
