from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.length_penalty import LengthPenalty
from dragoman.model.network import TranslationNetwork
from dragoman.special_tokens import BEGIN, END

PENALTY = LengthPenalty("paper", 0.6)
SENTENCES = [[4, 9, 5, 6, 7, 12, 15], [5], [6, 6, 8], [7, 4, 10, 9, 13], [11, 14]]


def test_each_token_is_the_likeliest_after_those_before_it(
    trained: TranslationNetwork, pad: Callable[..., Tensor]
) -> None:
    for sentence in SENTENCES:
        source = pad([sentence])
        [found] = greedy_search(trained, source, torch.tensor([12]), PENALTY)
        said = [*found.tokens, END] if found.finished else [*found.tokens]
        logits = trained(source, torch.tensor([[BEGIN, *said[:-1]]]))[0]
        log_probabilities = logits.log_softmax(dim=1)
        assert log_probabilities.argmax(dim=1).tolist() == said
        assert found.token_log_probabilities == pytest.approx(
            log_probabilities.amax(dim=1).tolist(), abs=1e-5
        )


def test_padding_and_batch_mates_change_nothing(
    trained: TranslationNetwork, pad: Callable[..., Tensor]
) -> None:
    lengths = torch.tensor([12, 9, 11, 3, 12])
    together = greedy_search(trained, pad(SENTENCES, extra=3), lengths, PENALTY)
    for sentence, length, found in zip(SENTENCES, lengths, together, strict=True):
        [alone] = greedy_search(trained, pad([sentence]), length[None], PENALTY)
        assert (alone.tokens, alone.finished) == (found.tokens, found.finished)
        assert alone.score == pytest.approx(found.score, abs=1e-4)


def test_is_cut_at_each_sentences_own_maximum(
    constant: Callable[[Tensor], Any],
) -> None:
    model = constant(torch.tensor([0.0, 0.0, 0.0, -9.0, 9.0]))
    found = greedy_search(
        model, torch.tensor([[END]] * 3), torch.tensor([2, 5, 1]), PENALTY
    )
    assert [hypothesis.tokens for hypothesis in found] == [(4,) * 2, (4,) * 5, (4,)]
    assert not any(hypothesis.finished for hypothesis in found)
    assert [len(hypothesis.token_log_probabilities) for hypothesis in found] == [
        2,
        5,
        1,
    ]
    assert model.rows_seen == [3, 2, 1, 1, 1]


def test_an_ended_sentence_leaves_the_batch(constant: Callable[[Tensor], Any]) -> None:
    model = constant(torch.tensor([0.0, 0.0, 0.0, 9.0, 0.0]))
    found = greedy_search(
        model, torch.tensor([[END]] * 3), torch.tensor([2, 5, 1]), PENALTY
    )
    assert all(hypothesis.finished for hypothesis in found)
    assert {hypothesis.tokens for hypothesis in found} == {()}
    assert model.rows_seen == [3]


def test_the_score_is_divided_by_the_length_penalty(
    trained: TranslationNetwork, pad: Callable[..., Tensor]
) -> None:
    [found] = greedy_search(trained, pad([SENTENCES[0]]), torch.tensor([12]), PENALTY)
    length = len(found.token_log_probabilities)
    assert found.log_probability == pytest.approx(sum(found.token_log_probabilities))
    assert found.score == found.log_probability / PENALTY(length)
