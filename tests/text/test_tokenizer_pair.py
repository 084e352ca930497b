from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.errors import TokenizerError
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.tokenizer_pair import TokenizerPair

Learn = Callable[[str], Tokenizer]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("kind", "name"), [("bpe", "tokenizer.model"), ("wordpiece", "tokenizer.json")]
)
def test_a_shared_tokenizer_is_one_file(
    learn: Learn, tmp_path: Path, kind: str, name: str
) -> None:
    tokenizer = learn(kind)
    pair = TokenizerPair(tokenizer, tokenizer)
    assert pair.shared
    assert pair.save(tmp_path) == [tmp_path / name]
    assert names(tmp_path) == {name}
    loaded = TokenizerPair.load(tmp_path)
    assert loaded.shared
    assert loaded.source.serialize() == tokenizer.serialize()


def test_separate_tokenizers_are_two_files(learn: Learn, tmp_path: Path) -> None:
    pair = TokenizerPair(learn("bpe"), learn("wordpiece"))
    assert not pair.shared
    written = pair.save(tmp_path)
    assert [path.name for path in written] == [
        "tokenizer.source.model",
        "tokenizer.target.json",
    ]
    loaded = TokenizerPair.load(tmp_path)
    assert not loaded.shared
    assert loaded.source.kind == "bpe"
    assert loaded.target.kind == "wordpiece"


def test_saving_leaves_nothing_of_an_earlier_pair(learn: Learn, tmp_path: Path) -> None:
    bpe, words = learn("bpe"), learn("words")
    TokenizerPair(bpe, bpe).save(tmp_path)
    TokenizerPair(bpe, words).save(tmp_path)
    assert names(tmp_path) == {"tokenizer.source.model", "tokenizer.target.model"}
    wordpiece = learn("wordpiece")
    TokenizerPair(wordpiece, wordpiece).save(tmp_path)
    assert names(tmp_path) == {"tokenizer.json"}


@pytest.mark.parametrize("missing", ["both", "source", "target"])
def test_a_missing_tokenizer_is_told(
    learn: Learn, tmp_path: Path, missing: str
) -> None:
    TokenizerPair(learn("bpe"), learn("words")).save(tmp_path)
    for side in ("source", "target"):
        if missing in (side, "both"):
            (tmp_path / f"tokenizer.{side}.model").unlink()
    with pytest.raises(TokenizerError) as caught:
        TokenizerPair.load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} has no tokenizer: it must hold tokenizer.model (or .json), "
        "or one each for source and target; copy the model folder again"
    )


def test_a_damaged_tokenizer_is_named(learn: Learn, tmp_path: Path) -> None:
    (path,) = TokenizerPair(learn("bpe"), learn("bpe")).save(tmp_path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(TokenizerError, match=r"tokenizer\.model is not a whole"):
        TokenizerPair.load(tmp_path)
