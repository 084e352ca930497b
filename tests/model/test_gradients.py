"""Gradients are right, and come from nowhere that a model must not look."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.build import build_model
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END, PAD

Pad = Callable[..., Tensor]
DrawTargets = Callable[[int, int], Tensor]

SENTENCES = [[5, 6, 7, 8, 9, 10], [4], [10, 9, 8], [6, 6, 6, 6, 4]]


def embedded_by(embed: nn.Module) -> list[Tensor]:
    """Keep what an embedding gives, so that gradients at each position can be read."""
    kept: list[Tensor] = []

    def keep(module: nn.Module, inputs: object, output: Tensor) -> None:
        kept.append(output)

    embed.register_forward_hook(keep)
    return kept


def test_no_gradient_comes_from_the_future(
    model: TranslationNetwork, pad: Pad, draw_targets: DrawTargets
) -> None:
    embedded = embedded_by(model.embed_target)
    logits = model(pad(SENTENCES), draw_targets(4, 6))
    for position in range(6):
        [gradient] = torch.autograd.grad(
            logits[:, position, 4].sum(), embedded, retain_graph=True
        )
        assert gradient[:, position + 1 :].eq(0).all()
        assert gradient[:, : position + 1].abs().sum(dim=-1).gt(0).all()


def test_no_gradient_reaches_padding(
    model: TranslationNetwork, pad: Pad, draw_targets: DrawTargets
) -> None:
    embedded = embedded_by(model.embed_source)
    source = pad(SENTENCES, extra=2)
    logits = model(source, draw_targets(4, 5))
    [gradient] = torch.autograd.grad(logits[..., 4].sum(), embedded)
    read = source != PAD
    if not getattr(model, "source_end", True):  # such models do not read END either
        read &= source != END
    assert gradient[~read].eq(0).all()
    assert gradient[read].abs().sum(dim=-1).gt(0).all()


def gradients_agree(model: TranslationNetwork, source: Tensor, *, fast: bool) -> bool:
    """Compare on all parameters laid end to end; `fast` looks along one direction."""
    target_in = torch.tensor([[BEGIN, 4, 6], [BEGIN, 5, PAD]])
    parameters = dict(model.named_parameters())
    sizes = [parameter.numel() for parameter in parameters.values()]
    weighting = torch.randn(2, 3, len(model.output_weight), dtype=torch.float64)

    def loss(values: Tensor) -> Tensor:
        given = {
            name: part.view(parameter.shape)
            for (name, parameter), part in zip(
                parameters.items(), values.split(sizes), strict=True
            )
        }
        logits: Tensor = torch.func.functional_call(model, given, (source, target_in))
        return (logits.log_softmax(dim=-1) * weighting).sum()

    values = nn.utils.parameters_to_vector(parameters.values()).detach()
    return torch.autograd.gradcheck(loss, values.requires_grad_(), fast_mode=fast)


def test_gradients_agree_with_finite_differences(
    model: TranslationNetwork, pad: Pad
) -> None:
    assert gradients_agree(model, pad([[5, 6], [4]]), fast=True)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_single_derivative_agrees_with_finite_differences(
    norm: str, config: Callable[..., ModelConfig], pad: Pad
) -> None:
    shape = {"d_model": 4, "d_ff": 5, "num_encoder_layers": 1, "num_decoder_layers": 1}
    settings = config(norm=norm, positions="learned", max_positions=4, **shape)
    model = build_model(settings, 7).double()
    assert gradients_agree(model, pad([[5, 6], [4]]), fast=False)


@pytest.mark.parametrize("attention", ["none", "dot", "general", "additive"])
@pytest.mark.parametrize("cell", ["elman", "gru", "lstm"])
def test_every_single_derivative_of_recurrent_models_agrees(
    cell: str, attention: str, recurrent_config: Callable[..., ModelConfig], pad: Pad
) -> None:
    shape = {"d_model": 4, "num_encoder_layers": 1, "num_decoder_layers": 1}
    settings = recurrent_config(cell=cell, attention=attention, **shape)
    model = build_model(settings, 7).double()
    assert gradients_agree(model, pad([[5, 6], [4]]), fast=False)
