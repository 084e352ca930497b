import torch

from dragoman.config import load_preset
from dragoman.engines.exact_copy import ExactCopy
from dragoman.model.build import build_model


def test_follows_the_weights_and_is_made_only_when_they_change() -> None:
    config = load_preset("tiny").with_settings({"model.d_model": 8, "model.d_ff": 8})
    model = build_model(config.model, 20)
    exact = ExactCopy(model)
    first = exact()
    assert exact.is_needed
    assert exact() is first
    assert not first.training
    assert first.output_weight.dtype == torch.float64
    with torch.no_grad():
        model.output_weight.add_(1.0)
    assert exact() is not first
    assert torch.equal(exact().output_weight, model.output_weight.double())


def test_double_precision_needs_no_copy() -> None:
    model = build_model(load_preset("tiny").model, 20).double()
    assert not ExactCopy(model).is_needed
