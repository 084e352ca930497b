import pytest
import torch
from torch import Tensor

from dragoman.decoding import choices as module
from dragoman.decoding.choices import Choices, next_log_probabilities
from dragoman.decoding.rules import Live
from dragoman.special_tokens import BEGIN, PAD, UNKNOWN


def likeliest_tokens(logits: Tensor, count: int) -> Choices:
    live = Live.first(len(logits))
    return module.likeliest_tokens(next_log_probabilities(logits), count, (), live)


def test_gives_the_models_own_probabilities_best_first() -> None:
    logits = torch.randn(5, 300, dtype=torch.float64)
    choices = likeliest_tokens(logits, 7)
    expected = logits.log_softmax(1).gather(1, choices.tokens)
    assert choices.log_probabilities.equal(expected)
    assert expected.equal(expected.sort(dim=1, descending=True).values)


def test_padding_and_begin_are_never_said_but_unknown_may_be() -> None:
    logits = torch.zeros(1, 6)
    logits[0, [PAD, BEGIN, UNKNOWN]] = 9.0
    choices = likeliest_tokens(logits, 4)
    assert choices.tokens.tolist() == [[UNKNOWN, 3, 4, 5]]


def test_of_equal_tokens_the_lower_goes_first() -> None:
    choices = likeliest_tokens(torch.zeros(2, 1000), 4)
    assert choices.tokens.tolist() == [[1, 3, 4, 5]] * 2


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_normalised_in_single(dtype: torch.dtype) -> None:
    logits = torch.randn(3, 500).to(dtype)
    choices = likeliest_tokens(logits, 4)
    assert choices.log_probabilities.equal(
        likeliest_tokens(logits.float(), 4).log_probabilities
    )


def test_leaves_the_logits_alone() -> None:
    logits = torch.randn(3, 50)
    before = logits.clone()
    likeliest_tokens(logits, 4)
    assert logits.equal(before)
