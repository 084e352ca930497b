"""Runs `dragoman` in forked children, which die or hear signals as they are asked to.

A process that has loaded torch once forks a child for each line of JSON on its standard
input, and answers each with a line: how the child ended, and how long that took.
"""

import ctypes
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

import sacrebleu  # noqa: F401 (loaded once, for all children)
import torch

from dragoman.cli.main import main
from dragoman.training.checkpoints import Checkpoint, Checkpoints
from dragoman.training.train import train  # noqa: F401 (likewise)


def watch_save(number: int, operation: int, halfway: bool, counts: str | None) -> None:
    """Die at an operation of one of the run's saves; or count them into a file."""
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    library.dying_counted.restype = ctypes.c_long
    library.dying_at(ctypes.c_long(operation), int(halfway))
    save, saves = Checkpoints.save, iter(range(1, 1_000_000))

    def watched(self: Checkpoints, checkpoint: Checkpoint) -> Path:
        now = next(saves) == number
        library.dying_watch(int(now))
        try:
            return save(self, checkpoint)
        finally:
            library.dying_watch(0)
            if counts and now:
                Path(counts).write_text(str(library.dying_counted()))

    Checkpoints.save = watched  # type: ignore[method-assign]


def child(asked: dict[str, Any]) -> int:
    """Be `dragoman` with these arguments; what it says goes to a file."""
    log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "memory" in asked:
        resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], asked["memory"]))
    if "save" in asked:
        watch_save(
            asked["save"],
            asked.get("die_at", -1),
            asked.get("halfway", False),
            asked.get("counts"),
        )
    return main(asked["arguments"])


def wait_for_lines(path: Path, lines: int, pid: int) -> bool:
    """Wait until a file has so many lines; say whether the child still lives then."""
    while not path.exists() or path.read_bytes().count(b"\n") < lines:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return False
        time.sleep(0.001)
    return True


def interfere(asked: dict[str, Any], pid: int) -> float | None:
    """Send the child its signals, each when it is due; give when the first was sent."""
    diary, lines = asked.get("after", ["", 0])
    if diary and not wait_for_lines(Path(diary), lines, pid):
        return None
    sent = None
    for delay, number in asked.get("signals", []):
        time.sleep(delay)
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return sent
        os.kill(pid, number)
        sent = sent or time.monotonic()
    return sent


def serve() -> None:
    torch.set_num_threads(1)
    for line in sys.stdin:
        asked = json.loads(line)
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                code = child(asked)
            finally:
                os._exit(code)
        sent = interfere(asked, pid)
        _, status = os.waitpid(pid, 0)
        ended = time.monotonic()
        told = {
            "code": os.waitstatus_to_exitcode(status),
            "seconds": ended - began,
            "seconds_after_signal": None if sent is None else ended - sent,
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
