"""Record the logs in this folder: `python record.py [NAME…]`, with strace, gcc and zstd.

Programs that hang are killed after a second and a half. `attached` is one to which strace attached
when it hung, those of `SIGNALLED` are ended by a SIGINT.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEALTHY = {
    *("talking_pipes", "drained_pipe", "posted", "flock_in_turn", "contended_lock"),
    *("tcp_half_closed", "unix_talk", "file_into_pipe", "requeued", "bits", "wake_both"),
    *("inherited_priority", "raised", "semaphore_limit", "messages", "messages_with_key"),
    *("posix_queue", "lease", "asked_to_end", "watched_twice"),
    *("accepted_late", "accepted_by_child", "unix_drained", "fifos_talk"),
}
HANGING = {
    *("crossed_pipes", "own_pipe", "full_pipe", "socket_pair", "event", "lost_child", "semaphore"),
    *("flock_cycle", "held_lock", "record_locks", "vfork_child", "lock_at_fork", "two_locks"),
    *("two_locks_of_three", "poll_again", "server", "own_handler", "first_thread_ended"),
    *("joined_crosswise", "busy_thread", "busy_child", "reopened", "child_ends", "told_by_signal"),
    *("shared_table", "started_writer", "sent_writer", "copied_writer"),
    *("tcp_cycle", "tcp_unnamed", "tcp_limit", "unix_cycle", "unix_full"),
    *("requeued_for_ever", "semaphores", "posix_queue_limit", "packets", "watched_pipe"),
    *("watched_limit", "watched_with_thread", "unix_not_accepted", "tcp_not_accepted"),
    *("fifos", "fifo_alone", "fifo_kept_open"),
}
# Recorded with -yy.
NAMED = {
    "names": "lock_at_fork",
    "tcp_names": "tcp_cycle",
    "unix_names": "unix_cycle",
    "unix_own": "unix_own",
    "unix_talk_names": "unix_talk",
}
# Ended by a SIGINT, as by somebody at the terminal.
SIGNALLED = {
    "signalled": "full_pipe",
    "watched_signalled": "watched_pipe",
    "watched_own": "watched_own",
    "watched_limit_signalled": "watched_limit",
    "watched_thread_signalled": "watched_with_thread",
}
# All, if none is named.
WANTED = set(sys.argv[1:])
STRACE = ["strace", "-f", "-ttt", "-T"]


def record(name, command, folder, *, ends, options=(), number=signal.SIGKILL):
    if WANTED and name not in WANTED:
        return
    log = folder / name
    # The programs of a log are a session of their own, which ends together.
    command = [*STRACE, *options, "-o", log, *command]
    run = subprocess.Popen(command, cwd=folder, start_new_session=True)
    if not ends:
        time.sleep(1.5)
        # Only the programs, so that strace writes how they ended.
        session = subprocess.run(
            ["pgrep", "-s", str(run.pid)], capture_output=True, text=True, check=False
        )
        # They have a group of their own, so that all end at one moment.
        for group in {os.getpgid(pid) for pid in map(int, session.stdout.split())} - {run.pid}:
            os.killpg(group, number)
    run.wait(20)
    target = HERE / f"{name}.strace"
    # A set of semaphores outlives its programs.
    for number_of_set in re.findall(rb"semget\(.*\) = (\d+)", log.read_bytes()):
        subprocess.run(["ipcrm", "-s", number_of_set], stderr=subprocess.DEVNULL, check=False)
    text = log.read_bytes().replace(os.fsencode(folder), b"/srv/stalls")
    if len(text) < 20_000:
        target.write_bytes(text)
    else:
        subprocess.run(["zstd", "-q", "-f", "-19", "-o", f"{target}.zst"], input=text, check=True)


def attach(name, command, folder):
    """Attach to a program that hangs already, for as long as somebody looks."""
    if WANTED and name not in WANTED:
        return
    program = subprocess.Popen(command, cwd=folder, process_group=0)
    time.sleep(0.5)
    log = folder / name
    tracer = subprocess.Popen([*STRACE, "-o", log, "-p", str(program.pid)])
    time.sleep(1)
    tracer.send_signal(signal.SIGINT)
    tracer.wait(10)
    os.killpg(program.pid, signal.SIGKILL)
    program.wait(10)
    (HERE / f"{name}.strace").write_bytes(log.read_bytes())


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        hangs, openmp = folder / "hangs", folder / "openmp"
        compiler = ["gcc", "-O1", "-w", "-static", "-pthread"]
        subprocess.run([*compiler, HERE / "hangs.c", "-o", hangs], check=True)
        subprocess.run(["gcc", "-O1", "-fopenmp", HERE / "openmp.c", "-o", openmp], check=True)
        for name in sorted(HEALTHY | HANGING):
            record(name, [hangs, name], folder, ends=name in HEALTHY)
        record("openmp_fork", [openmp], folder, ends=False)
        for name, program in NAMED.items():
            record(name, [hangs, program], folder, ends=program in HEALTHY, options=["-yy"])
        for name in ("own_handler", "sent_writer", "copied_writer", "flock_cycle"):
            record(f"{name}_raw", [hangs, name], folder, ends=False, options=["-X", "raw"])
        for name, program in SIGNALLED.items():
            record(name, [hangs, program], folder, ends=False, number=signal.SIGINT)
        attach("attached", [hangs, "two_locks"], folder)
        python = Path(sys.executable).resolve()
        for way in ("fork", "forkserver"):
            command = [python, "-I", "-S", "-X", "frozen_modules=on", HERE / "python_locks.py", way]
            record(f"python_{way}", command, folder, ends=False)


if __name__ == "__main__":
    main()
