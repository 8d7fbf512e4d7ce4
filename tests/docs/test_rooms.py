"""The rooms of the code: no import cycle, no crowded folder, and pictures that are current."""

import pytest

import rooms


def test_rooms_do_not_import_in_a_circle():
    assert rooms.circles(rooms.rust_rooms()) == []
    assert rooms.circles(rooms.python_rooms()) == []


def test_folders_are_not_crowded():
    assert rooms.crowded() == []


def test_pictures_are_current():
    made, _ = rooms.outputs()
    stale = [path.name for path, text in made.items() if path.read_text(encoding="utf-8") != text]
    assert not stale, "run make rooms"


@pytest.mark.parametrize(
    ("arrows", "found"),
    [
        ([("a", "b"), ("b", "c")], []),
        ([("a", "b"), ("b", "a"), ("c", "a")], [["a", "b"]]),
        ([("a", "b"), ("b", "c"), ("c", "a")], [["a", "b", "c"]]),
    ],
)
def test_circles_are_found(arrows, found):
    assert rooms.circles(arrows) == found


def test_imports_of_rust_are_read(tmp_path, monkeypatch):
    source = tmp_path / "a.rs"
    source.write_text(
        "use crate::{kernel::Kernel, text};\n"
        "use tracefast_core::batch::Part;\n"
        "// use crate::comment;\n"
        "fn f() { crate::linux::waits::spent() }\n"
        "#[cfg(test)]\nmod tests {\n    use crate::only_in_tests;\n}\n"
    )
    monkeypatch.setattr(rooms, "ROOT", tmp_path)
    assert set(rooms.rust_imports(source.relative_to(tmp_path))) == {
        ("crate", "kernel"),
        ("crate", "text"),
        ("tracefast_core", "batch"),
        ("crate", "linux"),
    }
