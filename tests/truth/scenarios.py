"""The scenarios: what is run, and which kind of loss it is about."""

import os
from dataclasses import dataclass

# What a scenario is about, where it is not an ordinary program.
POINTS = {
    1: "calls that are not traced",
    2: "order of what tasks share",
    3: "names of one file",
    4: "pid namespaces",
    5: "io_uring",
    6: "unusual calls",
    7: "what is older than the log",
    8: "known after all",
}
ORDINARY = 0

# Options of strace.


FILTER = ["openat", "read", "close", "write"]
RECORDERS = {
    "f": ["-f"],
    "y": ["-f", "-y"],
    "yy": ["-f", "-yy"],
    "ff": ["-ff", "-ttt", "-T"],
    "ff-starts": ["-ff", "-ttt"],
    "ff-untimed": ["-ff"],
    "z": ["-f", "-z"],
    "filtered": ["-f", "-e", f"trace={','.join(FILTER)}"],
    "seccomp": [
        "-f",
        "--seccomp-bpf",
        "-e",
        "trace=%file,%desc,%process,%memory,%network,unshare,close_range",
    ],
    "attached": ["-f"],
    "alone": [],
    "no-seeks": ["-f", "-e", "trace=!lseek"],
    "v": ["-f", "-v"],
}
USUAL = tuple(name for name in RECORDERS if name != "v")


@dataclass(frozen=True)
class Scenario:
    """A program, and how to run it."""

    name: str
    point: int
    group: str  # File of `programs/`, or `commands`.
    command: str | None = None
    setup: str = ""
    words: bool = False  # The data say where they are.
    raced: bool = False  # And nothing else does: numbers change hands during calls.
    recorders: tuple[str, ...] = USUAL
    output: int | None = None  # Flags of a file that the program has as its output from the start.


def group(
    name: str,
    point: int,
    *scenarios: str,
    words: bool = False,
    raced: bool = False,
    recorders: tuple[str, ...] = USUAL,
) -> list[Scenario]:
    return [
        Scenario(one, point, name, words=words, raced=raced, recorders=recorders)
        for one in scenarios
    ]


def command(name: str, text: str, setup: str = "") -> Scenario:
    return Scenario(name, ORDINARY, "commands", text, setup)


TREE = """
mkdir d; seq 2000 >x; seq 100 200 >y
for i in 1 2 3 4; do seq $i 50 >d/$i; done
"""
MAKEFILE = """
{ printf 'all: a b c\\na: d/1\\n\\tcat d/1 >a\\nb: d/2 a\\n\\tcat d/2 a >b\\n'
printf 'c: b\\n\\t@echo c >>b; wc b >c\\n'; } >Makefile
"""
HELLO = """
printf '#include <stdio.h>\\nint main(void) { puts("hello"); return 0; }\\n' >hello.c
"""
SCENARIOS = [
    *group(
        "sharing",
        2,
        "forked-readers",
        "forked-readers-of-several-sizes",
        "reading-threads",
        "seeking-threads",
        "writing-threads",
        "appenders",
        "shared-appender",
        words=True,
    ),
    *group("sharing", 2, "truncated-while-appending", "append-flag"),
    *group(
        "sharing",
        ORDINARY,
        "in-turn",
        "own-descriptions",
        "reused-numbers",
        "blocked-reader",
        words=True,
    ),
    *group("sharing", ORDINARY, "inherited-by-programs"),
    *group(
        "races",
        2,
        "replaced-beside-reads",
        "replaced-beside-reads-at-offsets",
        "replaced-beside-seeks",
        "replaced-beside-copies",
        "replaced-beside-messages",
        "replaced-beside-appends",
        "replaced-beside-forks",
        "replaced-by-two",
        "opened-beside-forks",
        "closed-beside-forks",
        "closed-and-opened",
        "closed-beside-messages",
        "closed-by-another",
        "closed-by-range-beside-reads",
        words=True,
        raced=True,
    ),
    *group(
        "names",
        3,
        "dot",
        "slashes",
        "dots",
        "absolute",
        "link-symbolic",
        "link-to-folder",
        "link-older",
        "link-replaced",
        "link-through-folder-replaced",
        "link-hard",
        "link-hard-older",
        "own-folder",
        "folder-of-process",
        "root-of-process",
        "changed-folder",
        "folder-by-descriptor",
        "opened-again",
        "renamed",
        "renamed-folder",
        "removed",
        "exchanged",
        "bind-mount",
        "new-root",
        "unnamed",
        "unnamed-twins",
    ),
    *group("names", ORDINARY, "case", "same-name"),
    *group(
        "folders",
        3,
        "entered-by-link",
        "link-made-again",
        "target-renamed",
        "renamed-by-another-name",
        "opened-by-link",
        "entered-by-descriptor",
        "entered-and-covered",
        "opened-and-covered",
        "mounts-of-a-child",
        "link-from-the-root",
        "unknown-root",
    ),
    # Device and inode number decide what is one file.
    *group(
        "numbers",
        ORDINARY,
        "numbered-hard-link",
        "numbered-symbolic-link",
        "numbered-bind-mount",
        "numbered-two-files",
        "numbered-of-child",
        "numbered-again",
        recorders=("v",),
    ),
    *group("hidden", 3, "changed-folders"),
    # With all calls in the log they are ordinary.
    *group(
        "hidden",
        1,
        "seeks",
        "copied-numbers",
        "replaced-number",
        "forked",
        "forked-and-reopened",
        "written-by-other-calls",
        "positioned-by-other-calls",
        "flag-of-description",
        "renamed-away",
        "written-through-memory",
        "received",
        "closed-by-range",
        "closed-on-exec",
        "shared-table",
        "own-table",
    ),
    *group(
        "passing",
        6,
        "sent",
        "sent-and-closed",
        "peeked",
        "peeked-later",
        "lost",
        "sent-by-datagram",
        "cut-off",
        "taken",
        "injected",
        "answered",
        "clone-by-number",
        "clone-with-files",
        "other-namespace",
    ),
    *group("passing", ORDINARY, "executed"),
    *group(
        "namespaces",
        4,
        "first-child",
        "several-children",
        "children-at-once",
        "parents-at-once",
        "appended-inside",
        "by-clone3",
        "threads-inside",
        "programs-inside",
        "nested",
    ),
    *group(
        "uring",
        5,
        "ring-read",
        "ring-read-at-offset",
        "ring-append",
        "ring-of-parent",
        "ring-close",
        "ring-in-turn",
    ),
    *group(
        "unusual",
        6,
        "append-once",
        "append-once-at-position",
        "not-append",
        "appending-pwrite",
        "cloned-file",
    ),
    *group(
        "unusual",
        ORDINARY,
        "at-position",
        "tee-and-splice",
        "sendfile-at-offset",
        "copied-range",
        "holes",
        "opened-by-number",
        "short-transfers",
        "listed",
    ),
    *group(
        "lengths",
        8,
        "allocated",
        "allocated-beyond",
        "zeroed",
        "collapsed",
        "inserted",
        "emptied",
        "written-before",
        "truncated",
        "shown",
        "end-of-file",
        "sent-nothing",
        "submitted",
    ),
    *group("lengths", 8, "equal-burst", words=True),
    *group(
        "older",
        7,
        "appended",
        "read-on",
        "read-and-written",
        "copied",
        "of-child",
        "under-way",
        recorders=("attached",),
    ),
    Scenario("redirected", 7, "older", output=os.O_TRUNC),
    Scenario("redirected-to-end", 7, "older", output=os.O_APPEND),
    command("shell", "echo a >x; echo b >>x; cat x x >>y; while read l; do echo $l; done <y >z"),
    command("copies", "cp x y; cp -r d e; mv y z; ln z w; install -m 600 w v", TREE),
    command("blocks", "dd if=x of=y bs=7 skip=3 seek=5 count=40 conv=notrunc status=none", TREE),
    command(
        "archive",
        "tar cf a.tar d x; tar rf a.tar y; tar tf a.tar; mkdir o; tar xf a.tar -C o",
        TREE,
    ),
    command("packed", "gzip -k x; gzip -dc x.gz | cmp - x; tar czf a.tgz d; tar tzf a.tgz", TREE),
    command(
        "sorted",
        "sort -S 20k -T . -o out x; sort out | uniq -c | head -3; split -b 999 x; cat xa? >all",
        TREE,
    ),
    command(
        "edited",
        "sed -i s/1/one/ x; awk '{ print $1 >> \"out\" NR % 3 }' x; tail -c 50 x; head -n 2 x",
        TREE,
    ),
    command(
        "searched",
        "grep -rn 7 d x; find . -type f -exec wc -c {} +; diff -r d x; tee -a y <x | cksum",
        TREE,
    ),
    command(
        "database",
        "sqlite3 db 'create table t(a, b); insert into t select value, hex(randomblob(40)) from"
        " generate_series(1, 200); create index i on t(b)' 'delete from t where a % 3 = 0'"
        " 'pragma journal_mode=wal' 'update t set a = a + 1' vacuum 'select count(*) from t'",
    ),
    command(
        "repository",
        "git init -q .; git add .; git -c user.name=a -c user.email=a@b commit -qm one; echo 1 >>x;"
        " git -c user.name=a -c user.email=a@b commit -qam two; git log --stat; git gc -q",
        TREE,
    ),
    command("rules", "make -s -j2 all; touch d/1; make all", TREE + MAKEFILE),
    command("compiled", "cc -O1 -o hello hello.c && ./hello >out && ./hello >>out", HELLO),
    command(
        "perl",
        "perl -ne 'print if /1/;"
        " END { open F, q(+<), q(x); seek F, 9, 0; print F 5; read F, $_, 4 }' x y",
        TREE,
    ),
    *group(
        "python",
        ORDINARY,
        "workers",
        "subprocesses",
        "logs",
        "buffers",
        "databases",
        "temporary",
        "mapped",
    ),
]
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}

# What a log of this kind does not show.
LOSSES = {
    "filtered": 1,
    "alone": 1,
    "no-seeks": 1,
    "z": 2,
    "ff-starts": 2,
    "ff-untimed": 2,
    "attached": 7,
}


def loss(scenario: Scenario, recorder: str) -> int:
    """Say which point makes positions less than exact; ORDINARY if there is no reason."""
    of_recorder = LOSSES.get(recorder, ORDINARY)
    if of_recorder == 1:
        return 1
    if scenario.point == 1:
        return 1 if recorder == "seccomp" else of_recorder
    return scenario.point or of_recorder


# Logs that are large, or say what others say, are not kept.
LIVE_ONLY = {"compiled", "cloned-file"}
NOT_KEPT = {
    "commands": {"y", "ff", "ff-starts", "alone"},
    "folders": {"yy", "ff-starts", "alone", "no-seeks", "seccomp"},
    "hidden": {"ff", "ff-starts"},
    "lengths": {"ff", "ff-starts", "alone", "no-seeks"},
    "names": {"ff", "ff-starts", "alone", "no-seeks"},
    "namespaces": {"y", "ff-starts", "alone", "no-seeks"},
    "older": {"no-seeks"},
    "passing": {"y", "no-seeks"},
    "python": {"y", "ff-starts", "alone"},
    "races": {"y", "ff-untimed", "filtered", "attached", "alone", "no-seeks"},
    "sharing": {"y", "no-seeks"},
    "unusual": {"ff", "ff-starts", "alone", "no-seeks"},
    "uring": {"ff", "ff-starts", "alone", "no-seeks"},
}


def recorded_by(scenario: Scenario) -> list[str]:
    """Give the recorders whose logs are in the archives."""
    left_out = scenario.recorders if scenario.name in LIVE_ONLY else ()
    left_out = {*left_out, *NOT_KEPT.get(scenario.group, ())}
    return [name for name in scenario.recorders if name not in left_out]
