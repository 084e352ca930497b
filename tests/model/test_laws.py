"""What must hold for every kind of model; `model` runs through all of them."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.attention import (
    ScaledDotProductAttention,
    attention_weights,
    combined_mask,
)
from dragoman.model.build import build_model
from dragoman.model.masks import may_attend
from dragoman.model.network import TranslationNetwork
from dragoman.model.transformer import Transformer
from dragoman.setting_rules import CHOICES
from dragoman.special_tokens import BEGIN, END, PAD

Pad = Callable[..., Tensor]
DrawTargets = Callable[[int, int], Tensor]

SENTENCES = [[5, 6, 7, 8, 9, 10], [4], [10, 9, 8], [6, 6, 6, 6, 4]]
LENGTHS = [7, 2, 4, 6]  # END included


def greedy(model: TranslationNetwork, source: Tensor, steps: int) -> Tensor:
    """Choose the likeliest token again and again, END or not."""
    state = model.start(model.encode(source))
    tokens = torch.full((len(source),), BEGIN)
    chosen = []
    for _ in range(steps):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(dim=-1)
        chosen.append(tokens)
    return torch.stack(chosen, dim=1)


def test_cached_steps_equal_the_full_forward(
    model: TranslationNetwork, pad: Pad, draw_targets: DrawTargets
) -> None:
    source, target_in = pad(SENTENCES), draw_targets(4, 9)
    logits = model(source, target_in)
    state = model.start(model.encode(source))
    for position, tokens in enumerate(target_in.T):
        assert state.length == position
        step_logits, state = model.step(tokens, state)
        torch.testing.assert_close(step_logits, logits[:, position])


def test_a_state_may_be_gone_on_from_twice(
    model: TranslationNetwork, pad: Pad, draw_targets: DrawTargets
) -> None:
    source, target_in = pad(SENTENCES), draw_targets(4, 3)
    _, begun = model.step(target_in[:, 0], model.start(model.encode(source)))
    before, _ = model.step(target_in[:, 1], begun)
    model.step(target_in[:, 2], begun)
    after, _ = model.step(target_in[:, 1], begun)
    assert torch.equal(before, after)


def test_reordering_follows_the_rows(
    model: TranslationNetwork, pad: Pad, draw_targets: DrawTargets
) -> None:
    source, target_in = pad(SENTENCES), draw_targets(4, 5)
    rows = torch.tensor([3, 0, 0, 2, 3, 1])
    state = model.start(model.encode(source))
    for tokens in target_in[:, :3].T:
        _, state = model.step(tokens, state)
    state = state.reorder(rows)
    logits, state = model.step(target_in[rows, 3], state)
    expected = model(source[rows], target_in[rows])
    torch.testing.assert_close(logits, expected[:, 3])
    state = state.reorder(torch.tensor([5]))
    logits, _ = model.step(target_in[rows, 4][5:], state)
    torch.testing.assert_close(logits, expected[5:, 4])


def test_no_later_token_changes_an_earlier_logit(
    model: TranslationNetwork, pad: Pad, draw_targets: DrawTargets
) -> None:
    source, target_in = pad(SENTENCES), draw_targets(4, 9)
    logits = model(source, target_in)
    for position in range(1, 9):
        changed = target_in.clone()
        changed[:, position:] = draw_targets(4, 10 - position)[:, 1:]
        changed[:, position] = torch.where(target_in[:, position] == 4, 5, 4)
        other = model(source, changed)
        assert torch.equal(other[:, :position], logits[:, :position])
        assert not torch.equal(other[:, position:], logits[:, position:])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nothing_leaks_across_the_kernels_blocks(
    dtype: torch.dtype, config: Callable[..., ModelConfig], draw_targets: DrawTargets
) -> None:
    model = build_model(config(d_model=32), 13).to(dtype).eval()
    source, target_in = torch.tensor([[4, 5, END]]), draw_targets(1, 150)
    logits = model(source, target_in)
    for position in (1, 31, 32, 63, 64, 65, 128, 149):
        changed = target_in.clone()
        changed[:, position:] = PAD
        assert torch.equal(model(source, changed)[:, :position], logits[:, :position])


def test_padding_and_batch_mates_change_nothing(
    model: TranslationNetwork, pad: Pad, draw_targets: DrawTargets
) -> None:
    target_in = draw_targets(4, 5)
    together = model(pad(SENTENCES, extra=3), target_in)
    for row, sentence in enumerate(SENTENCES):
        alone = model(pad([sentence]), target_in[row : row + 1])
        torch.testing.assert_close(alone[0], together[row])


def test_a_sentence_gets_the_same_tokens_alone_and_in_any_batch(
    model: TranslationNetwork, pad: Pad
) -> None:
    model.float()
    alone = torch.cat([greedy(model, pad([sentence]), 8) for sentence in SENTENCES])
    for order in ([0, 1, 2, 3], [3, 1], [2, 0, 2], [1, 3, 0]):
        source = pad([SENTENCES[row] for row in order], extra=order[0])
        assert torch.equal(greedy(model, source, 8), alone[order])


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", CHOICES["model.positions"])
def test_only_positions_tell_the_encoder_the_order(
    norm: str, positions: str, config: Callable[..., ModelConfig], pad: Pad
) -> None:
    model = build_model(config(norm=norm, positions=positions), 13).double().eval()
    source = pad([[5, 6, 7, 8, 9, 10]])
    order = torch.tensor([3, 6, 0, 5, 2, 1, 4])
    permuted = model.encode(source[:, order]).output
    same = torch.allclose(permuted, model.encode(source).output[:, order], atol=1e-10)
    assert same == (positions == "none")


@pytest.mark.parametrize("positions", CHOICES["model.positions"])
def test_without_positions_a_source_is_a_bag_of_words(
    positions: str,
    config: Callable[..., ModelConfig],
    pad: Pad,
    draw_targets: DrawTargets,
) -> None:
    model = build_model(config(positions=positions), 13).double().eval()
    source, target_in = pad([[5, 6, 7, 8, 9, 10]]), draw_targets(1, 5)
    mixed = source[:, torch.tensor([3, 6, 0, 5, 2, 1, 4])]
    same = torch.allclose(model(mixed, target_in), model(source, target_in), atol=1e-10)
    assert same == (positions == "none")


def test_all_attention_sums_to_one_and_stays_within_its_mask(
    transformer: TranslationNetwork, pad: Pad, draw_targets: DrawTargets
) -> None:
    source, target_length = pad(SENTENCES, extra=1), 5
    seen: list[tuple[Tensor, Tensor]] = []

    def look(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        queries, keys, _, mask, causal = inputs
        allowed = combined_mask(queries, mask, bool(causal))
        assert allowed is not None
        assert isinstance(module, ScaledDotProductAttention)
        weights = attention_weights(queries, keys, allowed, scaling=module.scaling)
        seen.append((weights, may_attend(allowed).expand_as(weights)))

    for module in transformer.modules():
        if isinstance(module, ScaledDotProductAttention):
            module.register_forward_pre_hook(look)
    transformer(source, draw_targets(4, target_length))

    normed = any(
        isinstance(m, nn.LayerNorm | nn.RMSNorm) for m in transformer.modules()
    )
    assert isinstance(transformer, Transformer)
    readers = len(transformer.encoder.layers)
    assert len(seen) == readers + 2 * len(transformer.decoder.layers)
    for weights, allowed in seen:
        rows = weights.sum(dim=-1)
        torch.testing.assert_close(rows, torch.ones_like(rows))
        assert weights[~allowed].eq(0).all()
        # Scores that no norm of its own keeps small may underflow in a softmax.
        assert weights[allowed].gt(0).all() or not normed
    encoder, decoder, cross = (seen[n][0] for n in (0, readers, readers + 1))
    for row, length in enumerate(LENGTHS):
        assert encoder[row, :, :, length:].eq(0).all()
        assert cross[row, :, :, length:].eq(0).all()
    assert decoder.triu(1).eq(0).all()
