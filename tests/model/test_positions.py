import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from dragoman.config import ModelConfig
from dragoman.errors import ConfigError
from dragoman.model.positions import (
    LearnedPositions,
    NoPositions,
    SinusoidalPositions,
    build_positions,
    sinusoids,
)


def test_sinusoids_are_the_papers_formula() -> None:
    d_model, length = 10, 300
    table = sinusoids(length, d_model)
    assert table.shape == (length, d_model)
    for position in (0, 1, 2, 17, 255, 299):
        for i in range(d_model // 2):
            angle = position / 10000 ** (2 * i / d_model)
            assert table[position, 2 * i].item() == pytest.approx(
                math.sin(angle), abs=1e-12
            )
            assert table[position, 2 * i + 1].item() == pytest.approx(
                math.cos(angle), abs=1e-12
            )


@settings(deadline=None)
@given(position=st.integers(0, 400), offset=st.integers(0, 100))
def test_an_offset_is_the_same_rotation_at_every_position(
    position: int, offset: int
) -> None:
    d_model = 8
    table = sinusoids(501, d_model)
    for i in range(d_model // 2):
        angle = torch.tensor(offset / 10000 ** (2 * i / d_model), dtype=torch.float64)
        rotation = torch.tensor(
            [[angle.cos(), angle.sin()], [-angle.sin(), angle.cos()]],
            dtype=torch.float64,
        )
        pair = slice(2 * i, 2 * i + 2)
        torch.testing.assert_close(
            rotation @ table[position, pair], table[position + offset, pair]
        )


def test_any_stretch_is_cut_from_the_same_table() -> None:
    positions = SinusoidalPositions(6, length=20)
    whole = positions(0, 20)
    for start, length in [(0, 1), (3, 5), (19, 1)]:
        assert torch.equal(positions(start, length), whole[start : start + length])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(("start", "length"), [(0, 9), (8, 1), (5, 30), (100, 1)])
def test_an_extended_table_equals_a_longer_one(
    start: int, length: int, dtype: torch.dtype
) -> None:
    short = SinusoidalPositions(6, length=8).to(dtype)
    long = SinusoidalPositions(6, length=500).to(dtype)
    assert torch.equal(short(start, length), long(start, length))
    assert torch.equal(short(0, 8), long(0, 8))


def test_the_table_is_computed_once_and_extended_rarely() -> None:
    positions = SinusoidalPositions(6, length=8)
    sizes = set()
    for position in range(1000):
        positions(position, 1)
        sizes.add(len(positions.table))
    assert len(sizes) < 10


def test_extending_keeps_the_number_type() -> None:
    positions = SinusoidalPositions(6, length=8).to(torch.bfloat16)
    assert positions(0, 50).dtype == torch.bfloat16


def test_a_table_extended_while_translating_serves_training_too() -> None:
    positions = SinusoidalPositions(6, length=8)
    with torch.inference_mode():
        positions(0, 50)
    vectors = torch.zeros(50, 6, requires_grad=True)
    ((vectors + positions(0, 50)) ** 2).sum().backward()
    assert vectors.grad is not None
    torch.testing.assert_close(vectors.grad, 2 * positions(0, 50))


def test_sinusoids_are_not_saved() -> None:
    assert not SinusoidalPositions(6).state_dict()
    assert not NoPositions(6).state_dict()


def test_learned_positions_learn_each_place_by_itself() -> None:
    positions = LearnedPositions(6, max_positions=10)
    assert torch.equal(positions(3, 4), positions.table[3:7])
    positions(3, 4).sum().backward()
    assert positions.table.grad is not None
    assert positions.table.grad[3:7].eq(1).all()
    assert positions.table.grad[:3].eq(0).all()
    assert positions.table.grad[7:].eq(0).all()


@pytest.mark.parametrize(("start", "length"), [(0, 11), (10, 1), (4, 7)])
def test_learned_positions_say_where_they_end(start: int, length: int) -> None:
    positions = LearnedPositions(6, max_positions=10)
    positions(0, 10)
    with pytest.raises(ConfigError) as caught:
        positions(start, length)
    assert str(caught.value) == (
        "a sequence of 11 tokens is longer than the 10 learned positions: shorten it, "
        "or train with a larger model.max_positions or with "
        'model.positions="sinusoidal"'
    )


def test_no_positions_add_nothing_anywhere() -> None:
    positions = NoPositions(6)
    assert positions(0, 7).shape == (7, 6)
    assert positions(10**6, 7).eq(0).all()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("sinusoidal", SinusoidalPositions),
        ("learned", LearnedPositions),
        ("none", NoPositions),
    ],
)
def test_the_settings_choose(
    name: str, kind: type[nn.Module], config: Callable[..., ModelConfig]
) -> None:
    assert type(build_positions(config(positions=name))) is kind
