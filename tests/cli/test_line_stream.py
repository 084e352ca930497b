import io
import os
import threading
import time
from typing import Self

import pytest

from dragoman.cli.line_stream import arriving_lines


def test_all_lines_come_once_and_in_order() -> None:
    text = "".join(f"line {n}\n" for n in range(5000)) + "last"
    chunks = list(arriving_lines(io.BytesIO(text.encode()), most=64))
    assert [line for chunk in chunks for line in chunk] == text.split("\n")
    assert max(map(len, chunks)) <= 64


def test_only_newlines_part_lines() -> None:
    (chunk,) = arriving_lines(io.BytesIO("a\u2028b\x85c\x0bd\r\n\n".encode()))
    assert chunk == ["a\u2028b\x85c\x0bd", ""]


def test_what_has_come_is_not_kept_waiting() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as incoming, os.fdopen(writer, "wb") as outgoing:
        chunks = arriving_lines(incoming)
        outgoing.write(b"first\n")
        outgoing.flush()
        assert next(chunks) == ["first"]

        def later() -> None:
            time.sleep(0.05)
            outgoing.write(b"second\n")
            outgoing.flush()

        threading.Thread(target=later).start()
        assert next(chunks) == ["second"]


def test_a_byte_order_mark_is_no_text() -> None:
    (chunk,) = arriving_lines(io.BytesIO("\ufeffa\n\ufeffb\n".encode()))
    assert chunk == ["a", "\ufeffb"]


class Broken(io.BytesIO):
    """A file that fails after its first line, as a closed terminal does."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        if line := self.readline():
            return line
        raise OSError(5, "Input/output error")


def test_a_file_that_fails_ends_the_stream_with_its_error() -> None:
    chunks = arriving_lines(Broken(b"first\n"))
    assert next(chunks) == ["first"]
    with pytest.raises(OSError, match="Input/output error"):
        next(chunks)
