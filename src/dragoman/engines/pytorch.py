"""Translation of token sequences by a PyTorch model."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, Self

import torch
from torch import Tensor

from dragoman.config import DecodingConfig
from dragoman.decoding.beam import beam_search, check_settings
from dragoman.decoding.greedy import greedy_search
from dragoman.decoding.hypothesis import Hypothesis
from dragoman.model.contract import Memory, State, TranslationModel
from dragoman.special_tokens import END, PAD


class TranslationModule(TranslationModel[Memory, State], Protocol):
    """A translation model that is a `torch.nn.Module` too."""

    training: bool

    def train(self, mode: bool = True) -> Self:
        """Choose between training and evaluation, as `torch.nn.Module` does."""
        ...

    def to(self, device: torch.device) -> Self:
        """Move the weights, as `torch.nn.Module` does."""
        ...


class PyTorchEngine:
    """Searches for translations, many sentences at a time, on one device.

    `settings.batch_tokens` bounds how many source positions are worked on at once:
    sentences × the longest of them, END and padding included, × the beam, since each
    hypothesis attends to its own copy. A longer sentence is a batch of its own.
    """

    def __init__(
        self,
        model: TranslationModule[Any, Any],
        settings: DecodingConfig,
        device: torch.device | str = "cpu",
    ) -> None:
        self.device = torch.device(device)
        self.model = model.to(self.device)
        self.settings = settings

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        *,
        beam_size: int | None = None,
        nbest: int = 1,
        length_penalty: float | None = None,
    ) -> list[list[Hypothesis]]:
        """Give the `nbest` best translations of each source, in the order they came.

        What is not given is as in the settings. Sources have neither BEGIN nor END.
        """
        settings = self.settings
        beam_size = settings.beam_size if beam_size is None else beam_size
        alpha = settings.length_penalty if length_penalty is None else length_penalty
        check_settings(beam_size, alpha, nbest)
        results: list[list[Hypothesis]] = [[] for _ in sources]
        with torch.inference_mode(), _evaluating(self.model):
            for batch in _batches(sources, settings.batch_tokens // beam_size):
                found = self._search(
                    [sources[index] for index in batch], beam_size, nbest, alpha
                )
                for index, hypotheses in zip(batch, found, strict=True):
                    results[index] = hypotheses
        return results

    def _search(
        self,
        sentences: Sequence[Sequence[int]],
        beam_size: int,
        nbest: int,
        alpha: float,
    ) -> list[list[Hypothesis]]:
        source = _pad(sentences).to(self.device)
        max_lengths = torch.tensor(
            [len(sentence) + self.settings.max_extra_tokens for sentence in sentences]
        )
        if beam_size == 1:
            found = greedy_search(self.model, source, max_lengths, alpha=alpha)
            return [[hypothesis] for hypothesis in found]
        return beam_search(
            self.model,
            source,
            max_lengths,
            beam_size=beam_size,
            alpha=alpha,
            nbest=nbest,
        )


@contextmanager
def _evaluating(model: TranslationModule[Any, Any]) -> Iterator[None]:
    """Without dropout, and afterwards as before: a trainer may be at work on it."""
    was_training = model.training
    model.train(False)
    try:
        yield
    finally:
        model.train(was_training)


def _batches(sources: Sequence[Sequence[int]], budget: int) -> Iterator[list[int]]:
    """Group indices of similar lengths, longest first, so that little is padding."""
    by_length = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
    start = 0
    while start < len(by_length):
        longest = len(sources[by_length[start]]) + 1
        end = start + max(1, budget // longest)
        yield by_length[start:end]
        start = end


def _pad(sentences: Sequence[Sequence[int]]) -> Tensor:
    length = max(map(len, sentences)) + 1
    rows = [
        [*sentence, END, *[PAD] * (length - len(sentence) - 1)]
        for sentence in sentences
    ]
    return torch.tensor(rows)
