"""A lock of Python's that is held during a fork: python_locks.py fork|forkserver."""

import multiprocessing
import os
import sys
import threading
import time

LOCK = threading.Lock()


def hold():
    with LOCK:
        time.sleep(60)


def use():
    with LOCK:
        pass


def fork_while_held():
    threading.Thread(target=hold, daemon=True).start()
    time.sleep(0.05)
    pid = os.fork()
    if pid == 0:
        use()
        os._exit(0)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    if sys.argv[1] == "fork":
        fork_while_held()
    else:
        worker = multiprocessing.get_context("forkserver").Process(target=fork_while_held)
        worker.start()
        worker.join()
