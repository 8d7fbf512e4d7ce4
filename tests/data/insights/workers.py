"""Programs of Python that a rule of insights finds: `workers.py NAME HOW`; prints what it knows."""

import json
import multiprocessing
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
ROUNDS, WORKERS = 3, 2
PARTS = 30


def fork_per_epoch(how):
    """Fork two workers for each of three rounds, or two for all of them."""
    memory = bytearray(b"x" * (64 << 20))
    forked = 0
    for _ in range(ROUNDS if how == "each" else 1):
        for _ in range(WORKERS):
            forked += 1
            if os.fork() == 0:
                os._exit(0)
        for _ in range(WORKERS):
            os.wait()
    return {"processes": forked, "rounds": ROUNDS, "bytes": len(memory)}


SHARED = {}


def share(barrier):
    """Keep what the workers have in common."""
    SHARED["barrier"] = barrier


def modules(_job):
    """Count the modules of this process that were read from compiled files."""
    # Each worker has a job.
    SHARED["barrier"].wait()
    here = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    return os.getpid(), len({spec.cached for spec in here if spec and spec.cached})


def re_imports(how):
    """Have two workers that import what this program imports."""
    context = multiprocessing.get_context(how)
    with context.Pool(WORKERS, share, [context.Barrier(WORKERS)]) as pool:
        found = dict(pool.map(modules, range(WORKERS), chunksize=1))
    return {"workers": len(found), "modules": sum(found.values())}


if __name__ != "__main__" or sys.argv[1] == "re_imports":
    for part in range(PARTS):
        __import__(f"part{part}")

if __name__ == "__main__":
    program = {"fork_per_epoch": fork_per_epoch, "re_imports": re_imports}[sys.argv[1]]
    print(json.dumps(program(sys.argv[2])))
