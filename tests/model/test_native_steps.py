"""The kernel for a whole step, beside the layers that it stands in for."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from dragoman.config import load_preset
from dragoman.errors import KernelError
from dragoman.kernels.choice import kernels_at_work
from dragoman.kernels.library import library
from dragoman.model.build import build_model
from dragoman.model.transformer import Transformer
from dragoman.special_tokens import BEGIN, END, PAD

SMALL = {"model.d_model": 64, "model.d_ff": 80, "model.num_heads": 2}
VOCABULARY = 70


@pytest.fixture(autouse=True)
def kernels_can_be_had(in_ci: bool) -> None:
    try:
        library()
    except KernelError as error:
        if in_ci:
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def reading() -> Iterator[None]:
    with torch.no_grad():
        yield


def build(**settings: Any) -> Transformer:
    torch.manual_seed(1)
    named = {f"model.{name}": value for name, value in settings.items()}
    config = load_preset("tiny").with_settings({**SMALL, **named})
    model = build_model(config.model, VOCABULARY).eval()
    assert isinstance(model, Transformer)
    for parameter in model.parameters():  # biases and gains that are not just 0 and 1
        parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def sources(count: int) -> Tensor:
    rows = torch.randint(4, VOCABULARY, (count, 9))
    for row in range(count):
        end = 2 + row % 7
        rows[row, end], rows[row, end + 1 :] = END, PAD
    return rows


def walk(
    model: Transformer, source: Tensor, steps: int = 40
) -> tuple[list[Tensor], Any]:
    """Follow a made-up search: rows are doubled, exchanged and dropped on the way."""
    chance = torch.Generator().manual_seed(2)
    state = model.start(model.encode(source))
    rows = len(source)
    last = torch.full((rows,), BEGIN)
    seen = []
    for step in range(steps):
        logits, state = model.step(last, state)
        seen.append(logits)
        if step == 0:
            kept = torch.arange(rows).repeat_interleave(3)
        elif step % 5 == 4 and rows > 3:
            kept = torch.randperm(rows, generator=chance)[: rows - 2].sort().values
        else:
            groups = state.groups.groups
            swapped = torch.randint(rows, (rows,), generator=chance)
            same = groups[swapped] == groups
            kept = torch.where(same, swapped, torch.arange(rows))
        state = state.reorder(kept)
        rows = len(kept)
        last = torch.randint(4, VOCABULARY, (rows,), generator=chance)
    return seen, state


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("count", [1, 2, 12])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"positions": "sinusoidal", "norm": "post"},
        {"attention_scale": False, "num_encoder_layers": 1},
        {"positions": "learned", "d_model": 512, "num_heads": 8, "d_ff": 100},
        {"positions": "sinusoidal", "tie_embeddings": False, "d_head": 48},
        {"positions": "rotary", "d_head": 16},
        {"positions": "rotary", "d_head": 64},
        {"output_bias": True, "norm": "post", "last_norm": True},
        {"embedding_norm": True, "norm_epsilon": 1e-3, "tie_embeddings": False},
    ],
)
def test_steps_are_those_of_the_layers(
    settings: dict[str, Any], count: int, threads: int
) -> None:
    torch.set_num_threads(threads)
    model, source = build(**settings), sources(count)
    plain, state = walk(model, source)
    assert state.kernel is None, "nobody asked for kernels"
    with kernels_at_work():
        native, state = walk(model, source)
    assert state.kernel is not None
    for step, (one, other) in enumerate(zip(native, plain, strict=True)):
        torch.testing.assert_close(one, other, atol=2e-4, rtol=1e-4, msg=str(step))


def test_steps_go_on_past_the_first_table_of_turns() -> None:
    model, source = build(positions="rotary", num_decoder_layers=1), sources(1)
    plain, _ = walk(copy.deepcopy(model), source, 300)
    with kernels_at_work():
        native, state = walk(model, source, 300)
    assert state.kernel is not None
    torch.testing.assert_close(native[-1], plain[-1], atol=2e-4, rtol=1e-4)


def test_a_row_is_the_same_in_any_company() -> None:
    model = build()
    with kernels_at_work():
        state = model.start(model.encode(sources(1).expand(9, -1).contiguous()))
        together, _ = model.step(torch.arange(4, 13), state)
        one = state.reorder(torch.tensor([5]))
        alone, _ = model.step(torch.tensor([9]), one)
    assert torch.equal(alone[0], together[5])


def test_an_older_state_can_be_gone_on_from_twice() -> None:
    model = build()
    with kernels_at_work():
        state = model.start(model.encode(sources(2)))
        _, after = model.step(torch.tensor([5, 6]), state)
        first, _ = model.step(torch.tensor([7, 8]), after)
        model.step(torch.tensor([9, 10]), after)
        again, _ = model.step(torch.tensor([7, 8]), after)
    assert torch.equal(first, again)


def test_weights_that_changed_are_read_anew() -> None:
    model, source = build(), sources(2)
    with kernels_at_work():
        before, _ = walk(model, source, 2)
        for parameter in model.parameters():
            parameter.mul_(1.1)
        native, _ = walk(model, source, 2)
    plain, _ = walk(model, source, 2)
    torch.testing.assert_close(native[1], plain[1], atol=2e-4, rtol=1e-4)
    assert not torch.allclose(native[1], before[1], atol=1e-2)


def test_a_copy_has_kernels_of_its_own() -> None:
    model, source = build(), sources(2)
    with kernels_at_work():
        walk(model, source, 2)
        other = copy.deepcopy(model)
        for parameter in other.parameters():
            parameter.mul_(1.1)
        native, _ = walk(other, source, 2)
    plain, _ = walk(other, source, 2)
    torch.testing.assert_close(native[1], plain[1], atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "settings",
    [
        {"positions": "alibi"},
        {"activation": "gelu"},
        {"activation": "swish", "output_bias": True},
        {"activation": "quick_gelu"},
        {"norm_kind": "rms"},
        {"num_kv_heads": 1},
        {"positions": "sinusoidal", "d_head": 24},
        {"positions": "sinusoidal", "d_model": 40, "d_head": 16},
    ],
)
def test_other_decoders_take_their_steps_layer_by_layer(
    settings: dict[str, Any],
) -> None:
    model = build(**settings)
    with kernels_at_work():
        assert model.start(model.encode(sources(2))).kernel is None


def test_whoever_watches_the_layers_sees_them_work() -> None:
    model = build()
    calls: list[int] = []
    attention = model.decoder.get_submodule("layers.0.self_attention.attention")
    handle = attention.register_forward_hook(lambda *_: calls.append(1))
    with kernels_at_work():
        walk(model, sources(1), 3)
        assert len(calls) == 3
        handle.remove()
        assert model.start(model.encode(sources(1))).kernel is not None


def test_what_learns_or_is_in_double_precision_has_no_kernel() -> None:
    model = build()
    with kernels_at_work():
        assert model.train().start(model.encode(sources(1))).kernel is None
        exact = model.eval().double()
        assert exact.start(exact.encode(sources(1))).kernel is None
        single = build()
        with torch.enable_grad():
            assert single.start(single.encode(sources(1))).kernel is None
