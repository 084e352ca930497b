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


def test_a_target_is_scored_as_a_search_that_has_to_say_it(
    translator: Translator,
) -> None:
    tokenizers, options = translator.tokenizers, translator.options
    source = tokenizers.source.encode(SOURCES[0])
    target = tokenizers.target.encode("Buenos días.")
    [score] = score_pairs(translator, [SOURCES[0]], ["Buenos días."])
    [[forced]] = translator.engine.translate([source], options, [target])
    said = score.piece_log_probabilities
    assert len(said) == len(target) + 1
    assert said[:-1] == pytest.approx(
        forced.token_log_probabilities[: len(target)], abs=1e-4
    )
    assert score.log_probability == pytest.approx(sum(said))
    assert score.score == score.log_probability / len(said)


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
