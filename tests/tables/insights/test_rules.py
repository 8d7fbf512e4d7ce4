"""Each rule on a program that was written for it, with its numbers, and on a corrected one."""

import json
import re
import subprocess

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast.analysis.insights.registry import RULES

OWN = DATA / "insights"
# Numbers that the programs of program.c know.
NUMBERS = {
    "small-reads": {"files": 1, "reads": 300, "bytes": 300 * 64, "needed_reads": 1},
    # 37 is prime to 100: no place follows the one before.
    "random-reads": {"files": 1, "reads": 100, "jumps": 99, "bytes": 100 * 4096},
    "seek-then-read": {"files": 1, "seeks": 1000, "jumps": 999},
    "re-reads": {"files": 1, "bytes": 5 * 204_800, "bytes_again": 4 * 204_800},
    # The parent holds the file open as well.
    "read-by-many": {"files": 1, "processes": 5, "bytes": 4 << 20, "bytes_shared": 3 << 20},
    "header-then-all": {"bytes": 119_798 + 12_288, "bytes_again": 12_288, "rewinds": 1},
    "end-of-file-probes": {"files": 400, "reads": 800, "probes": 400},
    "tail-first-archive": {"files": 1, "reads": 8, "backward": 6},
    "read-little-of-much": {"files": 60, "bytes": 60 * 4096, "size": 60 << 20},
    "copy-by-hand": {"files": 1, "bytes": 2 << 20, "writes": 32},
    "small-writes": {"files": 1, "writes": 300, "bytes": 15_000, "needed_writes": 1},
    "sync-per-write": {"files": 1, "syncs": 20, "writes": 20},
    "unaligned-direct": {"files": 1, "calls": 7},
    "written-never-read": {"files": 1, "writes": 4, "bytes": 4 * 65_536},
    "open-close-churn": {"files": 1, "opens": 501},
    "failed-opens": {"opens": 900, "failed": 800, "names": 100},
    "repeated-stats": {"paths": 1, "looks": 800},
    # Each listing is one call with names, and one without.
    "directory-scans": {"folders": 1, "scans": 100},
    # stat, open and close of 400 files, and the linker's look at the program itself.
    "metadata-bound": {"calls": 1201},
    "busy-polling": {"threads": 1},
    "contended-futex": {"threads": 2, "locks": 1},
    "one-slow-worker": {"workers": 4, "rounds": 1},
    "starved-trainer": {"results": 19},
    "serial-io": {"files": 60, "reads": 60, "bytes": 60 << 20},
    "no-durations": {"timed": 0},
    "no-children": {"created": 3},
    "no-names": {"bytes": 204_800, "all_bytes": 204_800, "descriptors": 1},
    "page-table-copy": {"processes": 8},
    "error-pipe": {"processes": 5, "reads": 5},
    "many-processes": {"processes": 110},
    "fork-per-epoch": {"processes": 6, "rounds": 3, "forks": 2},
    "re-imports": {"workers": 2},
    "fork-with-threads": {"forks": 3, "threads": 2},
    "path-probes": {"processes": 20, "failed": 20 * 30},
    "slow-linking": {"starts": 10, "libraries": 1},
    "deadlock": {"tasks": 1, "stalled": 0},
    # The parent waits for its child.
    "lock-at-fork": {"tasks": 1, "stalled": 1},
    "copy-on-write-growth": {"workers": 2},
    # 400 pages at random, 11 of them a second time.
    "page-cache-misses": {"files": 1, "lookups": 400, "misses": 389},
    "readahead-wasted": {"files": 1},
    "lost-events": {"places": 1},
    "tracer-dominates": {},
    "wrong-clock": {},
}
# Programs that were written for other tests as well, and their corrected ones.
SHARED = {
    "page-cache-misses": ("page-cache/rand.ftrace.zst", "page-cache/seq.ftrace.zst"),
    "readahead-wasted": ("page-cache/pairs.ftrace.zst", "page-cache/pairs_told.ftrace.zst"),
}


def found(log, **options):
    return tf.insights(tf.scan(log), **options).collect()


def finding(log, code):
    return found(log).row(by_predicate=pl.col("code") == code, named=True)


def span(events):
    return events.select((pl.col("ts").max() - pl.col("ts").min()).cast(pl.Int64)).collect().item()


def own(code, suffix=""):
    if code in SHARED:
        return DATA / SHARED[code][bool(suffix)]
    return next(OWN.glob(f"{code.replace('-', '_')}{suffix}.*trace.zst"))


def numbers_of(code):
    return {each["name"]: each["value"] for each in finding(own(code), code)["numbers"]}


def text_of(log):
    unpacked = subprocess.run(["zstd", "-dc", log], capture_output=True, check=True)
    return unpacked.stdout.decode().splitlines()


def test_every_rule_has_a_program():
    assert {rule.code for rule in RULES} == set(NUMBERS)


@pytest.mark.parametrize("code", NUMBERS)
def test_a_rule_finds_what_the_program_did(code):
    row = finding(own(code), code)
    numbers = {each["name"]: each["value"] for each in row["numbers"]}
    assert {name: numbers[name] for name in NUMBERS[code]} == NUMBERS[code]
    assert row["lines"]


@pytest.mark.parametrize("code", NUMBERS)
def test_a_rule_finds_nothing_in_the_corrected_program(code):
    assert code not in found(own(code, "_fixed"))["code"]


def test_memory_and_time_are_at_least_those_that_the_program_took():
    # Beside the 256 MiB, a small program has its own.
    assert 0 <= numbers_of("page-table-copy")["bytes"] - (256 << 20) < 1 << 20
    assert numbers_of("error-pipe")["touched_low_ns"] >= 5 * 20_000_000


def test_modules_are_those_that_the_workers_counted():
    known = json.loads((OWN / "re_imports.json").read_text())
    assert numbers_of("re-imports")["modules"] == known["modules"]


def test_the_linker_looked_in_the_empty_folders_and_nowhere_else():
    looks = [line for line in text_of(own("slow-linking")) if "ENOENT" in line]
    folders = ("/srv/insights/lib0", "/srv/insights/lib1")
    assert sum(any(folder in line for folder in folders) for line in looks) == len(looks) - 10
    # And for /etc/ld.so.preload.
    assert numbers_of("slow-linking")["misses"] == len(looks) / 10


def test_copied_pages_are_those_that_the_workers_wrote_to():
    log = own("copy-on-write-growth")
    row = finding(log, "copy-on-write-growth")
    text = text_of(log)
    # Each has a stack and variables as well; their maker copies some, too.
    written, faults = 2 * 600, sum("error_code=0x7" in line for line in text)
    assert written <= numbers_of("copy-on-write-growth")["pages"] <= min(faults, written + 20)
    assert all("error_code=0x7" in text[line - 1] for line in row["lines"])
    assert len(row["lines"]) == 5


def test_what_is_lost_is_what_was_not_kept():
    # 5,000 calls, with two events each.
    kept = sum("getppid" in line for line in text_of(own("lost-events")))
    assert numbers_of("lost-events")["events"] == 2 * 5000 - kept


@pytest.mark.parametrize("code", SHARED)
def test_lines_are_those_of_the_pages_that_are_fetched(code):
    text = text_of(own(code))
    lines = finding(own(code), code)["lines"]
    added = [number for number, line in enumerate(text, 1) if "add_to_page_cache" in line]
    assert lines == added[:5]


def test_read_ahead_is_compared_with_what_was_asked_for():
    numbers = numbers_of("readahead-wasted")
    assert numbers["readahead_bytes"] - numbers["unused_bytes"] == 60 * 2 * 4096


def test_calls_and_events_are_those_that_strace_wrote():
    calls = [line for line in text_of(own("tracer-dominates")) if re.search(r"\) += ", line)]
    assert sum("getppid()" in line for line in calls) == 1000
    assert numbers_of("tracer-dominates")["calls"] == len(calls)
    assert numbers_of("wrong-clock")["events"] == len(text_of(own("wrong-clock")))


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("small-reads", "read(3"),
        ("end-of-file-probes", 'read(3, "", '),
        ("sync-per-write", "fdatasync("),
        ("failed-opens", "= -1 ENOENT"),
        ("seek-then-read", "lseek("),
        ("unaligned-direct", "= -1 EINVAL"),
        ("repeated-stats", "not_yet"),
        ("directory-scans", "getdents64("),
        ("tracer-dominates", "getppid()"),
    ],
)
def test_lines_are_those_of_the_calls(code, calls):
    text = text_of(own(code))
    lines = finding(own(code), code)["lines"]
    assert len(lines) == 5
    assert all(calls in text[line - 1] for line in lines)


def test_lines_of_a_slow_worker_are_its_first_and_last_one():
    row = finding(own("one-slow-worker"), "one-slow-worker")
    text = text_of(own("one-slow-worker"))
    pid = row["object"].split()[-1]
    numbers = [number for number, line in enumerate(text, 1) if line.split()[0] == pid]
    assert row["lines"] == [numbers[0], numbers[-1]]


def test_what_sendfile_reads_again_has_a_line(tmp_path):
    log = tmp_path / "server.strace"
    calls = (
        'openat(AT_FDCWD, "/srv/page", O_RDONLY) = 3',
        'read(3, "x"..., 65536) = 65536',
        "lseek(3, 0, SEEK_SET) = 0",
        "sendfile(4, 3, NULL, 131072) = 131072",
    )
    log.write_text("".join(f"7 170000000{at}.0 {call} <0.5>\n" for at, call in enumerate(calls)))
    assert finding(log, "header-then-all")["lines"] == [4]


def made(path, calls):
    """Write a log of calls that take 1 ms each."""
    lines = (f"7 {1700000000 + at / 1000:.6f} {call} <0.001>\n" for at, call in enumerate(calls))
    path.write_text("".join(lines))
    return path


def test_a_reader_that_goes_back_into_what_it_read_does_not_read_at_random(tmp_path):
    """The `read` of shells takes a block, and seeks back to the end of the line."""
    calls = ['openat(AT_FDCWD, "/srv/list", O_RDONLY) = 3']
    for line in range(1, 101):
        calls += ['read(3, "x"..., 4096) = 4096', f"lseek(3, -4090, SEEK_CUR) = {6 * line}"]
    codes = set(found(made(tmp_path / "shell.strace", calls))["code"])
    assert "re-reads" in codes
    assert "random-reads" not in codes


def test_a_header_before_the_whole_file_is_not_read_at_random(tmp_path):
    header = (
        'openat(AT_FDCWD, "/srv/image", O_RDONLY) = 3',
        'read(3, "x"..., 4096) = 4096',
        "lseek(3, 0, SEEK_SET) = 0",
        'read(3, "x"..., 70000) = 64000',
        "close(3) = 0",
    )
    codes = set(found(made(tmp_path / "loop.strace", header * 200))["code"])
    assert "re-reads" in codes
    assert "random-reads" not in codes


def test_others_that_wait_in_reads_make_reads_of_files_no_shorter(tmp_path):
    """Four programs wait for a pipe all the time: as `reader | cat | cat | cat`."""
    reads = [(7, 'openat(AT_FDCWD, "/srv/list", O_RDONLY) = 3', 0, 0.0005)]
    reads += [(7, 'read(3, "x"..., 16) = 16', at, 0.0005) for at in range(1, 201)]
    others = [8, 9, 10, 11]
    made_by = "clone(child_stack=NULL, flags=SIGCHLD) = {}"
    calls = [(7, made_by.format(tid), at / 10 - 1, 0.00001) for at, tid in enumerate(others)]
    calls = [(7, "pipe([4, 5]) = 0", -2, 0.00001), *calls, *reads]
    calls += [(tid, 'read(4, "", 65536) = 0', 0.1, 0.21) for tid in others]
    lines = (
        f"{tid} {1700000000 + at / 1000:.6f} {call} <{took:.6f}>\n"
        for tid, call, at, took in sorted(calls, key=lambda call: call[2])
    )
    (log := tmp_path / "pipes.strace").write_text("".join(lines))
    assert "in 88.0 to 100 ms" in finding(log, "small-reads")["evidence"]


def test_reads_of_a_byte_have_a_byte_each(tmp_path):
    calls = ['openat(AT_FDCWD, "/srv/list", O_RDONLY) = 3', *['read(3, "x", 1) = 1'] * 200]
    row = finding(made(tmp_path / "shell.strace", [*calls, 'read(3, "", 1) = 0']), "small-reads")
    assert "201 reads of 1 file took 200 B, 1 B each" in row["evidence"]


def test_a_small_file_that_is_read_whole_each_time_is_not_read_in_small_parts(tmp_path):
    whole = (
        'openat(AT_FDCWD, "/srv/small", O_RDONLY) = 3',
        'read(3, "x"..., 4096) = 3000',
        'read(3, "", 4096) = 0',
        "close(3) = 0",
    )
    codes = set(found(made(tmp_path / "loop.strace", whole * 150))["code"])
    assert "open-close-churn" in codes
    assert "small-reads" not in codes


def test_a_file_that_is_made_again_is_one_file(tmp_path):
    """A journal, as databases make one for each transaction: two syncs for two writes."""
    transaction = (
        'openat(AT_FDCWD, "/srv/db-journal", O_RDWR|O_CREAT, 0644) = 3',
        *['write(3, "x"..., 512) = 512', "fsync(3) = 0"] * 2,
        "close(3) = 0",
        'unlink("/srv/db-journal") = 0',
    )
    row = finding(made(tmp_path / "db.strace", transaction * 10), "sync-per-write")
    assert "20 calls of fsync or its like for 20 writes to 1 file took " in row["evidence"]
    assert {each["name"]: each["value"] for each in row["numbers"]}["files"] == 1
    assert len(row["lines"]) > 1


def test_the_syncs_of_a_journal_and_of_the_folder_count_with_those_of_the_database(tmp_path):
    """What SQLite does for each transaction with a rollback journal."""
    transaction = (
        'openat(AT_FDCWD, "/srv/app.db-journal", O_RDWR|O_CREAT, 0644) = 4',
        *['pwrite64(4, "x"..., 512, 0) = 512'] * 7,
        "fdatasync(4) = 0",
        'openat(AT_FDCWD, "/srv", O_RDONLY|O_DIRECTORY) = 5',
        "fdatasync(5) = 0",
        "close(5) = 0",
        "fdatasync(4) = 0",
        *['pwrite64(3, "x"..., 4096, 0) = 4096'] * 2,
        "fdatasync(3) = 0",
        "close(4) = 0",
        'unlink("/srv/app.db-journal") = 0',
        # Of another program.
        'openat(AT_FDCWD, "/srv/application", O_RDWR|O_CREAT, 0644) = 4',
        *['write(4, "x"..., 512) = 512'] * 7,
        "fsync(4) = 0",
        "close(4) = 0",
    )
    opened = 'openat(AT_FDCWD, "/srv/app.db", O_RDWR|O_CREAT, 0644) = 3'
    row = finding(made(tmp_path / "db.strace", [opened, *transaction * 10]), "sync-per-write")
    assert (
        "10 calls of fsync or its like for 20 writes to 1 file, and 30 on 1 file and 1 folder that"
        " belong to it (app.db-journal, …), took"
    ) in row["evidence"]
    assert row["evidence"].endswith("940 µs to 1.00 ms each")
    numbers = {each["name"]: each["value"] for each in row["numbers"]}
    assert numbers == {
        "files": 1,
        "syncs": 10,
        "writes": 20,
        "beside_files": 2,
        "beside_syncs": 30,
    }
    assert row["object"] == "/srv/app.db"


def test_the_syncs_of_a_database_count_with_those_of_its_log(tmp_path):
    """SQLite with a write-ahead log: the database is synced at the end only."""
    opened = [
        f'openat(AT_FDCWD, "/srv/app.db{end}", O_RDWR|O_CREAT, 0644) = {fd}'
        for fd, end in ((3, ""), (4, "-wal"))
    ]
    record = [*['pwrite64(4, "x"..., 24, 0) = 24'] * 2, "fdatasync(4) = 0"]
    end = [*['pwrite64(3, "x"..., 4096, 0) = 4096'] * 9, "fdatasync(3) = 0"]
    row = finding(made(tmp_path / "db.strace", [*opened, *record * 10, *end]), "sync-per-write")
    assert (
        "10 calls of fsync or its like for 20 writes to 1 file, and 1 on 1 file that"
        in (row["evidence"])
    )
    assert "belongs to it (app.db), took" in row["evidence"]


def started(path, folders, scripts=10):
    """Write a log of scripts that begin with `#!/usr/bin/env tool`, each call of 1 ms."""
    calls = [(7, 'execve("/bin/sh", ["sh"], 0x7 /* 1 var */) = 0')]
    for child in range(100, 100 + scripts):
        calls += [
            (7, f"vfork() = {child}"),
            (child, 'execve("/srv/script", ["script"], 0x7 /* 1 var */) = 0'),
            *(
                (child, f'execve("{folder}/tool", ["tool"], 0x7 /* 1 var */) = {result}')
                for folder, result in folders
            ),
            (child, "exit_group(0) = ?"),
            (child, "+++ exited with 0 +++"),
        ]
    lines = (
        f"{task} {1700000000 + at / 1000:.6f} {call}{'' if '+' in call else ' <0.001>'}\n"
        for at, (task, call) in enumerate(calls)
    )
    path.write_text("".join(lines))
    return path


MISSING = "-1 ENOENT (No such file or directory)"


def test_a_program_that_looks_for_another_one_probes_the_path(tmp_path):
    folders = [(f"/opt/{at}", MISSING) for at in range(3)]
    log = started(tmp_path / "env.strace", [*folders, ("/usr/bin", 0)])
    row = finding(log, "path-probes")
    assert row["evidence"].startswith("30 execves failed, 3 for each process (median), which took")
    assert row["evidence"].endswith("first at line 4; it is /usr/bin/tool")
    assert row["object"] == "/srv/script → /usr/bin/tool"
    assert row["lines"] == [4, 5, 6, 12, 13]
    numbers = {each["name"]: each["value"] for each in row["numbers"]}
    assert (numbers["processes"], numbers["failed"]) == (10, 30)
    assert numbers["touched_high_ns"] == 30_000_000


def test_a_program_that_finds_nothing_probes_the_path(tmp_path):
    log = started(tmp_path / "env.strace", [(f"/opt/{at}", MISSING) for at in range(3)])
    row = finding(log, "path-probes")
    assert row["evidence"].endswith("it was not found at all")
    assert row["object"] == "/srv/script"


@pytest.mark.parametrize(
    "folders",
    [
        [("/opt", MISSING), ("/usr/bin", 0)],
        [*[("/opt", "-1 ENOEXEC (Exec format error)")] * 3, ("/usr/bin", 0)],
    ],
)
def test_a_program_that_tries_once_does_not_probe(tmp_path, folders):
    log = started(tmp_path / "env.strace", folders, scripts=40)
    assert "path-probes" not in set(found(log)["code"])


def test_failed_opens_name_their_search(tmp_path):
    """Four folders that do not have 20 headers, and one that has."""
    log = tmp_path / "cc.strace"
    call = '7 1700000000.{:06} openat(AT_FDCWD, "/srv/{}/part{}.h", O_RDONLY) = {} <0.000300>'
    folders = [(part, folder) for part in range(20) for folder in "abcde"]
    log.write_text(
        "".join(
            call.format(
                number * 400, folder, part, 3 if folder == "e" else "-1 ENOENT (No such file)"
            )
            + "\n"
            for number, (part, folder) in enumerate(folders)
        )
    )
    row = finding(log, "failed-opens")
    numbers = {each["name"]: each["value"] for each in row["numbers"]}
    assert numbers["failed"] == numbers["searched"] == 80
    assert (numbers["wanted"], numbers["folders"]) == (20, 4)
    assert "80 of them looked for headers (include), 20 names in 4 folders" in row["evidence"]
    assert "-I" in row["advice"]


def test_a_search_of_few_of_the_failed_opens_is_not_named(tmp_path):
    missing = [
        f'openat(AT_FDCWD, "/srv/{at}/a.ini", O_RDONLY) = -1 ENOENT (No)' for at in range(90)
    ]
    missing += [
        f'openat(AT_FDCWD, "/srv/{at}/part.h", O_RDONLY) = -1 ENOENT (No)' for at in range(10)
    ]
    row = finding(made(tmp_path / "app.strace", missing), "failed-opens")
    assert "a.ini alone 90 times, in 90 folders" in row["evidence"]


def test_a_file_that_is_asked_for_in_each_folder_of_a_tree_is_not_looked_for(tmp_path):
    missing = [
        f'openat(AT_FDCWD, "/srv/{a}/{b}/.gitignore", O_RDONLY) = -1 ENOENT (No)'
        for a in range(10)
        for b in range(10)
    ]
    row = finding(made(tmp_path / "git.strace", missing), "failed-opens")
    assert row["evidence"].endswith(".gitignore alone 100 times, in 100 folders")
    assert row["title"] == "Many opens fail."
    assert "looked for" not in row["evidence"] + row["advice"]


def test_what_python_reads_as_it_starts_is_no_module(tmp_path):
    missing = ['openat(AT_FDCWD, "/usr/bin/pyvenv.cfg", O_RDONLY) = -1 ENOENT (No)'] * 60
    row = finding(made(tmp_path / "python.strace", missing), "failed-opens")
    assert "60 of them looked for files of Python itself (import) in 1 folder" in row["evidence"]
    assert "module" not in row["evidence"] + row["advice"]


def test_a_deadlock_that_is_not_proved_is_no_finding(tmp_path):
    lines = (DATA / "stalls" / "lock_at_fork.strace").read_text().splitlines(keepends=True)
    cut = tmp_path / "cut"
    cut.write_text("".join(lines[:34]))
    assert tf.stuck(tf.scan(cut)).collect()["verdict"].to_list() == [
        "likely-deadlock",
        "stalled",
    ]
    assert not {"deadlock", "lock-at-fork"} & set(found(cut)["code"])


@pytest.mark.parametrize(
    ("log", "causes"),
    [
        ("image-loading/pth.strace", {"header-then-all", "tail-first-archive"}),
        ("insights/end_of_file_probes.strace.zst", {"end-of-file-probes"}),
        ("starting/subprocess_python37.strace.zst", {"page-table-copy", "error-pipe"}),
        ("starting/grow.strace.zst", {"page-table-copy", "error-pipe"}),
        ("starting/lockfork.strace.zst", {"lock-at-fork"}),
        ("stalls/python_fork.strace.zst", {"lock-at-fork"}),
        ("stalls/openmp_fork.strace", {"lock-at-fork"}),
        ("workers/pool_spawn.strace.zst", {"re-imports", "read-by-many"}),
    ],
)
def test_the_cause_is_among_the_first_three(log, causes):
    assert causes <= set(found(DATA / log)["code"].head(3))


@pytest.mark.parametrize(
    "log",
    [
        *("flow/git.strace.zst", "flow/make.strace.zst", "flow/sqlite.strace.zst"),
        *("flow/tar.strace.zst", "flow/train.strace.zst", "stalls/talking_pipes.strace"),
        *("forks/vfork.strace.zst", "workers/train_fork.strace.zst", "demo.strace.zst"),
    ],
)
def test_a_healthy_run_has_few_findings_and_none_is_high(log):
    table = found(DATA / log)
    assert table.height <= 4
    assert "high" not in table["severity"]


def test_what_the_tracer_may_have_taken_makes_nothing_high():
    row = finding(own("busy-polling"), "busy-polling")
    assert row["severity"] == "medium"
    row = finding(own("metadata-bound"), "metadata-bound")
    numbers = {each["name"]: each["value"] for each in row["numbers"]}
    assert numbers["total_ns"] > 0.2 * tf.scan(own("metadata-bound")).pipe(span)
    assert row["severity"] != "high"


@pytest.mark.parametrize(("named", "severity"), [(True, "high"), (False, "medium")])
def test_serial_reads_of_files_without_names_may_be_those_of_modules(tmp_path, named, severity):
    """Twelve cold files, 20 ms each: strace names them, ftrace has their inodes alone."""
    log = tmp_path / "cold.log"
    start = " python3-7 [000] ..... 100."
    lines = [] if named else ["# tracer: nop", "#"]
    for at in range(12):
        if named:
            where = f"7 1700000000.{at * 30:03}"
            lines.append(f'{where}000 openat(AT_FDCWD, "/srv/{at}", O_RDONLY) = 3 <0.000010>')
            lines.append(f'{where}100 read(3, "x"..., 4096) = 4096 <0.020000>')
            lines.append(f"{where}900 close(3) = 0 <0.000010>")
            continue
        page = f"dev 8:1 ino {at + 10:x} pfn=0x1 ofs=0 order=0"
        lines.append(
            f"{start}{at * 30:03}000: sys_openat(dfd: 0xffffff9c, filename: 0x7, flags: 0)"
        )
        lines.append(f"{start}{at * 30:03}010: sys_openat -> 0x3")
        lines.append(f"{start}{at * 30:03}100: sys_read(fd: 3, buf: 0x7, count: 0x1000)")
        lines.append(f"{start}{at * 30:03}900: mm_filemap_add_to_page_cache: {page}")
        lines.append(f"{start}{at * 30 + 20:03}100: sys_read -> 0x1000")
        lines.append(f"{start}{at * 30 + 20:03}200: sys_close(fd: 3)")
        lines.append(f"{start}{at * 30 + 20:03}210: sys_close -> 0x0")
    log.write_text("\n".join(lines) + "\n")
    row = finding(log, "serial-io")
    assert row["severity"] == severity
    assert {each["name"]: each["value"] for each in row["numbers"]}["files"] == 12
