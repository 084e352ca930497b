from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from dragoman.config import load_preset
from dragoman.decoding.beam import beam_search
from dragoman.decoding.constrained import constrained_search
from dragoman.decoding.constraints import Constraints, Phrase, Vocabulary
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.decoding.options import SearchOptions
from dragoman.decoding.rules import MinimumLength, Prefixes
from dragoman.model.contract import TranslationModel
from dragoman.special_tokens import BEGIN, END, PAD

Model = TranslationModel[Any, Any]
Build = Callable[[int, int], Model]
OPTIONS = replace(
    SearchOptions.of(load_preset("tiny").decoding), beam_size=3, max_extra_tokens=8
)
SOURCES = [[4, 5, 6], [7], [9, 8, 7, 6, 5], [5, 5]]


def constraint(*phrases: Sequence[int]) -> Constraints:
    return Constraints([Phrase((tuple(p),)) for p in phrases], Vocabulary())


def contains(hypothesis: Hypothesis, phrase: Sequence[int]) -> bool:
    said, size = hypothesis.tokens, len(phrase)
    return any(said[i : i + size] == tuple(phrase) for i in range(len(said)))


def search(
    model: Model, source: Tensor, constraints: list[Constraints], **changes: Any
) -> list[list[Hypothesis]]:
    limits = [int((row != PAD).sum()) + 8 for row in source]
    options = replace(OPTIONS, **changes)
    return constrained_search(model, source, limits, options, constraints)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 1000),
    st.lists(st.lists(st.integers(4, 11), min_size=1, max_size=3), max_size=4),
    st.integers(1, 4),
)
def test_every_translation_has_every_phrase(
    recurrent: Build,
    pad: Callable[..., Tensor],
    seed: int,
    phrases: list[list[int]],
    beam_size: int,
) -> None:
    model = recurrent(12, seed)
    found = search(model, pad([[4, 5, 6]]), [constraint(*phrases)], beam_size=beam_size)
    assert found[0]
    for hypothesis in found[0]:
        assert all(contains(hypothesis, phrase) for phrase in phrases)
        assert not {PAD, BEGIN} & set(hypothesis.tokens)


@pytest.mark.parametrize("seed", range(3))
def test_company_changes_nothing(
    recurrent: Build, pad: Callable[..., Tensor], seed: int
) -> None:
    model = recurrent(12, seed)
    constraints = [
        constraint([4, 5]),
        constraint(),
        constraint([9], [8, 8]),
        constraint([6]),
    ]
    together = search(model, pad(SOURCES, extra=2), constraints)
    alone = [
        search(model, pad([source]), [wanted])[0]
        for source, wanted in zip(SOURCES, constraints, strict=True)
    ]
    assert [h[0].tokens for h in together] == [h[0].tokens for h in alone]


@pytest.mark.parametrize("seed", range(5))
def test_it_is_no_worse_than_a_free_search_that_happens_to_comply(
    recurrent: Build, pad: Callable[..., Tensor], seed: int
) -> None:
    model, source = recurrent(12, seed), pad([[4, 5, 6]])
    limits = source.new_tensor([20])
    free = beam_search(model, source, limits, OPTIONS)[0][0]
    if len(free.tokens) < 2 or not free.finished:
        return
    phrase = free.tokens[1:2]
    [[found]] = constrained_search(model, source, [20], OPTIONS, [constraint(phrase)])
    assert found.score >= free.score - 1e-9


def test_nbest_are_different_sorted_and_all_comply(
    recurrent: Build, pad: Callable[..., Tensor]
) -> None:
    [best] = search(recurrent(12, 1), pad([[4, 5]]), [constraint([7, 8])], nbest=3)
    assert len({h.tokens for h in best}) == len(best) == 3
    scores = [h.score for h in best if h.finished]
    assert scores == sorted(scores, reverse=True)
    assert all(contains(h, [7, 8]) for h in best)


def test_rules_are_kept_too(recurrent: Build, pad: Callable[..., Tensor]) -> None:
    rules = (Prefixes(((10, 4),)), MinimumLength(6))
    [[found]] = constrained_search(
        recurrent(12, 1), pad([[4, 5]]), [12], OPTIONS, [constraint([7])], rules
    )
    assert found.tokens[:2] == (10, 4)
    assert len(found.tokens) >= 6
    assert contains(found, [7])


@dataclass(frozen=True)
class Nothing:
    def reorder(self, indices: Tensor) -> Self:
        del indices
        return self


class Rambler:
    """Goes on nearly as gladly as it ends, whatever it has read or said."""

    def __init__(self, chances: dict[int, float]) -> None:
        self.logits = torch.full((12,), 1e-9, dtype=torch.float64)
        for token, chance in chances.items():
            self.logits[token] = chance
        self.logits = self.logits.log()

    def encode(self, source: Tensor) -> Tensor:
        return source

    def start(self, memory: Tensor) -> Nothing:
        del memory
        return Nothing()

    def step(self, last_tokens: Tensor, state: Nothing) -> tuple[Tensor, Nothing]:
        return self.logits.repeat(len(last_tokens), 1), state


def test_the_price_of_a_phrase_is_not_shared_out_among_ever_more_words(
    pad: Callable[..., Tensor],
) -> None:
    model: Any = Rambler({4: 0.45, END: 0.5, 5: 1e-4})
    source, options = pad([[6] * 40]), replace(OPTIONS, length_penalty=2.0)
    [[best]] = constrained_search(model, source, [90], options, [constraint([5])])
    assert contains(best, [5])
    assert len(best.tokens) <= OPTIONS.beam_size
