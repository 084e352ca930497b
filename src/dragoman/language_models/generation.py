"""A text goes on: word after word, each drawn by its probability."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from dragoman.decoding.choices import next_log_probabilities
from dragoman.decoding.options import SearchOptions
from dragoman.decoding.sampling import draw
from dragoman.model.decoder_only import DecoderOnly
from dragoman.model.transformer import TransformerState
from dragoman.special_tokens import BEGIN


def go_on(
    model: DecoderOnly, prompt: Sequence[int], options: SearchOptions, window: int
) -> Iterator[int]:
    """Draw tokens without end; the seed alone decides what is drawn.

    Keys and values of what was read are kept. When the window is full, it begins
    again with its second half.
    """
    numbers = np.random.Generator(np.random.Philox(key=options.seed))
    said = list(prompt)
    logits, state = _read(model, said, window)
    while True:
        chances = next_log_probabilities(logits).cpu().double()
        drawn, _ = draw(chances, torch.from_numpy(numbers.random(1)), options)
        said.append(int(drawn))
        yield said[-1]
        if state.length == window:
            logits, state = _read(model, said, window // 2 + 1)
        else:
            logits, state = model.step(drawn.to(logits.device), state)


def _read(
    model: DecoderOnly, tokens: Sequence[int], most: int
) -> tuple[Tensor, TransformerState]:
    """Read the last of the tokens, as many as `most` allows with BEGIN before them."""
    device = model.output_weight.device
    kept = tokens[len(tokens) - min(len(tokens), most - 1) :]
    state = model.start(torch.zeros((1, 1), dtype=torch.long, device=device))
    for token in (BEGIN, *kept):
        logits, state = model.step(torch.tensor([token], device=device), state)
    return logits, state
