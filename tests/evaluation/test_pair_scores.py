import math
from pathlib import Path

import pytest

import dragoman
from dragoman.errors import EvaluationError
from dragoman.evaluation.pair_scores import PAIRS_AT_ONCE, read_pairs, score_pairs
from dragoman.translator import Translator


@pytest.fixture(scope="module")
def translator(model_folder: Path) -> Translator:
    return dragoman.load(model_folder)


SOURCES = ["Good morning!", "Where is the station?", "Thank you very much."]


def test_a_translation_is_scored_as_the_search_scored_it(
    translator: Translator,
) -> None:
    found = [best[0] for best in translator.translate_nbest(SOURCES, 1)]
    texts = [translation.text for translation in found]
    encoded = [translator.tokenizers.target.encode(text) for text in texts]
    for score, translation, ids in zip(
        score_pairs(translator, SOURCES, texts), found, encoded, strict=True
    ):
        assert score.log_probability == pytest.approx(
            sum(score.piece_log_probabilities)
        )
        assert score.score == score.log_probability / (len(ids) + 1)
        if score.pieces == translation.pieces:  # else it is segmented otherwise
            assert score.piece_log_probabilities == pytest.approx(
                translation.piece_log_probabilities, abs=1e-4
            )


def test_company_changes_no_score(translator: Translator) -> None:
    targets = ["Buenos días.", "¿Dónde está?", "Gracias"]
    together = score_pairs(translator, SOURCES, targets)
    for source, target, score in zip(SOURCES, targets, together, strict=True):
        [alone] = score_pairs(translator, [source], [target])
        assert alone.score == pytest.approx(score.score, abs=1e-5)


def test_what_cannot_be_weighed_says_so(translator: Translator) -> None:
    long = "Good morning! " * 200
    scores = score_pairs(translator, ["", "Hi.", long], ["Hola.", "  ", "Hola."])
    assert [score.score for score in scores] == [-math.inf] * 3
    assert scores[0].to_dict()["score"] is None


def test_files_are_read_side_by_side_and_must_be_of_one_length(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    number = PAIRS_AT_ONCE + 3
    source.write_text("".join(f"{n}\n" for n in range(number)))
    target.write_text("".join(f"{n}\n" for n in range(number)))
    sizes = [len(left) for left, right in read_pairs(source, target) if left == right]
    assert sizes == [PAIRS_AT_ONCE, 3]
    target.write_text("0\n")
    with pytest.raises(EvaluationError, match="ends before line 2, and the other"):
        list(read_pairs(source, target))
