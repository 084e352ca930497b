import pytest

from dragoman.inspection.inspect import inspect
from dragoman.inspection.logit_lens import logit_lens
from dragoman.translator import Translator


def test_the_last_row_is_what_the_model_says(translator: Translator) -> None:
    seen = inspect(translator, "Good morning!", "¡Buenos días!")
    rows = logit_lens(seen)
    assert [row.layer for row in rows] == [n for n in range(3) for _ in "123"]
    for guess, prediction in zip(rows[-1].guesses, seen.predictions(1), strict=True):
        assert guess.final_rank == prediction.rank
        assert guess.final_probability == pytest.approx(prediction.probability, 1e-3)
        [best] = prediction.alternatives
        assert (guess.token, guess.piece) == (best.token, best.piece)
        assert guess.probability == pytest.approx(best.probability, rel=1e-3)
