import io
import os
import threading
import time

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
