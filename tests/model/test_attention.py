import math

import pytest
import torch
from torch import Tensor, nn

from dragoman.model.attention import (
    MultiHeadAttention,
    ScaledDotProductAttention,
    attention_weights,
    combined_mask,
)
from dragoman.model.linear import JointLinear
from dragoman.model.masks import causal_mask


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def random_mask(*shape: int) -> Tensor:
    """Hide about half of the pairs, but leave each query something to look at."""
    mask = torch.rand(shape) < 0.5
    mask[..., 0] = True
    return mask


def attend(
    attention: MultiHeadAttention, x: Tensor, memory: Tensor, mask: Tensor | None
) -> Tensor:
    keys, values = attention.project_keys_values(memory)
    result: Tensor = attention(attention.project_queries(x), keys, values, mask)
    return result


def test_weights_are_the_softmax_of_scaled_dot_products() -> None:
    queries, keys = draw(3, 4), draw(5, 4)
    weights = attention_weights(queries, keys, None)
    for query in range(3):
        powers = [
            math.exp(float(queries[query] @ keys[key]) / math.sqrt(4))
            for key in range(5)
        ]
        for key in range(5):
            assert float(weights[query, key]) == pytest.approx(
                powers[key] / sum(powers)
            )


def test_weights_of_a_query_sum_to_one_and_hidden_keys_get_exactly_nothing() -> None:
    queries, keys = 10 * draw(2, 3, 6, 4), 10 * draw(2, 3, 7, 4)
    mask = random_mask(2, 1, 6, 7)
    weights = attention_weights(queries, keys, mask)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 6).double())
    assert weights[~mask.expand_as(weights)].eq(0).all()
    assert weights.ge(0).all()


@pytest.mark.parametrize(
    ("masked", "causal"), [(False, False), (True, False), (False, True)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_fused_kernel_computes_the_plain_formula(
    masked: bool, causal: bool, dtype: torch.dtype
) -> None:
    queries, keys, values = draw(3, 2, 3, 9, 4).to(dtype)
    mask = random_mask(2, 1, 1, 9) if masked else None
    fused = ScaledDotProductAttention(0.0)(queries, keys, values, mask, causal)
    allowed = combined_mask(queries, mask, causal)
    torch.testing.assert_close(
        fused, attention_weights(queries, keys, allowed) @ values
    )


def test_a_combined_mask_hides_what_either_hides() -> None:
    queries, mask = draw(2, 3, 5, 4), random_mask(2, 1, 1, 5)
    both = combined_mask(queries, mask, True)
    assert both is not None
    assert torch.equal(both, mask & causal_mask(5))
    assert combined_mask(queries, mask, False) is mask
    assert combined_mask(queries, None, False) is None
    alone = combined_mask(queries, None, True)
    assert alone is not None
    assert torch.equal(alone, causal_mask(5))


def test_a_combined_mask_is_where_the_queries_are() -> None:
    elsewhere = torch.empty(2, 3, 5, 4, device="meta")
    alone = combined_mask(elsewhere, None, True)
    assert alone is not None
    assert alone.device == elsewhere.device


def test_hidden_values_change_nothing_at_all() -> None:
    queries, keys, values = draw(3, 2, 3, 6, 4)
    mask = torch.tensor([True, True, True, True, False, False])
    attention = ScaledDotProductAttention(0.0)
    before = attention(queries, keys, values, mask[None, None, None], False)
    keys[:, :, 4:], values[:, :, 4:] = 1e3 * draw(2, 2, 3, 2, 4)
    after = attention(queries, keys, values, mask[None, None, None], False)
    assert torch.equal(before, after)


def test_attention_dropout_works_only_in_training() -> None:
    queries, keys, values = draw(3, 2, 3, 6, 4)
    attention = ScaledDotProductAttention(0.5)
    plain = attention.eval()(queries, keys, values, None, False)
    assert torch.equal(plain, attention(queries, keys, values, None, False))
    attention.train()
    samples = torch.stack(
        [attention(queries, keys, values, None, False) for _ in range(2000)]
    )
    assert not torch.equal(samples[0], samples[1])
    torch.testing.assert_close(samples.mean(dim=0), plain, atol=0.15, rtol=0)


@pytest.mark.parametrize("d_head", [2, 4, 5])
def test_heads_attend_apart_and_are_joined_by_one_matrix(d_head: int) -> None:
    heads, d_model = 3, 8
    attention = MultiHeadAttention(d_model, heads, d_head, 0.0).double()
    x, memory = draw(2, 4, d_model), draw(2, 6, d_model)
    mask = random_mask(2, 1, 1, 6)
    weights = attention.projections.weight.chunk(3)
    biases = attention.projections.bias.chunk(3)

    expected: Tensor = attention.output.bias
    for head in range(heads):
        rows = slice(head * d_head, (head + 1) * d_head)
        queries, keys, values = (
            inputs @ weight[rows].T + bias[rows]
            for inputs, weight, bias in zip(
                (x, memory, memory), weights, biases, strict=True
            )
        )
        mixed = attention_weights(queries, keys, mask[:, 0]) @ values
        expected = expected + mixed @ attention.output.weight[:, rows].T
    torch.testing.assert_close(attend(attention, x, memory, mask), expected)


def test_projecting_together_equals_projecting_apart() -> None:
    attention = MultiHeadAttention(8, 2, 4, 0.0).double()
    nn.init.normal_(attention.projections.bias)
    x = draw(3, 5, 8)
    queries, keys, values = attention.project(x)
    torch.testing.assert_close(queries, attention.project_queries(x))
    torch.testing.assert_close((keys, values), attention.project_keys_values(x))
    assert queries.shape == (3, 2, 5, 4)


def test_queries_in_another_order_get_the_same_answers_in_that_order() -> None:
    attention = MultiHeadAttention(8, 2, 4, 0.0).double()
    x, memory = draw(2, 5, 8), draw(2, 6, 8)
    answers = attend(attention, x, memory, None)
    order = torch.randperm(5)
    torch.testing.assert_close(
        attend(attention, x[:, order], memory, None), answers[:, order]
    )
    order = torch.randperm(6)
    torch.testing.assert_close(attend(attention, x, memory[:, order], None), answers)


def test_each_part_of_a_joint_projection_starts_as_if_alone() -> None:
    joint = JointLinear(40, (60, 60, 60))
    limit = math.sqrt(6 / (40 + 60))
    for part in joint.weight.detach().chunk(3):
        assert part.shape == (60, 40)
        assert float(part.abs().max()) <= limit
        assert float(part.std()) == pytest.approx(limit / math.sqrt(3), rel=0.05)
    assert joint.bias.eq(0).all()
