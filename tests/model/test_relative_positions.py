import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import ModelConfig
from dragoman.model.build import build_model
from dragoman.model.positions import NoPositions, build_positions
from dragoman.model.relative_positions import (
    Alibi,
    NothingToTell,
    Rotary,
    build_relative_positions,
)
from dragoman.setting_rules import CHOICES
from dragoman.special_tokens import BEGIN, END

LIKE = torch.zeros(1, dtype=torch.float64)


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def test_rotary_turns_each_pair_by_the_angle_of_its_sinusoid() -> None:
    x, d_head = draw(5, 6), 6
    turn = Rotary(d_head)(LIKE, 3, 5).turn
    turned = turn(x)
    for place in range(5):
        for pair in range(d_head // 2):
            angle = (3 + place) / 10000 ** (2 * pair / d_head)
            first, second = x[place, pair], x[place, pair + d_head // 2]
            assert float(turned[place, pair]) == pytest.approx(
                float(first * math.cos(angle) - second * math.sin(angle)), abs=1e-6
            )
            assert float(turned[place, pair + d_head // 2]) == pytest.approx(
                float(second * math.cos(angle) + first * math.sin(angle)), abs=1e-6
            )


def test_a_turned_product_depends_on_the_distance_alone() -> None:
    query, key, rotary = draw(1, 8), draw(1, 8), Rotary(8)

    def product(query_place: int, key_place: int) -> float:
        turned = rotary(LIKE, query_place, 1).turn(query)
        return float((turned * rotary(LIKE, key_place, 1).turn(key)).sum())

    assert product(7, 3) == pytest.approx(product(1004, 1000), abs=1e-5)
    assert product(7, 3) != pytest.approx(product(7, 4))
    assert product(3, 7) != pytest.approx(product(7, 3))  # a direction is seen


def test_turning_changes_no_length() -> None:
    x = draw(2, 3, 9, 8)
    turned = Rotary(8)(LIKE, 100, 9).turn(x)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1), rtol=1e-6, atol=0)


def test_alibi_lowers_scores_by_distance_and_head() -> None:
    bias = Alibi(4, causal=True)(LIKE, 0, 6).bias
    assert bias.shape == (1, 4, 6, 6)
    for head in range(4):
        slope = 2 ** (-8 * (head + 1) / 4)
        for query in range(6):
            for key in range(query + 1):
                expected = -slope * (query - key)
                assert float(bias[0, head, query, key]) == pytest.approx(expected)


def test_alibi_tells_a_step_what_it_tells_the_whole() -> None:
    alibi = Alibi(2, causal=True)
    whole = alibi(LIKE, 0, 9).bias
    step = alibi(LIKE, 8, 1, torch.tensor([3, 0, 8, 3])).bias
    torch.testing.assert_close(step[0, :, 0], whole[0, :, 8, [3, 0, 8, 3]])


def test_in_an_encoder_alibi_knows_ahead_from_behind() -> None:
    bias = Alibi(2, causal=False)(LIKE, 0, 5).bias[0]
    assert float(bias[0, 2, 4]) == pytest.approx(2 * float(bias[0, 2, 0]))
    assert float(bias[1, 2, 0]) == pytest.approx(2 * float(bias[1, 2, 4]))


@pytest.mark.parametrize("positions", ["rotary", "alibi"])
def test_a_mirrored_sentence_is_another_sentence(
    positions: str, config: Callable[..., ModelConfig]
) -> None:
    model = build_model(config(positions=positions), 13).double().eval()
    words = torch.tensor([[5, 6, 7, 8]])
    memory, mirrored = (
        model.encode(source).output for source in (words, words.flip(1))
    )
    assert not torch.allclose(mirrored.flip(1), memory, atol=1e-6)


@pytest.mark.parametrize("positions", ["rotary", "alibi"])
def test_nothing_ends_at_the_longest_sentence_of_training(
    positions: str, config: Callable[..., ModelConfig]
) -> None:
    settings = config(positions=positions, max_positions=4)
    model = build_model(settings, 13).double().eval()
    words = torch.randint(4, 13, (1, 150))
    source = torch.cat([words, torch.tensor([[END]])], dim=1)
    target_in = torch.cat([torch.tensor([[BEGIN]]), words], dim=1)
    logits = model(source, target_in)
    state = model.start(model.encode(source))
    for position, tokens in enumerate(target_in.T):
        step_logits, state = model.step(tokens, state)
        torch.testing.assert_close(step_logits, logits[:, position])


def test_the_turn_keeps_the_number_type_of_what_it_turns() -> None:
    turn = Rotary(4)(torch.zeros(1), 0, 3).turn
    assert turn(torch.zeros(3, 4, dtype=torch.bfloat16)).dtype == torch.bfloat16


@pytest.mark.parametrize("positions", CHOICES["model.positions"])
def test_the_settings_choose(
    positions: str, config: Callable[..., ModelConfig]
) -> None:
    settings = config(positions=positions)
    kinds: dict[str, type[nn.Module]] = {"rotary": Rotary, "alibi": Alibi}
    built = build_relative_positions(settings, causal=True)
    assert type(built) is kinds.get(positions, NothingToTell)
    if positions in kinds:
        assert isinstance(build_positions(settings), NoPositions)
