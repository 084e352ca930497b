from collections.abc import Callable

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from dragoman.errors import EvaluationError
from dragoman.evaluation.statistics import TOKENIZERS, gather_statistics

Spoil = Callable[[list[str], float, int], list[str]]
FACTORIES = {"bleu": BLEU, "chrf": CHRF, "ter": TER}


@pytest.mark.parametrize("metric", FACTORIES)
def test_scores_and_signatures_are_those_of_sacrebleu(
    references: list[str], spoil: Spoil, metric: str
) -> None:
    translations, second = spoil(references, 0.3, 1), spoil(references, 0.2, 2)
    found = gather_statistics(translations, [references, second])[metric]
    expected = FACTORIES[metric]()
    score = expected.corpus_score(translations, [references, second]).score
    assert found.score() == pytest.approx(score)
    assert found.signature == str(expected.get_signature())
    assert "nrefs:2" in found.signature


@pytest.mark.parametrize("metric", FACTORIES)
def test_weights_choose_and_repeat_sentences(
    references: list[str], spoil: Spoil, metric: str
) -> None:
    translations = spoil(references, 0.3, 1)
    whole = gather_statistics(translations, references)[metric]
    part = gather_statistics(
        [translations[0], translations[0], translations[7]],
        [references[0], references[0], references[7]],
    )[metric]
    weights = np.zeros(len(references))
    weights[[0, 7]] = 2, 1
    assert whole.score(weights) == pytest.approx(part.score())


def test_one_reference_set_may_come_by_itself(
    references: list[str], spoil: Spoil
) -> None:
    translations = spoil(references, 0.3, 1)
    alone = gather_statistics(translations, references)["bleu"]
    wrapped = gather_statistics(translations, [references])["bleu"]
    assert alone.score() == wrapped.score()
    assert alone.signature == wrapped.signature


def test_resampling_is_a_matter_of_the_seed(
    references: list[str], spoil: Spoil
) -> None:
    statistics = gather_statistics(spoil(references, 0.3, 1), references)["chrf"]
    once, again = (statistics.resampled_scores(20, seed=4) for _ in range(2))
    assert (once == again).all()
    assert (once != statistics.resampled_scores(20, seed=5)).any()


def test_lowercase_and_tokenizer_reach_the_signature(references: list[str]) -> None:
    found = gather_statistics(
        [reference.upper() for reference in references],
        references,
        lowercase=True,
        tokenize="none",
    )
    assert found["bleu"].score() == pytest.approx(100)
    assert found["chrf"].score() == pytest.approx(100)
    assert "case:lc" in found["bleu"].signature
    assert "tok:none" in found["bleu"].signature
    assert "case:lc" in found["chrf"].signature


@pytest.mark.parametrize("tokenize", TOKENIZERS)
def test_every_tokenizer_offered_works(references: list[str], tokenize: str) -> None:
    found = gather_statistics(
        references, references, tokenize=tokenize, metrics=["bleu"]
    )
    assert found["bleu"].score() == pytest.approx(100)


def test_tokenized_text_scored_as_such_warns_of_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tokenized = ["a b c d ."] * 150
    gather_statistics(tokenized, tokenized, tokenize="none", metrics=["bleu"])
    assert not caplog.records


def test_empty_sentences_can_be_scored() -> None:
    found = gather_statistics(["", "a b"], ["a b", ""])
    assert found["bleu"].score() == pytest.approx(0)


@pytest.mark.parametrize(
    ("translations", "references", "message"),
    [
        (
            [],
            [],
            "there is nothing to score: give at least one translation and its "
            "reference",
        ),
        (
            ["a"],
            [],
            "there is nothing to score: give at least one translation and its "
            "reference",
        ),
        (
            ["a", "b"],
            ["a"],
            "2 translations cannot be compared with 1 references: give one reference "
            "for each translation, in the same order",
        ),
        (
            ["a", "b"],
            [["a", "b"], ["a", "b", "c"]],
            "2 translations cannot be compared with 3 references: give one reference "
            "for each translation, in the same order",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(
    translations: list[str], references: list[str], message: str
) -> None:
    with pytest.raises(EvaluationError) as caught:
        gather_statistics(translations, references)
    assert str(caught.value) == message


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(EvaluationError) as caught:
        gather_statistics(["a"], ["a"], tokenize="moses")
    assert str(caught.value) == (
        "there is no BLEU tokenizer 'moses': choose one of 13a, intl, char, zh, none"
    )


def test_no_samples_are_refused() -> None:
    with pytest.raises(EvaluationError) as caught:
        gather_statistics(["a"], ["a"])["ter"].resampled_scores(0, seed=1)
    assert str(caught.value) == (
        "0 bootstrap samples give no interval: draw at least 1"
    )
