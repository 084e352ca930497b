"""Language models keep the laws of every model, with nothing to translate."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.build import build_model
from dragoman.model.decoder_only import DecoderOnly
from dragoman.special_tokens import BEGIN, END, PAD

VARIANTS: dict[str, dict[str, object]] = {
    "post": {},
    "pre-untied": {"norm": "pre", "tie_embeddings": False},
    "learned": {"positions": "learned", "window": 16},
    "alibi": {"positions": "alibi"},
    "modern": {
        "norm": "pre",
        "norm_kind": "rms",
        "activation": "swiglu",
        "positions": "rotary",
        "num_heads": 4,
        "num_kv_heads": 2,
    },
}
NOTHING = torch.full((3, 1), END)


@pytest.fixture(params=VARIANTS.values(), ids=list(VARIANTS))
def model(
    request: pytest.FixtureRequest,
    config: Callable[..., ModelConfig],
    unsettled: Callable[[nn.Module], nn.Module],
) -> DecoderOnly:
    built = build_model(config(kind="language_model", **request.param), 11)
    assert isinstance(built, DecoderOnly)
    unsettled(built)
    return built.double().eval()


def test_cached_steps_equal_the_full_forward_in_any_order_of_rows(
    model: DecoderOnly, draw_targets: Callable[[int, int], Tensor]
) -> None:
    target_in = draw_targets(3, 9)
    logits = model(NOTHING, target_in)
    state, rows = model.start(model.encode(NOTHING)), torch.arange(3)
    for position in range(9):
        step_logits, state = model.step(target_in[rows, position], state)
        torch.testing.assert_close(step_logits, logits[rows, position])
        if position == 4:
            state, rows = state.reorder(torch.tensor([2, 0])), torch.tensor([2, 0])


def test_nothing_leaks_from_the_future_or_from_padding(
    model: DecoderOnly, draw_targets: Callable[[int, int], Tensor]
) -> None:
    target_in = draw_targets(3, 6)
    logits = model(NOTHING, target_in)
    for position in range(1, 6):
        changed = target_in.clone()
        changed[:, position:] = PAD
        assert torch.equal(model(NOTHING, changed)[:, :position], logits[:, :position])
    alone = model(NOTHING[:1], target_in[1:2])
    torch.testing.assert_close(alone[0], logits[1])


def test_the_source_says_nothing(model: DecoderOnly) -> None:
    target_in = torch.tensor([[BEGIN, 5, 6]])
    one, other = torch.tensor([[4, END]]), torch.tensor([[7, 8, 9, END]])
    assert torch.equal(model(one, target_in), model(other, target_in))


def test_gradients_agree_with_finite_differences(model: DecoderOnly) -> None:
    target_in = torch.tensor([[BEGIN, 4, 6], [BEGIN, 5, PAD]])
    embedded = model.embed_target(target_in).detach().requires_grad_()
    weighting = torch.randn(2, 3, 8, dtype=torch.float64)

    def loss(x: Tensor) -> Tensor:
        decoded: Tensor = model.decoder(x, target_in != PAD)
        return (decoded * weighting).sum()

    assert torch.autograd.gradcheck(loss, embedded)
    model(NOTHING[:2], target_in).log_softmax(dim=-1)[..., 4].sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
