"""The text of two instances of tracefs becomes one, in the order of its times."""

from pathlib import Path

from tracefast.recording.trace_pipe import TracePipes

LINE = "          cat-7       [001] ..... {}: {}\n"


def instance(folder: Path, *records: tuple[str, str]) -> Path:
    folder.mkdir()
    text = "".join(LINE.format(*one) if one[0] else f"{one[1]}\n" for one in records)
    (folder / "trace_pipe").write_text(text)
    return folder


def events(text: bytes) -> list[str]:
    return [line.rpartition(" ")[2] for line in text.decode().splitlines()]


def test_lines_of_the_second_are_where_their_times_are(tmp_path):
    own = instance(
        tmp_path / "own", ("10.000300", "a"), ("10.000500", "b"), ("", "[LOST 3 EVENTS] c"),
        ("10.000900", "d"),
    )  # fmt: skip
    others = instance(
        tmp_path / "others", ("10.000200", "1"), ("10.000500", "2"), ("", "[LOST 9 EVENTS] 3"),
        ("10.000800", "4"), ("11.000000", "5"),
    )  # fmt: skip
    pipes = TracePipes([own, others])
    try:
        text = b"".join(pipes.read())
    finally:
        pipes.close()
    # Of one time, that of the program comes first; a note comes before its record.
    assert events(text) == ["1", "a", "b", "c", "2", "3", "4", "d", "5"]


def test_one_instance_is_given_as_it_is(tmp_path):
    own = instance(tmp_path / "own", ("10.000300", "a"), ("10.000200", "b"))
    pipes = TracePipes([own])
    try:
        assert b"".join(pipes.read()) == (own / "trace_pipe").read_bytes()
    finally:
        pipes.close()
