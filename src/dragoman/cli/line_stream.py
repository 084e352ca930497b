"""Lines as they arrive: whatever is there at once is worked on together."""

import queue
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO

MOST_AT_ONCE = 2000


def arriving_lines(file: BinaryIO, most: int = MOST_AT_ONCE) -> Iterator[list[str]]:
    """Yield the lines that have come in so far, at least one and at most `most`.

    So a person who types gets an answer to each line, and a long file is translated
    in large, well-filled batches.
    """
    arrived: queue.Queue[bytes | None] = queue.Queue(2 * most)
    threading.Thread(target=_read, args=(file, arrived), daemon=True).start()
    number = 0
    line = arrived.get()
    while line is not None:
        lines = []
        while line is not None:
            number += 1
            lines.append(_decode(line, number))
            if len(lines) == most or arrived.empty():
                break
            line = arrived.get()
        yield lines
        if line is not None:
            line = arrived.get()


def _read(file: BinaryIO, arrived: "queue.Queue[bytes | None]") -> None:
    for line in file:  # binary files split on \n alone
        arrived.put(line)
    arrived.put(None)


def _decode(line: bytes, number: int) -> str:
    text = line.removesuffix(b"\n").removesuffix(b"\r")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        print(
            f"dragoman: line {number} is not UTF-8: its bad bytes are read as U+FFFD",
            file=sys.stderr,
        )
        return text.decode("utf-8", "replace")
