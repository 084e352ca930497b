from collections.abc import Callable

import pytest

from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.text.tokenizer import Tokenizer
from dragoman.text.words import inside_words, units, whole_places


def test_words_are_found_whole() -> None:
    assert [*whole_places("A cat, a category, (cat) and cats.", "cat")] == [2, 20]
    assert [*whole_places("C++ and C, not Cobol", "C++")] == [0]
    assert [*whole_places("Servidor o servidor", "servidor")] == [11]
    assert [*whole_places("私は東京に行く", "東京")] == [2]


def test_units_are_words_or_single_signs() -> None:
    assert [text for _, text in units("a b2, 東京!")] == [
        "a",
        "b2",
        ",",
        "東",
        "京",
        "!",
    ]


@pytest.mark.parametrize("kind", ["bpe", "unigram", "characters", "words", "wordpiece"])
def test_tokens_in_the_middle_of_words_are_known(
    kind: str, learn: Callable[[str], Tokenizer]
) -> None:
    tokenizer = learn(kind)
    begins, ends, blanks = inside_words(tokenizer)
    assert {PAD, BEGIN, END} <= blanks
    assert not blanks & set(tokenizer.encode("Wasser,")[1:])
    for text in ("Wasser und Kaffee.", "library, theatre!", "Q9x"):
        ids = tokenizer.encode(text)
        for place in range(1, len(ids)):
            before = tokenizer.decode(ids[:place])
            after = tokenizer.decode(ids)[len(before) :]
            if after and "\ufffd" not in before:
                assert (ids[place] in begins) == after[0].isalnum(), (ids, place)
                assert (ids[place - 1] in ends) == before[-1:].isalnum()
