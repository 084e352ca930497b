import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import CorpusError
from dragoman.text.corpus import Corpus, RawPair, read_pairs
from dragoman.text.lines import LINE_LIMIT
from dragoman.text.pairs import Reason, Reject

rows = st.lists(
    st.tuples(*[st.text(st.characters(exclude_categories=["Cs", "Cc"]))] * 2).filter(
        lambda pair: (
            any(side.strip() for side in pair)
            and not pair[0].startswith("\ufeff")
            and not pair[1].startswith("\ufeff")
        )
    ),
    min_size=1,
)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def reasons(corpus: Corpus) -> list[Reason | None]:
    """Give for each line why it was rejected, None where it was read."""
    read = list(read_pairs(corpus))
    assert [item.line for item in read] == list(range(1, len(read) + 1))
    return [item.reason if isinstance(item, Reject) else None for item in read]


@given(rows)
def test_every_format_gives_the_same_pairs(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    source = "".join(f"{a}\n" for a, _ in pairs).encode()
    target = "".join(f"{b}\n" for _, b in pairs).encode()
    tsv = "".join(f"{a}\t{b}\n" for a, b in pairs).encode()
    objects = [{"source": a, "target": b, "id": 1} for a, b in pairs]
    jsonl = "".join(f"{json.dumps(each)}\n" for each in objects).encode()
    expected = [RawPair(n, a.encode(), b.encode()) for n, (a, b) in enumerate(pairs, 1)]
    for packed in ("", ".gz"):
        for corpus in (
            Corpus(
                write(folder / f"text.en{packed}", source),
                write(folder / f"text.de{packed}", target),
            ),
            Corpus(write(folder / f"text.tsv{packed}", tsv)),
            Corpus(write(folder / f"text.jsonl{packed}", jsonl)),
        ):
            assert list(read_pairs(corpus)) == expected


def test_endings_may_be_in_capitals(tmp_path: Path) -> None:
    packed = tmp_path / "TEXT.TSV.GZ"
    packed.write_bytes(gzip.compress(b"a\tb\n"))
    assert list(read_pairs(Corpus(packed))) == [RawPair(1, b"a", b"b")]


def test_bytes_come_undecoded(tmp_path: Path) -> None:
    corpus = Corpus(
        write(tmp_path / "a", b"\xff\n\r\nx\ry\n"), write(tmp_path / "b", b"\0\r\n\n\n")
    )
    assert list(read_pairs(corpus)) == [
        RawPair(1, b"\xff", b"\0"),
        RawPair(2, b"", b""),
        RawPair(3, b"x\ry", b""),
    ]


@pytest.mark.parametrize(
    ("source", "target", "counts"),
    [
        (b"1\n2\n3\n", b"1\n", (3, 1)),
        (b"1\n", b"1\n2\n\n\n5", (1, 5)),
        (b"", b"1\n2\n", (0, 2)),
        (b"1", b"", (1, 0)),
    ],
)
def test_unequal_counts_name_both_files_and_both_counts(
    tmp_path: Path, source: bytes, target: bytes, counts: tuple[int, int]
) -> None:
    corpus = Corpus(write(tmp_path / "a.en", source), write(tmp_path / "a.de", target))
    with pytest.raises(CorpusError) as caught:
        list(read_pairs(corpus))
    assert str(caught.value) == (
        f"{corpus.source} has {counts[0]} lines but {corpus.target} has {counts[1]}: "
        "each line needs its translation on the same line of the other file"
    )


def test_an_empty_corpus_is_named(tmp_path: Path) -> None:
    empty, other = write(tmp_path / "a.tsv", b""), write(tmp_path / "b.gz", b"")
    with pytest.raises(CorpusError) as caught:
        list(read_pairs(Corpus(empty)))
    assert str(caught.value) == (
        f"there is no line in {empty}: give a corpus with sentences"
    )
    with pytest.raises(CorpusError, match=r"no line in .*a\.tsv or .*b\.gz: give"):
        list(read_pairs(Corpus(empty, other)))


def test_one_plain_file_alone_is_not_a_corpus(tmp_path: Path) -> None:
    for name in ("text.en", "text.en.gz", "text"):
        path = write(tmp_path / name, b"one\n")
        with pytest.raises(CorpusError) as caught:
            list(read_pairs(Corpus(path)))
        assert str(caught.value) == (
            f"{path} was given without a target file: give one, or give a .tsv or "
            ".jsonl file (also .gz), which holds both sides"
        )


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    present = write(tmp_path / "a.en", b"one\n")
    with pytest.raises(CorpusError, match=r"cannot read .*gone\.de"):
        list(read_pairs(Corpus(present, tmp_path / "gone.de")))


def test_tsv_lines_have_exactly_one_tab(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", b"a\tb\nno tab\na\tb\tc\n\n\t\na\t\n\tb\na\tb")
    assert reasons(Corpus(path)) == [
        None,
        Reason.MALFORMED,
        Reason.MALFORMED,
        Reason.EMPTY,
        Reason.EMPTY,
        None,  # one side is empty: for cleaning to find
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"source": "a", "target": "b"}', None),
        (b' {"target": "b", "more": [1], "source": "a"}\r', None),
        (b'{"source": "a", "target": "b"', Reason.MALFORMED),
        (b'{"source": "a"}', Reason.MALFORMED),
        (b'{"source": "a", "target": 3}', Reason.MALFORMED),
        (b'{"source": "a", "target": null}', Reason.MALFORMED),
        (b'["a", "b"]', Reason.MALFORMED),
        (b'"a"', Reason.MALFORMED),
        (b"a\tb", Reason.MALFORMED),
        (b"[" * 200_000, Reason.MALFORMED),
        (b'{"source": "a", "target": "b", "n": ' + b"1" * 5000, Reason.MALFORMED),
        (b'{"source": "\xff", "target": "b"}', Reason.INVALID_UTF8),
        (b"", Reason.EMPTY),
        (b"  ", Reason.EMPTY),
    ],
)
def test_a_broken_jsonl_line_is_set_aside(
    tmp_path: Path, line: bytes, reason: Reason | None
) -> None:
    good = b'{"source": "x", "target": "y"}'
    path = write(tmp_path / "a.jsonl", b"\n".join([good, line, good]))
    assert reasons(Corpus(path)) == [None, reason, None]


def test_what_json_can_spell_stays_one_line(tmp_path: Path) -> None:
    line = rb'{"source": "a\nb\u2028c\u0000", "target": "\ud800"}'
    path = write(tmp_path / "a.jsonl", line)
    (pair,) = read_pairs(Corpus(path))
    assert pair == RawPair(1, "a b\u2028c\0".encode(), b"\xed\xa0\x80")


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl", "a.en"])
def test_a_gigantic_line_is_set_aside_and_the_next_is_read(
    tmp_path: Path, name: str
) -> None:
    good = {"a.tsv": b"a\tb", "a.jsonl": b'{"source": "a", "target": "b"}'}
    line = good.get(name, b"a")
    path = write(tmp_path / name, b"x" * (3 * LINE_LIMIT) + b"\n" + line + b"\n")
    if name == "a.en":
        corpus = Corpus(path, write(tmp_path / "a.de", b"b\nb\n"))
        swapped = Corpus(tmp_path / "a.de", path)
        assert reasons(swapped) == [Reason.TOO_LONG, None]
    else:
        corpus = Corpus(path)
    assert reasons(corpus) == [Reason.TOO_LONG, None]
    first = next(iter(read_pairs(corpus)))
    assert isinstance(first.source, str)
    assert len(first.source) < 1000
