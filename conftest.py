"""Examples in docstrings run in a folder of their own, beside small logs."""

from pathlib import Path

import pytest

DEMO = r"""
100 1700000000.000000 openat(AT_FDCWD</srv/demo>, "data.bin", O_RDONLY) = 3</srv/demo/data.bin> <0.000050>
100 1700000000.000100 read(3</srv/demo/data.bin>, "\0\1"..., 4096) = 4096 <0.000040>
100 1700000000.000200 read(3</srv/demo/data.bin>, "", 4096) = 0 <0.000020>
100 1700000000.000300 close(3</srv/demo/data.bin>) = 0 <0.000010>
100 1700000000.000400 vfork( <unfinished ...>
101 1700000000.000500 execve("/bin/true", ["true"], 0x7ffd8d7e5a10 /* 2 vars */ <unfinished ...>
100 1700000000.000700 <... vfork resumed>) = 101 <0.000300>
101 1700000000.000800 <... execve resumed>) = 0 <0.000300>
101 1700000000.001500 +++ exited with 0 +++
100 1700000000.001600 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=101, si_uid=0, si_status=0, si_utime=0, si_stime=0} ---
""".lstrip()

DEMO_FTRACE = r"""
# tracer: nop
            bash-100     [000] .....    10.000100: sched_process_fork: comm=bash pid=100 child_comm=bash child_pid=101
            bash-100     [000] d..2.    10.000300: sched_switch: prev_comm=bash prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=true next_pid=101 next_prio=120
            true-101     [000] .....    10.000500: my_probe: (vfs_read+0x0/0x2a0) count=0x1000 name="data.bin"
            true-101     [000] .....    10.000600: page_cache_sync_ra: dev=254:0 ino=42 index=0 req_count=1 order=0 size=0 async_size=0 ra_pages=32 mmap_miss=0 prev_pos=-1
            true-101     [000] .....    10.000601: mm_filemap_add_to_page_cache: dev 254:0 ino 42 pfn=0x1000 ofs=0 order=1
            true-101     [000] .....    10.000602: block_rq_issue: 254,0 RA 8192 () 800 + 16 be,0,4 [true]
          <idle>-0       [000] d.h..    10.000702: block_rq_complete: 254,0 RA () 800 + 16 be,0,4 [0]
            true-101     [000] .....    10.000703: mm_filemap_get_pages: dev=254:0 ino=42 ofs=0-4095
            true-101     [000] .....    10.000704: mm_filemap_get_pages: dev=254:0 ino=42 ofs=4096-8191
            true-101     [000] .....    10.000705: rss_stat: mm_id=7 curr=1 type=MM_ANONPAGES size=8192B
            true-101     [000] .....    10.000706: rss_stat: mm_id=7 curr=1 type=MM_FILEPAGES size=4096B
""".lstrip()


@pytest.fixture(autouse=True)
def _demo_folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        (tmp_path / "demo.strace").write_text(DEMO)
        (tmp_path / "demo.ftrace").write_text(DEMO_FTRACE)
        monkeypatch.chdir(tmp_path)
