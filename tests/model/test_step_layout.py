"""Matrices kept another way give the same numbers, and follow when weights change."""

import copy

import pytest
import torch

from dragoman.config import load_preset
from dragoman.model.build import build_model
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN

SMALL = {
    "model.d_model": 32,
    "model.d_ff": 64,
    "model.num_encoder_layers": 2,
    "model.num_decoder_layers": 2,
}


def network(preset: str, **settings: object) -> TranslationNetwork:
    torch.manual_seed(1)
    changes = SMALL if preset == "tiny" else {}
    config = load_preset(preset).with_settings(changes | settings)
    return build_model(config.model, 50).eval()


def said(model: TranslationNetwork) -> torch.Tensor:
    source = torch.tensor([[5, 6, 7, 2], [8, 9, 2, 0]])
    with torch.inference_mode():
        state = model.start(model.encode(source))
        first, state = model.step(torch.tensor([BEGIN, BEGIN]), state)
        second, _ = model.step(first.argmax(dim=1), state)
        return torch.cat([first, second, model(source, source).flatten(0, 1)])


@pytest.mark.parametrize(
    ("preset", "settings"),
    [
        ("tiny", {}),
        ("tiny", {"model.tie_embeddings": False}),
        ("tiny", {"model.activation": "swiglu", "model.num_kv_heads": 2}),
        ("lstm-attention", {}),
    ],
)
def test_the_layout_changes_no_result(preset: str, settings: dict[str, object]) -> None:
    model = network(preset, **settings)
    before = said(model)
    names = set(model.state_dict())
    model.lay_out_for_steps()
    torch.testing.assert_close(said(model), before, rtol=1e-4, atol=1e-5)
    assert set(model.state_dict()) == names
    with torch.inference_mode():  # as a search makes its exact copy
        exact = copy.deepcopy(model).double()
    torch.testing.assert_close(said(exact).float(), before, rtol=1e-4, atol=1e-5)


def test_an_embedding_that_changes_afterwards_is_seen() -> None:
    model = network("tiny")
    model.lay_out_for_steps()
    with torch.no_grad():
        model.output_weight.mul_(2)
    plain = network("tiny")
    with torch.no_grad():
        plain.output_weight.mul_(2)
    torch.testing.assert_close(said(model), said(plain), rtol=1e-4, atol=1e-5)
