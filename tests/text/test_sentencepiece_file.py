from collections.abc import Callable

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from dragoman.text.sentencepiece_file import describe
from dragoman.text.tokenizer import Tokenizer

Learn = Callable[[str], Tokenizer]


@pytest.mark.parametrize("kind", ["bpe", "unigram", "characters", "words"])
def test_a_file_tells_its_kind_and_size(learn: Learn, kind: str) -> None:
    _, content = learn(kind).serialize()
    described = describe(content)
    processor = sentencepiece.SentencePieceProcessor(model_proto=content)
    assert described.kind == kind
    assert described.num_pieces == processor.vocab_size()


@given(st.binary(max_size=60))
def test_anything_else_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"missing|cut off|not a Protocol"):
        describe(content)


@given(share=st.floats(0, 1, exclude_max=True))
def test_no_beginning_is_taken_for_the_whole(learn: Learn, share: float) -> None:
    _, content = learn("bpe").serialize()
    with pytest.raises(ValueError, match=r"missing|cut off"):
        describe(content[: int(share * len(content))])


def test_a_lost_piece_is_noticed(learn: Learn) -> None:
    _, content = learn("bpe").serialize()
    first = 2 + content[1]  # a key, a length below 128, and so many bytes
    with pytest.raises(ValueError, match="pieces are missing"):
        describe(content[first:])


def test_an_unending_number_is_refused() -> None:
    with pytest.raises(ValueError, match="cut off"):
        describe(b"\xff" * 100)
