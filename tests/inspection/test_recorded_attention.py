import pytest
import torch
from torch import Tensor, nn

from dragoman.inspection.recorded_attention import recorded_attention
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END, PAD
from dragoman.translator import Translator

TOKENS = torch.tensor([[11, 12, 13, END], [14, 15, END, PAD]])
TARGET_IN = torch.tensor([[BEGIN, 21, 22, 23, 24], [BEGIN, 25, 26, PAD, PAD]])


@pytest.fixture
def model(deep: Translator) -> TranslationNetwork:
    return deep.saved.model.eval()


def hooks(model: nn.Module) -> int:
    return sum(
        len(module._forward_pre_hooks) + len(module._forward_hooks)
        for module in model.modules()
    )


@pytest.mark.parametrize("training", [False, True])
def test_recorded_and_unrecorded_runs_give_the_same_logits(
    model: TranslationNetwork, training: bool
) -> None:
    model.train(training)
    torch.manual_seed(5)
    unrecorded = model(TOKENS, TARGET_IN)
    torch.manual_seed(5)
    with recorded_attention(model) as recorded:
        logits = model(TOKENS, TARGET_IN)
    assert torch.equal(logits, unrecorded)
    assert recorded


def test_every_attention_is_recorded_as_batch_head_query_key(
    model: TranslationNetwork,
) -> None:
    with torch.inference_mode(), recorded_attention(model) as recorded:
        model(TOKENS, TARGET_IN)
    shapes = {place: tuple(weights.shape) for place, weights in recorded.items()}
    assert shapes == {
        **{("encoder", layer): (2, 2, 4, 4) for layer in range(2)},
        **{("decoder", layer): (2, 2, 5, 5) for layer in range(3)},
        **{("cross", layer): (2, 2, 5, 4) for layer in range(3)},
    }


def test_rows_sum_to_one_and_nothing_hidden_is_seen(model: TranslationNetwork) -> None:
    with torch.inference_mode(), recorded_attention(model) as recorded:
        model(TOKENS, TARGET_IN)
    for (kind, _), weights in recorded.items():
        assert_sums_to_one(weights)
        if kind == "decoder":
            assert weights.triu(1).eq(0).all()  # nobody sees what is yet to come
        else:
            assert weights[1, :, :, 3].eq(0).all()  # nobody sees padding


def test_the_weights_are_those_by_which_the_model_mixes_its_values(
    model: TranslationNetwork,
) -> None:
    seen: list[tuple[Tensor, Tensor]] = []
    attention = model.get_submodule("decoder.layers.1.cross_attention.attention")
    handle = attention.register_forward_hook(
        lambda _module, inputs, output: seen.append((inputs[2], output))
    )
    with torch.inference_mode(), recorded_attention(model) as recorded:
        model(TOKENS, TARGET_IN)
    handle.remove()
    ((values, mixed),) = seen
    weights = recorded["cross", 1]
    torch.testing.assert_close(weights @ values, mixed)


def test_single_steps_can_be_recorded_too(model: TranslationNetwork) -> None:
    with torch.inference_mode():
        with recorded_attention(model) as whole:
            model(TOKENS, TARGET_IN)
        state = model.start(model.encode(TOKENS))
        for position in range(TARGET_IN.shape[1]):
            with recorded_attention(model) as recorded:
                _, state = model.step(TARGET_IN[:, position], state)
            for name, weights in recorded.items():
                keys = weights.shape[-1]
                expected = whole[name][:, :, position : position + 1, :keys]
                torch.testing.assert_close(weights, expected)


def test_no_hook_is_left_behind(model: TranslationNetwork) -> None:
    before = hooks(model)
    with recorded_attention(model):
        assert hooks(model) == before + 8
    assert hooks(model) == before


def test_no_hook_is_left_behind_when_the_model_fails(model: TranslationNetwork) -> None:
    before = hooks(model)
    beyond = torch.full((1, 3), 10**6)
    with pytest.raises(IndexError), recorded_attention(model):
        model(TOKENS[:1], beyond)
    assert hooks(model) == before


def assert_sums_to_one(weights: Tensor) -> None:
    rows = weights.sum(dim=-1)
    torch.testing.assert_close(rows, torch.ones_like(rows))
