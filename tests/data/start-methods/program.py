"""Start workers of multiprocessing that import modules: `python program.py METHOD`.

A pool of two workers does some work; a manager serves a list. spawn and forkserver start a
resource tracker as well.
"""

import multiprocessing
import sys

METHOD = sys.argv[1]


def work(number: int) -> int:
    # More than twenty modules of the library, which the parent has not loaded.
    import asyncio
    import xml.dom.minidom

    assert asyncio
    assert xml
    return number * number


def main() -> None:
    context = multiprocessing.get_context(METHOD.removesuffix("-preload"))
    if METHOD == "forkserver-preload":
        context.set_forkserver_preload(["asyncio", "xml.dom.minidom"])
    with context.Manager() as manager, context.Pool(2) as pool:
        shared = manager.list()
        shared.extend(pool.map(work, range(8), chunksize=4))
        assert sum(shared) == 140
        pool.close()
        pool.join()


if __name__ == "__main__":
    main()
