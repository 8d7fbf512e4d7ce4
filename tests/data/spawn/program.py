"""The program that `record.py` traces: a little of everything that the tables show.

It writes a file, reads it in sequence, backwards and past its end, asks for files that are not
there, and creates tasks in every way that Python and the shell know.
"""

import os
import subprocess
import threading
from pathlib import Path

data = Path("data.bin")
data.write_bytes(bytes(range(256)) * 256)

with data.open("rb", buffering=0) as file:
    while file.read(10_000):
        pass
    for offset in (60_000, 30_000, 0):
        file.seek(offset)
        file.read(4_096)

for name in ("missing.bin", "also-missing.bin", "missing.bin"):
    try:
        Path(name).open("rb").close()
    except FileNotFoundError:
        pass

thread = threading.Thread(target=data.stat)
thread.start()
thread.join()

# By vfork, with two entries of PATH that do not hold the program; the last one fails.
environment = {"PATH": "/nowhere/bin:/nowhere/sbin:/usr/bin:/bin"}
subprocess.run(["true"], env=environment, check=True)
subprocess.run(["sh", "-c", "exit 3"], env=environment, check=False)
try:
    subprocess.run(["/nowhere/program"], check=False)
except FileNotFoundError:
    pass

# By posix_spawn.
os.waitpid(os.posix_spawn("/bin/true", ["true"], environment), 0)

# By fork; the second child is killed.
for signal in (0, 9):
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal)
        os._exit(7)
    os.waitpid(child, 0)
