"""How much is looked at for a rename does not grow with the files that are open."""

import pytest

import tracefast as tf


@pytest.mark.parametrize(("renames", "known"), [(5, True), (1200, False)])
def test_after_very_many_looks_any_directory_may_be_the_renamed_one(tmp_path, renames, known):
    at = iter(range(1, 10_000_000))

    def line(call):
        return f"100 1700000000.{next(at):06} {call}\n"

    lines = [line('openat(AT_FDCWD, "/d", O_RDONLY|O_DIRECTORY) = 3')]
    lines += [line(f'openat(AT_FDCWD, "/f{fd}", O_RDONLY) = {fd}') for fd in range(4, 4000)]
    lines += [line(f'rename("/e/a{n}", "/e/b{n}") = 0') for n in range(renames)]
    lines += [line('openat(3, "x", O_RDONLY) = 4000')]
    # What is opened from here on has its own name.
    lines += [line('openat(AT_FDCWD, "/g", O_RDONLY|O_DIRECTORY) = 4001')]
    lines += [line('openat(4001, "y", O_RDONLY) = 4002')]
    log = tmp_path / "log"
    log.write_text("".join(lines))
    paths = tf.scan(log).collect()["path"].to_list()
    assert paths[-3] == ("/d/x" if known else "x")
    assert paths[-1] == "/g/y"
