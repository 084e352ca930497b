from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dragoman.config import TokenizerConfig
from dragoman.errors import TokenizerError
from dragoman.text.tokenizer import (
    Tokenizer,
    choose_vocabulary_size,
    learn_tokenizer,
    load_tokenizer,
)

Learn = Callable[[str], Tokenizer]

KINDS = ("bpe", "unigram", "characters", "words", "wordpiece")
every_kind = pytest.mark.parametrize("kind", KINDS)


def settings(kind: str) -> TokenizerConfig:
    return TokenizerConfig(kind, 0, shared_vocabulary=True, sampling=0.0)


@every_kind
def test_a_saved_tokenizer_loads_as_it_was(
    learn: Learn, tmp_path: Path, kind: str, sentences: Sequence[str]
) -> None:
    tokenizer = learn(kind)
    suffix, content = tokenizer.serialize()
    path = tmp_path / f"tokenizer{suffix}"
    path.write_bytes(content)
    loaded = load_tokenizer(path)
    assert loaded.kind == tokenizer.kind == kind
    assert loaded.vocabulary_size == tokenizer.vocabulary_size
    assert loaded.serialize() == (suffix, content)
    texts = [*sentences, "unseen ▁ 世界 🙂"]
    assert loaded.encode_many(texts) == tokenizer.encode_many(texts)


@every_kind
def test_learning_is_repeatable_and_quiet(
    kind: str, sentences: Sequence[str], capfd: pytest.CaptureFixture[str]
) -> None:
    learned = [
        learn_tokenizer(settings(kind), iter(sentences), 700, seed=3) for _ in range(2)
    ]
    assert learned[0].serialize() == learned[1].serialize()
    assert capfd.readouterr() == ("", "")


@every_kind
def test_the_size_is_never_more_than_asked_for(
    kind: str, sentences: Sequence[str]
) -> None:
    for size in (560, 600, 5000):
        tokenizer = learn_tokenizer(settings(kind), sentences, size, seed=1)
        assert tokenizer.vocabulary_size <= size


@every_kind
@pytest.mark.parametrize(
    "corpus",
    [
        ["a"],
        ["Let's go!"] * 20,
        ["\t", "", "x\0y\tz\r", "</s> <s> <pad> <0x41>", "▁▁ ▅"],
        ["word " * 3000],
        ["語" * 30_000],
    ],
)
def test_odd_and_tiny_corpora_can_be_learned(kind: str, corpus: list[str]) -> None:
    size = choose_vocabulary_size(len(corpus), kind)
    tokenizer = learn_tokenizer(settings(kind), corpus, size, seed=1)
    for text in [*corpus, "Let's go!"]:
        assert tokenizer.decode(tokenizer.encode(text)) == text


@every_kind
def test_a_large_alphabet_leaves_room_for_longer_pieces(kind: str) -> None:
    rare = [chr(0x4E00 + n) for n in range(600)]
    corpus = [f"{character} the theatre" for character in rare]
    tokenizer = learn_tokenizer(settings(kind), corpus, 600, seed=1)
    assert tokenizer.vocabulary_size <= 600
    for text in corpus[::50]:
        assert tokenizer.decode(tokenizer.encode(text)) == text


@every_kind
def test_nothing_to_learn_from_is_an_error(kind: str) -> None:
    for corpus in ([], ["", " \t "]):
        with pytest.raises(TokenizerError) as caught:
            learn_tokenizer(settings(kind), corpus, 1000, seed=1)
        assert str(caught.value) == (
            "there is no sentence to learn a tokenizer from: give a corpus with text"
        )


@every_kind
def test_too_small_a_vocabulary_is_an_error(
    kind: str, sentences: Sequence[str]
) -> None:
    with pytest.raises(
        TokenizerError,
        match=r"^a vocabulary of 100 is too small.*so give at least \d+$",
    ):
        learn_tokenizer(settings(kind), sentences, 100, seed=1)


def test_a_tokenizer_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "tokenizer.model"
    with pytest.raises(TokenizerError) as caught:
        load_tokenizer(missing)
    assert str(caught.value) == (
        f"cannot read the tokenizer {missing} (No such file or directory): "
        "copy the model folder again"
    )
    other = tmp_path / "tokenizer.txt"
    other.write_text("hello")
    with pytest.raises(TokenizerError) as caught:
        load_tokenizer(other)
    assert str(caught.value) == (
        f"{other} is not a tokenizer file: its name must end in .model or .json"
    )


@every_kind
@pytest.mark.parametrize("damage", ["empty", "text", "half", "end", "foreign"])
def test_a_damaged_file_is_told_in_one_line(
    learn: Learn, tmp_path: Path, kind: str, damage: str
) -> None:
    suffix, content = learn(kind).serialize()
    path = tmp_path / f"tokenizer{suffix}"
    damaged = {
        "empty": b"",
        "text": b"hello\n",
        "half": content[: len(content) // 2],
        "end": content[:-40],
        "foreign": b'{"model": {"vocab": {"a": 0}}}',
    }
    path.write_bytes(damaged[damage])
    with pytest.raises(
        TokenizerError, match=r"is not a whole .* copy the model folder again$"
    ) as caught:
        load_tokenizer(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_chosen_size_grows_with_the_corpus() -> None:
    for kind in KINDS:
        sizes = [choose_vocabulary_size(10**n, kind) for n in range(9)]
        assert sizes == sorted(sizes)
        assert all(size % 8 == 0 for size in sizes)
    at = {n: choose_vocabulary_size(n, "bpe") for n in (0, 5000, 30_000, 150_000)}
    assert at == {0: 1000, 5000: 4000, 30_000: 8000, 150_000: 8000}
    assert choose_vocabulary_size(500_000, "bpe") == 16_000
    assert choose_vocabulary_size(2_000_000, "bpe") == 32_000
    assert choose_vocabulary_size(50_000_000, "bpe") == 32_000
    assert choose_vocabulary_size(30_000, "words") > 8000
