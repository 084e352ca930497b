import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from dragoman.model.weights import get_weights
from dragoman.model_folder import SavedModel
from dragoman.training.loss import plain_translation_loss
from dragoman.training.preparation import Prepared
from dragoman.training.validation import Validation, Validator, describe_validation


def build(saved: SavedModel, prepared: Prepared, settings: Any = None) -> Validator:
    config = saved.config.with_settings(settings or {})
    validator = Validator.build(saved.model, prepared, config)
    assert validator is not None
    return validator


def test_loss_and_accuracy_are_those_of_the_plain_formulas(
    saved: SavedModel, prepared: Prepared
) -> None:
    validator = build(saved, prepared)
    loss, correct, tokens, pairs = 0.0, 0, 0, 0
    with torch.inference_mode():
        for batch in validator.batches:
            logits = saved.model(batch.source, batch.target_in)
            loss += float(plain_translation_loss(logits, batch.target_out, 0.0))
            right = logits.argmax(dim=-1) == batch.target_out
            correct += int(right[batch.target_out != 0].sum())
            tokens += batch.num_target_tokens
            pairs += batch.num_pairs
    assert prepared.valid is not None
    assert pairs == len(prepared.valid)
    measured = validator()
    assert measured.loss == pytest.approx(loss / tokens, rel=1e-5)
    assert measured.accuracy == pytest.approx(correct / tokens)


def test_how_the_pairs_are_batched_does_not_matter(
    saved: SavedModel, prepared: Prepared
) -> None:
    few = build(saved, prepared, {"decoding.batch_tokens": 40})
    many = build(saved, prepared, {"decoding.batch_tokens": 10_000})
    assert len(few.batches) > len(many.batches)
    assert few().loss == pytest.approx(many().loss, rel=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_measuring_leaves_the_model_and_randomness_untouched(
    saved: SavedModel, prepared: Prepared, training: bool
) -> None:
    validator = build(saved, prepared)
    weights = {name: w.clone() for name, w in get_weights(saved.model).items()}
    saved.model.train(training)
    random_state = torch.get_rng_state()
    first = validator()
    assert validator() == first  # dropout plays no part, whatever the mode was
    assert torch.equal(torch.get_rng_state(), random_state)
    assert {module.training for module in saved.model.modules()} == {training}
    for name, weight in get_weights(saved.model).items():
        assert torch.equal(weight, weights[name])
    assert all(p.grad is None for p in saved.model.parameters())


def test_bleu_is_of_as_many_sentences_as_the_settings_say(
    saved: SavedModel, prepared: Prepared
) -> None:
    validator = build(saved, prepared, {"training.valid_sentences": 3})
    assert validator.sources == tuple(prepared.valid_text("source")[:3])
    assert validator.references == tuple(prepared.valid_text("target")[:3])
    bleu = validator().bleu
    assert bleu is not None
    assert 0 <= bleu <= 100
    assert build(saved, prepared, {"training.valid_sentences": 0})().bleu is None


def test_without_validation_text_there_is_no_validator(
    saved: SavedModel, prepared: Prepared
) -> None:
    without = replace(prepared, valid=None)
    assert Validator.build(saved.model, without, saved.config) is None


def test_perplexity_is_the_exponential_of_the_loss_and_always_a_number() -> None:
    assert Validation(math.log(8), 0.5, None).perplexity == pytest.approx(8)
    assert math.isfinite(Validation(1e6, 0.0, None).perplexity)


def test_a_validation_as_plain_data_and_as_a_line() -> None:
    scored = Validation(math.log(4), 0.5, 12.34)
    assert scored.to_dict() == {
        "loss": math.log(4),
        "perplexity": pytest.approx(4),
        "accuracy": 0.5,
        "bleu": 12.34,
    }
    assert describe_validation(scored) == (
        "validation loss 1.386  perplexity 4.00  accuracy 50.0%  greedy BLEU 12.3"
    )
    unscored = replace(scored, bleu=None)
    assert "bleu" not in unscored.to_dict()
    assert "BLEU" not in describe_validation(unscored)
