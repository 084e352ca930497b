"""A guard against "salad salad salad": loops that a model cannot find out of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from dragoman.decoding.loops import LONGEST_RUN
from dragoman.decoding.rules import Live


@dataclass(frozen=True)
class NoLoops:
    """No run of tokens stands in a row more often than its sentence allows."""

    allowed: tuple[int, ...]

    def __call__(self, log_probabilities: Tensor, live: Live) -> Tensor:
        """Take away each token that would complete one repetition too many."""
        ruled = log_probabilities.clone()
        rows = zip(live.sentences.tolist(), live.tokens.tolist(), strict=True)
        for row, (sentence, tokens) in enumerate(rows):
            for token in _closing(tokens, self.allowed[sentence]):
                ruled[row, token] = -math.inf
        return ruled


def _closing(tokens: Sequence[int], allowed: int) -> set[int]:
    """Find the tokens by which some run would stand `allowed` + 1 times in a row."""
    found = set()
    for size in range(1, LONGEST_RUN + 1):
        tail = tokens[-(size * (allowed + 1) - 1) :]
        if len(tail) < size * (allowed + 1) - 1:
            break
        if tail[size:] == tail[:-size]:
            found.add(tail[-size])
    return found
