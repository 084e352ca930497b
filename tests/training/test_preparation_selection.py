import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from dragoman.config import DataConfig, load_preset
from dragoman.errors import CorpusError
from dragoman.text.corpus import Corpus
from dragoman.text.tokenizer_pair import TokenizerPair
from dragoman.training.preparation_selection import Encoded, Selection


class Letters:
    """One token for each letter."""

    kind = "letters"
    vocabulary_size = 2**21

    def encode(self, text: str) -> list[int]:
        return [4 + ord(letter) for letter in text]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.pieces(ids))

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [chr(token - 4) for token in ids]

    def serialize(self) -> tuple[str, bytes]:
        return ".letters", b""


@pytest.fixture
def tokenizers() -> TokenizerPair:
    letters = Letters()
    return TokenizerPair(letters, letters)


@pytest.fixture
def settings() -> DataConfig:
    return load_preset("tiny").data


def write(folder: Path, name: str, pairs: list[tuple[str, str]]) -> Corpus:
    path = folder / f"{name}.tsv"
    path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), "utf-8")
    return Corpus(path, None)


def silent(_label: str, _done: int, _total: int | None) -> None:
    pass


@pytest.fixture
def corpora(tmp_path: Path) -> list[Corpus]:
    return [
        write(tmp_path, "one", [("aa", "bb"), ("", "b"), ("aaaa", "bb"), ("c", "d")]),
        write(tmp_path, "two", [("aa", "bb"), ("e", "fffff"), ("ee", "ff")]),
    ]


@pytest.fixture
def rejects() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def selection(
    tmp_path: Path, corpora: list[Corpus], rejects: io.StringIO
) -> Iterator[Selection]:
    with Selection(tmp_path, "training", corpora, rejects) as selection:
        yield selection


def run(
    selection: Selection, settings: DataConfig, tokenizers: TokenizerPair, most: int
) -> list[Encoded]:
    selection.read(settings, silent)
    return list(selection.encode(tokenizers, most, silent))


def test_every_pair_is_kept_or_listed_with_its_file_and_line(
    selection: Selection,
    settings: DataConfig,
    tokenizers: TokenizerPair,
    rejects: io.StringIO,
    corpora: list[Corpus],
) -> None:
    parts = run(selection, settings, tokenizers, most=3)
    kept = [
        pair
        for part in parts
        for pair in zip(part.text.lines, part.text.sources, strict=True)
    ]
    assert kept == [(1, "aa"), (4, "c"), (3, "ee")]
    one, two = (str(corpus.source) for corpus in corpora)
    assert [row.split("\t") for row in rejects.getvalue().splitlines()] == [
        [one, "2", "empty side", "", "b"],
        [two, "1", "duplicate", "aa", "bb"],
        [one, "3", "too long", "aaaa", "bb"],
        [two, "2", "too long", "e", "fffff"],
    ]
    assert selection.read_count == selection.kept_count + selection.rejected.total()
    assert selection.kept_count == 3


def test_longest_kept_pair_is_found(
    selection: Selection,
    settings: DataConfig,
    tokenizers: TokenizerPair,
    corpora: list[Corpus],
) -> None:
    run(selection, settings, tokenizers, most=4)
    longest = selection.longest
    assert (longest.file, longest.line) == (str(corpora[0].source), 3)
    assert (longest.source_tokens, longest.target_tokens) == (4, 2)


def test_pair_without_a_token_is_an_empty_one(
    tmp_path: Path,
    settings: DataConfig,
    tokenizers: TokenizerPair,
    rejects: io.StringIO,
) -> None:
    class Nothing(Letters):
        def encode(self, text: str) -> list[int]:
            return [] if text == "?" else super().encode(text)

    corpus = write(tmp_path, "any", [("?", "a"), ("a", "b")])
    pair = TokenizerPair(Nothing(), tokenizers.target)
    with Selection(tmp_path, "training", [corpus], rejects) as selection:
        run(selection, settings, pair, most=9)
    assert dict(selection.rejected) == {"empty side": 1}


def test_nothing_left_after_cleaning(
    tmp_path: Path, settings: DataConfig, rejects: io.StringIO
) -> None:
    corpus = write(tmp_path, "bad", [("", "x"), ("", "y"), ("x\0", "y")])
    with (
        Selection(tmp_path, "training", [corpus], rejects) as selection,
        pytest.raises(CorpusError, match="no training pair is left, all 3") as error,
    ):
        selection.read(settings, silent)
    assert "(2 empty side, 1 contains NUL)" in str(error.value)
    assert "\n" not in str(error.value)


def test_nothing_left_after_encoding(
    selection: Selection, settings: DataConfig, tokenizers: TokenizerPair
) -> None:
    with pytest.raises(CorpusError, match=r"all 7 were dropped .*5 too long"):
        run(selection, settings, tokenizers, most=0)


def test_progress_rises_to_its_end(
    selection: Selection, settings: DataConfig, tokenizers: TokenizerPair
) -> None:
    calls: list[tuple[str, int, int | None]] = []
    selection.read(settings, lambda *call: calls.append(call))
    list(selection.encode(tokenizers, 9, lambda *call: calls.append(call)))
    assert calls == [
        ("reading training pairs", 7, 7),
        ("encoding training pairs", 5, 5),
    ]


def test_temporary_files_are_gone_in_the_end(
    tmp_path: Path, corpora: list[Corpus], settings: DataConfig, rejects: io.StringIO
) -> None:
    before = sorted(tmp_path.iterdir())
    with Selection(tmp_path, "training", corpora, rejects) as selection:
        selection.read(settings, silent)
        assert sorted(tmp_path.iterdir()) != before
    assert sorted(tmp_path.iterdir()) == before
