import dataclasses
import random
from dataclasses import dataclass
from typing import Any, Self

import pytest
import torch
from torch import Tensor, nn

from dragoman.config import DecodingConfig, load_preset
from dragoman.decoding.options import SearchOptions
from dragoman.engines.pytorch import PyTorchEngine
from dragoman.model.build import build_model
from dragoman.special_tokens import END, PAD

SETTINGS = load_preset("base").decoding
VOCABULARY = 30


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    """Tensors this small are only slowed down by a second thread."""
    torch.set_num_threads(1)


@dataclass(frozen=True)
class EchoState:
    source: Tensor
    position: int

    def reorder(self, indices: Tensor) -> Self:
        return type(self)(self.source[indices], self.position)


class Echo(nn.Module):
    """Says the source again, word for word; forgets to end sentences with a 29."""

    def __init__(self) -> None:
        super().__init__()
        self.output_weight = torch.eye(VOCABULARY)
        self.batches: list[tuple[int, ...]] = []
        self.was_training: set[bool] = set()

    def encode(self, source: Tensor) -> Tensor:
        assert torch.is_inference_mode_enabled()
        self.was_training.add(self.training)
        self.batches.append(tuple(source.shape))
        assert ((source == END).sum(dim=1) == 1).all()
        return source

    def start(self, memory: Tensor) -> EchoState:
        return EchoState(memory, 0)

    def step(self, last_tokens: Tensor, state: EchoState) -> tuple[Tensor, EchoState]:
        column = min(state.position, state.source.shape[1] - 1)
        said = state.source[:, column].clone()
        said[(said == PAD) | (state.source == 29).any(dim=1) & (said == END)] = 29
        logits = 9.0 * nn.functional.one_hot(said, VOCABULARY)
        return logits, EchoState(state.source, state.position + 1)

    def features(self, source: Tensor, target_in: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        raise NotImplementedError


def options(**changes: Any) -> SearchOptions:
    return dataclasses.replace(SearchOptions.of(SETTINGS), **changes)


def sentences(count: int) -> list[list[int]]:
    rng = random.Random(7)
    return [
        [rng.randrange(4, 29) for _ in range(rng.randrange(13))] for _ in range(count)
    ]


def with_budget(batch_tokens: int) -> DecodingConfig:
    return dataclasses.replace(SETTINGS, batch_tokens=batch_tokens)


@pytest.mark.parametrize("batch_tokens", [1, 20, 100, 10_000])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_translations_come_in_the_order_of_the_sources(
    batch_tokens: int, beam_size: int
) -> None:
    engine = PyTorchEngine(Echo(), with_budget(batch_tokens))
    sources = sentences(40)
    found = engine.translate(sources, options(beam_size=beam_size))
    assert [list(best.tokens) for [best] in found] == sources
    assert all(best.finished for [best] in found)


@pytest.mark.parametrize("beam_size", [1, 2, 4])
def test_batches_keep_to_the_budget_and_waste_little(beam_size: int) -> None:
    model = Echo()
    PyTorchEngine(model, with_budget(120)).translate(
        [*sentences(40), [5] * 300], options(beam_size=beam_size)
    )
    assert sum(rows for rows, _ in model.batches) == 41
    assert model.batches[0] == (1, 301)
    assert all(rows * length * beam_size <= 120 for rows, length in model.batches[1:])
    assert len(model.batches) < 41


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_batch_budget_changes_no_translation(
    dtype: torch.dtype, beam_size: int
) -> None:
    torch.manual_seed(5)
    config = load_preset("tiny").with_settings(
        {"model.d_model": 16, "model.d_ff": 32, "model.num_encoder_layers": 1}
    )
    model = build_model(config.model, VOCABULARY).to(dtype)
    sources = sentences(12)
    asked = options(max_extra_tokens=5, beam_size=beam_size, nbest=beam_size)
    [one_by_one, some, all_at_once] = [
        PyTorchEngine(model, with_budget(batch_tokens)).translate(sources, asked)
        for batch_tokens in (1, 100, 10_000)
    ]
    tokens = [[h.tokens for h in row] for row in one_by_one]
    assert tokens == [[h.tokens for h in row] for row in some]
    assert tokens == [[h.tokens for h in row] for row in all_at_once]


def test_output_is_at_most_so_much_longer_than_input() -> None:
    engine = PyTorchEngine(Echo(), SETTINGS)
    asked = options(max_extra_tokens=7, beam_size=1)
    found = engine.translate([[29], [5, 29], []], asked)
    assert [len(best.tokens) for [best] in found] == [8, 9, 0]
    assert [best.finished for [best] in found] == [False, False, True]


def test_what_is_not_given_is_as_in_the_settings() -> None:
    settings = dataclasses.replace(SETTINGS, beam_size=3, length_penalty=2.0)
    engine, sources = PyTorchEngine(Echo(), settings), sentences(3)
    asked = options(beam_size=3, length_penalty=2.0)
    assert engine.translate(sources) == engine.translate(sources, asked)
    [[hypothesis]] = engine.translate([[5, 6]], options(length_penalty=0.0))
    assert hypothesis.score == hypothesis.log_probability
    [[hypothesis]] = engine.translate([[5, 6]], options(beam_size=1))
    assert hypothesis.score > hypothesis.log_probability


@pytest.mark.parametrize("beam_size", [1, 3])
def test_lengths_prefixes_and_runs_are_kept_to(beam_size: int) -> None:
    engine = PyTorchEngine(Echo(), SETTINGS)
    sources = [[5, 6, 7, 6, 7], [8], [9, 9]]

    def said(prefixes: list[list[int]] | None = None, **asked: Any) -> list[list[int]]:
        found = engine.translate(
            sources, options(beam_size=beam_size, **asked), prefixes
        )
        return [list(best.tokens) for [best] in found]

    assert all(len(tokens) <= 2 for tokens in said(max_length=2))
    assert all(len(tokens) >= 4 for tokens in said(min_length=4))
    assert said([[10, 11], [], [12]]) == [[10, 11, 7, 6, 7], [8], [12, 9]]
    assert all(len(set(tokens)) == len(tokens) for tokens in said(no_repeat_ngram=1))


def test_nothing_in_gives_nothing_out() -> None:
    assert PyTorchEngine(Echo(), SETTINGS).translate([]) == []


@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_off_and_the_mode_is_given_back(training: bool) -> None:
    model = Echo().train(training)
    PyTorchEngine(model, SETTINGS).translate([[5]])
    assert model.was_training == {False}
    assert model.training is training
