import pytest
from sacrebleu.metrics import CHRF

from dragoman.decoding.bayes_risk import chrf_matrix, expected_chrf

TEXTS = [
    "Ein Mann mit einem orangefarbenen Hut starrt auf etwas.",
    "Ein Mann mit Hut sieht etwas an.",
    "Zwei Hunde.",
    "a",
    "",
    "Ein  Mann mit Hut sieht etwas an .",
    "ein mann mit hut",
    "ааа 日本語 🙂",
]


def test_is_the_chrf_of_sacrebleu() -> None:
    chrf, matrix = CHRF(), chrf_matrix(TEXTS)
    for row, hypothesis in enumerate(TEXTS):
        for column, reference in enumerate(TEXTS):
            expected = chrf.sentence_score(hypothesis, [reference]).score
            assert matrix[row, column] == pytest.approx(expected), (row, column)


def test_each_sample_counts_as_often_as_it_was_drawn() -> None:
    matrix = chrf_matrix(TEXTS[:3])
    expected = expected_chrf([TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[1]])
    weights = [0.25, 0.5, 0.25]
    means = [(row * weights).sum() for row in matrix]
    assert expected == pytest.approx([means[0], means[1], means[2], means[1]])


def test_what_most_agree_with_is_worth_most() -> None:
    worth = expected_chrf(["the red house", "the read house", "the red hose", "no"])
    assert max(worth) == worth[0]
    assert min(worth) == worth[3]
