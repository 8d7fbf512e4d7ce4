"""Programs with worker processes; each prints what it knows of them, as JSON.

    python workers.py PROGRAM METHOD

What it prints: `made`, for each process that multiprocessing started, its id and the time before;
`ready`, for each worker, its id and the time just before it waited for its first job; `jobs`, by
worker, how many it got; `exits`, for each process, its exit code, of a signal the negative number;
`waits`, how many seconds a trainer waited for each result; `steps`, when it asked for each image,
and when it went on with it.
"""

import concurrent.futures
import json
import mmap
import multiprocessing as mp
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from multiprocessing import forkserver, reduction, util
from multiprocessing.process import BaseProcess
from pathlib import Path

WORKERS = 3
# What workers of a pool import besides.
IMPORTED = [
    *("concurrent.futures", "json", "pathlib", "pkgutil", "typing"),
    *("multiprocessing.pool", "multiprocessing.queues"),
    *("multiprocessing.popen_forkserver", "multiprocessing.synchronize"),
]
MADE: list[tuple[int, float]] = []
PROCESSES: list[BaseProcess] = []
WAITS: list[float] = []
STEPS: list[tuple[float, float]] = []
KEPT: list[object] = []


def ready() -> None:
    """Note when a worker is ready for its first job; write it down when the worker ends."""
    util.Finalize(None, write_down, args=(time.time(),), exitpriority=0)


def write_down(now: float) -> None:
    """Write a time to a file of this process."""
    with open(f"ready.{os.getpid()}", "w") as file:
        file.write(repr(now))


def job(number: int) -> int:
    """Read what every worker reads, and a file of its own."""
    with open("index.json", "rb") as file:
        file.read()
    with open(f"{number % 4}.bin", "rb") as file:
        file.read()
    time.sleep(0.01)
    return os.getpid()


def load(number: int) -> int:
    """Load an image, and compute something."""
    with open("index.json", "rb") as file:
        file.read()
    with open(f"images/{number:02}.img", "rb") as file:
        file.read()
    sum(range(100_000))
    return os.getpid()


class Image:
    """Memory whose descriptor goes to another process, as torch sends tensors."""

    def __init__(self, memory: int, number: int, maker: int) -> None:
        self.pixels = mmap.mmap(memory, 0)
        self.memory, self.number, self.maker = memory, number, maker

    def __reduce__(self):
        return received, (reduction.DupFd(self.memory), self.number, self.maker)


def received(memory, number: int, maker: int) -> Image:
    """Map what came from another process."""
    descriptor = memory.detach()
    image = Image(descriptor, number, maker)
    os.close(descriptor)
    return image


def share(number: int) -> Image:
    """Load an image into memory that another process can map; one takes long."""
    memory = os.memfd_create("image")
    os.truncate(memory, 1 << 20)
    time.sleep(0.1 if number == 7 else 0.002)
    KEPT.append(image := Image(memory, number, os.getpid()))
    return image


def keep(_number: int) -> int:
    """Keep a megabyte for each job, and eight more once."""
    KEPT.append(bytearray((1 if KEPT else 9) << 20))
    return os.getpid()


def loop(jobs, results, work=job) -> None:
    """Take jobs until there are no more."""
    ready()
    while (number := jobs.get()) is not None:
        results.put(work(number))


def busy(number: int) -> None:
    """Work without any jobs from outside."""
    for _ in range(3):
        job(number)


def nested() -> None:
    """Be a maker of workers, too."""
    with mp.get_context("fork").Pool(2, ready) as pool:
        pool.map(job, range(4), 1)
        pool.close()
        pool.join()


def pool(context, **options) -> list[int]:
    """Map over a pool."""
    with context.Pool(WORKERS, ready, **options) as workers:
        done = workers.map(job, range(9), 1)
        workers.close()
        workers.join()
    return done


def die(signal_number: int) -> None:
    """End this worker by a signal, in the middle of a job."""
    os.kill(os.getpid(), signal_number)


def replaced(context) -> list[int]:
    """Map over a pool that has replaced a worker, which was killed."""
    # In the end it ends them by a signal, so they write nothing down.
    with context.Pool(WORKERS) as workers:
        workers.apply_async(die, (signal.SIGKILL,))
        while len(MADE) == WORKERS:
            time.sleep(0.01)
        done = workers.map(job, range(9), 1)
    workers.join()
    # The one that was killed had a job as well.
    return done + [one.pid for one in PROCESSES if one.exitcode == -signal.SIGKILL]


def grown(context) -> list[int]:
    """Map over a pool of two workers, then give it two more."""
    with context.Pool(2, ready) as workers:
        done = workers.map(job, range(4), 1)
        workers._processes = 4  # noqa: SLF001 - there is no public way
        workers._repopulate_pool()  # noqa: SLF001
        done += workers.map(job, range(12), 1)
        workers.close()
        workers.join()
    return done


def processes(context, killed: bool = False) -> list[int]:
    """Feed three processes, each through a queue of its own, and kill one of them in the end."""
    results = context.Queue()
    queues = [context.Queue() for _ in range(WORKERS)]
    every = [context.Process(target=loop, args=(queue, results), daemon=True) for queue in queues]
    for one in every:
        one.start()
    for number in range(9):
        queues[number % WORKERS].put(number)
    done = [results.get() for _ in range(9)]
    if killed:
        os.kill(every[0].pid, signal.SIGKILL)
        every[0].join()
    for queue in queues[killed:]:
        queue.put(None)
    for one in every:
        one.join()
    return done


def train(context) -> list[int]:
    """Train on what two processes load, each two images ahead, and note how long each took."""
    queues = [context.Queue() for _ in range(2)]
    results = [context.Queue() for _ in range(2)]
    ends = zip(queues, results, strict=True)
    every = [context.Process(target=loop, args=(*of_one, load)) for of_one in ends]
    for one in every:
        one.start()
    images = range(12)
    for number in images[:4]:
        queues[number % 2].put(number)
    done = []
    for number in images:
        start = time.perf_counter()
        done.append(results[number % 2].get())
        WAITS.append(time.perf_counter() - start)
        if number + 4 in images:
            queues[number % 2].put(number + 4)
        time.sleep(0.002)
    for queue in queues:
        queue.put(None)
    for one in every:
        one.join()
    return done


def work_between(number: int) -> None:
    """Work as a training does: with memory of its own, with a pause, with a file, without calls."""
    match number % 4:
        case 0:
            bytearray(64 << 20)
        case 1:
            time.sleep(0.003)
        case 2:
            Path("out").write_bytes(bytes(100_000))
        case 3:
            sum(range(500_000))


def mapped(context) -> list[int]:
    """Train on images in shared memory, in their order; note when each was asked for, and there."""
    queues = [context.Queue() for _ in range(3)]
    results = context.Queue()
    every = [context.Process(target=loop, args=(queue, results, share)) for queue in queues]
    for one in every:
        one.start()
    images = range(24)
    for number in images[:6]:
        queues[number % 3].put(number)
    early: dict[int, Image] = {}
    done = []
    image = None
    for number in images:
        start = time.time()
        while number not in early:
            new = results.get()
            early[new.number] = new
        image = early.pop(number)
        new = None
        STEPS.append((start, time.time()))
        done.append(image.maker)
        if number + 6 in images:
            queues[number % 3].put(number + 6)
        work_between(number)
    for queue in queues:
        queue.put(None)
    for one in every:
        one.join()
    return done


def kept(context) -> list[int]:
    """Feed two processes for three epochs, which a mark begins, with six jobs each."""
    queues = [context.Queue() for _ in range(2)]
    results = context.Queue()
    every = [context.Process(target=loop, args=(queue, results, keep)) for queue in queues]
    for one in every:
        one.start()
    done = []
    for epoch in range(3):
        os.access(f"/tracefast/phase/epoch {epoch}", os.F_OK)
        for number in range(12):
            queues[number % 2].put(number)
        done += [results.get() for _ in range(12)]
    for queue in queues:
        queue.put(None)
    for one in every:
        one.join()
    return done


def note_starts() -> None:
    """Note the time just before each process is made, in whichever way."""
    asked = 0.0

    def now(*_) -> None:
        nonlocal asked
        asked = time.time()

    def noted(process, start=BaseProcess.start) -> None:
        start(process)
        MADE.append((process.pid, asked))
        PROCESSES.append(process)

    def spawn(*args, start=util.spawnv_passfds):
        now()
        return start(*args)

    def ask(*args, start=forkserver.connect_to_new_process):
        now()
        return start(*args)

    BaseProcess.start = noted
    os.register_at_fork(before=now)
    util.spawnv_passfds = spawn
    forkserver.connect_to_new_process = ask


def main(program: str, method: str) -> None:  # noqa: C901, PLR0912, PLR0915 - one case a program
    """Run a program."""
    note_starts()
    context = mp.get_context(method)
    if program == "preload":
        context.set_forkserver_preload(["__main__", "decimal", "email.message"])
    if program == "preload_all":
        context.set_forkserver_preload(IMPORTED)
    if method == "forkserver" and program != "eager":
        forkserver.ensure_running()
        # Let it import what it will, so that it answers at once.
        time.sleep(1)
    done: list[int] = []
    match program:
        case "pool" | "preload_all":
            done = pool(context) + pool(context)
        case "preload" | "eager":
            done = pool(context)
        case "resized":
            done = pool(context, maxtasksperchild=1)
        case "grown":
            done = grown(context)
        case "replaced":
            done = replaced(context)
        case "processes":
            done = processes(context)
        case "train":
            done = train(context)
        case "mapped":
            done = mapped(context)
        case "kept":
            done = kept(context)
        case "killed":
            done = processes(context, killed=True)
        case "executor":
            with concurrent.futures.ProcessPoolExecutor(3, context, ready) as executor:
                done = list(executor.map(job, range(9)))
        case "manager":
            with context.Manager() as manager:
                manager.dict()["a"] = 1
                done = pool(context)
        case "nested":
            makers = [context.Process(target=nested) for _ in range(2)]
            for one in makers:
                one.start()
            for one in makers:
                one.join()
        case "alone":
            every = [context.Process(target=busy, args=(number,)) for number in range(3)]
            for one in every:
                one.start()
            for one in every:
                one.join()
        case "commands":
            for _ in range(3):
                os.system("true")
                subprocess.run(["/bin/echo", "one"], stdout=subprocess.PIPE, check=True)
    times = [(int(path.suffix[1:]), float(path.read_text())) for path in Path().glob("ready.*")]
    exits = [(one.pid, one.exitcode) for one in PROCESSES]
    jobs = list(Counter(done).items())
    known = {"made": MADE, "ready": times, "jobs": jobs, "exits": exits}
    known |= {"waits": WAITS, "steps": STEPS}
    print(json.dumps(known))


if __name__ == "__main__":
    main(*sys.argv[1:])
