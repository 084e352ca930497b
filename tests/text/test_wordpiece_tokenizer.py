import json
import subprocess
import sys
from collections.abc import Callable

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import TokenizerError
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.wordpiece_tokenizer import open_wordpiece

Learn = Callable[[str], Tokenizer]


@given(text=st.text("aeghlrty .,?!äß\t日\u2028#", max_size=80) | st.text())
def test_the_file_gives_the_same_ids_in_tokenizers_itself(
    learn: Learn, text: str
) -> None:
    tokenizer = learn("wordpiece")
    other = tokenizers.Tokenizer.from_str(tokenizer.serialize()[1].decode())
    assert other.encode(text).ids == tokenizer.encode(text)
    assert other.decode(tokenizer.encode(text)).removeprefix(" ") == text


def test_pieces_are_readable(learn: Learn) -> None:
    tokenizer = learn("wordpiece")
    pieces = tokenizer.pieces(tokenizer.encode("the theatreQ\t語"))
    assert pieces[0] == "▁the"
    assert "##Q" in pieces
    assert "<0x09>" in pieces
    assert any(piece.startswith("##<0x") for piece in pieces)


@pytest.mark.parametrize("character", ["語", "a", "!", "\t", " "])
def test_long_unbroken_text_survives(learn: Learn, character: str) -> None:
    tokenizer = learn("wordpiece")
    assert tokenizer.decode(tokenizer.encode(character * 5000)) == character * 5000


@pytest.mark.parametrize("damage", ["gap", "twice", "letter", "order", "type", "deep"])
def test_an_altered_vocabulary_is_refused(learn: Learn, damage: str) -> None:
    content = json.loads(learn("wordpiece").serialize()[1])
    vocabulary = content["model"]["vocab"]
    if damage == "gap":
        del vocabulary["Ġt"]
    elif damage == "twice":
        vocabulary["new"] = 5
    elif damage == "letter":
        vocabulary["語"] = len(vocabulary)
    elif damage == "order":
        vocabulary["a"], vocabulary["b"] = vocabulary["b"], vocabulary["a"]
    elif damage == "type":
        content["model"]["vocab"] = ["a"]
    altered = json.dumps(content).encode()
    if damage == "deep":
        altered = b"[" * 200_000
    with pytest.raises(TokenizerError) as caught:
        open_wordpiece(altered, "tokenizer.json")
    assert str(caught.value) == (
        "tokenizer.json is not a whole WordPiece tokenizer of this program: "
        "copy the model folder again"
    )


def test_only_the_vocabulary_of_a_file_is_used(learn: Learn) -> None:
    tokenizer = learn("wordpiece")
    content = json.loads(tokenizer.serialize()[1])
    content["normalizer"] = {"type": "Lowercase"}
    content["pre_tokenizer"] = None
    loaded = open_wordpiece(json.dumps(content).encode(), "tokenizer.json")
    assert loaded.serialize() == tokenizer.serialize()


def test_without_the_package_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['tokenizers'] = None\n"
        "from dragoman.config import TokenizerConfig\n"
        "from dragoman.errors import MissingExtraError\n"
        "from dragoman.text.tokenizer import learn_tokenizer\n"
        "try: learn_tokenizer(TokenizerConfig('wordpiece', 0, True, 0.0), [], 1, 1)\n"
        "except MissingExtraError as error: print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout == (
        "WordPiece needs the package 'tokenizers', which is not installed: "
        "pip install 'dragoman[wordpiece]'\n"
    )
