"""The tokenizers of imported models: other pieces, our ids."""

import json
from pathlib import Path

import pytest
import sentencepiece

from dragoman.errors import TokenizerError
from dragoman.special_tokens import BEGIN, END, NAMES, PAD, UNKNOWN
from dragoman.text.imported_tokenizer import ImportedTokenizer, open_imported
from dragoman.text.tokenizer import learn_tokenizer
from dragoman.text.tokenizer_pair import TokenizerPair


@pytest.fixture(scope="module")
def spm(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("spm")
    (folder / "text").write_text("the cat sat on the mat\nthe hat of the cat\n" * 9)
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / "m"),
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return (folder / "m.model").read_bytes()


def pieces_of(spm: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=spm)
    ids = range(3, processor.vocab_size())
    return [*NAMES, ">>fra<<", *(processor.id_to_piece(i) for i in ids)]


@pytest.fixture
def tokenizer(spm: bytes) -> ImportedTokenizer:
    return ImportedTokenizer("sentencepiece", pieces_of(spm), spm)


def test_text_comes_back_by_way_of_the_pieces(
    tokenizer: ImportedTokenizer, spm: bytes
) -> None:
    processor = sentencepiece.SentencePieceProcessor(model_proto=spm)
    text = "the cat of the mat"
    ids = tokenizer.encode(text)
    assert tokenizer.pieces(ids) == processor.encode(text, out_type=str)
    assert tokenizer.decode([BEGIN, *ids, END, PAD]) == text
    assert tokenizer.encode_many([text, ""]) == [ids, []]


def test_a_language_tag_in_front_is_one_token(tokenizer: ImportedTokenizer) -> None:
    assert tokenizer.tags == (">>fra<<",)
    tagged = tokenizer.encode(">>fra<< the cat")
    assert tagged == [4, *tokenizer.encode("the cat")]
    assert tokenizer.encode(">>deu<< the cat")[0] != 4
    assert 4 not in tokenizer.encode("the >>fra<<")


def test_what_the_vocabulary_lacks_is_unknown(spm: bytes) -> None:
    pieces = [piece for piece in pieces_of(spm) if piece != "▁the"]
    tokenizer = ImportedTokenizer("sentencepiece", pieces, spm)
    ids = tokenizer.encode("the cat")
    assert ids[0] == UNKNOWN
    assert tokenizer.decode(ids).startswith("⁇")
    # What is written like a special token is no special token.
    assert not {PAD, BEGIN, END} & set(tokenizer.encode("<pad> <s> </s>"))


def test_characters_and_words() -> None:
    letters = ImportedTokenizer("characters", [*NAMES, "a", "b", " "])
    assert letters.encode("ab ac") == [4, 5, 6, 4, UNKNOWN]
    assert letters.decode([4, 5, 6, END]) == "ab "
    words = ImportedTokenizer("words", [*NAMES, "one", "two"])
    assert words.encode(" two  one six") == [5, 4, UNKNOWN]
    assert words.decode([BEGIN, 5, UNKNOWN, 4]) == "two ⁇ one"


def test_a_pair_may_share_a_vocabulary_and_be_cut_in_two_ways(
    tokenizer: ImportedTokenizer, spm: bytes, tmp_path: Path
) -> None:
    other = ImportedTokenizer("words", tokenizer.vocabulary)
    pair = TokenizerPair(tokenizer, other)
    assert pair.shared
    names = sorted(path.name for path in pair.save(tmp_path))
    assert names == ["tokenizer.source.imported", "tokenizer.target.imported"]
    loaded = TokenizerPair.load(tmp_path)
    assert loaded.shared
    assert loaded.source.serialize() == tokenizer.serialize()
    assert loaded.target.serialize() == other.serialize()
    fewer = ImportedTokenizer("words", tokenizer.vocabulary[:-1])
    assert not TokenizerPair(tokenizer, fewer).shared


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"segmentation": "syllables"},
        {"pieces": [1, 2, 3, 4, 5]},
        {"pieces": ["a", "b"]},
        {"sentencepiece": None},
        {"sentencepiece": "AAAA"},
        {"sentencepiece": "?"},
    ],
)
def test_what_is_not_whole_is_said(
    change: dict[str, object], tokenizer: ImportedTokenizer
) -> None:
    values = json.loads(tokenizer.serialize()[1]) | change
    with pytest.raises(TokenizerError, match="not a whole tokenizer of an imported"):
        open_imported(json.dumps(values).encode(), "it")
    with pytest.raises(TokenizerError, match="copy the model folder again"):
        open_imported(tokenizer.serialize()[1][:-9], "it")


def test_it_cannot_be_learned() -> None:
    from dragoman.config import load_preset

    config = load_preset("base").with_settings({"tokenizer.kind": "imported"})
    with pytest.raises(TokenizerError, match="comes with a model that"):
        learn_tokenizer(config.tokenizer, ["a b"], 100, 1)
