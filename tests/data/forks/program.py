"""Start `/bin/true` again and again, in one way, from a process of some size; print the times.

`program.py fork|vfork|posix_spawn MEGABYTES TIMES`: the last line of the output is JSON, with the
nanoseconds that each start took the parent.
"""

import json
import os
import subprocess
import sys
import time

mode, megabytes, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
memory = bytearray(megabytes << 20)
memory[::4096] = b"x" * (len(memory) // 4096)
taken: list[int] = []


def timed(start):
    def call(*arguments, **options):
        begin = time.perf_counter_ns()
        result = start(*arguments, **options)
        taken.append(time.perf_counter_ns() - begin)
        return result

    return call


options = {"fork": {"preexec_fn": int}, "vfork": {}, "posix_spawn": {"close_fds": False}}[mode]
# Where the process is made, without what Python does before and after.
subprocess._fork_exec = timed(subprocess._fork_exec)  # noqa: SLF001
os.posix_spawn = timed(os.posix_spawn)
for _ in range(count + 1):
    subprocess.run(["/bin/true"], check=True, **options)
# The first one is there to warm up.
print(json.dumps({"mode": mode, "megabytes": megabytes, "start_ns": taken[1:]}))
