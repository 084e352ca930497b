import io
import random
from collections.abc import Callable, Sequence

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import TokenizerError
from dragoman.special_tokens import BEGIN, END, PAD, UNKNOWN
from dragoman.text.sentencepiece_tokenizer import (
    SPACE,
    SentencePieceTokenizer,
    open_sentencepiece,
)
from dragoman.text.tokenizer import Tokenizer

Learn = Callable[[str], Tokenizer]

KINDS = ("bpe", "unigram", "characters", "words")
every_kind = pytest.mark.parametrize("kind", KINDS)


def processor(tokenizer: Tokenizer) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_proto=tokenizer.serialize()[1])


@every_kind
def test_the_special_ids_are_the_project_s(learn: Learn, kind: str) -> None:
    model = processor(learn(kind))
    ids = (model.pad_id(), model.unk_id(), model.bos_id(), model.eos_id())
    assert ids == (PAD, UNKNOWN, BEGIN, END)


@pytest.mark.parametrize("kind", ["bpe", "unigram", "characters"])
@given(
    text=st.text("abcdeghilnorstuwyäüßKWB .,?!", max_size=60)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters=SPACE))
)
def test_word_by_word_gives_what_sentencepiece_gives(
    learn: Learn, kind: str, text: str
) -> None:
    tokenizer = learn(kind)
    assert tokenizer.encode(text) == processor(tokenizer).encode(text)


@every_kind
def test_no_piece_crosses_a_space(learn: Learn, kind: str) -> None:
    tokenizer = learn(kind)
    assert isinstance(tokenizer, SentencePieceTokenizer)
    assert all(SPACE not in piece[1:] for piece in tokenizer.scored_pieces())


@every_kind
def test_scored_pieces_are_those_that_stand_for_text(learn: Learn, kind: str) -> None:
    tokenizer = learn(kind)
    assert isinstance(tokenizer, SentencePieceTokenizer)
    model, scored = processor(tokenizer), tokenizer.scored_pieces()
    assert len(scored) == tokenizer.vocabulary_size - 4 - 256
    for piece, (i, score) in scored.items():
        assert model.id_to_piece(i) == piece
        assert model.get_score(i) == score
        assert not model.is_byte(i)


def test_unknown_words_are_spelled_in_bytes_with_their_space(learn: Learn) -> None:
    tokenizer = learn("words")
    ids = tokenizer.encode("the fox")
    assert tokenizer.pieces(ids) == ["▁the", "<0x20>", "<0x66>", "<0x6F>", "<0x78>"]


@every_kind
def test_a_typed_mark_is_not_a_space(learn: Learn, kind: str) -> None:
    tokenizer = learn(kind)
    assert tokenizer.encode("the▁library") != tokenizer.encode("the library")
    assert tokenizer.encode("▁") != tokenizer.encode(" ")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_altered_files_are_refused_or_harmless(learn: Learn, kind: str) -> None:
    _, content = learn(kind).serialize()
    chance = random.Random(1)
    opened, refused = 0, 0
    for _ in range(60):
        altered = bytearray(content)
        for _ in range(chance.choice((1, 2, 10))):
            altered[chance.randrange(len(altered))] = chance.randrange(256)
        try:
            tokenizer = open_sentencepiece(bytes(altered), "tokenizer.model")
        except TokenizerError:
            refused += 1
        else:
            opened += 1
            tokenizer.decode(tokenizer.encode("Where is the library? 🙂"))
    assert refused > opened


@pytest.mark.parametrize(
    ("pad", "unknown", "begin", "end", "lacks"),
    [(-1, 0, 1, 2, "special tokens"), (PAD, UNKNOWN, BEGIN, END, "bytes")],
)
def test_a_foreign_model_is_refused(
    sentences: Sequence[str], pad: int, unknown: int, begin: int, end: int, lacks: str
) -> None:
    content = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences),
        model_writer=content,
        vocab_size=100,
        hard_vocab_limit=False,
        pad_id=pad,
        unk_id=unknown,
        bos_id=begin,
        eos_id=end,
        minloglevel=2,
    )
    with pytest.raises(TokenizerError) as caught:
        open_sentencepiece(content.getvalue(), "foreign.model")
    assert str(caught.value) == (
        "foreign.model is not a whole SentencePiece model of this program "
        f"(the {lacks} are missing): copy the model folder again"
    )
