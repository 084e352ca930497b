from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from dragoman.config import load_preset
from dragoman.decoding.close_calls import Judge
from dragoman.decoding.options import SearchOptions
from dragoman.decoding.sampling import draw, sampling_search
from dragoman.model.contract import TranslationModel
from dragoman.special_tokens import BEGIN, END, PAD

Model = TranslationModel[Any, Any]
OPTIONS = replace(
    SearchOptions.of(load_preset("base").decoding), method="sampling", nbest=3
)
SENTENCES = [[4, 5, 6], [7], [5, 5, 8, 6], [8, 4]]


def said(model: Model, source: Tensor, options: SearchOptions) -> list[Any]:
    lengths = torch.full((len(source),), 9)
    found = sampling_search(model, source, lengths, options)
    return [[hypothesis.tokens for hypothesis in row] for row in found]


@pytest.mark.parametrize("changes", [{}, {"top_k": 3}, {"top_p": 0.8}])
def test_samples_depend_on_seed_and_source_alone(
    recurrent: Callable[[int, int], Model],
    pad: Callable[..., Tensor],
    changes: dict[str, Any],
) -> None:
    model, options = recurrent(9, 1), replace(OPTIONS, **changes)
    together = said(model, pad(SENTENCES, extra=2), options)
    backwards = said(model, pad(SENTENCES[::-1]), options)[::-1]
    alone = [said(model, pad([sentence]), options)[0] for sentence in SENTENCES]
    assert together == backwards == alone
    more = said(model, pad(SENTENCES), replace(options, nbest=5))
    assert [row[:3] for row in more] == together
    other = said(model, pad(SENTENCES), replace(options, seed=2))
    assert other != together
    assert len({tuple(row) for row in together}) > 1


def test_tokens_are_drawn_as_often_as_they_are_likely() -> None:
    chances = torch.tensor([[0.1, 0.0, 0.6, 0.3]], dtype=torch.float64).log()
    numbers = torch.linspace(0, 1, 1001, dtype=torch.float64)[:-1]
    tokens, _ = draw(chances.expand(1000, -1), numbers, OPTIONS)
    counts = tokens.bincount(minlength=4).tolist()
    assert counts == pytest.approx([100, 0, 600, 300], abs=1)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"top_k": 2}, [0, 0, 667, 333]),
        ({"top_k": 1}, [0, 0, 1000, 0]),
        ({"top_p": 0.5}, [0, 0, 1000, 0]),
        ({"top_p": 0.7}, [0, 0, 667, 333]),
        ({"temperature": 0.5}, [22, 0, 783, 195]),
    ],
)
def test_the_unlikely_can_be_left_out(
    changes: dict[str, Any], expected: list[int]
) -> None:
    chances = torch.tensor([[0.1, 0.0, 0.6, 0.3]], dtype=torch.float64).log()
    numbers = torch.linspace(0, 1, 1001, dtype=torch.float64)[:-1]
    options = replace(OPTIONS, **changes)
    tokens, _ = draw(chances.expand(1000, -1), numbers, options)
    counts = tokens.bincount(minlength=4).tolist()
    assert counts == pytest.approx(expected, abs=1)


def test_token_log_probabilities_are_the_models_own(
    recurrent: Callable[[int, int], Model], pad: Callable[..., Tensor]
) -> None:
    model, source = recurrent(9, 1), pad([SENTENCES[0]])
    options = replace(OPTIONS, temperature=0.5, top_k=4)
    [found] = sampling_search(model, source, torch.tensor([9]), options)
    for hypothesis in found:
        path = [*hypothesis.tokens, END] if hypothesis.finished else hypothesis.tokens
        assert not {PAD, BEGIN} & set(path)
        logits = model.forward(source, torch.tensor([[BEGIN, *path[:-1]]]))[0]
        expected = logits.log_softmax(dim=1)[range(len(path)), list(path)]
        assert hypothesis.token_log_probabilities == pytest.approx(expected.tolist())


def test_a_judge_settles_what_rounding_would_decide(
    recurrent: Callable[[int, int], Model], pad: Callable[..., Tensor]
) -> None:
    exact = recurrent(9, 1)

    class Rounded:
        encode, start, forward = exact.encode, exact.start, exact.forward

        def step(self, last_tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
            logits, state = exact.step(last_tokens, state)
            return logits + 2e-5 * torch.randn_like(logits), state

    source, lengths = pad(SENTENCES * 10), torch.full((40,), 9)
    options = replace(OPTIONS, nbest=40)
    asked = []

    def judging() -> Model:
        asked.append(1)
        return exact

    found = sampling_search(
        Rounded(), source, lengths, options, (), Judge(judging, source)
    )
    expected = said(exact, source, options)
    assert [[h.tokens for h in row] for row in found] == expected
    assert asked
