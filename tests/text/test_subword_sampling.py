from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import ConfigError
from dragoman.text.sentencepiece_tokenizer import SentencePieceTokenizer
from dragoman.text.subword_sampling import segmentations
from dragoman.text.tokenizer import Tokenizer

Learn = Callable[[str], Tokenizer]

both_kinds = pytest.mark.parametrize("kind", ["bpe", "unigram"])


def split_share(table: list[list[list[int]]]) -> float:
    drawn = [len(spelling) > 1 for spellings in table for spelling in spellings]
    return sum(drawn) / len(drawn)


@both_kinds
@given(sampling=st.floats(0, 0.99), seed=st.integers(0, 2**32))
def test_every_spelling_spells_its_piece(
    learn: Learn, kind: str, sampling: float, seed: int
) -> None:
    tokenizer = learn(kind)
    table = segmentations(tokenizer, sampling, 2, seed)
    assert len(table) == tokenizer.vocabulary_size
    for i, spellings in enumerate(table):
        assert len(spellings) == 2
        for spelling in spellings:
            assert "".join(tokenizer.pieces(spelling)) == tokenizer.pieces([i])[0]


@both_kinds
def test_drawing_is_a_function_of_the_seed(learn: Learn, kind: str) -> None:
    first, again, other = (
        segmentations(learn(kind), 0.5, 4, seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


@both_kinds
def test_without_sampling_every_piece_stays_whole(learn: Learn, kind: str) -> None:
    tokenizer = learn(kind)
    table = segmentations(tokenizer, 0.0, 3, seed=1)
    assert table == [[[i]] * 3 for i in range(tokenizer.vocabulary_size)]


@both_kinds
def test_more_sampling_splits_more(learn: Learn, kind: str) -> None:
    shares = [
        split_share(segmentations(learn(kind), sampling, 10, seed=1))
        for sampling in (0.0, 0.1, 0.4, 0.9)
    ]
    assert shares == sorted(shares)
    assert shares[0] == 0 < shares[1]


@both_kinds
def test_what_cannot_be_split_stays_whole(learn: Learn, kind: str) -> None:
    tokenizer = learn(kind)
    assert isinstance(tokenizer, SentencePieceTokenizer)
    table = segmentations(tokenizer, 0.99, 3, seed=1)
    splittable = {
        i for piece, (i, _) in tokenizer.scored_pieces().items() if len(piece) > 1
    }
    for i, spellings in enumerate(table):
        if i not in splittable:
            assert spellings == [[i]] * 3


def test_dropout_near_one_leaves_mostly_characters(learn: Learn) -> None:
    table = segmentations(learn("bpe"), 0.99, 20, seed=1)
    pieces = [spelling for spellings in table[260:] for spelling in spellings]
    characters = sum(
        all(len(part) == 1 for part in learn("bpe").pieces(spelling))
        for spelling in pieces
    )
    assert characters > 0.8 * len(pieces)


def test_unigram_keeps_a_piece_as_often_as_asked(learn: Learn) -> None:
    tokenizer = learn("unigram")
    assert isinstance(tokenizer, SentencePieceTokenizer)
    long = [i for piece, (i, _) in tokenizer.scored_pieces().items() if len(piece) > 1]
    table = segmentations(tokenizer, 0.3, 2000, seed=1)
    assert split_share([table[i] for i in long]) == pytest.approx(0.3, abs=0.03)


def test_likelier_splits_are_drawn_more_often(learn: Learn) -> None:
    tokenizer = learn("unigram")
    assert isinstance(tokenizer, SentencePieceTokenizer)
    scores = dict(tokenizer.scored_pieces().values())
    table = segmentations(tokenizer, 0.99, 1000, seed=1)
    for spellings in table:
        ways = {tuple(way) for way in spellings if len(way) > 1}
        ranked = sorted(ways, key=lambda way: sum(scores[i] for i in way))
        if len(ranked) > 1:
            least, most = list(ranked[0]), list(ranked[-1])
            assert spellings.count(most) >= spellings.count(least) - 60


@pytest.mark.parametrize("kind", ["characters", "words", "wordpiece"])
def test_other_kinds_have_no_sampling(learn: Learn, kind: str) -> None:
    with pytest.raises(ConfigError) as caught:
        segmentations(learn(kind), 0.1, 4, seed=1)
    assert str(caught.value) == (
        f"tokenizer.sampling = 0.1 does not go with tokenizer.kind = {kind!r}: "
        "choose bpe or unigram, or set sampling to 0"
    )
