import torch

from dragoman.inspection.concerns import repetitions, unattended_words
from dragoman.inspection.inspection import Inspection
from dragoman.inspection.tokens import Word


def words(text: str) -> list[Word]:
    return [Word(word, n, n + 1) for n, word in enumerate(text.split())]


def test_a_source_word_that_nobody_attends_to_is_named() -> None:
    attention = torch.tensor([[[0.9, 0.05, 0.05, 0.0], [0.1, 0.02, 0.88, 0.0]]])
    [concern] = unattended_words(attention, words("red big ball ."))
    assert (concern.kind, concern.words) == ("unattended", (1,))
    assert concern.message == (
        "no target word attends to 'big' (at most 5%): it may not have been translated"
    )


def test_one_layer_that_looks_is_enough() -> None:
    attention = torch.tensor([[[0.99, 0.01]], [[0.5, 0.5]]])
    assert unattended_words(attention, words("red ball")) == ()


def test_words_said_twice_in_a_row_are_named() -> None:
    [concern] = repetitions(words("a dog"), words("ein Hund Hund bellt"))
    assert (concern.words, concern.message) == ((1, 2), "'Hund' is repeated")
    [concern] = repetitions(words("a dog"), words("der Hund der Hund ."))
    assert (concern.words, concern.message) == ((0, 1, 2, 3), "'der Hund' is repeated")


def test_what_the_source_repeats_may_be_repeated() -> None:
    assert repetitions(words("very very good"), words("muy muy bueno")) == ()
    assert repetitions(words("wait ..."), words("espera . .")) == ()


def test_an_inspection_gathers_both(seen: Inspection) -> None:
    assert all(c.kind in ("unattended", "repetition") for c in seen.concerns)
