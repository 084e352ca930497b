import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.config import DataConfig, load_preset
from dragoman.text import cleaning
from dragoman.text.cleaning import Pair, Reason, Reject, clean
from dragoman.text.corpus import Corpus, RawPair, read_pairs
from dragoman.text.normalization import normalize
from dragoman.text.seen import Seen

SETTINGS = load_preset("base").data

dirty = st.lists(
    st.binary(max_size=12)
    | st.text(max_size=12).map(str.encode)
    | st.sampled_from([b"", b" ", b"a", b"a\0", b"\xff", "\u2028".encode(), b"a" * 99]),
    max_size=40,
)


def judge(
    source: bytes | str, target: bytes | str, settings: DataConfig = SETTINGS
) -> Pair | Reject:
    raw = [
        side.encode() if isinstance(side, str) else side for side in (source, target)
    ]
    (result,) = clean([RawPair(1, raw[0], raw[1])], settings)
    return result


def reason(source: bytes | str, target: bytes | str) -> Reason | None:
    result = judge(source, target)
    return result.reason if isinstance(result, Reject) else None


@given(dirty, dirty, st.booleans(), st.sampled_from(["nfc", "nfkc", "none"]))
def test_every_pair_comes_out_once_in_order_and_kept_ones_keep_the_law(
    sources: list[bytes], targets: list[bytes], deduplicate: bool, form: str
) -> None:
    settings = dataclasses.replace(
        SETTINGS, deduplicate=deduplicate, normalization=form, max_characters=50
    )
    pairs = [
        RawPair(n, a, b)
        for n, (a, b) in enumerate(zip(sources, targets, strict=False), 1)
    ]
    result = list(clean(pairs, settings))
    assert [item.line for item in result] == [pair.line for pair in pairs]
    kept = [item for item in result if isinstance(item, Pair)]
    for item in kept:
        raw = pairs[item.line - 1]
        assert item.source == normalize(raw.source.decode(), form)
        assert item.target == normalize(raw.target.decode(), form)
        assert item.source.strip()
        assert item.target.strip()
        assert "\0" not in item.source + item.target
        assert max(len(item.source), len(item.target)) <= 50
    texts = [(item.source, item.target) for item in kept]
    assert not deduplicate or len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("Let's go!", "Gehen wir!", None),
        ("", "wir", Reason.EMPTY),
        ("go", " \t\r ", Reason.EMPTY),
        ("go", "\u00a0\u3000\u2028", Reason.EMPTY),
        (b"\xff", "wir", Reason.INVALID_UTF8),
        ("go", b"\xed\xa0\x80", Reason.INVALID_UTF8),
        ("go", b"caf\xe9", Reason.INVALID_UTF8),
        ("go\0", "wir", Reason.NUL),
        ("go", "\0", Reason.NUL),
        ("a" * 5001, "b" * 5001, Reason.TOO_LONG),
        ("a" * 5000, "b" * 5000, None),
        ("ab", "c" * 18, None),
        ("ab", "c" * 19, Reason.RATIO),
        ("c" * 19, "ab", Reason.RATIO),
        ("a\rb", "c", None),
        ("a\u2028b", "c\u0085d", None),
        ("🙂", "e\u0301", None),
    ],
)
def test_each_reason(
    source: bytes | str, target: bytes | str, expected: Reason | None
) -> None:
    assert reason(source, target) == expected


def test_kept_text_is_normalized_and_lines_stay_whole() -> None:
    assert judge(" a\rb  c ", "e\u0301\u2028x") == Pair(1, "a b c", "é\u2028x")


def test_lengths_count_after_normalization() -> None:
    assert reason("ab" + " " * 6000, "cd") is None
    assert reason("e\u0301" * 5000, "f" * 5000) is None


def test_rejects_show_the_text_as_it_came() -> None:
    rejected = judge(b"a\xff\tb", "wir")
    assert rejected == Reject(1, Reason.INVALID_UTF8, r"a\xff\tb", "wir")


def test_a_duplicate_is_the_same_pair_not_the_same_side() -> None:
    rows = [(b"a", b"b"), (b"a", b"c"), (b" a ", b"b"), (b"d", b"b"), (b"a", b"b")]
    pairs = [RawPair(n, *row) for n, row in enumerate(rows, 1)]
    result = list(clean(pairs, SETTINGS))
    duplicates = [item.line for item in result if isinstance(item, Reject)]
    assert duplicates == [3, 5]
    assert {item.reason for item in result if isinstance(item, Reject)} == {
        Reason.DUPLICATE
    }
    kept = clean(pairs, dataclasses.replace(SETTINGS, deduplicate=False))
    assert all(isinstance(item, Pair) for item in kept)


def test_duplicates_are_found_across_chunks_and_corpora(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cleaning, "_CHUNK", 3)
    pairs = [RawPair(n, b"%d" % (n % 10), b"x") for n in range(1, 31)]
    seen = Seen()
    first = list(clean(pairs, SETTINGS, seen))
    assert sum(isinstance(item, Pair) for item in first) == 10
    assert all(isinstance(item, Pair) for item in first[:10])
    again = list(clean(pairs, SETTINGS, seen))
    assert all(isinstance(item, Reject) for item in again)
    assert len(again) == len(pairs)


def test_what_reading_rejected_passes_through() -> None:
    rejected = Reject(4, Reason.MALFORMED, "x", "")
    assert list(clean([rejected], SETTINGS)) == [rejected]


def test_no_pair_gives_no_pair() -> None:
    assert list(clean([], SETTINGS)) == []


@pytest.mark.parametrize("name", ["dirty.tsv", "dirty.jsonl"])
def test_dirty_files_never_lose_a_line(tmp_path: Path, name: str) -> None:
    lines = [
        b"a\tb",
        b"a\tb",
        b'{"source": "a", "target": "b"}',
        b'{"source": "a\\u0000", "target": "b"}',
        b'{"source": "", "target": "b"}',
        b"\xff\tb",
        b"a\0\tb",
        b"a\t",
        b"a\t\t",
        b"a",
        b"",
        b"a\rb\tc",
        b"y" * (2 << 20),
        "a\u2028\u0085\tb".encode(),
    ]
    path = tmp_path / name
    path.write_bytes(b"\n".join(lines))
    result = list(clean(read_pairs(Corpus(path)), SETTINGS))
    assert [item.line for item in result] == list(range(1, len(lines) + 1))
    kept = sum(isinstance(item, Pair) for item in result)
    rejected = sum(isinstance(item, Reject) for item in result)
    assert kept + rejected == len(lines)
    assert kept == (3 if name == "dirty.tsv" else 1)
