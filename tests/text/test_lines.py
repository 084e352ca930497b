import gzip
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import CorpusError
from dragoman.text import lines
from dragoman.text.lines import LINE_LIMIT, capped_lines, read_lines

# A carriage return at the end and a byte order mark at the start are no text.
rows_of_bytes = st.binary(max_size=20).map(
    lambda row: row.replace(b"\n", b"").rstrip(b"\r").replace(b"\xef", b"")
)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["text", "text.gz"])
@given(rows=st.lists(rows_of_bytes))
def test_lines_are_split_on_line_feeds_only(
    tmp_path_factory: pytest.TempPathFactory, name: str, rows: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("lines") / name
    for end in (b"\n", b"\r\n"):
        write(path, b"".join(row + end for row in rows))
        assert list(capped_lines(path)) == rows


def test_the_last_line_needs_no_line_feed(tmp_path: Path) -> None:
    assert list(capped_lines(write(tmp_path / "a", b"one\ntwo"))) == [b"one", b"two"]
    assert list(capped_lines(write(tmp_path / "b", b"one\ntwo\n"))) == [b"one", b"two"]
    assert list(capped_lines(write(tmp_path / "c", b"\n\n"))) == [b"", b""]
    assert list(capped_lines(write(tmp_path / "d", b""))) == []


def test_other_line_breaks_stay_in_the_line(tmp_path: Path) -> None:
    text = "a\rb\u2028c\u0085d\x0be\x0cf\x1cg"
    path = write(tmp_path / "text", text.encode() + b"\n")
    assert list(capped_lines(path)) == [text.encode()]
    assert list(read_lines(path)) == [text]


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = write(tmp_path / "text", "\ufeffone\n\ufefftwo\n".encode())
    assert list(capped_lines(path)) == [b"one", "\ufefftwo".encode()]
    assert list(read_lines(path)) == ["one", "\ufefftwo"]


def test_the_limit_is_on_the_line_without_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 4)
    monkeypatch.setattr(lines, "_BUFFER", 3)
    content = b"abcd\nabcd\r\nabcde\r\nabcdefghijklm\n\nab\nabcdefghijkl"
    sizes = [len(line) for line in capped_lines(write(tmp_path / "text", content))]
    assert [size if size <= 4 else "long" for size in sizes] == [
        4,
        4,
        "long",
        "long",
        0,
        2,
        "long",
    ]


def test_a_gigantic_line_is_never_held(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(40):
            file.write(b"x" * LINE_LIMIT)
        file.write(b"\nnext\n")
    tracemalloc.start()
    sizes = [len(line) for line in capped_lines(path)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sizes[0] > LINE_LIMIT
    assert sizes[1:] == [4]
    assert peak < 8 * LINE_LIMIT


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "gone.en"
    with pytest.raises(CorpusError) as caught:
        list(capped_lines(path))
    assert str(caught.value) == (
        f"cannot read {path} (No such file or directory): give a readable text file"
    )


def test_a_folder_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"cannot read .* \(Is a directory\)"):
        list(read_lines(tmp_path))


@pytest.mark.parametrize("damage", ["cut", "plain", "altered"])
def test_a_broken_gzip_file_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "text.gz"
    content = bytearray(gzip.compress(bytes(range(256)) * 50))
    if damage == "cut":
        content = content[:-20]
    elif damage == "plain":
        content = bytearray(b"plain text\n")
    else:
        content[40] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(CorpusError) as caught:
        list(capped_lines(path))
    assert str(caught.value) == (
        f"{path} is not a whole gzip file, though its name ends in .gz: "
        "compress or fetch it again"
    )


def test_invalid_text_is_named_by_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path / "text", b"good\nab\xffc\n")
    reading = read_lines(path)
    assert next(reading) == "good"
    with pytest.raises(CorpusError) as caught:
        next(reading)
    assert str(caught.value) == (
        f"{path}, line 2, is not valid UTF-8 (byte 0xff after 2 good ones): "
        "convert the file to UTF-8 or mend that line"
    )


def test_gzipped_lines_read_the_same(tmp_path: Path) -> None:
    text = b"eins\r\nzwei\n\ndrei"
    plain = list(read_lines(write(tmp_path / "text", text)))
    assert plain == list(read_lines(write(tmp_path / "text.gz", text)))
    assert plain == ["eins", "zwei", "", "drei"]
