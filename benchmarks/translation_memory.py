"""Whether translating a long file stays flat in memory and streams as it goes.

    python benchmarks/translation_memory.py MODEL --source test.en --lines 1000000

Feeds `dragoman translate MODEL` with the first words of a file's lines, over and over,
and reads the output at the other end. Prints a Markdown table:
the memory of the process at each tenth of the way, and how far the output was behind.
"""

import argparse
import itertools
import subprocess
import sys
import threading
import time
from pathlib import Path

MOST_WORDS = 4  # short lines: memory is what is measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--engine", default="auto")
    options = parser.parse_args()
    command = [sys.executable, "-m", "dragoman", "translate", str(options.model)]
    command += ["--engine", options.engine, "--beam", "1"]
    start = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        fed = [0]
        threading.Thread(target=feed, args=(process, options, fed)).start()
        assert process.stdout is not None
        print("| lines out | seconds | memory (MB) | lines behind the input |")
        print("|--:|--:|--:|--:|", flush=True)
        every = max(1, options.lines // 10)
        count = 0
        for count, _ in enumerate(process.stdout, 1):
            if count == 1 or count % every == 0:
                seconds = time.perf_counter() - start
                memory = resident(process.pid)
                row = f"| {count:,} | {seconds:,.1f} | {memory:,.0f} "
                print(f"{row}| {fed[0] - count:,} |", flush=True)
    if process.returncode or count != options.lines:
        sys.exit(f"{count:,} lines came out of {options.lines:,}")


def feed(
    process: "subprocess.Popen[str]", options: argparse.Namespace, fed: list[int]
) -> None:
    """Write the lines; count those that have gone in."""
    assert process.stdin is not None
    known = options.source.read_text("utf-8").splitlines()
    for number, line in enumerate(itertools.cycle(known)):
        if number == options.lines:
            break
        words = " ".join(line.split()[:MOST_WORDS])
        process.stdin.write(f"{words}\n")
        fed[0] = number + 1
    process.stdin.close()


def resident(pid: int) -> float:
    """Give the memory of a process in megabytes; none is left when it has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text("ascii")
    except OSError:
        return 0.0
    sizes = [line for line in text.splitlines() if line.startswith("VmRSS")]
    return int(sizes[0].split()[1]) / 1024 if sizes else 0.0


if __name__ == "__main__":
    main()
