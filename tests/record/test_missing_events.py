"""Kernels that lack events: what is said, and when there is nothing to record."""

import shutil
from pathlib import Path

import pytest

import tracefast as tf
from tracefast.recording import tracefs
from tracefast.recording.kernel import KernelTrace


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Give the events of a made-up kernel, whose tracefs fills each new instance."""
    files = tmp_path / "files"
    for event in (*tracefs.EVENTS, "raw_syscalls"):
        folder = files / "events" / event
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "enable").write_text("0")
    (files / "options").mkdir()
    (files / "trace_clock").write_text("[local] global tai")
    (files / tracefs._NOT_TRACED).write_text("")  # noqa: SLF001
    root = tmp_path / "tracing"
    (root / "instances").mkdir(parents=True)
    mkdir = Path.mkdir

    def filled(folder, *args, **kwargs):
        if folder.parent == root / "instances":
            shutil.copytree(files, folder)
        else:
            mkdir(folder, *args, **kwargs)

    monkeypatch.setattr(tracefs, "_root", lambda: (root, False))
    monkeypatch.setattr(Path, "mkdir", filled)
    monkeypatch.setattr(Path, "rmdir", shutil.rmtree)
    return files / "events", root / "instances"


def enabled(instances: Path) -> set[str]:
    """Give the events of the instance for the program's own tasks."""
    (own,) = [one for one in instances.iterdir() if not one.name.endswith("others")]
    switches = (own / "events").rglob("enable")
    return {
        str(one.parent.relative_to(own / "events")) for one in switches if one.read_text() == "1"
    }


def test_what_is_missing_is_said_and_the_rest_recorded(kernel):
    events, instances = kernel
    for missing in ("readahead", "block/block_rq_requeue", "syscalls"):
        shutil.rmtree(events / missing)
    said: list[str] = []
    trace = KernelTrace(said.append)
    assert said == [
        "this kernel has no event syscalls, which shows arguments of system calls",
        "this kernel has no event readahead, which shows what is read ahead",
        "this kernel has no event block/block_rq_requeue, which shows requests issued again",
    ]
    # System calls by their numbers, and all that there is.
    lacking = {"readahead", "block/block_rq_requeue", "syscalls"}
    assert enabled(instances) == {*tracefs.EVENTS, "raw_syscalls"} - lacking
    trace.close()
    assert list(instances.iterdir()) == []


def test_without_system_calls_there_is_nothing_to_record(kernel):
    events, instances = kernel
    for missing in ("syscalls", "raw_syscalls"):
        shutil.rmtree(events / missing)
    with pytest.raises(tf.Error, match="this kernel has no events of system calls") as caught:
        KernelTrace(lambda _: None)
    assert "CONFIG_FTRACE_SYSCALLS" in caught.value.hint
    assert list(instances.iterdir()) == []
