from dataclasses import replace

import pytest
import torch

from dragoman.config import load_preset
from dragoman.model.build import build_model
from dragoman.model.network import TranslationNetwork
from dragoman.training.loss import translation_loss
from dragoman.training.optimizer import Optimizer

SETTINGS = load_preset("tiny").training
SHAPE = replace(
    load_preset("tiny").model,
    d_model=16,
    d_ff=32,
    num_encoder_layers=1,
    num_decoder_layers=1,
)


def updated(model: TranslationNetwork, optimizer: Optimizer, steps: int) -> None:
    source = torch.tensor([[4, 5, 6, 3]])
    target_in, target_out = torch.tensor([[2, 7, 8]]), torch.tensor([[7, 8, 3]])
    for _ in range(steps):
        features = model.features(source, target_in)
        translation_loss(
            features, model.output_weight, target_out, 0.1
        ).smoothed.backward()
        optimizer.clip()
        optimizer.step(0.01)
        optimizer.forget_gradients()


@pytest.mark.parametrize("kind", ["adam", "muon"])
def test_a_restored_optimizer_goes_on_to_the_bit(kind: str) -> None:
    settings = replace(SETTINGS, optimizer=kind)
    torch.manual_seed(0)
    model = build_model(replace(SHAPE, dropout=0.0), 12)
    optimizer = Optimizer(model, settings)
    updated(model, optimizer, 3)

    copy = build_model(replace(SHAPE, dropout=0.0), 12)
    copy.load_state_dict(model.state_dict())
    other = Optimizer(copy, settings)
    other.load({name: tensor.clone() for name, tensor in optimizer.state().items()})
    updated(model, optimizer, 3)
    updated(copy, other, 3)
    for ours, theirs in zip(model.parameters(), copy.parameters(), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("kind", ["adam", "muon"])
def test_every_parameter_learns(kind: str) -> None:
    torch.manual_seed(0)
    model = build_model(SHAPE, 12)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    updated(model, Optimizer(model, replace(SETTINGS, optimizer=kind)), 2)
    for name, parameter in model.named_parameters():
        assert not torch.equal(parameter, before[name]), name


def test_muon_takes_the_matrices_and_adam_the_rest() -> None:
    model = build_model(SHAPE, 12)
    optimizer = Optimizer(model, replace(SETTINGS, optimizer="muon"))
    assert all(p.dim() == 2 for p in optimizer.matrices.values())
    assert "embed_target.tokens.weight" not in optimizer.matrices
    assert len(optimizer.matrices) + len(optimizer.others) == len(
        list(model.parameters())
    )


def test_clipping_shortens_the_gradient_and_gives_its_length() -> None:
    model = build_model(SHAPE, 12)
    optimizer = Optimizer(model, replace(SETTINGS, clip_norm=0.5))
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    total = sum(p.numel() for p in model.parameters()) ** 0.5
    assert optimizer.clip() == pytest.approx(total, rel=1e-4)
    assert optimizer.clip() == pytest.approx(0.5, rel=1e-3)
    shortened = [p.grad.clone() for p in model.parameters() if p.grad is not None]
    optimizer.settings = replace(SETTINGS, clip_norm=0.51)
    optimizer.clip()  # it is short enough
    for parameter, before in zip(model.parameters(), shortened, strict=True):
        assert parameter.grad is not None
        assert torch.equal(parameter.grad, before)
