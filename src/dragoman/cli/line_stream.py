"""Lines as they arrive: whatever is there at once is worked on together."""

import codecs
import os
import queue
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO

MOST_AT_ONCE = 2000

Arrived = queue.Queue[bytes | OSError | None]  # None comes after the last line


def arriving_lines(file: BinaryIO, most: int = MOST_AT_ONCE) -> Iterator[list[str]]:
    """Yield the lines that have come in so far, at least one and at most `most`.

    So a person who types gets an answer to each line, and a long file is translated
    in large, well-filled batches.
    """
    arrived: Arrived = queue.Queue(2 * most)
    threading.Thread(target=_read, args=(file, arrived), daemon=True).start()
    number = 0
    line = arrived.get()
    while isinstance(line, bytes):
        lines = []
        while isinstance(line, bytes):
            number += 1
            lines.append(_decode(line, number))
            if len(lines) == most or arrived.empty():
                break
            line = arrived.get()
        yield lines
        if isinstance(line, bytes):
            line = arrived.get()
    if line is not None:
        raise line


def invite(what: str) -> None:
    """Tell a person at a terminal, who gave no text, that some is waited for."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        end = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
        print(f"dragoman: type {what}; {end} ends", file=sys.stderr, flush=True)


def _read(file: BinaryIO, arrived: Arrived) -> None:
    try:
        for line in file:  # binary files split on \n alone
            arrived.put(line)
        arrived.put(None)
    except OSError as error:  # a terminal that went away, a network that failed
        arrived.put(error)


def _decode(line: bytes, number: int) -> str:
    start = codecs.BOM_UTF8 if number == 1 else b""
    text = line.removeprefix(start).removesuffix(b"\n").removesuffix(b"\r")
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        print(
            f"dragoman: line {number} is not UTF-8: its bad bytes are read as U+FFFD",
            file=sys.stderr,
        )
        return text.decode("utf-8", "replace")
