"""The file of hook points: its form, what it names, and files that add to it."""

import subprocess

import pytest

import tracefast as tf
from support.paths import DATA
from tracefast.analysis.hooks import inventory as inventories
from tracefast.analysis.hooks.inventory import read_inventory, this_machine
from tracefast.analysis.hooks.points import read_points

VERSIONS = ("6.1", "6.18", "4.4", "4.15", "5.4", "5.15")
KERNELS = [read_inventory(DATA / "hooks" / f"linux-{version}") for version in VERSIONS]


def version(text):
    return tuple(map(int, text.split(".")))


def test_all_that_is_named_is_described():
    points = read_points()
    named = {name for names in points.functions.values() for name in names}
    assert named == set(points.known)
    for function in points.known.values():
        assert function.entry or function.result, function.name


@pytest.mark.parametrize(("inventory", "kernel"), list(zip(KERNELS, VERSIONS, strict=True)))
def test_functions_are_in_the_kernels_that_they_are_said_to_be_in(inventory, kernel):
    functions = read_points().known.values()
    there = {each.name for each in functions if inventory.has_function(each.name)}
    said = {
        each.name
        for each in functions
        if (each.since is None or version(each.since) <= version(kernel))
        and (each.until is None or version(kernel) <= version(each.until))
    }
    assert there <= said
    # A compiler inlines some of them.
    assert len(there) > 0.9 * len(said)


def test_tracepoints_with_other_names_are_in_the_kernel():
    points = read_points()
    for name in points.tracepoints.values():
        assert KERNELS[1].has_event(f"syscalls:sys_enter_{name}"), name
    for events in points.related.values():
        for event in events:
            old = event == "io_uring:io_uring_submit_sqe"  # To 6.1; then io_uring_submit_req.
            assert KERNELS[old ^ 1].has_event(event), event


def test_a_file_adds_points(tmp_path, spawn_strace):
    more = tmp_path / "mine.toml"
    more.write_text(
        '[[hooks]]\ncalls = ["read"]\nfunctions = ["my_read"]\n'
        '[functions.my_read]\nsince = "6.0"\nentry = "arg0 mine"\n'
    )
    kernel = tmp_path / "kernel"
    kernel.mkdir()
    (kernel / "kallsyms").write_text("0 t my_read\n")
    table = tf.hooks(tf.scan(spawn_strace), kernel, points=more).collect()
    (function,) = table.filter(name="read")["functions"][0].to_list()
    assert function == {
        "name": "my_read",
        "probe": "kprobe",
        "tells": "arg0 mine",
        "since": "6.0",
        "until": None,
    }


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("[hooks", "not TOML"),
        ("[things]\na = 1\n", "'things' has no meaning"),
        ("hooks = 3\n", "not an array of tables"),
        ('[[hooks]]\ncalls = "read"\n', "calls is not a list"),
        ('[[hooks]]\ncalls = ["read; reboot"]\n', "'read; reboot'"),
        ('[[hooks]]\ncalls = ["read"]\nrelated = ["sched"]\n', "'sched'"),
        ('[tracepoints]\nfstat = "x\\"; system(\\"reboot\\")"\n', "tracepoints"),
        ("[functions.a]\nentry = 3\n", "not text"),
        ('[functions.a]\nsince = "new"\n', "'new'"),
        ('[functions."a b"]\nentry = "x"\n', "'a b'"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path, text, part):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(tf.Error, match=part.replace("(", r"\(")) as raised:
        read_points(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert raised.value.hint


def test_a_folder_without_lists_is_refused(tmp_path):
    with pytest.raises(tf.Error, match="none of the lists"):
        read_inventory(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_inventory(tmp_path / "nothing")


@pytest.mark.parametrize("readable", [inventories._readable, lambda file: file])  # noqa: SLF001
def test_a_tracefs_that_is_unmounted_meanwhile_is_passed_by(tmp_path, monkeypatch, readable):
    (tmp_path / "available_events").write_text("sched:sched_switch\n")
    (tmp_path / "available_filter_functions").write_text("vfs_read\n")
    monkeypatch.setattr(inventories, "_tracefs", lambda: iter([tmp_path / "gone", tmp_path]))
    monkeypatch.setattr(inventories, "_readable", readable)
    assert this_machine().events == {"sched:sched_switch"}


def test_this_machine_says_what_it_may():
    inventory = this_machine()
    if inventory.events is None:
        assert inventory.kprobes is None or isinstance(inventory.kprobes, bool)
    machine = subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout
    if machine.strip() == "x86_64":
        assert inventory.wrapper == "__x64_sys_"
