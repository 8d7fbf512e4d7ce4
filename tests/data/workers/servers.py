"""Pools of other programs: `python servers.py PROGRAM` prints what is known of one, as JSON.

`python record.py` starts these with the packages joblib and gunicorn, and with nginx. What is
printed: `workers`, their process ids as /proc has them, or as their jobs gave them; `jobs`, by
worker, how many it did. Of gunicorn and nginx this program is the client, which is not traced.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

WORKERS = 2
PORT = 8437
NGINX = f"""
daemon off;
worker_processes {WORKERS};
pid nginx.pid;
error_log stderr;
events {{ worker_connections 16; }}
http {{
    access_log off;
    keepalive_timeout 0;
    client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp;
    uwsgi_temp_path tmp; scgi_temp_path tmp;
    server {{ listen 127.0.0.1:{PORT}; return 200 $pid; }}
}}
"""
COMMANDS = {
    "gunicorn": ["gunicorn", "-w", str(WORKERS), "-b", f"127.0.0.1:{PORT}", "servers:answer"],
    "nginx": ["nginx", "-p", ".", "-c", "nginx.conf"],
}


def answer(_environ, start_response):
    """Answer a request with the id of the process (an application for gunicorn)."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]


def job(_number: int) -> int:
    """Do a job for joblib."""
    time.sleep(0.05)
    return os.getpid()


def joblib_backend(backend: str) -> None:
    """Run jobs by joblib, and print what is known."""
    from joblib import Parallel, delayed

    done = Parallel(n_jobs=WORKERS, backend=backend, batch_size=1, pre_dispatch="all")(
        delayed(job)(number) for number in range(6)
    )
    print(json.dumps({"workers": sorted(set(done)), "jobs": list(Counter(done).items())}))


def children(pid: int) -> list[int]:
    """Give the children of a process."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def ask() -> int | None:
    """Send a request: who answered it."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/", timeout=5) as reply:
            return int(reply.read())
    except OSError:
        return None


def serve(program: str, tracer: list[str]) -> dict[str, list]:
    """Trace a server, be its client, and give what is known."""
    Path("nginx.conf").write_text(NGINX)
    Path("tmp").mkdir(exist_ok=True)
    with subprocess.Popen([*tracer, *COMMANDS[program]]) as run:
        deadline = time.monotonic() + 30
        while not (first := ask()) and time.monotonic() < deadline:
            time.sleep(0.1)
        master = children(run.pid)[0]
        workers = children(master)
        done = [first, *(ask() for _ in range(5))]
        os.kill(master, signal.SIGTERM)
    return {"workers": workers, "jobs": list(Counter(done).items())}


if __name__ == "__main__":
    joblib_backend(sys.argv[1])
