import contextvars
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor

from dragoman.config import load_preset
from dragoman.data.batching import Batch
from dragoman.kernels.choice import kernels_at_work, narrow_products
from dragoman.model.build import build_model
from dragoman.special_tokens import PAD
from dragoman.training.objective import Objective

SMALL = {
    "model.d_model": 64,
    "model.d_ff": 96,
    "model.num_heads": 2,
    "model.num_encoder_layers": 2,
    "model.num_decoder_layers": 2,
    "model.dropout": 0.0,
}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"model.norm": "pre"},
    {"model.norm_kind": "rms", "model.activation": "swiglu"},
    {"model.activation": "gelu", "model.positions": "rotary"},
    {"model.positions": "alibi", "model.num_kv_heads": 1},
    {"model.positions": "rotary", "model.num_kv_heads": 1},
    {"model.tie_embeddings": False, "training.r_drop": 2.0},
    {"model.kind": "language_model"},
    {"model.kind": "masked_language_model"},
]


def draw_batch() -> Batch:
    source, target = torch.randint(4, 50, (5, 11)), torch.randint(4, 50, (5, 9))
    source[0, 6:] = target[0, 4:] = target[3, 7:] = PAD
    return Batch(source, target, target.roll(-1, dims=1))


def learn(settings: dict[str, Any], batch: Batch) -> dict[str, Tensor]:
    """Give the loss and all gradients of one batch."""
    torch.manual_seed(1)
    config = load_preset("base").with_settings({**SMALL, **settings})
    model = build_model(config.model, 50).train()
    loss = Objective(model, config.training)(batch)
    loss.smoothed.backward()
    found = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    return {"loss": loss.smoothed.detach(), **found}


@pytest.mark.usefixtures("at_work", "each_product")
@pytest.mark.parametrize("settings", VARIANTS)
def test_loss_and_gradients_are_those_of_the_plain_code(
    settings: dict[str, Any],
) -> None:
    batch = draw_batch()
    if settings.get("model.kind") == "masked_language_model":
        batch = Batch(batch.target_in, batch.target_in, batch.target_out)
    native = learn(settings, batch)
    plain = contextvars.Context().run(learn, settings, batch)
    assert native.keys() == plain.keys()
    for name, wanted in plain.items():
        torch.testing.assert_close(
            native[name], wanted, atol=2e-4, rtol=1e-4, msg=f"{name} differs"
        )


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize("settings", VARIANTS)
def test_narrow_products_change_loss_and_gradients_by_little(
    settings: dict[str, Any],
) -> None:
    batch = draw_batch()
    if settings.get("model.kind") == "masked_language_model":
        batch = Batch(batch.target_in, batch.target_in, batch.target_out)
    wide = learn(settings, batch)
    with narrow_products():
        narrow = learn(settings, batch)
    most = 0.2 if settings.get("model.activation", "relu") == "relu" else 0.03
    assert narrow.keys() == wide.keys()
    for name, wanted in wide.items():
        assert narrow[name].dtype == wanted.dtype
        off, size = (narrow[name] - wanted).norm(), wanted.norm()
        # A rectifier that rounding flips costs a gradient more than rounding itself.
        assert off <= most * size + 1e-3, f"{name} is off by {off / size:.3f}"
    assert not torch.equal(narrow["loss"], wide["loss"])


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize("products", [nullcontext, narrow_products])
def test_the_same_random_state_and_threads_give_the_same_bits(
    products: Callable[[], AbstractContextManager[None]],
) -> None:
    settings, batch = {"model.dropout": 0.3}, draw_batch()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        with products():
            first, second = learn(settings, batch), learn(settings, batch)
        assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.usefixtures("at_work")
def test_a_translation_does_not_know_of_them() -> None:
    torch.manual_seed(1)
    config = load_preset("base").with_settings(SMALL)
    model, batch = build_model(config.model, 50).eval(), draw_batch()
    with torch.no_grad():
        before = model(batch.source, batch.target_in)
        with kernels_at_work():
            assert torch.equal(model(batch.source, batch.target_in), before)
