from collections.abc import Sequence

import pytest

from dragoman.errors import TokenizerError
from dragoman.text import sentencepiece_learning
from dragoman.text.sentencepiece_learning import (
    SMALLEST_VOCABULARY,
    learn_sentencepiece,
)

KINDS = ("bpe", "unigram", "characters", "words")


@pytest.mark.parametrize("kind", KINDS)
def test_the_smallest_vocabulary_is_enough_for_any_alphabet(kind: str) -> None:
    corpus = ["".join(chr(0x4E00 + 7 * n + k) for k in range(7)) for n in range(99)]
    tokenizer = learn_sentencepiece(kind, corpus, SMALLEST_VOCABULARY, seed=1)
    assert tokenizer.vocabulary_size <= SMALLEST_VOCABULARY
    assert tokenizer.decode(tokenizer.encode(corpus[0])) == corpus[0]


def test_common_characters_stay_when_there_is_no_room_for_all() -> None:
    corpus = [f"the {chr(0x4E00 + n)}" for n in range(500)]
    tokenizer = learn_sentencepiece("bpe", corpus, 300, seed=1)
    assert tokenizer.pieces(tokenizer.encode("the")) == ["▁the"]


def test_too_small_a_vocabulary_says_how_much_is_needed(
    sentences: Sequence[str],
) -> None:
    with pytest.raises(TokenizerError) as caught:
        learn_sentencepiece("bpe", sentences, SMALLEST_VOCABULARY - 1, seed=1)
    assert str(caught.value) == (
        "a vocabulary of 299 is too small: 260 ids go to special tokens and bytes, "
        "so give at least 300"
    )


def test_what_sentencepiece_cannot_learn_is_told_in_one_line(
    sentences: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise RuntimeError("INTERNAL: a\n  reason")

    monkeypatch.setattr(sentencepiece_learning, "_learn", fail)
    with pytest.raises(TokenizerError) as caught:
        learn_sentencepiece("bpe", sentences, 500, seed=1)
    assert str(caught.value) == (
        "SentencePiece could not learn (INTERNAL: a reason): "
        "try another tokenizer.vocabulary_size"
    )


@pytest.mark.parametrize("kind", ["bpe", "unigram", "characters"])
def test_every_character_seen_a_few_times_has_a_piece(kind: str) -> None:
    corpus = ["a plain sentence of common words"] * 3000 + ["für Köln, Ñandú"] * 3
    tokenizer = learn_sentencepiece(kind, corpus, 600, seed=1)
    for character in "0123456789KXZ%$()/:üÜñÑ":
        pieces = tokenizer.pieces(tokenizer.encode(f"a{character}"))
        assert not any(piece.startswith("<0x") for piece in pieces), character


def test_what_was_hardly_seen_goes_as_bytes() -> None:
    corpus = ["a plain sentence of common words"] * 300 + ["東京"]
    tokenizer = learn_sentencepiece("bpe", corpus, 600, seed=1)
    pieces = tokenizer.pieces(tokenizer.encode("東"))
    assert sum(piece.startswith("<0x") for piece in pieces) == 3
