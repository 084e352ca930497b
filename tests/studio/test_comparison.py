from dragoman.evaluation.breakdown import by_length
from dragoman.studio.comparison import bleu_by_length

SOURCES = ["a b c", "one two three four five six", "w " * 60, ""]
REFERENCES = ["el gato duerme aquí", "uno dos tres cuatro cinco", "x y z w", "nada más"]
TRANSLATIONS = ["el gato duerme ahí", "uno dos tres cuatro seis", "x y z w", "nada"]


def test_scores_are_those_of_evaluation_and_lie_in_their_intervals() -> None:
    found = bleu_by_length(SOURCES, TRANSLATIONS, REFERENCES)
    expected = by_length(SOURCES, TRANSLATIONS, REFERENCES)
    assert [(b.words, b.count, b.bleu) for b in found] == [
        (b.words, b.count, b.bleu) for b in expected
    ]
    for bucket in found:
        assert bucket.low <= bucket.bleu + 1e-9
        assert bucket.bleu <= bucket.high + 1e-9
