"""Lines of plain or gzipped files, split on line feeds only."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from dragoman.errors import CorpusError

LINE_LIMIT = 1 << 20
_BUFFER = 1 << 18
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, gzipped if its name ends so, and tell in one line what is wrong."""
    try:
        if path.suffix.lower() == ".gz":
            with (
                gzip.open(path, "rb") as packed,
                io.BufferedReader(cast("io.RawIOBase", packed), _BUFFER) as file,
            ):
                yield cast("BinaryIO", file)
        else:
            with path.open("rb", buffering=_BUFFER) as file:
                yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise CorpusError(
            f"{path} is not a whole gzip file, though its name ends in .gz: "
            "compress or fetch it again"
        ) from error
    except OSError as error:
        raise CorpusError(
            f"cannot read {path} ({error.strerror or error}): give a readable text file"
        ) from error


def capped_lines(path: Path) -> Iterator[bytes]:
    r"""Yield each line of a file without its `\n` or `\r\n`.

    A line of more than LINE_LIMIT bytes comes cut, but still longer than LINE_LIMIT,
    so that its length tells; the rest of it is passed over without being held.
    """
    reach = LINE_LIMIT + 2  # room for the line's end
    with opened(path) as file:
        mark: bytes | None = _BYTE_ORDER_MARK
        while line := file.readline(reach):
            if line[-1] == 10:
                line = line[:-1]
            elif len(line) == reach:
                _pass_over_line(file)
            if mark:
                line, mark = line.removeprefix(mark), None
            yield line.removesuffix(b"\r")


def _pass_over_line(file: BinaryIO) -> None:
    while (part := file.readline(_BUFFER)) and not part.endswith(b"\n"):
        pass


def read_lines(path: Path) -> Iterator[str]:
    r"""Yield each line of one UTF-8 file without its `\n` or `\r\n`."""
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            start = _BYTE_ORDER_MARK if number == 1 else b""
            content = line.removeprefix(start).removesuffix(b"\n").removesuffix(b"\r")
            try:
                yield content.decode("utf-8")
            except UnicodeDecodeError as error:
                raise CorpusError(
                    f"{path}, line {number}, is not valid UTF-8 (byte "
                    f"0x{content[error.start]:02x} after {error.start} good ones): "
                    "convert the file to UTF-8 or mend that line"
                ) from error
