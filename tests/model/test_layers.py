from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.decoder_cache import DecoderCache
from dragoman.model.dropout import Dropout
from dragoman.model.layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    Residual,
    build_attention,
)
from dragoman.model.row_groups import RowGroups

Unsettled = Callable[[nn.Module], nn.Module]


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def test_feed_forward_is_the_papers_formula(unsettled: Unsettled) -> None:
    network = FeedForward(4, 7, 0.0).double()
    unsettled(network)
    x = draw(2, 3, 4)
    inner = (x @ network.inner.weight.T + network.inner.bias).clamp(min=0)
    expected = inner @ network.outer.weight.T + network.outer.bias
    torch.testing.assert_close(network(x), expected)


def test_feed_forward_treats_each_position_alike() -> None:
    network = FeedForward(4, 7, 0.0).double()
    x = draw(2, 3, 4)
    for position in range(3):
        torch.testing.assert_close(
            network(x)[:, position], network(x[:, position : position + 1])[:, 0]
        )


def test_feed_forward_dropout_falls_between_the_two_matrices() -> None:
    network = FeedForward(4, 64, 0.5).train()
    x = torch.randn(2, 3, 4)
    torch.manual_seed(3)
    result = network(x)
    torch.manual_seed(3)
    inner = network.inner(x).relu()
    torch.testing.assert_close(result, network.outer(Dropout(0.5)(inner)))


def test_post_norm_normalises_the_sum(
    config: Callable[..., ModelConfig], unsettled: Unsettled
) -> None:
    around = Residual(config(norm="post")).double()
    unsettled(around)
    assert isinstance(around.norm, nn.LayerNorm)
    x, written = draw(2, 3, 8), draw(2, 3, 8)
    assert around.before(x) is x
    added = x + written
    centred = added - added.mean(dim=-1, keepdim=True)
    spread = (centred.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
    expected = centred / spread * around.norm.weight + around.norm.bias
    torch.testing.assert_close(around.after(x, written), expected)


def test_pre_norm_leaves_the_residual_alone(
    config: Callable[..., ModelConfig], unsettled: Unsettled
) -> None:
    around = Residual(config(norm="pre")).double()
    unsettled(around)
    x, written = draw(2, 3, 8), draw(2, 3, 8)
    torch.testing.assert_close(around.before(x), around.norm(x))
    torch.testing.assert_close(around.after(x, written), x + written)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_dropout_falls_on_the_sublayer_before_it_is_added(
    norm: str, config: Callable[..., ModelConfig]
) -> None:
    around = Residual(config(norm=norm, dropout=0.5)).double().train()
    x, written = draw(2, 3, 8), draw(2, 3, 8)
    torch.manual_seed(3)
    result = around.after(x, written)
    torch.manual_seed(3)
    added = x + Dropout(0.5)(written)
    expected = around.norm(added) if norm == "post" else added
    torch.testing.assert_close(result, expected)


def test_heads_may_be_wider_than_their_share(
    config: Callable[..., ModelConfig],
) -> None:
    attention = build_attention(config(d_model=8, num_heads=2, d_head=7))
    assert attention.projections.weight.shape == (3 * 14, 8)
    assert attention.output.weight.shape == (8, 14)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_an_encoder_layer_is_two_wrapped_sublayers(
    norm: str, config: Callable[..., ModelConfig], unsettled: Unsettled
) -> None:
    layer = EncoderLayer(config(norm=norm)).double()
    unsettled(layer)
    x = draw(2, 5, 8)
    mask = torch.ones(2, 1, 1, 5, dtype=torch.bool)

    around = layer.around_attention
    attended = layer.self_attention(*layer.self_attention.project(around.before(x)))
    middle = around.after(x, attended)
    around = layer.around_feed_forward
    expected = around.after(middle, layer.feed_forward(around.before(middle)))
    torch.testing.assert_close(layer(x, mask), expected)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_a_decoder_layer_step_by_step_equals_all_at_once(
    norm: str, config: Callable[..., ModelConfig], unsettled: Unsettled
) -> None:
    layer = DecoderLayer(config(norm=norm)).double()
    unsettled(layer)
    x, memory = draw(2, 6, 8), draw(2, 4, 8)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])[:, None, None]
    source = layer.cross_attention.project_keys_values(memory)
    whole = layer(x, source, mask)

    groups = RowGroups.single(2, x.device)
    cache = DecoderCache.empty(1, 2, 2, source[0])
    for position in range(6):
        cache = cache.open(groups)
        [past] = cache.layers(groups)
        with torch.no_grad():
            output = layer.step(x[:, position], source, mask, past)
        torch.testing.assert_close(output, whole[:, position])
