"""What is the recurrent models' own; the laws of all kinds are in `test_laws.py`."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from dragoman.config import ModelConfig
from dragoman.model.build import build_model
from dragoman.model.recurrent import RecurrentModel

Pad = Callable[..., Tensor]
DrawTargets = Callable[[int, int], Tensor]
RecurrentConfig = Callable[..., ModelConfig]

SENTENCES = [[5, 6, 7, 8, 9, 10], [4], [10, 9, 8]]


def build(config: ModelConfig) -> RecurrentModel:
    model = build_model(config, 13).double()
    assert isinstance(model, RecurrentModel)
    return model


@pytest.mark.parametrize("cell", ["elman", "gru", "lstm"])
def test_the_last_state_is_that_at_each_sentences_own_end(
    cell: str, recurrent_config: RecurrentConfig, pad: Pad
) -> None:
    model = build(recurrent_config(cell=cell))
    together = model.encode(pad(SENTENCES, extra=2)).last
    for row, sentence in enumerate(SENTENCES):
        alone = model.encode(pad([sentence])).last
        for layer, expected in zip(together, alone, strict=True):
            for part, wanted in zip(layer, expected, strict=True):
                torch.testing.assert_close(part[row], wanted[0])


def test_without_attention_the_source_is_one_state(
    recurrent_config: RecurrentConfig, pad: Pad, draw_targets: DrawTargets
) -> None:
    model = build(recurrent_config(attention="none"))
    source, target_in = pad([[5, 6, 7], [8, 9, 4]]), draw_targets(2, 5)
    memory = model.encode(source)
    state = model.start(memory)
    assert state.source is None
    other = model.start(model.encode(source.flip(0)))
    swapped = tuple(tuple(part.flip(0) for part in layer) for layer in other.layers)
    for layer, same in zip(state.layers, swapped, strict=True):
        for part, wanted in zip(layer, same, strict=True):
            torch.testing.assert_close(part, wanted)
    assert not torch.equal(model(source, target_in)[0], model(source, target_in)[1])


@pytest.mark.parametrize("kind", ["dot", "general", "additive"])
def test_attention_is_a_share_of_each_word_and_none_of_padding(
    kind: str, recurrent_config: RecurrentConfig, pad: Pad
) -> None:
    attention = build(recurrent_config(attention=kind)).attention
    assert attention is not None
    memory = torch.randn(3, 5, 8, dtype=torch.float64)
    states = torch.randn(3, 4, 8, dtype=torch.float64)
    mask = (torch.arange(5) < torch.tensor([[5], [1], [3]]))[:, None]
    keys = attention.read_source(memory)
    weights = attention.weights(states, keys, mask)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
    assert weights[~mask.expand_as(weights)].eq(0).all()
    torch.testing.assert_close(attention(states, keys, memory, mask), weights @ memory)


def test_dot_scores_are_not_scaled(recurrent_config: RecurrentConfig) -> None:
    attention = build(recurrent_config(attention="dot")).attention
    assert attention is not None
    states = torch.randn(1, 2, 8, dtype=torch.float64)
    memory = torch.randn(1, 3, 8, dtype=torch.float64)
    mask = torch.ones(1, 1, 3, dtype=torch.bool)
    expected = (states @ memory.mT).softmax(dim=-1)
    torch.testing.assert_close(attention.weights(states, memory, mask), expected)


@pytest.mark.parametrize(("encoder", "decoder"), [(1, 3), (3, 1), (2, 2)])
def test_the_top_of_the_decoder_begins_with_the_top_of_the_encoder(
    encoder: int, decoder: int, recurrent_config: RecurrentConfig, pad: Pad
) -> None:
    shape = {"num_encoder_layers": encoder, "num_decoder_layers": decoder}
    model = build(recurrent_config(**shape))
    memory = model.encode(pad(SENTENCES))
    first = model.start(memory).layers
    assert len(first) == decoder
    assert first[-1] is memory.last[-1]
    assert first[0] is memory.last[max(0, encoder - decoder)]


@pytest.mark.parametrize("attention", ["none", "dot"])
def test_truncation_changes_no_value_and_cuts_the_way_back(
    attention: str,
    recurrent_config: RecurrentConfig,
    pad: Pad,
    draw_targets: DrawTargets,
) -> None:
    config = recurrent_config(attention=attention, bidirectional=False)
    model = build(config)
    source, target_in = pad([[5, 6, 7, 8, 9, 10]]), draw_targets(1, 7)
    embedded: list[Tensor] = []
    model.embed_target.register_forward_hook(
        lambda module, inputs, output: embedded.append(output)
    )
    whole = model.features(source, target_in)
    cut = model.features(source, target_in, truncate=3)
    torch.testing.assert_close(cut, whole)
    for features, reaches in zip((whole, cut), (0, 3), strict=True):
        leaf = embedded[0 if features is whole else 1]
        [gradient] = torch.autograd.grad(features[:, 5].sum(), leaf)
        assert gradient[:, :reaches].eq(0).all()
        assert gradient[:, reaches:6].abs().sum(dim=-1).gt(0).all()


def test_truncation_cuts_the_way_back_in_the_encoder_too(
    recurrent_config: RecurrentConfig, pad: Pad, draw_targets: DrawTargets
) -> None:
    model = build(recurrent_config(attention="none", bidirectional=False))
    embedded: list[Tensor] = []
    model.embed_source.register_forward_hook(
        lambda module, inputs, output: embedded.append(output)
    )
    features = model.features(pad([[5, 6, 7, 8]]), draw_targets(1, 2), truncate=2)
    [gradient] = torch.autograd.grad(features.sum(), embedded)
    assert gradient[:, :4].eq(0).all()  # of five words, the last is a part of its own
    assert gradient[:, 4].abs().sum().gt(0)
